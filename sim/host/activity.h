// SPDX-License-Identifier: Apache-2.0
/// When anything last moved, as far as was looked.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../memory/gs_mem_model.h"
#include "ranks.h"

namespace gossamer::sim {

/// What the links of a rank's boards have done so far, in sums modulo 2^32.
struct Traffic {
  uint32_t received = 0;  ///< packets
  /// Of links that are up: packets sent less those received; of all ranks together 0 if none is under way between two
  /// boards.
  uint32_t flying = 0;
};

/// An instruction, something that a host says or hears, or a request to memory: a DMA engine works for long while all
/// threads wait for it, and neither they nor a host see anything of that. And packets on links.
class Activity {
 public:
  /// Cycles since the last activity.
  struct IdleCycles {
    uint64_t work = 0;  ///< but for packets on links, which may go round for ever
    uint64_t all = 0;
  };

  /// A run begins in `cycle`, with so many instructions before it.
  void begin(const Ranks& ranks, uint64_t cycle, uint64_t issued) {
    moved_ = cycle;
    issued_ = issued;
    beats_ = ranks.sum(memoryBeats.load(std::memory_order_relaxed));
    landed_ = cycle;
  }

  /// `progress` is the cycle in which a host last heard or said anything.
  IdleCycles idle_cycles(const Ranks& ranks, uint64_t cycle, uint64_t issued, uint64_t progress, Traffic traffic) {
    const uint64_t beats = ranks.sum(memoryBeats.load(std::memory_order_relaxed));
    if (issued != issued_ || beats != beats_) moved_ = cycle;
    issued_ = issued;
    beats_ = beats;
    moved_ = std::max(moved_, progress);
    // A packet whose flight is long is under way, and nobody else sees anything of it. One that its link has lost as it
    // went down was no activity, however long the link tried.
    const bool flies = static_cast<uint32_t>(ranks.sum(traffic.flying)) != 0;
    const auto received = static_cast<uint32_t>(ranks.sum(traffic.received));
    if (received != received_) landed_ = cycle;
    received_ = received;
    return {cycle - moved_, flies ? 0 : cycle - std::max(moved_, landed_)};
  }

  /// Instructions up to the last look.
  uint64_t issued() const { return issued_; }

 private:
  uint64_t moved_ = 0, issued_ = 0, beats_ = 0;
  uint64_t landed_ = 0;  ///< when a packet came in over a link, as far as was looked
  uint32_t received_ = 0;
};

}  // namespace gossamer::sim
