// SPDX-License-Identifier: Apache-2.0
/// Common base of machines that are one board or a part of one: one network, all workers in the same cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "activity.h"
#include "network.h"
#include "tile_host.h"

namespace gossamer::sim {

/// `Machine` has step<kWaves>(worker, workers, cycle, reset, hosts): one cycle of one worker's models.
template <typename Machine, unsigned kNumber, unsigned kExits>
class OneBoard {
 public:
  static constexpr unsigned kTiles = kNumber, kBoardTiles = kNumber;
  static constexpr uint64_t kWatchdogStride = 4096;

  static constexpr uint64_t stride() { return 1; }
  static constexpr uint64_t quiescence() { return 1 << 14; }
  static constexpr uint64_t drain() { return 0; }
  static constexpr uint64_t slack() { return 0; }
  static constexpr Traffic traffic() { return {}; }

  static constexpr unsigned tiles() { return kTiles; }
  void begin(uint64_t) {}
  bool ready() const { return true; }

  template <typename What>
  static void each_tile(unsigned worker, unsigned workers, What what) {
    for (unsigned t = worker; t < kTiles; t += workers) what(t);
  }

  void send(const uint8_t* bytes, size_t count, uint32_t replies) { network_.send(bytes, count, replies); }
  bool pending() const { return network_.pending(); }
  uint32_t exchanging(unsigned worker, unsigned) const { return worker ? 0 : network_.exchanging(); }
  uint64_t progress() { return network_.ear().progress(); }
  /// The host that sends.
  const auto& host() const { return network_; }
  /// Calls `what` for each host in a worker's part of the machine.
  template <typename What>
  void each_host(unsigned worker, unsigned, What what) const {
    if (!worker) what(network_);
  }
  static std::vector<unsigned> host_boards() { return {0}; }
  void trace_host(unsigned, HostTrace* trace) { network_.ear().trace(trace); }
  void sources(std::vector<Records*>& all) { all.push_back(&network_.ear().records()); }

  template <bool kWaves>
  void go(unsigned worker, unsigned workers, uint64_t cycle, uint64_t end, bool reset, TileHost* hosts) {
    auto& machine = *static_cast<Machine*>(this);
    for (; cycle < end; ++cycle) machine.template step<kWaves>(worker, workers, cycle, reset, hosts);
  }

 protected:
  HostNetwork<kNumber, kExits> network_;
};

}  // namespace gossamer::sim
