// SPDX-License-Identifier: Apache-2.0
/// The emulator's interface to MPI, as a table of functions in a separate library: the emulator is built without MPI,
/// the library with the installed MPI implementation.
#pragma once

#include <cstdint>

extern "C" {

struct GsTransport {
  int number, count;  ///< number of this process, number of processes
  /// Starts a send. The bytes must not change until `sent` returns true. At most one message at a time per process.
  void (*send)(int to, const void* bytes, std::uint64_t size);
  /// Whether the last message to a process has left its buffer.
  bool (*sent)(int to);
  /// Passes on one received message; false if none has arrived. Messages of one process arrive in order.
  bool (*receive)(void* context, void (*take)(void* context, int from, const std::uint8_t* bytes, std::uint64_t size));
  /// Called by all processes at the end.
  void (*leave)();
};

/// Joins the other processes; null if MPI does not start.
const GsTransport* gs_transport_join();
}
