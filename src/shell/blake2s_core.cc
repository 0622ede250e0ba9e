// SPDX-License-Identifier: Apache-2.0
#include "shell/blake2s_core.h"

#include "shell/blake2s_tables.h"

namespace gossamer::shell {
void blake2s_begin(uint32_t h[8], bool keyed) {
  for (unsigned i = 0; i < 8; i++) h[i] = kBlake2sInitial[i];
  // One sequential hash with a digest of 32 bytes, and a key of 32 or none.
  h[0] ^= 0x01010000U ^ (keyed ? 32U << 8 : 0U) ^ 32U;
}

SmallHash::SmallHash(const uint8_t* key) {
  blake2s_begin(h_, key != nullptr);
  if (!key) return;
  for (unsigned i = 0; i < 32; i++) block_[i] = key[i];
  held_ = 64;
}

void SmallHash::add(const uint8_t* bytes, uint32_t length) {
  for (uint32_t i = 0; i < length; i++) {
    // A full block waits for the next byte, because the last one is hashed differently.
    if (held_ == 64) {
      count_ += 64;
      blake2s_block(h_, block_, count_, false);
      held_ = 0;
    }
    block_[held_++] = bytes[i];
  }
}

void SmallHash::add_number(uint64_t value, unsigned bytes) {
  uint8_t text[8];
  for (unsigned i = 0; i < bytes; i++) text[i] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
  add(text, bytes);
}

void SmallHash::finish(uint8_t* digest) {
  for (uint32_t i = held_; i < 64; i++) block_[i] = 0;
  count_ += held_;
  blake2s_block(h_, block_, count_, true);
  for (unsigned i = 0; i < 32; i++) digest[i] = static_cast<uint8_t>(h_[i / 4] >> (8 * (i % 4)));
}

}  // namespace gossamer::shell
