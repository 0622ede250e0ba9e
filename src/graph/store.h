// SPDX-License-Identifier: Apache-2.0
/// A store of edges from which compressed sparse rows are built, in little memory.
///
/// Result: rows from edges in any order, at a peak of about 1.5 times the memory
/// of the rows. Method: each edge is stored directly in a bucket of
/// 2^shift consecutive sources, so that an edge needs two bytes for its source
/// and four for its target. A bucket is converted to its rows in one pass, and its
/// pages return to the system before the next bucket's rows are touched.
/// One cache line per open bucket bounds the speed of `add`.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "gossamer/abi.h"

namespace gossamer::graph {

/// Bytes of one weight of a gs_type.
constexpr unsigned type_bytes(int type) {
  switch (type) {
    case GS_I32:
    case GS_U32:
    case GS_F32: return 4;
    case GS_I64:
    case GS_U64:
    case GS_F64: return 8;
    default: return 0;
  }
}

/// Pages allocated directly from the system, so that parts can be returned.
class Pages {
 public:
  explicit Pages(std::size_t slab) : slab_(slab) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  Pages(Pages&& other) noexcept
      : slab_(other.slab_), at_(other.at_), left_(other.left_), slabs_(std::move(other.slabs_)) {
    other.slabs_.clear();
    other.left_ = 0;
  }
  Pages& operator=(Pages&&) = delete;
  ~Pages() {
    for (auto* slab : slabs_) ::munmap(slab, slab_);
  }

  std::uint8_t* take(std::size_t bytes) {
    if (bytes > left_) {
      void* fresh = ::mmap(nullptr, slab_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (fresh == MAP_FAILED) throw std::bad_alloc();
      // A huge page would stay resident while one of its chunks is in use.
      ::madvise(fresh, slab_, MADV_NOHUGEPAGE);
      at_ = static_cast<std::uint8_t*>(fresh);
      left_ = slab_;
      slabs_.push_back(at_);
    }
    std::uint8_t* result = at_;
    at_ += bytes;
    left_ -= bytes;
    return result;
  }

 private:
  std::size_t slab_;
  std::uint8_t* at_ = nullptr;
  std::size_t left_ = 0;
  std::vector<std::uint8_t*> slabs_;
};

/// Edges in buckets by source. One thread adds; different threads may drain different buckets.
class EdgeStore {
 public:
  /// 2^shift sources per bucket, shift <= 16; weights of a gs_type (GS_NONE: unweighted).
  EdgeStore(unsigned shift, int weight_type)
      : shift_(shift),
        type_(weight_type),
        record_(6 + type_bytes(weight_type)),
        small_(std::size_t{1} << 20),
        big_(std::size_t{4} << 20),
        big_chunk_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    while (big_chunk_ < (std::size_t{16} << 10)) big_chunk_ *= 2;
  }
  EdgeStore(EdgeStore&&) noexcept = default;

  unsigned shift() const { return shift_; }
  int weight_type() const { return type_; }
  std::size_t buckets() const { return buckets_.size(); }

  template <class Weight>
  void add(std::uint32_t source, std::uint32_t target, Weight weight) {
    std::uint8_t* at = slot(source, target);
    std::memcpy(at + 6, &weight, sizeof weight);
  }
  void add(std::uint32_t source, std::uint32_t target) { slot(source, target); }

  std::uint64_t bucket_edges(std::size_t bucket) const {
    std::uint64_t bytes = 0;
    if (bucket >= buckets_.size()) return 0;
    const Bucket& b = buckets_[bucket];
    for (const Chunk* chunk = b.first; chunk; chunk = chunk->next) bytes += used(b, chunk);
    return bytes / record_;
  }

  /// Calls see(source, target, weight bytes) for each edge of a bucket.
  template <class See>
  void visit(std::size_t bucket, See&& see) const {
    if (bucket >= buckets_.size()) return;
    const Bucket& b = buckets_[bucket];
    for (const Chunk* chunk = b.first; chunk; chunk = chunk->next) walk(b, chunk, bucket, see);
  }

  /// As visit, but removes the edges.
  template <class See>
  void drain(std::size_t bucket, See&& see) {
    if (bucket >= buckets_.size()) return;
    Bucket& b = buckets_[bucket];
    for (Chunk* chunk = b.first; chunk;) {
      walk(b, chunk, bucket, see);
      Chunk* next = chunk->next;
      if (chunk->size == big_chunk_) ::madvise(chunk, big_chunk_, MADV_DONTNEED);
      chunk = next;
    }
    b = Bucket{};
  }

 private:
  struct Chunk {
    Chunk* next;
    std::size_t size;
    std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(this + 1); }
    const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(this + 1); }
  };
  struct Bucket {
    Chunk* first = nullptr;
    Chunk* last = nullptr;
    std::uint8_t* at = nullptr;
    std::uint8_t* end = nullptr;
  };

  std::size_t used(const Bucket& b, const Chunk* chunk) const {
    if (chunk == b.last) return static_cast<std::size_t>(b.at - chunk->data());
    return (chunk->size - sizeof(Chunk)) / record_ * record_;
  }

  std::uint8_t* slot(std::uint32_t source, std::uint32_t target) {
    const std::size_t number = source >> shift_;
    if (number >= buckets_.size()) [[unlikely]]
      buckets_.resize(number + 1);
    Bucket& b = buckets_[number];
    if (b.at == b.end) [[unlikely]]
      more(b);
    std::uint8_t* at = b.at;
    b.at += record_;
    const auto low = static_cast<std::uint16_t>(source & ((1u << shift_) - 1));
    std::memcpy(at, &low, 2);
    std::memcpy(at + 2, &target, 4);
    return at;
  }

  void more(Bucket& b) {
    // Chunk sizes grow with the bucket: sparse ids make many buckets of few edges.
    std::size_t size = b.last ? b.last->size * 4 : 256;
    if (size > big_chunk_ / 2) size = big_chunk_;
    auto* chunk = new (size == big_chunk_ ? big_.take(size) : small_.take(size)) Chunk{nullptr, size};
    (b.last ? b.last->next : b.first) = chunk;
    b.last = chunk;
    b.at = chunk->data();
    b.end = b.at + (size - sizeof(Chunk)) / record_ * record_;
  }

  template <class See>
  void walk(const Bucket& b, const Chunk* chunk, std::size_t bucket, See& see) const {
    const std::uint8_t* at = chunk->data();
    const std::uint8_t* end = at + used(b, chunk);
    const auto base = static_cast<std::uint32_t>(bucket << shift_);
    for (; at != end; at += record_) {
      std::uint16_t low;
      std::uint32_t target;
      std::memcpy(&low, at, 2);
      std::memcpy(&target, at + 2, 4);
      see(base + low, target, at + 6);
    }
  }

  unsigned shift_;
  int type_;
  std::size_t record_;
  Pages small_;
  Pages big_;
  std::size_t big_chunk_;
  std::vector<Bucket> buckets_;
};

/// Maps the vertices' numbers in the file to indexes 0 .. count - 1.
class Numbering {
 public:
  /// i -> i - base
  Numbering(std::uint64_t count, std::uint32_t base) : base_(base), count_(count) {}
  /// i -> the number of bits set below i
  explicit Numbering(std::vector<std::uint64_t> bits) : bits_(std::move(bits)), before_(bits_.size() + 1) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      before_[i] = static_cast<std::uint32_t>(sum);
      sum += static_cast<std::uint64_t>(__builtin_popcountll(bits_[i]));
    }
    before_[bits_.size()] = static_cast<std::uint32_t>(sum);
    count_ = sum;
  }

  std::uint64_t count() const { return count_; }
  bool ranked() const { return !before_.empty(); }
  bool has(std::uint64_t number) const {
    if (!ranked()) return number >= base_ && number - base_ < count_;
    return number / 64 < bits_.size() && (bits_[number / 64] >> (number % 64) & 1);
  }
  /// The index of `number`, or the index that it would have.
  std::uint32_t operator()(std::uint64_t number) const {
    if (!ranked()) {
      if (number < base_) return 0;
      return static_cast<std::uint32_t>(number - base_ < count_ ? number - base_ : count_);
    }
    const std::uint64_t word = number / 64;
    if (word >= bits_.size()) return before_.back();
    const std::uint64_t below = bits_[word] & ((std::uint64_t{1} << (number % 64)) - 1);
    return before_[word] + static_cast<std::uint32_t>(__builtin_popcountll(below));
  }
  const std::vector<std::uint64_t>& bits() const { return bits_; }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> before_;
  std::uint32_t base_ = 0;
  std::uint64_t count_ = 0;
};

/// Builds rows from stores of equal shift, emptying them. Rows are sorted by
/// (target, weight). weights may be NULL; weight_type is the type of `weights`.
void build_rows(std::vector<EdgeStore*> stores, const Numbering& numbering, unsigned threads, std::uint64_t* offsets,
                std::uint32_t* targets, void* weights, int weight_type);

}  // namespace gossamer::graph
