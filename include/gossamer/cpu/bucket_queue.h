// SPDX-License-Identifier: Apache-2.0
/// A priority queue for keys that mostly grow, without parameters to tune.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gossamer::cpu {

/// Stores items under 32-bit keys and returns those of the lowest key.
///
/// Method: four levels of 256 buckets, one level for each byte of the key. An
/// item is stored at the level of the highest byte in which its key differs from
/// the lowest key, so it moves at most three times before it is returned, always in
/// a sequential pass. The order is exact, where delta-stepping approximates it and
/// needs a delta. A key below the lowest is treated as the lowest.
/// (Multi-level buckets: E. Denardo, B. Fox, Operations Research 27, 1979.)
///
/// A bucket is a chain of small blocks from a common pool: a growing bucket
/// copies nothing, and an empty one returns its blocks.
class BucketQueue {
 public:
  void push(uint32_t key, uint32_t item) {
    if (key < lowest_) key = lowest_;
    const uint32_t differs = key ^ lowest_;
    const unsigned level = differs ? (31 - static_cast<unsigned>(std::countl_zero(differs))) / 8 : 0;
    const unsigned bucket = (key >> (8 * level)) & 255;
    add(buckets_[level][bucket], item);
    occupied_[level][bucket / 64] |= uint64_t{1} << (bucket % 64);
  }

  uint32_t lowest() const { return lowest_; }

  /// The number of items known to have the lowest key.
  size_t lowestCount() const { return buckets_[0][lowest_ & 255].count; }

  bool empty() const {
    for (const auto& level : occupied_) {
      for (const uint64_t word : level) {
        if (word) return false;
      }
    }
    return true;
  }

  /// A lower bound of all keys; the largest key if the queue is empty.
  uint32_t bound() const {
    if (lowestCount()) return lowest_;
    for (unsigned level = 0; level < 4; ++level) {
      const int bucket = first(level);
      if (bucket < 0) continue;
      const unsigned shift = 8 * level;
      const uint32_t above = level == 3 ? 0 : lowest_ & (~uint32_t{0} << (shift + 8));
      return above | (static_cast<uint32_t>(bucket) << shift);
    }
    return ~uint32_t{0};
  }

  /// The number of items in the first non-empty bucket: items of the lowest key, and larger ones if it must be spread.
  size_t nextBucketSize() const {
    if (lowestCount()) return lowestCount();
    for (unsigned level = 0; level < 4; ++level) {
      if (const int bucket = first(level); bucket >= 0) return buckets_[level][static_cast<size_t>(bucket)].count;
    }
    return 0;
  }

  /// The number of items in the buckets that may contain keys up to `limit`.
  size_t countUpTo(uint32_t limit) const {
    size_t sum = 0;
    for (unsigned level = 0; level < 4; ++level) {
      const unsigned shift = 8 * level;
      const uint32_t above = level == 3 ? 0 : lowest_ & (~uint32_t{0} << (shift + 8));
      for (unsigned w = 0; w < 4; ++w) {
        for (uint64_t bits = occupied_[level][w]; bits; bits &= bits - 1) {
          const uint32_t bucket = 64 * w + static_cast<uint32_t>(std::countr_zero(bits));
          if ((above | bucket << shift) > limit) return sum;
          sum += buckets_[level][bucket].count;
        }
      }
    }
    return sum;
  }

  /// Moves the items of the lowest key into `items` (cleared first); false if the queue
  /// is empty. `keyOf(item, key)` sets an item's current key, or returns
  /// false to drop the item.
  template <typename KeyOf>
  bool pop(std::vector<uint32_t>& items, KeyOf&& keyOf) {
    items.clear();
    if (!find(keyOf)) return false;
    Bucket& bucket = buckets_[0][lowest_ & 255];
    items.reserve(bucket.count);
    while (bucket.count) items.push_back(take(bucket));
    clear(0, lowest_ & 255);
    return true;
  }

  /// Removes one item of the lowest key, the last that was pushed: the data that it refers
  /// to is likely to be near in memory. False if no item is at or below `limit`.
  template <typename KeyOf>
  bool popOne(uint32_t& item, KeyOf&& keyOf, uint32_t limit = ~uint32_t{0}) {
    if (!find(keyOf, limit)) return false;
    item = take(buckets_[0][lowest_ & 255]);
    if (!lowestCount()) clear(0, lowest_ & 255);
    return true;
  }

  /// The items that popOne returns next if none is pushed first, the next one last; at most one block of them.
  std::span<const uint32_t> upcoming() const {
    const Bucket& bucket = buckets_[0][lowest_ & 255];
    if (!bucket.used) return {};
    return {block(bucket.head).items, bucket.used};
  }

  /// Sets lowest() to the lowest key with an item, if that is at most `limit`; false if it is larger or the queue is
  /// empty. Keys above `limit` can still be pushed in exact order.
  template <typename KeyOf>
  bool find(KeyOf&& keyOf, uint32_t limit = ~uint32_t{0}) {
    while (buckets_[0][lowest_ & 255].count == 0) {
      const int next = first(0);
      if (next >= 0) {
        const uint32_t key = (lowest_ & ~255u) | static_cast<uint32_t>(next);
        if (key > limit) return false;
        lowest_ = key;
      } else if (!spread(keyOf, limit)) {
        return false;
      }
    }
    return lowest_ <= limit;
  }

  /// Resets the lowest key, so that any key may be pushed. Only when empty.
  void restart() { lowest_ = 0; }

 private:
  static constexpr uint32_t perBlock = 63;
  static constexpr uint32_t none = ~uint32_t{0};
  static constexpr uint32_t perChunk = 256;

  struct Block {
    uint32_t next;
    uint32_t items[perBlock];
  };
  struct Bucket {
    uint32_t head = none;  // the block that is not full
    uint32_t used = 0;     // items in it
    size_t count = 0;      // items in the bucket
  };

  Block& block(uint32_t index) { return chunks_[index / perChunk][index % perChunk]; }
  const Block& block(uint32_t index) const { return chunks_[index / perChunk][index % perChunk]; }

  void add(Bucket& bucket, uint32_t item) {
    if (bucket.head == none || bucket.used == perBlock) {
      if (free_ == none) extend();
      const uint32_t fresh = free_;
      free_ = block(fresh).next;
      block(fresh).next = bucket.head;
      bucket.head = fresh;
      bucket.used = 0;
    }
    block(bucket.head).items[bucket.used++] = item;
    ++bucket.count;
  }

  /// Removes the last item of a non-empty bucket.
  uint32_t take(Bucket& bucket) {
    Block& head = block(bucket.head);
    const uint32_t item = head.items[--bucket.used];
    --bucket.count;
    if (bucket.used == 0) {
      const uint32_t next = std::exchange(head.next, free_);
      free_ = std::exchange(bucket.head, next);
      bucket.used = next == none ? 0 : perBlock;
    }
    return item;
  }

  [[gnu::noinline]] void extend() {
    const auto first = static_cast<uint32_t>(chunks_.size() * perChunk);
    chunks_.emplace_back(new Block[perChunk]);
    for (uint32_t i = perChunk; i-- > 0;) {
      block(first + i).next = free_;
      free_ = first + i;
    }
  }

  /// The lowest non-empty bucket of a level; -1 if all are empty.
  int first(unsigned level) const {
    for (unsigned w = 0; w < 4; ++w) {
      if (occupied_[level][w]) return static_cast<int>(64 * w) + std::countr_zero(occupied_[level][w]);
    }
    return -1;
  }

  void clear(unsigned level, unsigned bucket) { occupied_[level][bucket / 64] &= ~(uint64_t{1} << (bucket % 64)); }

  /// Spreads the lowest bucket of the lowest non-empty level, unless all its keys are above `limit`.
  template <typename KeyOf>
  bool spread(KeyOf&& keyOf, uint32_t limit) {
    for (unsigned level = 1; level < 4; ++level) {
      const int lowest = first(level);
      if (lowest < 0) continue;
      const unsigned shift = 8 * level;
      const uint32_t above = level == 3 ? 0 : lowest_ & (~uint32_t{0} << (shift + 8));
      const uint32_t key = above | (static_cast<uint32_t>(lowest) << shift);
      if (key > limit) return false;
      lowest_ = key;
      Bucket bucket = std::exchange(buckets_[level][lowest], Bucket{});
      clear(level, static_cast<unsigned>(lowest));
      while (bucket.count) {
        const uint32_t item = take(bucket);
        uint32_t key = 0;
        if (keyOf(item, key)) push(key, item);
      }
      return true;
    }
    return false;
  }

  uint32_t lowest_ = 0;
  uint32_t free_ = none;
  std::vector<std::unique_ptr<Block[]>> chunks_;
  std::array<std::array<Bucket, 256>, 4> buckets_;
  std::array<std::array<uint64_t, 4>, 4> occupied_{};
};

}  // namespace gossamer::cpu
