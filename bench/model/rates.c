// SPDX-License-Identifier: Apache-2.0
// Rates of units that threads share, measured with the cycle counter while all threads of a board use them: one line
// per unit, its name, cycles from the first begin to the last end, and how often each thread used it.
// config/model/timing.toml has the values; tests/system/test_model_rtl.py compares.
//
//   issue, hit, sram_hit   instructions; loads that hit
//   dram, dram_row         loads of lines that miss: in the order of addresses, and each in another row
//   dram_write             as dram, and each evicts a dirty line
//   sram, sram_write       as dram and dram_write, in the SRAM
#include <stdio.h>

#include "../fabric/programs/bench.h"

enum { TIMES = 64 };

#define R4(x) x x x x
#define R64(x) R4(R4(R4(x)))

static void walk(volatile char* at, uint32_t step, int write) {
  for (uint32_t i = 0; i < TIMES; ++i, at += step) {
    if (write) {
      *(volatile uint32_t*)at = i;
    } else {
      (void)*(volatile uint32_t*)at;
    }
  }
}

/// What all threads do, after a barrier; thread 0 tells the cycles until the next one.
static void use(const char* name, volatile char* at, uint32_t step, int write) {
  benchMeet();
  const uint32_t begin = tinselCycleCount();
  walk(at, step, write);
  benchMeet();
  const uint32_t cycles = tinselCycleCount() - begin;
  if (gossamerThread() == 0) printf("%s %d %d\n", name, (int)cycles, TIMES);
}

/// Lines at random in `bytes`, a power of two, from `at`. A thread is in its own sequence.
static void scatter(const char* name, volatile char* at, uint32_t bytes, uint32_t stride, int write) {
  uint32_t random = 12345 + 977 * gossamerThread();
  benchMeet();
  const uint32_t begin = tinselCycleCount();
  for (uint32_t i = 0; i < TIMES; ++i) {
    random = random * 1664525 + 1013904223;
    volatile uint32_t* const to = (volatile uint32_t*)(at + ((random >> 8) & (bytes - 1)) / GS_LINE_BYTES * stride);
    if (write) {
      *to = i;
    } else {
      (void)*to;
    }
  }
  benchMeet();
  const uint32_t cycles = tinselCycleCount() - begin;
  if (gossamerThread() == 0) printf("%s %d %d\n", name, (int)cycles, TIMES);
}

#define RATE(name, text)                                                       \
  do {                                                                         \
    (void)*(volatile uint32_t*)dram;                                           \
    benchMeet();                                                               \
    const uint32_t begin = tinselCycleCount();                                 \
    __asm__ volatile(text : : "r"(dram) : "t0", "ft0", "memory");              \
    benchMeet();                                                               \
    const uint32_t cycles = tinselCycleCount() - begin;                        \
    if (gossamerThread() == 0) printf("%s %d %d\n", name, (int)cycles, TIMES); \
  } while (0)

int main(void) {
  volatile char* const dram = (volatile char*)tinselHeapBase();
  volatile char* const sram = (volatile char*)tinselHeapBaseSRAM();
  const uint32_t line = GS_LINE_BYTES;
  RATE("empty", "");
  RATE("empty", "");
  RATE("issue", R64("nop\n"));
  RATE("hit", R64("lw t0, 0(%0)\n"));
  RATE("fpu", R64("fadd.s ft0, ft0, ft0\n"));
  RATE("control", R64("csrr t0, 0xC02\n"));
  use("dram", dram, line, 0);
  use("dram_row", dram, 4096 + line, 0);
  use("dram_write", dram, line, 1);
  use("dram_write", dram + 8192, line, 1);
  scatter("random", dram, 32768, GS_LINE_BYTES, 0);
  scatter("random_write", dram, 32768, GS_LINE_BYTES, 1);
  scatter("random_write", dram, 32768, GS_LINE_BYTES, 1);
  scatter("shared", (volatile char*)0x40200000, 1 << 18, GS_LINE_BYTES, 0);
  use("sram", sram, line, 0);
  use("sram_write", sram, line, 1);
  use("sram_write", sram + 2048, line, 1);
  return 0;
}
