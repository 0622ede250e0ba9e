// SPDX-License-Identifier: Apache-2.0
// A message travels around a ring of all threads, without copies: every thread forwards the slot that it received.
// See docs/programs/ring.md.

#include <gossamer/device.h>
#include <stdio.h>
#include <tinsel.h>

#ifndef LAPS
#define LAPS 8
#endif

typedef struct {
  uint32_t hops;
  uint32_t sum;
} Token;

int main(void) {
  const uint32_t me = gossamerThread();
  const uint32_t threads = gossamerThreads();
  const uint32_t next = gossamerAddress(me + 1 < threads ? me + 1 : 0);
  tinselSetLen(1);

  const uint32_t start = tinselCycleCount();
  if (me == 0) {
    volatile Token* token = tinselSendSlot();
    token->hops = 0;
    token->sum = 0;
    tinselWaitUntil(TINSEL_CAN_SEND);
    tinselSend((int)next, token);
  }
  for (int lap = 0; lap < LAPS; ++lap) {
    tinselWaitUntil(TINSEL_CAN_RECV);
    volatile Token* token = tinselRecv();
    token->hops += 1;
    token->sum += me + 1;
    if (me == 0 && lap == LAPS - 1) {
      const uint32_t cycles = tinselCycleCount() - start;
      const uint32_t hops = token->hops;
      printf("%u threads, %u hops, sum %u, %u cycles a hop\n", (unsigned)threads, (unsigned)hops,
             (unsigned)token->sum, (unsigned)(cycles / hops));
      tinselFree(token);
      break;
    }
    tinselWaitUntil(TINSEL_CAN_SEND);
    tinselSend((int)next, token);
    tinselFree(token);  // the hardware frees the slot after the message has left
  }
  return 0;
}
