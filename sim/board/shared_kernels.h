// SPDX-License-Identifier: Apache-2.0
/// Streaming ports of a simulated cluster whose kernels run in another process: the emulator of SMI, as one of several
/// guests of the cluster. Both processes map the same memory. In every cycle each board waits for the kernels' inputs
/// and returns the handshakes, so kernels and boards stay in the same cycle; a process that has nothing to do parks its
/// side, and time passes without it.
///
/// The memory is an empty file of the host of the guests, or of the host of boards behind Ethernet shells (role.cc).
/// The emulator sets `wants` and `pid`. The host sets `attached`: between two requests to the simulator, while no time
/// passes, or once all boards have found the memory.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "kernel_state.h"

namespace gossamer::sim {

/// The memory, and waits for the other side.
struct SharedKernels {
  static constexpr unsigned kMostBoards = 64;

  struct Board {
    std::atomic<uint32_t> served;  ///< cycles that this board has simulated with the kernels
    uint32_t moved;                ///< whether its last cycle had a handshake
    Kernels kernels;
  };
  struct Memory {
    std::atomic<uint32_t> wants;     ///< the emulator needs cycles of the boards
    std::atomic<uint32_t> attached;  ///< the host has seen it
    std::atomic<uint32_t> parked;    ///< the emulator needs no cycles now
    std::atomic<uint32_t> pid;       ///< of the emulator
    std::atomic<uint32_t> asked;     ///< cycles whose inputs the emulator has set
    std::atomic<uint32_t> barrier;   ///< the block of the barrier, plus 1; 0: none
    std::atomic<uint32_t> mapped;    ///< boards that simulate in processes of their own and have found this memory
    Board boards[kMostBoards];
  };
  static constexpr size_t kBytes = sizeof(Memory);
  static_assert(std::atomic<uint32_t>::is_always_lock_free);

  /// Maps the file; null if that fails.
  static Memory* map(const char* path) {
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return nullptr;
    void* at = MAP_FAILED;
    if (::ftruncate(file, kBytes) == 0) at = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return at == MAP_FAILED ? nullptr : static_cast<Memory*>(at);
  }

  /// Waits until a counter has another value than `seen`, at most 20 ms.
  static void wait(std::atomic<uint32_t>& counter, uint32_t seen) {
    for (unsigned i = 0; i < kSpins; ++i) {
      if (counter.load(std::memory_order_acquire) != seen) return;
      __builtin_ia32_pause();
    }
    const timespec most{0, 20'000'000};
    ::syscall(SYS_futex, &counter, FUTEX_WAIT, seen, &most, nullptr, 0);
  }
  static void wake(std::atomic<uint32_t>& counter) {
    ::syscall(SYS_futex, &counter, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

  static constexpr unsigned kSpins = 200;
};

}  // namespace gossamer::sim
