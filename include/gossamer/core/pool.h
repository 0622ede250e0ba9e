// SPDX-License-Identifier: Apache-2.0
/// A few threads that run one function together, again and again.
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

namespace gossamer {

/// `pool.run(f)` calls f(0) .. f(size() - 1), on the calling thread and those of
/// the pool, and returns when all have. Who is late is not waited for: the others
/// do his part, so that a busy machine costs no more than the help that did not
/// come. Waiting threads spin for some microseconds, then sleep. What `f` throws on any thread is thrown here, when
/// all have ended; so is a signal that guard.h catches (the others do the rest of the work first).
class Pool {
 public:
  /// Throws Died where the system does not give so many threads.
  explicit Pool(unsigned threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned size() const { return size_; }

  /// Whether threads that the caller would start now may do what these may: use the same processors, as readily.
  bool isLikeNew() const;

  /// Names where a thread writes what it is doing, for those who want to know where it died; null: nowhere.
  void watch(unsigned thread, const Position* position) { positions_[thread] = position; }

  template <typename F>
  void run(F&& f) {
    chunks(size_, 1, [&](size_t part, size_t, unsigned) { f(static_cast<unsigned>(part)); });
  }

  /// Where somebody says that a run is to stop, by any number but 0: chunks() then hands out no more. Null: nowhere.
  void stopAt(const std::atomic<int>* told) { told_ = told; }
  bool stopped() const { return told_ && told_->load(std::memory_order_relaxed); }

  /// Calls f(begin, end, thread) over chunks of [0, count). Every `begin` is a
  /// multiple of `grain`. Each thread begins with a share of its own, the same
  /// in every call, so that what it wrote last time is in its cache; who is
  /// through first helps the others. What is left out when the run is to stop
  /// leaves all that it computes in pieces: the caller must ask, too.
  template <typename F>
  void chunks(size_t count, size_t grain, F&& f) {
    if (size_ == 1 || count <= grain) {
      // In pieces too, so that whoever waits for the end does not wait for all of it.
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
  void keepOff(int cpu);
  void perform(Task task, const void* context, unsigned thread);
  void end();

  struct alignas(64) Share {
    std::atomic<size_t> next{0};
  };

  static constexpr size_t mostAlone = 4096;

  /// How many threads of the pool are at the task, and whether more may join.
  static constexpr uint32_t closed = uint32_t{1} << 31;

  unsigned size_;
  unsigned forks_;  // of this process, before the threads were started
  int nice_;        // what they were given
  bool roomy_;      // there is a CPU for each thread
  cpu_set_t cpus_;  // those that the threads may use
  int own_ = -1;    // and the one that is kept for the caller
  std::vector<Share> shares_;
  std::vector<const Position*> positions_;
  std::vector<Fault> faults_;  // of the task that ends, by thread
  std::atomic<bool> failed_{false};
  Task task_ = nullptr;
  const void* context_ = nullptr;
  const std::atomic<int>* told_ = nullptr;
  alignas(64) std::atomic<uint32_t> round_{0};
  alignas(64) std::atomic<uint32_t> gate_{closed};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
  bool sound_ = true;  // nothing on them was broken off

  friend class PoolLease;
};

/// A pool for one run. Starting threads takes longer than a short run, so the process keeps the pool of its last run,
/// and the next that wants as many threads has it. Runs at the same time have pools of their own, as have those of a
/// child process, and those after a run that was broken off or after a change of what the caller's threads may use.
class PoolLease {
 public:
  /// Throws Died where the system does not give so many threads.
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
