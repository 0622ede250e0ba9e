// SPDX-License-Identifier: Apache-2.0
/// The activity of a thread of a simulated tile.
#pragma once

#include <gossamer/config.h>

#include <cstdint>

namespace gossamer::sim {

/// Activity of a thread; the numbers are those of the cores' `sim_state`.
enum class Doing : uint8_t { Nothing = 0, Runs = 1, Request = 2, Float = 3, Divide = 4, Parked = 5 };

/// Kind of a thread's request to the tile; the numbers are those of the cores' `sim_xop`.
enum class RequestKind : uint8_t { Load = 0, Store = 1, Csr = 2, Trap = 3 };

/// Present state of a thread.
struct State {
  Doing doing = Doing::Nothing;
  RequestKind request = RequestKind::Load;
  uint32_t pc = 0;       ///< of the instruction that it issued last
  uint32_t address = 0;  ///< of its last request: address, or number of the register
  uint32_t data = 0;     ///< data of its last request

  /// Whether its request ends it.
  bool ends() const {
    return request == RequestKind::Trap ||
           (request == RequestKind::Csr && static_cast<config::Csr>(address) == config::Csr::ThreadStop);
  }
};

}  // namespace gossamer::sim
