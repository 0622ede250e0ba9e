// SPDX-License-Identifier: Apache-2.0
// A firmware for tests: prints what it computes, as hex numbers, one in each line. The test computes the same.
#include <array>
#include <cstdint>
#include <cstring>

#include "operands.h"

namespace {

volatile uint32_t& console = *reinterpret_cast<volatile uint32_t*>(0xFFFFFFF0);
volatile uint32_t& result = *reinterpret_cast<volatile uint32_t*>(0xFFFFFFF4);

void print(uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) console = "0123456789abcdef"[value >> shift & 15];
  console = '\n';
}

/// A static object with a constructor, and one in .bss.
struct Counted {
  Counted() : value(++count) {}
  static uint32_t count;
  uint32_t value;
};
uint32_t Counted::count = 40;
Counted first, second;
std::array<uint32_t, 64> zeroes;
volatile uint32_t initialised = 0x12345678;

/// Not inlined, so that no result is computed by the compiler.
template <typename T, typename S>
[[gnu::noinline]] void arithmetic(T a, T b, uint32_t by) {
  print(static_cast<T>(a * b));
  print(static_cast<T>(a << by));
  print(static_cast<T>(a >> by));
  print(static_cast<T>(static_cast<S>(a) >> by));
  if (b == 0) return;
  print(static_cast<T>(a / b));
  print(static_cast<T>(a % b));
  if (b == static_cast<T>(-1)) return;  // the quotient may overflow
  print(static_cast<T>(static_cast<S>(a) / static_cast<S>(b)));
  print(static_cast<T>(static_cast<S>(a) % static_cast<S>(b)));
}

std::array<uint8_t, 64> bytes;

[[gnu::noinline]] void memory(const Move& move) {
  for (uint32_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  std::memmove(&bytes[move.to], &bytes[move.from], move.count);
  uint64_t sum = 0;
  for (uint8_t byte : bytes) sum = sum * 31 + byte;
  print(sum);
  std::memset(&bytes[move.to], 0x1A5, move.count);
  std::memcpy(&bytes[move.from < 32 ? 32 : 0], &bytes[move.from], move.count < 32 - move.from % 32 ? move.count : 0);
  sum = 0;
  for (uint8_t byte : bytes) sum = sum * 31 + byte;
  print(sum);
  print(static_cast<uint32_t>(std::memcmp(bytes.data(), &bytes[move.to], move.count)) >> 31);
}

}  // namespace

int main() {
  print(first.value);
  print(second.value);
  print(initialised);
  uint32_t all = 0;
  for (uint32_t word : zeroes) all |= word;
  print(all);
  for (const Operands& one : kOperands) {
    arithmetic<uint32_t, int32_t>(static_cast<uint32_t>(one.a), static_cast<uint32_t>(one.b), one.by % 32);
    arithmetic<uint64_t, int64_t>(one.a, one.b, one.by);
  }
  for (const Move& move : kMoves) memory(move);
  result = 7;
  return 0;
}
