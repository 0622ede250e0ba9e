// SPDX-License-Identifier: Apache-2.0
// Every thread increments the words of an array of its own, over and over: the papers' memory benchmark.
//
// PASSES: how often; WORDS: of an array; SRAM: 1 if it lies there, else in the thread's partition of the DRAM.
#include <tinsel.h>

int main(void) {
  volatile uint32_t* const array = (volatile uint32_t*)(SRAM ? tinselHeapBaseSRAM() : tinselHeapBase());
  volatile uint32_t* const end = array + WORDS;
  for (int pass = 0; pass < PASSES; pass++) {
    for (volatile uint32_t* word = array; word != end; word++) ++*word;
  }
  tinselCacheFlush();
  return 0;
}
