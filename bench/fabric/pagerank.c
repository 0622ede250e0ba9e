// SPDX-License-Identifier: Apache-2.0
// The traffic of PageRank on a random graph without locality: every thread has vertices, each vertex sends its share to
// DEGREE others anywhere in the cluster, adds up what it gets, and all threads meet before the next step.
#include <gossamer/device.h>
#include <tinsel.h>

#ifndef STEPS
#define STEPS 8
#endif
#define VERTICES 8
#define DEGREE 8

typedef struct {
  uint32_t vertex;
  float share;
} Message;

static void take(float* sums) {
  volatile Message* in = tinselRecv();
  sums[in->vertex] += in->share;
  tinselFree(in);
}

int main(void) {
  const uint32_t threads = gossamerThreads(), me = gossamerBoard() * threads + gossamerThread();
  float rank[VERTICES], sums[VERTICES];
  for (uint32_t v = 0; v < VERTICES; ++v) {
    rank[v] = 1.0f;
    sums[v] = 0.0f;
  }
  tinselSetLen(1);
  tinselIdle(1);
  for (uint32_t step = 0; step < STEPS; ++step) {
    // The same edges in every step.
    uint32_t random = me * 2654435761u + 12345u;
    for (uint32_t v = 0; v < VERTICES; ++v) {
      for (uint32_t edge = 0; edge < DEGREE; ++edge) {
        random = random * 1664525u + 1013904223u;
        while (!tinselCanSend()) {
          tinselWaitUntil(TINSEL_CAN_SEND | TINSEL_CAN_RECV);
          while (tinselCanRecv()) take(sums);
        }
        volatile Message* out = tinselSendSlot();
        out->vertex = random >> 8 & (VERTICES - 1);
        out->share = rank[v] * (1.0f / DEGREE);
        const uint32_t to = (random >> 12) % (GOSSAMER_BOARDS * threads);
        tinselSend((int)gossamerAddressOn(to / threads, to % threads), out);
        while (tinselCanRecv()) take(sums);
      }
    }
    while (!tinselIdle(1)) {
      while (tinselCanRecv()) take(sums);
    }
    for (uint32_t v = 0; v < VERTICES; ++v) {
      rank[v] = 0.15f + 0.85f * sums[v];
      sums[v] = 0.0f;
    }
    tinselIdle(1);  // sums are taken before the next step's messages come
  }
  float all = 0.0f;
  for (uint32_t v = 0; v < VERTICES; ++v) all += rank[v];
  return !(all >= 0.15f * VERTICES);
}
