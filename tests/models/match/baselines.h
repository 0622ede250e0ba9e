// SPDX-License-Identifier: Apache-2.0
/// Timing models of two published match engines, from their published figures: each has a receive queue and computes
/// the time that a message takes to find its receive. Neither supports wildcards.
#pragma once

#include <array>
#include <cstdint>
#include <list>

#include "models/match/reference.h"

namespace gossamer::match {

/// ALPU: cells that match in constant time, followed by a list that a processor walks.
class Alpu {
 public:
  static constexpr unsigned kCells = 256;
  /// Cost of both offloads, to the interface's processor and to the cells: 1 us more than the two-level engine.
  static constexpr double kBaseNs = 1000.0;
  /// Chosen such that a depth of 1,000 takes 22 times as long as four lists at 234 MHz: 186 entries of 3 cycles each.
  static constexpr double kElementNs = (22.0 * (1000 - 256) / 4 * 3 / 0.234 - kBaseNs) / (1000 - 256);
  void post(const Command& receive) { queue_.push_back(receive); }
  /// Removes the message's receive; returns the nanoseconds that the message takes to find it.
  double arrive(const Command& message);

 private:
  std::list<Command> queue_;
};

/// Hash-based MPI processor: 64 lists by source rank.
class HashProcessor {
 public:
  static constexpr unsigned kBuckets = 64;
  /// Chosen such that unloading 30,000 receives of random sources takes ten times as long as 64 lists at 168 MHz: both
  /// walk 1/64 of the remaining entries, with 3 cycles per entry there.
  static constexpr double kElementNs = 10.0 * 3 / 0.168;
  void post(const Command& receive) { buckets_[receive.source % kBuckets].push_back(receive); }
  double arrive(const Command& message);

 private:
  std::array<std::list<Command>, kBuckets> buckets_;
};

}  // namespace gossamer::match
