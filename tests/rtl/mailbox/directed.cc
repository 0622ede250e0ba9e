// SPDX-License-Identifier: Apache-2.0
// The mailbox's rules, one by one, as the documentation has them.
#include <algorithm>

#include "harness.h"
#include "tests.h"

namespace mailbox_test {
namespace {

/// Own slot n of a thread.
uint32_t own(unsigned thread, unsigned n) { return slot_address(thread * kSlotsPerThread + n); }

Task expect_trap(Bench& b, unsigned t, Request r, unsigned cause, uint32_t about) {
  Outcome o = co_await b.request(t, r);
  CHECK(o.trap, "op %u csr %x data %x: no trap, but %x", r.op, r.addr, r.data, o.data);
  CHECK(o.cause == cause && o.data == about, "csr %x data %x: trap %u about %x, not %u about %x", r.addr, r.data,
        o.cause, o.data, cause, about);
  co_return 0;
}
Request write_of(uint32_t csr, uint32_t value) { return {2, 1, csr, value}; }
Request read_of(uint32_t csr) { return {2, 2, csr, 0}; }

Task value_of(Bench& b, unsigned t, Request r) {
  Outcome o = co_await b.request(t, r);
  CHECK(!o.trap, "csr or address %x data %x: trap %u about %x", r.addr, r.data, o.cause, o.data);
  co_return o.data;
}

Task fill(Bench& b, unsigned t, uint32_t slot, uint32_t id, unsigned flits) {
  for (unsigned w = 0; w < flits * 4; w++) co_await value_of(b, t, {1, 2, slot + w * 4, id * 64 + w});
  co_return 0;
}
Task check(Bench& b, unsigned t, uint32_t slot, uint32_t id, unsigned flits) {
  for (unsigned w = 0; w < flits * 4; w++) {
    uint32_t got = co_await value_of(b, t, {0, 2, slot + w * 4, 0});
    CHECK(got == id * 64 + w, "message %u at %x: word %u is %x", id, slot, w, got);
  }
  co_return 0;
}
Task send(Bench& b, unsigned t, uint32_t slot, unsigned flits, uint32_t csr, uint32_t dest) {
  co_await value_of(b, t, write_of(kSendSlot, slot));
  co_await value_of(b, t, write_of(kSendLength, flits - 1));
  co_await value_of(b, t, write_of(csr, dest));
  co_return 0;
}
Task receive(Bench& b, unsigned t) {
  co_await value_of(b, t, write_of(kWait, 2));
  co_return co_await value_of(b, t, read_of(kReceive));
}
Task can_send(Bench& b, unsigned t) {
  co_await value_of(b, t, write_of(kWait, 1));
  co_return 0;
}

void alone(Bench& b, std::function<Task(Bench&)> body) {
  b.start(0, body(b));
  b.run(200000);
}

Task loads_and_stores(Bench& b) {
  uint32_t a = own(0, 0);
  co_await value_of(b, 0, {1, 2, a, 0x8899aabb});
  const std::array<std::array<uint32_t, 3>, 11> cases{{{0, 0, 0xffffffbb}, {0, 1, 0xffffffaa}, {0, 2, 0xffffff99},
      {0, 3, 0xffffff88}, {4, 0, 0xbb}, {4, 3, 0x88}, {1, 0, 0xffffaabb}, {1, 2, 0xffff8899}, {5, 0, 0xaabb},
      {5, 2, 0x8899}, {2, 0, 0x8899aabb}}};
  for (auto [funct3, offset, want] : cases) {
    uint32_t got = co_await value_of(b, 0, {0, funct3, a + offset, 0});
    CHECK(got == want, "load %u at offset %u gives %x, not %x", funct3, offset, got, want);
  }
  co_await value_of(b, 0, {1, 0, a + 1, 0x12345677});
  co_await value_of(b, 0, {1, 1, a + 2, 0x00006655});
  uint32_t got = co_await value_of(b, 0, {0, 2, a, 0});
  CHECK(got == 0x665577bb, "after byte and half-word stores: %x", got);
  // All of the scratchpad is there, each word at its own place.
  for (uint32_t w = 0; w < kSlots * kSlotBytes / 4; w++) co_await value_of(b, 0, {1, 2, kBase + w * 4, w * 0x9e3779b9});
  for (uint32_t w = 0; w < kSlots * kSlotBytes / 4; w++) {
    got = co_await value_of(b, 0, {0, 2, kBase + w * 4, 0});
    CHECK(got == w * 0x9e3779b9, "word %u of the scratchpad is %x", w, got);
  }
  co_return 0;
}

Task state(Bench& b) {
  unsigned t = kThreads - 1;
  CHECK(co_await value_of(b, t, read_of(kSendSlot)) == own(t, 0), "send_slot after reset");
  CHECK(co_await value_of(b, t, read_of(kSendLength)) == 0, "send_length after reset");
  co_await value_of(b, t, write_of(kSendSlot, own(t, 1)));
  CHECK(co_await value_of(b, t, {2, 3, kSendSlot, own(t, 0)}) == own(t, 1), "swap of send_slot");
  CHECK(co_await value_of(b, t, read_of(kSendSlot)) == own(t, 0), "send_slot");
  co_await value_of(b, t, write_of(kSendLength, kMaxFlits - 1));
  CHECK(co_await value_of(b, t, read_of(kSendLength)) == kMaxFlits - 1, "send_length");
  if (kMulticast) {
    for (unsigned u = 0; u < kThreads; u++) {
      co_await value_of(b, u, write_of(kSendMaskLow, 0x1234'0000 + u));
      co_await value_of(b, u, write_of(kSendMaskHigh, 0x8765'0000 + u));
    }
    for (unsigned u = 0; u < kThreads; u++) {
      CHECK(co_await value_of(b, u, {2, 3, kSendMaskLow, 0}) == 0x1234'0000 + u, "send_mask_low");
      CHECK(co_await value_of(b, u, read_of(kSendMaskLow)) == 0, "send_mask_low after a swap");
      CHECK(co_await value_of(b, u, read_of(kSendMaskHigh)) == 0x8765'0000 + u, "send_mask_high");
    }
  }
  CHECK(co_await value_of(b, t, read_of(kCanSend)) == 1, "can_send after reset");
  CHECK(co_await value_of(b, t, read_of(kCanReceive)) == 0, "can_receive after reset");
  CHECK(co_await value_of(b, t, {2, 3, kWait, 3}) == 1, "a wait for what is there already");
  co_return 0;
}

Task traps(Bench& b) {
  uint32_t far = thread_address(0) ^ 1u << 14;
  co_await expect_trap(b, 0, write_of(kSendSlot, own(0, 0) + 4), kBadSlot, own(0, 0) + 4);
  co_await expect_trap(b, 0, write_of(kSendSlot, kBase + kSlots * kSlotBytes), kBadSlot, kBase + kSlots * kSlotBytes);
  co_await expect_trap(b, 0, write_of(kSendSlot, own(0, 0) | 0x8000'0000), kBadSlot, own(0, 0) | 0x8000'0000);
  co_await expect_trap(b, 0, write_of(kRelease, own(0, 0) + 1), kBadSlot, own(0, 0) + 1);
  co_await expect_trap(b, 0, write_of(kRelease, 0), kBadSlot, 0);
  co_await expect_trap(b, 0, write_of(kSendLength, kMaxFlits), kBadLength, kMaxFlits);
  co_await expect_trap(b, 0, write_of(kSendLength, ~0u), kBadLength, ~0u);
  co_await expect_trap(b, 0, read_of(kReceive), kNothingToReceive, 0);
  // Addresses that no thread sends to: sets of threads by another register, and what hosts and boards alone reach.
  for (unsigned kind : {1u, 2u, 3u, 4u, 6u}) {
    uint32_t dest = (far & 0x1fff'ffff) | kind << 29;
    co_await expect_trap(b, 0, write_of(kSendDest, dest), kBadDestination, dest);
  }
  co_await expect_trap(b, 0, write_of(kSendDest, far | 1u << 26), kBadDestination, far | 1u << 26);
  if (kThreads < 64) {
    const auto beyond = thread_address(kThreads);
    co_await expect_trap(b, 0, write_of(kSendDest, beyond), kBadDestination, beyond);
  }
  co_await expect_trap(b, 0, write_of(kSendKey, 0xffff'ffe0), kBadKey, 0xffff'ffe0);
  // A board that has no routers: keys name nobody.
  b.top.routers_i = 0;
  co_await expect_trap(b, 0, write_of(kSendKey, 0x123), kBadKey, 0x123);
  b.top.routers_i = 1;
  for (uint32_t csr : {uint32_t(kReceive), uint32_t(kCanSend), uint32_t(kCanReceive), 0x80Bu, 0xCC3u, 0x000u}) {
    co_await expect_trap(b, 0, write_of(csr, 1), kBadRegister, csr);
  }
  if (!kMulticast) {
    co_await expect_trap(b, 0, write_of(kSendMaskLow, 1), kBadRegister, kSendMaskLow);
    co_await expect_trap(b, 0, write_of(kSendTile, tile_address()), kBadRegister, kSendTile);
  } else {
    // A mask of nobody, here and elsewhere; then a good mask and addresses that are no tile's.
    co_await value_of(b, 0, write_of(kSendMaskLow, 0));
    co_await expect_trap(b, 0, write_of(kSendTile, tile_address()), kBadDestination, tile_address());
    co_await expect_trap(b, 0, write_of(kSendTile, tile_address() ^ 1u << 14), kBadDestination,
                         tile_address() ^ 1u << 14);
    co_await value_of(b, 0, write_of(kSendMaskLow, 1));
    co_await expect_trap(b, 0, write_of(kSendTile, tile_address() | 1), kBadDestination, tile_address() | 1);
    co_await expect_trap(b, 0, write_of(kSendTile, thread_address(0)), kBadDestination, thread_address(0));
    if (kThreads < 64) {
      co_await value_of(b, 0, write_of(kThreads < 32 ? kSendMaskLow : kSendMaskHigh, 1u << kThreads % 32));
      co_await expect_trap(b, 0, write_of(kSendTile, tile_address()), kBadDestination, tile_address());
    }
  }
  // Sends from slots that the thread does not hold: the hardware's, and a neighbour's.
  co_await value_of(b, 0, write_of(kSendSlot, own(0, kSendSlots)));
  co_await expect_trap(b, 0, write_of(kSendDest, far), kNotReceived, own(0, kSendSlots));
  co_await value_of(b, 0, write_of(kSendSlot, own(1, 0)));
  co_await expect_trap(b, 0, write_of(kSendDest, far), kNotReceived, own(1, 0));
  CHECK(co_await value_of(b, 0, read_of(kCanSend)) == 1, "can_send after sends that trapped");
  // A send while another is under way.
  b.out_chance = 0;
  for (int i = 0;; i++) {
    CHECK(i < 100, "no end of sends though nobody takes them");
    co_await send(b, 0, own(0, 0), kMaxFlits, kSendDest, far);
    for (int w = 0; w < 30; w++) co_await value_of(b, 0, read_of(kCanReceive));
    if (!co_await value_of(b, 0, read_of(kCanSend))) break;
  }
  co_await expect_trap(b, 0, write_of(kSendDest, far), kSendNotReady, far);
  b.out_chance = 256;
  co_await can_send(b, 0);
  co_return 0;
}

/// Fork, forward without a copy, release of a slot whose send is under way.
Task fork_and_forward(Bench& b) {
  co_await fill(b, 0, own(0, 0), 77, kMaxFlits);
  for (unsigned t = 1; t < kThreads; t++) {
    co_await can_send(b, 0);
    co_await send(b, 0, own(0, 0), kMaxFlits, kSendDest, thread_address(t));
  }
  for (unsigned t = 1; t < kThreads; t++) {
    uint32_t slot = co_await receive(b, t);
    co_await check(b, t, slot, 77, kMaxFlits);
    // On to thread 0, and done with it before it has left.
    co_await send(b, t, slot, kMaxFlits, kSendDest, thread_address(0));
    co_await value_of(b, t, write_of(kRelease, slot));
    co_await value_of(b, t, write_of(kRelease, slot));
    uint32_t there = co_await receive(b, 0);
    co_await check(b, 0, there, 77, kMaxFlits);
    co_await value_of(b, 0, write_of(kRelease, there));
  }
  co_return 0;
}

/// A slot that was released while its send waits is not given to another message before the send has left.
Task late_release(Bench& b) {
  uint32_t far = thread_address(0) ^ 1u << 14;
  std::vector<Packet> seen;
  b.on_packet = [&](const Packet& p) { seen.push_back(p); };
  b.out_chance = 0;
  unsigned blocked = 0;
  for (; blocked < kThreads - 1; blocked++) {
    co_await fill(b, blocked, own(blocked, 0), 100 + blocked, kMaxFlits);
    co_await send(b, blocked, own(blocked, 0), kMaxFlits, kSendDest, far);
    for (int w = 0; w < 30; w++) co_await value_of(b, blocked, read_of(kCanReceive));
    if (!co_await value_of(b, blocked, read_of(kCanSend))) break;
  }
  CHECK(blocked < kThreads - 1, "no send waited: the queue behind the mailbox is deeper than this test");
  // The blocked thread gives its slot away; all free slots are taken by messages. None may be this.
  co_await value_of(b, blocked, write_of(kRelease, own(blocked, 0)));
  for (unsigned i = 0; i < kSlots; i++) b.bring({Flit{0, true, thread_address(i % kThreads), {1000 + i, 0, 0, 0}}});
  for (unsigned i = 0; i < kSlots * 3; i++) co_await value_of(b, kThreads - 1, read_of(kCanSend));
  b.out_chance = 256;
  co_await can_send(b, blocked);
  for (unsigned i = 0; i < 100; i++) co_await value_of(b, kThreads - 1, read_of(kCanSend));
  CHECK(seen.size() == blocked + 1, "%zu packets left, not %u", seen.size(), blocked + 1);
  for (unsigned w = 0; w < kMaxFlits * 4; w++) {
    CHECK(seen[blocked][w / 4].payload[w % 4] == (100 + blocked) * 64 + w, "a slot was taken while it was sent from");
  }
  // Now it is the hardware's: its owner can no longer send from it.
  co_await expect_trap(b, blocked, write_of(kSendDest, far), kNotReceived, own(blocked, 0));
  unsigned left = kSlots;
  while (left) {
    for (unsigned t = 0; t < kThreads; t++) {
      while (co_await value_of(b, t, read_of(kCanReceive))) {
        uint32_t slot = co_await value_of(b, t, read_of(kReceive));
        co_await value_of(b, t, write_of(kRelease, slot));
        left--;
      }
    }
  }
  co_return 0;
}

/// The papers' start-up gives all slots but the first to the hardware; the code's gives back what it received.
/// Messages are already there when a late thread starts: its start-up must not take them from their receivers.
Task start_ups(Bench& b) {
  for (unsigned i = 0; i < kSlots; i++) b.bring({Flit{0, true, thread_address(i % kThreads), {5000 + i, 0, 0, 0}}});
  std::array<std::vector<uint32_t>, kThreads> held;
  for (unsigned n = 0; n < (kSlotsPerThread - kSendSlots) / 2; n++) {
    for (unsigned t = 0; t < kThreads; t++) held[t].push_back(co_await receive(b, t));
  }
  for (unsigned round = 0; round < 2; round++) {
    for (unsigned t = 0; t < kThreads; t++) {
      for (unsigned n = kSendSlots; n < kSlotsPerThread; n++) {
        bool mine = false;
        for (uint32_t h : held[t]) mine = mine || h == own(t, n);
        if (!mine) co_await value_of(b, t, write_of(kRelease, own(t, n)));
      }
    }
  }
  // Nothing of what they hold has changed or is given out again.
  std::vector<bool> used(kSlots);
  unsigned left = kSlots;
  for (unsigned t = 0; t < kThreads; t++) {
    for (unsigned n = 0; n < held[t].size(); n++) {
      uint32_t h = held[t][n];
      CHECK(!used[(h - kBase) / kSlotBytes], "slot %x was given out twice", h);
      used[(h - kBase) / kSlotBytes] = true;
      uint32_t word = co_await value_of(b, t, {0, 2, h, 0});
      CHECK(word == 5000 + n * kThreads + t, "slot %x of thread %u holds %u", h, t, word);
    }
  }
  for (unsigned t = 0; t < kThreads; t++) {
    for (uint32_t h : held[t]) {
      co_await value_of(b, t, write_of(kRelease, h));
      left--;
    }
  }
  while (left) {
    for (unsigned t = 0; t < kThreads; t++) {
      while (co_await value_of(b, t, read_of(kCanReceive))) {
        uint32_t slot = co_await value_of(b, t, read_of(kReceive));
        co_await value_of(b, t, write_of(kRelease, slot));
        left--;
      }
    }
  }
  co_return 0;
}

/// The papers' start-up, after messages have come and before any is received: it gives back slots whose messages are
/// queued, and nothing may come of it. Forwarding and multicasts make it no different.
Task early_release(Bench& b) {
  const unsigned early = kThreads * (kSlotsPerThread - kSendSlots) / 2;
  for (unsigned i = 0; i < early; i++) b.bring({Flit{0, true, thread_address(i % kThreads), {7000 + i, 0, 0, 0}}});
  for (unsigned i = 0; i < early * 2 + 50; i++) co_await value_of(b, 0, read_of(kCanSend));
  CHECK(b.incoming.empty(), "the messages did not come in");
  // Every thread gives back every slot of the tile but those that threads send from; then as many messages come as
  // find room, which must be in the other slots.
  auto start_up = [&b](unsigned t) -> Task {
    for (unsigned s = 0; s < kSlots; s++) {
      if (s % kSlotsPerThread >= kSendSlots) co_await value_of(b, t, write_of(kRelease, slot_address(s)));
    }
    co_return 0;
  };
  for (unsigned t = 0; t < kThreads; t++) co_await start_up(t);
  for (unsigned i = early; i < kSlots; i++) b.bring({Flit{0, true, thread_address(i % kThreads), {7000 + i, 0, 0, 0}}});
  for (unsigned i = 0; i < kSlots * 2; i++) co_await value_of(b, 0, read_of(kCanSend));
  std::array<unsigned, kThreads> next{};
  for (unsigned left = kSlots; left;) {
    for (unsigned t = 0; t < kThreads; t++) {
      while (co_await value_of(b, t, read_of(kCanReceive))) {
        uint32_t slot = co_await value_of(b, t, read_of(kReceive));
        uint32_t want = 7000 + next[t]++ * kThreads + t;
        uint32_t got = co_await value_of(b, t, {0, 2, slot, 0});
        CHECK(got == want, "thread %u received message %u, not %u: its slot was released while it was queued", t, got,
              want);
        co_await value_of(b, t, write_of(kRelease, slot));
        left--;
      }
    }
  }
  if (kMulticast) {
    // A multicast: one receiver has it, the others release it before they receive.
    uint64_t all = kThreads == 64 ? ~0ull : (1ull << kThreads) - 1;
    co_await fill(b, 0, own(0, 0), 500, 1);
    co_await value_of(b, 0, write_of(kSendMaskLow, uint32_t(all)));
    co_await value_of(b, 0, write_of(kSendMaskHigh, uint32_t(all >> 32)));
    co_await send(b, 0, own(0, 0), 1, kSendTile, tile_address());
    uint32_t slot = co_await receive(b, 0);
    for (unsigned t = 1; t < kThreads; t++) {
      co_await value_of(b, t, write_of(kRelease, slot));
      // Not theirs to send from, either.
      co_await value_of(b, t, write_of(kSendSlot, slot));
      co_await expect_trap(b, t, write_of(kSendDest, thread_address(0)), kNotReceived, slot);
    }
    co_await value_of(b, 0, write_of(kRelease, slot));
    for (unsigned t = 1; t < kThreads; t++) {
      CHECK(co_await receive(b, t) == slot, "a multicast in two slots");
      co_await check(b, t, slot, 500, 1);
      co_await value_of(b, t, write_of(kRelease, slot));
    }
  }
  co_return 0;
}

/// A slot is released while its send is under way; the next send from it, whenever it comes, finds it gone.
Task release_then_send(Bench& b) {
  uint32_t far = thread_address(0) ^ 1u << 14;
  for (unsigned round = 0; round < 200; round++) {
    const unsigned t = round % kThreads;
    // A message of its own, which it forwards.
    b.bring({Flit{0, true, thread_address(t), {round, 0, 0, 0}}});
    uint32_t slot = co_await receive(b, t);
    b.out_chance = round % 3 == 0 ? 256 : 20;
    co_await send(b, t, slot, kMaxFlits, kSendDest, far);
    co_await value_of(b, t, write_of(kRelease, slot));
    // Waits sometimes, asks sometimes; the others keep the pipeline busy or not.
    if (round & 1) {
      co_await can_send(b, t);
    } else {
      while (!co_await value_of(b, t, read_of(kCanSend))) {}
    }
    co_await expect_trap(b, t, write_of(kSendDest, far), kNotReceived, slot);
  }
  b.out_chance = 256;
  co_return 0;
}

/// As many messages come in as slots are free, and not one more; then all of them again.
Task every_slot(Bench& b) {
  unsigned free_slots = kThreads * (kSlotsPerThread - kSendSlots);
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < free_slots + 5; i++) {
      b.bring({Flit{0, true, thread_address(i % kThreads), {i, round, 0, 0}}});
    }
    uint64_t before = b.received;
    for (unsigned i = 0; i < free_slots * 2 + 50; i++) co_await value_of(b, 0, read_of(kCanSend));
    unsigned deepest = (free_slots + kThreads - 1) / kThreads;
    if (kQueueDepth >= deepest) {
      CHECK(b.received - before == free_slots, "%llu messages came in, with %u slots free",
            (unsigned long long)(b.received - before), free_slots);
    }
    std::vector<bool> seen(free_slots + 5);
    for (unsigned left = free_slots + 5; left;) {
      for (unsigned t = 0; t < kThreads; t++) {
        if (!co_await value_of(b, t, read_of(kCanReceive))) continue;
        uint32_t slot = co_await value_of(b, t, read_of(kReceive));
        uint32_t i = co_await value_of(b, t, {0, 2, slot, 0});
        CHECK(i < seen.size() && !seen[i] && i % kThreads == t, "thread %u received message %u", t, i);
        CHECK(co_await value_of(b, t, {0, 2, slot + 4, 0}) == round, "a message of an earlier round");
        seen[i] = true;
        co_await value_of(b, t, write_of(kRelease, slot));
        left--;
      }
    }
  }
  co_return 0;
}

/// One queue is full: what comes for it waits, nothing is lost, and it goes on when the thread receives.
Task full_queue(Bench& b) {
  unsigned n = std::min(kQueueDepth + 3, kThreads * (kSlotsPerThread - kSendSlots));
  for (unsigned i = 0; i < n; i++) b.bring({Flit{0, true, thread_address(1), {i, 0, 0, 0}}});
  for (unsigned i = 0; i < 300; i++) co_await value_of(b, 0, read_of(kCanSend));
  for (unsigned i = 0; i < n; i++) {
    uint32_t slot = co_await receive(b, 1);
    uint32_t got = co_await value_of(b, 1, {0, 2, slot, 0});
    CHECK(got == i, "message %u of a full queue is %u", i, got);
    co_await value_of(b, 1, write_of(kRelease, slot));
  }
  co_return 0;
}

/// A multicast is stored once, and its slot is free when the last receiver is done, in whatever order.
Task reference_counts(Bench& b) {
  uint64_t all = kThreads == 64 ? ~0ull : (1ull << kThreads) - 1;
  for (unsigned round = 0; round < 4; round++) {
    uint64_t mask = round == 0 ? all : (b.random() & all) | 1ull << b.below(kThreads);
    co_await fill(b, 0, own(0, 0), 300 + round, 1);
    co_await value_of(b, 0, write_of(kSendMaskLow, uint32_t(mask)));
    co_await value_of(b, 0, write_of(kSendMaskHigh, uint32_t(mask >> 32)));
    uint64_t before = b.received;
    co_await send(b, 0, own(0, 0), 1, kSendTile, tile_address());
    std::vector<unsigned> receivers;
    uint32_t slot = 0;
    for (unsigned t = 0; t < kThreads; t++) {
      if (!(mask >> t & 1)) continue;
      receivers.push_back(t);
      uint32_t s = co_await receive(b, t);
      CHECK(!slot || s == slot, "one multicast in two slots");
      slot = s;
    }
    for (unsigned t = 0; t < kThreads; t++) {
      uint32_t more = co_await value_of(b, t, read_of(kCanReceive));
      CHECK(!more, "thread %u received a message twice, or one that was not for it", t);
    }
    CHECK(b.received - before == 1, "a multicast counts as %llu", (unsigned long long)(b.received - before));
    std::shuffle(receivers.begin(), receivers.end(), b.random);
    // Threads that do not hold it release it as well, and holders do it twice: it stays until the last holder.
    for (unsigned i = 0; i < receivers.size(); i++) {
      for (unsigned t = 0; t < kThreads; t++) {
        if (!(mask >> t & 1)) co_await value_of(b, t, write_of(kRelease, slot));
      }
      co_await value_of(b, receivers[i], write_of(kSendSlot, slot));
      if (i) co_await value_of(b, receivers[i - 1], write_of(kRelease, slot));
      co_await check(b, receivers[i], slot, 300 + round, 1);
      co_await value_of(b, receivers[i], write_of(kRelease, slot));
      co_await expect_trap(b, receivers[i], write_of(kSendDest, thread_address(0)), kNotReceived, slot);
    }
  }
  co_return 0;
}

Task idler(Bench& b, unsigned t, bool vote, uint32_t want, uint64_t* released) {
  uint32_t got = co_await value_of(b, t, {2, 3, kIdle, vote});
  // Before it asks again: the harness offers requests in a random order, so the next one may wait for long.
  *released = b.cycle;
  CHECK(got == want, "thread %u: idle ended with %u, not %u", t, got, want);
  CHECK(co_await value_of(b, t, read_of(kIdle)) == want, "idle read afterwards");
  co_return 0;
}
Task busy_then_idle(Bench& b, unsigned t, unsigned for_requests, uint64_t* began, uint64_t* released) {
  for (unsigned i = 0; i < for_requests; i++) co_await value_of(b, t, read_of(kCanSend));
  co_await fill(b, t, own(t, 0), 9, 1);
  co_await send(b, t, own(t, 0), 1, kSendDest, thread_address(0));
  co_await can_send(b, t);
  *began = b.cycle;
  uint32_t got = co_await value_of(b, t, {2, 3, kIdle, 1});
  CHECK(got == 2 || got == 1, "the last thread: idle ended with %u", got);
  *released = b.cycle;
  co_return 0;
}
Task woken_by_message(Bench& b, bool vote, uint32_t want, uint64_t* released) {
  uint32_t got = co_await value_of(b, 0, {2, 3, kIdle, 0});
  CHECK(got == 0, "a message came, and idle ended with %u", got);
  uint32_t slot = co_await value_of(b, 0, read_of(kReceive));
  co_await value_of(b, 0, write_of(kRelease, slot));
  got = co_await value_of(b, 0, {2, 3, kIdle, vote});
  CHECK(got == want, "thread 0: idle ended with %u, not %u", got, want);
  *released = b.cycle;
  co_return 0;
}

/// The thread that a release frees as the so manieth: cores take turns.
constexpr unsigned freed_as(unsigned place) { return place % kCores * (kThreads / kCores) + place / kCores; }
constexpr bool freed_last(unsigned t) { return t % (kThreads / kCores) >= kThreads / kCores * 3 / 4; }

void idleness(Bench& b) {
  while (!b.top.ready_o) b.step();
  b.detect = true;
  for (bool vote : {true, false, true}) {
    std::array<uint64_t, kThreads> released{};
    uint64_t began = 0;
    uint32_t want = vote ? 2 : 1;
    b.start(0, woken_by_message(b, vote, want, &released[0]));
    for (unsigned t = 1; t + 1 < kThreads; t++) b.start(t, idler(b, t, true, want, &released[t]));
    b.start(kThreads - 1, busy_then_idle(b, kThreads - 1, 500, &began, &released[kThreads - 1]));
    b.run(20000);
    for (uint64_t r : released) CHECK(r >= began, "released before all were idle");
    for (unsigned place = 1; place < kThreads; place++) {
      CHECK(released[freed_as(place)] > released[freed_as(place - 1)], "thread %u is freed before thread %u",
            freed_as(place), freed_as(place - 1));
    }
  }
  // A thread that does not count is not waited for.
  b.active &= ~1ull;
  std::array<uint64_t, kThreads> released{};
  for (unsigned t = 1; t < kThreads; t++) b.start(t, idler(b, t, true, 2, &released[t]));
  b.run(20000);
  b.active |= 1;
  // Nobody counts: nothing to release.
  uint64_t before = 0;
  b.on_release = [&] { before++; };
  uint64_t active = b.active;
  b.active = 0;
  b.idle_cycles(200);
  CHECK(before == 0, "a release with no thread active");
  b.active = active;
  b.detect = false;
}

/// Leaves idle and asks for something in every cycle that it can, for a while.
Task idle_then_busy(Bench& b, unsigned t, unsigned for_requests) {
  co_await value_of(b, t, {2, 3, kIdle, 1});
  for (unsigned i = 0; i < for_requests; i++) co_await value_of(b, t, read_of(kCanSend));
  co_return 0;
}

/// Threads that a release has freed already and that fill the pipeline of requests do not keep it from the others, and
/// outcomes of both have room, however slowly they are taken.
void release_among_requests(Bench& b) {
  while (!b.top.ready_o) b.step();
  b.detect = true;
  uint64_t when = 0;
  b.on_release = [&] { when = b.cycle; };
  for (unsigned chance : {256, 256, 128, 160, 200, 230}) {
    b.response_chance = chance;
    std::array<uint64_t, kThreads> released{};
    for (unsigned t = 0; t < kThreads; t++) {
      if (!freed_last(t)) b.start(t, idle_then_busy(b, t, 100));
      else b.start(t, idler(b, t, true, 2, &released[t]));
    }
    b.run(50000);
    for (unsigned t = 0; t < kThreads; t++) {
      if (!freed_last(t)) continue;
      // One thread in two cycles, since A pauses for each that has to wait.
      CHECK(chance != 256 || released[t] - when < 2 * kThreads, "thread %u: freed %llu cycles behind the release",
            t, (unsigned long long)(released[t] - when));
    }
  }
  b.response_chance = 256;
  b.on_release = [] {};
  b.detect = false;
}

/// A thread that a release has freed and that has asked for nothing since: a message finds it awake, not in idle.
void message_behind_a_release(Bench& b) {
  while (!b.top.ready_o) b.step();
  b.detect = true;
  for (unsigned t = 0; t < kThreads; t++) b.start(t, idle_then_busy(b, t, 0));
  b.run(20000);
  // No outcome comes for it: the harness fails if one does. Twice: the wish that it had is forgotten with the first.
  for (unsigned message = 0; message < 2; message++) {
    for (unsigned t = 0; t < kThreads; t++) b.bring({Flit{0, true, thread_address(t), {t, 0, 0, 0}}});
    b.idle_cycles(500);
  }
  for (unsigned t = 0; t < kThreads; t++) {
    b.start(t, [](Bench& bench, unsigned thread) -> Task {
      CHECK(co_await value_of(bench, thread, read_of(kIdle)) == 2, "thread %u: how idle ended was forgotten", thread);
      for (unsigned message = 0; message < 2; message++) {
        CHECK(co_await value_of(bench, thread, {2, 3, kIdle, 1}) == 0, "thread %u: a message was there", thread);
        co_await value_of(bench, thread, write_of(kRelease, co_await value_of(bench, thread, read_of(kReceive))));
      }
      CHECK(co_await value_of(bench, thread, {2, 3, kIdle, 1}) == 2, "thread %u: no release", thread);
      co_return 0;
    }(b, t));
  }
  b.run(20000);
  b.detect = false;
}

Task waiter(Bench& b, unsigned t, uint32_t events, uint32_t want) {
  uint32_t got = co_await value_of(b, t, {2, 3, kWait, events});
  CHECK(got == want, "a wait for %u ended with %u, not %u", events, got, want);
  co_return 0;
}

void waits(Bench& b) {
  while (!b.top.ready_o) b.step();
  b.start(1, waiter(b, 1, 2, 2));
  b.start(0, waiter(b, 0, 0, 0));
  b.idle_cycles(500);
  CHECK(b.suspended(1), "a wait for a message ended without one");
  b.bring({Flit{0, true, thread_address(1), {1, 0, 0, 0}}});
  uint64_t from = b.cycle;
  while (b.suspended(1)) {
    b.step();
    CHECK(b.cycle - from < 40, "a message, and its thread sleeps on");
  }
  CHECK(b.suspended(0), "a wait for nothing ended");
}

/// A thread begins to wait for the end of its send in each cycle around that end: it is always told.
void waits_for_ends(Bench& b) {
  while (!b.top.ready_o) b.step();
  const uint32_t far = thread_address(0) ^ 1u << 14;
  b.on_packet = [](const Packet&) {};
  unsigned at_once = 0, woken = 0;
  for (unsigned flits = 1; flits <= kMaxFlits; flits++) {
    for (unsigned pause = 0; pause < 24; pause++) {
      b.start(0, [](Bench& bench, unsigned n, uint32_t to) -> Task {
        co_await send(bench, 0, own(0, 0), n, kSendDest, to);
        co_return 0;
      }(b, flits, far));
      b.run(1000);
      b.idle_cycles(pause);
      const uint64_t from = b.cycle;
      b.start(0, waiter(b, 0, 1, 1));
      b.run(1000);
      (b.cycle - from > 8 ? woken : at_once)++;
      b.idle_cycles(60);
    }
  }
  CHECK(at_once != 0 && woken != 0, "%u waits found the send over, %u did not: no sweep", at_once, woken);
}

/// A thread releases the slot that it sends from in each cycle around the end of that send: no slot is lost. In every
/// other round it asks instead whether the send is over, and releases then.
void releases_around_ends(Bench& b) {
  while (!b.top.ready_o) b.step();
  const uint32_t far = thread_address(0) ^ 1u << 14;
  b.on_packet = [](const Packet&) {};
  unsigned over = 0, under_way = 0;
  for (unsigned round = 0; round < kMaxFlits * 48; round++) {
    const unsigned flits = round / 48 + 1, pause = round % 48 / 2;
    b.bring({Flit{0, true, thread_address(0), {round, 0, 0, 0}}});
    uint32_t slot = 0, may_send = 0;
    b.start(0, [](Bench& bench, unsigned n, uint32_t to, uint32_t& received) -> Task {
      received = co_await receive(bench, 0);
      co_await send(bench, 0, received, n, kSendDest, to);
      co_return 0;
    }(b, flits, far, slot));
    b.run(1000);
    b.idle_cycles(pause);
    if (round % 2) {
      b.start(0, [](Bench& bench, uint32_t& may) -> Task {
        may = co_await value_of(bench, 0, read_of(kCanSend));
        co_return 0;
      }(b, may_send));
      b.run(1000);
      (may_send ? over : under_way)++;
    }
    b.start(0, [](Bench& bench, uint32_t to, uint32_t received) -> Task {
      co_await value_of(bench, 0, write_of(kRelease, received));
      co_await can_send(bench, 0);
      co_await expect_trap(bench, 0, write_of(kSendDest, to), kNotReceived, received);
      co_return 0;
    }(b, far, slot));
    b.run(1000);
  }
  CHECK(over != 0 && under_way != 0, "%u sends were over, %u were not: no sweep", over, under_way);
  b.start(0, every_slot(b));
  b.run(3'000'000);
}

/// A thread releases the slot that it sends from, and names it once more, in each cycle around the end of that send:
/// the second finds it gone. With ``again`` it releases twice, else it sends. The way out is closed and full until the
/// send has its place in the order, so its end comes late enough for the second to be there as well.
void second_use_around_ends(Bench& b, bool again) {
  while (!b.top.ready_o) b.step();
  constexpr unsigned kOthers = 8, kPauses = 12 * (kMaxFlits + 1);
  const uint32_t far = thread_address(0) ^ 1u << 14;
  b.on_packet = [](const Packet&) {};
  unsigned before = 0, behind = 0;
  for (unsigned pause = 0; pause < kPauses; pause++) {
    b.bring({Flit{0, true, thread_address(0), {pause, 0, 0, 0}}});
    uint32_t slot = 0, second = 0;
    b.out_chance = 0;
    for (unsigned t = 1; t <= kOthers; t++) {
      b.start(t, [](Bench& bench, unsigned thread, uint32_t to) -> Task {
        co_await send(bench, thread, own(thread, 0), kMaxFlits, kSendDest, to);
        co_return 0;
      }(b, t, far));
    }
    b.run(1000);
    b.start(0, [](Bench& bench, uint32_t to, uint32_t& received) -> Task {
      received = co_await receive(bench, 0);
      co_await send(bench, 0, received, 1, kSendDest, to);
      CHECK(!co_await value_of(bench, 0, read_of(kCanSend)), "a send is over though its way out is full");
      co_return 0;
    }(b, far, slot));
    b.run(1000);
    b.out_chance = 256;
    b.idle_cycles(pause);
    b.start(0, [](Bench& bench, uint32_t to, uint32_t received, bool twice, uint32_t& cause) -> Task {
      co_await value_of(bench, 0, write_of(kRelease, received));
      if (twice) {
        co_await value_of(bench, 0, write_of(kRelease, received));
        cause = co_await value_of(bench, 0, read_of(kCanSend)) ? kNotReceived : kSendNotReady;
      } else {
        const Outcome sent = co_await bench.request(0, write_of(kSendDest, to));
        CHECK(sent.trap, "a slot was sent from that had been released");
        cause = sent.cause;
      }
      co_await can_send(bench, 0);
      co_await expect_trap(bench, 0, write_of(kSendDest, to), kNotReceived, received);
      co_return 0;
    }(b, far, slot, again, second));
    b.run(1000);
    CHECK(second == kNotReceived || second == kSendNotReady, "a send from a released slot ended with cause %u", second);
    (second == kNotReceived ? behind : before)++;
    b.idle_cycles(kOthers * (kMaxFlits + 1));
  }
  CHECK(before != 0 && behind != 0, "%u came before the end, %u behind it: no sweep", before, behind);
  b.start(0, every_slot(b));
  b.run(3'000'000);
}

}  // namespace

void directed(uint64_t seed) {
  struct Case { const char* name; Task (*body)(Bench&); bool multicast = false; };
  const Case cases[] = {{"loads and stores", loads_and_stores}, {"state", state}, {"traps", traps},
                        {"fork and forward", fork_and_forward}, {"late release", late_release},
                        {"start-ups", start_ups}, {"early release", early_release},
                        {"release, then send", release_then_send}, {"every slot", every_slot},
                        {"full queue", full_queue},
                        {"reference counts", reference_counts, true}};
  for (const Case& c : cases) {
    if (c.multicast && !kMulticast) continue;
    Bench b(seed);
    b.start(0, c.body(b));
    b.run(3'000'000);
    std::printf("%s: %llu cycles\n", c.name, (unsigned long long)b.cycle);
    if (c.body == late_release) continue;
    // Whatever a test did, it gave back all that it received: no slot may be missing.
    b.on_packet = [](const Packet&) {};
    if (c.body != traps) {
      b.start(0, every_slot(b));
      b.run(3'000'000);
    }
  }
  { Bench b(seed); idleness(b); }
  { Bench b(seed); release_among_requests(b); }
  { Bench b(seed); message_behind_a_release(b); }
  { Bench b(seed); waits(b); }
  { Bench b(seed); waits_for_ends(b); }
  { Bench b(seed); releases_around_ends(b); }
  for (bool again : {false, true}) {
    Bench b(seed);
    second_use_around_ends(b, again);
  }
}

}  // namespace mailbox_test
