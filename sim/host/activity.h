// SPDX-License-Identifier: Apache-2.0
/// Detects quiescence: the last cycle with any activity, as of the last check.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../memory/gs_mem_model.h"
#include "ranks.h"

namespace gossamer::sim {

/// Traffic on the links of a rank's boards, in sums modulo 2^32.
struct Traffic {
  uint32_t received = 0;  ///< packets
/// Packets sent minus packets received on links that are up. Summed over all ranks, 0 if none is in flight between
  /// boards.
  uint32_t flying = 0;
};

/// Activity is an instruction, a message from or to a host, a memory request, or a packet on a link. Memory requests
/// count because a DMA engine may work for long while all threads wait for it.
class Activity {
 public:
  /// Cycles since the last activity.
  struct IdleCycles {
    uint64_t work = 0;  ///< without packets on links, which may circulate forever
    uint64_t all = 0;
  };

  /// A run begins in `cycle`; `issued` instructions precede it.
  void begin(const Ranks& ranks, uint64_t cycle, uint64_t issued) {
    moved_ = cycle;
    issued_ = issued;
    beats_ = ranks.sum(memoryBeats.load(std::memory_order_relaxed));
    landed_ = cycle;
  }

  /// `progress` is the cycle in which a host last sent or received anything.
  IdleCycles idle_cycles(const Ranks& ranks, uint64_t cycle, uint64_t issued, uint64_t progress, Traffic traffic) {
    const uint64_t beats = ranks.sum(memoryBeats.load(std::memory_order_relaxed));
    if (issued != issued_ || beats != beats_) moved_ = cycle;
    issued_ = issued;
    beats_ = beats;
    moved_ = std::max(moved_, progress);
    // A packet on a long link is in flight without other activity. A packet that a failing link has lost is no
    // activity, however often the link retransmits it.
    const bool flies = static_cast<uint32_t>(ranks.sum(traffic.flying)) != 0;
    const auto received = static_cast<uint32_t>(ranks.sum(traffic.received));
    if (received != received_) landed_ = cycle;
    received_ = received;
    return {cycle - moved_, flies ? 0 : cycle - std::max(moved_, landed_)};
  }

  /// Instructions up to the last check.
  uint64_t issued() const { return issued_; }

 private:
  uint64_t moved_ = 0, issued_ = 0, beats_ = 0;
  uint64_t landed_ = 0;  ///< cycle of the last packet received over a link, as of the last check
  uint32_t received_ = 0;
};

}  // namespace gossamer::sim
