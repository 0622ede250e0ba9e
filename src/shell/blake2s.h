// SPDX-License-Identifier: Apache-2.0
/// BLAKE2s-256 (RFC 7693), keyed or not: the tags of frames and the hashes of images. Python's hashlib.blake2s judges
/// it, and so the shell's RTL, which computes the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gossamer::shell {

using Digest = std::array<uint8_t, 32>;
using Key = std::array<uint8_t, 32>;

/// The state of a hash. A copy continues independently, so the block of a key is hashed once for many frames.
class Blake2s {
 public:
  Blake2s();
  explicit Blake2s(const Key& key);

  /// Hashes more bytes; any split of the input has the same digest.
  void update(std::span<const uint8_t> bytes);
  /// The digest of all bytes so far. The state cannot be updated afterwards.
  Digest finish();

 private:
  void compress(const uint8_t* block, bool last);

  std::array<uint32_t, 8> h_;
  uint64_t count_ = 0;
  std::array<uint8_t, 64> waiting_{};
  size_t held_ = 0;
};

/// The digest of `bytes`.
inline Digest blake2s(std::span<const uint8_t> bytes) {
  Blake2s state;
  state.update(bytes);
  return state.finish();
}

/// The digests of many messages, several at once in the lanes of vectors.
std::vector<Digest> blake2s_many(std::span<const std::span<const uint8_t>> messages);
/// Messages of equal length that blake2s_many hashes at once on this processor.
unsigned blake2s_lanes();

/// The keyed digest of `bytes`.
inline Digest blake2s(const Key& key, std::span<const uint8_t> bytes) {
  Blake2s state(key);
  state.update(bytes);
  return state.finish();
}

}  // namespace gossamer::shell
