// SPDX-License-Identifier: Apache-2.0
/// What the host's library (host/cpu) and the devices, a shared object, know of each other on the engine cpu.
#pragma once

#include <stdint.h>

namespace gossamer::compat {

/// A graph to run, and whom to tell what comes of it.
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
  const uint32_t* threads;  ///< of each vertex the address of its thread
  unsigned workers;         ///< threads of this machine; 0: all
  int* stop;                ///< becomes 1 where the run is to end early
  bool hears;               ///< the host sends messages to devices

  // All may be called by any thread.
  void (*message)(const void* bytes, uint32_t count);        ///< to the host
  /// The host's next message and the device that it is for; false where there is none. With `wait`, not before the host
  /// waits itself.
  bool (*heard)(uint32_t* device, void* bytes, uint32_t count, bool wait);
  void (*line)(uint32_t thread, const char* text);           ///< what a thread prints, without its end
  void (*failed)(const char* why);                           ///< the run died; does not return
};

}  // namespace gossamer::compat

/// Set by the host's library before it calls the devices' main().
extern "C" const gossamer::compat::Job* gossamer_polite_job;
