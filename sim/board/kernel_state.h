// SPDX-License-Identifier: Apache-2.0
/// The kernels' side of a board's streaming ports and blocks of collectives, as the emulator of SMI uses it
/// (src/smi/rtl/fabric.h). It depends on no configuration.
#pragma once

#include "fabric.h"

namespace gossamer::sim {

struct Kernels {
  static constexpr unsigned kMostPorts = 64, kMostBlocks = 16;

  GsStreamPort ports[kMostPorts] = {};
  GsStreamBlock blocks[kMostBlocks] = {};
  GsStreamBarrier barrier = {};
};

}  // namespace gossamer::sim
