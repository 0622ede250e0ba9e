// SPDX-License-Identifier: Apache-2.0
/// A sum of many single-precision numbers, such as the messages to a vertex with millions of in-edges.
///
/// Single precision loses a number that is less than 2^-25 of the sum, so the error of a plain sum of n numbers grows
/// to n * 2^-24. On a PC the accumulator adds in double precision: its error is at most n * 2^-53 of the sum of the
/// magnitudes, and the additions take no longer. The overlay's threads have no double precision in hardware, and a
/// compensated sum would add five instructions to the 12 of an edge, so they add in single precision.
///
/// The forms have different sizes: a thread has little cache, and every byte of a state counts. For boards, and for the
/// timing model, the engines therefore compile the descriptor of an application that includes this file with
/// GOSSAMER_NARROW_SUMS, so that its states have the layout of the threads'. In both forms zero bits are zero. `value`
/// is meaningful only where `add` was called.
#pragma once

// For the description of an application (app.h), which is compiled at the end of its header.
#undef GOSSAMER_ACCUMULATES
#define GOSSAMER_ACCUMULATES true

namespace gossamer {

struct Accumulator {
#if __STDC_HOSTED__ && !defined(GOSSAMER_NARROW_SUMS)
  using Number = double;
#else
  using Number = float;
#endif
  Number sum;

  void add(float number) { sum += static_cast<Number>(number); }
  Number value() const { return sum; }
  void clear() { sum = 0; }
};

}  // namespace gossamer
