// SPDX-License-Identifier: Apache-2.0
/// Queues of ready vertices, one for each range of receivers: what a wave wakes is queued by all threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gossamer/cpu/bucket_queue.h"

namespace gossamer::cpu {

/// The vertices of one range, and its part of the wave under way. Whoever has the range writes it.
struct alignas(64) Lane {
  BucketQueue queue;
  std::vector<uint32_t> listed;  // what the queue held under the wave's key
  std::vector<uint32_t> wave;    // those of them that send
  size_t base = 0;               // and their place among all
  uint64_t edges = 0;            // that they send along
  bool odd = false;              // some send elsewhere: to the host, or to pins that are not there
};

/// The lanes of all ranges, as one queue. A vertex stands in the lane of its range alone, so that what is done with it
/// does not hang on which thread does it.
class Lanes {
 public:
  void open(const std::vector<uint32_t>& first) {
    first_ = first;
    lanes_.resize(first.size() - 1);
    for (Lane& lane : lanes_) lane.queue.restart();
    look();
  }

  Lane& operator[](size_t range) { return lanes_[range]; }
  auto begin() { return lanes_.begin(); }
  auto end() { return lanes_.end(); }

  /// The lane of a vertex.
  Lane& of(uint32_t v) {
    const auto above = std::upper_bound(first_.begin() + 1, first_.end() - 1, v);
    return lanes_[static_cast<size_t>(above - first_.begin() - 1)];
  }

  /// Sees what the lanes hold. To be called when they have changed.
  void look() {
    some_ = false;
    bound_ = ~uint32_t{0};
    for (const Lane& lane : lanes_) {
      some_ |= !lane.queue.empty();
      bound_ = std::min(bound_, lane.queue.bound());
    }
  }
  bool some() const { return some_; }
  /// A key that no vertex in a lane is below.
  uint32_t bound() const { return bound_; }

  /// How many vertices stand under that key, as far as that is known.
  size_t waiting() const {
    size_t sum = 0;
    for (const Lane& lane : lanes_) sum += waits(lane) ? lane.queue.waiting() : 0;
    return sum;
  }
  /// And how many in the buckets that have them.
  size_t reach() const {
    size_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.queue.bound() == bound_ ? lane.queue.reach() : 0;
    return sum;
  }
  bool waits(const Lane& lane) const { return lane.queue.lowest() == bound_ && lane.queue.waiting(); }

 private:
  std::vector<uint32_t> first_;
  std::vector<Lane> lanes_;
  bool some_ = false;
  uint32_t bound_ = ~uint32_t{0};
};

}  // namespace gossamer::cpu
