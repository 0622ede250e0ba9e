// SPDX-License-Identifier: Apache-2.0
/// The host's end of a tile's debug bus: bytes that wait to be sent, and reports assembled from received bytes.
/// The packets are those of config/constants/debug.toml.
#pragma once

#include <gossamer/config.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gossamer::sim {

/// A report of the tile: its code and the following bytes.
struct Report {
  uint8_t code = 0;
  unsigned bytes = 0;
  uint8_t argument[15] = {};

  /// 32 or 64 bits from byte `at` on, little-endian.
  uint32_t word(unsigned at) const {
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= static_cast<uint32_t>(argument[at + i]) << (8 * i);
    return value;
  }
};

/// Bytes to the tile, and reports from it.
class Bus {
 public:
  bool pending() const { return next_ < out_.size(); }
  size_t left() const { return out_.size() - next_; }
  uint8_t head() const { return out_[next_]; }
  void pop() {
    if (++next_ == out_.size()) {
      out_.clear();
      next_ = 0;
    }
  }

  void send(const uint8_t* bytes, size_t count) { out_.insert(out_.end(), bytes, bytes + count); }
  void command(config::DebugCommand code) { out_.push_back(static_cast<uint8_t>(code)); }
  void byte(uint8_t value) { out_.push_back(value); }
  void word(uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) out_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }

  /// Receives a byte from the tile; true if it completes a report, which is then in `report`.
  bool take(uint8_t value, Report& report) {
    if (!inside_) {
      part_ = Report{};
      part_.code = value;
      inside_ = true;
    } else {
      part_.argument[part_.bytes++] = value;
    }
    if (part_.bytes < part_.code >> 4) return false;
    inside_ = false;
    report = part_;
    return true;
  }

 private:
  std::vector<uint8_t> out_;
  size_t next_ = 0;
  Report part_;
  bool inside_ = false;
};

}  // namespace gossamer::sim
