// SPDX-License-Identifier: Apache-2.0
// Notifies the host before and after a barrier. The accelerator's answer to a request of the next epoch is between.
#include <stdint.h>
#include <tinsel.h>

static void wait_and_tell(uint32_t word) {
  for (uint32_t begin = tinselCycleCount(); tinselCycleCount() - begin < 3000;) {}
  tinselWaitUntil(TINSEL_CAN_SEND);
  volatile uint32_t* out = tinselSendSlot();
  out[0] = word;
  tinselSetLen(1);
  tinselSend(tinselHostId(), out);
}

int main(void) {
  if (tinselId() == 0) wait_and_tell(1);
  if (tinselIdle(1) != 2) return 1;
  if (tinselId() == 0) wait_and_tell(2);
  return 0;
}
