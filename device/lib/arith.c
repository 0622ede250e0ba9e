// SPDX-License-Identifier: Apache-2.0
// 64-bit division, which the core lacks, in a quarter of the size of the compiler's version. Other missing operations
// (double precision) are in the compiler's library.

#include <stdint.h>

/// Quotient and remainder by shift and subtract; a divisor of 0 yields the result of RISC-V's divu.
__attribute__((noinline)) static uint64_t divide(uint64_t from, uint64_t by, uint64_t* rest) {
  if (!((from | by) >> 32)) {  // division in one instruction
    const uint32_t small = (uint32_t)from, unit = (uint32_t)by;
    if (unit) {
      *rest = small % unit;
      return small / unit;
    }
  }
  uint64_t left = 0, quotient = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const int carry = (int)(left >> 63);
    left = left << 1 | (from >> 63);
    from <<= 1;
    quotient <<= 1;
    if (carry || left >= by) {
      left -= by;
      quotient |= 1;
    }
  }
  *rest = left;
  return quotient;
}

uint64_t __udivdi3(uint64_t from, uint64_t by) {
  uint64_t rest;
  return divide(from, by, &rest);
}

uint64_t __umoddi3(uint64_t from, uint64_t by) {
  uint64_t rest;
  divide(from, by, &rest);
  return rest;
}

static uint64_t magnitude(int64_t value) { return value < 0 ? -(uint64_t)value : (uint64_t)value; }

int64_t __divdi3(int64_t from, int64_t by) {
  uint64_t rest;
  const uint64_t result = divide(magnitude(from), magnitude(by), &rest);
  return (int64_t)((from ^ by) < 0 ? -result : result);
}

int64_t __moddi3(int64_t from, int64_t by) {
  uint64_t rest;
  divide(magnitude(from), magnitude(by), &rest);
  return (int64_t)(from < 0 ? -rest : rest);
}
