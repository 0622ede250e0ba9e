// SPDX-License-Identifier: Apache-2.0
/// Events of a trace: observations at tiles, multicast routers and hosts, each with its cycle.
///
/// The worker that simulates a part of the machine records its events; they wait until the trace collects them.
#pragma once

#include <cstdint>
#include <vector>

#include "flit.h"
#include "state.h"

namespace gossamer::sim {

/// One event.
struct TraceEvent {
  enum class What : uint8_t {
    // In a tile.
    State,  ///< a thread's activity has changed to `state`
    ThreadEnd,   ///< a thread has ended
    Trap,   ///< a thread has trapped
    Send,   ///< a thread's send was accepted: route, kind, destination in `state.address`, mask or key in `data`, a
            ///< key in `state.data` too
    MeshSend,    ///< a packet has entered the mailbox network; `data` is the digest of its contents
    FarSend,    ///< the same, for the other networks
    Receive,     ///< a packet has been accepted, of this tile or of the network; `data` the same
    Dispatch,   ///< the next accepted packet goes to threads, a mask in `data`
    Count,  ///< instructions since reset in `data`, flits out in `state.data`
    // In a multicast router of a board; `channel` is one of the board's.
    RouterReceive,      ///< a message by key has arrived; `data` is the digest
    RouterSend,      ///< a copy of the channel's first message has left, for `receivers` receivers; `data` the same
    RouterDone,  ///< no more copies of it follow
    // At a host.
    HostSend,  ///< a message has entered: kind, receivers, destination in `state.address`, key in `state.data`; `data`
            ///< is the digest
    HostReceive,  ///< a message has arrived; `data` the same
  };
  uint64_t cycle = 0;
  uint64_t data = 0;
  State state;
  What what = What::State;
  uint8_t thread = 0;
  uint8_t route = 0;
  uint8_t kind = 0;
  uint8_t channel = 0;
  uint8_t receivers = 0;
  bool local = false;
};

/// The events of one part of the machine, in order.
class TraceEvents {
 public:
  TraceEvent& add(uint64_t cycle, TraceEvent::What what) {
    TraceEvent& event = all_.emplace_back();
    event.cycle = cycle;
    event.what = what;
    return event;
  }
  const std::vector<TraceEvent>& all() const { return all_; }
  void forget() { all_.clear(); }

 private:
  std::vector<TraceEvent> all_;
};

/// A hash of a packet: its address and all of its contents.
class Digest {
 public:
  /// Adds a flit; returns whether it was the last.
  bool add(const Flit& flit) { return add(flit, flit.dest()); }
  /// The same for a flit whose address is rewritten on its way.
  bool add(const Flit& flit, uint32_t dest) {
    constexpr uint64_t kPrime = 0x9E37'79B9'7F4A'7C15;
    for (unsigned i = 0; i < 4; ++i) value_ = (value_ ^ flit.words[i]) * kPrime ^ value_ >> 29;
    value_ = (value_ ^ dest) * kPrime ^ value_ >> 29;
    value_ = (value_ ^ flit.kind()) * kPrime;
    return flit.last();
  }
  uint64_t take() {
    const uint64_t value = value_;
    value_ = 0;
    return value;
  }

 private:
  uint64_t value_ = 0;
};

/// Identifies the multicast router that receives a message by key. The address of a key names only a link, not a board,
/// and even that is removed on the way, so digests use these values instead.
class RouterAddress {
 public:
  /// The router of a board's tiles, of the host at its switch, and of the remote end of a link.
  static uint32_t tiles(unsigned board) { return at(board, 0); }
  static uint32_t host(unsigned board) { return at(board, kHost); }
  static uint32_t link(unsigned board, unsigned link) { return at(board, config::router::mesh_ports + link); }
  /// No router: there is no cable.
  static constexpr uint32_t kNowhere = static_cast<uint32_t>(config::Endpoint::Key) << config::AddressKey::kKindLsb;

 private:
  static constexpr unsigned kHost = 0xFF;
  static uint32_t at(unsigned board, unsigned port) { return kNowhere | (board + 1) << 8 | port; }
};

}  // namespace gossamer::sim
