// SPDX-License-Identifier: Apache-2.0
/// What a trace is made of: things seen at tiles, multicast routers and hosts, each in its cycle.
///
/// Each part of the machine is looked at by the worker that simulates it. What was seen waits until the trace collects
/// it.
#pragma once

#include <cstdint>
#include <vector>

#include "flit.h"
#include "state.h"

namespace gossamer::sim {

/// One thing seen.
struct TraceEvent {
  enum class What : uint8_t {
    // In a tile.
    State,  ///< a thread does something else: `state`
    ThreadEnd,   ///< a thread has ended
    Trap,   ///< a thread has trapped
    Send,   ///< a thread's send was accepted: route, kind, destination in `state.address`, mask or key in `data`, a
            ///< key in `state.data` too
    MeshSend,    ///< a packet has left for the mailbox network; `data` stands for all that is in it
    FarSend,    ///< the same, for the other networks
    Receive,     ///< a packet has been accepted, of this tile or of the network; `data` the same
    Dispatch,   ///< the next of the accepted packets goes to threads, a bit each in `data`
    Count,  ///< instructions since reset in `data`, flits out in `state.data`
    // In a multicast router of a board; `channel` is one of the board's.
    RouterReceive,      ///< a message by key; `data` stands for all that is in it
    RouterSend,      ///< a copy of the channel's first message has left, to so many `receivers`; `data` the same
    RouterDone,  ///< no more copies of it come
    // At a host.
    HostSend,  ///< a message has entered: kind, receivers, destination in `state.address`, key in `state.data`; `data`
            ///< stands for all of it
    HostReceive,  ///< a message has come; `data` the same
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

/// Those of one part of the machine, in their order.
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

/// A number that stands for a packet: its address and all of its contents.
class Digest {
 public:
  /// A further flit; whether it was the last.
  bool add(const Flit& flit) { return add(flit, flit.dest()); }
  /// The same of one whose address says something else at its other end.
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

/// Where a message by key meets a multicast router: the address of a key names its link, not its board, and loses even
/// that on its way. So this stands for it.
class RouterAddress {
 public:
  /// That of the tiles of a board, of the host at its switch, and of the routers behind its links.
  static uint32_t tiles(unsigned board) { return at(board, 0); }
  static uint32_t host(unsigned board) { return at(board, 1); }
  static uint32_t link(unsigned board, unsigned link) { return at(board, 2 + link); }
  /// No router: there is no cable.
  static constexpr uint32_t kNowhere = static_cast<uint32_t>(config::Endpoint::Key) << config::AddressKey::kKindLsb;

 private:
  static uint32_t at(unsigned board, unsigned port) { return kNowhere | (board + 1) << 8 | port; }
};

}  // namespace gossamer::sim
