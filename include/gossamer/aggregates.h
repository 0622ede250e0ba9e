// SPDX-License-Identifier: Apache-2.0
/// Aggregates: a few numbers that every `step` contributes to and that the next `step` of every vertex reads.
///
///     struct Totals {
///       gossamer::Sum<uint64_t> reached;
///       gossamer::Max<float> farthest;
///     };
///     struct Vertex : gossamer::PVertex<State, Edge, Message, Params, Totals> {
///       bool step(const Totals& all, Totals& mine) {
///         mine.reached.give(1);            // zero or more contributions
///         return all.reached.value() < 10; // the reduction of the previous step's contributions
///       }
///     };
///
/// Each aggregate is one 64-bit word with a reduction of two words to one, so that hardware and other machines process
/// it without knowledge of the program. The result of every reduction is independent of the order, except for sums of
/// floating-point numbers. FixedSum adds those in fixed point, also independently of the order.
///
/// Freestanding.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

namespace gossamer {

/// The maximum number of words in a vertex's aggregates.
inline constexpr size_t MaxAggregates = 32;

/// The reduction of two words. The first four are those of the hardware's barrier, with its numbers.
enum class Reduce : uint8_t {
  sum = 0,      // modulo 2^64
  min = 1,      // of signed words
  max = 2,      // of signed words
  either = 3,   // bitwise or
  realSum = 4,  // of words with the bits of a double; the result depends on the order
};

namespace detail {

template <typename T>
inline constexpr bool isWhole = std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;
template <typename T>
inline constexpr bool isReal = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// A number as a word; signed comparison of words orders them like the numbers; -0 is below 0.
template <typename T>
constexpr int64_t ordered(T value) {
  if constexpr (std::is_same_v<T, float>) {
    const int32_t bits = __builtin_bit_cast(int32_t, value);
    return bits ^ (bits >> 31 & std::numeric_limits<int32_t>::max());
  } else if constexpr (std::is_same_v<T, double>) {
    const int64_t bits = __builtin_bit_cast(int64_t, value);
    return bits ^ (bits >> 63 & std::numeric_limits<int64_t>::max());
  } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
    return static_cast<int64_t>(value ^ uint64_t{1} << 63);
  } else {
    return static_cast<int64_t>(value);
  }
}

/// The inverse of ordered().
template <typename T>
constexpr T fromOrdered(int64_t word) {
  if constexpr (std::is_same_v<T, float>) {
    const auto bits = static_cast<int32_t>(word);
    return __builtin_bit_cast(float, bits ^ (bits >> 31 & std::numeric_limits<int32_t>::max()));
  } else if constexpr (std::is_same_v<T, double>) {
    return __builtin_bit_cast(double, word ^ (word >> 63 & std::numeric_limits<int64_t>::max()));
  } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
    return static_cast<uint64_t>(word) ^ uint64_t { 1 } << 63;
  } else {
    return static_cast<T>(word);
  }
}

template <typename T>
constexpr T greatest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}
template <typename T>
constexpr T least() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

/// 2^exponent, for exponents of a double's or float's normal numbers.
constexpr double doubleOfTwo(int exponent) {
  return __builtin_bit_cast(double, static_cast<uint64_t>(exponent + 1023) << 52);
}
constexpr float floatOfTwo(int exponent) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(exponent + 127) << 23);
}

inline constexpr int64_t mostFixed = (int64_t{1} << 62) - 1;

/// A number as fixed point, rounded to the nearest, ties to even. Overflow saturates, and a NaN becomes 0. Uses integer
/// operations only, for cores without double precision. On those cores it is not inlined: the inlined code is most of
/// a `step`, which the compiler then no longer inlines into the loop over vertices.
template <typename T>
#if !__STDC_HOSTED__
__attribute__((noinline))
#endif
constexpr int64_t fixedByBits(T value, int fraction) {
  constexpr bool wide = sizeof(T) == 8;
  using Bits = std::conditional_t<wide, uint64_t, uint32_t>;
  constexpr int mantissaBits = wide ? 52 : 23;
  constexpr int special = wide ? 0x7ff : 0xff;
  constexpr int bias = wide ? 1023 : 127;
  const Bits bits = __builtin_bit_cast(Bits, value);
  const int exponent = static_cast<int>(bits >> mantissaBits) & special;
  const auto low = static_cast<int64_t>(bits & ((Bits{1} << mantissaBits) - 1));
  if (exponent == special && low) return 0;
  int64_t number = exponent ? low | int64_t{1} << mantissaBits : low;
  const int shift = (exponent ? exponent : 1) - bias - mantissaBits + fraction;
  if (shift > 61 - mantissaBits) {
    // A subnormal number could be shifted further, but no type has subnormal numbers of that magnitude.
    number = number ? mostFixed : 0;
  } else if (shift >= 0) {
    number <<= shift;
  } else if (shift < -mantissaBits - 2) {
    number = 0;
  } else {
    number = (number + (int64_t{1} << (-shift - 1)) - 1 + (number >> -shift & 1)) >> -shift;
  }
  return bits >> (sizeof(T) * 8 - 1) ? -number : number;
}

/// The same with the host's floating-point unit, in a few instructions.
template <int Fraction>
inline int64_t fixedByDouble(double value) {
  const double scaled = value * doubleOfTwo(Fraction);
  const double limit = static_cast<double>(int64_t{1} << 62);
  if (!(__builtin_fabs(scaled) < limit)) {
    return scaled != scaled ? 0 : scaled < 0 ? -mostFixed : mostFixed;
  }
#ifdef __SSE2__
  // Uses the current rounding mode, which is to nearest by default. llrint would be a call, since it may set errno.
  return __builtin_ia32_cvtsd2si64(__extension__(__attribute__((vector_size(16))) double){scaled, 0});
#else
  return static_cast<int64_t>(__builtin_rint(scaled));
#endif
}

}  // namespace detail

/// The sum of all contributions: integers modulo 2^64, floating-point numbers in double precision and in an order
/// that may differ between runs.
template <typename T>
struct Sum {
  static_assert(detail::isWhole<T> || detail::isReal<T>, "a Sum needs an integer type, float or double");
  using Whole = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  using Value = std::conditional_t<detail::isReal<T>, double, Whole>;
  static constexpr Reduce reduce = detail::isReal<T> ? Reduce::realSum : Reduce::sum;

  int64_t word = 0;

  constexpr void give(T value) {
    if constexpr (detail::isReal<T>) {
      word = __builtin_bit_cast(int64_t, __builtin_bit_cast(double, word) + static_cast<double>(value));
    } else {
      word = static_cast<int64_t>(static_cast<uint64_t>(word) + static_cast<uint64_t>(value));
    }
  }
  constexpr Value value() const {
    if constexpr (detail::isReal<T>) {
      return __builtin_bit_cast(double, word);
    } else {
      return static_cast<Value>(word);
    }
  }
};

/// The sum of floating-point numbers as fixed point with `Fraction` fractional bits: each contribution is rounded to a
/// multiple of 2^-Fraction, and their sum is exact, independent of the order. Sums up to 2^(62 - Fraction) fit;
/// larger ones overflow, so choose `Fraction` for the sum over all vertices.
template <typename T, int Fraction>
struct FixedSum {
  static_assert(detail::isReal<T>, "a FixedSum needs float or double");
  static_assert(Fraction >= -60 && Fraction <= 120, "a FixedSum has -60 to 120 fractional bits");
  static constexpr Reduce reduce = Reduce::sum;

  int64_t word = 0;

  void give(T value) {
#if __STDC_HOSTED__
    const int64_t fixed = detail::fixedByDouble<Fraction>(static_cast<double>(value));
#else
    const int64_t fixed = detail::fixedByBits(value, Fraction);
#endif
    word = static_cast<int64_t>(static_cast<uint64_t>(word) + static_cast<uint64_t>(fixed));
  }
  constexpr T value() const {
    return static_cast<T>(word) * (sizeof(T) == 4 ? static_cast<T>(detail::floatOfTwo(-Fraction))
                                                  : static_cast<T>(detail::doubleOfTwo(-Fraction)));
  }
};

/// The minimum of all contributions, ignoring NaN; without contributions, the type's maximum (infinity).
template <typename T>
struct Min {
  static_assert(detail::isWhole<T> || detail::isReal<T>, "a Min needs an integer type, float or double");
  static constexpr Reduce reduce = Reduce::min;

  int64_t word = detail::ordered(detail::greatest<T>());

  constexpr void give(T value) {
    const int64_t other = detail::ordered(value);
    if (value == value && other < word) word = other;
  }
  constexpr T value() const { return detail::fromOrdered<T>(word); }
};

/// The maximum of all contributions, ignoring NaN; without contributions, the type's minimum (-infinity).
template <typename T>
struct Max {
  static_assert(detail::isWhole<T> || detail::isReal<T>, "a Max needs an integer type, float or double");
  static constexpr Reduce reduce = Reduce::max;

  int64_t word = detail::ordered(detail::least<T>());

  constexpr void give(T value) {
    const int64_t other = detail::ordered(value);
    if (value == value && other > word) word = other;
  }
  constexpr T value() const { return detail::fromOrdered<T>(word); }
};

/// The bitwise or of all contributions; T is unsigned, or bool.
template <typename T>
struct Or {
  static_assert(std::is_unsigned_v<T>, "an Or needs an unsigned type or bool");
  static constexpr Reduce reduce = Reduce::either;

  int64_t word = 0;

  constexpr void give(T value) { word |= static_cast<int64_t>(value); }
  constexpr T value() const { return static_cast<T>(word); }
};

/// The engines' view of a struct of aggregates: consecutive words.
namespace aggregates {

/// Converts to any aggregate when it initialises a member, and records that member's reduction.
struct Leaf {
  Reduce* how;
  template <typename A>
    requires requires(A a) {
      { A::reduce } -> std::convertible_to<Reduce>;
      a.word;
    }
  constexpr operator A() const {
    *how = A::reduce;
    return {};
  }
};

template <typename A, size_t... I>
constexpr bool takesLeaves(std::index_sequence<I...>) {
  return requires { A{Leaf{(static_cast<void>(I), nullptr)}...}; };
}

/// The number of words in A; zero for an empty struct.
template <typename A>
inline constexpr size_t count = std::is_empty_v<A> ? 0 : sizeof(A) / sizeof(int64_t);

/// Whether all members of A are aggregates.
template <typename A>
constexpr bool areAll() {
  if constexpr (std::is_empty_v<A>) {
    return true;
  } else if constexpr (!std::is_aggregate_v<A> || std::is_union_v<A> || sizeof(A) % sizeof(int64_t) != 0) {
    return false;
  } else {
    return takesLeaves<A>(std::make_index_sequence<count<A>>{});
  }
}

template <typename A>
struct Reductions {
  Reduce of[count<A> + 1];  // an array cannot have zero elements
};

template <typename A, size_t... I>
constexpr Reductions<A> findReductions(std::index_sequence<I...>) {
  Reductions<A> found{};
  if constexpr (sizeof...(I) > 0) {
    [[maybe_unused]] A probe{Leaf{&found.of[I]}...};
  }
  return found;
}

/// The reduction of each word of A.
template <typename A>
inline constexpr Reductions<A> reductions = findReductions<A>(std::make_index_sequence<count<A>>{});

/// Reduces two words to one.
constexpr int64_t reduced(Reduce how, int64_t a, int64_t b) {
  switch (how) {
    case Reduce::sum: return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    case Reduce::min: return b < a ? b : a;
    case Reduce::max: return b > a ? b : a;
    case Reduce::either: return a | b;
    case Reduce::realSum: break;
  }
  return __builtin_bit_cast(int64_t, __builtin_bit_cast(double, a) + __builtin_bit_cast(double, b));
}

/// Copies A's words out; `words` has count<A> elements.
template <typename A>
inline void save(const A& from, int64_t* words) {
  if constexpr (count<A> > 0) __builtin_memcpy(words, &from, sizeof(A));
}

template <typename A>
inline void load(A& to, const int64_t* words) {
  if constexpr (count<A> > 0) __builtin_memcpy(static_cast<void*>(&to), words, sizeof(A));
}

/// Reduces `other` into `into`.
template <typename A>
inline void reduce(A& into, const A& other) {
  if constexpr (count<A> > 0) {
    int64_t a[count<A>];
    int64_t b[count<A>];
    save(into, a);
    save(other, b);
    for (size_t i = 0; i < count<A>; ++i) a[i] = reduced(reductions<A>.of[i], a[i], b[i]);
    load(into, a);
  }
}

/// Calls `step` of a vertex, with aggregates if it has any.
template <typename V, typename A>
inline bool step(V& vertex, const A& all, A& mine) {
  if constexpr (count<A> > 0) {
#if !__STDC_HOSTED__ && defined(__clang__)
    [[clang::always_inline]]
#endif
    return vertex.step(all, mine);
  } else {
    return vertex.step();
  }
}

}  // namespace aggregates
}  // namespace gossamer
