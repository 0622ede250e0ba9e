// SPDX-License-Identifier: Apache-2.0
// Functions that the compiler calls for RV32I without multiplier and library: memory, and arithmetic that takes more
// than a few instructions. Their names are those of LLVM's and GCC's run-time library. Speed is that of a control
// processor: a multiplication takes some 150 cycles at most, a division some 500.
#include <stddef.h>
#include <stdint.h>

extern "C" {

// The loops below must not become calls of the functions that they are.
#define GS_RUNTIME __attribute__((no_builtin, used))

GS_RUNTIME void* memset(void* target, int value, size_t count) {
  auto* to = static_cast<uint8_t*>(target);
  uint32_t word = value & 0xFF;
  word |= word << 8;
  word |= word << 16;
  for (; count != 0 && reinterpret_cast<uintptr_t>(to) % 4 != 0; --count) *to++ = static_cast<uint8_t>(word);
  for (; count >= 4; count -= 4, to += 4) *reinterpret_cast<uint32_t*>(to) = word;
  for (; count != 0; --count) *to++ = static_cast<uint8_t>(word);
  return target;
}

// Correct for overlapping memory too, where the target begins before the source: words are copied only if both are
// aligned alike, so that a word is read before it is overwritten.
GS_RUNTIME void* memcpy(void* target, const void* source, size_t count) {
  auto* to = static_cast<uint8_t*>(target);
  const auto* from = static_cast<const uint8_t*>(source);
  if ((reinterpret_cast<uintptr_t>(to) ^ reinterpret_cast<uintptr_t>(from)) % 4 == 0) {
    for (; count != 0 && reinterpret_cast<uintptr_t>(to) % 4 != 0; --count) *to++ = *from++;
    for (; count >= 4; count -= 4, to += 4, from += 4) {
      *reinterpret_cast<uint32_t*>(to) = *reinterpret_cast<const uint32_t*>(from);
    }
  }
  for (; count != 0; --count) *to++ = *from++;
  return target;
}

GS_RUNTIME void* memmove(void* target, const void* source, size_t count) {
  auto* to = static_cast<uint8_t*>(target);
  const auto* from = static_cast<const uint8_t*>(source);
  if (to <= from || to >= from + count) return memcpy(target, source, count);
  while (count-- != 0) to[count] = from[count];
  return target;
}

GS_RUNTIME int memcmp(const void* first, const void* second, size_t count) {
  const auto* a = static_cast<const uint8_t*>(first);
  const auto* b = static_cast<const uint8_t*>(second);
  for (size_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) return a[i] - b[i];
  }
  return 0;
}

GS_RUNTIME size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

}  // extern "C"

namespace {

// 64-bit values are pairs of words here: an operator on uint64_t could be a call of the function that contains it.
struct Pair {
  uint32_t low, high;
};

Pair split(uint64_t value) { return __builtin_bit_cast(Pair, value); }
uint64_t joined(Pair value) { return __builtin_bit_cast(uint64_t, value); }

Pair shifted_left(Pair value, unsigned by) {
  if (by >= 32) return {0, value.low << (by - 32)};
  if (by == 0) return value;
  return {value.low << by, value.high << by | value.low >> (32 - by)};
}

Pair shifted_right(Pair value, unsigned by, uint32_t sign) {
  const uint32_t fill = by == 0 || sign == 0 ? 0 : ~0u << (32 - by % 32);
  if (by >= 32) return {by == 32 ? value.high : value.high >> (by - 32) | fill, sign};
  if (by == 0) return value;
  return {value.low >> by | value.high << (32 - by), value.high >> by | fill};
}

struct Words {
  uint32_t quotient, rest;
};

/// Both are 0 and the dividend for a divisor of 0, which C leaves undefined.
Words divided(uint32_t dividend, uint32_t divisor) {
  Words result{0, dividend};
  if (divisor == 0) return result;
  int by = 0;
  while (by < 31 && (divisor & 0x80000000u) == 0 && divisor << 1 <= dividend) {
    divisor <<= 1;
    ++by;
  }
  for (; by >= 0; --by, divisor >>= 1) {
    result.quotient <<= 1;
    if (result.rest >= divisor) {
      result.rest -= divisor;
      result.quotient |= 1;
    }
  }
  return result;
}

struct Pairs {
  Pair quotient, rest;
};

Pairs divided(Pair dividend, Pair divisor) {
  Pairs result{{0, 0}, {0, 0}};
  for (int bit = 63; bit >= 0; --bit) {
    const uint32_t next = (bit >= 32 ? dividend.high >> (bit - 32) : dividend.low >> bit) & 1;
    result.rest = {result.rest.low << 1 | next, result.rest.high << 1 | result.rest.low >> 31};
    result.quotient = {result.quotient.low << 1, result.quotient.high << 1 | result.quotient.low >> 31};
    const bool fits =
        result.rest.high != divisor.high ? result.rest.high > divisor.high : result.rest.low >= divisor.low;
    if (fits) {
      const uint32_t borrow = result.rest.low < divisor.low;
      result.rest = {result.rest.low - divisor.low, result.rest.high - divisor.high - borrow};
      result.quotient.low |= 1;
    }
  }
  return result;
}

uint32_t magnitude(int32_t value) {
  const auto bits = static_cast<uint32_t>(value);
  return value < 0 ? 0u - bits : bits;
}
uint64_t magnitude(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return value < 0 ? 0u - bits : bits;
}

}  // namespace

extern "C" {

GS_RUNTIME uint32_t __mulsi3(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; a != 0; a >>= 1, b <<= 1) {
    if (a & 1) product += b;
  }
  return product;
}

GS_RUNTIME uint64_t __muldi3(uint64_t first, uint64_t second) {
  Pair a = split(first), b = split(second), product{0, 0};
  while ((a.low | a.high) != 0) {
    if (a.low & 1) {
      const uint32_t low = product.low + b.low;
      product = {low, product.high + b.high + (low < b.low)};
    }
    a = {a.low >> 1 | a.high << 31, a.high >> 1};
    b = {b.low << 1, b.high << 1 | b.low >> 31};
  }
  return joined(product);
}

GS_RUNTIME uint64_t __ashldi3(uint64_t value, int by) { return joined(shifted_left(split(value), by)); }
GS_RUNTIME uint64_t __lshrdi3(uint64_t value, int by) { return joined(shifted_right(split(value), by, 0)); }
GS_RUNTIME int64_t __ashrdi3(int64_t value, int by) {
  const Pair pair = split(static_cast<uint64_t>(value));
  return static_cast<int64_t>(joined(shifted_right(pair, by, 0u - (pair.high >> 31))));
}

GS_RUNTIME uint32_t __udivsi3(uint32_t a, uint32_t b) { return divided(a, b).quotient; }
GS_RUNTIME uint32_t __umodsi3(uint32_t a, uint32_t b) { return divided(a, b).rest; }
GS_RUNTIME int32_t __divsi3(int32_t a, int32_t b) {
  const uint32_t quotient = divided(magnitude(a), magnitude(b)).quotient;
  return static_cast<int32_t>((a ^ b) < 0 ? 0u - quotient : quotient);
}
GS_RUNTIME int32_t __modsi3(int32_t a, int32_t b) {
  const uint32_t rest = divided(magnitude(a), magnitude(b)).rest;
  return static_cast<int32_t>(a < 0 ? 0u - rest : rest);
}

GS_RUNTIME uint64_t __udivdi3(uint64_t a, uint64_t b) { return joined(divided(split(a), split(b)).quotient); }
GS_RUNTIME uint64_t __umoddi3(uint64_t a, uint64_t b) { return joined(divided(split(a), split(b)).rest); }
GS_RUNTIME int64_t __divdi3(int64_t a, int64_t b) {
  const uint64_t quotient = __udivdi3(magnitude(a), magnitude(b));
  return static_cast<int64_t>((a < 0) != (b < 0) ? 0u - quotient : quotient);
}
GS_RUNTIME int64_t __moddi3(int64_t a, int64_t b) {
  const uint64_t rest = __umoddi3(magnitude(a), magnitude(b));
  return static_cast<int64_t>(a < 0 ? 0u - rest : rest);
}

/// A pure virtual function was called; or a static object is registered for destruction, which never happens.
GS_RUNTIME void __cxa_pure_virtual() { __builtin_trap(); }
GS_RUNTIME int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
void* __dso_handle = nullptr;

}  // extern "C"
