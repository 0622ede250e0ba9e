// SPDX-License-Identifier: Apache-2.0
// Drives gs_stream_lane: `lane SEED COUNT`, compiled for elements of BITS bits. Results are compared with this
// machine's arithmetic; a NaN must be the quiet one with sign and payload 0.
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
// Sums of halves in singles are exact enough: 24 bits are 2 x 11 + 2, so that the second rounding is the only one.
#if BITS == 8
using Word = uint8_t;
using Int = int8_t;
using Real = float;  // unused
constexpr unsigned kFraction = 3;
#elif BITS == 16
using Word = uint16_t;
using Int = int16_t;
using Real = _Float16;
constexpr unsigned kFraction = 10;
#elif BITS == 32
using Word = uint32_t;
using Int = int32_t;
using Real = float;
constexpr unsigned kFraction = 23;
#else
using Word = uint64_t;
using Int = int64_t;
using Real = double;
constexpr unsigned kFraction = 52;
#endif
constexpr unsigned kExponent = BITS - 1 - kFraction;
constexpr Word kSign = Word(Word(1) << (BITS - 1)), kUnit = Word(Word(1) << kFraction);
constexpr Word kInfinity = Word(((Word(1) << kExponent) - 1) * kUnit), kNan = Word(kInfinity | kUnit / 2);
constexpr Word kOne = Word(((Word(1) << (kExponent - 1)) - 1) * kUnit);
constexpr Word kSpecial[] = {0,
                             kSign,
                             1,
                             Word(kSign | 1),
                             Word(kUnit - 1),
                             kUnit,
                             Word(kSign | kUnit),
                             Word(kInfinity - 1),
                             Word(kSign | (kInfinity - 1)),
                             kInfinity,
                             Word(kSign | kInfinity),
                             kNan,
                             Word(kInfinity | 1),
                             kOne,
                             Word(kSign | kOne)};

#if BITS > 8
Word wanted_real(unsigned op, Word a, Word b) {
  const auto x = std::bit_cast<Real>(a), y = std::bit_cast<Real>(b);
  if (x != x || y != y) return kNan;
  if (op == 0) {
    const volatile Real sum = Real(x + y);
    const Real found = sum;
    return found != found ? kNan : std::bit_cast<Word>(found);
  }
  if (x == y) return bool(a >> (BITS - 1)) == (op == 1) ? b : a;
  return (x > y) == (op == 1) ? a : b;
}
#else
Word wanted_real(unsigned, Word, Word) { return 0; }
#endif

Word wanted(bool real, unsigned op, Word a, Word b) {
  if (real) return wanted_real(op, a, b);
  const auto x = Int(a), y = Int(b);
  return op == 0 ? Word(a + b) : Word(op == 1 ? std::max(x, y) : std::min(x, y));
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
    Word a, b;
  };
  std::deque<Asked> in_flight;
  uint64_t done = 0, kinds[2][3] = {};
  while (done < count) {
    Asked one{BITS > 8 && random() % 4 != 0, unsigned(random() % 3), Word(random()), Word(random())};
    const unsigned shape = random() % 5;
    // Close exponents, mantissas with few bits, negated operands, special values.
    const uint64_t range = 2 * (kFraction + 7), mask = kInfinity / kUnit;
    if (shape == 1) {
      const uint64_t exponent = (one.a / kUnit + random() % range - range / 2) & mask;
      one.b = Word((one.b & ~kInfinity) | exponent * kUnit);
    }
    if (shape == 2) one.b = Word(one.a ^ kSign ^ Word(random() % 4 << random() % BITS));
    if (shape == 3) {
      one.a &= Word(kSign | kInfinity | Word(7ull << random() % (kFraction + 1)));
      one.b &= Word(kSign | kInfinity | Word(7ull << random() % (kFraction + 1)));
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
    if (in_flight.size() == 5 && advance) {
      const Asked& right = in_flight.front();
      const Word must = wanted(right.real, right.op, right.a, right.b);
      if (Word(lane.out_o) != must) {
        std::printf("%s %u of %llx and %llx: %llx, must be %llx\n", right.real ? "float" : "int", right.op,
                    (unsigned long long)right.a, (unsigned long long)right.b, (unsigned long long)lane.out_o,
                    (unsigned long long)must);
        return 1;
      }
      ++kinds[right.real][right.op];
      ++done;
      in_flight.pop_front();
    }
    if (advance) in_flight.push_back(one);
    lane.clk_i = 1;
    lane.eval();
  }
  for (int real = 0; real < (BITS > 8 ? 2 : 1); ++real)
    for (const uint64_t one : kinds[real])
      if (one < count / 20) return 1;
  return 0;
}
