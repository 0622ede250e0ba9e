// SPDX-License-Identifier: Apache-2.0
/// What the emulator asks of the RTL transport, as a table of functions in a library of its own: boards of streaming
/// ports (sim/stream), a rank each, and the wires between them. The library is built for a run's ports.
#pragma once

#include <cstdint>

extern "C" {

/// The kernels' side of a port's two halves. What stands in a cycle is set before it; what happened, after it.
struct GsStreamPort {
  // Set by who has the kernels: a channel to open, an element to send, room for one that comes.
  bool opens_send, opens_receive, gives, takes;
  std::uint8_t send_type, send_rank, receive_type, receive_rank;
  std::uint32_t send_count, receive_count;
  std::uint64_t given;
  // Set by the cycle. `taken` is there if `came`.
  bool opened_send, opened_receive, gave, came;
  std::uint64_t taken;
};

/// The same of a block of collectives: one to open, elements that it is given, and those that it gives.
struct GsStreamBlock {
  bool opens, gives, takes;
  std::uint8_t kind, type, op, root;  ///< smi_collective, smi_type, smi_op of config/constants/stream.toml
  std::uint32_t count;                ///< of a rank's part
  std::uint64_t given;
  bool opened, gave, came;
  std::uint64_t taken;
};

/// The same of a rank's barrier: it comes, and goes on.
struct GsStreamBarrier {
  bool comes, leaves;
  bool has_come, has_left;
};

struct GsFabric {
  GsStreamPort* (*port)(int rank, int port);
  GsStreamBlock* (*block)(int rank, int block);
  GsStreamBarrier* (*barrier)(int rank);
  /// A cycle of all boards. False if nothing is under way: the wires carry no packet and no switch has one, and nothing
  /// has happened at a port for longer than a port needs to send what it has. `stirred`: a kernel has used a port since
  /// the last cycle, so it may have something to send.
  bool (*cycle)(bool stirred);
  /// The first rank whose board reports a fault; -1: none.
  int (*faulty)();
};

/// Makes the boards: lines `boards N`, `wire BOARD LINK FAR FARLINK` (one direction), `route BOARD TO ENTRY`,
/// `tree BOARD ROOT ENTRY`, `order BOARD 0 ENTRY`, `way BOARD RANK ENTRY`, in the order of writing. The links are up
/// when it returns; null, if they do not come up.
const GsFabric* gs_fabric_make(const char* script);
}
