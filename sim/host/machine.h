// SPDX-License-Identifier: Apache-2.0
/// Common base of machines that are a single model: a tile, or a board (flat.cc).
#pragma once

#include <cstdint>
#include <vector>

#include "activity.h"
#include "network.h"
#include "tile_host.h"

namespace gossamer::sim {

/// `Machine` has step<kWaves>(cycle, reset, hosts): one cycle. `Port` is the host's end of its network (network.h).
template <typename Machine, unsigned kNumber, typename Port>
class OneModel {
 public:
  static constexpr unsigned kTiles = kNumber, kBoardTiles = kNumber;
  static constexpr uint64_t kWatchdogStride = 4096;

  static constexpr uint64_t stride() { return 1; }
  static constexpr uint64_t quiescence() { return 1 << 14; }
  static constexpr uint64_t drain() { return 0; }
  static constexpr uint64_t slack() { return 0; }
  static constexpr Traffic traffic() { return {}; }

  static constexpr unsigned tiles() { return kTiles; }
  static constexpr unsigned most_workers() { return 1; }
  void begin(uint64_t) {}
  static constexpr bool serves(unsigned, unsigned) { return true; }
  void drive(TileHost*) {}
  void expect(unsigned, uint64_t, bool) {}
  void pump(uint64_t) {}
  bool ready() const { return true; }

  template <typename What>
  static void each_tile(unsigned, unsigned, What what) {
    for (unsigned t = 0; t < kTiles; ++t) what(t);
  }

  void send(const uint8_t* bytes, size_t count, uint32_t replies) { host_.send(bytes, count, replies); }
  bool pending() const { return host_.pending(); }
  uint32_t exchanging(unsigned, unsigned) const { return host_.exchanging(); }
  uint64_t progress() { return host_.ear().progress(); }
  /// The host that sends.
  const Port& host() const { return host_; }
  template <typename What>
  void each_host(unsigned, unsigned, What what) const {
    what(host_);
  }
  static std::vector<unsigned> host_boards() { return {0}; }
  void trace_host(unsigned, HostTrace* trace) { host_.ear().trace(trace); }
  void sources(std::vector<Records*>& all) { all.push_back(&host_.ear().records()); }

  template <bool kWaves>
  void go(unsigned, unsigned, uint64_t cycle, uint64_t end, bool reset, TileHost* hosts) {
    auto& machine = *static_cast<Machine*>(this);
    for (; cycle < end; ++cycle) machine.template step<kWaves>(cycle, reset, hosts);
  }

 protected:
  Port host_;
};

}  // namespace gossamer::sim
