// SPDX-License-Identifier: Apache-2.0
/// The host's side of the Ethernet shell: discovery, sessions, commands, and the configuration of many boards at once.
/// docs/hardware/shell.md has the protocol. One thread uses a Host; its calls wait, and handle all frames meanwhile.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "shell/frame.h"
#include "shell/port.h"

namespace gossamer::shell {

/// An image to configure boards with: the role file, and the hashes of its blocks.
struct Image {
  std::vector<uint8_t> manifest;
  std::span<const uint8_t> body;
  uint32_t board_type = 0;
  Digest root{};
};

/// Hashes a role file, whose bytes must outlive the image.
Image make_image(std::span<const uint8_t> role, uint32_t board_type);

struct ConfigureOptions {
  bool auto_load = true;
  bool unicast = false;      ///< to each board alone, for comparison
  Mac group = kBroadcast;    ///< destination of what goes to all
  unsigned drop_ms = 3000;   ///< a board that does not answer for this long is given up
  double slow_share = 0.25;  ///< a board that misses more than this share while others are done is served last
  double bytes_per_s = 0;    ///< pace of frames to all; 0: as fast as the port
  /// Called at least every 64 frames and while reports are awaited. It may use boards that are not configured, but
  /// neither open nor end sessions.
  std::function<void(uint64_t sent, uint64_t total, unsigned boards_done)> progress;
};

struct ConfigureResult {
  ShellStatus status = ShellStatus::TimedOut;
  double seconds = 0;  ///< from the call to the board's confirmation
};

class Host {
 public:
  Host(std::unique_ptr<Port> port, const EtherTypes& types);
  ~Host();

  struct Known {
    Mac mac;
    ShellAnnounce about;
    uint64_t challenge = 0;
    std::chrono::steady_clock::time_point seen;
  };

  /// Requests announcements and waits; all boards that have announced themselves.
  std::vector<Known> discover(unsigned wait_ms);
  /// Handles frames for a while.
  void pump(unsigned ms);
  /// Waits at most `timeout_ms` for a frame, handles all that have arrived, and sends what is due.
  void step(int timeout_ms);

  /// Opens a session. Ok, BadTag (another key), NotOwner (`owner` is its host), TimedOut.
  ShellStatus open(const Mac& board, const Key& key, uint32_t lease_ms, bool take_over, unsigned timeout_ms,
                   Mac* owner = nullptr);
  ShellStatus close(const Mac& board);
  /// Makes the board derive its next key from a salt (docs/hardware/shell.md, "Renewing a key").
  ShellStatus rekey(const Mac& board, std::span<const uint8_t> salt);

  /// Configures all boards with an image, at once. Sessions must be open.
  std::map<Mac, ConfigureResult> configure(std::span<const Mac> boards, const Image& image,
                                           const ConfigureOptions& options);

  ShellStatus write(const Mac& board, uint64_t address, std::span<const uint8_t> bytes);
  ShellStatus read(const Mac& board, uint64_t address, std::span<uint8_t> bytes);
  ShellStatus write_registers(const Mac& board, std::span<const ShellRegisterWrite> entries);
  ShellStatus read_register(const Mac& board, uint32_t address, uint32_t& value);
  ShellStatus start(const Mac& board, uint32_t kernel, uint64_t run);
  /// Arms all boards, then starts them with one broadcast; the statuses by board.
  std::map<Mac, ShellStatus> start_all(std::span<const Mac> boards, uint32_t kernel, uint64_t run);
  /// Waits for the end of a run; RoleFailed if the kernel failed.
  ShellStatus wait(const Mac& board, uint64_t run, unsigned timeout_ms, ShellRun& end);
  ShellStatus result(const Mac& board, uint64_t run, uint64_t offset, std::span<uint8_t> bytes);
  ShellStatus finish(const Mac& board, uint64_t run);
  /// Binds a link of a board's role to a peer, also while its kernel runs.
  ShellStatus bind(const Mac& board, uint16_t link, const ShellLinkBinding& peer);

  ShellStatus send(const Mac& board, uint32_t stream, std::span<const uint8_t> packet, unsigned timeout_ms);
  /// The next packet of a stream; empty if none arrives in time.
  std::optional<std::vector<uint8_t>> receive(const Mac& board, uint32_t stream, unsigned timeout_ms);

  /// Milliseconds since the last valid frame of a session; -1 without one, or if the board no longer knows it.
  int64_t age(const Mac& board) const;
  /// Makes the board answer, as a sign of life; does not wait for it. Without effect while a command waits for an
  /// answer.
  void ping(const Mac& board);
  /// Forgets a session without telling the board.
  void drop(const Mac& board);
  /// The last status that a board has sent; null before the first.
  const ShellStatusReport* status(const Mac& board) const;
  /// Chunks that a board misses of the image that it is configured with; -1 before it has reported any.
  int64_t missing(const Mac& board) const;

  /// Bytes of frames to one station (or to all, at kBroadcast) and from it.
  struct Traffic {
    uint64_t sent = 0, received = 0;
  };
  const std::map<Mac, Traffic>& traffic() const { return traffic_; }
  /// Frames of a station that were dropped, and why the last one was.
  struct Unreadable {
    uint64_t frames = 0;
    Drop why = Drop::None;
    unsigned version = 0;  ///< of the last frame
  };
  const std::map<Mac, Unreadable>& unreadable() const { return unreadable_; }

  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t frames_sent() const { return frames_sent_; }
  unsigned mtu() const { return port_->mtu(); }

 private:
  struct Session;
  struct Command;

  Session& session(const Mac& board);
  void transmit(const Frame& frame, const Blake2s* keyed);
  /// Bytes of a chunk: of jumbo frames if this port and the board have them.
  size_t part_bytes(const Mac& board) const;
  bool receive_one(int timeout_ms);
  void make_room(const Mac& board);
  void handle(std::span<const uint8_t> bytes);
  void handle_session(Session& session, const Frame& frame);
  void resend_due();
  void fire();

  /// Queues a command and waits for its answer, or for the window to have space if `done` is null.
  uint32_t issue(Session& session, ShellKind kind, uint64_t offset, uint64_t binding, std::span<const uint8_t> payload,
                 bool wants_answer);
  ShellStatus complete(Session& session, uint32_t seq, unsigned timeout_ms, std::vector<uint8_t>* payload = nullptr);

  /// Reads bytes by commands of one kind, as many at once as the window holds.
  ShellStatus fetch(const Mac& board, ShellKind kind, uint64_t address, uint64_t binding, std::span<uint8_t> bytes);

  std::unique_ptr<Port> port_;
  EtherTypes types_;
  std::mt19937_64 random_;
  std::map<Mac, Known> known_;
  std::map<Mac, std::unique_ptr<Session>> sessions_;
  std::map<Mac, Traffic> traffic_;
  std::map<Mac, Unreadable> unreadable_;
  std::vector<uint8_t> out_;
  uint64_t bytes_sent_ = 0, frames_sent_ = 0;
  Mac opening_;
  Blake2s opening_keyed_;
  uint64_t opening_nonce_ = 0;
  std::optional<ShellStatus> opened_;
  Mac opened_owner_;
  std::array<uint8_t, 32> secret_{};  // of the last start of several boards
  unsigned fires_left_ = 0;           // broadcasts of it that are still permitted
  std::chrono::steady_clock::time_point fired_{};
  std::optional<ShellStatusReport> opened_status_;
};

}  // namespace gossamer::shell
