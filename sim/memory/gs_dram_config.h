// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gossamer::sim {

/// Parameters of a DRAM, from [memory.dram] of a configuration. Times are in command clocks.
struct DramConfig {
  bool doubleRate = true;
  std::uint64_t bytes = 1ull << 32;
  std::uint64_t busBytes = 8, burstLength = 8, banks = 8, rowBytes = 8192;
  std::uint64_t cl = 11, cwl = 8, rcd = 11, rp = 11, ras = 28, rrd = 5, faw = 24, wr = 12, wtr = 6, rtp = 6;
  std::uint64_t rfc = 208, refi = 6240;
  /// Command clock and the design's clock, in kHz.
  std::uint64_t dramKhz = 800000, coreKhz = 250000;
  /// Latency of the controller, both directions together, in the design's cycles.
  std::uint64_t controllerLatency = 20;
  std::uint64_t lineBytes = 32, portBytes = 32;
  /// Bank interleave in bytes; whether the row's number is folded into the bank's.
  std::uint64_t bankBytes = 1024;
  bool bankHash = true;
};

/// A command to a DRAM. PrechargeAll and Refresh have no bank; a column is in bytes, at a burst's start.
struct DramCommand {
  enum Kind { kActivate, kRead, kWrite, kPrecharge, kPrechargeAll, kRefresh };
  Kind kind;
  std::uint64_t bank = 0, row = 0, column = 0;
};

}  // namespace gossamer::sim
