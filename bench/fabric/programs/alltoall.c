// SPDX-License-Identifier: Apache-2.0
// All to all: every thread sends a message to the thread of its own number in each other tile of the cluster, each
// beginning with the next tile, so that receivers change all the time.
#include "bench.h"

#ifndef FLITS
#define FLITS 1
#endif
#define ALL_TILES (GOSSAMER_BOARDS * GS_TILES)

int main(void) {
  const uint32_t thread = gossamerThread() % GS_THREADS_PER_TILE;
  const uint32_t here = gossamerBoard() * GS_TILES + gossamerThread() / GS_THREADS_PER_TILE;
  volatile uint32_t* out = tinselSendSlot();
  uint32_t to = here, to_send = ALL_TILES - 1, to_receive = ALL_TILES - 1, sum = 0, squares = 0, wrong = 0;
  tinselSetLen(FLITS);
  out[0] = here;
  benchMeet();
  const uint32_t start = tinselCycleCount();
  while (to_send | to_receive) {
    const uint32_t events = benchWait(to_send ? TINSEL_CAN_SEND | TINSEL_CAN_RECV : TINSEL_CAN_RECV);
    if (events & TINSEL_CAN_SEND) {
      to = to + 1 < ALL_TILES ? to + 1 : 0;
      out[1] = to;
      tinselSend((int)gossamerAddressOn(to / GS_TILES, to % GS_TILES * GS_THREADS_PER_TILE + thread), out);
      --to_send;
    }
    if (events & TINSEL_CAN_RECV) {
      volatile uint32_t* in = tinselRecv();
      sum += in[0];
      squares += in[0] * in[0];
      wrong |= in[1] ^ here;
      --to_receive;
      tinselFree(in);
    }
  }
  if (tinselIdle(1) == 0) wrong = 1;  // one too many
  const uint32_t cycles = tinselCycleCount() - start;
  for (uint32_t tile = 0; tile < ALL_TILES; ++tile) {
    if (tile == here) continue;
    sum -= tile;
    squares -= tile * tile;
  }
  benchTell(cycles);
  return (wrong | sum | squares) != 0;
}
