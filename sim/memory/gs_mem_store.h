// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace gossamer::sim {

/// Contents of a simulated memory; unwritten pages use no storage and read as zeros.
class MemoryStore {
 public:
  explicit MemoryStore(std::uint64_t bytes) : bytes_(bytes), pages_((bytes + kPage - 1) / kPage) {}

  std::uint64_t size() const { return bytes_; }

  void read(std::uint64_t address, std::uint8_t* to, std::size_t count) const {
    check(address, count);
    while (count > 0) {
      const std::size_t part = within(address, count);
      const auto& page = pages_[address / kPage];
      if (page) {
        std::memcpy(to, page.get() + address % kPage, part);
      } else {
        std::memset(to, 0, part);
      }
      address += part, to += part, count -= part;
    }
  }

  void write(std::uint64_t address, const std::uint8_t* from, std::size_t count) {
    check(address, count);
    while (count > 0) {
      const std::size_t part = within(address, count);
      auto& page = pages_[address / kPage];
      if (!page) page.reset(new std::uint8_t[kPage]());
      std::memcpy(page.get() + address % kPage, from, part);
      address += part, from += part, count -= part;
    }
  }

 private:
  static constexpr std::uint64_t kPage = 16384;

  static std::size_t within(std::uint64_t address, std::size_t count) {
    const std::size_t left = kPage - address % kPage;
    return count < left ? count : left;
  }
  void check(std::uint64_t address, std::size_t count) const {
    if (address > bytes_ || count > bytes_ - address) throw std::out_of_range("address beyond a simulated memory");
  }

  std::uint64_t bytes_;
  std::vector<std::unique_ptr<std::uint8_t[]>> pages_;
};

}  // namespace gossamer::sim
