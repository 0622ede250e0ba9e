// SPDX-License-Identifier: Apache-2.0
/// The guarantees of the vertex API, one per test, on every engine.
#include "check.h"

#include <algorithm>
#include <chrono>
#include <queue>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "network.h"

using namespace gossamer;
using namespace test;

namespace {

// ---- The last value of readyToSend counts ---------------------------------------------

struct CancelState {
  uint32_t id;
  uint32_t sends;
};

/// Vertex 0 sends first; a vertex that receives it no longer wants to send.
struct Cancel : PVertex<CancelState, None, uint32_t> {
  void init() { *readyToSend = Pin(0); }
  void send(uint32_t* m) {
    *m = s->id;
    ++s->sends;
    *readyToSend = No;
  }
  void recv(const uint32_t*, const None*) { *readyToSend = No; }
  uint32_t priority() const { return s->id; }
};

}  // namespace

GS_TEST(vertex_that_withdraws_before_sending_does_not_send) {
  const uint32_t n = 40000;  // the star's edges make a wave for all threads
  std::vector<Wire<None>> wires;
  for (uint32_t v = 1; v < n; v += 2) wires.push_back({0, 0, v, {}});
  Wiring<None> star(n, 1, wires);
  std::vector<CancelState> states(n);
  for (uint32_t v = 0; v < n; ++v) states[v].id = v;
  for (const unsigned threads : threadCounts) {
    const auto ran = runOn<Cancel>(star.network(), states, {}, threads);
    size_t wrong = 0;
    for (uint32_t v = 0; v < n; ++v) wrong += ran.state[v].sends != (v % 2 == 0 || v == 0 ? 1u : 0u);
    CHECK_EQ(wrong, 0u);
    CHECK_EQ(ran.stats.sends, n / 2);
  }
}

namespace {

struct RepeatState {
  uint32_t left;
  uint32_t received;
  uint64_t sum;
};

/// Remains ready after a send, on another pin each time.
struct Repeat : PVertex<RepeatState, None, uint32_t> {
  void init() { *readyToSend = s->left ? Pin(s->left % 2) : No; }
  void send(uint32_t* m) {
    *m = s->left--;
    *readyToSend = s->left ? Pin(s->left % 2) : No;
  }
  void recv(const uint32_t* m, const None*) {
    ++s->received;
    s->sum += *m;
  }
};

struct RepeatInOrder : Repeat {
  uint32_t priority() const { return s->left; }
};

}  // namespace

GS_TEST(vertex_that_remains_ready_sends_again) {
  std::mt19937_64 random(check::seed ^ 0x6666);
  const uint32_t n = 1500;
  for (const uint32_t senders : {n, n / 3, 5u}) {
    auto wiring = randomWiring<None>(random, n, 2, 30000, noValue);
    std::vector<RepeatState> states(n);
    uint64_t sends = 0;
    for (uint32_t k = 0; k < senders; ++k) states[(k * 7) % n].left = 1 + k % 6;
    std::vector<RepeatState> expected(n);
    for (const RepeatState& s : states) sends += s.left;
    for (const auto& w : wiring.wires) {
      for (uint32_t left = states[w.from].left; left; --left) {
        if (left % 2 != w.pin) continue;
        ++expected[w.to].received;
        expected[w.to].sum += left;
      }
    }
    const auto judge = [&](const std::vector<RepeatState>& got, const Statistics& stats) {
      size_t wrong = 0;
      for (uint32_t v = 0; v < n; ++v) {
        wrong += got[v].left != 0 || got[v].received != expected[v].received || got[v].sum != expected[v].sum;
      }
      CHECK_EQ(wrong, 0u);
      CHECK_EQ(stats.sends, sends);
      CHECK_EQ(stats.steps, 1u);
    };
    for (const unsigned threads : threadCounts) {
      const auto ran = runOn<Repeat>(wiring.network(), states, {}, threads);
      judge(ran.state, ran.stats);
      const auto inOrder = runOn<RepeatInOrder>(wiring.network(), states, {}, threads);
      judge(inOrder.state, inOrder.stats);
    }
    const auto shuffled = runOn<Repeat, shuffle::Engine>(wiring.network(), states, {}, 1);
    judge(shuffled.state, shuffled.stats);
  }
}

namespace {

struct CountState {
  uint32_t left;
  uint64_t sum;
};

/// recv writes to the edge: it counts the messages along it.
struct Toll : PVertex<CountState, uint32_t, uint32_t> {
  void init() { *readyToSend = s->left ? Pin(0) : No; }
  void send(uint32_t* m) {
    *m = 1;
    *readyToSend = --s->left ? Pin(0) : No;
  }
  void recv(const uint32_t* m, uint32_t* passed) {
    *passed += *m;
    s->sum += *passed;
  }
};

struct TollInOrder : Toll {
  uint32_t priority() const { return s->left; }
};

}  // namespace

GS_TEST(recv_may_write_to_its_edge) {
  std::mt19937_64 random(check::seed ^ 0x7777);
  const uint32_t n = 1500;
  const auto toll = [](unsigned, auto& r) { return static_cast<uint32_t>(r() % 9); };
  const auto wiring = randomWiring<uint32_t>(random, n, 1, 40000, toll);
  std::vector<CountState> states(n);
  for (uint32_t v = 0; v < n; ++v) states[v].left = v % 5;
  std::vector<uint64_t> sums(n);
  for (const auto& w : wiring.wires) {
    for (uint32_t k = 1; k <= states[w.from].left; ++k) sums[w.to] += w.value + k;
  }
  const auto judge = [&](const std::vector<CountState>& got, const Wiring<uint32_t>& after,
                         const Statistics& stats) {
    size_t wrong = 0;
    for (uint32_t v = 0; v < n; ++v) wrong += got[v].sum != sums[v];
    for (size_t i = 0; i < wiring.wires.size(); ++i) {
      wrong += after.sides[0].out.values[i] != wiring.wires[i].value + states[wiring.wires[i].from].left;
    }
    CHECK_EQ(wrong, 0u);
    CHECK_EQ(stats.pullRounds, 0u);  // pulls and pushes would use different copies of an edge
  };
  for (const unsigned threads : threadCounts) {
    auto a = wiring;
    const auto ran = runOn<Toll>(a.network(), states, {}, threads);
    judge(ran.state, a, ran.stats);
    if (threads > 1) CHECK(ran.stats.pushRounds > 0);
    auto b = wiring;
    const auto inOrder = runOn<TollInOrder>(b.network(), states, {}, threads);
    judge(inOrder.state, b, inOrder.stats);
  }
  auto c = wiring;
  const auto shuffled = runOn<Toll, shuffle::Engine>(c.network(), states, {}, 1);
  judge(shuffled.state, c, shuffled.stats);
}

namespace {

// ---- Shortest paths: priority affects the number of sends, never the result ----------

struct PathState {
  uint32_t distance;
  uint32_t sends;
};

struct Path : PVertex<PathState, uint32_t, uint32_t> {
  void init() { *readyToSend = s->distance == 0 ? Pin(0) : No; }
  void send(uint32_t* m) {
    *m = s->distance;
    ++s->sends;
    *readyToSend = No;
  }
  void recv(const uint32_t* m, const uint32_t* length) {
    if (*m + *length < s->distance) {
      s->distance = *m + *length;
      *readyToSend = Pin(0);
    }
  }
};

struct PathInOrder : Path {
  uint32_t priority() const { return s->distance; }
};

/// Dijkstra's algorithm, as the reference.
std::vector<uint32_t> distances(const Wiring<uint32_t>& wiring, uint32_t source) {
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> leaving(wiring.vertices);
  for (const auto& w : wiring.wires) leaving[w.from].push_back({w.to, w.value});
  std::vector<uint32_t> best(wiring.vertices, 0xffffffff);
  using Entry = std::pair<uint32_t, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
  best[source] = 0;
  heap.push({0, source});
  while (!heap.empty()) {
    const auto [d, v] = heap.top();
    heap.pop();
    if (d > best[v]) continue;
    for (const auto& [to, length] : leaving[v]) {
      if (d + length >= best[to]) continue;
      best[to] = d + length;
      heap.push({best[to], to});
    }
  }
  return best;
}

}  // namespace

GS_TEST(priority_is_exact_order) {
  std::mt19937_64 random(check::seed ^ 0x8888);
  for (const uint32_t longest : {1u, 9u, 300u, 600u, 1000000u}) {
    const uint32_t n = 20000;
    // From eight edges per vertex on, large buckets are processed by all threads. Few lengths, far apart, make some
    // buckets large and some small.
    const bool waves = longest == 1 || longest == 600;
    const uint64_t edges = longest == 9 ? 20000 : waves ? 240000 : 120000;
    const auto length = [&](unsigned, auto& r) {
      return static_cast<uint32_t>(longest == 600 ? 200 + r() % 3 * 200 : 1 + r() % longest);
    };
    auto wiring = randomWiring<uint32_t>(random, n, 1, edges, length);
    std::vector<PathState> states(n, {0xffffffff, 0});
    const auto source = static_cast<uint32_t>(random() % n);
    states[source].distance = 0;
    const auto expected = distances(wiring, source);
    const auto reached = static_cast<uint64_t>(n - std::count(expected.begin(), expected.end(), 0xffffffff));
    const auto judge = [&](const std::vector<PathState>& got, const char* what) {
      size_t wrong = 0;
      for (uint32_t v = 0; v < n; ++v) wrong += got[v].distance != expected[v];
      CHECK_EQ(wrong, 0u);
      if (wrong) std::fprintf(stderr, "  in %s, lengths to %u\n", what, longest);
    };
    for (const unsigned threads : threadCounts) {
      judge(runOn<Path>(wiring.network(), states, {}, threads).state, "no order");
      const auto inOrder = runOn<PathInOrder>(wiring.network(), states, {}, threads);
      judge(inOrder.state, "order");
      // No length is 0, so in exact order each vertex sends once and is done. Threads that send at the same time keep
      // the order as far as it saves messages.
      CHECK(inOrder.stats.sends >= reached);
      CHECK(inOrder.stats.sends <= reached + (threads > 1 ? reached / 8 : 0));
      if (waves && threads > 1) CHECK(inOrder.stats.pushRounds > 0);
    }
    if (longest > 1000) continue;
    judge(runOn<Path, shuffle::Engine>(wiring.network(), states, {}, 1).state, "no order at all");
  }
}

namespace {

// ---- Waves: the result does not depend on which thread does what --------------------

struct WaveState {
  uint64_t heard;  // a hash of all messages in their order
  uint32_t fuel;
  uint32_t id;
  bool operator==(const WaveState&) const = default;
};

/// Each vertex has several messages to send in sequence; in every wave some go to the host.
struct WaveInOrder : PVertex<WaveState, None, uint64_t> {
  static bool tellsHost(uint32_t id, uint32_t fuel) { return id % 4 == 0 && fuel % 2; }
  void next() { *readyToSend = !s->fuel ? No : tellsHost(s->id, s->fuel) ? HostPin : Pin(0); }
  void init() { next(); }
  void send(uint64_t* m) {
    *m = (s->heard ^ s->id) << 3 | s->fuel;
    --s->fuel;
    next();
  }
  void recv(const uint64_t* m, const None*) {
    s->heard = test::mix(s->heard + *m);
    next();
  }
  uint32_t priority() const { return 1000 - s->fuel * 100; }
};

}  // namespace

GS_TEST(waves_are_deterministic) {
  std::mt19937_64 random(check::seed ^ 0x3a3a);
  const uint32_t n = 6000;
  auto wiring = randomWiring<None>(random, n, 1, 90000, noValue);
  std::vector<WaveState> states(n);
  for (uint32_t v = 0; v < n; ++v) states[v] = {v, static_cast<uint32_t>(random() % 6), v};
  uint64_t sends = 0, toHost = 0;
  for (const WaveState& s : states) {
    sends += s.fuel;
    for (uint32_t fuel = 1; fuel <= s.fuel; ++fuel) toHost += WaveInOrder::tellsHost(s.id, fuel);
  }
  for (const unsigned threads : {2u, 3u, 8u}) {
    Listener<uint64_t> hosts[2];
    const auto one = runOn<WaveInOrder>(wiring.network(), states, {}, threads, &hosts[0]);
    const auto two = runOn<WaveInOrder>(wiring.network(), states, {}, threads, &hosts[1]);
    CHECK(one.stats.pushRounds > 0);
    CHECK_EQ(one.stats.sends, sends);
    CHECK_EQ(hosts[0].heard.size(), toHost);
    CHECK(one.state == two.state);
    CHECK(hosts[0].heard == hosts[1].heard);
    // Messages arrive in the order of priorities, which is descending fuel.
    CHECK(std::is_sorted(hosts[0].heard.begin(), hosts[0].heard.end(),
                         [](uint64_t a, uint64_t b) { return (a & 7) > (b & 7); }));
  }
}

namespace {

// ---- Ranges of receivers: each vertex is in exactly one, wherever the edges end -------

struct TallyState {
  uint64_t sum;
  uint32_t id;
  uint32_t left;  // messages yet to send; the first message adds one
  uint32_t sent;
  uint32_t latest;  // the largest priority that it has received
  bool heard;
  bool late;  // its first message arrived after one of a larger priority

  // Few values, so that waves are large, and unrelated to the indices, so that all are queued at the start.
  static uint32_t priority(uint32_t id, uint32_t sent) { return id % 3 + 4 * sent; }
  static uint64_t message(uint32_t id, uint32_t sent) { return test::mix(id + 1) << 5 | priority(id, sent); }
};

struct Tally : PVertex<TallyState, None, uint64_t> {
  void init() { *readyToSend = s->left ? Pin(0) : No; }
  void send(uint64_t* m) {
    *m = TallyState::message(s->id, s->sent);
    s->late |= !s->sent && s->latest > priority();
    ++s->sent;
    *readyToSend = --s->left ? Pin(0) : No;
  }
  void recv(const uint64_t* m, const None*) {
    s->sum += *m;
    s->latest = std::max(s->latest, static_cast<uint32_t>(*m & 31));
    if (std::exchange(s->heard, true)) return;
    ++s->left;
    *readyToSend = Pin(0);
  }
  uint32_t priority() const { return TallyState::priority(s->id, s->sent); }
};

}  // namespace

GS_TEST(every_vertex_is_in_exactly_one_range) {
  std::mt19937_64 random(check::seed ^ 0x5a5a);
  // Enough vertices are ready at the start that all threads queue them. With two threads, one range after more than
  // half of all edges is empty; with many threads, the ranges after a vertex with many in-edges are.
  for (const uint32_t n : {20073u, 20096u}) {
    for (const uint32_t hub : {n - 1, n - 40, 17u}) {
      std::vector<Wire<None>> list;
      for (uint32_t i = 0; i < n * 9; ++i) {
        // The last vertices receive and wake as the others do.
        const uint64_t to = i % 9 < 5 ? hub : i % 9 == 5 ? n - 1 - random() % 64 : random() % n;
        list.push_back({0, static_cast<uint32_t>(random() % n), static_cast<uint32_t>(to), {}});
      }
      Wiring<None> wiring(n, 1, std::move(list));
      std::vector<TallyState> states(n);
      for (uint32_t v = 0; v < n; ++v) states[v] = {0, v, 1 + v % 4, 0, 0, false, false};
      std::vector<uint64_t> sums(n);
      std::vector<uint32_t> sends(n);
      for (const auto& w : wiring.wires) sends[w.to] = 1;
      for (uint32_t v = 0; v < n; ++v) sends[v] += states[v].left;
      for (const auto& w : wiring.wires) {
        for (uint32_t k = 0; k < sends[w.from]; ++k) sums[w.to] += TallyState::message(w.from, k);
      }
      for (const unsigned threads : {2u, 8u, 16u}) {
        const auto ran = runOn<Tally>(wiring.network(false), states, {}, threads);
        CHECK(ran.stats.pushRounds > 0);
        const std::vector<uint32_t> first = cpu::partitionReceivers(wiring.network(false), threads);
        CHECK(first.front() == 0 && first.back() == n && std::is_sorted(first.begin(), first.end()));
        CHECK(std::all_of(first.begin(), first.end() - 1, [](uint32_t v) { return v % 64 == 0; }));
        size_t wrong = 0;
        for (uint32_t v = 0; v < n; ++v) {
          const TallyState& got = ran.state[v];
          wrong += got.sent != sends[v] || got.sum != sums[v] || got.late;
        }
        CHECK_EQ(wrong, 0u);
        if (wrong) std::fprintf(stderr, "  %u vertices, most edges to %u, %u threads\n", n, hub, threads);
      }
    }
  }
}

namespace {

// ---- Early ends of a run --------------------------------------------------------------

struct PinState {
  uint32_t pin;  // 0: never sends
};

struct SendsOn : PVertex<PinState, None, uint32_t> {
  void init() { *readyToSend = s->pin ? static_cast<PPin>(s->pin) : No; }
  void send(uint32_t* m) {
    *m = 0;
    *readyToSend = No;
  }
  void recv(const uint32_t*, const None*) {}
};

struct SendsOnInOrder : SendsOn {
  uint32_t priority() const { return 5; }
};

template <typename F>
std::string complaint(F&& f) {
  try {
    f();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

GS_TEST(send_on_a_missing_pin_is_an_error) {
  std::mt19937_64 random(check::seed ^ 0x9999);
  const uint32_t n = 3000;
  auto wiring = randomWiring<None>(random, n, 2, 40000, noValue);
  const std::string expected = "the vertex of index 1234 sends on pin 2, but the graph has 2 pins";
  for (const bool many : {false, true}) {
    std::vector<PinState> states(n, {many ? uint32_t{Pin(1)} : 0u});
    states[1234].pin = Pin(2);
    for (const unsigned threads : threadCounts) {
      CHECK_EQ(complaint([&] { runOn<SendsOn>(wiring.network(), states, {}, threads); }), expected);
      CHECK_EQ(complaint([&] { runOn<SendsOnInOrder>(wiring.network(), states, {}, threads); }), expected);
    }
    CHECK_EQ(complaint([&] { runOn<SendsOn, shuffle::Engine>(wiring.network(), states, {}, 1); }), expected);
  }
  auto onePin = randomWiring<None>(random, 10, 1, 5, noValue);
  std::vector<PinState> last(10);
  last[9].pin = Pin(MaxPins - 1);
  CHECK_EQ(complaint([&] { runOn<SendsOn>(onePin.network(), last, {}, 1); }),
           "the vertex of index 9 sends on pin 252, but the graph has 1 pin");
}

namespace {

std::atomic<uint64_t> finishes{0};
std::atomic<uint64_t> sendsSoFar{0};  // sends so far

/// Never ends by itself: sends messages without end, or in steps.
template <bool BySteps>
struct Endless : PVertex<PinState, None, uint32_t> {
  void init() { *readyToSend = s->pin ? Pin(0) : No; }
  void send(uint32_t* m) {
    sendsSoFar.fetch_add(1, std::memory_order_relaxed);
    *m = 1;
    *readyToSend = No;
  }
  void recv(const uint32_t*, const None*) {
    if constexpr (!BySteps) *readyToSend = Pin(0);
  }
  bool step() {
    if (s->pin) *readyToSend = Pin(0);
    return true;
  }
  bool finish(uint32_t*) {
    ++finishes;
    return false;
  }
};

template <bool BySteps>
struct EndlessInOrder : Endless<BySteps> {
  uint32_t priority() const { return this->s->pin; }
};

template <typename V, template <typename> typename EngineOf = cpu::Engine>
void interrupt(const Wiring<None>& given, const std::vector<PinState>& states, unsigned threads) {
  auto wiring = given;
  finishes = 0;
  sendsSoFar = 0;
  std::atomic<int> stop{0};
  std::thread other([&] {
    while (sendsSoFar.load() < 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop = 1;
  });
  const auto ran = runOn<V, EngineOf>(wiring.network(), states, {}, threads, nullptr, &stop);
  other.join();
  CHECK(ran.stats.stopped);
  CHECK_EQ(finishes.load(), 0u);
  CHECK(ran.stats.sends >= 1000);
}

}  // namespace

GS_TEST(run_ends_when_the_stop_flag_is_set) {
  std::mt19937_64 random(check::seed ^ 0xaaaa);
  const uint32_t n = 2000;
  const auto wiring = randomWiring<None>(random, n, 1, 30000, noValue);
  for (const uint32_t senders : {n, 3u}) {
    std::vector<PinState> states(n);
    for (uint32_t v = 0; v < senders; ++v) states[v].pin = 1;
    for (const unsigned threads : {1u, 3u}) {
      interrupt<Endless<true>>(wiring, states, threads);
      interrupt<Endless<false>>(wiring, states, threads);
      interrupt<EndlessInOrder<true>>(wiring, states, threads);
      interrupt<EndlessInOrder<false>>(wiring, states, threads);
    }
    interrupt<Endless<true>, shuffle::Engine>(wiring, states, 1);
    interrupt<Endless<false>, shuffle::Engine>(wiring, states, 1);
  }
}

namespace {

// ---- Times of step and finish ----------------------------------------------------------

struct VoteState {
  uint32_t id;
  uint32_t steps;
  uint32_t received;
  uint32_t receivedBeforeFinish;
  uint32_t finished;
};

/// Votes no while others vote yes, and sends a message in the last step.
struct Voter : PVertex<VoteState, None, uint32_t> {
  void init() {}
  void send(uint32_t* m) {
    *m = time;
    *readyToSend = No;
  }
  void recv(const uint32_t*, const None*) { ++s->received; }
  bool step() {
    ++s->steps;
    const bool goesOn = s->steps <= s->id;
    if (s->id == numVertices - 1 && !goesOn) *readyToSend = Pin(0);
    return goesOn;
  }
  bool finish(uint32_t* m) {
    *m = s->id;
    ++s->finished;
    s->receivedBeforeFinish = s->received;
    return s->id % 2 == 1;
  }
};

}  // namespace

GS_TEST(finish_runs_once_after_a_unanimous_no) {
  const uint32_t n = 10;
  std::vector<Wire<None>> wires;
  for (uint32_t v = 0; v < n; ++v) wires.push_back({0, n - 1, v, {}});
  Wiring<None> wiring(n, 1, wires);
  std::vector<VoteState> states(n);
  for (uint32_t v = 0; v < n; ++v) states[v].id = v;
  const auto judge = [&](const Ran<Voter>& ran, const Listener<uint32_t>& host) {
    // Vertex 9 votes yes nine times: ten steps for every vertex; its message in
    // the last one still arrives, and starts no further step.
    CHECK_EQ(ran.stats.steps, 10u);
    for (const VoteState& s : ran.state) {
      CHECK_EQ(s.steps, 10u);
      CHECK_EQ(s.finished, 1u);
      CHECK_EQ(s.received, 1u);
      CHECK_EQ(s.receivedBeforeFinish, 1u);
    }
    CHECK_EQ(std::set<uint32_t>(host.heard.begin(), host.heard.end()), (std::set<uint32_t>{1, 3, 5, 7, 9}));
    CHECK_EQ(host.heard.size(), 5u);
  };
  for (const unsigned threads : threadCounts) {
    Listener<uint32_t> host;
    const auto ran = runOn<Voter>(wiring.network(), states, {}, threads, &host);
    judge(ran, host);
  }
  Listener<uint32_t> host;
  const auto ran = runOn<Voter, shuffle::Engine>(wiring.network(), states, {}, 1, &host);
  judge(ran, host);
}
