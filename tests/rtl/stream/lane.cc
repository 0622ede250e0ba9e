// SPDX-License-Identifier: Apache-2.0
// Drives gs_stream_lane: `lane SEED COUNT`. Judged by this machine's arithmetic; a NaN must be 0x7fc00000.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>

#include "Vgs_stream_lane.h"
#include "verilated.h"

namespace {
constexpr uint32_t kNan = 0x7FC00000, kSpecial[] = {0,          0x80000000, 1,          0x80000001, 0x007FFFFF,
                                                    0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
                                                    0xFF800000, 0x7FC00000, 0x7F800001, 0x3F800000, 0xBF800000};

uint32_t wanted(bool real, unsigned op, uint32_t a, uint32_t b) {
  if (!real) {
    const auto x = int32_t(a), y = int32_t(b);
    return op == 0 ? a + b : uint32_t(op == 1 ? std::max(x, y) : std::min(x, y));
  }
  const auto x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  if (std::isnan(x) || std::isnan(y)) return kNan;
  if (op == 0) {
    const volatile float sum = x + y;
    return std::isnan(sum) ? kNan : std::bit_cast<uint32_t>(float(sum));
  }
  if (x == y) return std::signbit(x) == (op == 1) ? b : a;
  return (x > y) == (op == 1) ? a : b;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::mt19937_64 random(std::strtoull(argv[1], nullptr, 10));
  const uint64_t count = std::strtoull(argv[2], nullptr, 10);
  VerilatedContext context;
  Vgs_stream_lane lane{&context};
  struct Asked {
    bool real;
    unsigned op;
    uint32_t a, b;
  };
  std::deque<Asked> under_way;
  uint64_t done = 0, kinds[2][3] = {};
  while (done < count) {
    Asked one{random() % 4 != 0, unsigned(random() % 3), uint32_t(random()), uint32_t(random())};
    const unsigned shape = random() % 5;
    // Exponents near each other, mantissas with few bits, one the other's negative, special ones.
    if (shape == 1) one.b = (one.b & 0x807FFFFF) | ((((one.a >> 23) + random() % 60 - 30) & 0xFF) << 23);
    if (shape == 2) one.b = one.a ^ 0x80000000 ^ uint32_t(random() % 4 << random() % 32);
    if (shape == 3) {
      one.a &= 0xFF800000 | uint32_t(7 << random() % 24);
      one.b &= 0xFF800000 | uint32_t(7 << random() % 24);
    }
    if (shape == 4 || random() % 8 == 0) one.b = kSpecial[random() % std::size(kSpecial)];
    if (shape == 4) one.a = kSpecial[random() % std::size(kSpecial)];
    const bool advance = random() % 8 != 0;
    lane.advance_i = advance;
    lane.float_i = one.real;
    lane.op_i = one.op;
    lane.a_i = one.a;
    lane.b_i = one.b;
    lane.clk_i = 0;
    lane.eval();
    if (under_way.size() == 5 && advance) {
      const Asked& right = under_way.front();
      const uint32_t must = wanted(right.real, right.op, right.a, right.b);
      if (lane.out_o != must) {
        std::printf("%s %u of %08x and %08x: %08x, must be %08x\n", right.real ? "float" : "int", right.op, right.a,
                    right.b, lane.out_o, must);
        return 1;
      }
      ++kinds[right.real][right.op];
      ++done;
      under_way.pop_front();
    }
    if (advance) under_way.push_back(one);
    lane.clk_i = 1;
    lane.eval();
  }
  for (const auto& half : kinds)
    for (const uint64_t one : half)
      if (one < count / 20) return 1;
  return 0;
}
