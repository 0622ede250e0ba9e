// SPDX-License-Identifier: Apache-2.0
/// BLAKE2s-256 (RFC 7693) for code without a library: the control part of the shell. blake2s.h is for hosts.
#pragma once

#include <stdint.h>

namespace gossamer::shell {

/// The chaining value before the first block; `keyed` if that block is a key of 32 bytes.
void blake2s_begin(uint32_t h[8], bool keyed);
/// Hashes a block of 64 bytes; `count` is the number of bytes up to its end, `last` ends the hash.
void blake2s_block(uint32_t h[8], const uint8_t* block, uint64_t count, bool last);

/// A hash of a few pieces.
class SmallHash {
 public:
  /// Without a key, or with one of 32 bytes.
  explicit SmallHash(const uint8_t* key = nullptr);
  void add(const uint8_t* bytes, uint32_t length);
  /// Adds a number of `bytes` bytes, most significant first.
  void add_number(uint64_t value, unsigned bytes);
  /// Writes the 32 bytes of the digest.
  void finish(uint8_t* digest);

 private:
  uint32_t h_[8];
  uint64_t count_ = 0;
  uint8_t block_[64] = {};
  uint32_t held_ = 0;
};

}  // namespace gossamer::shell
