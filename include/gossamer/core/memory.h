// SPDX-License-Identifier: Apache-2.0
/// Arrays of plain data, on huge pages if they are large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace gossamer {

/// Zeroed bytes, aligned to at least 64 bytes; from 1 MiB on huge pages, aligned to
/// 2 MiB. Throws std::bad_alloc.
void* allocateBytes(size_t bytes);
void releaseBytes(void* memory, size_t bytes) noexcept;

/// An array of plain data that starts zeroed. No loop initialises it, so that each
/// thread may be the first to touch its own part.
template <typename T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  explicit Array(size_t count) : data_(static_cast<T*>(allocateBytes(count * sizeof(T)))), count_(count) {}
  Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~Array() {
    if (data_) releaseBytes(data_, count_ * sizeof(T));
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

/// One bit per vertex. Concurrent writers must own whole words of 64 vertices.
class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(size_t bits) : words_((bits + 63) / 64) {}

  bool test(size_t i) const { return (words_[i >> 6] >> (i & 63)) & 1; }
  void set(size_t i) { words_[i >> 6] |= uint64_t{1} << (i & 63); }
  void clear(size_t i) { words_[i >> 6] &= ~(uint64_t{1} << (i & 63)); }
  uint64_t& word(size_t w) { return words_[w]; }
  const uint64_t* data() const { return words_.data(); }
  uint64_t word(size_t w) const { return words_[w]; }
  size_t words() const { return words_.size(); }

 private:
  Array<uint64_t> words_;
};

}  // namespace gossamer
