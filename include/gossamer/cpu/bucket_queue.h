// SPDX-License-Identifier: Apache-2.0
/// A priority queue for keys that mostly grow, with nothing to tune.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace gossamer::cpu {

/// Holds items under 32-bit keys and gives back all of the lowest key at once.
///
/// Trick: four levels of 256 buckets, one level for each byte of the key. An
/// item stands at the level of the highest byte in which its key differs from
/// the lowest key, so it moves at most three times on its way down, always by
/// a sequential pass. This gives the exact order that delta-stepping gives
/// approximately, without its delta. Keys below the lowest count as the lowest.
/// (Multi-level buckets: E. Denardo, B. Fox, Operations Research 27, 1979.)
class BucketQueue {
 public:
  void push(uint32_t key, uint32_t item) {
    if (key < lowest_) key = lowest_;
    const uint32_t differs = key ^ lowest_;
    const unsigned level = differs ? (31 - static_cast<unsigned>(std::countl_zero(differs))) / 8 : 0;
    const unsigned bucket = (key >> (8 * level)) & 255;
    buckets_[level][bucket].push_back(item);
    occupied_[level][bucket / 64] |= uint64_t{1} << (bucket % 64);
  }

  uint32_t lowest() const { return lowest_; }

  /// Moves the items of the lowest key into `items` (emptied before); false
  /// when there are none. `keyOf(item, key)` gives an item's present key, or
  /// false when the item is no longer wanted.
  template <typename KeyOf>
  bool pop(std::vector<uint32_t>& items, KeyOf&& keyOf) {
    items.clear();
    for (;;) {
      const int bucket = first(0);
      if (bucket >= 0) {
        lowest_ = (lowest_ & ~255u) | static_cast<uint32_t>(bucket);
        items.swap(buckets_[0][bucket]);
        occupied_[0][bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
        return true;
      }
      if (!spread(keyOf)) return false;
    }
  }

  /// Takes one item of the lowest key, the last that was pushed: what it leads
  /// to is likely to be near it in memory. False when there are none.
  template <typename KeyOf>
  bool popOne(uint32_t& item, KeyOf&& keyOf) {
    for (;;) {
      std::vector<uint32_t>& bucket = buckets_[0][lowest_ & 255];
      if (!bucket.empty()) {
        item = bucket.back();
        bucket.pop_back();
        return true;
      }
      occupied_[0][(lowest_ & 255) / 64] &= ~(uint64_t{1} << (lowest_ % 64));
      const int next = first(0);
      if (next >= 0) {
        lowest_ = (lowest_ & ~255u) | static_cast<uint32_t>(next);
      } else if (!spread(keyOf)) {
        return false;
      }
    }
  }

  /// Forgets the order so far: any key may come next. Only when empty.
  void restart() { lowest_ = 0; }

 private:
  int first(unsigned level) const {
    for (unsigned w = 0; w < 4; ++w) {
      if (occupied_[level][w]) return static_cast<int>(64 * w) + std::countr_zero(occupied_[level][w]);
    }
    return -1;
  }

  /// Spreads the lowest bucket of the lowest level that has one.
  template <typename KeyOf>
  bool spread(KeyOf&& keyOf) {
    for (unsigned level = 1; level < 4; ++level) {
      const int bucket = first(level);
      if (bucket < 0) continue;
      const unsigned shift = 8 * level;
      const uint32_t above = level == 3 ? 0 : lowest_ & (~uint32_t{0} << (shift + 8));
      lowest_ = above | (static_cast<uint32_t>(bucket) << shift);
      spreading_.swap(buckets_[level][bucket]);
      occupied_[level][bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
      for (const uint32_t item : spreading_) {
        uint32_t key = 0;
        if (keyOf(item, key)) push(key, item);
      }
      spreading_.clear();
      return true;
    }
    return false;
  }

  uint32_t lowest_ = 0;
  std::array<std::array<std::vector<uint32_t>, 256>, 4> buckets_;
  std::array<std::array<uint64_t, 4>, 4> occupied_{};
  std::vector<uint32_t> spreading_;
};

}  // namespace gossamer::cpu
