// SPDX-License-Identifier: Apache-2.0
// Requests sums of unreadable memory from the accelerator, then a readable one; then notifies the host.
#include <stdint.h>
#include <tinsel.h>

static const uint32_t addresses[] = {0x8, 0x40000002, 0x00100000, 0x40000000};

int main(void) {
  volatile uint32_t* request = tinselSendSlot();
  for (uint32_t i = 0; i < 4; i++) {
    tinselWaitUntil(TINSEL_CAN_SEND);
    request[0] = addresses[i];
    request[1] = 2;
    request[2] = tinselId();
    request[3] = i;
    tinselSetLen(1);
    tinselSend(tinselAccId(0, 0, 0, 0), request);
    tinselWaitUntil(TINSEL_CAN_RECV);
    volatile uint32_t* reply = tinselRecv();
    uint32_t failed = reply[2], mark = reply[3];
    tinselFree(reply);
    if (failed != (i < 3) || mark != i) return 1 + i;
  }
  // An answer to an illegal address is dropped, and so is one to a forbidden endpoint; the accelerator continues.
  static const uint32_t nowhere[] = {0x1FFFFFFF, 0x40000000, 0x60000000, 0x80000000, 0xA0004000, 0xC0000000};
  for (uint32_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
    tinselWaitUntil(TINSEL_CAN_SEND);
    request[1] = 0;
    request[2] = nowhere[i];
    tinselSend(tinselAccId(0, 0, 0, 0), request);
  }
  for (uint32_t i = 0; i < 2; i++) {
    tinselWaitUntil(TINSEL_CAN_SEND);
    request[0] = 0xC0FFEE00u + i;
    request[1] = 1;
    request[2] = 2;
    request[3] = 3;
    tinselSend(tinselHostId(), request);
  }
  // The accelerator may also answer to the host.
  tinselWaitUntil(TINSEL_CAN_SEND);
  request[1] = 0;
  request[2] = tinselHostId();
  request[3] = 99;
  tinselSend(tinselAccId(0, 0, 0, 0), request);
  return tinselIdle(1) == 2 ? 0 : 9;
}
