// SPDX-License-Identifier: Apache-2.0
/// How a rank waits for others: it yields its processor between polls, and sleeps between them while other processes
/// compete for the processor.
///
/// Without competitors a yield returns after less than a microsecond, so a wait ends as soon as the message arrives.
/// With competitors a yield costs their whole time slices, milliseconds each, and a rank that yields often counts as a
/// process that computes, so that it must also wait for its share of the processor. A rank that sleeps does not: with
/// four busy processes on two processors a handover between two processes took 8.8 ms with yields, and 0.2 ms with
/// sleeps of 50 us. So a yield that takes long starts a period of sleeps, which doubles if the first yields after the
/// last period took long as well.
#pragma once

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>

namespace gossamer::distributed {

/// One thread's knowledge of the competition for its processor.
class Waiting {
 public:
  using Clock = std::chrono::steady_clock;

  /// `sleeps`: false where ranks are threads of a simulation that lets one of them run at a time.
  explicit Waiting(bool sleeps = true) : sleeps_(sleeps) {}

  /// Waits until done(). A long wait sleeps in any case.
  template <typename F>
  void until(F&& done) {
    if (done()) return;
    const Clock::time_point begun = Clock::now();
    while (!done()) pause(begun);
  }

  /// Lets other processes run for a moment, in a wait that began at `begun`.
  void pause(Clock::time_point begun) {
    const Clock::time_point before = Clock::now();
    if (before < sleeps_until_ || (sleeps_ && before - begun > kLongWait)) {
      const timespec nap{0, kNapNanoseconds};
      ::nanosleep(&nap, nullptr);
      return;
    }
    ::sched_yield();
    const Clock::time_point after = Clock::now();
    if (!sleeps_ || after - before < kLongYield) return;
    period_ = before - sleeps_until_ < period_ ? std::min(2 * period_, kLongestPeriod) : kShortestPeriod;
    sleeps_until_ = after + period_;
  }

 private:
  static constexpr long kNapNanoseconds = 50'000;
  static constexpr Clock::duration kLongWait = std::chrono::milliseconds(20);
  static constexpr Clock::duration kLongYield = std::chrono::microseconds(200);
  static constexpr Clock::duration kShortestPeriod = std::chrono::milliseconds(20);
  static constexpr Clock::duration kLongestPeriod = std::chrono::seconds(1);

  bool sleeps_;
  Clock::time_point sleeps_until_{};
  Clock::duration period_ = kShortestPeriod;
};

}  // namespace gossamer::distributed
