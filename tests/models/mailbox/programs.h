// SPDX-License-Identifier: Apache-2.0
// Programs of threads in tests of the mailbox: single requests, messages sent and received, all slots at once.
#pragma once

#include "harness.h"

namespace mailbox_test {

/// Own slot n of a thread.
inline uint32_t own(unsigned thread, unsigned n) { return slot_address(thread * kSlotsPerThread + n); }

inline Task expect_trap(Bench& b, unsigned t, Request r, unsigned cause, uint32_t about) {
  Outcome o = co_await b.request(t, r);
  CHECK(o.trap, "op %u csr %x data %x: no trap, but %x", r.op, r.addr, r.data, o.data);
  CHECK(o.cause == cause && o.data == about, "csr %x data %x: trap %u about %x, not %u about %x", r.addr, r.data,
        o.cause, o.data, cause, about);
  co_return 0;
}
inline Request write_of(uint32_t csr, uint32_t value) { return {2, 1, csr, value}; }
inline Request read_of(uint32_t csr) { return {2, 2, csr, 0}; }

inline Task value_of(Bench& b, unsigned t, Request r) {
  Outcome o = co_await b.request(t, r);
  CHECK(!o.trap, "csr or address %x data %x: trap %u about %x", r.addr, r.data, o.cause, o.data);
  co_return o.data;
}

inline Task fill(Bench& b, unsigned t, uint32_t slot, uint32_t id, unsigned flits) {
  for (unsigned w = 0; w < flits * 4; w++) co_await value_of(b, t, {1, 2, slot + w * 4, id * 64 + w});
  co_return 0;
}
inline Task check(Bench& b, unsigned t, uint32_t slot, uint32_t id, unsigned flits) {
  for (unsigned w = 0; w < flits * 4; w++) {
    uint32_t got = co_await value_of(b, t, {0, 2, slot + w * 4, 0});
    CHECK(got == id * 64 + w, "message %u at %x: word %u is %x", id, slot, w, got);
  }
  co_return 0;
}
inline Task send(Bench& b, unsigned t, uint32_t slot, unsigned flits, uint32_t csr, uint32_t dest) {
  co_await value_of(b, t, write_of(kSendSlot, slot));
  co_await value_of(b, t, write_of(kSendLength, flits - 1));
  co_await value_of(b, t, write_of(csr, dest));
  co_return 0;
}
inline Task receive(Bench& b, unsigned t) {
  co_await value_of(b, t, write_of(kWait, 2));
  co_return co_await value_of(b, t, read_of(kReceive));
}
inline Task can_send(Bench& b, unsigned t) {
  co_await value_of(b, t, write_of(kWait, 1));
  co_return 0;
}

/// As many messages arrive as slots are free, and not one more; then all of them again.
inline Task every_slot(Bench& b) {
  unsigned free_slots = kThreads * (kSlotsPerThread - kSendSlots);
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < free_slots + 5; i++) {
      b.deliver({Flit{0, true, thread_address(i % kThreads), {i, round, 0, 0}}});
    }
    uint64_t before = b.received;
    for (unsigned i = 0; i < free_slots * 2 + 50; i++) co_await value_of(b, 0, read_of(kCanSend));
    unsigned deepest = (free_slots + kThreads - 1) / kThreads;
    if (kQueueDepth >= deepest) {
      CHECK(b.received - before == free_slots, "%llu messages arrived, with %u slots free",
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

}  // namespace mailbox_test
