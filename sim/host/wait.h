// SPDX-License-Identifier: Apache-2.0
/// A host program's wait for its boards: the request to the simulator (session.h), and its answer.
#pragma once

#include <cstdint>

namespace gossamer::sim {

/// Events that end a wait, as bits.
enum Wanted : uint32_t { kMessages = 1, kBytes = 2, kSpace = 4 };

/// Why a wait ended.
enum class Woke : uint32_t {
  Event = 0,     ///< a wanted event has occurred
  Over = 1,      ///< the wait's cycles have passed
  Limit = 2,     ///< the run has reached its limit of cycles
  Deadlock = 3,  ///< all running threads wait, and nothing is in flight
  Stuck = 4,     ///< no instruction and no output for a long time
  AllEnded = 5,  ///< no thread runs, and nothing is in flight
  Stopped = 6,   ///< the host program has ended
  Trap = 7,      ///< a thread trapped, or an access of an accelerator failed
};

struct Wait {
  uint32_t wanted = 0;
  uint32_t poll = 0;      ///< 1: the host does not depend on the event
  uint64_t messages = 0;  ///< wanted number of messages, and
  uint64_t bytes = 0;     ///< of bytes, since the session began
  uint64_t space = 0;      ///< wanted: at most this many flits wait to enter
  uint64_t cycles = 0;    ///< most cycles; 0: no limit
  uint64_t limit = 0;     ///< cycle in which the run must have ended; 0: none
  uint64_t watchdog = 0;  ///< limit of cycles without an instruction or output; 0: none
};
static_assert(sizeof(Wait) == 56);

/// The payload of a record Woken. In a deadlock, one ActiveThread for each thread that has not ended follows.
struct Woken {
  Woke reason = Woke::Event;
  uint32_t count = 0;
  uint64_t queued = 0;        ///< flits that wait to enter
  uint64_t instructions = 0;  ///< since the session began
};
static_assert(sizeof(Woken) == 24);

/// The payload of a record Active: of some boards. One ActiveThread for each thread that has not ended follows.
struct Active {
  uint64_t issued = 0;    ///< instructions since reset
  uint64_t progress = 0;  ///< last cycle in which a debug bus carried a byte
  uint32_t count = 0;
  uint32_t waiting = 0;  ///< 1: there are such threads, and all wait for messages or in the idle barrier
};
static_assert(sizeof(Active) == 24);

}  // namespace gossamer::sim
