// SPDX-License-Identifier: Apache-2.0
/// What the emulator asks of MPI, as a table of functions in a library of its own: the emulator is built without MPI,
/// and the library with that of the machines at hand.
#pragma once

#include <cstdint>

extern "C" {

struct GsTransport {
  int number, count;  ///< of this process, and of all
  /// Begins to send; the bytes stay as they are until `sent` says so. One message at a time to each process.
  void (*send)(int to, const void* bytes, std::uint64_t size);
  /// Whether the last message to a process is on its way, so that its bytes may change.
  bool (*sent)(int to);
  /// Hands over one message that has come; false if none has. Those of one process come in order.
  bool (*receive)(void* context, void (*take)(void* context, int from, const std::uint8_t* bytes, std::uint64_t size));
  /// Called by all at the end.
  void (*leave)();
};

/// Joins the other processes; null if MPI does not start.
const GsTransport* gs_transport_join();
}
