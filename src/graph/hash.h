// SPDX-License-Identifier: Apache-2.0
/// Hashes of numbers and of text, whose bits are all well mixed.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace gossamer::graph {

inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class Word>
inline std::uint64_t word_at(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// Up to eight bytes as a number. Together with `size` it identifies the text. The loads may overlap, so that no
/// byte outside the text is read and no length needs a loop.
inline std::uint64_t short_text(const char* bytes, std::size_t size) {
  if (size >= 8) return word_at<std::uint64_t>(bytes);
  if (size >= 4) return word_at<std::uint32_t>(bytes) | word_at<std::uint32_t>(bytes + size - 4) << 32;
  if (size >= 2) return word_at<std::uint16_t>(bytes) | word_at<std::uint16_t>(bytes + size - 2) << 16;
  return size ? static_cast<unsigned char>(*bytes) : 0;
}

inline std::uint64_t hash_text(std::string_view text) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  const char* bytes = text.data();
  std::size_t left = text.size();
  std::uint64_t hash = left * kOdd;
  for (; left > 8; bytes += 8, left -= 8) {
    hash = (hash ^ word_at<std::uint64_t>(bytes)) * kOdd;
    hash ^= hash >> 29;
  }
  hash = (hash ^ short_text(bytes, left)) * kOdd;
  hash ^= hash >> 32;
  hash *= kOdd;
  return hash ^ (hash >> 29);
}

/// a == b, without a call, since labels are short.
inline bool same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  std::size_t at = 0;
  for (; a.size() - at > 8; at += 8)
    if (word_at<std::uint64_t>(a.data() + at) != word_at<std::uint64_t>(b.data() + at)) return false;
  return short_text(a.data() + at, a.size() - at) == short_text(b.data() + at, b.size() - at);
}

}  // namespace gossamer::graph
