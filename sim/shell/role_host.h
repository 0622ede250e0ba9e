// SPDX-License-Identifier: Apache-2.0
/// The role of a simulated board: a shared object (include/gossamer/role.h), its registers, its kernel's thread, and
/// the packets between the kernel and the shell. The software twin and the simulation of the shell's RTL use it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gossamer/role.h"

namespace gossamer::shell {

class RoleHost {
 public:
  /// `memory` outlives the host; a packet has at most `most_packet` bytes, as many as a frame holds.
  RoleHost(uint8_t* memory, uint64_t memory_bytes, uint32_t board_type, size_t most_packet);
  ~RoleHost();
  RoleHost(const RoleHost&) = delete;
  RoleHost& operator=(const RoleHost&) = delete;

  /// Replaces the role, whose kernel is stopped; false if the bytes are no role for this board, which keeps the old
  /// one.
  bool load(std::span<const uint8_t> bytes);
  bool loaded() const { return role_ != nullptr; }
  uint16_t streams() const;
  uint32_t& register_at(uint32_t address);

  void start(uint32_t kernel);
  /// Notifies the kernel to stop, and waits for its end. A kernel that ignores this is cancelled, as the board's reset
  /// ends it.
  void stop();
  /// Kernels that were cancelled.
  uint32_t resets() const { return resets_; }
  bool running() const { return run_ != nullptr; }

  /// How a kernel has ended.
  struct Outcome {
    int code = 0;
    gs_role_result result{};
  };
  /// The outcome of the kernel, once it has ended.
  std::optional<Outcome> ended();

  // Packets of a stream; a kernel is running or has run.
  /// Places for packets to the kernel.
  uint32_t inward_room(uint16_t stream);
  void deliver(uint16_t stream, std::span<const uint8_t> packet);
  /// Whether the kernel has taken a packet since the last call.
  bool inward_taken(uint16_t stream);
  /// Packets of the kernel that are not retired, and one of them.
  uint32_t outward_held(uint16_t stream);
  std::vector<uint8_t> outward(uint16_t stream, uint32_t index);
  void outward_retire(uint16_t stream, uint32_t packets);

  // Frames of links; without a running kernel none are held, and those that arrive are lost.
  uint16_t links() const;
  bool link_holds(uint16_t link);
  /// Moves the next frames of a link to `payload` in pieces (layout shell_link_piece), `most` bytes at most.
  void link_take(uint16_t link, std::vector<uint8_t>& payload, size_t most);
  /// Passes the frames of such a payload to the kernel; false if it is malformed. `gap`: a payload before it is
  /// missing.
  bool link_deliver(uint16_t link, bool gap, std::span<const uint8_t> payload);
  /// The next whole frame of a link, or an empty one. A caller of `link_take` does not use it.
  std::vector<uint8_t> link_next(uint16_t link);
  /// Passes a whole frame to the kernel.
  void link_pass(uint16_t link, std::span<const uint8_t> frame);

  /// Readable when the kernel has sent something since `awake` was called.
  int wake_descriptor() const { return wake_; }
  void awake();

 private:
  struct Role;
  struct Run;

  uint8_t* memory_;
  uint64_t memory_bytes_;
  uint32_t board_type_;
  size_t most_packet_;
  std::unique_ptr<Role> role_;
  std::unique_ptr<Run> run_;
  uint32_t resets_ = 0;
  int wake_ = -1;
};

}  // namespace gossamer::shell
