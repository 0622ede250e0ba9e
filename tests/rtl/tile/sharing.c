// SPDX-License-Identifier: Apache-2.0
// Every thread requests the sum of an array from the accelerator while it changes its own memory, and checks both.
#include <stdint.h>
#include <stdio.h>
#include <tinsel.h>

#define COUNT 24
#define ROUNDS 3

int main(void) {
  uint32_t me = tinselId();
  volatile uint32_t* array = tinselHeapBase();
  volatile uint32_t* mine = array + 1024;
  volatile uint32_t* request = tinselSendSlot();
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
      array[i] = (i + 1) * 0x01234567u + me * 77 + round;
      sum += array[i];
    }
    tinselCacheFlush();
    tinselWaitUntil(TINSEL_CAN_SEND);
    request[0] = (uint32_t)(uintptr_t)array;
    request[1] = COUNT;
    request[2] = me;
    request[3] = me * 16 + round;
    tinselSetLen(1);
    tinselSend(tinselAccId(0, 0, 0, 0), request);
    // Misses and write-backs meanwhile.
    uint32_t pass = 0;
    do {
      for (uint32_t i = 0; i < 1024; i += 64) mine[i] = me * 0x10000 + i + pass;
      for (uint32_t i = 0; i < 1024; i += 64) {
        if (mine[i] != me * 0x10000 + i + pass) {
          printf("own memory: %x at %u\n", (unsigned)mine[i], (unsigned)i);
          return 1;
        }
      }
      pass++;
    } while (!tinselCanRecv());
    volatile uint32_t* reply = tinselRecv();
    int good = reply[0] == sum && reply[1] == COUNT && reply[2] == 0 && reply[3] == me * 16 + round;
    if (!good) {
      printf("round %u: %x is not %x\n", (unsigned)round, (unsigned)reply[0], (unsigned)sum);
      return 2;
    }
    tinselFree(reply);
  }
  return 0;
}
