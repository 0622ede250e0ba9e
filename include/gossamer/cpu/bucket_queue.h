// SPDX-License-Identifier: Apache-2.0
/// A priority queue for keys that mostly grow, with nothing to tune.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gossamer::cpu {

/// Holds items under 32-bit keys and gives back those of the lowest key.
///
/// Trick: four levels of 256 buckets, one level for each byte of the key. An
/// item stands at the level of the highest byte in which its key differs from
/// the lowest key, so it moves at most three times on its way down, always by
/// a sequential pass. This gives the exact order that delta-stepping gives
/// approximately, without its delta. Keys below the lowest count as the lowest.
/// (Multi-level buckets: E. Denardo, B. Fox, Operations Research 27, 1979.)
///
/// A bucket is a chain of small blocks from one store, so that a bucket that
/// grows copies nothing and one that empties leaves its blocks to the next.
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

  /// How many items stand under the lowest key, as far as that is known.
  size_t waiting() const { return buckets_[0][lowest_ & 255].count; }

  bool empty() const {
    for (const auto& level : occupied_) {
      for (const uint64_t word : level) {
        if (word) return false;
      }
    }
    return true;
  }

  /// A key that no item is below; the greatest of all when there is no item.
  uint32_t bound() const {
    if (waiting()) return lowest_;
    for (unsigned level = 0; level < 4; ++level) {
      const int bucket = first(level);
      if (bucket < 0) continue;
      const unsigned shift = 8 * level;
      const uint32_t above = level == 3 ? 0 : lowest_ & (~uint32_t{0} << (shift + 8));
      return above | (static_cast<uint32_t>(bucket) << shift);
    }
    return ~uint32_t{0};
  }

  /// How many items stand in the bucket that has them: of that key, and greater ones if the bucket must be spread.
  size_t reach() const {
    if (waiting()) return waiting();
    for (unsigned level = 0; level < 4; ++level) {
      if (const int bucket = first(level); bucket >= 0) return buckets_[level][static_cast<size_t>(bucket)].count;
    }
    return 0;
  }

  /// Moves the items of the lowest key into `items` (emptied before); false
  /// when there are none. `keyOf(item, key)` gives an item's present key, or
  /// false when the item is no longer wanted.
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

  /// Takes one item of the lowest key, the last that was pushed: what it leads
  /// to is likely to be near it in memory. False when there are none up to `limit`.
  template <typename KeyOf>
  bool popOne(uint32_t& item, KeyOf&& keyOf, uint32_t limit = ~uint32_t{0}) {
    if (!find(keyOf, limit)) return false;
    item = take(buckets_[0][lowest_ & 255]);
    if (!waiting()) clear(0, lowest_ & 255);
    return true;
  }

  /// The items that popOne gives next if nothing is pushed before, the next one last; as many as stand in one block.
  std::span<const uint32_t> coming() const {
    const Bucket& bucket = buckets_[0][lowest_ & 255];
    if (!bucket.used) return {};
    return {block(bucket.head).items, bucket.used};
  }

  /// Makes lowest() the lowest key that has an item, if that is not above `limit`; false when it is, or there is none.
  /// Keys above `limit` can still be pushed in exact order.
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

  /// Forgets the order so far: any key may come next. Only when empty.
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
    size_t count = 0;      // items in all
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

  /// The last item of a bucket that has one.
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

  /// The lowest bucket that has an item, of a level; -1 when none has.
  int first(unsigned level) const {
    for (unsigned w = 0; w < 4; ++w) {
      if (occupied_[level][w]) return static_cast<int>(64 * w) + std::countr_zero(occupied_[level][w]);
    }
    return -1;
  }

  void clear(unsigned level, unsigned bucket) { occupied_[level][bucket / 64] &= ~(uint64_t{1} << (bucket % 64)); }

  /// Spreads the lowest bucket of the lowest level that has one, unless all its keys are above `limit`.
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
