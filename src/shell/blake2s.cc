// SPDX-License-Identifier: Apache-2.0
#include "shell/blake2s.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "shell/blake2s_core.h"
#include "shell/blake2s_tables.h"

namespace gossamer::shell {
namespace {

uint32_t word(const uint8_t* at) {
  uint32_t value = 0;
  for (unsigned i = 4; i--;) value = value << 8 | at[i];
  return value;
}

// Lanes of 32 bits in the vectors of the processor for which this is compiled.
#if defined(__AVX512F__)
constexpr unsigned kLanes = 16;
#elif defined(__AVX2__)
constexpr unsigned kLanes = 8;
#else
constexpr unsigned kLanes = 4;
#endif
using Vector = uint32_t __attribute__((vector_size(4 * kLanes)));

Vector rotate(Vector value, unsigned by) { return value >> by | value << (32 - by); }

/// Lanes of `a`, or those of `b` where the lane's number has bit `Step`, moved by `Step`: a step of a transposition.
template <unsigned Step, bool Upper, size_t... Lane>
Vector exchange(Vector a, Vector b, std::index_sequence<Lane...>) {
  constexpr auto from = [](unsigned lane) {
    const bool second = lane & Step;
    if (Upper) return second ? kLanes + lane : lane + Step;
    return second ? kLanes + lane - Step : lane;
  };
#if defined(__clang__)
  return __builtin_shufflevector(a, b, from(Lane)...);
#else
  return __builtin_shuffle(a, b, Vector{from(Lane)...});
#endif
}

template <unsigned Step = 1>
void transpose(Vector* rows) {
  constexpr auto lanes = std::make_index_sequence<kLanes>();
  for (unsigned i = 0; i < kLanes; i++) {
    if (i & Step) continue;
    const Vector a = rows[i], b = rows[i + Step];
    rows[i] = exchange<Step, false>(a, b, lanes);
    rows[i + Step] = exchange<Step, true>(a, b, lanes);
  }
  if constexpr (2 * Step < kLanes) transpose<2 * Step>(rows);
}

/// Hashes kLanes messages of the same length, a multiple of 64 that is not 0, one in each lane. The 16 words of a block
/// are loaded kLanes at a time from each message and transposed in registers, so that a vector has one word of each.
void hash_lanes(const uint8_t* const* messages, size_t bytes, Digest* digests) {
  Vector h[8];
  for (unsigned i = 0; i < 8; i++) h[i] = Vector{} + kBlake2sInitial[i];
  h[0] ^= 0x01010000U ^ 32U;
  for (size_t at = 0; at < bytes; at += 64) {
    const bool last = at + 64 == bytes;
    Vector m[16];
    for (unsigned column = 0; column < 16; column += kLanes)
      for (unsigned lane = 0; lane < kLanes; lane++)
        std::memcpy(&m[column + lane], messages[lane] + at + 4 * column, sizeof(Vector));
    for (unsigned column = 0; column < 16; column += kLanes) transpose(m + column);
    const uint64_t count = at + 64;
    Vector v[16];
    for (unsigned i = 0; i < 8; i++) {
      v[i] = h[i];
      v[i + 8] = Vector{} + kBlake2sInitial[i];
    }
    v[12] ^= static_cast<uint32_t>(count);
    v[13] ^= static_cast<uint32_t>(count >> 32);
    if (last) v[14] = ~v[14];
    const auto mix = [&](unsigned a, unsigned b, unsigned c, unsigned d, Vector x, Vector y) {
      v[a] += v[b] + x;
      v[d] = rotate(v[d] ^ v[a], 16);
      v[c] += v[d];
      v[b] = rotate(v[b] ^ v[c], 12);
      v[a] += v[b] + y;
      v[d] = rotate(v[d] ^ v[a], 8);
      v[c] += v[d];
      v[b] = rotate(v[b] ^ v[c], 7);
    };
    // Unrolled, so that the order of words is known and all of them stay in registers.
#pragma GCC unroll 10
    for (unsigned round = 0; round < 10; round++) {
      const auto& s = kBlake2sOrder[round];
#pragma GCC unroll 4
      for (unsigned i = 0; i < 4; i++) mix(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
#pragma GCC unroll 4
      for (unsigned i = 0; i < 4; i++)
        mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
    for (unsigned i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
  }
  for (unsigned lane = 0; lane < kLanes; lane++)
    for (unsigned i = 0; i < 32; i++) digests[lane][i] = static_cast<uint8_t>(h[i / 4][lane] >> (8 * (i % 4)));
}

}  // namespace

unsigned blake2s_lanes() { return std::endian::native == std::endian::little ? kLanes : 1; }

std::vector<Digest> blake2s_many(std::span<const std::span<const uint8_t>> messages) {
  std::vector<Digest> digests(messages.size());
  const unsigned lanes = blake2s_lanes();
  for (size_t at = 0; at < messages.size();) {
    const size_t bytes = messages[at].size();
    size_t count = 1;
    while (count < lanes && at + count < messages.size() && messages[at + count].size() == bytes) count++;
    // A vector takes about as long as two messages one after the other.
    if (count < 3 || bytes == 0 || bytes % 64) {
      digests[at] = blake2s(messages[at]);
      at++;
      continue;
    }
    const uint8_t* from[kLanes];
    Digest found[kLanes];
    for (unsigned lane = 0; lane < kLanes; lane++) from[lane] = messages[at + std::min<size_t>(lane, count - 1)].data();
    hash_lanes(from, bytes, found);
    std::copy_n(found, count, digests.begin() + static_cast<ptrdiff_t>(at));
    at += count;
  }
  return digests;
}

Blake2s::Blake2s() { blake2s_begin(h_.data(), false); }

Blake2s::Blake2s(const Key& key) {
  blake2s_begin(h_.data(), true);
  std::memcpy(waiting_.data(), key.data(), key.size());
  held_ = waiting_.size();
}

void Blake2s::compress(const uint8_t* block, bool last) { blake2s_block(h_.data(), block, count_, last); }

void Blake2s::update(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    // The last block is compressed by finish(), so a full one waits for the next byte.
    if (held_ == waiting_.size()) {
      count_ += held_;
      compress(waiting_.data(), false);
      held_ = 0;
    }
    for (; held_ == 0 && bytes.size() > waiting_.size(); bytes = bytes.subspan(waiting_.size())) {
      count_ += waiting_.size();
      compress(bytes.data(), false);
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
