// SPDX-License-Identifier: Apache-2.0
// Random threads against a model: every message reaches each of its receivers once and unchanged, a slot has one owner
// at a time, packets leave as they were sent, and idle is released when no message is in flight.
#include <list>
#include <map>
#include <memory>

#include "harness.h"
#include "tests.h"

namespace mailbox_test {
namespace {

uint32_t word_of(uint32_t id, unsigned w) {
  if (w == 0) return id;
  uint32_t x = id * 0x9e3779b9u + w * 0x85ebca6bu;
  x ^= x >> 15;
  return x * 0x2c1b3c6du;
}

/// One message, in flight or received: to threads of this tile, or to other tiles.
struct Instance {
  uint32_t id = 0;
  unsigned flits = 1;
  uint64_t to_receive = 0, to_release = 0;
  int slot = -1;
};
struct Abroad {
  uint32_t id, dest;
  unsigned flits, kind;
  uint64_t head;
};

/// Network numbers: mailbox 0, request 1, reply 2, control 3.
unsigned vnet_of(uint32_t dest) {
  const unsigned of_kind[] = {0, 0, 1, 1, 0, 2, 3, 1};
  return of_kind[dest >> 29];
}

struct World {
  explicit World(uint64_t seed) : bench(seed) {}
  Bench bench;
  uint32_t next_id = 1;
  uint64_t operations = 0, sends = 0, receives = 0, forwards = 0, forks = 0, multicasts = 0, incoming = 0, late = 0;
  std::multimap<uint32_t, std::shared_ptr<Instance>> in_flight;
  std::array<std::shared_ptr<Instance>, kSlots> in_slot;
  /// Releases by other threads in flight: until they are over the slot must not become free, as a message for one of
  /// those threads could arrive in it, and they would release that one.
  std::array<unsigned, kSlots> strays{};
  std::list<Abroad> outgoing;
  unsigned idle = 0;
  bool all_vote_yes = true;
  unsigned releases = 0;

  std::shared_ptr<Instance> to_here(uint32_t id, unsigned flits, uint64_t mask) {
    auto i = std::make_shared<Instance>();
    i->id = id;
    i->flits = flits;
    i->to_receive = i->to_release = mask;
    in_flight.emplace(id, i);
    return i;
  }
  void received(unsigned t, unsigned slot, uint32_t id, unsigned* flits) {
    std::shared_ptr<Instance> found = in_slot[slot];
    if (found) {
      CHECK(found->id == id && (found->to_receive >> t & 1),
            "thread %u received message %u in slot %u, which contains message %u", t, id, slot, found->id);
    } else {
      auto [from, to] = in_flight.equal_range(id);
      for (auto i = from; i != to && !found; ++i) {
        if (i->second->slot < 0 && (i->second->to_receive >> t & 1)) found = i->second;
      }
      CHECK(found, "thread %u received message %u, which was for others", t, id);
      found->slot = int(slot);
      in_slot[slot] = found;
    }
    found->to_receive &= ~(1ull << t);
    *flits = found->flits;
    if (!found->to_receive) {
      auto [from, to] = in_flight.equal_range(id);
      for (auto i = from; i != to; ++i) {
        if (i->second == found) {
          in_flight.erase(i);
          break;
        }
      }
    }
    receives++;
  }
  void left(const Packet& p) {
    size_t at = 0;
    unsigned kind = 0;
    uint64_t head = 0;
    if (p[0].kind) {
      kind = p[0].kind;
      head = p[0].payload[0] | uint64_t(p[0].payload[1]) << 32;
      CHECK(!p[0].payload[2] && !p[0].payload[3], "a head flit with extra bits");
      at = 1;
    }
    CHECK(p.size() > at, "a packet with a head flit only");
    uint32_t id = p[at].payload[0];
    for (auto i = outgoing.begin(); i != outgoing.end(); ++i) {
      if (i->id != id || i->dest != p[0].dest || i->kind != kind || i->head != head) continue;
      CHECK(p.size() == at + i->flits, "message %u left with %zu flits, not %u", id, p.size() - at, i->flits);
      for (size_t f = 0; f < p.size(); f++) {
        CHECK(p[f].dest == i->dest && p[f].last == (f + 1 == p.size()) && (f < at || p[f].kind == 0) &&
              (p[f].tags >> 2 & 31) == kJob && p[f].far == (vnet_of(i->dest) != 0) &&
              p[f].tags >> 7 == vnet_of(i->dest),
              "message %u: flit %zu was changed", id, f);
        for (unsigned w = 0; f >= at && w < 4; w++) {
          CHECK(p[f].payload[w] == word_of(id, unsigned(f - at) * 4 + w), "message %u left with changed words", id);
        }
      }
      outgoing.erase(i);
      return;
    }
    for (const Abroad& i : outgoing) {
      if (i.dest == p[0].dest || i.id == id) {
        std::fprintf(stderr, "pending: message %u of %u flits for %x, kind %u, head %llx\n", i.id, i.flits,
                     i.dest,
                     i.kind, (unsigned long long)i.head);
      }
    }
    failf("message %u left for %x with kind %u and head %llx in %zu flits, but was not sent", id, p[0].dest, kind,
          (unsigned long long)head, p.size());
  }
  void deliver() {
    Bench& b = bench;
    uint32_t id = next_id++;
    unsigned flits = 1 + b.below(kMaxFlits);
    Packet p;
    uint64_t all = kThreads == 64 ? ~0ull : (1ull << kThreads) - 1;
    if (kMulticast && b.chance(100)) {
      uint64_t mask = b.random() & all;
      if (b.chance(128)) mask &= b.random() & b.random();
      mask |= 1ull << b.below(kThreads);
      p.push_back({1, false, tile_address(), {uint32_t(mask), uint32_t(mask >> 32), 0, 0}});
      to_here(id, flits, mask);
    } else {
      unsigned t = b.below(kThreads);
      p.push_back({0, false, thread_address(t), {}});
      p.pop_back();
      to_here(id, flits, 1ull << t);
      for (unsigned f = 0; f < flits; f++) p.push_back({0, false, thread_address(t), {}});
    }
    bool masked = !p.empty() && p[0].kind == 1;
    if (masked) for (unsigned f = 0; f < flits; f++) p.push_back({0, false, tile_address(), {}});
    for (unsigned f = 0; f < flits; f++) {
      for (unsigned w = 0; w < 4; w++) p[f + masked].payload[w] = word_of(id, f * 4 + w);
    }
    p.back().last = true;
    b.deliver(p);
    incoming++;
  }
};

struct Held {
  uint32_t slot, id;
  unsigned flits;
};

Task good(World& w, unsigned t, Request r) {
  Outcome o = co_await w.bench.request(t, r);
  CHECK(!o.trap, "thread %u: op %u, csr or address %x, data %x: trap %u about %x", t, r.op, r.addr, r.data, o.cause,
        o.data);
  if (w.operations) w.operations--;
  co_return o.data;
}

Task take(World& w, unsigned t, std::vector<Held>& held) {
  uint32_t addr = co_await good(w, t, {2, 2, kReceive, 0});
  CHECK(addr >= kBase && addr < slot_address(kSlots) && addr % kSlotBytes == 0,
        "received %x, which is not a slot", addr);
  uint32_t id = co_await good(w, t, {0, 2, addr, 0});
  Held h{addr, id, 1};
  w.received(t, (addr - kBase) / kSlotBytes, id, &h.flits);
  for (unsigned i = 1; i < h.flits * 4; i++) {
    uint32_t got = co_await good(w, t, {0, 2, addr + i * 4, 0});
    CHECK(got == word_of(id, i), "message %u in slot %x: word %u is %x", id, addr, i, got);
  }
  held.push_back(h);
  co_return 0;
}

Task release_one(World& w, unsigned t, std::vector<Held>& held, unsigned which) {
  Held h = held[which];
  held[which] = held.back();
  held.pop_back();
  unsigned i = w.bench.below(h.flits * 4);
  uint32_t got = co_await good(w, t, {0, 2, h.slot + i * 4, 0});
  CHECK(got == word_of(h.id, i), "message %u in slot %x was overwritten: word %u is %x", h.id, h.slot, i, got);
  const unsigned slot = (h.slot - kBase) / kSlotBytes;
  while (w.strays[slot]) co_await good(w, t, {0, 2, h.slot, 0});
  // The model releases before the mailbox can.
  auto& instance = w.in_slot[slot];
  CHECK(instance, "test error: release of an empty slot");
  instance->to_release &= ~(1ull << t);
  if (!instance->to_release) instance.reset();
  co_await good(w, t, {2, 1, kRelease, h.slot});
  co_return 0;
}

/// Address of a tile on another board.
uint32_t elsewhere(Bench& b) {
  return (b.below(4000) + 6) << 14 | b.below(kMeshHeight) << 10 | b.below(kMeshWidth) << 6;
}

/// Sends a slot anywhere; `simple`: to one thread, since copies of one message to masks could not be distinguished.
Task dispatch(World& w, unsigned t, uint32_t slot, uint32_t id, unsigned flits, bool simple) {
  Bench& b = w.bench;
  co_await good(w, t, {2, 1, kSendSlot, slot});
  co_await good(w, t, {2, 1, kSendLength, flits - 1});
  uint64_t all = kThreads == 64 ? ~0ull : (1ull << kThreads) - 1;
  unsigned where = b.below(simple ? 4 : 10);
  w.sends++;
  if (where < 2 || (where >= 7 && !kMulticast)) {
    unsigned to = b.below(kThreads);
    w.to_here(id, flits, 1ull << to);
    co_await good(w, t, {2, 1, kSendDest, thread_address(to)});
  } else if (where < 4) {
    uint32_t dest = where == 2 ? elsewhere(b) | b.below(kThreads) : 5u << 29 | b.below(4096) << 14;
    w.outgoing.push_back({id, dest, flits, 0, 0});
    co_await good(w, t, {2, 1, kSendDest, dest});
  } else if (where < 7) {
    uint32_t key = uint32_t(b.random()) | 1;
    w.outgoing.push_back({id, 4u << 29 | 5u << 14, flits, 2, key});
    co_await good(w, t, {2, 1, kSendKey, key});
  } else {
    bool here = where != 7;
    uint64_t mask = b.random();
    if (b.chance(170)) mask &= b.random() & b.random();
    mask &= all;
    mask |= 1ull << b.below(kThreads);
    co_await good(w, t, {2, 1, kSendMaskLow, uint32_t(mask)});
    co_await good(w, t, {2, 1, kSendMaskHigh, uint32_t(mask >> 32)});
    uint32_t dest = here ? tile_address() : 1u << 29 | elsewhere(b);
    if (here) w.to_here(id, flits, mask);
    else w.outgoing.push_back({id, dest, flits, 1, mask});
    w.multicasts++;
    co_await good(w, t, {2, 1, kSendTile, dest});
  }
  co_return 0;
}

Task agent(World& w, unsigned t, unsigned phases) {
  Bench& b = w.bench;
  std::vector<Held> held;
  uint32_t mine = slot_address(t * kSlotsPerThread);
  uint32_t last_id = 0;
  unsigned last_flits = 0;
  const unsigned most = 1 + kSlotsPerThread / 2;
  for (unsigned phase = 0; phase < phases; phase++) {
    while (w.operations) {
      switch (b.below(8)) {
        case 0: case 1: case 2: {
          if (held.size() >= most) co_await release_one(w, t, held, b.below(unsigned(held.size())));
          if (co_await good(w, t, {2, 2, kCanReceive, 0})) co_await take(w, t, held);
          break;
        }
        case 3: {
          if (!held.empty()) co_await release_one(w, t, held, b.below(unsigned(held.size())));
          break;
        }
        case 4: case 5: {
          uint32_t can = co_await good(w, t, {2, 2, kCanSend, 0});
          if (!can) {
            uint32_t events = co_await good(w, t, {2, 3, kWait, 3});
            CHECK(events >= 1 && events <= 3, "a wait for 3 ended with %u", events);
            break;
          }
          unsigned kind = b.below(3);
          if (kind == 0 && !held.empty()) {
            unsigned which = b.below(unsigned(held.size()));
            Held h = held[which];
            co_await dispatch(w, t, h.slot, h.id, h.flits, true);
            w.forwards++;
            if (b.chance(128)) {
              w.late++;
              co_await release_one(w, t, held, which);
            }
          } else if (kind == 1 && last_id) {
            co_await dispatch(w, t, mine, last_id, last_flits, true);
            w.forks++;
          } else {
            last_id = w.next_id++;
            last_flits = 1 + b.below(kMaxFlits);
            uint32_t id = last_id;
            for (unsigned i = 0; i < last_flits * 4; i++) {
              co_await good(w, t, {1, 2, mine + i * 4, word_of(id, i)});
            }
            co_await dispatch(w, t, mine, id, last_flits, false);
          }
          break;
        }
        case 6: {
          if (kSendSlots < 2) break;
          // Local memory: the second slot of the thread, which no other thread uses.
          uint32_t there = slot_address(t * kSlotsPerThread + 1) + b.below(kSlotBytes / 4) * 4;
          uint32_t x = uint32_t(b.random());
          co_await good(w, t, {1, 2, there, x});
          unsigned byte = b.below(4);
          co_await good(w, t, {1, 0, there + byte, x >> 7});
          x = (x & ~(0xffu << byte * 8)) | (x >> 7 & 0xff) << byte * 8;
          uint32_t got = co_await good(w, t, {0, 2, there, 0});
          CHECK(got == x, "local memory at %x is %x, not %x", there, got, x);
          break;
        }
        default: {
          // Releases of slots that the thread does not hold: they must have no effect.
          uint32_t other = slot_address(t * kSlotsPerThread + kSendSlots + b.below(kSlotsPerThread - kSendSlots));
          bool holds = false;
          for (const Held& h : held) holds = holds || h.slot == other;
          if (!holds) {
            // Only if the slot has no message for this thread: otherwise this would be a release too early.
            const unsigned slot = (other - kBase) / kSlotBytes;
            const auto& i = w.in_slot[slot];
            bool coming = i && (i->to_receive >> t & 1);
            if (i && !coming) {
              w.strays[slot]++;
              co_await good(w, t, {2, 1, kRelease, other});
              w.strays[slot]--;
            }
          }
          break;
        }
      }
    }
    bool vote = b.chance(250);
    for (;;) {
      while (held.size() > most / 2) co_await release_one(w, t, held, 0);
      w.idle++;
      if (!vote) w.all_vote_yes = false;
      uint32_t how = co_await good(w, t, {2, 3, kIdle, vote});
      if (how) {
        CHECK(how == (w.all_vote_yes ? 2u : 1u), "idle ended with %u, though %s voted no", how,
              w.all_vote_yes ? "no thread" : "a thread");
        break;
      }
      w.idle--;
      CHECK(co_await good(w, t, {2, 2, kCanReceive, 0}), "woken out of idle without a message");
      while (co_await good(w, t, {2, 2, kCanReceive, 0})) {
        co_await take(w, t, held);
        while (held.size() > most / 2) co_await release_one(w, t, held, 0);
      }
    }
    w.idle--;
    // Only after all threads have left: messages of the next phase would count in this one.
    while (w.idle) co_await good(w, t, {2, 2, kCanSend, 0});
    w.all_vote_yes = true;
    w.operations = 0;
    if (phase + 1 < phases && t == 0) w.operations = 1 + b.below(3000);
  }
  while (!held.empty()) co_await release_one(w, t, held, 0);
  co_return 0;
}

}  // namespace

void random_traffic(uint64_t seed, uint64_t operations) {
  World w(seed);
  Bench& b = w.bench;
  b.on_packet = [&](const Packet& p) { w.left(p); };
  b.on_release = [&] {
    w.releases++;
    CHECK(w.idle == kThreads, "released with %u of %u threads in idle", w.idle, kThreads);
    CHECK(w.in_flight.empty() && w.outgoing.empty() && b.incoming.empty(), "released with messages in flight");
  };
  uint64_t left = operations;
  while (left) {
    w.operations = std::min<uint64_t>(left, 20000);
    left -= w.operations;
    const unsigned chances[] = {256, 256, 200, 128, 30, 5};
    b.request_chance = chances[b.below(4)];
    b.response_chance = chances[b.below(5)];
    b.out_chance = chances[b.below(6)];
    b.far_chance = chances[b.below(6)];
    b.in_chance = chances[b.below(6)];
    unsigned bring_chance = b.below(2) ? 20 : 3;
    b.detect = false;
    uint64_t end = b.cycle + 20'000'000;
    for (unsigned t = 0; t < kThreads; t++) b.start(t, agent(w, t, 1));
    while (!b.all_done()) {
      if (w.operations && b.incoming.size() < 6 && b.chance(bring_chance)) w.deliver();
      if (!w.operations && b.incoming.empty()) b.detect = true;
      b.step();
      CHECK(b.cycle < end, "no end: %u threads idle, %zu messages in flight, %zu outgoing, %zu waiting outside", w.idle,
            w.in_flight.size(), w.outgoing.size(), b.incoming.size());
    }
    b.forget_tasks();
    for (const auto& i : w.in_slot) CHECK(!i, "test error: a slot is held after the end");
  }
  std::printf("%llu cycles, %llu sends (%llu multicasts, %llu forks, %llu forwards, %llu released early), "
              "%llu arrived, %llu receives, %u idle releases\n",
              (unsigned long long)b.cycle, (unsigned long long)w.sends, (unsigned long long)w.multicasts,
              (unsigned long long)w.forks, (unsigned long long)w.forwards, (unsigned long long)w.late,
              (unsigned long long)w.incoming, (unsigned long long)w.receives, w.releases);
  // All slots are free again: exactly as many messages arrive as there are free slots.
  const unsigned free_slots = kThreads * (kSlotsPerThread - kSendSlots);
  if (kQueueDepth * kThreads < free_slots || kQueueDepth < kSlotsPerThread - kSendSlots) return;
  b.in_chance = 256;
  uint64_t before = b.received;
  for (unsigned i = 0; i < free_slots + 5; i++) b.deliver({Flit{0, true, thread_address(i % kThreads), {i, 0, 0, 0}}});
  b.idle_cycles(free_slots * 4 + 100);
  CHECK(b.received - before == free_slots, "%llu slots were free at the end, not %u",
        (unsigned long long)(b.received - before), free_slots);
}

}  // namespace mailbox_test
