// SPDX-License-Identifier: Apache-2.0
// The mailbox's rules, one by one, as documented.
#include <algorithm>

#include "harness.h"
#include "programs.h"
#include "tests.h"

namespace mailbox_test {
namespace {

Task loads_and_stores(Bench& b) {
  uint32_t a = own(0, 0);
  co_await value_of(b, 0, {1, 2, a, 0x8899aabb});
  const std::array<std::array<uint32_t, 3>, 11> cases{{{0, 0, 0xffffffbb}, {0, 1, 0xffffffaa}, {0, 2, 0xffffff99},
      {0, 3, 0xffffff88}, {4, 0, 0xbb}, {4, 3, 0x88}, {1, 0, 0xffffaabb}, {1, 2, 0xffff8899}, {5, 0, 0xaabb},
      {5, 2, 0x8899}, {2, 0, 0x8899aabb}}};
  for (auto [funct3, offset, want] : cases) {
    uint32_t got = co_await value_of(b, 0, {0, funct3, a + offset, 0});
    CHECK(got == want, "load %u at offset %u returns %x, not %x", funct3, offset, got, want);
  }
  co_await value_of(b, 0, {1, 0, a + 1, 0x12345677});
  co_await value_of(b, 0, {1, 1, a + 2, 0x00006655});
  uint32_t got = co_await value_of(b, 0, {0, 2, a, 0});
  CHECK(got == 0x665577bb, "after byte and half-word stores: %x", got);
  // All of the scratchpad exists, each word at its own address.
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
  CHECK(co_await value_of(b, t, {2, 3, kWait, 3}) == 1, "a wait for an event that has occurred");
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
  // Addresses that threads cannot send to: sets of threads use another register, others are for hosts and boards alone.
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
  // A board without routers: keys have no receivers.
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
    // Empty masks, here and elsewhere; then a valid mask with addresses that are not a tile's.
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
  // Sends from slots that the thread does not hold: a free one, and a neighbour's.
  co_await value_of(b, 0, write_of(kSendSlot, own(0, kSendSlots)));
  co_await expect_trap(b, 0, write_of(kSendDest, far), kNotReceived, own(0, kSendSlots));
  co_await value_of(b, 0, write_of(kSendSlot, own(1, 0)));
  co_await expect_trap(b, 0, write_of(kSendDest, far), kNotReceived, own(1, 0));
  CHECK(co_await value_of(b, 0, read_of(kCanSend)) == 1, "can_send after sends that trapped");
  // A send while another is in flight.
  b.out_chance = 0;
  for (int i = 0;; i++) {
    CHECK(i < 100, "sends do not block though no receiver accepts them");
    co_await send(b, 0, own(0, 0), kMaxFlits, kSendDest, far);
    for (int w = 0; w < 30; w++) co_await value_of(b, 0, read_of(kCanReceive));
    if (!co_await value_of(b, 0, read_of(kCanSend))) break;
  }
  co_await expect_trap(b, 0, write_of(kSendDest, far), kSendNotReady, far);
  b.out_chance = 256;
  co_await can_send(b, 0);
  co_return 0;
}

/// Fork, forward without a copy, release of a slot whose send is in flight.
Task fork_and_forward(Bench& b) {
  co_await fill(b, 0, own(0, 0), 77, kMaxFlits);
  for (unsigned t = 1; t < kThreads; t++) {
    co_await can_send(b, 0);
    co_await send(b, 0, own(0, 0), kMaxFlits, kSendDest, thread_address(t));
  }
  for (unsigned t = 1; t < kThreads; t++) {
    uint32_t slot = co_await receive(b, t);
    co_await check(b, t, slot, 77, kMaxFlits);
    // Forward to thread 0, and release before it has left.
    co_await send(b, t, slot, kMaxFlits, kSendDest, thread_address(0));
    co_await value_of(b, t, write_of(kRelease, slot));
    co_await value_of(b, t, write_of(kRelease, slot));
    uint32_t there = co_await receive(b, 0);
    co_await check(b, 0, there, 77, kMaxFlits);
    co_await value_of(b, 0, write_of(kRelease, there));
  }
  co_return 0;
}

/// A slot released while its send waits is not reused for another message before the send has left.
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
  CHECK(blocked < kThreads - 1, "no send waited: the queue after the mailbox is deeper than this test");
  // The blocked thread releases its slot; messages take all free slots. None of them may be this one.
  co_await value_of(b, blocked, write_of(kRelease, own(blocked, 0)));
  for (unsigned i = 0; i < kSlots; i++) b.deliver({Flit{0, true, thread_address(i % kThreads), {1000 + i, 0, 0, 0}}});
  for (unsigned i = 0; i < kSlots * 3; i++) co_await value_of(b, kThreads - 1, read_of(kCanSend));
  b.out_chance = 256;
  co_await can_send(b, blocked);
  for (unsigned i = 0; i < 100; i++) co_await value_of(b, kThreads - 1, read_of(kCanSend));
  CHECK(seen.size() == blocked + 1, "%zu packets left, not %u", seen.size(), blocked + 1);
  for (unsigned w = 0; w < kMaxFlits * 4; w++) {
    CHECK(seen[blocked][w / 4].payload[w % 4] == (100 + blocked) * 64 + w, "a slot was reused while it was sent");
  }
  // Now the slot is free: its owner can no longer send from it.
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

/// The end of a send, which releases the slot, enters the pipeline in any cycle of a write of the same thread's
/// registers, also in the one in which the write leaves: the thread's memory is read and written then. The slot of the
/// send is released, and no other one.
Task end_meets_state_write(Bench& b) {
  const uint32_t far = thread_address(0) ^ 1u << 14;
  unsigned late = 0;
  for (unsigned round = 0; round < 150; round++) {
    const unsigned t = kThreads - 1 - round % 2;
    b.deliver({Flit{0, true, thread_address(t), {round, 0, 0, 0}}});
    const uint32_t slot = co_await receive(b, t);
    CHECK(co_await value_of(b, t, {0, 2, slot, 0}) == round, "message %u", round);
    // Other threads fill the queue after the mailbox, so that the send waits while its slot is released.
    b.out_chance = 0;
    for (unsigned u = 0; u + 2 < kThreads; u++) {
      co_await send(b, u, own(u, 0), kMaxFlits, kSendDest, far);
      for (int w = 0; w < 8; w++) co_await value_of(b, u, read_of(kCanReceive));
      if (!co_await value_of(b, u, read_of(kCanSend))) break;
    }
    co_await send(b, t, slot, 1, kSendDest, far);
    late += !co_await value_of(b, t, read_of(kCanSend));
    co_await value_of(b, t, write_of(kRelease, slot));
    b.out_chance = 64 + b.below(192);
    // Writes of the slot, which stays the same, and of the length, until the send has ended.
    for (unsigned n = 0; !co_await value_of(b, t, read_of(kCanSend)); n++) {
      CHECK(n < 1000, "the send of thread %u does not end", t);
      for (unsigned k = 0; k < 8; k++) {
        co_await value_of(b, t, b.below(2) ? write_of(kSendSlot, slot) : write_of(kSendLength, b.below(kMaxFlits)));
      }
    }
    b.out_chance = 256;
    co_await value_of(b, t, write_of(kSendSlot, slot));
    co_await expect_trap(b, t, write_of(kSendDest, far), kNotReceived, slot);
    for (unsigned u = 0; u < kThreads; u++) co_await can_send(b, u);
    // The thread still holds its own slots.
    for (unsigned n = 0; n < kSendSlots; n++) {
      co_await send(b, t, own(t, n), 1, kSendDest, far);
      co_await can_send(b, t);
    }
  }
  CHECK(late > 100, "only %u sends waited", late);
  co_return 0;
}

/// The papers' start-up releases all slots but the first to the hardware; the code's start-up releases received slots.
/// Messages have already arrived when a late thread starts: its start-up must not take them from their receivers.
Task start_ups(Bench& b) {
  for (unsigned i = 0; i < kSlots; i++) b.deliver({Flit{0, true, thread_address(i % kThreads), {5000 + i, 0, 0, 0}}});
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
  // No held slot has changed or is given to two threads.
  std::vector<bool> used(kSlots);
  unsigned left = kSlots;
  for (unsigned t = 0; t < kThreads; t++) {
    for (unsigned n = 0; n < held[t].size(); n++) {
      uint32_t h = held[t][n];
      CHECK(!used[(h - kBase) / kSlotBytes], "slot %x was allocated twice", h);
      used[(h - kBase) / kSlotBytes] = true;
      uint32_t word = co_await value_of(b, t, {0, 2, h, 0});
      CHECK(word == 5000 + n * kThreads + t, "slot %x of thread %u contains %u", h, t, word);
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

/// The papers' start-up after messages have arrived and before any is received: it releases slots whose messages are
/// queued, which must have no effect. The same for forwarding and multicasts.
Task early_release(Bench& b) {
  const unsigned early = kThreads * (kSlotsPerThread - kSendSlots) / 2;
  for (unsigned i = 0; i < early; i++) b.deliver({Flit{0, true, thread_address(i % kThreads), {7000 + i, 0, 0, 0}}});
  for (unsigned i = 0; i < early * 2 + 50; i++) co_await value_of(b, 0, read_of(kCanSend));
  CHECK(b.incoming.empty(), "the messages did not arrive");
  // Every thread releases every slot of the tile except those that threads send from; then as many messages arrive as
  // there is space for, which must be in the other slots.
  auto start_up = [&b](unsigned t) -> Task {
    for (unsigned s = 0; s < kSlots; s++) {
      if (s % kSlotsPerThread >= kSendSlots) co_await value_of(b, t, write_of(kRelease, slot_address(s)));
    }
    co_return 0;
  };
  for (unsigned t = 0; t < kThreads; t++) co_await start_up(t);
  for (unsigned i = early; i < kSlots; i++) {
    b.deliver({Flit{0, true, thread_address(i % kThreads), {7000 + i, 0, 0, 0}}});
  }
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
    // A multicast: one receiver holds it, the others release it before they receive.
    uint64_t all = kThreads == 64 ? ~0ull : (1ull << kThreads) - 1;
    co_await fill(b, 0, own(0, 0), 500, 1);
    co_await value_of(b, 0, write_of(kSendMaskLow, uint32_t(all)));
    co_await value_of(b, 0, write_of(kSendMaskHigh, uint32_t(all >> 32)));
    co_await send(b, 0, own(0, 0), 1, kSendTile, tile_address());
    uint32_t slot = co_await receive(b, 0);
    for (unsigned t = 1; t < kThreads; t++) {
      co_await value_of(b, t, write_of(kRelease, slot));
      // They cannot send from it, either.
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

/// A slot is released while its send is in flight; the next send from it, whenever it is made, traps.
Task release_then_send(Bench& b) {
  uint32_t far = thread_address(0) ^ 1u << 14;
  for (unsigned round = 0; round < 200; round++) {
    const unsigned t = round % kThreads;
    // A message of its own, which it forwards.
    b.deliver({Flit{0, true, thread_address(t), {round, 0, 0, 0}}});
    uint32_t slot = co_await receive(b, t);
    b.out_chance = round % 3 == 0 ? 256 : 20;
    co_await send(b, t, slot, kMaxFlits, kSendDest, far);
    co_await value_of(b, t, write_of(kRelease, slot));
    // Sometimes waits, sometimes polls; the others keep the pipeline busy or not.
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

/// One queue is full: messages for it wait, none is lost, and they continue when the thread receives.
Task full_queue(Bench& b) {
  unsigned n = std::min(kQueueDepth + 3, kThreads * (kSlotsPerThread - kSendSlots));
  for (unsigned i = 0; i < n; i++) b.deliver({Flit{0, true, thread_address(1), {i, 0, 0, 0}}});
  for (unsigned i = 0; i < 300; i++) co_await value_of(b, 0, read_of(kCanSend));
  for (unsigned i = 0; i < n; i++) {
    uint32_t slot = co_await receive(b, 1);
    uint32_t got = co_await value_of(b, 1, {0, 2, slot, 0});
    CHECK(got == i, "message %u of a full queue is %u", i, got);
    co_await value_of(b, 1, write_of(kRelease, slot));
  }
  co_return 0;
}

/// A multicast is stored once, and its slot is free when the last receiver is done, in any order.
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
      CHECK(!more, "thread %u received a message twice, or one for another thread", t);
    }
    CHECK(b.received - before == 1, "a multicast counts as %llu", (unsigned long long)(b.received - before));
    std::shuffle(receivers.begin(), receivers.end(), b.random);
    // Threads that do not hold it release it as well, and holders do it twice: it stays until the last holder releases.
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

}  // namespace

void directed(uint64_t seed) {
  struct Case { const char* name; Task (*body)(Bench&); bool multicast = false; };
  const Case cases[] = {{"loads and stores", loads_and_stores}, {"state", state}, {"traps", traps},
                        {"fork and forward", fork_and_forward}, {"late release", late_release},
                        {"end meets write", end_meets_state_write},
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
    // Every test released all that it received: no slot may be missing.
    b.on_packet = [](const Packet&) {};
    if (c.body != traps) {
      b.start(0, every_slot(b));
      b.run(3'000'000);
    }
  }
}

}  // namespace mailbox_test
