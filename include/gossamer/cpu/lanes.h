// SPDX-License-Identifier: Apache-2.0
/// Queues of ready vertices, one per range of receivers, so that all threads queue the vertices that a wave wakes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gossamer/cpu/bucket_queue.h"

namespace gossamer::cpu {

/// The vertices of one range, and its part of the current wave. Only the thread that processes the range writes it.
struct alignas(64) Lane {
  BucketQueue queue;
  std::vector<uint32_t> listed;  // items of the queue under the wave's key
  std::vector<uint32_t> wave;    // those of them that send
  size_t base = 0;               // index of the first of `wave` among all lanes' senders
  uint64_t edges = 0;            // that they send along
  bool offGraph = false;         // some messages go to the host, or to pins that do not exist
};

/// The lanes of all ranges, as one queue. A vertex is stored only in the lane of its range, so that the result does not
/// depend on which thread processes the range.
class Lanes {
 public:
  void open(const std::vector<uint32_t>& first) {
    first_ = first;
    lanes_.resize(first.size() - 1);
    for (Lane& lane : lanes_) lane.queue.restart();
    update();
  }

  Lane& operator[](size_t range) { return lanes_[range]; }
  auto begin() { return lanes_.begin(); }
  auto end() { return lanes_.end(); }

  /// The lane of a vertex.
  Lane& of(uint32_t v) {
    const auto above = std::upper_bound(first_.begin() + 1, first_.end() - 1, v);
    return lanes_[static_cast<size_t>(above - first_.begin() - 1)];
  }

  /// Updates some() and bound(). Call it after the lanes have changed.
  void update() {
    some_ = false;
    bound_ = ~uint32_t{0};
    for (const Lane& lane : lanes_) {
      some_ |= !lane.queue.empty();
      bound_ = std::min(bound_, lane.queue.bound());
    }
  }
  bool some() const { return some_; }
  /// A lower bound of the keys in all lanes.
  uint32_t bound() const { return bound_; }

  /// The number of vertices known to have that key.
  size_t lowestCount() const {
    size_t sum = 0;
    for (const Lane& lane : lanes_) sum += holdsBound(lane) ? lane.queue.lowestCount() : 0;
    return sum;
  }
  /// The number of vertices in the buckets that contain that key.
  size_t nextBucketSize() const {
    size_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.queue.bound() == bound_ ? lane.queue.nextBucketSize() : 0;
    return sum;
  }
  /// The number of vertices in the buckets that may contain keys up to `limit`.
  size_t countUpTo(uint32_t limit) const {
    size_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.queue.countUpTo(limit);
    return sum;
  }
  /// The lane whose part of the wave contains sender `index` of all lanes.
  Lane& lastFrom(size_t index) {
    const auto above = std::upper_bound(lanes_.begin() + 1, lanes_.end(), index,
                                        [](size_t i, const Lane& lane) { return i < lane.base; });
    return above[-1];
  }
  bool holdsBound(const Lane& lane) const { return lane.queue.lowest() == bound_ && lane.queue.lowestCount(); }

 private:
  std::vector<uint32_t> first_;
  std::vector<Lane> lanes_;
  bool some_ = false;
  uint32_t bound_ = ~uint32_t{0};
};

}  // namespace gossamer::cpu
