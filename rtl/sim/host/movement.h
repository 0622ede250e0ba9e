// SPDX-License-Identifier: Apache-2.0
/// When anything last moved, as far as was looked.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../memory/gs_mem_model.h"

namespace gossamer::sim {

/// An instruction, something that a host says or hears, or a request to memory: a data mover works for long while all
/// threads wait for it, and neither they nor a host see anything of that.
class Movement {
 public:
  /// A run begins in `cycle`, with so many instructions before it.
  template <typename Ranks>
  void begin(const Ranks& ranks, uint64_t cycle, uint64_t issued) {
    moved_ = cycle;
    issued_ = issued;
    beats_ = ranks.sum(memoryBeats.load(std::memory_order_relaxed));
  }

  /// Cycles since the last movement. `progress` is the cycle in which a host last heard or said anything.
  template <typename Ranks>
  uint64_t still(const Ranks& ranks, uint64_t cycle, uint64_t issued, uint64_t progress) {
    const uint64_t beats = ranks.sum(memoryBeats.load(std::memory_order_relaxed));
    if (issued != issued_ || beats != beats_) moved_ = cycle;
    issued_ = issued;
    beats_ = beats;
    moved_ = std::max(moved_, progress);
    return cycle - moved_;
  }

  /// Instructions up to the last look.
  uint64_t issued() const { return issued_; }

 private:
  uint64_t moved_ = 0, issued_ = 0, beats_ = 0;
};

}  // namespace gossamer::sim
