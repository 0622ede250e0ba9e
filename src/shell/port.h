// SPDX-License-Identifier: Apache-2.0
/// Ports to an Ethernet: a network interface (AF_PACKET, needs CAP_NET_RAW), or a switch on a Unix socket (no root).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "shell/frame.h"

namespace gossamer::shell {

/// A port that cannot be used: what() says why and what to do.
struct PortError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Sends and receives whole Ethernet frames without their FCS.
class Port {
 public:
  virtual ~Port() = default;
  /// Sends a frame; waits while the port is full. Throws PortError if the port has failed.
  virtual void send(std::span<const uint8_t> frame) = 0;
  /// Sends frames in order with few system calls.
  virtual void send_all(std::span<const std::span<const uint8_t>> frames) = 0;
  /// The next frame; empty if none arrives within `timeout_ms` (-1: no limit). Valid until the next call.
  ///
  /// During a configuration, a call that may wait collects frames for a millisecond before it sleeps, like the
  /// interrupt moderation of a network card: a receiver that sleeps after each frame costs the sender a wake-up of
  /// each.
  virtual std::span<const uint8_t> next(int timeout_ms) = 0;
  /// From now on, a wait for a frame also ends when this descriptor is readable.
  void also_wait_for(int descriptor) { also_ = descriptor; }
  /// Most bytes of a frame after its Ethernet header.
  virtual unsigned mtu() const = 0;
  /// Frames of the MTU that wait in the port before one is lost.
  virtual unsigned capacity() const = 0;
  /// The port's own address.
  virtual Mac mac() const = 0;

 protected:
  int also_ = -1;
};

/// Opens `name`: an interface ("eth0"), or the path of a switch's socket (contains a "/").
///
/// `mac` is the address at a switch; an interface has its own. Only frames of the given EtherTypes are received, and on
/// an interface only those of other senders. Throws PortError.
std::unique_ptr<Port> open_port(const std::string& name, const EtherTypes& types, const Mac& mac);

/// The first message of a client of a switch, before its frames.
struct SwitchHello {
  static constexpr uint32_t kMagic = 0x53574731;
  uint32_t magic = kMagic;
  uint32_t mtu = 0;     ///< in the answer: bytes after the Ethernet header
  uint8_t mac[6] = {};  ///< of the client
  uint8_t reserved[2] = {};
  char name[32] = {};  ///< of the port, for statistics
};

}  // namespace gossamer::shell
