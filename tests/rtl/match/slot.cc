// SPDX-License-Identifier: Apache-2.0
// slot_test SEED PACKETS: the match engine in a tile; every outgoing packet is compared with the model of slot_bench.h.
#include <algorithm>
#include <cstring>
#include <utility>

#include "slot_bench.h"

using namespace slot_test;
using gossamer::match::Counter;

namespace {

struct Traffic {
  unsigned threads, communicators, sources, tags;
  double any, probe, cancel, odd, met;  // `met`: requests that target a waiting message
  double without;                       // messages sent without credit
  double takes;                         // packets that acknowledge others
  long depth;
};

Packet packet_of(unsigned kind, uint32_t to, uint32_t tag, uint32_t handle, unsigned taken = 0) {
  return {0, to, {{kind | taken << 8 | 7u << 16, tag, handle, 0}}};
}

/// The thread acknowledges all packets.
Packet taken(Bench& b, uint32_t to) {
  const unsigned many = std::min(std::exchange(b.threads[to].owed, 0), 255u);
  return packet_of(kTaken, to, 0, 0, many);
}

Packet any_packet(Bench& b, const Traffic& t, uint16_t handle) {
  Packet p;
  p.to = b.below(t.threads);
  const long depth = static_cast<long>(b.reference.posts().size()) - static_cast<long>(b.reference.messages().size());
  const auto a_message = [&] { return static_cast<uint8_t>(1 + b.below(5) + (b.chance(t.without) ? kWithout : 0)); };
  uint8_t kind = b.chance(depth < t.depth ? 0.7 : 0.3) ? kPost : a_message();
  // While queues are full, mostly targets waiting entries.
  bool meets = b.chance(t.met);
  if (b.below(8)) {
    const bool posts_full = b.reference.posts().size() >= kReceives, store_full = b.eager >= kEager;
    if (kind == kPost ? posts_full : store_full) {
      meets = true;
      if (kind == kPost ? !store_full : !b.store.empty()) kind = kind == kPost ? a_message() : kPost;
    }
  }
  if (b.chance(t.probe)) kind = b.below(3) == 0 ? kTake : b.below(2) ? kProbe : kWatch;
  Flit head{kind | b.below(256) << 8 | b.below(t.sources) << 16, b.below(t.tags) * 4097u,
            handle | b.below(1 << 14) << 16, static_cast<uint32_t>(b.below(65'536)) | b.below(t.communicators) << 16};
  // Numbers drawn from thousands never match: the store would fill and stay full.
  if (kind < kFound && !b.reference.posts().empty() && meets) {
    auto one = b.reference.posts().begin();
    std::advance(one, b.below(static_cast<unsigned>(b.reference.posts().size())));
    p.to = one->rank;
    if (!one->any_source) head[0] = (head[0] & 0xFFFF) | static_cast<uint32_t>(one->source) << 16;
    if (!one->any_tag) head[1] = one->tag;
    head[3] = (head[3] & 0xFFFF) | static_cast<uint32_t>(one->communicator) << 16;
  }
  if (kind >= kPost && !b.store.empty() && meets) {
    auto one = b.store.begin();
    std::advance(one, b.below(static_cast<unsigned>(b.store.size())));
    const Flit& waits = one->second.flits[0];
    p.to = one->second.to;
    head[0] = (head[0] & 0xFFFF) | (waits[0] & 0xFFFF'0000);
    head[1] = waits[1];
    head[3] = (head[3] & 0xFFFF) | (waits[3] & 0xFFFF'0000);
  }
  if (kind >= kPost) head[2] |= static_cast<uint32_t>(b.chance(t.any)) << 31 | b.chance(t.any) << 30;
  if (b.chance(t.cancel)) {
    head[0] = (head[0] & ~0xFFu) | kCancel;
    if (!b.open.empty() && b.below(4)) {
      auto one = b.open.begin();
      std::advance(one, b.below(static_cast<unsigned>(b.open.size())));
      p.to = *one >> 16;
      head[2] = (head[2] & ~0xFFFFu) | (*one & 0xFFFF);
    } else {
      head[2] = (head[2] & ~0xFFFFu) | (static_cast<uint16_t>(handle - 1 - b.below(500)));
      if (b.open.count(p.to << 16 | (head[2] & 0xFFFF))) head[1] ^= 1;  // its tag is ignored
    }
  }
  if (b.below(50) == 0) {
    head[0] = (head[0] & ~0xFFu) | kCount;
    head[1] = b.below(5);
  }
  if (b.below(50) == 0 && !b.threads[p.to].awaits && !b.threads[p.to].reached) {
    head[0] = (head[0] & ~0xFFu) | kAwait;
    head[1] = b.reference.count(static_cast<uint16_t>(p.to), Counter::kDelivered) + b.below(6) - 2;
  }
  // Rarely, so that the store fills.
  if (b.below(1500) == 0) head[0] = (head[0] & ~0xFFu) | kCts;
  if (b.chance(t.odd)) {
    if (b.below(3) == 0)
      p.kind = 1 + b.below(3);
    else if (b.below(2))
      head[0] = (head[0] & ~0xFFu) | (b.below(2) ? 0x40 + b.below(64) : 0x8A + b.below(118));
    else
      p.to = kThreads + b.below(64 - kThreads);
  }
  // A thread has one answered request in flight at a time; a rejected receive is answered as well.
  kind = static_cast<uint8_t>(head[0]);
  if (p.to < kThreads && is_request(kind) && kind != kCts && b.threads[p.to].answer &&
      (kind != kPost || b.reference.posts().size() >= kReceives)) {
    kind = b.below(2) ? a_message() : kTaken;
    head[0] = (head[0] & ~0xFFu) | kind;
  }
  if (p.to < kThreads && is_request(kind) && !p.kind) {
    // Acknowledges all packets, or some; in small steps, so that windows close.
    const unsigned owed = std::min(b.threads[p.to].owed, 255u), took = b.below(2) ? owed : b.below(owed + 1);
    head[0] = (head[0] & ~0xFF00u) | took << 8;
    b.threads[p.to].owed -= took;
  }
  p.flits.push_back(head);
  for (unsigned more = b.below(kFlits); more; --more)
    p.flits.push_back({static_cast<uint32_t>(b.random()), static_cast<uint32_t>(b.random()),
                       static_cast<uint32_t>(b.random()), static_cast<uint32_t>(b.random())});
  return p;
}

/// A program leaves receives, messages and a watch; the next one starts with a clear, and must not meet them. The store
/// is full before, so that all of its slots must be returned.
void clean_start(Bench& b) {
  const auto send = [&](unsigned kind, uint32_t to, uint32_t tag, uint32_t handle) {
    b.to_send.push_back(packet_of(kind, to, tag, handle));
  };
  for (unsigned round = 0; round < 3; ++round) {
    for (uint32_t n = 0; n < kEntries + 4; ++n) {
      send(n % 3 == 1 ? kPost : 1, n % kThreads, n, n);
      b.finish();
    }
    send(kWatch, 0, ~0u, 0);
    send(kCts, kThreads - 1, 0, 0);
    send(1, 0, 5, 0);  // no news: the watch was cleared
    send(kPost, 0, 5, 9);
    for (uint32_t n = 6; n < kEntries; ++n) {
      send(n % 3 == 1 ? 1 : kProbe, n % kThreads, n, n);
      b.finish();
    }
    for (uint32_t thread = 0; thread < kThreads; ++thread)
      for (uint32_t counter = 0; counter < 4; ++counter) {
        send(kCount, thread, counter, 0);
        b.finish();
      }
    send(kCts, 0, 0, 0);
    send(kCts, 0, 0, 0);
    b.finish();
  }
}

/// A clear arrives while a message is leaving and a probe's answer waits. The message leaves unchanged, though its slot
/// is free and new messages fill the store; the probe finds nothing.
void clear_in_flight(Bench& b) {
  const auto send = [&](Packet packet) {
    b.to_send.push_back(std::move(packet));
    while (!b.to_send.empty() || b.clearing()) b.tick();
  };
  const auto message = [&](uint32_t to, uint32_t tag) {
    Packet one = packet_of(1, to, tag, 0);
    while (one.flits.size() < kFlits) one.flits.push_back({tag, b.below(1 << 30), to, 5});
    return one;
  };
  b.send_rate = b.take_rate = 1;
  send(packet_of(kCts, 0, 0, 0));
  b.finish();
  b.take_rate = 0;
  send(packet_of(kPost, 0, 1, 7));
  send(message(0, 1));
  send(message(1, 2));
  send(packet_of(kProbe, 1, 2, 8));
  for (unsigned n = 0; n < 20; ++n) b.tick();
  send(packet_of(kCts, 2, 0, 0));
  for (uint32_t n = 0; n < kEager; ++n) send(message(3, n));
  b.finish();
  CHECK(b.counts[15] == 1, "the message that was leaving has not left");
  b.take_rate = 1;
  for (uint32_t n = 0; n < kEager; ++n) {
    send(packet_of(kPost, 3, n, n));
    b.finish();
  }
}

/// A thread posts receives and then computes: its messages arrive, match, and wait here, except those of its window;
/// the other threads get theirs at once. Then no packet leaves at all, and packets are still accepted. Returns the
/// cycles from a message's last flit to its first outgoing flit, with its receive in the CAM.
uint64_t slow_thread(Bench& b) {
  const auto send = [&](Packet packet) {
    b.to_send.push_back(std::move(packet));
    while (!b.to_send.empty()) b.tick();
  };
  b.send_rate = b.take_rate = 1;
  send(packet_of(kCts, 0, 0, 0));
  b.finish();
  send(packet_of(kPost, 1, 0, 0));
  for (unsigned n = 0; n < 50; ++n) b.tick();
  send(packet_of(1, 1, 0, 0));
  for (unsigned n = 0; n < 50; ++n) b.tick();
  const uint64_t cycles = b.began - b.ended;
  send(taken(b, 1));

  const uint32_t many = std::min(kReceives - 1, kEager - 1), sent = std::min(kWindow, many);
  for (uint32_t n = 0; n < many; ++n) send(packet_of(kPost, 1, n, n));
  for (uint32_t n = 0; n < many; ++n) send(packet_of(1, 1, n, 0));
  for (unsigned n = 0; n < 100; ++n) b.tick();
  CHECK(b.threads[1].seen == 1 + sent, "thread 1, which takes nothing, has received %llu messages, must be %u",
        static_cast<unsigned long long>(b.threads[1].seen), 1 + sent);
  for (uint32_t n = 0; n < 50; ++n) {
    send(packet_of(kPost, 2, n, n));
    send(packet_of(1, 2, n, 0));
    for (unsigned cycle = 0; cycle < 60; ++cycle) b.tick();
    CHECK(b.threads[2].messages.empty(), "thread 1 blocks thread 2");
    send(taken(b, 2));
  }

  b.take_rate = 0;
  for (uint32_t n = 0; b.reference.posts().size() + 1 < kReceives; ++n) send(packet_of(kPost, n % kThreads, n, n));
  for (uint32_t n = 0; n < 4 * kEntries; ++n) send(packet_of(n % 3 ? 1 : 1 | kWithout, n % kThreads, n, n));
  for (unsigned round = 0; round < 3; ++round)
    for (uint32_t to = 0; to < kThreads; ++to) {
      // The answer to the first probe has not left, so the others are rejected; a thread is notified once.
      b.overrun = round > 0;
      if (b.overrun) b.threads[to].bad = 1;
      send(packet_of(kProbe, to, ~0u, 5));
      b.overrun = false;
    }
  b.finish();
  return cycles;
}

/// Cycles from a message's last flit to its first outgoing flit, when its receive is outside the CAM after many others,
/// with the secret of the preceding clear.
uint64_t behind_the_cam(Bench& b, const Flit& secret) {
  const auto send = [&](Packet packet) {
    b.to_send.push_back(std::move(packet));
    b.finish();
  };
  send({0, 1, {secret}});
  for (uint32_t n = 0; n + 1 < kReceives; ++n) send(packet_of(kPost, 1, n, n));
  for (unsigned n = 0; n < 50; ++n) b.tick();
  send(packet_of(1, 1, kReceives / 3, 0));
  for (unsigned n = 0; n < 50; ++n) b.tick();
  return b.began - b.ended;
}

/// The hash's secret is that of the last clear: one that ignores tags puts all lists into one bin, and a lookup passes
/// all younger lists.
void secrets(Bench& b) {
  const Flit good{kCts | 0x9C4Du << 16, 0xA5B3'1F27, 0x1B87'5D6A, 0xE19B'4C35};
  const Flit blind{kCts, 0, 0x0000'8000, 0x0001'0000};
  b.send_rate = b.take_rate = 1;
  const uint64_t first = behind_the_cam(b, good), second = behind_the_cam(b, blind), third = behind_the_cam(b, good);
  CHECK(second >= first + kReceives / 2 && second >= third + kReceives / 2,
        "a message with its receive outside the CAM leaves after %llu, %llu and %llu cycles: the second secret "
        "puts all "
        "lists in one bin",
        static_cast<unsigned long long>(first), static_cast<unsigned long long>(second),
        static_cast<unsigned long long>(third));
}

/// A thread awaits a count of messages, when its counter and the awaited count exceed 4096: all bits up to the 12th are
/// compared.
void awaits_a_large_count(Bench& b) {
  const auto send = [&](Packet packet) {
    b.to_send.push_back(std::move(packet));
    while (!b.to_send.empty() || b.clearing()) b.tick();
  };
  const auto exchange = [&](uint32_t n) {
    send(packet_of(kPost, 1, n, n));
    send(packet_of(1, 1, n, 0));
    send(taken(b, 1));
  };
  b.send_rate = b.take_rate = 1;
  send(packet_of(kCts, 0, 0, 0));
  uint32_t n = 0;
  for (; n < 4098; ++n) exchange(n);
  b.finish();
  const uint64_t before = b.counts[12];
  send(packet_of(kAwait, 1, n + 2, 3));
  exchange(n);
  CHECK(b.threads[1].awaits && !b.threads[1].reached, "the test has sent too many messages");
  exchange(n + 1);
  CHECK(b.threads[1].reached || b.counts[12] > before, "the test has not awaited a count");
  b.finish();
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 3, "slot_test SEED PACKETS");
  Bench b(std::strtoull(argv[1], nullptr, 10));
  const uint64_t packets = std::strtoull(argv[2], nullptr, 10);
  Traffic t{};
  uint16_t handle = 0;
  for (uint64_t n = 0; n < packets; ++n) {
    if (n % 500 == 100 && b.take_rate == 0) b.take_rate = 1;
    if (n % 500 == 0) {
      b.finish();
      const auto pick = [&](auto... values) {
        const std::common_type_t<decltype(values)...> all[] = {values...};
        return all[b.below(sizeof...(values))];
      };
      t = {pick(1u, 3u, kThreads), pick(1u, 2u, 60'000u),
           pick(1u, 4u, 65'536u),  pick(1u, 4u, 100'000u),
           pick(0.0, 0.05, 0.5),   pick(0.0, 0.1),
           pick(0.0, 0.02),        pick(0.0, 0.05),
           pick(0.1, 0.5, 0.9),    pick(0.0, 0.2, 0.9),
           pick(0.05, 0.5, 1.0),   static_cast<long>(b.below(kEntries / 2)) * (b.below(2) ? 1 : -1)};
      b.send_rate = pick(1.0, 0.5, 0.05);
      b.take_rate = pick(1.0, 1.0, 0.5, 0.05, 0.0);
    }
    // A handle is reused when its receive has ended.
    do ++handle;
    while ([&] {
      for (unsigned thread = 0; thread < kThreads; ++thread)
        if (b.open.count(thread << 16 | handle)) return true;
      return false;
    }());
    b.to_send.push_back(any_packet(b, t, handle));
    const uint32_t taker = b.below(kThreads);
    if (b.threads[taker].owed && b.to_send.back().first() != kCts && b.chance(t.takes))
      b.to_send.push_back(taken(b, taker));
    while (!b.to_send.empty() || b.clearing()) b.tick();
    if (b.below(8) == 0)
      for (unsigned idle = b.below(40); idle; --idle) b.tick();
  }
  b.finish();
  clean_start(b);
  b.counts[15] = 0;
  clear_in_flight(b);
  const uint64_t cycles = slow_thread(b);
  awaits_a_large_count(b);
  if (kReceives > 16) secrets(b);  // otherwise all receives fit into the CAM
  static const char* const names[] = {"matched",       "wait",      "none",    "full",    "bad",
                                      "found",         "cancelled", "news",    "counted", "cleared",
                                      "full receives", "-",         "awaited", "taken",   "left"};
  std::printf("%llu packets", static_cast<unsigned long long>(packets));
  for (unsigned i = 0; i < std::size(names); ++i)
    if (*names[i] != '-') std::printf(", %llu %s", static_cast<unsigned long long>(b.counts[i]), names[i]);
  std::printf(", %llu stalled\n%llu cycles, %llu not taken\n", static_cast<unsigned long long>(b.stalled),
              static_cast<unsigned long long>(cycles), static_cast<unsigned long long>(b.longest));
}
