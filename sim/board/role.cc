// SPDX-License-Identifier: Apache-2.0
/// A simulated board as a role of the Ethernet shell (include/gossamer/role.h): its kernel clocks the board until the
/// run is stopped, and connects the board's host port to message streams.
///
/// A packet of the host on stream N carries flits for virtual network N, each in 24 bytes (host/flit.h): a network that
/// is blocked stops its own stream only. All flits from the board leave on stream 0 in the order in which they left the
/// port, each in 32 bytes: the flit, then the cycle of the board's clock. The host therefore knows the board's time
/// without a register that it would have to read.
///
/// Register 0 is the number of the board in its cluster. Registers 1 and 2, if they are not 0, identify a file that
/// kernels of streaming ports share with the boards as memory (shared_kernels.h): then the boards are on the host's
/// machine, and each waits for the kernels in every cycle. Frames of the board's links travel between shells, which may
/// lose some; words of a received frame arrive at the line rate of a link.
///
/// The model's time is not that of the shell: the board stalls while the shell has no space for a packet, and
/// advances slowly while no thread is started and no packet passes, so that an idle board costs little. A board also
/// stalls while a peer that has sent frames before is silent, so that no link reports the silence of a peer that
/// the operating system has not scheduled.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "gossamer/role.h"
#include "guest_ports.h"
#include "linked_board.h"
#include "models.h"
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
constexpr uint64_t kIdle = 1 << 15;        ///< cycles without any packet after which an idle board slows down
constexpr uint64_t kIdleBatch = 512;       ///< cycles of an idle board between two looks
constexpr int kIdleMilliseconds = 1;       ///< time of such a look
constexpr std::chrono::milliseconds kPeerPatience{500};  ///< in which a slow peer is waited for

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

using Board = LinkedBoard<RolePort, BoardModels<Vgs_sim_uncore>>;

/// The shell's end of the board's links.
class RoleLinks {
 public:
  explicit RoleLinks(const gs_role_shell* shell) : shell_(shell) {
    for (unsigned l = 0; l < Board::kLinks; ++l) links_.push_back(std::make_unique<Link>());
  }

  void plug(Board& board) {
    for (unsigned l = 0; l < Board::kLinks; ++l) {
      board.plug(l, &links_[l]->out, Board::kNever);
      board.plug(l, static_cast<const Wire*>(&links_[l]->in));
    }
  }

  /// Takes the frames that have arrived, waiting for one at most `timeout_ms`; whether any has.
  bool take(int timeout_ms, uint64_t cycle) {
    bool any = false;
    for (;; timeout_ms = 0, any = true) {
      uint32_t number = 0;
      const long bytes = shell_->link_receive(shell_->shell, &number, frame_.data(), frame_.size(), timeout_ms);
      if (bytes <= 0 || static_cast<size_t>(bytes) > frame_.size() || number >= links_.size()) return any;
      Link& link = *links_[number];
      link.heard = cycle;
      link.known = true;
      link.frames.emplace_back(frame_.begin(), frame_.begin() + bytes);
    }
  }

  /// The word of a received frame that arrives in a cycle, before its evaluation.
  void low(uint64_t cycle) {
    for (auto& one : links_) {
      Link& link = *one;
      Wire::Word& word = link.in.in(cycle - 1);
      word.valid = 0;
      link.rate = std::min(link.rate + kBitsPerKilocycle, uint64_t{64'000});
      if (link.frames.empty() || link.rate < 64'000) continue;
      link.rate = 0;
      const auto& frame = link.frames.front();
      const size_t bytes = std::min<size_t>(8, frame.size() - link.at);
      word = {};
      std::memcpy(&word.data, frame.data() + link.at, bytes);
      word.keep = static_cast<uint8_t>((1U << bytes) - 1);
      link.at += bytes;
      word.last = link.at == frame.size();
      word.valid = 1;
      if (!word.last) continue;
      link.frames.pop_front();
      link.at = 0;
    }
  }

  /// The word that the board has sent in a cycle.
  void high(uint64_t cycle) {
    for (unsigned l = 0; l < links_.size(); ++l) {
      Link& link = *links_[l];
      const Wire::Word& word = link.out.out(cycle + 1);
      if (!word.valid) continue;
      const auto* from = reinterpret_cast<const uint8_t*>(&word.data);
      for (unsigned i = 0; i < 8; ++i) {
        if (word.keep >> i & 1) link.sending.push_back(from[i]);
      }
      if (!word.last) continue;
      if (!word.error) shell_->link_send(shell_->shell, l, link.sending.data(), link.sending.size());
      link.sending.clear();
    }
  }

  /// Whether a peer that was heard before has been silent for long.
  bool waits(uint64_t cycle) const {
    return std::any_of(links_.begin(), links_.end(),
                       [cycle](const auto& link) { return link->known && cycle - link->heard > kSilence; });
  }
  /// Gives up the peers that are silent, until they are heard again.
  void forget(uint64_t cycle) {
    for (auto& link : links_) link->known &= cycle - link->heard <= kSilence;
  }

 private:
  static constexpr uint64_t kBitsPerKilocycle =
      uint64_t{config::links::rate_mbps} * 1'000'000'000 / config::derived::clock_hz;
  static constexpr uint64_t kSilence = 3000;  ///< cycles; a link sends a frame at least every 512, and reports 6,000

  struct Link {
    Wire out{1}, in{1};
    std::deque<std::vector<uint8_t>> frames;  ///< received
    size_t at = 0;                            ///< bytes of the first that have arrived at the board
    uint64_t rate = 0;                        ///< bits, in thousandths, that the line has carried since the last word
    std::vector<uint8_t> sending;
    bool known = false;
    uint64_t heard = 0;
  };

  const gs_role_shell* shell_;
  std::vector<std::unique_ptr<Link>> links_;
  std::array<uint8_t, 1 << 14> frame_{};
};

/// The memory that registers 1 and 2 identify; null if they do not.
SharedKernels::Memory* kernels_of(const gs_role_shell* shell) {
  if (!shell->registers[1] && !shell->registers[2]) return nullptr;
  char path[64];
  std::snprintf(path, sizeof path, "/dev/shm/gossamer-kernels-%08x%08x", shell->registers[2], shell->registers[1]);
  return SharedKernels::map(path);
}

/// One cycle. `kernels` may be null.
void step(Board& board, uint64_t cycle, bool reset, GuestPorts* kernels, unsigned number) {
  Board::Models::TileModel* tiles[Board::kTiles];
  Vgs_sim_uncore* const rest = &board.models().rest();
  const unsigned awake = board.low_tiles(0, 1, cycle, reset, tiles);
  board.low_rest(cycle, reset);
  if (kernels) kernels->drive_board(number, *rest);
  evaluate_together(tiles, awake, true);
  evaluate_together(&rest, 1, true);
  if (kernels) kernels->sample_board(number, *rest);
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
  RoleLinks links(shell);
  links.plug(*board);
  const unsigned number = shell->registers[0];
  SharedKernels::Memory* const memory = number < SharedKernels::kMostBoards ? kernels_of(shell) : nullptr;
  const auto kernels = memory ? std::make_unique<GuestPorts>(memory) : nullptr;
  if (memory) memory->mapped.fetch_add(1);
  uint64_t cycle = 1, busy = 0;
  const auto go = [&](uint64_t cycles, bool reset) {
    for (const uint64_t end = cycle + cycles; cycle < end; ++cycle) {
      links.low(cycle);
      step(*board, cycle, reset, kernels.get(), number);
      links.high(cycle);
      if (!board->models().rest().empty_o) busy = cycle;
    }
  };
  go(kReset, true);
  // Flits that enter before the tables are cleared would be lost.
  while (!board->ready() && !shell->stopped(shell->shell)) go(kBatch, false);
  while (!shell->stopped(shell->shell) && !port.ended()) {
    const uint64_t active = std::max(port.active(), busy);
    const bool idle = !port.pending() && cycle - active > kIdle && !has_started(*board) && !(memory && memory->wants);
    port.take(idle ? kIdleMilliseconds : 0);
    links.take(0, cycle);
    if (links.waits(cycle)) {
      const auto end = std::chrono::steady_clock::now() + kPeerPatience;
      while (links.waits(cycle) && !shell->stopped(shell->shell) && std::chrono::steady_clock::now() < end) {
        links.take(1, cycle);
      }
      links.forget(cycle);
    }
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
    GS_ROLE_VERSION, GS_BOARD_TYPE, "gossamer board", gossamer::sim::kNetworks, gossamer::sim::run,
    gossamer::sim::Board::kLinks};
}
