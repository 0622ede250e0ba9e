// SPDX-License-Identifier: Apache-2.0
/// The host's end of a tile's network: flits that wait to go in, and packets put together from flits that came out.
/// A flit is the layout `flit` of config/constants/fabric.toml in six 32-bit words, the payload's first.
#pragma once

#include <gossamer/config.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gossamer::sim {

constexpr unsigned kFlitWords = 6;
constexpr unsigned kNetworks = 4;

/// One flit.
struct Flit {
  std::array<uint32_t, kFlitWords> words{};

  unsigned kind() const { return words[5] >> 10 & 3; }
  bool last() const { return words[5] >> 9 & 1; }
  unsigned network() const { return words[5] >> 7 & 3; }
};
static_assert(sizeof(Flit) == 4 * kFlitWords);

/// Flits to the tile, and packets from it.
class Network {
 public:
  bool pending() const { return next_ < out_.size(); }
  size_t left() const { return out_.size() - next_; }
  const Flit& head() const { return out_[next_]; }
  void pop() {
    if (++next_ == out_.size()) {
      out_.clear();
      next_ = 0;
    }
  }

  /// `bytes` holds whole flits.
  void send(const uint8_t* bytes, size_t count) {
    const size_t before = out_.size();
    out_.resize(before + count / sizeof(Flit));
    if (count) std::memcpy(out_.data() + before, bytes, count / sizeof(Flit) * sizeof(Flit));
  }

  /// Takes a flit from the tile; the whole packet if it was its last, else nothing.
  std::vector<Flit> take(const Flit& flit) {
    std::vector<Flit>& part = parts_[flit.network()];
    part.push_back(flit);
    if (!flit.last()) return {};
    std::vector<Flit> whole;
    whole.swap(part);
    return whole;
  }

 private:
  std::vector<Flit> out_;
  size_t next_ = 0;
  std::array<std::vector<Flit>, kNetworks> parts_;
};

}  // namespace gossamer::sim
