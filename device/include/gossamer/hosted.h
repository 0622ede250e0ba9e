// SPDX-License-Identifier: Apache-2.0
/// A host of its own takes part in the barriers of its vertices: the softswitch's end of that.
//
// Keys with their highest bit set are the host's; no place in memory has such an address.
//
//   host -> thread of a vertex   HostToVertex + offset of its state, message: as along an edge with the value E{}
//   gate -> host                 HostAsked: all is still; may we go on?
//   host -> gate                 HostAnswer, HostSpoke | HostClosed
//   thread -> host               HostWrongPin or HostWrongEdge, pin or edge, number of the vertex in the thread,
//                                address of the thread
//
//   all still | words 0, 1 | words 2, 3 ... | the gate asks, and does not wait for idleness before the answer | step
//                                           ^-- again, as long as the host has sent anything in between  --|
//
// Where there are sums of floating-point numbers, barriers for their exponents come first (thread_aggregates.h).
//
// The gate is the first thread of the first board. The hardware counts the messages of the host's port. So whatever
// the host sent before its answer has had its effects when the barrier behind the answer comes, and whatever vertices
// sent to the host before the question is at the host's port before it.
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
  HostAnswer = 0xFFFFFFFF
};
enum HostBits : uint32_t {
  HostSpoke = 1,   // it has sent messages since its last answer
  HostClosed = 2,  // it sends no more, and need not be asked again
};

/// The barriers between two steps where there is a host.
template <typename A>
class Hosted {
  static constexpr size_t words = aggregates::count<A>;
  static constexpr size_t exponents = exponentBarriers<A>;
  static constexpr size_t barriers = exponents + (words ? (words + 1) / 2 : 1);

 public:
  int64_t given[words + 1];  // what this thread's last step came to; no array has no element

  Hosted() { aggregates::save(A{}, given); }

  /// The host's answer, at the gate.
  void answer(uint32_t bits) {
    answer_ = bits;
    answered_ = true;
  }

  /// As tinselIdle once all words are in `totals` and the host agrees. 0 where a message may be there: look, and call
  /// again.
  __attribute__((noinline)) int idle(bool active, int64_t* totals, uint32_t* slot) {
    const bool gate = tinselId() == 0;
    if (stage_ < barriers) {
      // Whoever is woken by a message comes here again, and has given already.
      if (words > 0 && !begun_) give(totals);
    } else if (gate && !begun_) {
      tinselWaitUntil(TINSEL_CAN_SEND);
      slot[0] = HostAsked;
      GS_CSR_WRITE(GS_CSR_SEND_DEST, tinselHostId());
    } else if (gate && !answered_) {
      tinselWaitUntil(TINSEL_CAN_RECV);
      return 0;
    } else if (gate && !told_) {
      gsReduceOr(0, answer_);
      told_ = true;
    }
    const bool asks = stage_ == barriers && gate && !begun_;
    begun_ = true;
    if (asks) return 0;
    const int idle = tinselIdle(stage_ == 0 && !active);
    if (!idle) return 0;
    begun_ = answered_ = told_ = false;
    if (stage_ == 0) verdict_ = idle;
    if (stage_ < barriers) {
      if (words > 0) take(totals);
      ++stage_;
      if (stage_ < barriers || !closed_) return 0;
    } else {
      const auto said = static_cast<uint32_t>(gsReduced(0));
      closed_ = said & HostClosed;
      if (said & HostSpoke) return 0;
    }
    stage_ = 0;
    return verdict_;
  }

 private:
  void give(const int64_t* totals) const {
    if (stage_ < exponents) {
      giveExponents<A>(given, stage_);
    } else {
      giveWords<A>(given, 2 * (stage_ - exponents), totals);
    }
  }
  void take(int64_t* totals) const {
    if (stage_ < exponents) {
      takeExponents<A>(totals, stage_);
    } else {
      takeWords<A>(totals, 2 * (stage_ - exponents), totals);
    }
  }

  size_t stage_ = 0;  // barrier of exponents, or of a pair of words, or behind them the question
  int verdict_ = 0;   // of the first barrier
  uint32_t answer_ = 0;
  bool begun_ = false;
  bool answered_ = false;
  bool told_ = false;
  bool closed_ = false;
};

}  // namespace gossamer
