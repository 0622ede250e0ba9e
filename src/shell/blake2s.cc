// SPDX-License-Identifier: Apache-2.0
#include "shell/blake2s.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gossamer::shell {
namespace {

// RFC 7693, section 2.6: the initial values are those of SHA-256.
constexpr std::array<uint32_t, 8> kInitial = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                              0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
// RFC 7693, section 2.7: the order of message words in each round.
constexpr uint8_t kOrder[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

uint32_t word(const uint8_t* at) {
  uint32_t value = 0;
  for (unsigned i = 4; i--;) value = value << 8 | at[i];
  return value;
}

}  // namespace

Blake2s::Blake2s() : h_(kInitial) {
  h_[0] ^= 0x01010000U ^ 32U;  // one sequential hash with a digest of 32 bytes, no key
}

Blake2s::Blake2s(const Key& key) : h_(kInitial) {
  h_[0] ^= 0x01010000U ^ (static_cast<uint32_t>(key.size()) << 8) ^ 32U;
  std::memcpy(waiting_.data(), key.data(), key.size());
  held_ = waiting_.size();
}

void Blake2s::compress(const uint8_t* block, bool last) {
  uint32_t m[16], v[16];
  for (unsigned i = 0; i < 16; i++) m[i] = word(block + 4 * i);
  for (unsigned i = 0; i < 8; i++) {
    v[i] = h_[i];
    v[i + 8] = kInitial[i];
  }
  v[12] ^= static_cast<uint32_t>(count_);
  v[13] ^= static_cast<uint32_t>(count_ >> 32);
  if (last) v[14] = ~v[14];
  const auto mix = [&](unsigned a, unsigned b, unsigned c, unsigned d, uint32_t x, uint32_t y) {
    v[a] += v[b] + x;
    v[d] = std::rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = std::rotr(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 7);
  };
  for (const auto& s : kOrder) {
    for (unsigned i = 0; i < 4; i++) mix(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
    for (unsigned i = 0; i < 4; i++)
      mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
  }
  for (unsigned i = 0; i < 8; i++) h_[i] ^= v[i] ^ v[i + 8];
}

void Blake2s::update(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    // The last block is compressed by finish(), so a full one waits for the next byte.
    if (held_ == waiting_.size()) {
      count_ += held_;
      compress(waiting_.data(), false);
      held_ = 0;
    }
    const size_t part = std::min(bytes.size(), waiting_.size() - held_);
    std::memcpy(waiting_.data() + held_, bytes.data(), part);
    held_ += part;
    bytes = bytes.subspan(part);
  }
}

Digest Blake2s::finish() {
  count_ += held_;
  std::memset(waiting_.data() + held_, 0, waiting_.size() - held_);
  compress(waiting_.data(), true);
  Digest digest;
  for (unsigned i = 0; i < 32; i++) digest[i] = static_cast<uint8_t>(h_[i / 4] >> (8 * (i % 4)));
  return digest;
}

}  // namespace gossamer::shell
