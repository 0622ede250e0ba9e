// SPDX-License-Identifier: Apache-2.0
/// How a host program waits for its boards: what it asks the simulator (session.h), and the answer.
#pragma once

#include <cstdint>

namespace gossamer::sim {

/// What ends a wait, as bits.
enum Wanted : uint32_t { kMessages = 1, kBytes = 2, kSpace = 4 };

/// Why a wait ended.
enum class Woke : uint32_t {
  Event = 0,     ///< something that was wanted is there
  Over = 1,      ///< its cycles have passed
  Limit = 2,     ///< the most cycles of the run have passed
  Deadlock = 3,  ///< all threads that run wait, and nothing is on its way
  Stuck = 4,     ///< no instruction and no output for long
  AllEnded = 5,  ///< no thread runs, and nothing is on its way
  Stopped = 6,   ///< the host program has gone
  Trap = 7,      ///< a thread trapped, or an access of an accelerator failed
};

struct Wait {
  uint32_t wanted = 0;
  uint32_t poll = 0;      ///< 1: the host does not depend on the event
  uint64_t messages = 0;  ///< messages and
  uint64_t bytes = 0;     ///< bytes that are wanted, in all since the session began
  uint64_t space = 0;      ///< flits that may still wait to enter
  uint64_t cycles = 0;    ///< most cycles; 0: no end
  uint64_t limit = 0;     ///< cycle in which the run must be over; 0: none
  uint64_t watchdog = 0;  ///< cycles without an instruction or output; 0: any number
};
static_assert(sizeof(Wait) == 56);

/// The payload of a record Woken, before its Stills, one for each thread that has not ended where nothing can go on.
struct Woken {
  Woke reason = Woke::Event;
  uint32_t count = 0;
  uint64_t queued = 0;        ///< flits that wait to enter
  uint64_t instructions = 0;  ///< since the session began
};
static_assert(sizeof(Woken) == 24);

}  // namespace gossamer::sim
