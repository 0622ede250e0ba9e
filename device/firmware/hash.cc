// SPDX-License-Identifier: Apache-2.0
// The compression of BLAKE2s by the shell's hardware (rtl/shell/gs_shell_hasher.sv), in place of
// src/shell/blake2s_block.cc.
#include "shell/blake2s_core.h"

namespace gossamer::shell {

void blake2s_block(uint32_t h[8], const uint8_t* block, uint64_t count, bool last) {
  volatile uint32_t* const registers = reinterpret_cast<volatile uint32_t*>(0x80000000U);
  constexpr unsigned kWord = 0x70, kBlock = 0x71, kChain = 0x78;
  for (unsigned i = 0; i < 8; i++) registers[kChain + i] = h[i];
  registers[kBlock] = static_cast<uint32_t>(count) << 1 | last;
  for (unsigned i = 0; i < 64; i += 4)
    registers[kWord] =
        block[i] | uint32_t{block[i + 1]} << 8 | uint32_t{block[i + 2]} << 16 | uint32_t{block[i + 3]} << 24;
  while (registers[kBlock] & 1) {
  }
  for (unsigned i = 0; i < 8; i++) h[i] = registers[kChain + i];
}

}  // namespace gossamer::shell
