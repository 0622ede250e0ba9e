// SPDX-License-Identifier: Apache-2.0
/// Trace events of a host: its messages when they enter the network, and those that it receives.
#pragma once

#include <vector>

#include "trace_event.h"

namespace gossamer::sim {

class HostTrace {
 public:
  /// `board` is the board whose switch the host is connected to.
  explicit HostTrace(unsigned board) : router_(RouterAddress::host(board)) {}

  /// A flit has entered the network; those of a lane enter packet by packet.
  void on_send(unsigned lane, const Flit& flit, uint64_t cycle) {
    if (lane >= lanes_.size()) lanes_.resize(lane + 1);
    Lane& its = lanes_[lane];
    if (!its.inside) {
      its.inside = true;
      its.head = flit;
    }
    its.digest.add(flit, flit.endpoint() == config::Endpoint::Key ? router_ : flit.dest());
    if (!flit.last()) return;
    its.inside = false;
    const uint64_t packet = its.digest.take();
    if (!message(its.head)) return;
    TraceEvent& event = events_.add(cycle, TraceEvent::What::HostSend);
    event.data = packet;
    event.kind = static_cast<uint8_t>(its.head.kind());
    event.receivers = static_cast<uint8_t>(its.head.receivers());
    event.state.address = its.head.dest();
    event.state.data = its.head.words[0];
  }

  /// A message has arrived.
  void on_receive(const std::vector<Flit>& packet, uint64_t cycle) {
    Digest digest;
    for (const Flit& flit : packet) digest.add(flit);
    events_.add(cycle, TraceEvent::What::HostReceive).data = digest.take();
  }

  TraceEvents& events() { return events_; }
  const TraceEvents& events() const { return events_; }

 private:
  struct Lane {
    Digest digest;
    Flit head;
    bool inside = false;
  };

  /// Whether a packet is a message to a thread; loaders, control units and accelerators receive packets, too.
  static bool message(const Flit& head) {
    const config::Endpoint to = head.endpoint();
    return !head.is(config::FlitKind::Header) &&
           (to == config::Endpoint::Thread || to == config::Endpoint::Tile || to == config::Endpoint::Key);
  }

  const uint32_t router_;
  std::vector<Lane> lanes_;
  TraceEvents events_;
};

}  // namespace gossamer::sim
