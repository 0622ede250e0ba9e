// SPDX-License-Identifier: Apache-2.0
/// Memories of a board, and the partitions of the data caches.
//
// A cache holds data as in the hardware: a thread sees another's stores only after the line was written back, and only
// if it has no older copy. The replacement is that of rtl/cache: the first invalid way, else the oldest of the tree.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace gossamer::fast {

/// Bytes of host memory that is used only where it was written; zeroes at first.
class Bytes {
 public:
  explicit Bytes(uint64_t size) : size_(size) {
    if (!size) return;
    void* found = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<uint8_t*>(found);
  }
  Bytes(Bytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  Bytes& operator=(Bytes&&) = delete;
  ~Bytes() {
    if (data_) munmap(data_, size_);
  }

  uint8_t* at(uint64_t address) { return data_ + address; }
  uint64_t size() const { return size_; }

 private:
  uint8_t* data_ = nullptr;
  uint64_t size_;
};

/// A DRAM and the SRAM of its tiles.
struct Memory {
  Memory(uint64_t dram, uint64_t sram) : spaces{Bytes(dram), Bytes(sram)} {}
  Bytes spaces[2];            ///< DRAM, SRAM
  uint64_t free[2] = {0, 0};  ///< in 1/256 cycles: when each is idle again
};

/// Where an address of a thread is.
struct Place {
  bool sram;
  uint32_t address;
};

/// The windows of addresses (rtl/tile/gs_tile_pkg.sv).
struct Windows {
  uint32_t half, partition, direct, sramBytes, logLine;

  bool isMapped(uint32_t address) const {
    if (address >> 31) return (address & 0x7FFF'FFFF) < (1ull << half);
    if (address >> 30) return (address & 0x3FFF'FFFF) < (1ull << direct);
    return sramBytes && address >> 28 == 1 && (address & 0x0FFF'FFFF) < sramBytes;
  }
  Place place(uint32_t address) const {
    if (address >> 31) {
      const uint32_t low = address & static_cast<uint32_t>((1ull << half) - 1);
      const uint32_t line = (low & ((1u << (half - partition)) - 1)) >> logLine, owner = low >> (half - partition);
      return {false, static_cast<uint32_t>(1ull << half) | line << (logLine + partition) | owner << logLine |
                         (address & ((1u << logLine) - 1))};
    }
    if (address >> 30) return {false, address & 0x3FFF'FFFF};
    return {true, address & 0x0FFF'FFFF};
  }
};

/// The cache partitions of the threads of a tile.
class Caches {
 public:
  struct Outcome {
    uint8_t* word;  ///< the line's byte of the address
    bool hit;
    bool wroteBack, toSram;  ///< a dirty line was replaced, and is in SRAM
  };

  void resize(uint32_t threads, uint32_t ways, uint32_t sets, uint32_t logLine) {
    ways_ = ways;
    sets_ = sets;
    logLine_ = logLine;
    tags_.assign(size_t{threads} * sets * ways, 0);
    trees_.assign(size_t{threads} * sets, 0);
    data_.assign(size_t{threads} * sets * ways << logLine, 0);
  }

  Outcome access(uint32_t thread, Memory& memory, Place place, bool store) {
    const uint32_t line = place.address >> logLine_;
    const size_t set = size_t{thread} * sets_ + (line & (sets_ - 1));
    uint64_t* const tags = &tags_[set * ways_];
    const uint64_t tag = kValid | (place.sram ? kSram : 0) | line;
    Outcome its{nullptr, false, false, false};
    uint32_t way = 0;
    while (way < ways_ && (tags[way] & ~kDirty) != tag) ++way;
    its.hit = way < ways_;
    if (!its.hit) {
      way = 0;
      while (way < ways_ && tags[way] & kValid) ++way;
      if (way == ways_) way = oldest(trees_[set]);
      if ((tags[way] & (kValid | kDirty)) == (kValid | kDirty)) {
        its.wroteBack = true;
        its.toSram = tags[way] & kSram;
        writeBack(memory, set * ways_ + way);
      }
      tags[way] = tag;
      std::memcpy(lineOf(set * ways_ + way), memory.spaces[place.sram].at(uint64_t{line} << logLine_), lineBytes());
    }
    if (store) tags[way] |= kDirty;
    trees_[set] = touched(trees_[set], way);
    its.word = lineOf(set * ways_ + way) + (place.address & (lineBytes() - 1));
    return its;
  }

  /// Writes back and invalidates the line with an index in the partition of a thread. Whether it was dirty.
  bool flush(uint32_t thread, Memory& memory, uint32_t set, uint32_t way) {
    const size_t at = (size_t{thread} * sets_ + (set & (sets_ - 1))) * ways_ + (way & (ways_ - 1));
    const bool dirty = (tags_[at] & (kValid | kDirty)) == (kValid | kDirty);
    if (dirty) writeBack(memory, at);
    tags_[at] = 0;
    return dirty;
  }
  uint32_t flushAll(uint32_t thread, Memory& memory) {
    uint32_t count = 0;
    for (uint32_t set = 0; set < sets_; ++set) {
      for (uint32_t way = 0; way < ways_; ++way) count += flush(thread, memory, set, way);
    }
    return count;
  }

 private:
  static constexpr uint64_t kValid = 1ull << 63, kDirty = 1ull << 62, kSram = 1ull << 61;

  uint32_t lineBytes() const { return 1u << logLine_; }
  uint8_t* lineOf(size_t at) { return &data_[at << logLine_]; }
  void writeBack(Memory& memory, size_t at) {
    const uint64_t line = static_cast<uint32_t>(tags_[at]);
    std::memcpy(memory.spaces[(tags_[at] & kSram) != 0].at(line << logLine_), lineOf(at), lineBytes());
  }
  /// Pseudo-LRU: the bit of a node selects the older half; node n has children 2n and 2n+1.
  uint32_t oldest(uint32_t tree) const {
    uint32_t node = 1;
    while (node < ways_) node = 2 * node + (tree >> (node - 1) & 1);
    return node - ways_;
  }
  uint32_t touched(uint32_t tree, uint32_t way) const {
    for (uint32_t node = way + ways_; node > 1; node /= 2) {
      const uint32_t bit = 1u << (node / 2 - 1);
      tree = node & 1 ? tree & ~bit : tree | bit;
    }
    return tree;
  }

  uint32_t ways_ = 1, sets_ = 1, logLine_ = 5;
  std::vector<uint64_t> tags_;
  std::vector<uint32_t> trees_;
  std::vector<uint8_t> data_;
};

}  // namespace gossamer::fast
