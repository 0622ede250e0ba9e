// SPDX-License-Identifier: Apache-2.0
/// A simulated board as a role of the Ethernet shell (include/gossamer/role.h): its kernel clocks the board until the
/// run is stopped, and connects the board's host port to message streams.
///
/// A packet of the host on stream N carries flits for virtual network N, each in 24 bytes (host/flit.h): a network that
/// is blocked stops its own stream only. All flits from the board leave on stream 0 in the order in which they left the
/// port, each in 32 bytes: the flit, then the cycle of the board's clock. The host therefore knows the board's time
/// without a register that it would have to read.
///
/// Register 0 is the number of the board in its cluster.
///
/// The model's time is not that of the shell: the board stands still while the shell has no space for a packet, and
/// advances slowly while no thread is started and its host is silent, so that an idle board costs little.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "gossamer/role.h"
#include "linked_board.h"
#include "network.h"

#ifndef GS_BOARD_TYPE
#error "GS_BOARD_TYPE is the type of the boards that load this role"
#endif

namespace gossamer::sim {
namespace {

constexpr size_t kPayload = 1376;  ///< most bytes of a packet: of a frame of 1,500 bytes
constexpr uint64_t kReset = 16;    ///< cycles of reset
constexpr uint64_t kBatch = 64;    ///< cycles between two looks at the streams
constexpr size_t kQueued = 64;     ///< flits of a network that wait to enter, from which on its stream waits
constexpr uint64_t kIdle = 1 << 15;        ///< cycles without any traffic after which an idle board slows down
constexpr uint64_t kIdleBatch = 512;       ///< cycles of an idle board between two looks
constexpr int kIdleMilliseconds = 2;       ///< time of such a look

/// The host's end of the board's port.
class RolePort {
 public:
  explicit RolePort(const gs_role_shell* shell) : shell_(shell) {}

  // Called by the board.
  unsigned choose(unsigned ready) {
    for (unsigned i = 1; i <= kNetworks; ++i) {
      const unsigned lane = (last_ + i) % kNetworks;
      if (ready >> lane & 1 && lanes_[lane].pending()) return lane;
    }
    return kNetworks;
  }
  const Flit& head(unsigned lane) const { return lanes_[lane].head(); }
  void on_accepted(unsigned lane, uint64_t cycle) {
    last_ = lane;
    lanes_[lane].pop();
    active_ = cycle;
  }
  void receive(const Flit& flit, uint64_t cycle) {
    active_ = cycle;
    const size_t at = out_.size();
    out_.resize(at + sizeof flit + sizeof cycle);
    std::memcpy(out_.data() + at, flit.words.data(), sizeof flit);
    std::memcpy(out_.data() + at + sizeof flit, &cycle, sizeof cycle);
    if (out_.size() + sizeof flit + sizeof cycle > kPayload) flush();
  }

  /// Takes the host's packets, waiting for one at most `timeout_ms`.
  void take(int timeout_ms) {
    for (unsigned lane = 0; lane < kNetworks; ++lane) {
      while (lanes_[lane].left() < kQueued) {
        const int wait = lane + 1 == kNetworks ? timeout_ms : 0;
        const long bytes = shell_->receive(shell_->shell, lane, in_.data(), in_.size(), wait);
        if (bytes < 0) break;
        timeout_ms = 0;
        lanes_[lane].send(in_.data(), std::min(static_cast<size_t>(bytes), in_.size()));
      }
    }
  }

  /// Sends what has left the board.
  void flush() {
    if (out_.empty()) return;
    if (shell_->send(shell_->shell, 0, out_.data(), out_.size())) ended_ = true;
    out_.clear();
  }

  bool ended() const { return ended_; }
  bool pending() const {
    return std::any_of(lanes_.begin(), lanes_.end(), [](const Network& lane) { return lane.pending(); });
  }
  /// The last cycle in which a flit has entered or left.
  uint64_t active() const { return active_; }

 private:
  const gs_role_shell* shell_;
  std::array<Network, kNetworks> lanes_;
  unsigned last_ = 0;
  uint64_t active_ = 0;
  std::vector<uint8_t> out_;
  std::array<uint8_t, kPayload> in_{};
  bool ended_ = false;
};

using Board = LinkedBoard<RolePort>;

/// One cycle.
void step(Board& board, uint64_t cycle, bool reset) {
  Board::Models::TileModel* tiles[Board::kTiles];
  Vgs_sim_uncore* const rest = &board.models().rest();
  const unsigned awake = board.low_tiles(0, 1, cycle, reset, tiles);
  board.low_rest(cycle, reset);
  evaluate_together(tiles, awake, true);
  evaluate_together(&rest, 1, true);
  for (unsigned t = 0; t < awake; ++t) tiles[t]->clk_i = 1;
  rest->clk_i = 1;
  evaluate_together(tiles, awake, false);
  evaluate_together(&rest, 1, false);
  board.high_tiles(0, 1, cycle);
  board.high_rest(cycle);
}

bool has_started(Board& board) {
  bool any = false;
  for (unsigned t = 0; t < Board::kTiles; ++t) any |= board.models().rest().started_i[t] != 0;
  return any;
}

int run(const gs_role_shell* shell, uint32_t kernel, gs_role_result* result) {
  if (kernel) return 1;
  char name[] = "board";
  char* arguments[] = {name, nullptr};
  const auto board = std::make_unique<Board>(1, arguments, shell->registers[0]);
  RolePort port(shell);
  board->host(&port);
  uint64_t cycle = 0;
  const auto go = [&](uint64_t cycles, bool reset) {
    for (const uint64_t end = cycle + cycles; cycle < end; ++cycle) step(*board, cycle, reset);
  };
  go(kReset, true);
  // Flits that enter before the tables are cleared would be lost.
  while (!board->ready() && !shell->stopped(shell->shell)) go(kBatch, false);
  while (!shell->stopped(shell->shell) && !port.ended()) {
    const bool idle = !port.pending() && cycle - port.active() > kIdle && !has_started(*board);
    port.take(idle ? kIdleMilliseconds : 0);
    go(idle ? kIdleBatch : kBatch, false);
    port.flush();
  }
  result->cycles = cycle;
  return 0;
}

}  // namespace
}  // namespace gossamer::sim

extern "C" {
__attribute__((visibility("default"))) extern const gs_role gs_role_entry = {
    GS_ROLE_VERSION, GS_BOARD_TYPE, "gossamer board", gossamer::sim::kNetworks, gossamer::sim::run};
}
