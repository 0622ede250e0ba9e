// SPDX-License-Identifier: Apache-2.0
// Heat spreads over a plate. Every thread has a square of it, and sends its edges to its neighbours before each step.
// See docs/programs/heat.md.

#include <gossamer/device.h>
#include <stdio.h>
#include <tinsel.h>

#ifndef STEPS
#define STEPS 32
#endif
enum { kSide = 8 };  // cells of a square's side: an edge fits a message

/// Sides of a square.
enum { kNorth, kSouth, kWest, kEast, kSides };
#define OPPOSITE(side) ((side) ^ 1)

/// Edge of a neighbour's square. 40 bytes: three flits.
typedef struct {
  uint32_t side;  // of the receiver
  uint32_t step;
  float cell[kSide];
} Edge;

/// Private data of this thread: thread-local variables are in its own memory. Odd and even steps have separate buffers,
/// since a neighbour may be one step ahead.
static _Thread_local float grid[2][kSide + 2][kSide + 2];
static _Thread_local float edges[2][kSides][kSide];
static _Thread_local uint32_t arrived[2];

static void receive(void) {
  volatile Edge* in = tinselRecv();
  const uint32_t parity = in->step & 1;
  for (int i = 0; i < kSide; ++i) edges[parity][in->side][i] = in->cell[i];
  arrived[parity]++;
  tinselFree(in);
}

int main(void) {
  const uint32_t me = gossamerThread();
  const uint32_t threads = gossamerThreads();
  uint32_t width = 1;  // the largest divisor that makes a plate at least as high as wide
  for (uint32_t w = 2; w * w <= threads; ++w) {
    if (threads % w == 0) width = w;
  }
  const uint32_t height = threads / width;
  const uint32_t x = me % width, y = me / width;

  // The upper rim of the plate is hot, the other rims are cold.
  const int there[kSides] = {y > 0, y + 1 < height, x > 0, x + 1 < width};
  const uint32_t neighbour[kSides] = {me - width, me + width, me - 1, me + 1};
  if (y == 0) {
    for (int i = 0; i < kSide; ++i) grid[0][0][i + 1] = grid[1][0][i + 1] = 100.0f;
  }

  uint32_t neighbours = 0;
  for (int side = 0; side < kSides; ++side) neighbours += (uint32_t)there[side];
  tinselSetLen((sizeof(Edge) + GS_FLIT_BYTES - 1) / GS_FLIT_BYTES);

  for (uint32_t step = 0; step < STEPS; ++step) {
    float(*now)[kSide + 2] = grid[step & 1];
    float(*then)[kSide + 2] = grid[(step + 1) & 1];

    // Sends to the neighbours. A thread that waits to send keeps receiving, otherwise two full mailboxes could
    // deadlock.
    for (int side = 0; side < kSides; ++side) {
      if (!there[side]) continue;
      for (;;) {
        tinselWaitUntil((TinselWakeupCond)(TINSEL_CAN_SEND | TINSEL_CAN_RECV));
        if (tinselCanSend()) break;
        receive();
      }
      volatile Edge* out = tinselSendSlot();
      out->side = (uint32_t)OPPOSITE(side);
      out->step = step;
      for (int i = 0; i < kSide; ++i) {
        out->cell[i] = side == kNorth   ? now[1][i + 1]
                       : side == kSouth ? now[kSide][i + 1]
                       : side == kWest  ? now[i + 1][1]
                                        : now[i + 1][kSide];
      }
      tinselSend((int)gossamerAddress(neighbour[side]), out);
    }

    // Receives from the neighbours.
    const uint32_t parity = step & 1;
    while (arrived[parity] < neighbours) {
      tinselWaitUntil(TINSEL_CAN_RECV);
      receive();
    }
    arrived[parity] = 0;
    for (int i = 0; i < kSide; ++i) {
      if (there[kNorth]) now[0][i + 1] = edges[parity][kNorth][i];
      if (there[kSouth]) now[kSide + 1][i + 1] = edges[parity][kSouth][i];
      if (there[kWest]) now[i + 1][0] = edges[parity][kWest][i];
      if (there[kEast]) now[i + 1][kSide + 1] = edges[parity][kEast][i];
    }

    for (int row = 1; row <= kSide; ++row) {
      for (int column = 1; column <= kSide; ++column) {
        const float around = now[row - 1][column] + now[row + 1][column] + now[row][column - 1] + now[row][column + 1];
        then[row][column] = now[row][column] + 0.125f * (around - 4.0f * now[row][column]);
      }
    }
  }

  const float(*last)[kSide + 2] = (const float(*)[kSide + 2])grid[STEPS & 1];
  for (int row = 1; row <= kSide; ++row) {
    printf("row %u column %u:", (unsigned)(y * kSide) + (unsigned)row - 1, (unsigned)(x * kSide));
    for (int column = 1; column <= kSide; ++column) {
      const uint32_t value = (uint32_t)(last[row][column] * 10000.0f + 0.5f);  // printing fractions needs more code
      printf(" %u.%04u", (unsigned)(value / 10000), (unsigned)(value % 10000));
    }
    printf("\n");
  }
  return 0;
}
