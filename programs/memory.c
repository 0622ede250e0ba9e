// SPDX-License-Identifier: Apache-2.0
// Memory benchmark: the latency of a load, and the bandwidth of all threads together.
// See docs/programs/memory.md.

#include <gossamer/device.h>
#include <stdio.h>
#include <tinsel.h>

#ifndef WORDS
#define WORDS 2048  // of each thread's array
#endif
#define STRIDE (GS_LINE_BYTES / 4)
#define LINES (WORDS / STRIDE)

int main(void) {
  const uint32_t me = gossamerThread();
  volatile uint32_t* array = tinselHeapBase();

  // A chain through the lines of the array, each line once: 5 is coprime to their number, a power of two.
  for (uint32_t i = 0; i < LINES; ++i) array[i * STRIDE] = (i + 5) % LINES * STRIDE;
  tinselCacheFlush();
  tinselIdle(1);  // barrier

  // Latency: thread 0 follows its chain, where each load depends on the previous one; all others sleep.
  if (me == 0) {
    const uint32_t start = tinselCycleCount();
    uint32_t at = 0;
    for (uint32_t i = 0; i < LINES; ++i) at = array[at];
    const uint32_t cycles = tinselCycleCount() - start;
    printf("latency: %u loads end at %u, %u cycles each\n", (unsigned)LINES, (unsigned)at, (unsigned)(cycles / LINES));
  }
  tinselIdle(1);

  // Bandwidth: every thread increments the words of its own array. A line is fetched once and written back once.
  for (uint32_t i = 0; i < WORDS; ++i) array[i] = i ^ me;
  tinselCacheFlush();
  tinselIdle(1);
  const uint32_t start = tinselCycleCount();
  for (uint32_t i = 0; i < WORDS; i += 4) {
    array[i] += 1;
    array[i + 1] += 1;
    array[i + 2] += 1;
    array[i + 3] += 1;
  }
  tinselCacheFlush();
  const uint32_t cycles = tinselCycleCount() - start;

  uint32_t sum = 0;
  for (uint32_t i = 0; i < WORDS; ++i) sum += array[i];
  printf("bandwidth: %u words, sum %08x, %u bytes in %u cycles\n", (unsigned)WORDS, (unsigned)sum,
         (unsigned)(2 * 4 * WORDS), (unsigned)cycles);
  return 0;
}
