// SPDX-License-Identifier: Apache-2.0
/// Trace events of a board's multicast routers: messages by key that arrive, their copies, and when the last copy has
/// left.
///
/// A channel's packets leave in the order of their arrival, the copies of a message in its position. So the message of
/// each copy is known, although the router rewrites it.
#pragma once

#include <bit>
#include <deque>
#include <utility>
#include <vector>

#include "probe.h"
#include "trace_event.h"

namespace gossamer::sim {

/// Simulation-only signals of one router, in gs_sim_multicast.
class RouterProbe {
 public:
  /// Finds the routers of a board, in the order of its ports; false if their signals are not as expected.
  static bool find(VerilatedContext& context, std::vector<RouterProbe>& routers) {
    for (const VerilatedVarNameMap* vars : Probe::scopes(context, "sim_consumed")) {
      if (!routers.emplace_back().find(*vars)) return false;
    }
    return true;
  }

  /// Masks of channels in which a flit arrived, left or was consumed in the last cycle.
  unsigned arrived() const { return *arrived_; }
  unsigned left() const { return *left_; }
  unsigned consumed() const { return *consumed_; }
  const Flit& arrived_flit() const { return *reinterpret_cast<const Flit*>(arrived_flit_); }
  const Flit& left_flit() const { return *reinterpret_cast<const Flit*>(left_flit_); }

 private:
  bool find(const VerilatedVarNameMap& vars) {
    return Probe::at(vars, "sim_came", arrived_) && Probe::at(vars, "sim_left", left_) &&
           Probe::at(vars, "sim_consumed", consumed_) && Probe::at(vars, "sim_came_flit", arrived_flit_) &&
           Probe::at(vars, "sim_left_flit", left_flit_);
  }

  const uint8_t *arrived_ = nullptr, *left_ = nullptr, *consumed_ = nullptr;
  const uint32_t *arrived_flit_ = nullptr, *left_flit_ = nullptr;
};

class RouterTrace {
 public:
  static constexpr unsigned kChannels = 8;  ///< of a router; a power of two

  /// `router_addresses` identify each router, `others` the router at the remote end of each link of the board.
  RouterTrace(std::vector<RouterProbe> routers, std::vector<uint32_t> router_addresses, std::vector<uint32_t> others)
      : routers_(std::move(routers)),
        router_addresses_(std::move(router_addresses)),
        others_(std::move(others)),
        channels_(routers_.size() * kChannels) {}

  /// Channels of all routers.
  unsigned channels() const { return static_cast<unsigned>(channels_.size()); }

  /// Samples all routers, once a cycle.
  void sample(uint64_t cycle) {
    for (unsigned r = 0; r < routers_.size(); ++r) {
      const RouterProbe& router = routers_[r];
      each(router.arrived(), [&](unsigned c) {
        arrived(r * kChannels + c, router.arrived_flit(), router_addresses_[r], cycle);
      });
      each(router.left(), [&](unsigned c) { left(r * kChannels + c, router.left_flit(), cycle); });
      each(router.consumed(), [&](unsigned c) { consumed(r * kChannels + c, cycle); });
    }
  }

  TraceEvents& events() { return events_; }
  const TraceEvents& events() const { return events_; }

 private:
  /// A packet that has begun to arrive and has not left.
  struct Packet {
    bool key = false;   ///< a message by key: copies of it leave
    bool reported = false;  ///< its arrival was reported
  };
  struct Channel {
    std::deque<Packet> packets;
    Digest in, out;
    unsigned receivers = 0;  ///< of the copy that is leaving
    bool inside = false;     ///< a packet has partly arrived
    bool truncated = false;       ///< that packet has left already: it exceeds the longest message and was truncated
    bool leaves = false;     ///< a packet has partly left
  };

  template <typename What>
  static void each(unsigned mask, What what) {
    for (; mask; mask &= mask - 1) what(static_cast<unsigned>(std::countr_zero(mask)));
  }

  void arrived(unsigned number, const Flit& flit, uint32_t router_address, uint64_t cycle) {
    Channel& channel = channels_[number];
    if (!channel.inside) {
      channel.packets.push_back({flit.is(config::FlitKind::Key), false});
      channel.inside = true;
      channel.truncated = false;
    }
    channel.in.add(flit, router_address);
    if (!flit.last()) return;
    channel.inside = false;
    const uint64_t packet = channel.in.take();
    if (channel.truncated || !channel.packets.back().key) return;
    channel.packets.back().reported = true;
    add(cycle, TraceEvent::What::RouterReceive, number).data = packet;
  }

  void left(unsigned number, const Flit& flit, uint64_t cycle) {
    Channel& channel = channels_[number];
    if (!channel.leaves) channel.receivers = flit.receivers();
    channel.leaves = !flit.last();
    channel.out.add(flit, address(flit));
    if (!flit.last()) return;
    const uint64_t packet = channel.out.take();
    if (channel.packets.empty()) return;
    if (!channel.packets.front().key) {
      pop(channel);
    } else if (channel.packets.front().reported) {
      TraceEvent& event = add(cycle, TraceEvent::What::RouterSend, number);
      event.data = packet;
      event.receivers = static_cast<uint8_t>(channel.receivers);
    }
  }

  void consumed(unsigned number, uint64_t cycle) {
    Channel& channel = channels_[number];
    if (channel.packets.empty()) return;
    if (channel.packets.front().reported) add(cycle, TraceEvent::What::RouterDone, number);
    pop(channel);
  }

  static void pop(Channel& channel) {
    channel.truncated = channel.inside && channel.packets.size() == 1;
    channel.packets.pop_front();
  }

  /// A copy's address, as the remote end sees it.
  uint32_t address(const Flit& flit) const {
    if (flit.endpoint() != config::Endpoint::Key) return flit.dest();
    using Address = config::AddressKey;
    const unsigned link = (flit.dest() >> Address::kLinkLsb & ((1U << Address::kLinkBits) - 1)) - 1;
    return link < others_.size() ? others_[link] : RouterAddress::kNowhere;
  }

  TraceEvent& add(uint64_t cycle, TraceEvent::What what, unsigned channel) {
    TraceEvent& event = events_.add(cycle, what);
    event.channel = static_cast<uint8_t>(channel);
    return event;
  }

  std::vector<RouterProbe> routers_;
  std::vector<uint32_t> router_addresses_, others_;
  std::vector<Channel> channels_;
  TraceEvents events_;
};

}  // namespace gossamer::sim
