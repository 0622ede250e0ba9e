// SPDX-License-Identifier: Apache-2.0
/// What is seen of one tile from cycle to cycle, for the trace: changes of its threads, and messages at its mailbox.
///
/// Each tile is looked at by the worker that simulates it. What it has seen waits here until the trace collects it.
#pragma once

#include <cstdint>
#include <vector>

#include "mailbox_probe.h"
#include "probe.h"

namespace gossamer::sim {

/// One thing seen in a tile.
struct Sight {
  enum class What : uint8_t {
    State,  ///< a thread does something else: `state`
    Ends,   ///< a thread has ended
    Trap,   ///< a thread has trapped
    Send,   ///< a thread's send was accepted: route, kind, destination in `state.address`, mask or key in `data`
    Out,    ///< a packet has left for the mailbox network; `data` stands for all that is in it
    In,     ///< a packet has been accepted, of this tile or of the network; `data` the same
    Deal,   ///< the next of the accepted packets goes to threads, a bit each in `data`
    Count,  ///< instructions since reset in `data`, flits out in `state.data`
  };
  uint64_t cycle = 0;
  uint64_t data = 0;
  State state;
  What what = What::State;
  uint8_t thread = 0;
  uint8_t route = 0;
  uint8_t kind = 0;
  bool local = false;
};

class TileTrace {
 public:
  static constexpr unsigned kCount = 1024;  ///< cycles between two counts; a power of two

  TileTrace(const Probe* probe, const MailboxProbe* mailbox, unsigned threads)
      : probe_(probe), mailbox_(mailbox), threads_(threads) {}

  /// From now on it is looked at.
  void begin() { events_ = mailbox_->events(); }

  /// Looks at all threads and at the mailbox, once a cycle.
  void sample(uint64_t cycle) {
    for (unsigned t = 0; t < threads_.size(); ++t) {
      const Doing doing = probe_->doing(t);
      if (doing == threads_[t].doing || (threads_[t].over && doing != Doing::Runs)) continue;
      threads_[t] = {doing, false};
      add(cycle, Sight::What::State, t).state = probe_->state(t);
    }
    const MailboxProbe::Events now = mailbox_->events(), before = events_;
    events_ = now;
    if (now.send != before.send) {
      Sight& sight = add(cycle, Sight::What::Send, mailbox_->send_thread());
      sight.route = mailbox_->send_route();
      sight.kind = mailbox_->send_kind();
      sight.state.address = mailbox_->send_dest();
      sight.data = mailbox_->send_head();
    }
    if (now.out != before.out) {
      ++flits_;
      if (out_.add(mailbox_->out_flit())) add(cycle, Sight::What::Out).data = out_.take();
    }
    if (now.in != before.in) incoming(cycle);
    if (now.deal != before.deal) add(cycle, Sight::What::Deal).data = mailbox_->deal_mask();
    if (cycle % kCount == 0) {
      Sight& sight = add(cycle, Sight::What::Count);
      sight.data = probe_->issued();
      sight.state.data = flits_;
    }
  }

  /// The end of a thread. In the core it goes on waiting for the answer to its last request.
  void end(unsigned thread, bool trap, uint64_t cycle) {
    threads_[thread] = {Doing::Nothing, true};
    add(cycle, trap ? Sight::What::Trap : Sight::What::Ends, thread);
  }

  const std::vector<Sight>& sights() const { return sights_; }
  void forget() { sights_.clear(); }

 private:
  struct Thread {
    Doing doing = Doing::Nothing;
    bool over = false;  ///< whether it has ended or trapped, and not been started again
  };

  /// A number that stands for a packet: its address and all of its contents.
  class Digest {
   public:
    /// A further flit; whether it was the last.
    bool add(const Flit& flit) {
      constexpr uint64_t kPrime = 0x9E37'79B9'7F4A'7C15;
      for (unsigned i = 0; i < 5; ++i) value_ = (value_ ^ flit.words[i]) * kPrime ^ value_ >> 29;
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

  void incoming(uint64_t cycle) {
    const Flit& flit = mailbox_->in_flit();
    if (mailbox_->in_local()) {
      if (flit.last()) add(cycle, Sight::What::In).local = true;
    } else if (in_.add(flit)) {
      const uint64_t packet = in_.take();
      if (!mailbox_->in_refused()) add(cycle, Sight::What::In).data = packet;
    }
  }

  Sight& add(uint64_t cycle, Sight::What what, unsigned thread = 0) {
    Sight& sight = sights_.emplace_back();
    sight.cycle = cycle;
    sight.what = what;
    sight.thread = static_cast<uint8_t>(thread);
    return sight;
  }

  const Probe* probe_;
  const MailboxProbe* mailbox_;
  std::vector<Thread> threads_;
  MailboxProbe::Events events_;
  Digest out_, in_;
  uint32_t flits_ = 0;
  std::vector<Sight> sights_;
};

}  // namespace gossamer::sim
