// SPDX-License-Identifier: Apache-2.0
// Counts the ways to place N queens on an N by N board so that none attacks another. C++20 without a heap: templates,
// concepts, constant evaluation, ranges. See docs/programs/queens.md.

#include <gossamer/device.h>
#include <tinsel.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <numeric>

namespace {

#ifndef QUEENS
#define QUEENS 8
#endif

/// A board that is filled row by row; its state is three sets of attacked columns, one bit per column.
template <std::unsigned_integral Set, unsigned kSize>
class Board {
 public:
  static_assert(kSize > 0 && kSize < 8 * sizeof(Set), "a set must hold a row, and one more diagonal");

  /// Columns of the next row where a queen may be placed.
  constexpr Set free() const { return static_cast<Set>(kRow & ~(columns_ | left_ | right_)); }

  /// The board with a queen in one of them.
  constexpr Board with(Set queen) const {
    Board next;
    next.columns_ = columns_ | queen;
    next.left_ = static_cast<Set>((left_ | queen) << 1);
    next.right_ = static_cast<Set>((right_ | queen) >> 1);
    return next;
  }

  constexpr bool full() const { return columns_ == kRow; }

  /// Number of ways to fill the remaining rows.
  constexpr uint32_t solutions() const {
    if (full()) return 1;
    uint32_t count = 0;
    each([&](const Board& next) { count += next.solutions(); });
    return count;
  }

  /// Calls `visit` with every board that has one more queen.
  template <std::invocable<const Board&> Visit>
  constexpr void each(Visit visit) const {
    for (Set rest = free(); rest; rest &= static_cast<Set>(rest - 1)) {
      visit(with(static_cast<Set>(Set{1} << std::countr_zero(rest))));
    }
  }

 private:
  static constexpr Set kRow = static_cast<Set>((Set{1} << kSize) - 1);
  Set columns_ = 0;
  Set left_ = 0;
  Set right_ = 0;
};

static_assert(Board<uint32_t, 5>{}.solutions() == 10, "the compiler counts the solutions of a small board");

/// Message to thread 0.
struct Answer {
  uint32_t thread;
  uint32_t solutions;
};

/// Distributes the placements of the first two queens round-robin over the threads; counts this thread's solutions.
uint32_t share(uint32_t me, uint32_t threads) {
  uint32_t solutions = 0;
  uint32_t index = 0;
  constexpr Board<uint32_t, QUEENS> empty;
  empty.each([&](const auto& one) {
    one.each([&](const auto& two) {
      if (index++ % threads == me) solutions += two.solutions();
    });
  });
  return solutions;
}

}  // namespace

int main() {
  const uint32_t me = gossamerThread();
  const uint32_t threads = gossamerThreads();
  const Answer mine{me, share(me, threads)};

  if (me != 0) {
    tinselSetLen(1);
    tinselWaitUntil(TINSEL_CAN_SEND);
    auto* out = static_cast<volatile Answer*>(tinselSendSlot());
    out->thread = mine.thread;
    out->solutions = mine.solutions;
    tinselSend(static_cast<int>(gossamerAddress(0)), out);
    return 0;
  }
  std::array<uint32_t, GS_MAX_THREADS> solutions{};
  solutions[0] = mine.solutions;
  for (uint32_t received = 1; received < threads; ++received) {
    tinselWaitUntil(TINSEL_CAN_RECV);
    auto* in = static_cast<volatile Answer*>(tinselRecv());
    solutions[in->thread] = in->solutions;
    tinselFree(in);
  }
  const auto busy = std::ranges::count_if(solutions, [](uint32_t one) { return one > 0; });
  std::printf("%d queens: %u ways, found by %u of %u threads\n", QUEENS,
              static_cast<unsigned>(std::accumulate(solutions.begin(), solutions.end(), 0u)),
              static_cast<unsigned>(busy), static_cast<unsigned>(threads));
  return 0;
}
