// SPDX-License-Identifier: Apache-2.0
/// The simulator's side of streaming ports whose kernels run in another process (shared_kernels.h).
#pragma once

#include <signal.h>

#include <cerrno>

#include "kernel_ports.h"
#include "shared_kernels.h"

namespace gossamer::sim {

class GuestPorts {
 public:
  explicit GuestPorts(SharedKernels::Memory* memory) : memory_(memory) {}

  /// Before the evaluation of a board: drives its ports. Waits for the kernels unless they are parked or have ended.
  void drive_board(unsigned board, Vgs_sim_uncore& rest) {
    static const Kernels idle;
    driven_[board] = holds(memory_->boards[board]);
    drive(driven_[board] ? memory_->boards[board].kernels : idle, rest, barrier());
  }
  /// After the evaluation of the inputs.
  void sample_board(unsigned board, const Vgs_sim_uncore& rest) {
    if (!driven_[board]) return;
    SharedKernels::Board& its = memory_->boards[board];
    its.moved = sample(its.kernels, rest, barrier());
    its.served.fetch_add(1, std::memory_order_release);
    SharedKernels::wake(its.served);
  }

 private:
  unsigned barrier() const {
    const uint32_t block = memory_->barrier.load(std::memory_order_relaxed);
    return block ? block - 1 : kStreamBlocks;
  }

  /// Whether a board simulates its next cycle with the kernels.
  bool holds(const SharedKernels::Board& its) {
    if (!memory_->attached.load(std::memory_order_acquire)) return false;
    const uint32_t served = its.served.load(std::memory_order_relaxed);
    for (;;) {
      if (memory_->asked.load(std::memory_order_acquire) != served) return true;
      // The emulator parks only when all boards have served what it has asked for.
      if (memory_->parked.load(std::memory_order_acquire)) return false;
      if (!memory_->wants.load(std::memory_order_acquire)) return false;
      SharedKernels::wait(memory_->asked, served);
      const auto pid = static_cast<pid_t>(memory_->pid.load(std::memory_order_relaxed));
      if (::kill(pid, 0) < 0 && errno == ESRCH) memory_->wants.store(0, std::memory_order_release);
    }
  }

  SharedKernels::Memory* const memory_;
  bool driven_[SharedKernels::kMostBoards] = {};
};

}  // namespace gossamer::sim
