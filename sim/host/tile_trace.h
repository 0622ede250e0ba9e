// SPDX-License-Identifier: Apache-2.0
/// Trace events of one tile: changes of its threads' activity, and messages at its mailbox.
#pragma once

#include <cstdint>
#include <vector>

#include "mailbox_probe.h"
#include "probe.h"
#include "tile_host.h"
#include "trace_event.h"

namespace gossamer::sim {

class TileTrace : public ThreadEnds {
 public:
  static constexpr unsigned kCount = 1024;  ///< cycles between two counts; a power of two

  TileTrace(const Probe* probe, const MailboxProbe* mailbox, unsigned threads, unsigned board)
      : probe_(probe), mailbox_(mailbox), threads_(threads), router_(RouterAddress::tiles(board)) {}

  /// Starts to observe the tile.
  void begin() { toggles_ = mailbox_->toggles(); }

  /// Samples all threads and the mailbox, once a cycle.
  void sample(uint64_t cycle) {
    for (unsigned t = 0; t < threads_.size(); ++t) {
      const Doing doing = probe_->doing(t);
      if (doing == threads_[t].doing || (threads_[t].over && doing != Doing::Runs)) continue;
      threads_[t] = {doing, false};
      add(cycle, TraceEvent::What::State, t).state = probe_->state(t);
    }
    const MailboxProbe::Toggles now = mailbox_->toggles(), before = toggles_;
    toggles_ = now;
    if (now.send != before.send) {
      TraceEvent& event = add(cycle, TraceEvent::What::Send, mailbox_->send_thread());
      event.route = mailbox_->send_route();
      event.kind = mailbox_->send_kind();
      event.state.address = mailbox_->send_dest();
      event.data = mailbox_->send_head();
      event.state.data = static_cast<uint32_t>(event.data);
    }
    if (now.out != before.out) {
      ++flits_;
      const Flit& flit = mailbox_->out_flit();
      const bool key = flit.endpoint() == config::Endpoint::Key;
      if (out_.add(flit, key ? router_ : flit.dest())) add(cycle, TraceEvent::What::MeshSend).data = out_.take();
    }
    if (now.far != before.far && far_.add(mailbox_->far_flit())) {
      add(cycle, TraceEvent::What::FarSend).data = far_.take();
    }
    if (now.in != before.in) incoming(cycle);
    if (now.deal != before.deal) add(cycle, TraceEvent::What::Dispatch).data = mailbox_->deal_mask();
    if (cycle % kCount == 0) {
      TraceEvent& event = add(cycle, TraceEvent::What::Count);
      event.data = probe_->issued();
      event.state.data = flits_;
    }
  }

  /// A thread has ended. In the core it still waits for the answer to its last request.
  void end(unsigned thread, bool trap, uint64_t cycle) override {
    threads_[thread] = {Doing::Nothing, true};
    add(cycle, trap ? TraceEvent::What::Trap : TraceEvent::What::ThreadEnd, thread);
  }

  TraceEvents& events() { return events_; }
  const TraceEvents& events() const { return events_; }

 private:
  struct Thread {
    Doing doing = Doing::Nothing;
    bool over = false;  ///< it has ended or trapped, and was not restarted
  };

  void incoming(uint64_t cycle) {
    const Flit& flit = mailbox_->in_flit();
    if (mailbox_->in_local()) {
      if (flit.last()) add(cycle, TraceEvent::What::Receive).local = true;
    } else if (in_.add(flit)) {
      const uint64_t packet = in_.take();
      if (!mailbox_->in_dropped()) add(cycle, TraceEvent::What::Receive).data = packet;
    }
  }

  TraceEvent& add(uint64_t cycle, TraceEvent::What what, unsigned thread = 0) {
    TraceEvent& event = events_.add(cycle, what);
    event.thread = static_cast<uint8_t>(thread);
    return event;
  }

  const Probe* probe_;
  const MailboxProbe* mailbox_;
  std::vector<Thread> threads_;
  MailboxProbe::Toggles toggles_;
  const uint32_t router_;  ///< the router of its messages by key
  Digest out_, far_, in_;
  uint32_t flits_ = 0;
  TraceEvents events_;
};

}  // namespace gossamer::sim
