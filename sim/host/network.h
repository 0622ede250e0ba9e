// SPDX-License-Identifier: Apache-2.0
/// The host's end of a network: flits that wait to enter, and packets assembled from received flits.
#pragma once

#include <gossamer/config.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "flit.h"
#include "host_trace.h"
#include "records.h"

namespace gossamer::sim {

constexpr unsigned kNetworks = 4;

/// The column of an exit of the mesh; they are numbered from the west (gs_noc_pkg).
constexpr unsigned exit_column(unsigned number) {
  return (2 * number + 1) * config::mesh::width / (2 * config::router::mesh_ports);
}

/// Flits into a network at one port, and packets out of it.
class Network {
 public:
  bool pending() const { return next_ < out_.size(); }
  size_t left() const { return out_.size() - next_; }
  const Flit& head() const { return out_[next_]; }
  /// Whether the packet at the head is a message, which idle detection counts: it begins with no header.
  bool message() const { return pending() && (inside_ ? message_ : begins_message()); }
  /// Whether the head may enter; a message may begin only while idle detection is `open` for it.
  bool may_enter(bool open) const { return pending() && (open || inside_ || !begins_message()); }
  void pop() {
    message_ = message();
    inside_ = !head().last();
    if (++next_ == out_.size()) {
      out_.clear();
      next_ = 0;
    }
  }

  /// `bytes` holds whole flits.
  void send(const uint8_t* bytes, size_t count) {
    const size_t before = out_.size();
    out_.resize(before + count / sizeof(Flit));
    if (count) std::memcpy(out_.data() + before, bytes, count / sizeof(Flit) * sizeof(Flit));
  }

  void send(const Flit& flit) { out_.push_back(flit); }

  /// Receives a flit; returns the whole packet with its last flit, else an empty one.
  std::vector<Flit> take(const Flit& flit) {
    std::vector<Flit>& part = parts_[flit.network()];
    part.push_back(flit);
    if (!flit.last()) return {};
    std::vector<Flit> whole;
    whole.swap(part);
    return whole;
  }

 private:
  bool begins_message() const { return static_cast<config::FlitKind>(head().kind()) != config::FlitKind::Header; }

  std::vector<Flit> out_;
  size_t next_ = 0;
  bool inside_ = false;   ///< a packet has partly entered
  bool message_ = false;  ///< it is a message
  std::array<std::vector<Flit>, kNetworks> parts_;
};

/// Packets that the host receives, and the number of replies that it waits for.
class HostReceiver {
 public:
  Records& records() { return records_; }
  uint64_t progress() const { return progress_; }
  uint32_t replies() const { return replies_; }
  void wait_for(uint32_t replies) { replies_ = replies; }
  /// Received messages, and failed accesses of accelerators.
  uint64_t messages() const { return messages_; }
  uint64_t faults() const { return faults_; }
  void trace(HostTrace* trace) { trace_ = trace; }
  /// A flit was queued for the network, in its lane.
  void on_send(unsigned lane, const Flit& flit, uint64_t cycle) {
    progress_ = cycle;
    if (trace_) trace_->on_send(lane, flit, cycle);
  }

  /// A host has received a packet.
  void receive(const std::vector<Flit>& packet, uint64_t cycle, unsigned host) {
    records_.put(Kind::Packet, cycle, host, packet.data(), packet.size() * sizeof(Flit));
    const Flit& head = packet.front();
    if (static_cast<config::FlitKind>(head.kind()) != config::FlitKind::Header) {
      progress_ = cycle;
      ++messages_;
      if (trace_) trace_->on_receive(packet, cycle);
      return;
    }
    // The lowest bits of a header are the operation of a loader (load_op) or of a control unit (control_op).
    const uint32_t op = head.words[0] & 0xF;
    if (op == static_cast<uint32_t>(config::ControlOp::Event)) return;
    progress_ = cycle;
    if (op == static_cast<uint32_t>(config::LoadOp::Fault)) {
      ++faults_;
    } else if (replies_) {
      --replies_;
    }
  }

 private:
  Records records_;
  uint64_t progress_ = 0;
  uint64_t messages_ = 0, faults_ = 0;
  uint32_t replies_ = 0;
  HostTrace* trace_ = nullptr;
};

/// A host at a board's switch: one flit a cycle in each direction, of any network that is ready.
class HostPort {
 public:
  explicit HostPort(unsigned number = 0) : number_(number) {}

  HostReceiver& ear() { return receiver_; }
  const HostReceiver& ear() const { return receiver_; }
  /// Flits that wait to enter.
  size_t queued() const {
    size_t sum = 0;
    for (const Network& lane : lanes_) sum += lane.left();
    return sum;
  }
  bool pending() const {
    for (const Network& lane : lanes_) {
      if (lane.pending()) return true;
    }
    return false;
  }
  uint32_t exchanging() const {
    return static_cast<uint32_t>(queued() + receiver_.replies());
  }

  /// Sends whole packets, and waits for `replies` replies.
  void send(const uint8_t* bytes, size_t count, uint32_t replies) {
    receiver_.wait_for(replies);
    for (size_t at = 0; at + sizeof(Flit) <= count; at += sizeof(Flit)) {
      Flit flit;
      std::memcpy(flit.words.data(), bytes + at, sizeof flit);
      lanes_[flit.network()].send(flit);
    }
  }

  /// Arbitration: the network whose flit enters in this cycle, among those in `ready`; kNetworks if none does.
  unsigned choose(unsigned ready) {
    for (unsigned i = 1; i <= kNetworks; ++i) {
      const unsigned lane = (last_lane_ + i) % kNetworks;
      if (ready >> lane & 1 && lanes_[lane].pending()) return lane;
    }
    return kNetworks;
  }
  const Flit& head(unsigned lane) const { return lanes_[lane].head(); }
  void on_accepted(unsigned lane, uint64_t cycle) {
    last_lane_ = lane;
    receiver_.on_send(lane, lanes_[lane].head(), cycle);
    lanes_[lane].pop();
  }
  void receive(const Flit& flit, uint64_t cycle) {
    const std::vector<Flit> packet = lanes_[flit.network()].take(flit);
    if (!packet.empty()) receiver_.receive(packet, cycle, number_);
  }

 private:
  const unsigned number_;
  std::array<Network, kNetworks> lanes_;
  unsigned last_lane_ = 0;
  HostReceiver receiver_;
};

/// The host's end of a whole network: of a board's at each exit of its mesh, of a tile's at its port.
template <unsigned kTiles, unsigned kExits>
class HostNetwork {
 public:
  Network& exit(unsigned number) { return exits_[number]; }
  HostReceiver& ear() { return receiver_; }
  const HostReceiver& ear() const { return receiver_; }
  /// Flits that wait to enter.
  size_t queued() const {
    size_t sum = 0;
    for (const Network& exit : exits_) sum += exit.left();
    return sum;
  }
  bool pending() const {
    for (const Network& exit : exits_) {
      if (exit.pending()) return true;
    }
    return false;
  }
  /// Remaining work of the last request: waiting flits, and outstanding replies.
  uint32_t exchanging() const {
    return static_cast<uint32_t>(queued() + receiver_.replies());
  }

  /// Sends whole packets, and waits for `replies` replies of loaders. Each packet enters at the exit nearest to its
  /// tile; a packet to the tile address of all ones is sent to each tile.
  void send(const uint8_t* bytes, size_t count, uint32_t replies) {
    receiver_.wait_for(replies);
    std::vector<Flit> packet;
    for (size_t at = 0; at + sizeof(Flit) <= count; at += sizeof(Flit)) {
      Flit flit;
      std::memcpy(flit.words.data(), bytes + at, sizeof flit);
      packet.push_back(flit);
      if (!flit.last()) continue;
      if (kTiles > 1 && (flit.dest() & kEvery) == kEvery) {
        for (unsigned tile = 0; tile < kTiles; ++tile) send(packet, tile_address(tile));
      } else {
        send(packet, flit.dest());
      }
      packet.clear();
    }
  }

  /// The network has accepted a flit at an exit.
  void on_accepted(unsigned exit, uint64_t cycle) {
    receiver_.on_send(exit, exits_[exit].head(), cycle);
    exits_[exit].pop();
  }

  /// A flit has arrived at an exit.
  void receive(unsigned exit, const Flit& flit, uint64_t cycle) {
    const std::vector<Flit> packet = exits_[exit].take(flit);
    if (!packet.empty()) receiver_.receive(packet, cycle, 0);
  }

 private:
  using Tile = config::AddressTile;
  static constexpr uint32_t kEvery = (((1U << Tile::kTileYBits) - 1) << Tile::kTileYLsb) |
                                     (((1U << Tile::kTileXBits) - 1) << Tile::kTileXLsb) |
                                     (((1U << Tile::kBoardBits) - 1) << Tile::kBoardLsb);

  static uint32_t tile_address(unsigned tile) {
    return static_cast<uint32_t>(config::Endpoint::Tile) << Tile::kKindLsb |
           tile / config::mesh::width << Tile::kTileYLsb | tile % config::mesh::width << Tile::kTileXLsb;
  }

  void send(const std::vector<Flit>& packet, uint32_t dest) {
    const unsigned column = dest >> Tile::kTileXLsb & ((1U << Tile::kTileXBits) - 1);
    Network& exit = exits_[nearest(column)];
    for (Flit flit : packet) {
      flit.dest() = dest;
      exit.send(flit);
    }
  }

  static unsigned nearest(unsigned column) {
    unsigned best = 0;
    const auto distance = [column](unsigned e) {
      const unsigned its = exit_column(e);
      return its > column ? its - column : column - its;
    };
    for (unsigned e = 1; e < kExits; ++e) {
      if (distance(e) < distance(best)) best = e;
    }
    return best;
  }

  std::array<Network, kExits> exits_;
  HostReceiver receiver_;
};

}  // namespace gossamer::sim
