// SPDX-License-Identifier: Apache-2.0
// Stores words at the addresses in the host's table, flushes them, and reads all of them back.
#include <stdint.h>
#include <stdio.h>
#include <tinsel.h>

volatile uint32_t table[129][2] = {{1, 0}};  // number of entries; address, word

int main(void) {
  uint32_t count = table[0][0];
  for (uint32_t i = 1; i <= count; i++) *(volatile uint32_t*)(uintptr_t)table[i][0] = table[i][1];
  tinselCacheFlush();
  for (uint32_t i = 1; i <= count; i++) {
    uint32_t found = *(volatile uint32_t*)(uintptr_t)table[i][0];
    if (found != table[i][1]) {
      printf("%x: %x\n", (unsigned)table[i][0], (unsigned)found);
      return 1;
    }
  }
  return 0;
}
