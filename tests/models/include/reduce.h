// SPDX-License-Identifier: Apache-2.0
/// Reference of a barrier's reduction, from the specification (docs/hardware/idle.md): reduces all contributed words.
#pragma once

#include <algorithm>
#include <cstdint>

namespace reduce_test {

enum Op { kSum, kMin, kMax, kOr };

inline int64_t reduce(unsigned op, int64_t a, int64_t b) {
  switch (op) {
    case kMin: return std::min(a, b);
    case kMax: return std::max(a, b);
    case kOr: return a | b;
    default: return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
}

/// A partially reduced word.
struct Word {
  bool given = false;
  unsigned op = 0;
  int64_t value = 0;
  void give(unsigned o, int64_t v) {
    value = given ? reduce(o, value, v) : v;
    given = true;
    op = o;
  }
};

}  // namespace reduce_test
