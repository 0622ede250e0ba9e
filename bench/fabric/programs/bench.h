// SPDX-License-Identifier: Apache-2.0
/// What the programs of `./gossamer bench fabric` share. They are for any cluster whose boards are a mesh; a board
/// alone is one of 1 x 1. Each checks its own result: a thread that got too little, too much or something else ends
/// with a code that is not 0, or never. The first thread of the first board tells the cycles.
#pragma once

#include <gossamer/device.h>
#include <tinsel.h>

#define NOBODY 0xFFFFFFFFu

/// The board next to one in the mesh of boards: 0 east, 1 west, 2 north, 3 south.
INLINE uint32_t benchNeighbour(uint32_t board, uint32_t side) {
  const uint32_t x = board % GS_BOARDS_WIDTH, y = board / GS_BOARDS_WIDTH;
  if (side == 0) return x + 1 < GS_BOARDS_WIDTH ? board + 1 : NOBODY;
  if (side == 1) return x > 0 ? board - 1 : NOBODY;
  if (side == 2) return y + 1 < GS_BOARDS_HEIGHT ? board + GS_BOARDS_WIDTH : NOBODY;
  return y > 0 ? board - GS_BOARDS_WIDTH : NOBODY;
}

/// Waits until all threads do; the programs call it when no message can be there.
INLINE void benchMeet(void) { while (tinselIdle(1) == 0); }

/// Waits for events, and gives those that are there.
INLINE uint32_t benchWait(uint32_t events) { return GS_CSR_SWAP(GS_CSR_WAIT, events); }

/// Tells a figure, once for the cluster.
INLINE void benchTell(uint32_t value) {
  if (gossamerBoard() == 0 && gossamerThread() == 0) tinselEmit(value);
}

/// Sends `count` messages of `flits` flits to a thread, and receives as many from it: at once, as fast as it goes.
/// Gives the cycles from the start, common to all, to the end of all; *good is cleared if a message was missing, came
/// twice, out of order, or from another thread. NOBODY takes part in nothing but the start and the end.
INLINE uint32_t benchExchange(uint32_t partner, uint32_t count, uint32_t flits, int* good) {
  // A message says which it is, in its first word, and where it comes from, in its last. The number is written for
  // every EVERY-th message alone: a store in each costs more than the check is worth, and one that is lost or doubled
  // still moves all that follow.
  enum { EVERY = 8 };
  const uint32_t words = flits * (GS_FLIT_BYTES / 4);
  volatile uint32_t* out = tinselSendSlot();
  tinselSetLen((int)flits);
  out[0] = (count + EVERY - 1) / EVERY;
  out[words - 1] = tinselId();
  GS_CSR_WRITE(GS_CSR_SEND_SLOT, (uintptr_t)out);
  benchMeet();
  const uint32_t start = tinselCycleCount();
  uint32_t to_send = partner == NOBODY ? 0 : count, to_receive = to_send;
  uint32_t wrong = 0;
  while (to_send | to_receive) {
    const uint32_t events = benchWait(to_send ? TINSEL_CAN_SEND | TINSEL_CAN_RECV : TINSEL_CAN_RECV);
    if (events & TINSEL_CAN_SEND) {
      if (to_send % EVERY == 0) out[0] = to_send / EVERY;
      GS_CSR_WRITE(GS_CSR_SEND_DEST, partner);
      --to_send;
    }
    if (events & TINSEL_CAN_RECV) {
      volatile uint32_t* in = tinselRecv();
      // As the sender counts. A message too many never lets this end.
      wrong |= in[0] ^ (to_receive + EVERY - 1) / EVERY;
      if (to_receive-- % EVERY == 1) wrong |= in[words - 1] ^ partner;
      tinselFree(in);
    }
  }
  // Nobody is released while a message is under way: one that is too many would end this with 0.
  if (tinselIdle(1) == 0) wrong = 1;
  const uint32_t cycles = tinselCycleCount() - start;
  if (wrong) *good = 0;
  return cycles;
}
