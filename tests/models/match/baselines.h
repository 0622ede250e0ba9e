// SPDX-License-Identifier: Apache-2.0
/// Two published match engines as models of their time, from what is published about them: a receive queue each, and
/// what a message costs that looks for its receive. Neither has wildcards.
#pragma once

#include <array>
#include <cstdint>
#include <list>

#include "models/match/reference.h"

namespace gossamer::match {

/// ALPU: cells that match in constant time, and a list behind them that a processor walks.
class Alpu {
 public:
  static constexpr unsigned kCells = 256;
  /// Both offloads, to the interface's processor and on to the cells: 1 us above the two-level engine.
  static constexpr double kBaseNs = 1000.0;
  /// So that a depth of 1,000 takes 22 times as long as with four lists at 234 MHz: 186 entries of 3 cycles each.
  static constexpr double kElementNs = (22.0 * (1000 - 256) / 4 * 3 / 0.234 - kBaseNs) / (1000 - 256);
  void post(const Command& receive) { queue_.push_back(receive); }
  /// Nanoseconds that a message takes to find its receive, which is taken out.
  double arrive(const Command& message);

 private:
  std::list<Command> queue_;
};

/// Hash-based MPI processor: 64 lists by source rank.
class HashProcessor {
 public:
  static constexpr unsigned kBuckets = 64;
  /// So that unloading 30,000 receives of random sources takes ten times as long as with 64 lists at 168 MHz: both
  /// walk 1/64 of what is left, 3 cycles an entry there.
  static constexpr double kElementNs = 10.0 * 3 / 0.168;
  void post(const Command& receive) { buckets_[receive.source % kBuckets].push_back(receive); }
  double arrive(const Command& message);

 private:
  std::array<std::list<Command>, kBuckets> buckets_;
};

}  // namespace gossamer::match
