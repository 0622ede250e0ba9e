// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/pool.h"

#include <sched.h>

namespace gossamer {

namespace {
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spinning costs whoever wants the core: with more threads than cores, none.
constexpr unsigned spinsOnOwnCore = 4000;
}  // namespace

unsigned defaultThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    const int count = CPU_COUNT(&set);
    if (count > 0) return static_cast<unsigned>(count);
  }
  const unsigned count = std::thread::hardware_concurrency();
  return count ? count : 1;
}

Pool::Pool(unsigned threads)
    : size_(threads ? threads : 1), spins_(size_ <= defaultThreads() ? spinsOnOwnCore : 1), shares_(size_) {
  for (unsigned i = 1; i < size_; ++i) threads_.emplace_back([this, i] { work(i); });
}

Pool::~Pool() {
  stop_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Pool::start(Task task, void* context) {
  task_ = task;
  context_ = context;
  busy_.store(size_ - 1, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  task(context, 0);
  for (unsigned spin = 0;; ++spin) {
    const uint32_t left = busy_.load(std::memory_order_acquire);
    if (left == 0) return;
    if (spin < spins_) {
      relax();
    } else {
      busy_.wait(left, std::memory_order_acquire);
    }
  }
}

void Pool::work(unsigned thread) {
  uint32_t seen = 0;
  for (;;) {
    for (unsigned spin = 0; round_.load(std::memory_order_acquire) == seen; ++spin) {
      if (spin < spins_) {
        relax();
      } else {
        round_.wait(seen, std::memory_order_acquire);
      }
    }
    ++seen;
    if (stop_.load(std::memory_order_relaxed)) return;
    task_(context_, thread);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
  }
}

}  // namespace gossamer
