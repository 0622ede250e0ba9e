// SPDX-License-Identifier: Apache-2.0
// Fan-out: one thread of each board sends messages that all threads of the board get: by a mask to each tile in turn,
// or, with KEY, one message under a key of the board's multicast router, whose records must name them all.
#include "bench.h"

#ifndef COUNT
#define COUNT 32
#endif
#ifndef FLITS
#define FLITS 1
#endif

int main(void) {
  const uint32_t me = gossamerThread(), board = gossamerBoard();
  // Two slots in turn, so that the next message can be written while the last is read.
  volatile uint32_t* const slots[2] = {tinselSendSlot(), tinselSendSlotExtra()};
  const uint32_t all = GS_THREADS_PER_TILE == 64 ? 0xFFFFFFFFu : (1u << (GS_THREADS_PER_TILE & 31)) - 1;
  uint32_t to_send = me == 0 ? COUNT : 0, tile = 0, expected = 0, wrong = 0;
  tinselSetLen(FLITS);
  benchMeet();
  const uint32_t start = tinselCycleCount();
  while (to_send || expected < COUNT) {
    const uint32_t events = benchWait(to_send ? TINSEL_CAN_SEND | TINSEL_CAN_RECV : TINSEL_CAN_RECV);
    if (events & TINSEL_CAN_SEND) {
      volatile uint32_t* out = slots[to_send & 1];
      if (tile == 0) {
        out[0] = COUNT - to_send;
        out[1] = board;
      }
#ifdef KEY
      tinselKeySend(KEY, out);
      --to_send;
#else
      const uint32_t low = GS_THREADS_PER_TILE >= 32 ? 0xFFFFFFFFu : all;
      tinselMulticast(tinselMailbox(gossamerAddress(tile * GS_THREADS_PER_TILE)), GS_THREADS_PER_TILE == 64 ? all : 0,
                      low, out);
      if (++tile == GS_TILES) {
        tile = 0;
        --to_send;
      }
#endif
    }
    if (events & TINSEL_CAN_RECV) {
      volatile uint32_t* in = tinselRecv();
      wrong |= (in[0] ^ expected) | (in[1] ^ board);
      ++expected;
      tinselFree(in);
    }
  }
  if (tinselIdle(1) == 0) wrong = 1;
  const uint32_t cycles = tinselCycleCount() - start;
  benchTell(cycles);
  return wrong != 0;
}
