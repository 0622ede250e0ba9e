// SPDX-License-Identifier: Apache-2.0
/// Names to indexes 0, 1, 2, ... in the order of first appearance.
///
/// Open addressing over 32-bit indexes; the names themselves are stored once, in
/// the form in which they leave the library.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace gossamer::graph {

inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

inline std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = text.size();
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    hash = mix(hash ^ word);
  }
  std::uint64_t rest = 0;
  if (i < text.size()) std::memcpy(&rest, text.data() + i, text.size() - i);
  return mix(hash ^ rest);
}

/// Table of indexes; Names tells how to compare. Not for many threads at once.
class IndexTable {
 public:
  /// The slot of a name: empty if it is new.
  template <class Same>
  std::uint32_t& find(std::uint64_t hash, Same&& same) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask)
      if (slots_[i] == kEmpty || same(slots_[i])) return slots_[i];
  }
  /// Makes room for one more of `count`; hash_of(index) gives the hash of what is there.
  template <class HashOf>
  void reserve(std::size_t count, HashOf&& hash_of) {
    if ((count + 1) * 8 <= slots_.size() * 5) return;
    const std::size_t size = slots_.empty() ? 1024 : slots_.size() * 2;
    // Freed before the new one is made: everything in it can be computed again.
    std::vector<std::uint32_t>().swap(slots_);
    slots_.assign(size, kEmpty);
    for (std::size_t i = 0; i < count; ++i)
      find(hash_of(i), [](std::uint32_t) { return false; }) = static_cast<std::uint32_t>(i);
  }
  void clear() { std::vector<std::uint32_t>().swap(slots_); }

  static constexpr std::uint32_t kEmpty = 0xffffffffu;

 private:
  std::vector<std::uint32_t> slots_;
};

/// Thrown where an index would not fit 32 bits.
struct TooManyVertices : std::length_error {
  TooManyVertices() : std::length_error("too many vertices") {}
};

class NumberNames {
 public:
  std::uint32_t operator()(std::uint64_t number) {
    table_.reserve(numbers_.size(), [&](std::size_t i) { return mix(numbers_[i]); });
    std::uint32_t& slot = table_.find(mix(number), [&](std::uint32_t i) { return numbers_[i] == number; });
    if (slot == IndexTable::kEmpty) {
      if (numbers_.size() >= 0xfffffffeu) throw TooManyVertices();
      slot = static_cast<std::uint32_t>(numbers_.size());
      numbers_.push_back(number);
    }
    return slot;
  }
  std::size_t size() const { return numbers_.size(); }
  std::vector<std::uint64_t>& numbers() { return numbers_; }
  void forget_table() { table_.clear(); }

 private:
  IndexTable table_;
  std::vector<std::uint64_t> numbers_;
};

class TextNames {
 public:
  TextNames() : starts_{1}, text_{'\n'} {}
  /// `added` is called with the new name if it is new.
  template <class Added>
  std::uint32_t operator()(std::string_view name, Added&& added) {
    table_.reserve(size(), [&](std::size_t i) { return hash_text((*this)[i]); });
    std::uint32_t& slot = table_.find(hash_text(name), [&](std::uint32_t i) { return (*this)[i] == name; });
    if (slot == IndexTable::kEmpty) {
      added(name);
      if (size() >= 0xfffffffeu) throw TooManyVertices();
      slot = static_cast<std::uint32_t>(size());
      text_.insert(text_.end(), name.begin(), name.end());
      text_.push_back('\n');
      starts_.push_back(text_.size());
    }
    return slot;
  }
  std::size_t size() const { return starts_.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return {text_.data() + starts_[i], static_cast<std::size_t>(starts_[i + 1] - starts_[i] - 1)};
  }
  const std::vector<std::uint64_t>& starts() const { return starts_; }
  const std::vector<char>& text() const { return text_; }
  void forget_table() { table_.clear(); }

 private:
  IndexTable table_;
  std::vector<std::uint64_t> starts_;
  std::vector<char> text_;
};

}  // namespace gossamer::graph
