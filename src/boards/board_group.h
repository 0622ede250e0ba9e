// SPDX-License-Identifier: Apache-2.0
/// Boards behind Ethernet shells whose role is a board of the overlay (sim/board/role.cc): sessions, configuration, and
/// flits to and from their host ports.
///
/// Flits for virtual network N travel on stream N of a board, 24 bytes each; flits from the board on stream 0, each
/// with the cycle in which it left the board.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "flit.h"
#include "network.h"
#include "shell/host.h"

namespace gossamer::machine {

/// A board or a port that cannot be used: what() is a line for the user.
struct BoardError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a group is made of.
struct GroupOptions {
  struct Board {
    shell::Mac mac;
    std::vector<shell::Key> keys;  ///< the board accepts at least one of them
  };
  std::string port;
  std::string role;  ///< path of the role file
  uint32_t board_type = 1;
  std::vector<Board> boards;
  /// One direction of a cable: from a board and its link to another. Both directions have the same identity.
  struct Link {
    uint32_t from = 0, from_link = 0, to = 0, to_link = 0;
    uint64_t identity = 0;
  };
  std::vector<Link> links;
  uint64_t kernels = 0;  ///< identity of the memory that kernels share with the boards; 0: none
};

class BoardGroup {
 public:
  /// Opens sessions, configures all boards with the role at once, and starts it. Throws BoardError.
  explicit BoardGroup(const GroupOptions& options);
  /// Ends the sessions, which stops the boards.
  ~BoardGroup();
  BoardGroup(const BoardGroup&) = delete;
  BoardGroup& operator=(const BoardGroup&) = delete;

  size_t boards() const { return boards_.size(); }

  /// Sends the flits that a port queues for its board, as far as the board has space. `cycle` is the board's present
  /// cycle as far as it is known.
  void send(size_t board, sim::HostPort& port, uint64_t cycle);
  /// Flits that have left the port and that the shell has not taken yet.
  bool pending() const;
  /// Waits at most `timeout_ms` for frames, and handles all that have arrived. Throws BoardError if a board is lost or
  /// its role has ended.
  void step(int timeout_ms);

  /// Calls `take(flit, cycle)` for each flit that has arrived from a board, in order.
  template <typename Take>
  void receive(size_t board, Take take) {
    while (const auto packet = host_->receive(boards_[board].mac, 0, 0)) {
      sim::Flit flit;
      uint64_t cycle;
      if (packet->size() % (sizeof flit + sizeof cycle)) throw damaged(board);
      for (size_t at = 0; at < packet->size(); at += sizeof flit + sizeof cycle) {
        std::memcpy(flit.words.data(), packet->data() + at, sizeof flit);
        std::memcpy(&cycle, packet->data() + at + sizeof flit, sizeof cycle);
        take(flit, cycle);
      }
    }
  }

 private:
  static constexpr size_t kPacketFlits = 57;  ///< of a frame of 1,500 bytes

  struct One {
    shell::Mac mac;
    std::array<std::vector<uint8_t>, sim::kNetworks> staged;  ///< a packet that the shell has not taken, by network
  };

  BoardError damaged(size_t board) const;
  void open(const GroupOptions::Board& board);
  void configure(const GroupOptions& options);
  void bind(const GroupOptions& options);
  void close();
  void check(const shell::Mac& mac, const std::string& what, shell::ShellStatus status) const;

  std::unique_ptr<shell::Host> host_;
  std::vector<One> boards_;
  std::vector<shell::Mac> opened_;
  uint64_t run_ = 0;
  std::chrono::steady_clock::time_point checked_{};
};

}  // namespace gossamer::machine
