// SPDX-License-Identifier: Apache-2.0
/// Threads of one process that simulate together: each has models of its own, and all are in the same cycle.
///
/// They meet once a cycle. What a worker shows to others lies in two places, for cycles of even and of odd numbers:
/// while the others read the one of this cycle, it writes that of the next. None is two cycles ahead of another,
/// because a worker leaves a meeting only when all have come to it. Whatever the order in which they come, they
/// compute the same.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <sched.h>

namespace gossamer::sim {

class WorkerBarrier {
 public:
  explicit WorkerBarrier(unsigned workers) : slots_(new Slot[workers]), workers_(workers) {
    for (unsigned w = 1; w < workers; ++w) threads_.emplace_back([this, w] { serve(w); });
  }
  ~WorkerBarrier() {
    over_ = true;
    call_.fetch_add(1, std::memory_order_release);
    call_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  WorkerBarrier(const WorkerBarrier&) = delete;
  WorkerBarrier& operator=(const WorkerBarrier&) = delete;

  unsigned workers() const { return workers_; }

  /// Has all workers do something, the caller as number 0, and waits for them.
  void work(const std::function<void(unsigned)>& what) {
    if (workers_ == 1) return what(0);
    what_ = &what;
    busy_.store(workers_ - 1, std::memory_order_relaxed);
    call_.fetch_add(1, std::memory_order_release);
    call_.notify_all();
    what(0);
    for (unsigned spins = 0; busy_.load(std::memory_order_acquire);) pause(spins);
  }

  /// A bit of what workers tell each other: all leave after this cycle, whatever is left to do.
  static constexpr uint32_t kLeave = 1U << 31;

  /// Waits for the others at the end of a cycle. `left` is what this worker has left to do; gives what any has, as
  /// bits.
  uint32_t arrive(unsigned worker, uint32_t left) {
    Slot& own = slots_[worker];
    const uint64_t now = own.met.load(std::memory_order_relaxed) + 1;
    own.left[now & 1].store(left, std::memory_order_relaxed);
    own.met.store(now, std::memory_order_release);
    uint32_t all = left;
    for (unsigned w = 0; w < workers_; ++w) {
      if (w == worker) continue;
      for (unsigned spins = 0; slots_[w].met.load(std::memory_order_acquire) < now;) pause(spins);
      all |= slots_[w].left[now & 1].load(std::memory_order_relaxed);
    }
    return all;
  }

 private:
  struct alignas(128) Slot {
    std::atomic<uint64_t> met{0};
    std::atomic<uint32_t> left[2]{};
  };

  /// Short waits spin; a longer one may be for a worker that has no processor.
  static void pause(unsigned& spins) {
    constexpr unsigned kSpins = 4096;
    if (++spins > kSpins) {
      ::sched_yield();
    } else {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

  void serve(unsigned worker) {
    uint64_t seen = 0;
    for (;;) {
      call_.wait(seen, std::memory_order_acquire);
      ++seen;
      if (over_) return;
      (*what_)(worker);
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::unique_ptr<Slot[]> slots_;
  const unsigned workers_;
  std::atomic<uint64_t> call_{0};
  std::atomic<unsigned> busy_{0};
  const std::function<void(unsigned)>* what_ = nullptr;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

/// Chooses whether the crew or its first worker alone simulates the next cycles: what was faster lately. On a machine
/// with other work a worker waits for one that has no processor, cycle by cycle. The cycles are the same in any case.
class WorkerThrottle {
 public:
  struct Plan {
    unsigned workers;
    uint64_t cycles;
  };

  explicit WorkerThrottle(unsigned workers) : workers_(workers) {}

  /// Of the next cycles, `most` at most.
  Plan plan(uint64_t most) {
    if (workers_ == 1) return {1, most};
    together_ = cost_[1] < cost_[0];
    // Now and then the other way is tried, shortly.
    probes_ = ++batches_ % (cost_[0] == 0 || cost_[1] == 0 ? 2 : kAgain) == 0;
    if (probes_) together_ = !together_;
    begun_ = Clock::now();
    return {together_ ? workers_ : 1, std::min<uint64_t>(most, probes_ ? kProbe : kMost)};
  }

  /// Whether the crew has already taken much longer for some cycles than one worker would.
  bool too_slow(uint64_t cycles) const {
    return cycles % kCheck == 0 && seconds() > 2e-3 + 3.0 * cost_[0] * static_cast<double>(cycles);
  }

  void accepted(uint64_t cycles) {
    if (workers_ == 1 || cycles < kCheck) return;
    const double cost = seconds() / static_cast<double>(cycles);
    double& known = cost_[together_];
    known = known == 0 ? cost : 0.75 * known + 0.25 * cost;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kAgain = 32;   ///< batches between two probes
  static constexpr uint64_t kProbe = 256;  ///< cycles of a probe
  static constexpr uint64_t kCheck = 32;   ///< cycles between looks at the clock, and least cycles that tell anything
  static constexpr uint64_t kMost = 4096;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  unsigned workers_;
  double cost_[2] = {0, 0};  ///< seconds a cycle, of one worker and of all
  uint64_t batches_ = 0;
  bool together_ = false, probes_ = false;
  Clock::time_point begun_;
};

}  // namespace gossamer::sim
