// SPDX-License-Identifier: Apache-2.0
/// Streaming ports of a cluster that another process simulates, for kernels of the SMI emulator (src/smi/rtl/fabric.h).
/// The cluster has other guests. Its host has already set bindings and tables.
///
/// The script: `attach FILE` (shared_kernels.h), `boards N`, `barrier BLOCK`, `quiet CYCLES`: cycles without a
/// handshake after which the emulator sees the boards as quiescent. They must be longer than a packet takes on its way,
/// because the boards do not tell whether packets are in flight: those of other guests always are.
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "shared_kernels.h"

namespace gossamer::sim {
namespace {

SharedKernels::Memory* memory = nullptr;
unsigned boards = 0;
pid_t parent = 0;
uint32_t quiet = 0, quiescence = 0;

Kernels& kernels(int rank) { return memory->boards[rank].kernels; }

void leave() {
  memory->wants.store(0, std::memory_order_release);
  SharedKernels::wake(memory->asked);
}

bool cycle(bool active) {
  memory->parked.store(0, std::memory_order_release);
  const uint32_t asked = memory->asked.fetch_add(1, std::memory_order_release) + 1;
  SharedKernels::wake(memory->asked);
  bool moved = active;
  for (unsigned b = 0; b < boards; ++b) {
    SharedKernels::Board& board = memory->boards[b];
    for (uint32_t served; (served = board.served.load(std::memory_order_acquire)) != asked;) {
      SharedKernels::wait(board.served, served);
      // The process that has started the emulator has ended: the results have no reader.
      if (::getppid() != parent) std::_Exit(EXIT_FAILURE);
    }
    moved |= board.moved != 0;
  }
  quiet = moved ? 0 : quiet + 1;
  if (quiet < quiescence) return true;
  memory->parked.store(1, std::memory_order_release);
  SharedKernels::wake(memory->asked);
  return false;
}

const GsFabric fabric{
    [](int rank, int port) { return &kernels(rank).ports[port]; },
    [](int rank, int block) { return &kernels(rank).blocks[block]; },
    [](int rank) { return &kernels(rank).barrier; },
    cycle,
    // The host of the guests shows the boards' events.
    [] { return -1; },
    nullptr,
};

}  // namespace
}  // namespace gossamer::sim

const GsFabric* gs_fabric_make(const char* script) {
  using namespace gossamer::sim;
  std::istringstream lines(script);
  for (std::string line, word; std::getline(lines, line);) {
    std::istringstream in(line);
    in >> word;
    if (word == "attach") {
      std::string path;
      in >> path;
      memory = SharedKernels::map(path.c_str());
    } else if (word == "boards") {
      in >> boards;
    } else if (word == "quiet") {
      in >> quiescence;
    } else if (word == "barrier" && memory) {
      unsigned block = 0;
      in >> block;
      memory->barrier.store(block + 1, std::memory_order_relaxed);
    }
  }
  if (!memory || !boards || !quiescence || boards > SharedKernels::kMostBoards) {
    std::fprintf(stderr, "boards: the memory shared with their simulator cannot be mapped\n");
    return nullptr;
  }
  parent = ::getppid();
  memory->pid.store(static_cast<uint32_t>(::getpid()), std::memory_order_relaxed);
  memory->wants.store(1, std::memory_order_release);
  std::atexit(leave);
  return &fabric;
}
