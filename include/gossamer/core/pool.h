// SPDX-License-Identifier: Apache-2.0
/// A pool of threads that run one function together, repeatedly.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "gossamer/core/cpus.h"
#include "gossamer/core/guard.h"
#include "gossamer/core/timeline.h"

namespace gossamer {

/// `pool.run(f)` calls f(0) .. f(size() - 1) on the calling thread and those of
/// the pool, and returns when all calls have. It does not wait for a thread that starts
/// late: the other threads take over its share, so a busy machine only loses that thread's
/// help. Idle threads spin for some microseconds, then sleep. run() rethrows an exception
/// of `f` when all threads have ended, and likewise reports a signal that guard.h catches
/// (the other threads first complete the work).
class Pool {
 public:
  /// Throws Died if the system cannot create that many threads.
  explicit Pool(unsigned threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned size() const { return size_; }

  /// Whether new threads of the caller would have the same processors and the same priority as the pool's.
  bool isLikeNew() const;

  /// Sets where a thread stores the vertex and handler that it runs, for messages about faults; null: nowhere.
  void watch(unsigned thread, const Position* position) { positions_[thread] = position; }

  /// Records the work of the threads until the next call. Null: records nothing.
  void record(Timeline* timeline) { timeline_ = timeline; }

  template <typename F>
  void run(F&& f) {
    chunks(size_, 1, [&](size_t part, size_t, unsigned) { f(static_cast<unsigned>(part)); });
  }

  /// Sets the flag that stops a run by any value but 0: chunks() then starts no more chunks. Null: no flag.
  void stopAt(const std::atomic<int>* flag) { stopFlag_ = flag; }
  bool stopped() const { return stopFlag_ && stopFlag_->load(std::memory_order_relaxed); }

  /// Calls f(begin, end, thread) over chunks of [0, count). Every `begin` is a
  /// multiple of `grain`. Each thread starts with its own share, the same in every
  /// call, so that its earlier data is in its cache; a thread that has finished its
  /// share helps the others. After a stop the remaining chunks are skipped, and the
  /// results are incomplete: the caller must check stopped().
  template <typename F>
  void chunks(size_t count, size_t grain, F&& f) {
    if (size_ == 1 || count <= grain) {
      // In pieces as well, so that a stop takes effect before the end.
      const size_t piece = grain < mostAlone ? mostAlone / grain * grain : grain;
      for (size_t begin = 0; begin < count && !stopped(); begin += piece) {
        f(begin, count - begin < piece ? count : begin + piece, 0u);
      }
      return;
    }
    const size_t all = (count + grain - 1) / grain;
    const auto share = [&](unsigned thread) { return all * thread / size_; };
    for (unsigned t = 0; t < size_; ++t) shares_[t].next.store(share(t), std::memory_order_relaxed);
    const auto task = [&](unsigned thread) {
      for (unsigned k = 0; k < size_; ++k) {
        const unsigned of = (thread + k) % size_;
        const size_t last = share(of + 1);
        for (;;) {
          const size_t chunk = shares_[of].next.fetch_add(1, std::memory_order_relaxed);
          if (chunk >= last || stopped()) break;
          f(chunk * grain, chunk + 1 == all ? count : (chunk + 1) * grain, thread);
        }
      }
    };
    start([](const void* context, unsigned thread) { (*static_cast<decltype(&task)>(context))(thread); }, &task);
  }

 private:
  using Task = void (*)(const void*, unsigned);
  void start(Task task, const void* context);
  void work(unsigned thread);
  bool enter();
  void keepThreadsOff(int cpu);
  void perform(Task task, const void* context, unsigned thread);
  void end();

  struct alignas(64) Share {
    std::atomic<size_t> next{0};
  };

  static constexpr size_t mostAlone = 4096;

  /// Number of threads at work on the task, and a flag: no more threads may join.
  static constexpr uint32_t closed = uint32_t{1} << 31;

  unsigned size_;
  unsigned forks_;      // fork count of this process when the threads started
  int nice_;            // niceness of the threads
  bool ownCores_;       // there is a processor for each thread
  cpu_set_t cpus_;      // the processors that the threads may use
  int callerCpu_ = -1;  // the processor reserved for the caller
  std::vector<Share> shares_;
  std::vector<const Position*> positions_;
  std::vector<Fault> faults_;  // of the last task, by thread
  std::atomic<bool> failed_{false};
  Task task_ = nullptr;
  const void* context_ = nullptr;
  const std::atomic<int>* stopFlag_ = nullptr;
  Timeline* timeline_ = nullptr;
  alignas(64) std::atomic<uint32_t> round_{0};
  alignas(64) std::atomic<uint32_t> gate_{closed};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
  bool intact_ = true;  // no task on its threads was aborted

  friend class PoolLease;
};

/// A pool for one run. Starting threads takes longer than a short run, so the process retains the pool of its last run
/// for the next run with the same number of threads. Concurrent runs get separate pools. A new pool is also made in a
/// child process, after an aborted run, and after the processors or the niceness of the caller have changed.
class PoolLease {
 public:
  /// Throws Died if the system cannot create that many threads.
  explicit PoolLease(unsigned threads);
  ~PoolLease();
  PoolLease(const PoolLease&) = delete;
  PoolLease& operator=(const PoolLease&) = delete;

  Pool& operator*() const { return *pool_; }
  Pool* operator->() const { return pool_; }

 private:
  Pool* pool_;
};

}  // namespace gossamer
