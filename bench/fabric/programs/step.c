// SPDX-License-Identifier: Apache-2.0
// A step: every thread sends a message of one flit to another board, then all meet. A board's threads send to its
// neighbours in turn, to the thread of their own number.
#include "bench.h"

#ifndef ROUNDS
#define ROUNDS 16
#endif

/// The board that a thread of a board sends to.
static uint32_t receiver(uint32_t board, uint32_t thread) {
  uint32_t found[4], count = 0;
  for (uint32_t side = 0; side < 4; ++side) {
    const uint32_t other = benchNeighbour(board, side);
    if (other != NOBODY) found[count++] = other;
  }
  return count ? found[thread % count] : board;
}

int main(void) {
  const uint32_t me = gossamerThread(), board = gossamerBoard();
  const uint32_t to = gossamerAddressOn(receiver(board, me), me);
  // What must come in each round: the boards that send to this thread, by their numbers.
  uint32_t expected = 0, sum = 0;
  for (uint32_t other = 0; other < GOSSAMER_BOARDS; ++other) {
    if (receiver(other, me) == board) {
      ++expected;
      sum += other + 1;
    }
  }
  volatile uint32_t* out = tinselSendSlot();
  uint32_t wrong = 0;
  tinselSetLen(1);
  benchMeet();
  const uint32_t start = tinselCycleCount();
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    out[0] = round << 16 | (board + 1);
    tinselSend((int)to, out);
    uint32_t came = 0, total = 0;
    while (tinselIdle(1) == 0) {
      while (tinselCanRecv()) {
        volatile uint32_t* in = tinselRecv();
        total += in[0];
        ++came;
        tinselFree(in);
      }
    }
    wrong |= (came ^ expected) | (total ^ (expected * round << 16) + sum);
  }
  const uint32_t cycles = tinselCycleCount() - start;
  benchTell(cycles);
  return wrong != 0;
}
