// SPDX-License-Identifier: Apache-2.0
// Threads that wait, in each relevant cycle: for idle and its release, for messages, for ends of sends.
#include "harness.h"
#include "programs.h"
#include "tests.h"

namespace mailbox_test {
namespace {

Task idler(Bench& b, unsigned t, bool vote, uint32_t want, uint64_t* released) {
  uint32_t got = co_await value_of(b, t, {2, 3, kIdle, vote});
  // Before the next request: the harness offers requests in a random order, so that one may wait for long.
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
  CHECK(got == 0, "a message arrived, and idle ended with %u", got);
  uint32_t slot = co_await value_of(b, 0, read_of(kReceive));
  co_await value_of(b, 0, write_of(kRelease, slot));
  got = co_await value_of(b, 0, {2, 3, kIdle, vote});
  CHECK(got == want, "thread 0: idle ended with %u, not %u", got, want);
  *released = b.cycle;
  co_return 0;
}

/// The n-th thread that a release frees: cores alternate.
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
  // A thread that is not started is not waited for.
  b.active &= ~1ull;
  std::array<uint64_t, kThreads> released{};
  for (unsigned t = 1; t < kThreads; t++) b.start(t, idler(b, t, true, 2, &released[t]));
  b.run(20000);
  b.active |= 1;
  // No thread is started: there is nothing to release.
  uint64_t before = 0;
  b.on_release = [&] { before++; };
  uint64_t active = b.active;
  b.active = 0;
  b.idle_cycles(200);
  CHECK(before == 0, "a release with no thread active");
  b.active = active;
  b.detect = false;
}

/// Leaves idle and makes a request in every cycle that it can, for a while.
Task idle_then_busy(Bench& b, unsigned t, unsigned for_requests) {
  co_await value_of(b, t, {2, 3, kIdle, 1});
  for (unsigned i = 0; i < for_requests; i++) co_await value_of(b, t, read_of(kCanSend));
  co_return 0;
}

/// Threads that a release has freed and that fill the pipeline of requests do not delay the release of others, and the
/// completions of both find free entries, however slowly they are accepted.
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
      CHECK(chance != 256 || released[t] - when < 2 * kThreads, "thread %u: freed %llu cycles after the release",
            t, (unsigned long long)(released[t] - when));
    }
  }
  b.response_chance = 256;
  b.on_release = [] {};
  b.detect = false;
}

/// A thread that a release has freed and that has made no request since: a message finds it running, not in idle.
void message_after_a_release(Bench& b) {
  while (!b.top.ready_o) b.step();
  b.detect = true;
  for (unsigned t = 0; t < kThreads; t++) b.start(t, idle_then_busy(b, t, 0));
  b.run(20000);
  // It gets no completion: the harness fails if it does. Twice: its registration is removed with the first message.
  for (unsigned message = 0; message < 2; message++) {
    for (unsigned t = 0; t < kThreads; t++) b.deliver({Flit{0, true, thread_address(t), {t, 0, 0, 0}}});
    b.idle_cycles(500);
  }
  for (unsigned t = 0; t < kThreads; t++) {
    b.start(t, [](Bench& bench, unsigned thread) -> Task {
      CHECK(co_await value_of(bench, thread, read_of(kIdle)) == 2, "thread %u: the result of idle was lost", thread);
      for (unsigned message = 0; message < 2; message++) {
        CHECK(co_await value_of(bench, thread, {2, 3, kIdle, 1}) == 0, "thread %u: a message was queued", thread);
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
  b.deliver({Flit{0, true, thread_address(1), {1, 0, 0, 0}}});
  uint64_t from = b.cycle;
  while (b.suspended(1)) {
    b.step();
    CHECK(b.cycle - from < 40, "a message did not wake its thread");
  }
  CHECK(b.suspended(0), "a wait for no event ended");
}

/// A thread begins to wait for the end of its send in each cycle around that end: it is always woken.
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
  CHECK(at_once != 0 && woken != 0, "%u waits found the send over, %u did not: incomplete sweep", at_once, woken);
}

/// A thread releases the slot that it sends from in each cycle around the end of that send: no slot is lost. In every
/// other round it reads first whether the send is over, and releases then.
void releases_around_ends(Bench& b) {
  while (!b.top.ready_o) b.step();
  const uint32_t far = thread_address(0) ^ 1u << 14;
  b.on_packet = [](const Packet&) {};
  unsigned over = 0, in_flight = 0;
  for (unsigned round = 0; round < kMaxFlits * 48; round++) {
    const unsigned flits = round / 48 + 1, pause = round % 48 / 2;
    b.deliver({Flit{0, true, thread_address(0), {round, 0, 0, 0}}});
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
      (may_send ? over : in_flight)++;
    }
    b.start(0, [](Bench& bench, uint32_t to, uint32_t received) -> Task {
      co_await value_of(bench, 0, write_of(kRelease, received));
      co_await can_send(bench, 0);
      co_await expect_trap(bench, 0, write_of(kSendDest, to), kNotReceived, received);
      co_return 0;
    }(b, far, slot));
    b.run(1000);
  }
  CHECK(over != 0 && in_flight != 0, "%u sends were over, %u were not: incomplete sweep", over, in_flight);
  b.start(0, every_slot(b));
  b.run(3'000'000);
}

/// A thread releases the slot that it sends from, and uses it once more, in each cycle around the end of that send: the
/// second use traps. With ``again`` it releases twice, else it sends. The route is blocked and full until the send is
/// in the send queue, so its end is late enough for the second use to be in the mailbox as well.
void second_use_around_ends(Bench& b, bool again) {
  while (!b.top.ready_o) b.step();
  constexpr unsigned kOthers = 8, kPauses = 12 * (kMaxFlits + 1);
  const uint32_t far = thread_address(0) ^ 1u << 14;
  b.on_packet = [](const Packet&) {};
  unsigned before = 0, after = 0;
  for (unsigned pause = 0; pause < kPauses; pause++) {
    b.deliver({Flit{0, true, thread_address(0), {pause, 0, 0, 0}}});
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
      CHECK(!co_await value_of(bench, 0, read_of(kCanSend)), "a send is over though its route is full");
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
        CHECK(sent.trap, "a thread sent from a slot that it had released");
        cause = sent.cause;
      }
      co_await can_send(bench, 0);
      co_await expect_trap(bench, 0, write_of(kSendDest, to), kNotReceived, received);
      co_return 0;
    }(b, far, slot, again, second));
    b.run(1000);
    CHECK(second == kNotReceived || second == kSendNotReady, "a send from a released slot ended with cause %u", second);
    (second == kNotReceived ? after : before)++;
    b.idle_cycles(kOthers * (kMaxFlits + 1));
  }
  CHECK(before != 0 && after != 0, "%u were before the end, %u after it: incomplete sweep", before, after);
  b.start(0, every_slot(b));
  b.run(3'000'000);
}

}  // namespace

void waiting(uint64_t seed) {
  { Bench b(seed); idleness(b); }
  { Bench b(seed); release_among_requests(b); }
  { Bench b(seed); message_after_a_release(b); }
  { Bench b(seed); waits(b); }
  { Bench b(seed); waits_for_ends(b); }
  { Bench b(seed); releases_around_ends(b); }
  for (bool again : {false, true}) {
    Bench b(seed);
    second_use_around_ends(b, again);
  }
}

}  // namespace mailbox_test
