// SPDX-License-Identifier: Apache-2.0
/// Aggregates of steps (aggregates.h), reduced by barriers, two words each.
//
// Barriers add integers. So a Sum of floating-point numbers takes two barriers. The first one finds the largest
// exponent of the threads' numbers. In the second, each thread contributes its number as a multiple of a power of two,
// which is so small that the sum of all just fits into a word:
//
//   exponent E of the largest, T threads:  |number| < 2^E;  unit 2^(E - 62 + log T);  each rounded to it, ties to even
//
// The sum depends only on the threads' numbers; its error is at most half a unit per thread. Infinities and NaNs are
// counted instead.
//
// `totals` has words<A> words, followed by an exponent for each such Sum.
#pragma once

#include <gossamer/aggregates.h>
#include <gossamer/device.h>
#include <gossamer/reduce.h>
#include <stddef.h>
#include <stdint.h>

namespace gossamer {

/// Words of A that are sums of floating-point numbers.
template <typename A>
inline constexpr size_t realSums = [] {
  size_t found = 0;
  for (size_t i = 0; i < aggregates::count<A>; ++i) found += aggregates::reductions<A>.of[i] == Reduce::realSum;
  return found;
}();

/// Size of `totals`; at least one element.
template <typename A>
inline constexpr size_t totalWords = aggregates::count<A> + realSums<A> + 1;

/// Barriers for exponents, before those of the words.
template <typename A>
inline constexpr size_t exponentBarriers = (realSums<A> + 1) / 2;

namespace real_sums {

inline constexpr int special = 0x7FF;  // exponent of infinities and NaN

/// Bits of a thread's number: the sum over all threads has 62.
inline constexpr int bits = [] {
  int most = 62;
  for (uint32_t threads = GS_MAX_THREADS * GOSSAMER_BOARDS; threads > 1; threads = (threads + 1) / 2) --most;
  return most;
}();

/// Exponent of a double; 1 for subnormal numbers.
INLINE int exponent(int64_t number) {
  const int its = static_cast<int>(number >> 52) & special;
  return its ? its : 1;
}

/// The number in units; special numbers are counted by kind, 20 bits each: NaN, minus infinity, plus infinity.
__attribute__((noinline)) inline int64_t whole(int64_t number, int greatest) {
  if (greatest != special) return detail::fixedByBits(__builtin_bit_cast(double, number), bits - (greatest - 1022));
  if (exponent(number) != special) return 0;
  const bool none = (number << 12) != 0;
  return int64_t{1} << (none ? 0 : number < 0 ? 20 : 40);
}

__attribute__((noinline)) inline int64_t number(int64_t whole, int greatest) {
  constexpr int64_t infinity = int64_t{special} << 52;
  if (greatest == special) {
    const bool none = whole & 0xFFFFF, minus = whole >> 20 & 0xFFFFF, plus = whole >> 40;
    if (none || (minus && plus)) return infinity | int64_t{1} << 51;
    return minus ? infinity | INT64_MIN : infinity;
  }
  // Scales in two steps: the unit may be smaller than any normal number.
  const int exponent = greatest - 1022 - bits, half = exponent / 2;
  const double scaled = static_cast<double>(whole) * detail::doubleOfTwo(half);
  return __builtin_bit_cast(int64_t, scaled * detail::doubleOfTwo(exponent - half));
}

/// Index of a word among A's floating-point sums, and the word of such an index.
template <typename A>
constexpr size_t of_word(size_t word) {
  size_t found = 0;
  for (size_t i = 0; i < word; ++i) found += aggregates::reductions<A>.of[i] == Reduce::realSum;
  return found;
}
template <typename A>
constexpr size_t word_of(size_t sum) {
  size_t word = 0;
  while (aggregates::reductions<A>.of[word] != Reduce::realSum || of_word<A>(word) != sum) ++word;
  return word;
}

}  // namespace real_sums

template <typename A>
INLINE void contributeWord(unsigned slot, const int64_t* from, size_t at, const int64_t* totals) {
  const Reduce operation = aggregates::reductions<A>.of[at];
  if (realSums<A> > 0 && operation == Reduce::realSum) {
    const int64_t greatest = totals[aggregates::count<A> + real_sums::of_word<A>(at)];
    gsReduceSum(slot, real_sums::whole(from[at], static_cast<int>(greatest)));
  } else {
    gsReduce(slot, static_cast<unsigned>(operation), from[at]);
  }
}
template <typename A>
INLINE void readWord(unsigned slot, int64_t* to, size_t at, const int64_t* totals) {
  to[at] = gsReduced(slot);
  if (realSums<A> > 0 && aggregates::reductions<A>.of[at] == Reduce::realSum) {
    const int64_t greatest = totals[aggregates::count<A> + real_sums::of_word<A>(at)];
    to[at] = real_sums::number(to[at], static_cast<int>(greatest));
  }
}

/// Contributes word `at` and the next one to the barrier.
template <typename A>
INLINE void contributeWords(const int64_t* from, size_t at, const int64_t* totals) {
  contributeWord<A>(0, from, at, totals);
  if (at + 1 < aggregates::count<A>) contributeWord<A>(1, from, at + 1, totals);
}
/// Reads their results after it.
template <typename A>
INLINE void readWords(int64_t* to, size_t at, const int64_t* totals) {
  readWord<A>(0, to, at, totals);
  if (at + 1 < aggregates::count<A>) readWord<A>(1, to, at + 1, totals);
}

/// The same for the exponents of sums 2 * `barrier` and the next one.
template <typename A>
INLINE void giveExponents(const int64_t* from, size_t barrier) {
  for (size_t sum = 2 * barrier; sum < realSums<A> && sum < 2 * barrier + 2; ++sum) {
    gsReduceMax(sum % 2, real_sums::exponent(from[real_sums::word_of<A>(sum)]));
  }
}
template <typename A>
INLINE void takeExponents(int64_t* totals, size_t barrier) {
  for (size_t sum = 2 * barrier; sum < realSums<A> && sum < 2 * barrier + 2; ++sum) {
    totals[aggregates::count<A> + sum] = gsReduced(sum % 2);
  }
}

}  // namespace gossamer
