// SPDX-License-Identifier: Apache-2.0
// Every thread rewrites an array in its own memory, checks it, and counts its passes in a table for the host.
#include <stdint.h>
#include <tinsel.h>

volatile uint32_t passes[64][8];  // a line each
volatile uint32_t wrong[64][8];

int main(void) {
  uint32_t me = tinselId();
  volatile uint32_t* mine = tinselHeapBase();
  for (uint32_t pass = 1;; pass++) {
    for (uint32_t i = 0; i < 256; i += 8) mine[i] = pass * me + i;
    for (uint32_t i = 0; i < 256; i += 8) {
      if (mine[i] != pass * me + i) wrong[me][0]++;
    }
    passes[me][0] = pass;
    tinselCacheFlush();
  }
}
