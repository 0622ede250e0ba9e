// SPDX-License-Identifier: Apache-2.0
/// The host's end of a network: flits that wait to enter, and packets assembled from received flits.
#pragma once

#include <gossamer/config.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "debug_port.h"
#include "flit.h"
#include "host_trace.h"
#include "records.h"

namespace gossamer::sim {

constexpr unsigned kNetworks = 4;

/// Flits into a network at one port, and packets out of it.
class Network {
 public:
  bool pending() const { return next_ < out_.size(); }
  size_t left() const { return out_.size() - next_; }
  const Flit& head() const { return out_[next_]; }
  void pop() {
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
  std::vector<Flit> out_;
  size_t next_ = 0;
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
    return static_cast<uint32_t>(queued() + receiver_.replies()) + (debug_ ? debug_->exchanging() : 0);
  }

  /// From now on, this host drives the debug buses of all boards' tiles.
  void drive(TileHost* tiles, unsigned board_tiles, unsigned count) {
    debug_ = std::make_unique<DebugPort>(tiles, board_tiles, count);
  }
  bool drives() const { return debug_ != nullptr; }
  /// Threads of these tiles of a board are about to be started: DebugPort::expect.
  void expect(unsigned board, uint64_t tiles, bool add) {
    debug_->expect(board, tiles, add, [this](const Flit& flit) { queue(flit); });
  }
  /// Sends bytes that requests have left at the tiles' buses.
  void pump(uint64_t cycle) {
    if (debug_) debug_->pump(cycle, [this](const Flit& flit) { queue(flit); });
  }

  /// Sends whole packets, and waits for `replies` replies.
  void send(const uint8_t* bytes, size_t count, uint32_t replies) {
    receiver_.wait_for(replies);
    for (size_t at = 0; at + sizeof(Flit) <= count; at += sizeof(Flit)) {
      Flit flit;
      std::memcpy(flit.words.data(), bytes + at, sizeof flit);
      if (debug_) debug_->on_send(flit);
      queue(flit);
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
    if (packet.empty()) return;
    if (debug_ && debug_->take(packet, cycle, [this](const Flit& its) { queue(its); })) return;
    receiver_.receive(packet, cycle, number_);
  }

 private:
  void queue(const Flit& flit) { lanes_[flit.network()].send(flit); }

  const unsigned number_;
  std::array<Network, kNetworks> lanes_;
  unsigned last_lane_ = 0;
  std::unique_ptr<DebugPort> debug_;
  HostReceiver receiver_;
};

/// A host at the port of a single tile.
class TilePort {
 public:
  Network& network() { return network_; }
  HostReceiver& ear() { return receiver_; }
  const HostReceiver& ear() const { return receiver_; }
  /// Flits that wait to enter.
  size_t queued() const { return network_.left(); }
  bool pending() const { return network_.pending(); }
  /// Remaining work of the last request: waiting flits, and outstanding replies.
  uint32_t exchanging() const { return static_cast<uint32_t>(queued() + receiver_.replies()); }

  /// Sends whole packets, and waits for `replies` replies of the loader.
  void send(const uint8_t* bytes, size_t count, uint32_t replies) {
    receiver_.wait_for(replies);
    network_.send(bytes, count);
  }
  void on_accepted(uint64_t cycle) {
    receiver_.on_send(0, network_.head(), cycle);
    network_.pop();
  }
  void receive(const Flit& flit, uint64_t cycle) {
    const std::vector<Flit> packet = network_.take(flit);
    if (!packet.empty()) receiver_.receive(packet, cycle, 0);
  }

 private:
  Network network_;
  HostReceiver receiver_;
};

}  // namespace gossamer::sim
