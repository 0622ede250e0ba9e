// SPDX-License-Identifier: Apache-2.0
/// Exchange of messages between threads: sorted by receiver, in the order of their senders.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "gossamer/engine.h"

namespace gossamer::cpu {

/// Boxes between parts of the senders and ranges of the receivers.
///
/// Method: the thread of a part reads each of its edges once and puts the message into the box of
/// the receiver's range; the thread of a range then empties its boxes, part after part. The work
/// grows with the edges, not with the number of threads, and a receiver receives in the order of
/// the senders for any number of threads.
template <bool Valued>
class Exchange {
  struct Nothing {};

 public:
  /// One message to one receiver; `from` is its sender's index in an array of messages.
  struct Parcel {
    uint32_t to;
    uint32_t from;
    [[no_unique_address]] std::conditional_t<Valued, uint64_t, Nothing> edge;
  };
  static constexpr uint64_t maxParcels = uint64_t{1} << 17;  // in the boxes at once, per thread

  /// One part per range. Ranges start at the elements of `first`, multiples of 64; the last element is the end.
  void open(const std::vector<uint32_t>& first) {
    parts_ = static_cast<unsigned>(first.size() - 1);
    boxes_.resize(size_t{parts_} * parts_);
    owner_.assign(first.back() / 64 + 1, 0);
    for (unsigned range = 0; range < parts_; ++range) {
      for (size_t word = first[range] / 64; word * 64 < first[range + 1]; ++word) owner_[word] = range;
    }
  }
  bool isOpen() const { return parts_ != 0; }

  /// The number of times that the boxes must be filled for this many messages.
  uint64_t slices(uint64_t edges) const { return edges / (maxParcels * parts_) + 1; }

  /// Puts a message along edges begin .. end into the boxes of a part.
  void put(unsigned part, const Rows& rows, uint64_t begin, uint64_t end, uint32_t from) {
    std::vector<Parcel>* const boxes = boxes_.data() + size_t{part} * parts_;
    for (uint64_t i = begin; i < end; ++i) {
      const uint32_t to = rows.targets[i];
      Parcel parcel{to, from, {}};
      if constexpr (Valued) parcel.edge = i;
      boxes[owner_[to / 64]].push_back(parcel);
    }
  }

  /// Calls f(parcels, count) for each box of a range, in the order of the parts, and empties it.
  template <typename F>
  void take(unsigned range, F&& f) {
    for (unsigned part = 0; part < parts_; ++part) {
      std::vector<Parcel>& box = boxes_[size_t{part} * parts_ + range];
      f(box.data(), box.size());
      box.clear();
    }
  }

 private:
  unsigned parts_ = 0;
  std::vector<std::vector<Parcel>> boxes_;  // by part, then by range
  std::vector<uint32_t> owner_;             // the range of each 64 vertices
};

}  // namespace gossamer::cpu
