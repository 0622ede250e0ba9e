// SPDX-License-Identifier: Apache-2.0
/// Aggregates: a few numbers that every `step` adds to and that the next `step` of every vertex reads.
///
///     struct Totals {
///       gossamer::Sum<uint64_t> reached;
///       gossamer::Max<float> farthest;
///     };
///     struct Vertex : gossamer::PVertex<State, Edge, Message, Params, Totals> {
///       bool step(const Totals& all, Totals& mine) {
///         mine.reached.give(1);            // any number of times, or not at all
///         return all.reached.value() < 10; // of what all vertices gave in the last step
///       }
///     };
///
/// Each is one 64-bit word and a way to reduce two of them to one, so that hardware and other machines carry them
/// without knowing the program. All but sums of floating-point numbers come out the same whatever the order, and so
/// does FixedSum, which adds numbers up as fixed point.
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

/// The most words that a vertex's aggregates may have.
inline constexpr size_t MaxAggregates = 32;

/// How two words become one. The first four are those of the hardware's barrier, by its numbers.
enum class Reduce : uint8_t {
  sum = 0,      // modulo 2^64
  min = 1,      // of signed words
  max = 2,      // of signed words
  either = 3,   // bitwise or
  realSum = 4,  // of words that are the bits of a double; depends on the order
};

namespace detail {

template <typename T>
inline constexpr bool isWhole = std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;
template <typename T>
inline constexpr bool isReal = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// A number as a word whose signed order is that of the numbers; -0 is below 0.
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

template <typename T>
constexpr T disordered(int64_t word) {
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

/// 2^exponent, for exponents that a double's or float's normal numbers have.
constexpr double doubleOfTwo(int exponent) {
  return __builtin_bit_cast(double, static_cast<uint64_t>(exponent + 1023) << 52);
}
constexpr float floatOfTwo(int exponent) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(exponent + 127) << 23);
}

inline constexpr int64_t mostFixed = (int64_t{1} << 62) - 1;

/// A number as fixed point, rounded to the nearest, ties to even; what does not fit becomes the greatest that
/// does, and a NaN 0. By whole numbers alone, for cores without double precision. There it is a function of its own:
/// inlined, it is most of a `step`, which then no longer finds its way into the loop over vertices.
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
    // A number without its leading one could be shifted further, but none is both so small and so far out.
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

/// The same with the host's floating-point unit: a few instructions.
template <int Fraction>
inline int64_t fixedByDouble(double value) {
  const double scaled = value * doubleOfTwo(Fraction);
  const double limit = static_cast<double>(int64_t{1} << 62);
  if (!(__builtin_fabs(scaled) < limit)) {
    return scaled != scaled ? 0 : scaled < 0 ? -mostFixed : mostFixed;
  }
#ifdef __SSE2__
  // In the rounding mode that every program has unless it sets another; a call of llrint where it may set errno.
  return __builtin_ia32_cvtsd2si64(__extension__(__attribute__((vector_size(16))) double){scaled, 0});
#else
  return static_cast<int64_t>(__builtin_rint(scaled));
#endif
}

}  // namespace detail

/// The sum of all that is given: whole numbers modulo 2^64, floating-point numbers in double precision and in an
/// order that may differ from run to run.
template <typename T>
struct Sum {
  static_assert(detail::isWhole<T> || detail::isReal<T>, "a Sum is of whole numbers, float or double");
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

/// The sum of floating-point numbers as fixed point with `Fraction` bits behind the point: each is rounded to a
/// multiple of 2^-Fraction, and the sum of those is exact, whatever the order. It holds sums up to 2^(62 - Fraction);
/// beyond them it is wrong, so leave room for all vertices.
template <typename T, int Fraction>
struct FixedSum {
  static_assert(detail::isReal<T>, "a FixedSum is of float or double");
  static_assert(Fraction >= -60 && Fraction <= 120, "a FixedSum has from -60 to 120 bits behind the point");
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

/// The least of all that is given, NaN left out; where nobody gives, the greatest there is (infinity).
template <typename T>
struct Min {
  static_assert(detail::isWhole<T> || detail::isReal<T>, "a Min is of whole numbers, float or double");
  static constexpr Reduce reduce = Reduce::min;

  int64_t word = detail::ordered(detail::greatest<T>());

  constexpr void give(T value) {
    const int64_t other = detail::ordered(value);
    if (value == value && other < word) word = other;
  }
  constexpr T value() const { return detail::disordered<T>(word); }
};

/// The greatest of all that is given, NaN left out; where nobody gives, the least there is (-infinity).
template <typename T>
struct Max {
  static_assert(detail::isWhole<T> || detail::isReal<T>, "a Max is of whole numbers, float or double");
  static constexpr Reduce reduce = Reduce::max;

  int64_t word = detail::ordered(detail::least<T>());

  constexpr void give(T value) {
    const int64_t other = detail::ordered(value);
    if (value == value && other > word) word = other;
  }
  constexpr T value() const { return detail::disordered<T>(word); }
};

/// The bits that anybody gives; T is unsigned, or bool: did anybody?
template <typename T>
struct Or {
  static_assert(std::is_unsigned_v<T>, "an Or is of unsigned numbers or bool");
  static constexpr Reduce reduce = Reduce::either;

  int64_t word = 0;

  constexpr void give(T value) { word |= static_cast<int64_t>(value); }
  constexpr T value() const { return static_cast<T>(word); }
};

/// What engines know of a struct of aggregates: its words, one after the other.
namespace aggregates {

/// Turns into any aggregate that initialises a member, and tells how it is reduced.
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

/// The words in A; none where it is empty.
template <typename A>
inline constexpr size_t count = std::is_empty_v<A> ? 0 : sizeof(A) / sizeof(int64_t);

/// Whether A is made of aggregates and nothing else.
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
struct Ways {
  Reduce of[count<A> + 1];  // no array has no element
};

template <typename A, size_t... I>
constexpr Ways<A> findWays(std::index_sequence<I...>) {
  Ways<A> found{};
  if constexpr (sizeof...(I) > 0) {
    [[maybe_unused]] A probe{Leaf{&found.of[I]}...};
  }
  return found;
}

/// How each word of A is reduced.
template <typename A>
inline constexpr Ways<A> ways = findWays<A>(std::make_index_sequence<count<A>>{});

/// Two words as one.
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

/// A's words, to be carried; `words` has room for count<A>.
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
    for (size_t i = 0; i < count<A>; ++i) a[i] = reduced(ways<A>.of[i], a[i], b[i]);
    load(into, a);
  }
}

/// Calls `step` of a vertex, which takes aggregates if it has some.
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
