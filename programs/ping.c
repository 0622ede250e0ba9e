// SPDX-License-Identifier: Apache-2.0
// Pairs of threads play ping-pong, and print the time of a round trip. See docs/programs/ping.md.

#include <gossamer/device.h>
#include <stdio.h>
#include <tinsel.h>

#ifndef ROUNDS
#define ROUNDS 64
#endif

typedef struct {
  uint32_t value;
} Message;

static void send(uint32_t to, uint32_t value) {
  tinselWaitUntil(TINSEL_CAN_SEND);
  volatile Message* out = tinselSendSlot();
  out->value = value;
  tinselSend((int)to, out);
}

static uint32_t receive(void) {
  tinselWaitUntil(TINSEL_CAN_RECV);
  volatile Message* in = tinselRecv();
  const uint32_t value = in->value;
  tinselFree(in);
  return value;
}

int main(void) {
  const uint32_t me = gossamerThread();
  const uint32_t other = me ^ 1;
  if (other >= gossamerThreads()) return 0;  // an odd number of threads: the last one has no partner
  const uint32_t to = gossamerAddress(other);

  tinselSetLen(1);
  if (me & 1) {
    for (int round = 0; round < ROUNDS; ++round) send(to, receive() * 3 + 1);
    return 0;
  }
  uint32_t value = me;
  const uint32_t start = tinselCycleCount();
  for (int round = 0; round < ROUNDS; ++round) {
    send(to, value);
    value = receive();
  }
  const uint32_t cycles = tinselCycleCount() - start;
  printf("threads %u and %u: %d round trips, value %08x, %u cycles each\n", (unsigned)me, (unsigned)other, ROUNDS,
         (unsigned)value, (unsigned)(cycles / ROUNDS));
  return 0;
}
