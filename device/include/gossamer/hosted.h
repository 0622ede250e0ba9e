// SPDX-License-Identifier: Apache-2.0
/// Participation of a host program in the barriers of its vertices: the softswitch's side.
//
// Keys with the highest bit set belong to the host; no memory address has this bit set.
//
//   host -> thread of a vertex   HostToVertex + offset of its state, message: as along an edge with the value E{}
//   gate -> host                 HostAsked: the threads are quiescent; may they continue?
//   host -> gate                 HostAnswer, HostSpoke | HostClosed
//   host -> each thread          HostStop: the run is aborted
//   thread -> host               HostWrongPin or HostWrongEdge, pin or edge, number of the vertex in the thread,
//                                address of the thread
//
//   quiescent | words 0, 1 | words 2, 3 ... | the gate queries the host, and enters idle only after the answer | step
//                                           ^-- repeated while the host has sent anything in between       --|
//
// Floating-point sums need additional barriers for their exponents first (thread_aggregates.h).
//
// The gate is the first thread of the first board. Idle detection includes the messages of the host's port. So all
// messages of the host before its answer have taken effect by the barrier after the answer, and all messages of
// vertices to the host before the query have reached the host's port before the query.
#pragma once

#include <gossamer/thread_aggregates.h>
#include <stddef.h>
#include <tinsel.h>

namespace gossamer {

enum HostKey : uint32_t {
  HostAsked = 1,
  HostWrongPin = 3,
  HostWrongEdge = 5,
  HostToVertex = 0x80000000,
  HostStop = 0xFFFFFFFE,
  HostAnswer = 0xFFFFFFFF
};
enum HostBits : uint32_t {
  HostSpoke = 1,   // it has sent messages since its last answer
  HostClosed = 2,  // it sends no more, so it need not be queried again
};

/// The barriers between two steps with a host.
template <typename A>
class Hosted {
  static constexpr size_t words = aggregates::count<A>;
  static constexpr size_t exponents = exponentBarriers<A>;
  static constexpr size_t barriers = exponents + (words ? (words + 1) / 2 : 1);

 public:
  int64_t given[words + 1];  // this thread's values of the last step; at least one element

  Hosted() { aggregates::save(A{}, given); }

  /// The host's answer, at the gate.
  void answer(uint32_t bits) {
    answer_ = bits;
    answered_ = true;
  }

  /// Like tinselIdle, once all words are in `totals` and the host agrees. Returns 0 if a message may have arrived:
  /// receive, and call again.
  __attribute__((noinline)) int idle(bool active, int64_t* totals, uint32_t* slot) {
    const bool gate = tinselId() == 0;
    if (stage_ < barriers) {
      // A thread that a message has woken calls again; it has contributed already.
      if (words > 0 && !begun_) give(totals);
    } else if (gate && !begun_) {
      tinselWaitUntil(TINSEL_CAN_SEND);
      slot[0] = HostAsked;
      GS_CSR_WRITE(GS_CSR_SEND_DEST, tinselHostId());
    } else if (gate && !answered_) {
      tinselWaitUntil(TINSEL_CAN_RECV);
      return 0;
    } else if (gate && !sent_) {
      gsReduceOr(0, answer_);
      sent_ = true;
    }
    const bool querying = stage_ == barriers && gate && !begun_;
    begun_ = true;
    if (querying) return 0;
    const int idle = tinselIdle(stage_ == 0 && !active);
    if (!idle) return 0;
    begun_ = answered_ = sent_ = false;
    if (stage_ == 0) verdict_ = idle;
    if (stage_ < barriers) {
      if (words > 0) take(totals);
      ++stage_;
      if (stage_ < barriers || !closed_) return 0;
    } else {
      const auto answer_bits = static_cast<uint32_t>(gsReduced(0));
      closed_ = answer_bits & HostClosed;
      if (answer_bits & HostSpoke) return 0;
    }
    stage_ = 0;
    return verdict_;
  }

 private:
  void give(const int64_t* totals) const {
    if (stage_ < exponents) {
      giveExponents<A>(given, stage_);
    } else {
      contributeWords<A>(given, 2 * (stage_ - exponents), totals);
    }
  }
  void take(int64_t* totals) const {
    if (stage_ < exponents) {
      takeExponents<A>(totals, stage_);
    } else {
      readWords<A>(totals, 2 * (stage_ - exponents), totals);
    }
  }

  size_t stage_ = 0;  // barrier of exponents, then of pairs of words, then the query
  int verdict_ = 0;   // of the first barrier
  uint32_t answer_ = 0;
  bool begun_ = false;
  bool answered_ = false;
  bool sent_ = false;
  bool closed_ = false;
};

/// Ends a run that the host has aborted: receives all remaining messages, until all threads are here and nothing is in
/// flight. A thread that has not received the stop yet may enter a regular barrier meanwhile; it receives it soon.
inline void breakOff() {
  do {
    while (tinselCanRecv()) tinselFree(tinselRecv());
  } while (tinselIdle(1) != 2);
}

}  // namespace gossamer
