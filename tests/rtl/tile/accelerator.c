// SPDX-License-Identifier: Apache-2.0
// Each thread, except the one whose number the accelerator uses, requests the sum of an array from the accelerator.
#include <io.h>
#include <stdint.h>
#include <tinsel.h>

#define COUNT 100

int main(void) {
  uint32_t me = tinselId();
  volatile uint32_t* array = tinselHeapBase();
  uint32_t sum = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    array[i] = (i + 1) * 0x01234567u + me;
    sum += array[i];
  }
  tinselCacheFlush();
  volatile uint32_t* request = tinselSendSlot();
  for (int round = 0; round < 3; round++) {
    tinselWaitUntil(TINSEL_CAN_SEND);
    request[0] = (uint32_t)(uintptr_t)array;
    request[1] = round == 1 ? 0 : COUNT;
    request[2] = me;
    request[3] = me * 16 + round;
    // The accelerator ignores the flits after a request's first one.
    request[4] = request[0];
    request[5] = COUNT - 1;
    request[6] = request[7] = ~me;
    tinselSetLen(1 + round % 2);
    tinselSend(tinselAccId(0, 0, 0, 0), request);
    tinselWaitUntil(TINSEL_CAN_RECV);
    volatile uint32_t* reply = tinselRecv();
    uint32_t expected = round == 1 ? 0 : sum;
    int good = reply[0] == expected && reply[1] == request[1] && reply[2] == 0 && reply[3] == me * 16 + round;
    tinselFree(reply);
    if (!good) {
      printf("wrong in round %d\n", round);
      return 1;
    }
  }
  return tinselIdle(1) == 2 ? 0 : 2;
}
