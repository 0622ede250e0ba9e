// SPDX-License-Identifier: Apache-2.0
#include "slot_bench.h"

#include <algorithm>
#include <utility>

namespace slot_test {

using gossamer::match::Command;
using gossamer::match::Completion;
using gossamer::match::Op;
using gossamer::match::Status;

/// A message has matched its receive.
void Bench::send(uint32_t to, const Packet& packet) {
  Thread& t = threads[to];
  t.messages.push_back(packet);
  ++t.matched;
  if (t.awaits && --t.left == 0) {
    t.reached = t.awaits;
    t.reached_at = t.matched;
    t.awaits.reset();
  }
}

void Bench::reject(const Packet& packet) {
  ++counts[3];
  if (packet.to >= kThreads) {
    strays.insert(packet.to);
    return;
  }
  Flit head = packet.flits[0];
  head[0] = (head[0] & ~0xFFu) | kFullMessages;
  Thread& t = threads[packet.to];
  t.rejection_report_due = t.rejection_report_due || t.rejected.empty();
  t.rejected.push_back(head);
}

void Bench::judge(const Packet& packet) {
  if (packet.kind || overrun) return;  // not a message of threads
  const Flit& head = packet.flits[0];
  const uint8_t kind = packet.first();
  const uint32_t handle = packet.to << 16 | (head[2] & 0xFFFF);
  const bool known = packet.to < kThreads, message = packet.message(), without = message && (kind & kWithout);
  if (kind == kTaken) return;
  Command c;
  c.rank = static_cast<uint16_t>(packet.to);
  c.communicator = static_cast<uint16_t>(head[3] >> 16);
  c.source = static_cast<uint16_t>(head[0] >> 16);
  c.tag = head[1];
  if (message) {
    c.op = Op::kArrive;
    c.handle = next_++;
    c.rendezvous = without;
    if (without ? announced >= kEntries - kEager - 2 : eager >= kEager) {
      hold_ = 20;
      return reject(packet);
    }
    unsigned wait = 0;
    for (const auto& [_, one] : store) wait += (one.first() & kWithout) != 0;
    c.now = without && wait >= kAnnounced;
  } else {
    c.op = kind == kPost                      ? Op::kPost
           : kind == kCancel                  ? Op::kCancel
           : kind == kCts                   ? Op::kCts
           : kind == kCount || kind == kAwait ? Op::kCount
           : kind == kTake                    ? Op::kTake
           : kind == kProbe || kind == kWatch ? Op::kProbe
                                              : static_cast<Op>(7);
    c.handle = handle;
    c.any_source = kind != kCancel && head[2] >> 31;
    c.any_tag = kind != kCancel && (head[2] >> 30 & 1);
    c.now = kind == kPost && reference.posts().size() >= kReceives;
    if (kind == kAwait) c.tag = 0;
  }
  const Completion done = reference.apply(c);
  if (!known) {
    CHECK(done.status == Status::kBad, "the port of a nonexistent thread is served");
    ++counts[4];
    strays.insert(packet.to);
    return;
  }
  Thread& t = threads[packet.to];
  switch (done.status) {
    case Status::kMatched: {
      if (c.op == Op::kCts) {
        store.clear();
        open.clear();
        watches.clear();
        eager = announced = 0;
        // A packet that waits at the input through two clears precedes the first.
        if (!late_) {
          late_ = top->out_valid_o;
          before_ = threads;
        }
        for (Thread& one : threads) {
          one.messages.clear();
          one.matched = one.seen = 0;
          one.awaits.reset();
          one.reached.reset();
          one.news = false;
          one.more_news = 0;
          one.owed = one.outside = 0;
          one.probe_dropped =
              one.probe_dropped || (one.answer && one.answer->first() & kFound && one.answer->first() < kPost);
        }
        ++t.cleared;
        t.clear_report_due = true;
        ++counts[9];
        return;
      }
      if (kind == kAwait) {
        const uint32_t left = head[1] - done.partner;
        Flit told = head;
        told[0] = (told[0] & ~0xFFu) | kCounted;
        t.awaits.reset();
        t.reached.reset();
        if (left == 0 || left >> 31) {
          t.reached = told;
          t.reached_at = t.matched;
        } else {
          t.awaits = told;
          t.left = left;
        }
        ++counts[12];
        return;
      }
      if (c.op == Op::kCount) {
        Packet made = packet;
        made.flits[0][1] = done.partner;
        ++counts[8];
        return note(made, kCounted);
      }
      if (c.op == Op::kCancel) {
        open.erase(handle);
        ++counts[6];
        return note(packet, kCancelled);
      }
      Packet made = message ? packet : store.at(done.partner);
      const uint32_t given = message ? done.partner : handle;
      made.flits[0][2] = (made.flits[0][2] & ~0xFFFFu) | (given & 0xFFFF);
      if (c.op == Op::kProbe) {
        made.flits[0][0] |= kFound;
        ++counts[5];
        return answer(packet.to, made);
      }
      if (message) {
        ++(without ? announced : eager);
        open.erase(done.partner);
      } else {
        store.erase(done.partner);
      }
      if (c.op == Op::kTake) made.flits[0][0] |= kFound;
      ++counts[c.op == Op::kTake ? 13 : 0];
      return send(packet.to, made);
    }
    case Status::kWaiting:
      ++counts[1];
      if (!message) {
        open.insert(handle);
        return;
      }
      ++(without ? announced : eager);
      store[c.handle] = packet;
      if (watches.erase(packet.to)) {
        ++counts[7];
        t.more_news += t.news;
        t.news = true;
      }
      return;
    case Status::kNone:
      ++counts[2];
      if (kind == kWatch) watches.insert(packet.to);
      return note(packet, kind == kCancel ? kGone : kNone);
    case Status::kFull:
      if (message) return reject(packet);
      ++counts[10];
      return note(packet, kFullPosts);
    case Status::kBad: ++counts[4]; return note(packet, kBad);
  }
}

/// Checks a complete packet of the design.
void Bench::leaves(const Packet& packet) {
  const auto same = [&](const Packet& other) { return other.to == packet.to && other.flits == packet.flits; };
  const Flit& head = packet.flits[0];
  const uint8_t kind = packet.first();
  const bool late = std::exchange(late_, false);
  if (packet.to >= kThreads) {
    CHECK(kind == kBad && strays.count(packet.to), "%02x goes to port %u, which belongs to no thread", kind, packet.to);
    return;
  }
  Thread& t = threads[packet.to];
  if (kind == kCleared) {
    CHECK(t.cleared, "thread %u is notified of a clear that it has not requested", packet.to);
    --t.cleared;
    t.clear_report_due = false;
    return;
  }
  if (late) {
    const Thread& old = before_[packet.to];
    if (!old.messages.empty() && same(old.messages.front())) {
      ++counts[15];
      return;
    }
    if ((kind == kNews && old.news) || (kind == kCounted && old.reached && *old.reached == head)) return;
  }
  if (kind < kPost && !(t.answer && same(*t.answer))) {
    CHECK(!t.messages.empty() && same(t.messages.front()),
          "a message for thread %u out of order: %08x %08x %08x %08x", packet.to, head[0], head[1], head[2],
          head[3]);
    --((head[0] & kWithout) ? announced : eager);
    t.messages.pop_front();
    ++t.seen;
    ++counts[14];
  } else if (t.answer && same(*t.answer)) {
    t.answer.reset();
  } else if (kind == kNone && t.answer && t.probe_dropped) {
    t.answer.reset();
  } else if (kind == kFullMessages) {
    const auto at = std::find(t.rejected.begin(), t.rejected.end(), head);
    CHECK(at != t.rejected.end(), "thread %u is notified of a rejected message that was accepted", packet.to);
    t.rejected.erase(t.rejected.begin(), at + 1);
    t.rejection_report_due = false;
  } else if (kind == kNews) {
    CHECK((t.news || t.more_news) && head[1] == 0 && head[2] == 0 && head[3] == 0,
          "thread %u has news without a watch", packet.to);
    if (!std::exchange(t.news, false)) --t.more_news;
  } else if (kind == kCounted) {
    CHECK(t.reached && *t.reached == head && t.seen >= t.reached_at, "thread %u: a count is reported too early",
          packet.to);
    t.reached.reset();
  } else {
    CHECK(kind == kBad && t.bad && head == (Flit{kBad, 0, 0, 0}),
          "an answer to thread %u without a request: "
          "%08x %08x %08x %08x",
          packet.to, head[0], head[1], head[2], head[3]);
    t.bad = 0;
  }
  if (late) return;
  ++t.owed;
  ++t.outside;
  CHECK(t.outside <= kWindow, "thread %u has %u unacknowledged packets", packet.to, t.outside);
}

bool Bench::something_to_come() const {
  return std::any_of(threads.begin(), threads.end(), [](const Thread& t) {
    return !t.messages.empty() || t.answer || t.rejection_report_due || t.news || t.bad ||
         t.clear_report_due || t.reached;
  });
}

void Bench::tick() {
  ++now;
  if (!offering_) offering_ = !to_send.empty() && chance(send_rate);
  top->in_valid_i = offering_;
  if (offering_) {
    const Packet& packet = to_send.front();
    for (int i = 0; i < 4; ++i) top->in_i[i] = packet.flits[at_][i];
    top->in_i[4] = 7u << 29 | kBoard << 14 | kTileY << 10 | kTileX << 6 | packet.to;
    const uint32_t last = at_ + 1 == packet.flits.size();
    top->in_i[5] = last << 10 | (at_ ? 0 : packet.kind) << 11 | 1u << 8;
  }
  top->out_ready_i = hold_ == 0 && chance(take_rate);
  if (hold_) --hold_;
  top->clk_i = 0;
  top->eval();
  const bool taken = offering_ && top->in_ready_o;
  if (clear_ && top->in_ready_o) judge(*std::exchange(clear_, std::nullopt));
  waiting_ = offering_ && !taken ? waiting_ + 1 : 0;
  longest = std::max<uint64_t>(longest, waiting_);
  CHECK(waiting_ < kPatience, "a packet is not accepted for %u cycles", waiting_);
  CHECK(top->busy_o || !something_to_come(), "not busy, but an answer is pending");
  if (!top->busy_o)
    for (Thread& t : threads) t.more_news = 0;
  if (top->out_valid_o && top->out_ready_i) {
    if (out_.flits.empty()) out_.to = top->out_o[4] & 63;
    const uint32_t dest = 0u << 29 | kBoard << 14 | kTileY << 10 | kTileX << 6 | out_.to;
    CHECK(top->out_o[4] == dest, "a flit goes to %08x, not %08x", top->out_o[4], dest);
    CHECK(top->out_o[5] >> 11 == 0, "an answer is not a body flit");
    if (out_.flits.empty()) began = now;
    out_.flits.push_back({top->out_o[0], top->out_o[1], top->out_o[2], top->out_o[3]});
    CHECK(out_.flits.size() <= kFlits, "a packet has no end");
    if (top->out_o[5] >> 10 & 1) {
      leaves(out_);
      out_.flits.clear();
    }
    quiet_ = 0;
  }
  if (taken) {
    // Answered at its end; the answer cannot leave earlier.
    quiet_ = 0;
    offering_ = false;
    if (++at_ == to_send.front().flits.size()) {
      ended = now;
      if (take_rate == 0) ++stalled;
      const Packet packet = std::exchange(to_send.front(), {});
      to_send.pop_front();
      if (packet.kind == 0 && packet.to < kThreads && !packet.message()) {
        unsigned& outside = threads[packet.to].outside;
        outside -= std::min(packet.flits[0][0] >> 8 & 0xFF, outside);
      }
      if (packet.first() == kCts && packet.kind == 0 && packet.to < kThreads)
        clear_ = packet;
      else
        judge(packet);
      at_ = 0;
    }
  }
  top->clk_i = 1;
  top->eval();
  CHECK(++quiet_ < 200'000, "no progress: %zu packets are left", to_send.size());
}

void Bench::finish() {
  const double rate = std::exchange(take_rate, take_rate == 0 ? 1.0 : take_rate);
  for (quiet_ = 0; !to_send.empty() || clear_ || something_to_come() || top->busy_o || quiet_ < 50;) {
    if (to_send.empty() && quiet_ > 20)
      for (uint32_t t = 0; t < kThreads; ++t)
        if (threads[t].owed >= kWindow || (threads[t].owed && something_to_come())) {
          to_send.push_back({0, t, {{uint32_t{kTaken} | std::min(threads[t].owed, 255u) << 8, 1, 2, 3}}});
          threads[t].owed -= std::min(threads[t].owed, 255u);
        }
    tick();
  }
  take_rate = rate;
  for (Thread& t : threads) {
    t.rejected.clear();
    t.cleared = 0;
  }
  strays.clear();
}

}  // namespace slot_test
