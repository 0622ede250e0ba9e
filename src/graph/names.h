// SPDX-License-Identifier: Apache-2.0
/// Maps names to indexes 0, 1, 2, ... in the order of first appearance.
///
/// Open addressing. A slot stores 32 bits of its name's hash, from which the table
/// computes the slot again when it grows, without reading the name; and names are compared
/// only if these bits agree. A look-up in a large table is bound by two cache misses,
/// one for the slot and one for the name: `prefetch` overlaps those of several
/// look-ups.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "graph/hash.h"

namespace gossamer::graph {

/// Table of indexes; the caller stores the names and compares them. Not thread-safe.
class IndexTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  /// The index of a name, or kNone. same(index) compares.
  template <class Same>
  std::uint32_t find(std::uint64_t hash, Same&& same) const {
    return slots_.empty() ? kNone : slots_[slot_of(tag_of(hash), same)].index;
  }

  /// The index of a name; a new name is added with the index `fresh`.
  template <class Same>
  std::uint32_t find_or_add(std::uint64_t hash, std::uint32_t fresh, Same&& same) {
    if ((count_ + 1) * 8 > slots_.size() * 5) grow();
    Slot& slot = slots_[slot_of(tag_of(hash), same)];
    if (slot.index == kNone) {
      slot = {tag_of(hash), fresh};
      ++count_;
    }
    return slot.index;
  }

  /// Prefetches the memory that find reads first.
  void prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[tag_of(hash) & (slots_.size() - 1)]);
  }
  /// The probable result of find, without comparing names; kNone if unknown.
  std::uint32_t guess(std::uint64_t hash) const {
    if (slots_.empty()) return kNone;
    const Slot& slot = slots_[tag_of(hash) & (slots_.size() - 1)];
    return slot.tag == tag_of(hash) ? slot.index : kNone;
  }

  /// Removes all names, and retains memory for about as many.
  void empty() {
    if (slots_.size() > 1024 && count_ * 16 < slots_.size()) slots_.resize(slots_.size() / 2);
    slots_.assign(slots_.size(), Slot{0, kNone});
    count_ = 0;
  }
  /// Frees the memory.
  void clear() {
    std::vector<Slot>().swap(slots_);
    count_ = 0;
  }

 private:
  struct Slot {
    std::uint32_t tag, index;
  };
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

  template <class Same>
  std::size_t slot_of(std::uint32_t tag, Same&& same) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = tag & mask;
    while (slots_[at].index != kNone && (slots_[at].tag != tag || !same(slots_[at].index))) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> wider(slots_.empty() ? 1024 : slots_.size() * 2, Slot{0, kNone});
    const std::size_t mask = wider.size() - 1;
    for (const Slot& slot : slots_) {
      if (slot.index == kNone) continue;
      std::size_t at = slot.tag & mask;
      while (wider[at].index != kNone) at = (at + 1) & mask;
      wider[at] = slot;
    }
    slots_.swap(wider);
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

constexpr std::size_t kMostVertices = 0xfffffffeu;

/// Thrown if an index would not fit 32 bits.
struct TooManyVertices : std::length_error {
  TooManyVertices() : std::length_error("too many vertices") {}
};

/// The index of the next name, when there are `size` names.
inline std::uint32_t fresh_index(std::size_t size) {
  if (size >= kMostVertices) throw TooManyVertices();
  return static_cast<std::uint32_t>(size);
}

class NumberNames {
 public:
  std::uint32_t operator()(std::uint64_t number) {
    const std::uint32_t fresh = fresh_index(numbers_.size());
    const std::uint32_t index =
        table_.find_or_add(mix(number), fresh, [&](std::uint32_t i) { return numbers_[i] == number; });
    if (index == fresh) numbers_.push_back(number);
    return index;
  }
  std::size_t size() const { return numbers_.size(); }
  std::vector<std::uint64_t>& numbers() { return numbers_; }
  void forget_table() { table_.clear(); }

 private:
  IndexTable table_;
  std::vector<std::uint64_t> numbers_;
};

/// Names stored in the form in which the library returns them.
class TextNames {
 public:
  TextNames() : starts_{1}, text_{'\n'} {}
  std::uint32_t operator()(std::string_view name, std::uint64_t hash) {
    const std::uint32_t fresh = fresh_index(size());
    const std::uint32_t index =
        table_.find_or_add(hash, fresh, [&](std::uint32_t i) { return same_text((*this)[i], name); });
    if (index == fresh) {
      text_.insert(text_.end(), name.begin(), name.end());
      text_.push_back('\n');
      starts_.push_back(text_.size());
    }
    return index;
  }
  void prefetch_slot(std::uint64_t hash) const { table_.prefetch(hash); }
  void prefetch_start(std::uint64_t hash) const {
    const std::uint32_t index = table_.guess(hash);
    if (index != IndexTable::kNone) __builtin_prefetch(&starts_[index]);
  }
  void prefetch_name(std::uint64_t hash) const {
    const std::uint32_t index = table_.guess(hash);
    if (index != IndexTable::kNone) __builtin_prefetch(text_.data() + starts_[index]);
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
