// SPDX-License-Identifier: Apache-2.0
// Barrier: every thread in a loop on tinselIdle, and nothing else. With SUM every thread gives a word to each barrier,
// and looks at the sum of all, one thread in eight in each round.
#include <gossamer/reduce.h>

#include "bench.h"

#ifndef ROUNDS
#define ROUNDS 64
#endif

int main(void) {
  uint32_t wrong = 0;
  benchMeet();
  const uint32_t start = tinselCycleCount();
#ifdef SUM
  // Every thread gives the round and, above, 1: the sum tells whether all threads gave theirs in this round.
  const uint32_t me = gossamerThread();
  const int64_t threads = (int64_t)GOSSAMER_BOARDS * gossamerThreads();
  uint32_t sum = 0, next = me % 8 + 1;
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    const int64_t mine = (int64_t)1 << 32 | round;
    gsReduceSum(0, mine);
    sum += (uint32_t)tinselIdle(1);
    if (--next == 0) {
      if (gsReduced(0) != threads * mine) wrong = 1;
      next = 8;
    }
  }
#else
  uint32_t sum = 0;
#pragma clang loop unroll_count(4)
  for (uint32_t round = 0; round < ROUNDS; ++round) sum += (uint32_t)tinselIdle(1);
#endif
  const uint32_t cycles = tinselCycleCount() - start;
  if (sum != 2 * ROUNDS) wrong = 1;  // all have voted yes, each time
  benchTell(cycles);
  return (int)wrong;
}
