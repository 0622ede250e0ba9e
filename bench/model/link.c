// SPDX-License-Identifier: Apache-2.0
// Cycles in which a link between boards passes messages of 1, 2 and 4 flits, on a mesh at least four boards wide: all
// threads of boards 0 and 1 send to those of 3 and 2, so that everything crosses the link from 1 to 2, which limits the
// rate. One line per length: its flits, and the cycles of a short and of a long run. tests/system/test_model_rtl.py
// compares their difference with config/model/timing.toml.
#include <stdio.h>

#include "../fabric/programs/bench.h"

enum { SHORT = 16, LONG = 80 };  // messages of a thread

static uint32_t pass(uint32_t flits, uint32_t count) {
  const uint32_t me = gossamerThread(), board = gossamerBoard();
  volatile uint32_t* out = tinselSendSlot();
  tinselSetLen((int)flits);
  out[0] = me;
  GS_CSR_WRITE(GS_CSR_SEND_SLOT, (uintptr_t)out);
  benchMeet();
  const uint32_t start = tinselCycleCount();
  if (board < 2) {
    const uint32_t partner = gossamerAddressOn(3 - board, me);
    for (uint32_t left = count; left; --left) {
      benchWait(TINSEL_CAN_SEND);
      GS_CSR_WRITE(GS_CSR_SEND_DEST, partner);
    }
  } else if (board < 4) {
    for (uint32_t left = count; left; --left) {
      benchWait(TINSEL_CAN_RECV);
      tinselFree(tinselRecv());
    }
  }
  benchMeet();
  return tinselCycleCount() - start;
}

int main(void) {
  static const uint32_t lengths[] = {1, 2, 4};
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t few = pass(lengths[i], SHORT), many = pass(lengths[i], LONG);
    if (gossamerBoard() == 0 && gossamerThread() == 0) printf("link%d %d %d\n", (int)lengths[i], (int)few, (int)many);
  }
  return 0;
}
