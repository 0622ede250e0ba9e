// SPDX-License-Identifier: Apache-2.0
/// A sum of many single-precision numbers, such as the messages to a vertex with millions of in-edges.
///
/// Single precision loses a number that is less than 2^-25 of the sum, so the error of a plain sum of n numbers grows
/// to n * 2^-24. On a PC the accumulator adds in double precision: its error is at most n * 2^-53 of the sum of the
/// magnitudes, and the additions take no longer. The overlay's threads have no double precision in hardware, and a
/// compensated sum would add five instructions to the 12 of an edge, so they add in single precision.
///
/// Both forms have the same size, and zero bits are zero, so that a state has one layout. `value` is meaningful only
/// where `add` was called.
#pragma once

#include <stdint.h>

namespace gossamer {

struct alignas(8) Accumulator {
#if __STDC_HOSTED__
  using Number = double;
  Number sum;
#else
  using Number = float;
  Number sum;
  uint32_t unused;
#endif

  void add(float number) { sum += static_cast<Number>(number); }
  Number value() const { return sum; }
  void clear() { sum = 0; }
};

}  // namespace gossamer
