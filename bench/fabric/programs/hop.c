// SPDX-License-Identifier: Apache-2.0
// Hop: the first thread of the first board and that of board PARTNER send one message of one flit to and fro, alone.
#include "bench.h"

#ifndef PARTNER
#define PARTNER 1
#endif
#ifndef ROUNDS
#define ROUNDS 16
#endif

int main(void) {
  const uint32_t board = gossamerBoard();
  volatile uint32_t* out = tinselSendSlot();
  uint32_t wrong = 0;
  tinselSetLen(1);
  benchMeet();
  const uint32_t start = tinselCycleCount();
  uint32_t cycles = 0;
  if (gossamerThread() == 0 && (board == 0 || board == PARTNER)) {
    const int other = (int)gossamerAddressOn(board == 0 ? PARTNER : 0, 0);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
      if (board == 0) {
        benchWait(TINSEL_CAN_SEND);
        out[0] = round;
        tinselSend(other, out);
      }
      benchWait(TINSEL_CAN_RECV);
      volatile uint32_t* in = tinselRecv();
      const uint32_t word = in[0];
      tinselFree(in);
      wrong |= word ^ round;
      if (board != 0) {
        benchWait(TINSEL_CAN_SEND);
        out[0] = word;
        tinselSend(other, out);
      }
    }
    cycles = tinselCycleCount() - start;
  }
  if (tinselIdle(1) == 0) wrong = 1;  // one too many
  benchTell(cycles);
  return wrong != 0;
}
