// SPDX-License-Identifier: Apache-2.0
/// Element types and reduction operations.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime.h"

namespace gossamer::smi {

namespace {

struct Half {
  unsigned short bits;
};

struct Type {
  const char* name;
  int size;
};
constexpr Type types[] = {{"", 0},         {"SMI_INT", 4},   {"SMI_FLOAT", 4}, {"SMI_DOUBLE", 8},
                          {"SMI_CHAR", 1}, {"SMI_SHORT", 2}, {"SMI_LONG", 8},  {"SMI_HALF", 2}};

/// IEEE 754-2019 maximum and minimum: NaN wins, and -0 is less than +0; so the order of elements does not matter.
template <bool most, class T>
T extreme(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) == most ? b : a;
  }
  return (a < b) == most ? b : a;
}

template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T, int op>
T apply(T a, T b) {
  if constexpr (op == SMI_MAX) return extreme<true>(a, b);
  if constexpr (op == SMI_MIN) return extreme<false>(a, b);
  return add(a, b);
}

template <class T, int op>
std::uint64_t combinePair(std::uint64_t a, std::uint64_t b) {
  if constexpr (std::is_same_v<T, Half>) {
    // Rounding the sum to float first is harmless: 24 bits are at least 2 x 11 + 2, so double rounding equals single.
    const float both = apply<float, op>(SMI_Half_to_float(static_cast<unsigned short>(a)),
                                        SMI_Half_to_float(static_cast<unsigned short>(b)));
    return SMI_Float_to_half(both);
  } else {
    T x, y;
    std::memcpy(&x, &a, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    const T z = apply<T, op>(x, y);
    std::uint64_t out = 0;
    std::memcpy(&out, &z, sizeof z);
    return out;
  }
}

template <class T, int op>
std::uint64_t reduceValues(std::uint64_t* values, int n, int root) {
  if constexpr (op == SMI_ADD_ORDERED) {
    std::uint64_t sum = values[0];
    for (int rank = 1; rank < n; ++rank) sum = combinePair<T, SMI_ADD>(sum, values[rank]);
    return sum;
  } else {
    // Rank (root + i) mod n has position i in the binomial tree: in step s, i adds the sum of i + s.
    for (int step = 1; step < n; step *= 2) {
      for (int i = 0; i + step < n; i += 2 * step) {
        const int to = root + i >= n ? root + i - n : root + i;
        const int from = root + i + step >= n ? root + i + step - n : root + i + step;
        values[to] = combinePair<T, op>(values[to], values[from]);
      }
    }
    return values[root];
  }
}

using Reduction = std::uint64_t (*)(std::uint64_t*, int, int);

template <class T>
constexpr Reduction reductions[] = {reduceValues<T, SMI_ADD>, reduceValues<T, SMI_MAX>, reduceValues<T, SMI_MIN>,
                                    reduceValues<T, SMI_ADD_ORDERED>};

}  // namespace

bool typeExists(int type) { return type >= SMI_INT && type <= SMI_HALF; }
int sizeOf(int type) { return types[type].size; }
const char* typeName(int type) { return types[type].name; }

const char* opName(int op) {
  constexpr const char* names[] = {"SMI_ADD", "SMI_MAX", "SMI_MIN", "SMI_ADD_ORDERED"};
  return op >= 0 && op < 4 ? names[op] : nullptr;
}

std::uint64_t load(int type, const void* data) {
  std::uint64_t value = 0;
  switch (types[type].size) {
    case 1: std::memcpy(&value, data, 1); break;
    case 2: std::memcpy(&value, data, 2); break;
    case 4: std::memcpy(&value, data, 4); break;
    default: std::memcpy(&value, data, 8);
  }
  return value;
}

void store(int type, void* data, std::uint64_t value) {
  switch (types[type].size) {
    case 1: std::memcpy(data, &value, 1); break;
    case 2: std::memcpy(data, &value, 2); break;
    case 4: std::memcpy(data, &value, 4); break;
    default: std::memcpy(data, &value, 8);
  }
}

std::uint64_t combine(int type, int op, std::uint64_t* values, int n, int root) {
  if (options.ordered && op == SMI_ADD) op = SMI_ADD_ORDERED;
  switch (type) {
    case SMI_INT: return reductions<std::int32_t>[op](values, n, root);
    case SMI_FLOAT: return reductions<float>[op](values, n, root);
    case SMI_DOUBLE: return reductions<double>[op](values, n, root);
    case SMI_CHAR: return reductions<signed char>[op](values, n, root);
    case SMI_SHORT: return reductions<std::int16_t>[op](values, n, root);
    case SMI_LONG: return reductions<std::int64_t>[op](values, n, root);
    default: return reductions<Half>[op](values, n, root);
  }
}

void Ring::grow(std::uint64_t least) {
  const std::uint64_t size = std::bit_ceil(least < 8 ? 8 : least);
  if (size <= capacity()) return;
  auto* larger = new std::uint64_t[size];
  for (std::uint64_t at = head; at != tail; ++at) larger[at & (size - 1)] = slots[at & mask];
  delete[] slots;
  slots = larger;
  mask = size - 1;
}

}  // namespace gossamer::smi

extern "C" float SMI_Half_to_float(unsigned short half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half >> 15) << 31;
  const int exponent = half >> 10 & 31;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent) return std::bit_cast<float>(sign | static_cast<std::uint32_t>(exponent + 112) << 23 | fraction << 13);
  const float tiny = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -tiny : tiny;
}

extern "C" unsigned short SMI_Float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const unsigned sign = bits >> 16 & 0x8000u;
  const std::uint32_t size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u | (size >> 13 & 0x1ffu));
  if (size >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);  // rounds to 65536 or above
  if (size < 0x38800000u) {
    // Below 2^-14, a half is a multiple of 2^-24; lrint rounds to nearest, ties to even.
    const float units = std::bit_cast<float>(size) * 0x1p24f;
    return static_cast<unsigned short>(sign | static_cast<unsigned>(std::lrintf(units)));
  }
  const std::uint32_t even = size >> 13 & 1u;
  return static_cast<unsigned short>(sign | ((size - 0x38000000u + 0xfffu + even) >> 13));
}
