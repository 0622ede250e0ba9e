// SPDX-License-Identifier: Apache-2.0
// The mailbox at the network: dropped packets, epochs, independent streams, fairness, and random packets.
#include <algorithm>
#include <map>

#include "harness.h"
#include "programs.h"
#include "tests.h"

namespace mailbox_test {
namespace {

// From the specification (config/constants/fabric.toml), written again on purpose.
enum Rejection : unsigned { kNone, kOtherJob, kEpoch, kPlace, kThread, kKind, kLength, kMask };
enum FlitKind : unsigned { kBody, kMaskHead, kKeyHead, kHeader };

unsigned tags(unsigned job, unsigned epoch) { return job << 2 | (epoch & 3); }

Task set(Bench& b, unsigned t, uint32_t csr, uint32_t value) { co_return co_await value_of(b, t, {2, 1, csr, value}); }
Task get(Bench& b, unsigned t, uint32_t csr) { co_return co_await value_of(b, t, {2, 2, csr, 0}); }
/// Receives the next message of a thread and returns its first word.
Task take(Bench& b, unsigned t) {
  uint32_t slot = co_await receive(b, t);
  uint32_t word = co_await value_of(b, t, {0, 2, slot, 0});
  co_await set(b, t, kRelease, slot);
  co_return word;
}
Task trapped(Bench& b, unsigned t, uint32_t csr, uint32_t value, unsigned cause) {
  Outcome o = co_await b.request(t, {2, 1, csr, value});
  CHECK(o.trap && o.cause == cause && o.data == value, "write of %x to %x: %s %u about %x, not trap %u", value, csr,
        o.trap ? "trap" : "no trap", o.cause, o.data, cause);
  co_return 0;
}

Packet message(unsigned thread, uint32_t word, unsigned flits = 1) {
  Packet p(flits, Flit{0, false, thread_address(thread), {word, 0, 0, 0}});
  p.back().last = true;
  return p;
}
Packet masked(uint64_t mask, uint32_t word, unsigned flits = 1) {
  Packet p(flits + 1, Flit{0, false, tile_address(), {word, 0, 0, 0}});
  p[0] = {kMaskHead, false, tile_address(), {uint32_t(mask), uint32_t(mask >> 32), 0, 0}};
  p.back().last = true;
  return p;
}
Packet tagged(Packet p, unsigned tag) {
  for (Flit& f : p) f.tags = tag;
  return p;
}
Packet to(Packet p, uint32_t dest) {
  for (Flit& f : p) f.dest = dest;
  return p;
}

/// All kinds of bad packets, one by one: each is dropped, reported with its reason, counted, and has no effect; a good
/// message arrives after each.
Task drops(Bench& b) {
  while (!b.top.ready_o) co_await get(b, 0, kCanSend);
  struct Case { Packet packet; unsigned why; };
  std::vector<Case> cases;
  auto add = [&](Packet p, unsigned why) { cases.push_back({std::move(p), why}); };
  add(tagged(message(1, 9), tags(kJob ^ 1, 0)), kOtherJob);
  add(tagged(message(1, 9), tags(kJob ^ 16, 1)), kOtherJob);
  add(tagged(message(1, 9), tags(kJob, 2)), kEpoch);
  add(tagged(message(1, 9, kMaxFlits), tags(kJob, 3)), kEpoch);
  for (unsigned bit : {6u, 9u, 10u, 13u, 14u, 25u, 26u, 28u}) {
    add(to(message(1, 9), thread_address(1) ^ 1u << bit), kPlace);
  }
  if (kThreads < 64) {
    add(to(message(1, 9), thread_address(kThreads)), kThread);
    add(to(message(1, 9, kMaxFlits), thread_address(63)), kThread);
  }
  for (unsigned kind : {2u, 3u, 4u, 5u, 6u, 7u}) {
    add(to(message(1, 9), (thread_address(1) & 0x1fff'ffff) | kind << 29), kKind);
  }
  add({Flit{kBody, true, tile_address(), {1, 2, 3, 4}}}, kKind);
  for (unsigned kind : {kMaskHead, kKeyHead, kHeader}) {
    add({Flit{kind, true, thread_address(1), {3, 0, 0, 0}}}, kKind);
    Packet headed = message(1, 9, 2);
    headed[0].kind = kind;
    add(headed, kKind);
    Packet late = message(1, 9, 2);
    late[1].kind = kind;
    add(late, kKind);
  }
  add(message(1, 9, kMaxFlits + 1), kLength);
  add(message(1, 9, kMaxFlits + 7), kLength);
  if (kMulticast) {
    add(masked(0, 9), kMask);
    if (kThreads < 64) add(masked(1ull << kThreads | 1, 9), kMask);
    add({Flit{kMaskHead, true, tile_address(), {1, 0, 0, 0}}}, kLength);
    add(masked(3, 9, kMaxFlits + 1), kLength);
    add(to(masked(3, 9), tile_address() ^ 1u << 14), kPlace);
  } else {
    add(masked(3, 9), kKind);
  }
  // Only the slot of the good message may change.
  for (uint32_t s = 0; s < kSlots; s++) {
    for (unsigned w = 0; w < kSlotBytes; w += 4) co_await value_of(b, 0, {1, 2, slot_address(s) + w, s});
  }
  uint32_t count = 0;
  for (const Case& c : cases) {
    const uint32_t received = b.top.received_count_o;
    const auto before = b.drops;
    b.deliver(c.packet);
    b.deliver(message(1, 0x4000 + count));
    uint32_t slot = co_await receive(b, 1);
    uint32_t word = co_await value_of(b, 1, {0, 2, slot, 0});
    CHECK(word == 0x4000 + count, "after bad packet %u arrived %x", count, word);
    for (unsigned w = 1; w < 16; w++) {
      const bool reported = b.drops[w] == before[w] + (w == c.why);
      CHECK(reported, "packet %u, to be dropped for reason %u: reason %u was reported %lu times", count, c.why, w,
            (unsigned long)(b.drops[w] - before[w]));
    }
    const unsigned job = c.packet[0].tags == kOwnTags ? kJob : c.packet[0].tags >> 2;
    CHECK(b.drop_job == job, "packet %u of job %u was dropped as one of %u", count, job, b.drop_job);
    const uint32_t counted = b.top.received_count_o - received;
    CHECK(counted == 1u + (c.why != kOtherJob), "bad packet %u and a good one count as %u", count, counted);
    for (unsigned t = 0; t < kThreads; t++) {
      CHECK(!co_await get(b, t, kCanReceive), "thread %u received a bad packet", t);
    }
    co_await set(b, 1, kRelease, slot);
    count++;
  }
  co_return 0;
}

/// An over-long packet does not write beyond its slot.
Task too_long(Bench& b) {
  for (uint32_t s = 0; s < kSlots; s++) {
    for (unsigned w = 0; w < kSlotBytes; w += 4) co_await value_of(b, 0, {1, 2, slot_address(s) + w, s});
  }
  b.deliver(message(1, 9, kMaxFlits + 3));
  b.deliver(message(1, 42));
  uint32_t slot = co_await receive(b, 1);
  CHECK(co_await value_of(b, 1, {0, 2, slot, 0}) == 42, "an over-long packet was received");
  for (uint32_t s = 0; s < kSlots; s++) {
    if (slot_address(s) == slot) continue;
    for (unsigned w = 0; w < kSlotBytes; w += 4) {
      CHECK(co_await value_of(b, 0, {0, 2, slot_address(s) + w, 0}) == s, "a long packet wrote into slot %u", s);
    }
  }
  co_await set(b, 1, kRelease, slot);
  co_return 0;
}

/// Destinations: boards, tiles and hosts that the cluster does not have.
Task cluster(Bench& b) {
  unsigned left = 0;
  b.on_packet = [&](const Packet&) { left++; };
  // Tiles whose address differs from this one's in one bit of board, row or column: messages to them leave.
  unsigned neighbours = 0;
  for (unsigned bit = 6; bit < 26; bit++) {
    co_await set(b, 0, kWait, 1);
    co_await set(b, 0, kSendDest, thread_address(1) ^ 1u << bit);
    neighbours++;
  }
  co_await set(b, 0, kWait, 1);
  for (unsigned i = 0; i < 60; i++) co_await get(b, 0, kCanSend);
  CHECK(left == neighbours, "%u messages to other tiles left, not %u", left, neighbours);
  left = 0;
  b.top.boards_i = 9;
  b.top.hosts_i = 2;
  auto thread = [](unsigned board, unsigned y, unsigned x, unsigned t) { return board << 14 | y << 10 | x << 6 | t; };
  unsigned good = 0;
  const std::vector<uint32_t> fine{thread(8, 0, 0, 0), thread(0, kMeshHeight - 1, kMeshWidth - 1, kThreads - 1),
      7u << 29 | thread(8, 0, 0, 63), 5u << 29 | 1u << 14};
  for (uint32_t dest : fine) {
    co_await set(b, 0, kWait, 1);
    co_await set(b, 0, kSendDest, dest);
    good++;
  }
  std::vector<uint32_t> bad{thread(9, 0, 0, 0), thread(4095, 0, 0, 0), thread(0, kMeshHeight, 0, 0),
      thread(0, 0, kMeshWidth, 0), thread(0, 15, 0, 0), 7u << 29 | thread(9, 0, 0, 0),
      7u << 29 | thread(0, kMeshHeight, 0, 0), 6u << 29 | 8u << 14, 6u << 29, 5u << 29 | 2u << 14,
      5u << 29 | 4095u << 14};
  if (kThreads < 64) bad.push_back(thread(1, 0, 0, kThreads));
  co_await set(b, 0, kWait, 1);
  for (uint32_t dest : bad) co_await trapped(b, 0, kSendDest, dest, kBadDestination);
  if (kMulticast) {
    co_await set(b, 0, kSendMaskLow, 1);
    co_await trapped(b, 0, kSendTile, 1u << 29 | thread(9, 0, 0, 0), kBadDestination);
    co_await trapped(b, 0, kSendTile, 1u << 29 | thread(0, kMeshHeight, 0, 0), kBadDestination);
    co_await set(b, 0, kSendTile, 1u << 29 | thread(8, 0, 0, 0));
    good++;
  }
  co_await set(b, 0, kWait, 1);
  for (unsigned i = 0; i < 60; i++) co_await get(b, 0, kCanSend);
  CHECK(left == good, "%u packets left, not %u", left, good);
  b.top.boards_i = 4096;
  b.top.hosts_i = 4096;
  co_return 0;
}

Task sender(Bench& b, unsigned t, uint32_t dest, unsigned count, uint64_t* last) {
  co_await set(b, t, kSendLength, kMaxFlits - 1);
  for (unsigned i = 0; i < count; i++) {
    co_await set(b, t, kWait, 1);
    co_await set(b, t, kSendDest, dest);
    *last = b.cycle;
  }
  co_return 0;
}
Task drain(Bench& b, unsigned t, unsigned count, uint64_t* last) {
  for (unsigned i = 0; i < count; i++) {
    co_await take(b, t);
    *last = b.cycle;
  }
  co_return 0;
}

/// One stream stops forever; the others and this tile's own messages continue.
void streams() {
  const uint32_t near_dest = thread_address(0) ^ 1u << 14, far_dest = 5u << 29 | 1u << 14;
  // 0: the network, 1: far, 2: this tile (its receiver has full queues)
  for (unsigned blocked : {0u, 1u, 2u}) {
    Bench b(blocked + 1);
    while (!b.top.ready_o) b.step();
    uint64_t last[4] = {};
    const unsigned count = 50, many = 1000;
    if (blocked == 0) b.out_chance = 0;
    if (blocked == 1) b.far_chance = 0;
    // Two threads for each route; the last one is the receiver. The blocked thread has more to send than there is
    // space.
    unsigned t = 0;
    std::array<bool, kThreads> stuck{};
    for (unsigned route : {0u, 1u, 2u}) {
      const uint32_t dest = route == 0 ? near_dest : route == 1 ? far_dest : thread_address(kThreads - 1);
      for (unsigned i = 0; i < 2; i++, t++) {
        stuck[t] = route == blocked;
        b.start(t, sender(b, t, dest, route == blocked ? many : count, &last[route]));
      }
    }
    if (blocked != 2) b.start(kThreads - 1, drain(b, kThreads - 1, 2 * count, &last[3]));
    unsigned seen[2] = {};
    b.on_packet = [&](const Packet& p) { seen[p[0].far]++; };
    b.idle_cycles(6000);
    for (unsigned route : {0u, 1u}) {
      CHECK(seen[route] == (route == blocked ? 0u : 2 * count), "route %u blocked: %u packets left by %u", blocked,
            seen[route], route);
    }
    if (blocked != 2) CHECK(b.top.received_count_o == 2 * count, "route %u blocked: local messages stopped", blocked);
    // The network's input continues as well unless the tile itself is full.
    if (blocked != 2) {
      const uint32_t before = b.top.received_count_o;
      for (unsigned i = 0; i < kQueueDepth; i++) b.deliver(message(kThreads - 2, i));
      b.idle_cycles(200);
      CHECK(b.top.received_count_o - before == kQueueDepth, "route %u blocked: no message arrives",
            blocked);
    }
  }
}

Task in_idle(Bench& b, unsigned t, uint32_t want) {
  uint32_t got = co_await value_of(b, t, {2, 3, kIdle, 1});
  CHECK(got == want, "thread %u: idle ended with %u, not %u", t, got, want);
  co_return 0;
}
Task late_message(Bench& b, uint32_t want) {
  uint32_t got = co_await take(b, 0);
  CHECK(got == want, "received %u, not the message of the next epoch", got);
  co_return 0;
}

/// Messages of the next epoch wait, whatever else happens, and arrive when it begins; it begins with the release.
void epochs() {
  Bench b(5);
  while (!b.top.ready_o) b.step();
  for (unsigned epoch = 0; epoch < 6; epoch++) {
    CHECK(b.top.epoch_o == (epoch & 3), "epoch %u is reported as %u", epoch, b.top.epoch_o);
    b.detect = false;
    // Another tile was already released: its message is early. (The harness does not count it as sent yet.)
    b.incoming.push_back(tagged(message(0, 100 + epoch), tags(kJob, epoch + 1)));
    for (unsigned t = 0; t < kThreads; t++) b.start(t, in_idle(b, t, 2));
    b.idle_cycles(300);
    CHECK(!b.all_done() && b.top.idle_o, "a message of the next epoch arrived too early");
    b.detect = true;
    unsigned releases = 0;
    b.on_release = [&releases, &b] {
      releases++;
      b.detect = false;
    };
    b.run(2000);
    b.on_release = [] {};
    CHECK(releases == 1, "%u releases", releases);
    b.count_sent();
    b.start(0, late_message(b, 100 + epoch));
    b.run(2000);
  }
  // It does not block this tile's own messages.
  b.incoming.push_back(tagged(message(0, 7), tags(kJob, b.top.epoch_o + 1)));
  uint64_t last = 0, got = 0;
  b.start(1, sender(b, 1, thread_address(2), 20, &last));
  b.start(2, drain(b, 2, 20, &got));
  b.run(5000);
  // With no thread started the tile is idle; a release then releases all threads, that is, none.
  b.active = 0;
  b.idle_cycles(100);
  CHECK(b.top.idle_o, "a tile without threads is not idle");
  // When the tile is assigned a job, epoch and counts restart.
  CHECK(b.top.epoch_o && b.top.sent_count_o && b.top.received_count_o, "no epoch and counts that could restart");
  b.detect = false;
  b.top.clear_i = 1;
  b.step();
  b.top.clear_i = 0;
  b.step();
  CHECK(!b.top.epoch_o && !b.top.sent_count_o && !b.top.received_count_o,
        "epoch and counts of the last job remain");
}

/// Local messages, the network's messages and requests are served fairly, however many there are of the others.
void fairness() {
  Bench b(6);
  while (!b.top.ready_o) b.step();
  uint64_t last = 0;
  const unsigned senders = kThreads / 2;
  for (unsigned t = 0; t < senders; t++) b.start(t, sender(b, t, thread_address(kThreads / 2 + t), 1'000'000, &last));
  std::array<uint64_t, kThreads> local{}, net{};
  struct Count {
    static Task loop(Bench& b, unsigned t, uint64_t* local, uint64_t* net) {
      for (;;) {
        uint32_t slot = co_await receive(b, t);
        uint32_t word = co_await value_of(b, t, {0, 2, slot, 0});
        (word == 0x7777 ? *net : *local)++;
        co_await set(b, t, kRelease, slot);
      }
      co_return 0;
    }
  };
  for (unsigned t = senders; t < kThreads; t++) b.start(t, Count::loop(b, t, &local[t], &net[t]));
  uint64_t cycles = 20'000, brought = 0;
  std::array<uint64_t, kThreads> quiet{};
  uint64_t worst = 0;
  std::array<uint64_t, kThreads> seen{};
  for (uint64_t c = 0; c < cycles; c++) {
    while (b.incoming.size() < 4) b.deliver(message(senders + unsigned(brought++ % senders), 0x7777, kMaxFlits));
    b.step();
    for (unsigned t = senders; t < kThreads; t++) {
      if (local[t] + net[t] != seen[t]) quiet[t] = 0;
      seen[t] = local[t] + net[t];
      worst = std::max(worst, ++quiet[t]);
    }
  }
  for (unsigned t = senders; t < kThreads; t++) {
    CHECK(local[t] * 5 > net[t] && net[t] * 5 > local[t],
          "thread %u got %llu local messages and %llu of the network", t,
          (unsigned long long)local[t], (unsigned long long)net[t]);
  }
  CHECK(worst < kThreads * 80, "a thread received no message for %llu cycles", (unsigned long long)worst);
}

/// Random packets, good and bad, with stalls on every side: the received messages are those of the model, in order.
struct Fuzz {
  std::array<std::deque<uint32_t>, kThreads> expected;
  std::array<uint64_t, 16> drops{};
  uint64_t left = 0, good = 0;
};

unsigned verdict(const Packet& p) {
  const Flit& h = p[0];
  const unsigned kind = h.dest >> 29;
  if (h.tags >> 2 != kJob) return kOtherJob;
  if ((h.tags & 3) != 0) return kEpoch;
  const bool thread = kind == 0 && h.kind == kBody, tile = kMulticast && kind == 1 && h.kind == kMaskHead;
  if (!thread && !tile) return kKind;
  if ((h.dest ^ kTile) & 0x1fff'ffc0) return kPlace;
  if (thread && (h.dest & 63) >= kThreads) return kThread;
  const uint64_t mask = h.payload[0] | uint64_t(h.payload[1]) << 32;
  if (tile && (mask == 0 || (kThreads < 64 && mask >> (kThreads & 63)))) return kMask;
  if (tile && p.size() == 1) return kLength;
  for (size_t f = 1; f < p.size(); f++) {
    if (p[f].kind != kBody) return kKind;
    if (f - tile >= kMaxFlits) return kLength;
  }
  return kNone;
}

Task fuzz_receiver(Bench& b, Fuzz& f, unsigned t) {
  while (f.left || !f.expected[t].empty()) {
    if (!co_await get(b, t, kCanReceive)) continue;
    uint32_t slot = co_await get(b, t, kReceive);
    uint32_t id = co_await value_of(b, t, {0, 2, slot, 0});
    CHECK(!f.expected[t].empty() && f.expected[t].front() == id, "thread %u received message %u out of order", t,
          id);
    f.expected[t].pop_front();
    const unsigned flits = id & 15;
    for (unsigned w = 1; w < flits * 4; w++) {
      uint32_t got = co_await value_of(b, t, {0, 2, slot + w * 4, 0});
      CHECK(got == id * 31 + w, "message %u: word %u is %x", id, w, got);
    }
    co_await set(b, t, kRelease, slot);
  }
  co_return 0;
}

void fuzz_round(uint64_t seed) {
  Bench b(seed);
  Fuzz f;
  f.left = 3000;
  const unsigned chances[] = {256, 200, 100, 20};
  b.in_chance = chances[b.below(4)];
  b.request_chance = chances[b.below(3)];
  b.response_chance = chances[b.below(4)];
  uint32_t next = 1;
  for (unsigned t = 0; t < kThreads; t++) b.start(t, fuzz_receiver(b, f, t));
  std::array<uint64_t, 16> want{};
  uint64_t of_job = 0;
  while (!b.all_done()) {
    if (f.left && b.incoming.size() < 3) {
      f.left--;
      // Nearly right, so that each check is tested alone.
      unsigned flits = b.chance(220) ? 1 + b.below(kMaxFlits) : kMaxFlits + 1 + b.below(5);
      const uint32_t id = next++ << 4 | (flits & 15);
      const bool mask_head = b.chance(kMulticast ? 90 : 10);
      uint32_t dest = mask_head ? tile_address() : thread_address(b.below(kThreads));
      Packet p;
      if (mask_head) {
        uint64_t mask = b.random() & b.random();
        if (kThreads < 64 && b.chance(240)) mask &= (1ull << (kThreads & 63)) - 1;
        if (b.chance(20)) mask = 0;
        p.push_back({kMaskHead, false, dest, {uint32_t(mask), uint32_t(mask >> 32), 0, 0}});
      }
      for (unsigned i = 0; i < flits; i++) {
        Flit flit{0, false, dest, {}};
        for (unsigned w = 0; w < 4; w++) flit.payload[w] = i + w ? id * 31 + i * 4 + w : id;
        p.push_back(flit);
      }
      unsigned tag = tags(kJob, 0);
      if (b.chance(16)) tag = tags(b.below(32), b.below(4));
      if (b.chance(8)) tag = tags(kJob, 2 + b.below(2));
      if (tag == tags(kJob, 1)) tag = tags(kJob, 2);
      if (b.chance(8)) dest ^= 1u << b.below(32);
      if (b.chance(8)) p[b.below(unsigned(p.size()))].kind = b.below(4);
      if (b.chance(4)) p.resize(1);
      for (Flit& flit : p) {
        flit.tags = tag;
        flit.dest = dest;
        flit.last = false;
      }
      p.back().last = true;
      const unsigned why = verdict(p);
      want[why]++;
      of_job += why != kOtherJob;
      if (why == kNone) {
        f.good++;
        // A packet that is cut short or of another kind can be good as well: the payload is written here, and its first
        // word contains its length.
        const bool tile = p[0].kind == kMaskHead;
        const uint32_t id = next++ << 4 | unsigned(p.size() - tile);
        for (size_t i = tile; i < p.size(); i++) {
          for (unsigned w = 0; w < 4; w++) {
            const unsigned at = unsigned(i - tile) * 4 + w;
            p[i].payload[w] = at ? id * 31 + at : id;
          }
        }
        const uint64_t mask = p[0].payload[0] | uint64_t(p[0].payload[1]) << 32;
        for (unsigned t = 0; t < kThreads; t++) {
          if (tile ? mask >> t & 1 : t == (dest & 63)) f.expected[t].push_back(id);
        }
      }
      b.deliver(p);
    }
    b.step();
    CHECK(b.cycle < 10'000'000, "the random test does not end");
  }
  b.idle_cycles(300);
  for (unsigned w = 1; w < 16; w++) {
    CHECK(b.drops[w] == want[w], "seed %llu: reason %u: %llu reports, not %llu", (unsigned long long)seed, w,
          (unsigned long long)b.drops[w], (unsigned long long)want[w]);
  }
  CHECK(b.received == f.good, "%llu of %llu good messages arrived", (unsigned long long)b.received,
        (unsigned long long)f.good);
  CHECK(b.top.received_count_o == of_job, "%u messages were counted, not %llu", b.top.received_count_o,
        (unsigned long long)of_job);
}

void run_alone(uint64_t seed, const char* name, Task (*body)(Bench&)) {
  Bench b(seed);
  b.start(0, body(b));
  b.run(3'000'000);
  std::printf("%s: %llu cycles\n", name, (unsigned long long)b.cycle);
}

}  // namespace

void network(uint64_t seed) {
  run_alone(seed, "drops", drops);
  run_alone(seed, "too long", too_long);
  run_alone(seed, "cluster", cluster);
  streams();
  std::puts("streams");
  epochs();
  std::puts("epochs");
  fairness();
  std::puts("fairness");
}

void fuzz(uint64_t seed, uint64_t rounds) {
  for (uint64_t i = 0; i < rounds; i++) fuzz_round(seed + i);
}

}  // namespace mailbox_test
