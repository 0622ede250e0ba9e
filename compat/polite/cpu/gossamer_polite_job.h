// SPDX-License-Identifier: Apache-2.0
/// The interface between the host's library (host/cpu) and the devices' shared object on the engine cpu.
#pragma once

#include <stdint.h>

namespace gossamer::compat {

/// A graph to run, and callbacks for its results.
struct Job {
  struct Pin {
    const uint64_t* offsets;
    const uint32_t* targets;
    const void* values;
  };
  uint32_t vertices;
  uint32_t pins;
  uint32_t stateBytes;
  uint32_t edgeBytes;
  uint32_t messageBytes;
  const Pin* pin;
  const void* states;
  const uint32_t* threads;  ///< by vertex: the address of its thread
  unsigned workers;         ///< threads of this machine; 0: all
  int* stop;                ///< becomes 1 to end the run early
  bool receives_messages;   ///< the host sends messages to devices

  // Any thread may call these.
  void (*message)(const void* bytes, uint32_t count);        ///< to the host
  /// The host's next message and its destination device; false if there is none. With `wait`, blocks until the host
  /// itself waits.
  bool (*receive_message)(uint32_t* device, void* bytes, uint32_t count, bool wait);
  void (*line)(uint32_t thread, const char* text);           ///< a line that a thread prints, without its end
  void (*failed)(const char* why);                           ///< the run has failed; does not return
};

}  // namespace gossamer::compat

/// Set by the host's library before it calls the devices' main().
extern "C" const gossamer::compat::Job* gossamer_polite_job;
