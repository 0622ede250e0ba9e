// SPDX-License-Identifier: Apache-2.0
// Single precision in every thread, with its own operands: prints the results, folded into one word.
#include <io.h>
#include <stdint.h>
#include <tinsel.h>

#define ROUNDS 24

static uint32_t state, folded;

/// The next number: positive or negative, from 1 to 2, all bits of its mantissa at random.
static float next(void) {
  state = state * 1664525u + 1013904223u;
  union { uint32_t word; float number; } made = {(state & 0x80000000u) | 0x3f800000u | (state >> 8 & 0x7fffffu)};
  return made.number;
}

static void fold(uint32_t word) { folded = (folded << 5 | folded >> 27) ^ word; }
static void fold_number(float number) {
  union { float number; uint32_t word; } seen = {number};
  fold(seen.word);
}

int main(void) {
  state = tinselId() * 0x9e3779b9u + 1;
  for (int round = 0; round < ROUNDS; round++) {
    const float x = next(), y = next(), z = next();
    fold_number(__builtin_fmaf(x, y, z));
    fold_number(x + y);
    fold_number(y - z);
    fold_number(x * z);
    fold_number(x / y);
    fold_number(__builtin_sqrtf(z < 0 ? -z : z));
    fold((uint32_t)(int32_t)(x * 1000000.0f));
    fold_number((float)(int32_t)state);
    fold((uint32_t)(x < y) | (uint32_t)(y <= z) << 1 | (uint32_t)(x == z) << 2);
    fold_number(__builtin_copysignf(x, z));
  }
  printf("%x\n", folded);
  return 0;
}
