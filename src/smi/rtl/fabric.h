// SPDX-License-Identifier: Apache-2.0
/// The emulator's interface to the RTL transport, as a table of functions in a separate library: boards with streaming
/// ports (sim/board/kernels.cc), one per rank, or ports of boards that another process simulates (guest_kernels.cc).
#pragma once

#include <cstdint>

extern "C" {

/// The kernels' side of a port's two halves. The inputs of a cycle are set before it, the outputs by it.
struct GsStreamPort {
  // Inputs: opens of channels, an element to push, space for an element to pop.
  bool opens_send, opens_receive, push_valid, pop_ready;
  std::uint8_t send_type, send_rank, receive_type, receive_rank;
  std::uint32_t send_count, receive_count;
  std::uint64_t push_data;
  // Outputs. `pop_data` is valid if `popped`.
  bool opened_send, opened_receive, pushed, popped;
  std::uint64_t pop_data;
};

/// The same for a block of collectives.
struct GsStreamBlock {
  bool opens, push_valid, pop_ready;
  std::uint8_t kind, type, op, root;  ///< smi_collective, smi_type, smi_op of config/constants/stream.toml
  std::uint32_t count;                ///< elements of a rank's block
  std::uint64_t push_data;
  bool opened, pushed, popped;
  std::uint64_t pop_data;
};

/// The same for a rank's barrier: it enters, and leaves once released.
struct GsStreamBarrier {
  bool enters, leaves;
  bool has_entered, has_left;
};

/// An end of a cable, and its counters since the boards' reset.
struct GsLink {
  int board, link;
  bool up;
  std::uint32_t counters[12];  ///< in the order of link_counter (config/constants/fabric.toml), which `up` completes
};

struct GsFabric {
  GsStreamPort* (*port)(int rank, int port);
  GsStreamBlock* (*block)(int rank, int block);
  GsStreamBarrier* (*barrier)(int rank);
  /// One cycle of all boards. False if the boards are quiescent: wires and switches hold no packet, and no port has had
  /// activity for longer than a port needs to send its contents. `active`: a kernel has used a port since the last
  /// cycle, so the port may have something to send.
  bool (*cycle)(bool active);
  /// The first rank whose board reports a fault; -1: none.
  int (*faulty)();
  /// All ends of cables now; their number. Null if another process simulates the boards.
  const GsLink* (*links)(int* count);
};

/// Creates the boards, or connects to them, from lines that the library describes. Returns when the ports can be used;
/// null, after a line on stderr, if they cannot.
const GsFabric* gs_fabric_make(const char* script);
}
