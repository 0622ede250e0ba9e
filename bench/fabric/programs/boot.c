// SPDX-License-Identifier: Apache-2.0
// What is loaded before a start: instructions that fill most of the memory, and 1 MB of data on each board. The first
// thread says that it runs; then the threads of each board read words all over the data, in all of its memories.
#include <gossamer/device.h>
#include <tinsel.h>

#define WORDS (1 << 18)

// Word n is n times an odd number: none is like another.
__asm__(
    ".pushsection .rodata.bench, \"a\"\n"
    ".balign 64\n"
    "bench_data:\n"
    ".set bench_n, 0\n"
    ".rept 262144\n"
    ".word (bench_n * 2654435761) & 0xFFFFFFFF\n"
    ".set bench_n, bench_n + 1\n"
    ".endr\n"
    ".popsection");
extern const volatile uint32_t bench_data[WORDS];

#ifndef FILLING
#define FILLING 1280
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/// Instructions that nobody runs.
__attribute__((noinline)) static void filling(void) {
  __asm__ volatile(".rept " TEXT(FILLING) "\n nop\n .endr");
}

int main(void) {
  const uint32_t me = gossamerThread(), threads = gossamerThreads();
  if (gossamerBoard() == 0 && me == 0) tinselEmit(1);
  uint32_t wrong = 0;
  for (uint32_t n = 61 * me; n < WORDS; n += 61 * threads) wrong |= bench_data[n] ^ n * 2654435761u;
  if (wrong == 1) filling();
  return wrong != 0;
}
