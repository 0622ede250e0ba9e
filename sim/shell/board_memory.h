// SPDX-License-Identifier: Apache-2.0
/// Memory of a simulated board; untouched pages take none of this machine's, so boards may have much of it.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "shell/port.h"

namespace gossamer::shell {

class BoardMemory {
 public:
  /// Raises PortError if there is no address space for so many bytes.
  explicit BoardMemory(uint64_t bytes) : bytes_(bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw PortError("no address space for the board's memory");
    data_ = static_cast<uint8_t*>(at);
  }
  ~BoardMemory() { munmap(data_, bytes_); }
  BoardMemory(const BoardMemory&) = delete;
  BoardMemory& operator=(const BoardMemory&) = delete;

  uint8_t* data() { return data_; }
  uint64_t bytes() const { return bytes_; }

  /// Eight bytes at a multiple of eight, first byte in the lowest bits; zeros outside of the memory.
  uint64_t read(uint64_t address) const {
    uint64_t value = 0;
    if (address + 8 <= bytes_) std::memcpy(&value, data_ + address, 8);
    return value;
  }
  /// Writes those of eight bytes whose strobe is 1.
  void write(uint64_t address, uint64_t value, uint8_t strobes) {
    for (unsigned i = 0; i < 8; i++)
      if (strobes >> i & 1 && address + i < bytes_) data_[address + i] = static_cast<uint8_t>(value >> (8 * i));
  }

 private:
  uint64_t bytes_;
  uint8_t* data_;
};

}  // namespace gossamer::shell
