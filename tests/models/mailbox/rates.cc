// SPDX-License-Identifier: Apache-2.0
// Rates: flits out and in at once, and pointers distributed for messages to all threads.
#include "harness.h"
#include "tests.h"

namespace mailbox_test {
namespace {

/// Resumes a thread when its time has come. Threads of this measurement know the state of the mailbox, so every request
/// is a send, a receive or a release: three a message.
struct Gate {
  std::coroutine_handle<> handle;
  unsigned thread;
};
struct Rates {
  explicit Rates(uint64_t seed) : bench(seed) {}
  Bench bench;
  std::array<unsigned, kThreads> waiting{};
  std::array<bool, kThreads> may_send{};
  std::vector<Gate> gates;
  bool stop = false;
};
struct Turn {
  Rates& r;
  unsigned thread;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> h) { r.gates.push_back({h, thread}); }
  void await_resume() {}
};

Task sender(Rates& r, unsigned t) {
  co_await r.bench.write(t, kSendLength, kMaxFlits - 1);
  while (!r.stop) {
    r.may_send[t] = false;
    Outcome o = co_await r.bench.write(t, kSendDest, thread_address(0) ^ 1u << 14 | t);
    CHECK(!o.trap, "trap %u at a send", o.cause);
    co_await Turn{r, t};
  }
  co_return 0;
}
Task receiver(Rates& r, unsigned t) {
  while (!r.stop) {
    co_await Turn{r, t};
    if (r.stop) break;
    r.waiting[t]--;
    Outcome o = co_await r.bench.read(t, kReceive);
    CHECK(!o.trap, "trap %u at a receive", o.cause);
    o = co_await r.bench.write(t, kRelease, o.data);
    CHECK(!o.trap, "trap %u at a release", o.cause);
  }
  co_return 0;
}

}  // namespace

void rates(uint64_t seed) {
  double out = 0, in = 0;
  {
    Rates r(seed);
    Bench& b = r.bench;
    const unsigned half = kThreads / 2;
    // A packet has left completely: its thread's send is over.
    b.on_packet = [&](const Packet& p) { r.may_send[p[0].dest & 63] = true; };
    uint64_t dealt = 0, brought = 0, seen = 0, from = 0, flits_out = 0, flits_in = 0;
    while (!b.top.ready_o) b.step();
    for (unsigned t = 0; t < half; t++) b.start(t, sender(r, t));
    for (unsigned t = half; t < kThreads; t++) b.start(t, receiver(r, t));
    const uint64_t warm = 2000, measured = 20000;
    for (uint64_t c = 0; c < warm + measured; c++) {
      while (b.incoming.size() < 4) {
        Packet p(kMaxFlits, Flit{0, false, thread_address(half + unsigned(brought % half)), {1, 2, 3, 4}});
        p.back().last = true;
        b.deliver(p);
        brought++;
      }
      b.step();
      // A pointer is in its queue a few cycles after it was counted.
      static constexpr unsigned kLag = 8;
      static std::deque<uint64_t> counted;
      counted.push_back(b.received);
      if (counted.size() > kLag) {
        seen = counted.front();
        counted.pop_front();
      }
      for (; dealt < seen; dealt++) r.waiting[half + dealt % half]++;
      std::vector<Gate> due;
      for (size_t i = 0; i < r.gates.size();) {
        Gate g = r.gates[i];
        if (g.thread < half ? r.may_send[g.thread] : r.waiting[g.thread] > 0) {
          due.push_back(g);
          r.gates[i] = r.gates.back();
          r.gates.pop_back();
        } else {
          i++;
        }
      }
      for (Gate& g : due) g.handle.resume();
      if (c == warm) {
        from = b.cycle;
        flits_out = b.out_flits;
        flits_in = b.in_flits;
      }
    }
    out = double(b.out_flits - flits_out) / double(b.cycle - from);
    in = double(b.in_flits - flits_in) / double(b.cycle - from);
  }
  double pointers = 0;
  if (kMulticast) {
    Bench b(seed);
    while (!b.top.ready_o) b.step();
    uint64_t all = kThreads == 64 ? ~0ull : (1ull << kThreads) - 1;
    const unsigned n = std::min(kQueueDepth, kSlotsPerThread);
    for (unsigned i = 0; i < n; i++) {
      Packet p{Flit{1, false, tile_address(), {uint32_t(all), uint32_t(all >> 32), 0, 0}}};
      for (unsigned f = 0; f < kMaxFlits; f++) p.push_back({0, f + 1 == kMaxFlits, tile_address(), {i, f, 0, 0}});
      b.deliver(p);
    }
    // The first two are counted while none is distributed; from the third on one is counted when another is done.
    constexpr unsigned kAhead = 2;
    uint64_t first = 0, last = 0;
    for (uint64_t c = 0; c < 5000 && b.received < n; c++) {
      uint64_t before = b.received;
      b.step();
      if (b.received != before && before == kAhead) first = b.cycle;
      if (b.received != before) last = b.cycle;
    }
    CHECK(b.received == n, "%llu of %u multicasts were distributed", (unsigned long long)b.received, n);
    pointers = double(kThreads) * (n - 1 - kAhead) / double(last - first);
  }
  std::printf("{\"out\": %.4f, \"in\": %.4f, \"pointers\": %.4f}\n", out, in, pointers);
}

}  // namespace mailbox_test
