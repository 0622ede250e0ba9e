// SPDX-License-Identifier: Apache-2.0
// Hot spot: all threads of the cluster send to one, the first of the first board.
#include "bench.h"

#ifndef COUNT
#define COUNT 4
#endif
#ifndef FLITS
#define FLITS 1
#endif

int main(void) {
  const uint32_t threads = gossamerThreads(), all = GOSSAMER_BOARDS * threads;
  const uint32_t here = gossamerBoard() * threads + gossamerThread();
  volatile uint32_t* out = tinselSendSlot();
  uint32_t wrong = 0;
  tinselSetLen(FLITS);
  out[0] = here;
  benchMeet();
  const uint32_t start = tinselCycleCount();
  if (here != 0) {
    for (uint32_t i = 0; i < COUNT; ++i) {
      benchWait(TINSEL_CAN_SEND);
      tinselSend((int)gossamerAddressOn(0, 0), out);
    }
  } else {
    uint32_t sum = 0, squares = 0;
    for (uint32_t left = (all - 1) * COUNT; left; --left) {
      benchWait(TINSEL_CAN_RECV);
      volatile uint32_t* in = tinselRecv();
      const uint32_t from = in[0];
      sum += from;
      squares += from * from;
      tinselFree(in);
    }
    for (uint32_t from = 1; from < all; ++from) {
      sum -= COUNT * from;
      squares -= COUNT * from * from;
    }
    wrong = sum | squares;
  }
  if (tinselIdle(1) == 0) wrong = 1;
  const uint32_t cycles = tinselCycleCount() - start;
  benchTell(cycles);
  return wrong != 0;
}
