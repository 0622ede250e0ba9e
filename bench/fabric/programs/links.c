// SPDX-License-Identifier: Apache-2.0
// Link rate: a quarter of each board's threads exchanges messages with each of its up to four neighbours in the mesh of
// boards. Every link carries as many messages, both ways at once; threads of a side without a link do nothing.
#include "bench.h"

#ifndef COUNT
#define COUNT 32
#endif
#ifndef FLITS
#define FLITS GS_MAX_FLITS
#endif

int main(void) {
  const uint32_t me = gossamerThread(), side = me % 4;
  const uint32_t other = benchNeighbour(gossamerBoard(), side);
  // East and west, north and south are neighbours' numbers, too.
  const uint32_t partner = other == NOBODY ? NOBODY : gossamerAddressOn(other, me ^ 1);
  int good = 1;
  const uint32_t cycles = benchExchange(partner, COUNT, FLITS, &good);
  benchTell(cycles);
  return !good;
}
