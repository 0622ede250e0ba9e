// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/mapped_file.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "gossamer/core/exit_codes.h"

namespace {

struct Mapping {
  std::atomic<uintptr_t> begin{0};  // 0: the slot is free
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> cut{false};
};

Mapping mappings[256];
uintptr_t page = 4096;
struct sigaction beforeBus, beforeFault;

/// Maps zero pages over the truncated part, from the page of the failed read to the mapping's end.
bool replaceWithZeros(uintptr_t at) {
  for (Mapping& one : mappings) {
    const uintptr_t begin = one.begin.load(), end = one.end.load();
    if (!begin || at < begin || at >= end) continue;
    const uintptr_t from = at & ~(page - 1);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    if (mmap(reinterpret_cast<void*>(from), end - from, PROT_READ, flags, -1, 0) == MAP_FAILED) return false;
    one.cut.store(true);
    return true;
  }
  return false;
}

/// Reinstalls the previous handler, which runs when the instruction fails again.
void pass(int number, const siginfo_t* info, const struct sigaction& before) {
  sigaction(number, &before, nullptr);
  if (info->si_code <= 0) raise(number);
}

void onBusError(int number, siginfo_t* info, void*) {
  if (info->si_code > 0 && replaceWithZeros(reinterpret_cast<uintptr_t>(info->si_addr))) return;
  pass(number, info, beforeBus);
}

/// Code that read zeros as offsets may access any address. On a thread without a guard such a fault ends the process;
/// this handler prints the cause first.
void onFault(int number, siginfo_t* info, void*) {
  for (const Mapping& one : mappings) {
    if (!one.begin.load() || !one.cut.load()) continue;
    constexpr char line[] =
        "gossamer: error: a graph file was truncated while it was read; there is no answer. Create the file again\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    _exit(GS_EXIT_DIED);
  }
  pass(number, info, beforeFault);
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = onBusError;
    sigaction(SIGBUS, &action, &beforeBus);
    action.sa_sigaction = onFault;
    sigaction(SIGSEGV, &action, &beforeFault);
  });
}

std::mutex mutex;

}  // namespace

int gs_mapping_watch(const void* begin, size_t bytes) {
  install();
  const std::lock_guard lock(mutex);
  for (Mapping& one : mappings) {
    if (one.begin.load()) continue;
    one.cut.store(false);
    one.end.store(reinterpret_cast<uintptr_t>(begin) + bytes);
    one.begin.store(reinterpret_cast<uintptr_t>(begin));
    return static_cast<int>(&one - mappings);
  }
  return -1;
}

void gs_mapping_forget(int number) {
  const std::lock_guard lock(mutex);
  if (number >= 0) mappings[number].begin.store(0);
}

int gs_mapping_cut(int number) { return number >= 0 && mappings[number].cut.load(); }
