// SPDX-License-Identifier: Apache-2.0
/// The memory and the threads below every engine: Array, Bitmap, Pool.
#include "check.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gossamer/core/cpus.h"
#include "gossamer/core/guard.h"
#include "gossamer/core/mapped_file.h"
#include "gossamer/core/memory.h"
#include "gossamer/core/pool.h"

using gossamer::Array;
using gossamer::Bitmap;
using gossamer::Pool;
using gossamer::PoolLease;

GS_TEST(array_starts_zeroed_and_aligned) {
  // Around the size from which memory is on huge pages.
  const size_t huge = size_t{1} << 20;
  for (const size_t bytes : std::vector<size_t>{0, 1, 63, 64, huge - 1, huge, huge + 1, 5 * huge + 17}) {
    Array<uint8_t> a(bytes);
    CHECK_EQ(a.size(), bytes);
    CHECK_EQ(a.empty(), bytes == 0);
    CHECK_EQ(reinterpret_cast<uintptr_t>(a.data()) % 64, 0u);
    size_t set = 0;
    for (size_t i = 0; i < bytes; ++i) set += a[i] != 0;
    CHECK_EQ(set, 0u);
    // Every byte can be written, including the last.
    for (size_t i = 0; i < bytes; ++i) a[i] = static_cast<uint8_t>(i * 7 + 1);
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; ++i) wrong += a[i] != static_cast<uint8_t>(i * 7 + 1);
    CHECK_EQ(wrong, 0u);
  }
}

GS_TEST(reused_memory_is_zeroed) {
  for (int round = 0; round < 8; ++round) {
    Array<uint32_t> a(1000);
    for (size_t i = 0; i < a.size(); ++i) {
      CHECK_EQ(a[i], 0u);
      a[i] = 0xffffffff;
    }
  }
}

GS_TEST(array_can_be_moved) {
  Array<uint32_t> a(10);
  a[3] = 7;
  const uint32_t* where = a.data();
  Array<uint32_t> b(std::move(a));
  CHECK(a.empty());
  CHECK(b.data() == where);
  CHECK_EQ(b[3], 7u);
  Array<uint32_t> c(400000);
  c[399999] = 9;
  c = std::move(b);
  CHECK_EQ(c.size(), 10u);
  CHECK_EQ(c[3], 7u);
  Array<uint32_t> none;
  c = std::move(none);
  CHECK(c.empty());
}

GS_TEST(oversized_array_throws_bad_alloc) { CHECK_THROWS(std::bad_alloc, Array<uint8_t>(size_t{1} << 62)); }

GS_TEST(bitmap_behaves_as_a_vector_of_bools) {
  std::mt19937_64 random(check::seed);
  for (const size_t bits : std::vector<size_t>{0, 1, 63, 64, 65, 1000, 4096}) {
    Bitmap map(bits);
    std::vector<bool> expected(bits);
    CHECK_EQ(map.words(), (bits + 63) / 64);
    for (int k = 0; bits && k < 5000; ++k) {
      const size_t i = random() % bits;
      if (random() % 2) {
        map.set(i);
        expected[i] = true;
      } else {
        map.clear(i);
        expected[i] = false;
      }
    }
    size_t wrong = 0;
    for (size_t i = 0; i < bits; ++i) {
      wrong += map.test(i) != expected[i];
      wrong += ((map.word(i / 64) >> (i % 64)) & 1) != static_cast<uint64_t>(expected[i]);
    }
    CHECK_EQ(wrong, 0u);
  }
}

GS_TEST(pool_runs_each_thread_once) {
  for (const unsigned size : {0u, 1u, 2u, 3u, 8u}) {
    Pool pool(size);
    CHECK_EQ(pool.size(), size ? size : 1u);
    std::vector<uint64_t> calls(pool.size());
    const uint64_t rounds = check::pick<uint64_t>(300, 2000, 20000);
    for (uint64_t round = 1; round <= rounds; ++round) {
      pool.run([&](unsigned thread) { ++calls[thread]; });
      // All writes of the threads are visible, and none is still running.
      for (const uint64_t count : calls) CHECK_EQ(count, round);
    }
  }
}

GS_TEST(sleeping_pool_wakes) {
  Pool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> calls{0};
    pool.run([&](unsigned) { ++calls; });
    CHECK_EQ(calls.load(), 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Pool unused(4);  // must end without ever having run
}

namespace {

/// The threads of a pool by the system's numbers: each waits until all have arrived.
std::set<pid_t> threadsOf(Pool& pool) {
  std::vector<pid_t> all(pool.size());
  std::atomic<unsigned> come{0};
  pool.run([&](unsigned part) {
    all[part] = gettid();
    for (++come; come < pool.size();) std::this_thread::yield();
  });
  return {all.begin(), all.end()};
}

std::set<pid_t> threadsOfLease(unsigned threads) {
  const PoolLease pool(threads);
  return threadsOf(*pool);
}

}  // namespace

GS_TEST(pool_is_reused_by_the_next_run) {
  const std::set<pid_t> first = threadsOfLease(3);
  CHECK_EQ(first.size(), 3u);
  CHECK(threadsOfLease(3) == first);
  // A run with one thread uses no pool, and does not replace the retained one.
  CHECK(threadsOfLease(1) == std::set<pid_t>{gettid()});
  CHECK(threadsOfLease(3) == first);
  // Pools of other sizes are separate, as are concurrent ones.
  CHECK_EQ(threadsOfLease(2).size(), 2u);
  const PoolLease one(2);
  const PoolLease other(2);
  std::set<pid_t> both = threadsOf(*one);
  both.merge(threadsOf(*other));
  CHECK_EQ(both.size(), 3u);
}

GS_TEST(concurrent_leases_get_separate_pools) {
  std::vector<std::thread> users;
  std::atomic<size_t> wrong{0};
  for (unsigned user = 0; user < 4; ++user) {
    users.emplace_back([&wrong, user] {
      for (int round = 0; round < check::pick(20, 60, 600); ++round) {
        const unsigned size = 1 + (user + static_cast<unsigned>(round)) % 3;
        const PoolLease pool(size);
        std::atomic<unsigned> calls{0};
        pool->run([&](unsigned) { ++calls; });
        wrong += calls != size;
      }
    });
  }
  for (std::thread& user : users) user.join();
  CHECK_EQ(wrong.load(), 0u);
}

GS_TEST(pool_of_an_aborted_run_is_not_reused) {
  const std::set<pid_t> first = threadsOfLease(3);
  {
    const PoolLease pool(3);
    CHECK_THROWS(std::runtime_error, pool->run([](unsigned part) {
      if (part == 2) throw std::runtime_error("on purpose");
    }));
    pool->run([](unsigned) {});  // a later success does not make it reusable
  }
  std::set<pid_t> both = threadsOfLease(3);
  both.merge(std::set<pid_t>(first));
  CHECK_EQ(both.size(), 5u);
}

GS_TEST(pool_follows_its_callers_affinity_and_niceness) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  const std::set<pid_t> first = threadsOfLease(2);
  sched_setaffinity(0, sizeof one, &one);
  std::set<pid_t> both = threadsOfLease(2);
  const bool changed = CPU_COUNT(&before) > 1;
  sched_setaffinity(0, sizeof before, &before);
  both.merge(std::set<pid_t>(first));
  CHECK_EQ(both.size(), changed ? 3u : 2u);
}

GS_TEST(pool_threads_block_program_signals) {
  const PoolLease pool(3);
  std::atomic<int> wrong{0};
  std::atomic<unsigned> come{0};
  const pthread_t caller = pthread_self();
  pool->run([&](unsigned) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    const bool mine = pthread_equal(pthread_self(), caller);
    for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) wrong += sigismember(&mask, number) != !mine;
    for (const int number : {SIGSEGV, SIGABRT, SIGRTMAX - 2}) wrong += sigismember(&mask, number) != 0;
    for (++come; come < 3;) std::this_thread::yield();
  });
  CHECK_EQ(wrong.load(), 0);
}

GS_TEST(late_interruption_has_no_effect) {
  // Threads of a retained pool may receive the signal after the run has ended.
  for (int round = 0; round < check::pick(50, 300, 3000); ++round) {
    const gossamer::guard::Signals signals;
    const PoolLease pool(3);
    pool->run([](unsigned) {});
    gossamer::guard::interrupt();
  }
}

GS_TEST(chunks_cover_the_range_once) {
  std::mt19937_64 random(check::seed);
  for (const unsigned size : {1u, 2u, 3u, 8u}) {
    Pool pool(size);
    for (int round = 0; round < check::pick(40, 100, 400); ++round) {
      const size_t count = round < 4 ? static_cast<size_t>(round) : random() % 3000;
      const size_t grain = 1 + random() % 200;
      std::vector<uint8_t> seen(count);
      std::atomic<size_t> bad{0};
      pool.chunks(count, grain, [&](size_t begin, size_t end, unsigned thread) {
        if (begin % grain || begin >= end || end > count || thread >= size) ++bad;
        for (size_t i = begin; i < end; ++i) ++seen[i];
      });
      CHECK_EQ(bad.load(), 0u);
      size_t wrong = 0;
      for (const uint8_t times : seen) wrong += times != 1;
      CHECK_EQ(wrong, 0u);
    }
  }
}

GS_TEST(default_threads_is_at_least_one) { CHECK(gossamer::defaultThreads() >= 1); }

namespace {

/// How a process ends that reads a mapped file, truncated if `cut`, and then accesses an invalid address: its exit
/// code, or minus the number of a signal.
int endOfReader(bool cut) {
  const pid_t child = fork();
  if (!child) {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would be installed first
    close(STDERR_FILENO);
    const int file = memfd_create("graph", 0);
    if (ftruncate(file, 16384)) _exit(90);
    auto* const bytes = static_cast<const volatile char*>(mmap(nullptr, 16384, PROT_READ, MAP_SHARED, file, 0));
    if (gs_mapping_watch(const_cast<const char*>(bytes), 16384) < 0) _exit(91);
    if (cut && ftruncate(file, 4096)) _exit(92);
    if (bytes[9000]) _exit(93);
    *reinterpret_cast<volatile int*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) = 1;
    _exit(94);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

GS_TEST(fault_after_reading_a_truncated_file_names_the_cause) {
  CHECK_EQ(endOfReader(true), 4);
  CHECK_EQ(endOfReader(false), -SIGSEGV);
}

namespace {

/// A folder like the kernel's for control groups, removed with the object.
struct Groups {
  std::filesystem::path root;
  Groups() {
    std::string name = (std::filesystem::temp_directory_path() / "gossamer-groups-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    root = name;
  }
  ~Groups() { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  }
  unsigned quota() const { return gossamer::quotaCpus(root.string(), (root / "self").string()); }
};

}  // namespace

GS_TEST(cpu_quotas_of_control_groups) {
  {
    const Groups g;
    CHECK_EQ(g.quota(), 0u);  // no file that names a group
    g.write("self", "0::/user/me");
    CHECK_EQ(g.quota(), 0u);
    g.write("user/me/cpu.max", "max 100000");
    CHECK_EQ(g.quota(), 0u);
    g.write("user/me/cpu.max", "350000 100000");
    CHECK_EQ(g.quota(), 3u);  // whole processors
    g.write("user/cpu.max", "200000 100000");
    CHECK_EQ(g.quota(), 2u);  // the parent group has a smaller quota
    g.write("cpu.max", "50000 100000");
    CHECK_EQ(g.quota(), 1u);
    g.write("self", "0::/not/seen/from/here");
    CHECK_EQ(g.quota(), 1u);  // a container sees only the root
    g.write("cpu.max", "something else");
    CHECK_EQ(g.quota(), 0u);
  }
  {
    const Groups g;
    g.write("self", "11:memory:/a\n4:cpu,cpuacct:/a/b\n1:name=systemd:/a\n0::/");
    g.write("cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1");
    g.write("cpu,cpuacct/a/b/cpu.cfs_period_us", "100000");
    CHECK_EQ(g.quota(), 0u);
    g.write("cpu,cpuacct/a/cpu.cfs_quota_us", "500000");
    g.write("cpu,cpuacct/a/cpu.cfs_period_us", "100000");
    g.write("memory/a/cpu.cfs_quota_us", "100000");
    g.write("memory/a/cpu.cfs_period_us", "100000");
    CHECK_EQ(g.quota(), 5u);
    g.write("self", "4:cpu:/a");
    g.write("cpu/cpu.cfs_quota_us", "400000");
    g.write("cpu/cpu.cfs_period_us", "100000");
    CHECK_EQ(g.quota(), 4u);
  }
  const unsigned quota = gossamer::quotaCpus();
  if (quota) CHECK(gossamer::defaultThreads() <= quota);
}

namespace {

/// A thread that outlives all objects of static storage: constructed before them, so destroyed after them.
struct Last {
  std::thread thread;
  std::atomic<int> runs{0}, end{0};
  ~Last() {
    end = 1;
    end.notify_all();
    if (thread.joinable()) thread.join();
  }
};
__attribute__((init_priority(101))) Last last;

}  // namespace

GS_TEST(guarded_thread_may_end_after_exit_handlers) {
  last.thread = std::thread([] {
    gossamer::Position position;
    gossamer::Fault fault;
    auto count = [] { ++last.runs; };
    if (!gossamer::guard::run(count, &position, fault)) last.runs = -1;
    last.runs.notify_all();
    last.end.wait(0);
  });
  last.runs.wait(0);
  CHECK_EQ(last.runs.load(), 1);  // a sanitizer checks the rest when this program ends
}
