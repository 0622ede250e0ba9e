// SPDX-License-Identifier: Apache-2.0
// Sorts keys that are distributed over all threads: neighbours exchange their blocks repeatedly; the left one keeps the
// lower half, the right one the upper half. See docs/programs/sort.md.

#include <gossamer/device.h>
#include <stdio.h>
#include <tinsel.h>

enum {
  kPart = 14,             // keys in a message
  kParts = 2,             // messages to a block
  kKeys = kPart * kParts  // keys of a thread
};

/// 64 bytes: four flits.
typedef struct {
  uint32_t round;
  uint32_t part;
  uint32_t key[kPart];
} Message;
_Static_assert(sizeof(Message) <= GS_MAX_FLITS * GS_FLIT_BYTES, "a message must fit into a slot");

/// This thread's block, and those received from its neighbours. A neighbour may be at most two rounds ahead: rounds
/// that differ by less than four have separate buffers.
static _Thread_local uint32_t block[kKeys];
static _Thread_local uint32_t merged[kKeys];
static _Thread_local uint32_t incoming[4][kKeys];
static _Thread_local uint32_t arrived[4];

static void receive(void) {
  volatile Message* in = tinselRecv();
  const uint32_t buffer = in->round & 3;
  const uint32_t part = in->part;
  for (uint32_t i = 0; i < kPart; ++i) incoming[buffer][part * kPart + i] = in->key[i];
  arrived[buffer]++;
  tinselFree(in);
}

static void send_block(uint32_t to, uint32_t round) {
  for (uint32_t part = 0; part < kParts; ++part) {
    for (;;) {
      tinselWaitUntil((TinselWakeupCond)(TINSEL_CAN_SEND | TINSEL_CAN_RECV));
      if (tinselCanSend()) break;
      receive();
    }
    volatile Message* out = tinselSendSlot();
    out->round = round;
    out->part = part;
    for (uint32_t i = 0; i < kPart; ++i) out->key[i] = block[part * kPart + i];
    tinselSend((int)to, out);
  }
}

int main(void) {
  const uint32_t me = gossamerThread();
  const uint32_t threads = gossamerThreads();

  // Random keys: a linear congruential generator, seeded with the thread's number.
  uint32_t random = me + 1;
  for (int i = 0; i < kKeys; ++i) {
    random = random * 1664525u + 1013904223u;
    uint32_t key = random, at = (uint32_t)i;
    for (; at > 0 && block[at - 1] > key; --at) block[at] = block[at - 1];
    block[at] = key;
  }

  tinselSetLen((sizeof(Message) + GS_FLIT_BYTES - 1) / GS_FLIT_BYTES);
  for (uint32_t round = 0; round < threads; ++round) {
    const int left = ((me ^ round) & 1) == 0;  // of its pair
    if (left ? me + 1 >= threads : me == 0) continue;
    const uint32_t buffer = round & 3;
    send_block(gossamerAddress(left ? me + 1 : me - 1), round);
    while (arrived[buffer] < kParts) {
      tinselWaitUntil(TINSEL_CAN_RECV);
      receive();
    }
    arrived[buffer] = 0;
    const uint32_t* other = incoming[buffer];
    if (left) {
      for (uint32_t i = 0, a = 0, b = 0; i < kKeys; ++i) merged[i] = block[a] <= other[b] ? block[a++] : other[b++];
    } else {
      for (uint32_t i = kKeys, a = kKeys, b = kKeys; i > 0; --i) {
        merged[i - 1] = block[a - 1] > other[b - 1] ? block[--a] : other[--b];
      }
    }
    for (uint32_t i = 0; i < kKeys; ++i) block[i] = merged[i];
  }

  for (uint32_t part = 0; part < kParts; ++part) {
    printf("keys from %u:", (unsigned)(me * kKeys + part * kPart));
    for (uint32_t i = 0; i < kPart; ++i) printf(" %08x", (unsigned)block[part * kPart + i]);
    printf("\n");
  }
  return 0;
}
