// SPDX-License-Identifier: Apache-2.0
/// The control part of a board's shell: discovery, sessions, the order of commands, states and answers, as
/// docs/hardware/shell.md has them. The software twin (sim/shell) and the firmware of the shell's processor
/// (rtl/shell/firmware) run this code on a platform of their own. It is freestanding: no heap, no library.
#pragma once

#include <stdint.h>

#include "gossamer/shell_constants.h"

namespace gossamer::shell {

/// A received frame of a right version, length, check and kind, for this board or for all.
struct Request {
  uint64_t to = 0, from = 0;  ///< Ethernet addresses, first byte most significant
  ShellHeader header;
  const uint8_t* bytes = nullptr;  ///< the frame: 64 bytes of headers, then `header.length` of payload
  bool authentic = false;          ///< the tag is that of the session's key; false without a session

  const uint8_t* payload() const { return bytes + shell_frame_header_bytes; }
};

/// What distinguishes a board.
struct Identity {
  uint64_t mac = 0;
  uint8_t key[shell_key_bytes] = {};
  uint8_t next_key[shell_key_bytes] = {};  ///< derived by rekey; it replaces the key when a session opens with it
  bool has_next_key = false;
  uint16_t vendor = 0, product = 0;
  uint32_t board_type = 0;
  uint64_t serial = 0;
  uint64_t memory_bytes = 0;  ///< of the role's memory
  uint64_t image_max = 0;     ///< bytes of the largest role
  uint32_t boot = 0;          ///< number of resets
  uint16_t mtu = 0;           ///< most bytes of a frame after its Ethernet header
  uint16_t credits = 0;       ///< frames that the board can receive in a burst
  uint32_t sink_rate = 0;     ///< KB/s that the board can store
};

/// The key that a frame's tag is computed with.
enum class Seal : uint8_t { None, Session, Board };

/// When the packets of a stream that the host has not acknowledged are sent again.
struct Resend {
  uint64_t sent_at = 0;  ///< the last packet was sent, or acknowledged
  uint32_t tries = 0;    ///< since the last packet was acknowledged

  bool due(uint64_t now) const { return now - sent_at > kWait << tries; }
  void again(uint64_t now) {
    sent_at = now;
    tries += tries < kMostDoublings;
  }

 private:
  static constexpr uint64_t kWait = 20;  // milliseconds
  static constexpr uint32_t kMostDoublings = 2;
};

/// The packets of a stream between the host and the role, both directions (docs/hardware/shell.md, "Messages").
struct StreamWindow {
  uint32_t in_expected = 1;
  uint32_t out_first = 1;  ///< number of the first packet that the host has not acknowledged
  uint32_t out_next = 1;   ///< number of the next packet to send
  Resend resend;
  bool owes_credit = false;
};

/// Queues of a board's streams, by which the control part moves packets.
class StreamQueues {
 public:
  virtual StreamWindow& window(uint16_t stream) = 0;
  /// Places for packets to the role.
  virtual uint32_t inward_room(uint16_t stream) = 0;
  virtual void deliver(uint16_t stream, const uint8_t* bytes, uint32_t length) = 0;
  /// Whether the role has taken a packet since the last call.
  virtual bool inward_taken(uint16_t stream) = 0;
  /// Packets from the role that are not retired.
  virtual uint32_t outward_held(uint16_t stream) = 0;
  virtual void outward_retire(uint16_t stream, uint32_t packets) = 0;
  /// Sends held packet `index` (0: the oldest), sealed with the session's key.
  virtual void transmit_outward(uint64_t to, const ShellHeader& header, uint16_t stream, uint32_t index) = 0;

 protected:
  ~StreamQueues() = default;
};

/// The peer of a virtual link between two boards (docs/hardware/shell.md, "Links").
struct LinkPeer {
  uint64_t mac = 0;  ///< 0: the link has no peer
  uint64_t identity = 0;
  uint16_t link = 0;  ///< number of the link at the peer
};

/// What the control part needs of a board.
class Platform {
 public:
  /// Milliseconds since the reset.
  virtual uint64_t now() = 0;
  /// A number that no one can guess and that is not used again.
  virtual uint64_t random() = 0;
  /// Sends a frame; the platform adds this board's address, EtherType, version, length, check and tag.
  virtual void transmit(uint64_t to, const ShellHeader& header, const uint8_t* payload, uint32_t length, Seal seal) = 0;
  /// Sends a frame with `length` bytes of the role's memory, sealed with the session's key.
  virtual void transmit_memory(uint64_t to, const ShellHeader& header, uint64_t address, uint32_t length) = 0;
  /// The key of tags with Seal::Session, of frames received and sent from now on; null ends the session.
  virtual void session_key(const uint8_t* key) = 0;
  /// Stores the board's key, and the next one or null, so that they survive a reset. False if that is not possible:
  /// then the board keeps the key that it has.
  virtual bool keep_keys(const uint8_t*, const uint8_t*) { return false; }
  /// Adds what the platform counts itself to a status report.
  virtual void count(ShellStatusReport& report) = 0;

  /// Prepares to receive an image, whose sizes the control part has checked.
  virtual ShellStatus image_begin(const ShellImage& image) = 0;
  virtual void image_data(const Request& frame) = 0;
  virtual void image_repair(const Request& frame) = 0;
  virtual void image_discard() = 0;
  /// Which of the 32 chunks from 32 * `word` on are there: the first one in the most significant bit. Chunks after the
  /// image's end count as there.
  virtual uint32_t image_chunks(uint32_t word) = 0;
  virtual uint32_t image_missing() = 0;
  virtual uint32_t image_blocks_good() = 0;
  /// Loads the verified image as the role; `Control::loaded` is called when that has ended, perhaps at once.
  virtual void image_load() = 0;

  /// Stores bytes in the role's memory; the range is within it.
  virtual void store(uint64_t address, const uint8_t* bytes, uint32_t length) = 0;
  virtual bool has_register(uint32_t address) = 0;
  /// Whether the role has answered.
  virtual bool write_register(uint32_t address, uint32_t value) = 0;
  virtual bool read_register(uint32_t address, uint32_t& value) = 0;
  /// Message streams of the loaded role.
  virtual uint16_t streams() = 0;
  /// The queues of packets; null if the hardware handles packets and credits of a run by itself.
  virtual StreamQueues* queues() { return nullptr; }
  /// Virtual links of the loaded role; 0 if the board supports none.
  virtual uint16_t links() = 0;
  /// Makes `peer` the peer of link `link`, whose frames are numbered from 1 again. The platform handles these frames.
  virtual void bind(uint16_t link, const LinkPeer& peer) = 0;
  /// Unbinds all links. The platform does the same when it loads a role.
  virtual void unbind() = 0;
  /// What that hardware must be told in time; called in a run.
  virtual void pump(uint64_t) {}
  /// Starts kernel `kernel`, and the messages of run number `run`.
  virtual void start(uint32_t kernel, uint64_t run) = 0;
  /// Ends a run early; returns when the role has stopped.
  virtual void stop() = 0;
  /// Whether the kernel has ended: its result, and 0 or the code of its failure.
  virtual bool ended(ShellRun& result, uint32_t& code) = 0;

 protected:
  ~Platform() = default;
};

class Control {
 public:
  Control(const Identity& identity, Platform& platform);

  /// Announces the board; called when the link comes up.
  void link_up();
  /// Counts a frame of a shell's EtherType before it is checked; the first one is answered by an announcement.
  void seen();
  /// Counts a frame that was dropped; `version` if its version is the reason and it was for this board alone.
  void dropped(const Request& frame, bool version);
  /// Handles one frame.
  void handle(const Request& frame);
  /// Handles what is due at this time.
  void tick();
  /// An image has been loaded (Ok), or was rejected and the previous role is kept.
  void loaded(ShellStatus status);
  /// A local port of the board loads another role: until it ends, the board has none, and a run fails.
  void suspend_role();
  /// The local port has ended: the role is that with this root (its first 16 bytes), or the one before if null.
  void restore_role(const uint8_t* root);
  /// All chunks of the image are there and all hashes agree.
  void verified();
  /// Whether the hardware may execute writes of the session by itself: those whose range is in the memory are valid.
  bool stores() const { return session_ && has_role_ && !has_run_ && state_ != ShellState::Loading; }
  /// The hardware has executed all commands below `next`: they were writes that need no answer.
  void stored(uint32_t next);
  /// The hardware has handled packets or credits of the host.
  void heard() { heard_ = platform_.now(); }
  /// Answers a write that the hardware has executed.
  void answer_stored(const Request& frame);
  /// Counts a frame for images with a wrong length or number.
  void bad_data() { counters_.bad_frames++; }
  /// Counts a block or a manifest whose hash differs.
  void bad_hash() { counters_.bad_tags++; }

  ShellState state() const { return state_; }
  uint64_t session() const { return session_; }
  uint64_t owner() const { return owner_; }
  /// Number of the next command.
  uint32_t expected() const { return expected_; }
  bool has_role() const { return has_role_; }
  const ShellImage& image() const { return image_; }
  /// Chunks of the manifest, which come before those of the body.
  uint32_t manifest_chunks() const { return manifest_chunks_; }
  /// Bytes of a chunk; the last one of the body is shorter.
  uint32_t chunk_size(uint32_t chunk) const;

 private:
  struct Answer {
    uint32_t seq = 0;
    ShellKind kind{};
    ShellStatus status{};
  };

  void send(ShellKind kind, uint64_t to, ShellHeader header, const uint8_t* payload, uint32_t length);
  ShellHeader header_for(const Request& request, ShellKind kind, ShellStatus status);
  void answer(const Request& request, ShellKind kind, ShellStatus status, const uint8_t* payload = nullptr,
              uint32_t length = 0);
  void error(const Request& frame, ShellStatus status);
  void announce(uint64_t to);
  void send_status(ShellKind kind, uint64_t to, ShellHeader header);
  void open(const Request& frame);
  bool by_board(const Request& frame, const uint8_t* key) const;
  void rekey(const Request& frame);
  void command(const Request& frame);
  void begin(const Request& frame);
  void load(const Request& frame);
  void abort(const Request& frame);
  void reports(const Request& query);
  void write(const Request& frame);
  void read(const Request& frame);
  void registers(const Request& frame);
  void ask_register(const Request& frame);
  void start(const Request& frame);
  void arm(const Request& frame);
  void fire(const Request& frame);
  void begin_run(uint32_t kernel, uint64_t number);
  void stop_run();
  void ask_result(const Request& frame);
  void finish(const Request& frame);
  void bind(const Request& frame);
  void message(const Request& frame);
  void pump(StreamQueues& queues, uint64_t now);
  void new_challenge();
  void end_session(bool announced);
  ShellState at_rest() const;
  bool receiving(const Request& frame) const;

  Identity identity_;
  Platform& platform_;

  ShellState state_ = ShellState::Free;
  uint64_t challenge_ = 0, session_ = 0, owner_ = 0;
  uint32_t lease_ms_ = 0, expected_ = 1;
  uint64_t heard_ = 0, announced_ = 0, beat_ = 0, complained_ = 0, solicited_ = 0, told_ = 0;
  bool seen_any_ = false, complained_ever_ = false, solicited_ever_ = false, told_ever_ = false;
  uint64_t soliciting_ = 0;  // whom to announce to; 0: no request waits
  Answer answers_[shell_command_window];
  uint64_t rejected_ = 0;  // the session's last rejected write: status, and its number in the lower half

  ShellImage image_;
  uint64_t binding_ = 0;  // of the image that is received
  uint32_t manifest_chunks_ = 0, last_chunk_bytes_ = 0;
  bool has_ended_ = false;  // an image of the session was loaded or rejected: the last one, and its status
  uint64_t ended_binding_ = 0;
  ShellStatus ended_status_{};
  uint8_t role_root_[16] = {};
  bool has_role_ = false;
  bool suspended_ = false, kept_role_ = false;  ///< the local port loads a role; there was one before

  bool has_run_ = false;
  uint64_t run_ = 0;
  ShellRun result_;
  uint32_t code_ = 0;
  uint8_t armed_[32] = {};
  uint32_t armed_kernel_ = 0;
  uint64_t armed_run_ = 0;

  ShellStatusReport counters_;
};

}  // namespace gossamer::shell
