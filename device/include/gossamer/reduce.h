// SPDX-License-Identifier: Apache-2.0
/// Barriers that compute: up to two 64-bit words, reduced over all threads of the job by the release of tinselIdle.
//
//   gsReduceSum(0, mine);              // any number of times in an epoch; each counts once
//   while (tinselIdle(1) == 0) ...     // receive
//   int64_t all = gsReduced(0);        // over all contributions in the epoch that ended
//
// All threads that contribute to a word in an epoch must use the same operation; else the result is undefined. A word
// without contributions keeps its result. A contribution overwrites the masks of tinselMulticast, which sets them
// itself.
//
// A floating-point sum depends on the order of addition, and the order of a reduction is undefined: so numbers are
// added as fixed-point numbers, which is exact.
#pragma once

#include <gossamer/device.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Contributes a value to word 0 or 1; `op` is GS_REDUCE_SUM (modulo 2^64), GS_REDUCE_MIN, GS_REDUCE_MAX (both signed)
/// or GS_REDUCE_OR.
INLINE void gsReduce(unsigned word, unsigned op, int64_t value) {
  GS_CSR_WRITE(GS_CSR_SEND_MASK_LOW, (uint32_t)value);
  GS_CSR_WRITE(GS_CSR_SEND_MASK_HIGH, (uint32_t)((uint64_t)value >> 32));
  GS_CSR_WRITE(GS_CSR_REDUCE, word << 2 | op);
}

INLINE void gsReduceSum(unsigned word, int64_t value) { gsReduce(word, GS_REDUCE_SUM, value); }
INLINE void gsReduceMin(unsigned word, int64_t value) { gsReduce(word, GS_REDUCE_MIN, value); }
INLINE void gsReduceMax(unsigned word, int64_t value) { gsReduce(word, GS_REDUCE_MAX, value); }
INLINE void gsReduceOr(unsigned word, uint64_t value) { gsReduce(word, GS_REDUCE_OR, (int64_t)value); }

/// The result of a word in the last release.
INLINE int64_t gsReduced(unsigned word) {
  uint32_t low = word ? GS_CSR_READ(GS_CSR_REDUCED1_LOW) : GS_CSR_READ(GS_CSR_REDUCED_LOW);
  uint32_t high = word ? GS_CSR_READ(GS_CSR_REDUCED1_HIGH) : GS_CSR_READ(GS_CSR_REDUCED_HIGH);
  return (int64_t)((uint64_t)high << 32 | low);
}

/// Converts a number to fixed point with `fraction` bits after the point, rounded to nearest (ties away from 0).
/// Saturates at 62 bits; NaN becomes 0. Choose `fraction` so that the sum of all numbers fits.
INLINE int64_t gsToFixed(float value, int fraction) {
  union {
    float number;
    uint32_t bits;
  } u;
  u.number = value;
  int exponent = (int)(u.bits >> 23 & 0xFF);
  int64_t mantissa = (int64_t)(u.bits & 0x7FFFFF) | (exponent ? 0x800000 : 0);
  int shift = (exponent ? exponent : 1) - 150 + fraction;
  if (exponent == 0xFF && (u.bits & 0x7FFFFF)) return 0;
  if (shift > 38) mantissa = mantissa ? ((int64_t)1 << 62) - 1 : 0;
  else if (shift >= 0) mantissa <<= shift;
  else if (shift < -25) mantissa = 0;
  else mantissa = (mantissa + ((int64_t)1 << (-shift - 1))) >> -shift;
  return u.bits >> 31 ? -mantissa : mantissa;
}

/// Converts a fixed-point word to a number; `fraction` from -60 to 120.
INLINE float gsFromFixed(int64_t value, int fraction) {
  union {
    uint32_t bits;
    float number;
  } scale;
  scale.bits = (uint32_t)(127 - fraction) << 23;
  // Uses the absolute value: both halves of a small negative number are near 2^32 and would cancel it.
  uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  float number = ((float)(uint32_t)(size >> 32) * 4294967296.0f + (float)(uint32_t)size) * scale.number;
  return value < 0 ? -number : number;
}

/// Adds a floating-point number to a word, as fixed point.
INLINE void gsReduceFloat(unsigned word, float value, int fraction) {
  gsReduceSum(word, gsToFixed(value, fraction));
}

#ifdef __cplusplus
}  // extern "C"
#endif
