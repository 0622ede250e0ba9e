// SPDX-License-Identifier: Apache-2.0
/// What instructions of RV32IMF compute, from the fields of their words: shared by the interpreter of programs of
/// vertices (src/model/probe.cc) and by the engine `fast` (src/fast).
//
// Functions take funct3 and funct7 as numbers. Where these are constants, the compiler leaves one operation.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace gossamer::rv32imf {

inline int32_t immediateI(uint32_t word) { return static_cast<int32_t>(word) >> 20; }
inline int32_t immediateS(uint32_t word) { return (immediateI(word) & ~31) | static_cast<int32_t>(word >> 7 & 31); }
inline uint32_t immediateB(uint32_t word) {
  return (word >> 31 ? 0xFFFF'F000 : 0) | (word << 4 & 0x800) | (word >> 20 & 0x7E0) | (word >> 7 & 0x1E);
}
inline uint32_t immediateJ(uint32_t word) {
  return (word >> 31 ? 0xFFF0'0000 : 0) | (word & 0xF'F000) | (word >> 9 & 0x800) | (word >> 20 & 0x7FE);
}

/// Whether a branch is taken.
inline bool taken(uint32_t funct3, uint32_t a, uint32_t b) {
  const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  switch (funct3) {
    case 0: return a == b;
    case 1: return a != b;
    case 4: return sa < sb;
    case 5: return sa >= sb;
    case 6: return a < b;
    default: return a >= b;
  }
}

/// An operation of the base ISA; `other` selects subtraction and arithmetic shifts.
inline uint32_t integer(uint32_t funct3, bool other, uint32_t a, uint32_t b) {
  const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  switch (funct3) {
    case 0: return other ? a - b : a + b;
    case 1: return a << (b & 31);
    case 2: return sa < sb;
    case 3: return a < b;
    case 4: return a ^ b;
    case 5: return other ? static_cast<uint32_t>(sa >> (b & 31)) : a >> (b & 31);
    case 6: return a | b;
    default: return a & b;
  }
}

/// An operation of the extension M.
inline uint32_t multiply(uint32_t funct3, uint32_t a, uint32_t b) {
  const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  const bool overflow = a == 0x8000'0000 && b == ~0u;
  switch (funct3) {
    case 0: return a * b;
    case 1: return static_cast<uint32_t>((static_cast<int64_t>(sa) * sb) >> 32);
    case 2: return static_cast<uint32_t>((static_cast<int64_t>(sa) * static_cast<int64_t>(b)) >> 32);
    case 3: return static_cast<uint32_t>((static_cast<uint64_t>(a) * b) >> 32);
    case 4: return !b ? ~0u : overflow ? a : static_cast<uint32_t>(sa / sb);
    case 5: return b ? a / b : ~0u;
    case 6: return !b ? a : overflow ? 0 : static_cast<uint32_t>(sa % sb);
    default: return b ? a % b : a;
  }
}

// ---- Floating point ----

/// Exception flags, as in fflags.
enum Flag : uint32_t { kInexact = 1, kUnderflow = 2, kOverflow = 4, kDivideByZero = 8, kInvalid = 16 };
/// Rounding modes, as in frm.
enum Rounding : uint32_t { kNearestEven = 0, kTowardsZero = 1, kDown = 2, kUp = 3, kNearestAway = 4 };
/// Which path of the FPU executes an operation; a move needs none.
enum class Path : uint8_t { Move, Short, Long, Divide, Unknown };

struct Result {
  uint32_t value = 0;
  uint32_t flags = 0;
  Path path = Path::Long;
  bool integer = false;  ///< the destination is an integer register
};

constexpr uint32_t kNan = 0x7FC0'0000;
inline bool isNan(uint32_t x) { return (x & 0x7FFF'FFFF) > 0x7F80'0000; }
inline bool isSignalling(uint32_t x) { return isNan(x) && !(x & 0x0040'0000); }
inline float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t asBits(float value) { return std::bit_cast<uint32_t>(value); }

/// Computes in a rounding mode of the host and adds the flags. Operands and result are volatile so that the compiler
/// keeps the operation between the changes of the host's status register.
template <typename Type, typename Operation, typename... Values>
Type computed(uint32_t mode, uint32_t& flags, Operation operation, Values... values) {
#if defined(__SSE2__)
  constexpr uint32_t kModes[] = {0, 3, 1, 2};
  const uint32_t kept = _mm_getcsr();
  _mm_setcsr(0x1F80 | kModes[mode] << 13);
  volatile Type result = static_cast<Type>(operation(*const_cast<volatile Values*>(&values)...));
  const uint32_t status = _mm_getcsr();
  _mm_setcsr(kept);
  flags |= (status >> 5 & 1) | (status >> 3 & 2) | (status >> 1 & 4) | (status << 1 & 8) | (status << 4 & 16);
#else
  constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  std::fenv_t kept;
  std::feholdexcept(&kept);
  std::fesetround(kModes[mode]);
  volatile Type result = static_cast<Type>(operation(*const_cast<volatile Values*>(&values)...));
  const int status = std::fetestexcept(FE_ALL_EXCEPT);
  std::fesetenv(&kept);
  flags |= (status & FE_INEXACT ? kInexact : 0) | (status & FE_UNDERFLOW ? kUnderflow : 0) |
           (status & FE_OVERFLOW ? kOverflow : 0) | (status & FE_DIVBYZERO ? kDivideByZero : 0) |
           (status & FE_INVALID ? kInvalid : 0);
#endif
  return result;
}

/// The float nearest to a finite double other than 0, ties away from zero. `inexact`: the double is a result rounded
/// towards zero.
inline uint32_t nearestAway(double value, bool inexact, uint32_t& flags) {
  // A double has more than two places beyond those of a float: a last bit of 1 represents all places that are lost.
  const uint64_t bits = std::bit_cast<uint64_t>(value) | static_cast<uint64_t>(inexact);
  const auto exponent = static_cast<int>(bits >> 52 & 2047) - 1023;
  const uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
  const int lost = exponent < -126 ? (exponent < -160 ? 63 : 29 - 126 - exponent) : 29;
  const uint64_t rest = mantissa & ((1ull << lost) - 1);
  const uint32_t base = exponent < -126 ? 0 : static_cast<uint32_t>(exponent + 126) << 23;
  uint32_t found = base + static_cast<uint32_t>((mantissa >> lost) + (rest >> (lost - 1)));
  if (rest) flags |= kInexact;
  // Whether a result is tiny is detected after rounding, with an exponent of any size.
  const bool tiny = exponent < -127 || (exponent == -127 && !((mantissa + (1ull << 28)) >> 53));
  if (rest && tiny) flags |= kUnderflow;
  if (found >= 0x7F80'0000) {
    found = 0x7F80'0000;
    flags |= kOverflow | kInexact;
  }
  return static_cast<uint32_t>(bits >> 63) << 31 | found;
}

/// The result of an operation on floats or integers, rounded to a float, and its flags.
template <typename Operation, typename... Values>
uint32_t rounded(uint32_t mode, uint32_t& flags, Operation operation, Values... values) {
  if (mode == kNearestAway) {
    // No host has this mode. Sums, products, quotients and roots of floats neither overflow nor underflow as doubles.
    uint32_t raised = 0;
    const auto wide = [operation](auto... its) { return operation(static_cast<double>(its)...); };
    const double result = computed<double>(kTowardsZero, raised, wide, values...);
    flags |= raised & ~kInexact;
    if (std::isnan(result)) return kNan;
    if (result == 0 || std::isinf(result)) return asBits(static_cast<float>(result));
    return nearestAway(result, raised & kInexact, flags);
  }
  const uint32_t bits = asBits(computed<float>(mode, flags, operation, values...));
  return isNan(bits) ? kNan : bits;
}

inline uint32_t classOf(uint32_t x) {
  const uint32_t exponent = x >> 23 & 255, mantissa = x & 0x7F'FFFF;
  const bool minus = x >> 31;
  if (exponent == 255) return mantissa ? 1u << (mantissa >> 22 ? 9 : 8) : 1u << (minus ? 0 : 7);
  if (exponent) return 1u << (minus ? 1 : 6);
  if (mantissa) return 1u << (minus ? 2 : 5);
  return 1u << (minus ? 3 : 4);
}

inline uint32_t toInteger(uint32_t bits, bool isUnsigned, uint32_t mode, uint32_t& flags) {
  const double exact = asFloat(bits);
  const double least = isUnsigned ? 0.0 : -2147483648.0, most = isUnsigned ? 4294967295.0 : 2147483647.0;
  if (isNan(bits)) {
    flags |= kInvalid;
    return isUnsigned ? ~0u : 0x7FFF'FFFF;
  }
  double whole = exact;
  switch (mode) {
    case kTowardsZero: whole = std::trunc(exact); break;
    case kDown: whole = std::floor(exact); break;
    case kUp: whole = std::ceil(exact); break;
    case kNearestAway: whole = std::round(exact); break;
    default: whole = std::nearbyint(exact);
  }
  if (whole < least || whole > most) {
    flags |= kInvalid;
    const bool low = whole < least;
    return isUnsigned ? (low ? 0 : ~0u) : (low ? 0x8000'0000 : 0x7FFF'FFFF);
  }
  if (whole != exact) flags |= kInexact;
  return isUnsigned ? static_cast<uint32_t>(whole) : static_cast<uint32_t>(static_cast<int32_t>(whole));
}

/// A floating-point operation: OP-FP or one of the four fused ones. `x` is the integer operand; `mode` is never
/// dynamic.
inline Result floating(uint32_t word, uint32_t a, uint32_t b, uint32_t c, uint32_t x, uint32_t mode) {
  const uint32_t op = word & 0x7F, funct3 = word >> 12 & 7, rs2 = word >> 20 & 31;
  Result its;
  if (op != 0x53) {
    // The sign of a product and of an addend are exact, so one operation serves all four.
    const uint32_t left = op == 0x4B || op == 0x4F ? a ^ 0x8000'0000 : a;
    const uint32_t added = op == 0x47 || op == 0x4F ? c ^ 0x8000'0000 : c;
    const auto isInfinity = [](uint32_t v) { return (v & 0x7FFF'FFFF) == 0x7F80'0000; };
    const auto isZero = [](uint32_t v) { return !(v & 0x7FFF'FFFF); };
    if ((isInfinity(a) && isZero(b)) || (isZero(a) && isInfinity(b))) {
      its.value = kNan;
      its.flags = kInvalid;
      return its;
    }
    its.value = rounded(
        mode, its.flags, [](auto p, auto q, auto r) { return std::fma(p, q, r); }, asFloat(left), asFloat(b),
        asFloat(added));
    return its;
  }
  switch (word >> 25) {
    case 0x00:
      its.value = rounded(mode, its.flags, [](auto p, auto q) { return p + q; }, asFloat(a), asFloat(b));
      break;
    case 0x04:
      its.value = rounded(mode, its.flags, [](auto p, auto q) { return p - q; }, asFloat(a), asFloat(b));
      break;
    case 0x08:
      its.value = rounded(mode, its.flags, [](auto p, auto q) { return p * q; }, asFloat(a), asFloat(b));
      break;
    case 0x0C:
      its.path = Path::Divide;
      its.value = rounded(mode, its.flags, [](auto p, auto q) { return p / q; }, asFloat(a), asFloat(b));
      break;
    case 0x2C:
      its.path = Path::Divide;
      its.value = rounded(mode, its.flags, [](auto p) { return std::sqrt(p); }, asFloat(a));
      break;
    case 0x10:
      its.path = Path::Short;
      its.value = funct3 == 0   ? (a & 0x7FFF'FFFF) | (b & 0x8000'0000)
                  : funct3 == 1 ? (a & 0x7FFF'FFFF) | (~b & 0x8000'0000)
                                : a ^ (b & 0x8000'0000);
      break;
    case 0x14: {
      its.path = Path::Short;
      if (isSignalling(a) || isSignalling(b)) its.flags = kInvalid;
      if (isNan(a) || isNan(b)) {
        its.value = isNan(a) ? (isNan(b) ? kNan : b) : a;
        break;
      }
      // Minus zero is less than zero.
      const bool less = asFloat(a) < asFloat(b) || (asFloat(a) == asFloat(b) && a >> 31 > b >> 31);
      its.value = less == (funct3 == 0) ? a : b;
      break;
    }
    case 0x50: {
      its.path = Path::Short;
      its.integer = true;
      const bool unordered = isNan(a) || isNan(b);
      if (isSignalling(a) || isSignalling(b) || (unordered && funct3 != 2)) its.flags = kInvalid;
      const float p = asFloat(a), q = asFloat(b);
      its.value = !unordered && (funct3 == 0 ? p <= q : funct3 == 1 ? p < q : p == q);
      break;
    }
    case 0x60:
      its.integer = true;
      its.value = toInteger(a, rs2 & 1, mode, its.flags);
      break;
    case 0x68:
      its.value = rs2 & 1 ? rounded(
                                mode, its.flags, [](auto v) { return v; }, static_cast<int64_t>(x))
                          : rounded(mode, its.flags, [](auto v) { return v; }, static_cast<int32_t>(x));
      break;
    case 0x70:
      its.integer = true;
      its.path = funct3 ? Path::Short : Path::Move;
      its.value = funct3 ? classOf(a) : a;
      break;
    case 0x78:
      its.path = Path::Move;
      its.value = x;
      break;
    default: its.path = Path::Unknown;
  }
  return its;
}

}  // namespace gossamer::rv32imf
