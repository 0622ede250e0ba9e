// SPDX-License-Identifier: Apache-2.0
/// The software twin of a board's shell: the protocol of docs/hardware/shell.md on a port, with roles that are shared
/// objects. It has the states, answers and counters of the shell's RTL.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gossamer/role.h"
#include "shell/frame.h"
#include "shell/port.h"

namespace gossamer::shell {

using Clock = std::chrono::steady_clock;

/// What distinguishes a board.
struct BoardOptions {
  Mac mac;
  Key key{};
  uint16_t vendor = 0x1234, product = 1;
  uint32_t board_type = 1;
  uint64_t serial = 0;
  uint64_t memory_bytes = 64 << 20;
  uint64_t image_max = uint64_t{256} << 20;
  uint32_t boot = 1;
  uint64_t seed = 0;   ///< of challenges; 0: from the system
  std::string folder;  ///< where role files are written to be loaded
  EtherTypes types;
};

/// An image while it is received.
struct Reception {
  ShellImage image;
  uint64_t binding = 0;
  uint32_t manifest_chunks = 0;
  std::vector<uint8_t> bytes;  ///< manifest, padded to whole chunks, then body
  std::vector<bool> have;      ///< by chunk
  uint32_t missing = 0;
  bool manifest_good = false;
  std::vector<uint32_t> block_missing;  ///< chunks that each block still needs
  std::vector<bool> block_good;
  uint32_t blocks_good = 0;
};

class Board {
 public:
  Board(const BoardOptions& options, Port& port);
  ~Board();

  /// Handles frames and timers until `stop` returns true; it is asked at least every 100 ms.
  void run(const std::function<bool()>& stop);

  /// Handles one frame.
  void handle(std::span<const uint8_t> bytes);
  /// Handles what is due.
  void tick(Clock::time_point now);

 private:
  struct Role;
  struct Run;

  // Answers
  void send(ShellKind kind, const Mac& to, ShellHeader header, std::span<const uint8_t> payload);
  void answer(const Frame& request, ShellKind kind, ShellStatus status, std::span<const uint8_t> payload = {});
  void error(const Frame& frame, ShellStatus status);
  void announce(const Mac& to);
  std::array<uint8_t, 64> status_bytes() const;
  void reports(const Frame& query);

  // Requests
  void open(const Frame& frame, std::span<const uint8_t> bytes);
  void command(const Frame& frame);
  void begin(const Frame& frame);
  void load(const Frame& frame);
  void abort(const Frame& frame);
  void write(const Frame& frame);
  void read(const Frame& frame);
  void registers(const Frame& frame);
  void start(const Frame& frame);
  void arm(const Frame& frame);
  void fire(const Frame& frame);
  void ask_result(const Frame& frame);
  void finish(const Frame& frame);
  void message(const Frame& frame);

  // Images
  void data(const Frame& frame);
  void repair(const Frame& frame);
  void store(uint32_t chunk, std::span<const uint8_t> bytes);
  void check_block(uint32_t block);
  size_t chunk_size(uint32_t chunk) const;
  void after_store();
  void configure();

  // Roles
  void stop_run();
  void begin_run(uint32_t kernel, uint64_t number);
  void end_session(bool announce_it);
  void pump_messages();

  BoardOptions options_;
  Port& port_;
  std::mt19937_64 random_;
  std::vector<uint8_t> out_;
  uint8_t* memory_ = nullptr;

  ShellState state_ = ShellState::Free;
  uint64_t challenge_ = 0;
  uint64_t session_ = 0;
  Mac owner_;
  std::optional<Blake2s> keyed_;
  uint32_t lease_ms_ = 0;
  uint32_t expected_ = 1;
  Clock::time_point begun_ = Clock::now(), heard_{}, announced_{}, beat_{}, complained_{}, solicited_{};
  bool seen_any_ = false;
  std::optional<Mac> soliciting_;  // the sender of a request that is not answered yet
  struct Answer {
    uint32_t seq = 0;
    ShellKind kind{};
    ShellStatus status{};
  };
  std::array<Answer, shell_command_window> answers_{};

  std::unique_ptr<Reception> reception_;
  uint64_t ended_binding_ = 0;  // the last image of the session that was loaded or rejected, and its status
  ShellStatus ended_status_{};
  std::array<uint8_t, 16> role_root_{};
  std::unique_ptr<Role> role_;
  std::unique_ptr<Run> run_;
  Digest armed_{};
  uint32_t armed_kernel_ = 0;
  uint64_t armed_number_ = 0;
  Clock::time_point told_{};

  ShellStatusReport counters_{};
  friend struct Run;
};

}  // namespace gossamer::shell
