// SPDX-License-Identifier: Apache-2.0
/// Worker threads of one process that simulate together: each has its own models, and all are in the same cycle.
///
/// A barrier synchronizes them once a cycle. The outputs of a worker are double-buffered, for even and odd cycles:
/// while the others read those of this cycle, it writes those of the next. No worker is two cycles ahead of another,
/// because a worker leaves the barrier only when all have arrived. The results do not depend on the order of arrival.
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

  /// Runs a function on all workers, with the caller as number 0, and waits for them.
  void work(const std::function<void(unsigned)>& what) {
    if (workers_ == 1) return what(0);
    what_ = &what;
    busy_.store(workers_ - 1, std::memory_order_relaxed);
    call_.fetch_add(1, std::memory_order_release);
    call_.notify_all();
    what(0);
    for (unsigned spins = 0; busy_.load(std::memory_order_acquire);) pause(spins);
  }

  /// Bit of the exchanged work: all workers leave after this cycle, even if work is left.
  static constexpr uint32_t kLeave = 1U << 31;

  /// Arrives at the barrier at the end of a cycle and waits for the others. `left` are bits of this worker's remaining
  /// work; returns the OR over all workers.
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

  /// Short waits spin; a longer one may be for a preempted worker.
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

/// Chooses whether all workers or only the first one simulates the next cycles, depending on which was faster recently:
/// on a loaded machine, workers wait in every cycle for one that is preempted. The simulated cycles are the same.
class WorkerThrottle {
 public:
  struct Plan {
    unsigned workers;
    uint64_t cycles;
  };

  explicit WorkerThrottle(unsigned workers) : workers_(workers) {}

  /// Plan for the next cycles, at most `most`.
  Plan plan(uint64_t most) {
    if (workers_ == 1) return {1, most};
    together_ = cost_[1] < cost_[0];
    // From time to time, a short batch probes the alternative.
    probes_ = ++batches_ % (cost_[0] == 0 || cost_[1] == 0 ? 2 : kAgain) == 0;
    if (probes_) together_ = !together_;
    begun_ = Clock::now();
    return {together_ ? workers_ : 1, std::min<uint64_t>(most, probes_ ? kProbe : kMost)};
  }

  /// Whether all workers have already taken much longer for these cycles than one worker would.
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
  static constexpr uint64_t kCheck = 32;   ///< cycles between checks of the clock; fewer cycles are not conclusive
  static constexpr uint64_t kMost = 4096;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  unsigned workers_;
  double cost_[2] = {0, 0};  ///< seconds per cycle, of one worker and of all
  uint64_t batches_ = 0;
  bool together_ = false, probes_ = false;
  Clock::time_point begun_;
};

}  // namespace gossamer::sim
