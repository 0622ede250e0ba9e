// SPDX-License-Identifier: Apache-2.0
// The compression of BLAKE2s in software; the firmware of the shell has it in hardware (device/firmware/hash.cc).
#include <bit>

#include "shell/blake2s_core.h"
#include "shell/blake2s_tables.h"

namespace gossamer::shell {

void blake2s_block(uint32_t h[8], const uint8_t* block, uint64_t count, bool last) {
  uint32_t m[16], v[16];
  for (unsigned i = 0; i < 16; i++)
    m[i] = block[4 * i] | uint32_t{block[4 * i + 1]} << 8 | uint32_t{block[4 * i + 2]} << 16 |
           uint32_t{block[4 * i + 3]} << 24;
  for (unsigned i = 0; i < 8; i++) {
    v[i] = h[i];
    v[i + 8] = kBlake2sInitial[i];
  }
  v[12] ^= static_cast<uint32_t>(count);
  v[13] ^= static_cast<uint32_t>(count >> 32);
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
  for (const auto& s : kBlake2sOrder) {
    for (unsigned i = 0; i < 4; i++) mix(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
    for (unsigned i = 0; i < 4; i++)
      mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
  }
  for (unsigned i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
}

}  // namespace gossamer::shell
