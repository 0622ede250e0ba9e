// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <string>
#include <system_error>
#include <utility>

namespace gossamer {

namespace {
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spinning takes processor time from other threads, so with more threads than cores no thread spins.
constexpr unsigned spinsOnOwnCore = 4000;

/// The pool of the last run, while no run uses it. Never destroyed: its threads sleep until the process ends.
std::atomic<Pool*> kept{nullptr};

/// The number of forks that led to this process. A forked child has only the thread that forked.
std::atomic<unsigned> forks{0};

unsigned countForks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return forks.load(std::memory_order_relaxed);
}

/// Of the calling thread: on Linux each thread has its own niceness.
int niceness() { return getpriority(PRIO_PROCESS, 0); }
}  // namespace

Pool::Pool(unsigned threads)
    : size_(threads ? threads : 1),
      forks_(countForks()),
      nice_(niceness()),
      ownCores_(size_ <= defaultThreads()),
      shares_(size_),
      positions_(size_),
      faults_(size_) {
  CPU_ZERO(&cpus_);
  ownCores_ &= sched_getaffinity(0, sizeof cpus_, &cpus_) == 0;
  try {
    for (unsigned i = 1; i < size_; ++i) {
      threads_.emplace_back([this, i] { work(i); });
      // The name for top and debuggers. Set here, so that it is visible as soon as the pool exists.
      pthread_setname_np(threads_.back().native_handle(), "gossamer");
    }
  } catch (const std::system_error&) {
    const size_t started = threads_.size() + 1;
    end();
    throw Died("the system allows only " + std::to_string(started) + " of " + std::to_string(size_) +
               " threads; use fewer (--threads), or raise the limit (ulimit -u)");
  }
}

Pool::~Pool() { end(); }

void Pool::end() {
  stop_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Pool::isLikeNew() const {
  cpu_set_t now;
  CPU_ZERO(&now);
  sched_getaffinity(0, sizeof now, &now);
  return forks_ == countForks() && nice_ == niceness() && ownCores_ == (size_ <= defaultThreads()) &&
         CPU_EQUAL(&now, &cpus_);
}

/// Runs a thread's part, and records how it ended if it failed.
void Pool::perform(Task task, const void* context, unsigned thread) {
  Fault fault;
  if (guard::run([&] { task(context, thread); }, positions_[thread], fault)) return;
  faults_[thread] = fault;
  failed_.store(true, std::memory_order_relaxed);
}

/// The scheduler may place a thread on the processor where the caller spins and leave it there for
/// many milliseconds. So the pool's threads may use every processor except that one.
void Pool::keepThreadsOff(int cpu) {
  callerCpu_ = cpu;
  cpu_set_t others = cpus_;
  if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_CLR(cpu, &others);
  if (CPU_COUNT(&others) == 0) return;
  for (std::thread& thread : threads_) pthread_setaffinity_np(thread.native_handle(), sizeof others, &others);
}

void Pool::start(Task task, const void* context) {
  const bool sound = std::exchange(intact_, false);
  task_ = task;
  context_ = context;
  if (const int cpu = sched_getcpu(); ownCores_ && cpu != callerCpu_) keepThreadsOff(cpu);
  gate_.store(0, std::memory_order_release);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  perform(task, context, 0);
  // No work is left to start: wait only for threads that have joined.
  uint32_t inside = gate_.fetch_or(closed, std::memory_order_acq_rel) | closed;
  const unsigned spins = ownCores_ ? spinsOnOwnCore : 1;
  {
    // A jump out of here would leave other threads with dangling pointers, and attribute the fault to a wrong handler.
    const guard::Unguarded outside;
    const uint64_t from = timeline_ && inside != closed ? Timeline::now() : 0;
    for (unsigned spin = 0; inside != closed; ++spin) {
      if (spin < spins) {
        relax();
      } else {
        gate_.wait(inside, std::memory_order_acquire);
      }
      inside = gate_.load(std::memory_order_acquire);
    }
    if (from) timeline_->waited(GS_TIMELINE_WAIT_THREADS, from);
  }
  if (!failed_.exchange(false, std::memory_order_relaxed)) {
    intact_ = sound;
    return;
  }
  Fault first;
  for (Fault& fault : faults_) {
    if (fault && !first) first = fault;
    fault = Fault{};
  }
  guard::raise(first);
}

/// Joins the running task; false if no task is running.
bool Pool::enter() {
  uint32_t inside = gate_.load(std::memory_order_relaxed);
  while (!(inside & closed)) {
    if (gate_.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void Pool::work(unsigned thread) {
  guard::blockSignals();
  const unsigned spins = ownCores_ ? spinsOnOwnCore : 1;
  uint32_t seen = 0;
  for (;;) {
    uint32_t round = 0;
    for (unsigned spin = 0; (round = round_.load(std::memory_order_acquire)) == seen; ++spin) {
      if (spin < spins) {
        relax();
      } else {
        round_.wait(seen, std::memory_order_acquire);
      }
    }
    seen = round;
    if (stop_.load(std::memory_order_relaxed)) return;
    if (!enter()) continue;
    const uint64_t from = timeline_ ? Timeline::now() : 0;
    perform(task_, context_, thread);
    if (timeline_) timeline_->worked(thread, from);
    if (gate_.fetch_sub(1, std::memory_order_acq_rel) == (closed | 1)) gate_.notify_all();
  }
}

PoolLease::PoolLease(unsigned threads) : pool_(nullptr) {
  if (threads > 1) pool_ = kept.exchange(nullptr, std::memory_order_acquire);
  if (pool_ && pool_->size() == threads && pool_->isLikeNew()) return;
  // A pool from before a fork has no threads in this process to join.
  if (pool_ && pool_->forks_ == countForks()) delete pool_;
  pool_ = new Pool(threads);
}

PoolLease::~PoolLease() {
  pool_->stopAt(nullptr);
  pool_->record(nullptr);
  if (pool_->forks_ != countForks()) return;
  Pool* none = nullptr;
  const bool keep = pool_->size() > 1 && pool_->intact_;
  if (!keep || !kept.compare_exchange_strong(none, pool_, std::memory_order_release)) delete pool_;
}

}  // namespace gossamer
