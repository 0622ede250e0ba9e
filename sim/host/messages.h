// SPDX-License-Identifier: Apache-2.0
/// Identifies which message a thread or a host receives: follows each message from its send to its receivers' queues.
///
/// Packets do not name their sender. But a mailbox sends in order on each output, packets within a tile arrive in
/// order, each thread's queue is in order, and a channel of a multicast router makes all copies of one message before
/// those of the next. Between tiles, routers and hosts, a packet is recognized by its address and contents; among
/// several equal packets in flight to one destination the oldest is assumed, and the arrow is marked as ambiguous.
#pragma once

#include <gossamer/config.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <unordered_map>
#include <vector>

#include "trace_event.h"
#include "trace_decimation.h"

namespace gossamer::sim {

class Messages {
 public:
  /// `channels` are those of a board's multicast routers. Hosts are numbered after all threads.
  Messages(unsigned tiles, unsigned threads, unsigned boards, unsigned channels)
      : threads_(threads),
        channels_(channels),
        tiles_(tiles),
        routers_(boards * channels),
        queues_(tiles * threads) {}

  /// Handles an event of a tile's mailbox; calls `done` for messages without further receivers.
  template <typename Done>
  void add_tile_events(unsigned tile, const TraceEvent& event, Done done) {
    Mailbox& mailbox = tiles_[tile];
    switch (event.what) {
      case TraceEvent::What::Send: send(tile, event); return;
      case TraceEvent::What::MeshSend: leave(pop(mailbox.net), event.data); return;
      case TraceEvent::What::FarSend: leave_far(pop(mailbox.far), event.data, done); return;
      case TraceEvent::What::Receive: 
        mailbox.accepted.push_back(event.local ? pop(mailbox.local) : arrive(event.data));
        return;
      case TraceEvent::What::Dispatch: deal(tile, event.data); return;
      default: return;
    }
  }

  /// Handles an event of a board's multicast routers.
  template <typename Done>
  void add_router_events(unsigned board, const TraceEvent& event, Done done) {
    Parts& parts = routers_[board * channels_ + event.channel];
    if (event.what == TraceEvent::What::RouterReceive) {
      parts.push_back(arrive(event.data));
    } else if (event.what == TraceEvent::What::RouterDone) {
      drop(pop(parts), done);
    } else if (!parts.empty() && parts.front().message != kNone) {
      messages_[parts.front().message].uses += event.receivers;
      leave(parts.front(), event.data);
    }
  }

  /// A host has sent a message.
  void host_send(uint32_t host, const TraceEvent& event) {
    Message message = made(host, event);
    message.uses = event.receivers;
    leave({keep(message), false}, event.data);
  }

  /// A host receives a message; returns it with its sender, if that is known.
  Arrow host_receive(uint32_t host, const TraceEvent& event) { return received(arrive(event.data), host, event.cycle); }

  /// A thread receives its next message.
  Arrow receive(uint32_t thread, uint64_t cycle) { return received(pop(queues_[thread]), thread, cycle); }

  /// Calls `done` for messages without a receiver, at the end.
  template <typename Done>
  void rest(Done done) {
    for (const Message& message : messages_) {
      if (message.uses && !message.received) done(message.arrow);
    }
  }

  uint64_t sent() const { return sent_; }
  uint64_t received() const { return arrows_; }
  uint64_t alike() const { return alike_; }

 private:
  enum Route : uint8_t { kLocal = 0, kNet = 1, kFar = 2 };  ///< route_e of gs_mailbox_pkg

  struct Message {
    Arrow arrow;
    uint64_t key = 0;    ///< key by which it was sent, plus 1; 0: none
    unsigned uses = 1;   ///< receivers and routers that it has not reached yet; 0: the entry is free
    bool received = false;  ///< a receiver has received it
  };
  /// A message, or a copy of it, in flight.
  struct Part {
    uint32_t message = kNone;
    bool alike = false;  ///< it may be confused with an equal one
  };
  using Parts = std::deque<Part>;
  struct Mailbox {
    Parts local, net, far;  ///< sent and not yet output, by output
    Parts accepted;         ///< arrived and not yet dispatched
  };

  Message made(uint32_t sender, const TraceEvent& event) {
    ++sent_;
    const auto kind = static_cast<config::FlitKind>(event.kind);
    Message message;
    if (kind == config::FlitKind::Key) message.key = uint64_t{event.state.data} + 1;
    message.arrow.from = event.cycle;
    message.arrow.sender = sender;
    message.arrow.dest = event.state.address;
    message.arrow.name = kind == config::FlitKind::Mask ? "multicast"
                         : kind == config::FlitKind::Key ? "send by key"
                         : event.route == kFar           ? "send far"
                                                         : "send";
    return message;
  }

  void send(unsigned tile, const TraceEvent& event) {
    Message message = made(tile * threads_ + event.thread, event);
    if (static_cast<config::FlitKind>(event.kind) == config::FlitKind::Mask) {
      message.uses = static_cast<unsigned>(std::popcount(event.data));
    }
    Mailbox& mailbox = tiles_[tile];
    (event.route == kLocal ? mailbox.local : event.route == kNet ? mailbox.net : mailbox.far)
        .push_back({keep(message), false});
  }

  uint32_t keep(const Message& message) {
    if (free_.empty()) {
      messages_.push_back(message);
      return static_cast<uint32_t>(messages_.size() - 1);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    messages_[number] = message;
    return number;
  }

  void leave(Part part, uint64_t packet) {
    if (part.message != kNone) in_flight_[packet].push_back(part);
  }

  /// On the other networks, only messages to hosts are followed.
  template <typename Done>
  void leave_far(Part part, uint64_t packet, Done done) {
    if (part.message == kNone) return;
    constexpr unsigned kKind = config::AddressHost::kKindLsb;
    if (messages_[part.message].arrow.dest >> kKind == static_cast<uint32_t>(config::Endpoint::Host)) {
      leave(part, packet);
    } else {
      drop(part, done);
    }
  }

  Part arrive(uint64_t packet) {
    const auto found = in_flight_.find(packet);
    if (found == in_flight_.end()) return {};
    Parts& same = found->second;
    // Messages of one sender and one key take the same path and stay in order.
    const Message& first = messages_[same.front().message];
    const auto other = [&](Part part) {
      const Message& its = messages_[part.message];
      return its.arrow.sender != first.arrow.sender || its.key != first.key;
    };
    if (std::any_of(same.begin(), same.end(), other)) {
      for (Part& part : same) part.alike = true;
    }
    const Part part = pop(same);
    if (same.empty()) in_flight_.erase(found);
    return part;
  }

  void deal(unsigned tile, uint64_t threads) {
    const Part part = pop(tiles_[tile].accepted);
    for (; threads; threads &= threads - 1) {
      queues_[tile * threads_ + static_cast<unsigned>(std::countr_zero(threads))].push_back(part);
    }
  }

  Arrow received(Part part, uint32_t receiver, uint64_t cycle) {
    Arrow arrow;
    if (part.message != kNone) {
      Message& message = messages_[part.message];
      arrow = message.arrow;
      arrow.id = ++arrows_;
      arrow.alike = part.alike;
      alike_ += part.alike;
      message.received = true;
      release(part.message);
    }
    arrow.to = cycle;
    arrow.receiver = receiver;
    if (!arrow.name) arrow.name = "receive";
    return arrow;
  }

  /// Ends a part that is not forwarded any further.
  template <typename Done>
  void drop(Part part, Done done) {
    if (part.message == kNone) return;
    Message& message = messages_[part.message];
    if (message.uses == 1 && !message.received) done(message.arrow);
    release(part.message);
  }

  void release(uint32_t number) {
    if (--messages_[number].uses == 0) free_.push_back(number);
  }

  static Part pop(Parts& parts) {
    if (parts.empty()) return {};
    const Part first = parts.front();
    parts.pop_front();
    return first;
  }

  const unsigned threads_, channels_;
  std::vector<Mailbox> tiles_;
  std::vector<Parts> routers_;  ///< by channel: received and not yet consumed
  std::vector<Parts> queues_;   ///< by thread
  std::unordered_map<uint64_t, Parts> in_flight_;
  std::vector<Message> messages_;
  std::vector<uint32_t> free_;
  uint64_t sent_ = 0, arrows_ = 0, alike_ = 0;
};

}  // namespace gossamer::sim
