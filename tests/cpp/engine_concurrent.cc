// SPDX-License-Identifier: Apache-2.0
/// Programs in order of priority whose messages any thread delivers to any vertex: no message is lost, duplicated or
/// applied to an outdated state, for any number of threads, and memory that threads share is seldom written.
#include "check.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "network.h"

using namespace gossamer;
using namespace test;

namespace {

constexpr unsigned manyThreads[] = {1, 2, 3, 8, 64};

// ---- Every message changes its receiver, and its pin --------------------------------------

template <typename Half>
struct TallyState {
  Half received;  // wraps around
  Half left;      // messages yet to send; odd: the next one is for the host
};

template <typename Half>
struct Tally : PVertex<TallyState<Half>, uint16_t, uint16_t> {
  void choose() {
    const Half left = this->s->left;
    *this->readyToSend = left == 0 ? No : left % 2 != 0 ? HostPin : Pin(0);
  }
  void init() { choose(); }
  void send(uint16_t* m) {
    *m = static_cast<uint16_t>(this->s->left--);
    choose();
  }
  void recv(const uint16_t* m, const uint16_t* e) {
    this->s->received = static_cast<Half>(this->s->received + *m * *e);
    // Withdraws and renews the wish to send: a lost pin would end the vertex's messages.
    *this->readyToSend = No;
    choose();
  }
  uint32_t priority() const { return 100u - this->s->left; }
};

template <typename Half>
void tally(Wiring<uint16_t>& wiring, std::mt19937_64& random) {
  const uint32_t n = wiring.vertices;
  std::vector<TallyState<Half>> states(n);
  for (auto& s : states) s = {0, static_cast<Half>(random() % 9)};
  std::vector<Half> expected(n, 0);
  uint64_t deliveries = 0;
  for (const auto& w : wiring.wires) {
    for (Half left = states[w.from].left; left > 0; --left) {
      if (left % 2 != 0) continue;
      expected[w.to] = static_cast<Half>(expected[w.to] + left * w.value);
      ++deliveries;
    }
  }
  uint64_t sends = 0, toHost = 0;
  for (const auto& s : states) {
    sends += s.left;
    toHost += (s.left + 1u) / 2;
  }
  for (const unsigned threads : manyThreads) {
    Listener<uint16_t> host;
    const auto ran = runOn<Tally<Half>>(wiring.network(), states, {}, threads, &host);
    size_t wrong = 0;
    for (uint32_t v = 0; v < n; ++v) wrong += ran.state[v].received != expected[v] || ran.state[v].left != 0;
    CHECK_EQ(wrong, 0u);
    CHECK_EQ(ran.stats.sends, sends);
    CHECK_EQ(ran.stats.deliveries, deliveries);
    CHECK_EQ(ran.stats.hostMessages, toHost);
    CHECK_EQ(host.heard.size(), toHost);
    CHECK_EQ(ran.stats.byThread.size(), size_t{threads});
    CHECK_EQ(std::accumulate(ran.stats.byThread.begin(), ran.stats.byThread.end(), uint64_t{0}), deliveries);
    if (threads > 1) CHECK(ran.stats.commits > deliveries / 2);  // the test is of concurrent rounds
    if (check::failures) {
      std::fprintf(stderr, "  %u threads, states of %zu bytes\n", threads, sizeof(TallyState<Half>));
      return;
    }
  }
}

}  // namespace

GS_TEST(concurrent_messages_are_delivered_exactly_once) {
  std::mt19937_64 random(check::seed ^ 0x6161);
  for (int round = 0; round < check::pick(1, 3, 20); ++round) {
    const uint32_t n = 1500 + static_cast<uint32_t>(random() % 500);
    auto wiring = randomWiring<uint16_t>(random, n, 1, n * 30,
                                         [](unsigned, auto& r) { return static_cast<uint16_t>(1 + r() % 999); });
    tally<uint16_t>(wiring, random);
    tally<uint32_t>(wiring, random);
  }
}

namespace {

// ---- Shortest paths: few messages change their receiver -----------------------------------

template <typename Length>
struct PathState {
  Length distance;
};

template <typename Length>
struct Path : PVertex<PathState<Length>, uint32_t, Length> {
  void init() { *this->readyToSend = this->s->distance == 0 ? Pin(0) : No; }
  void send(Length* m) {
    *m = this->s->distance;
    *this->readyToSend = No;
  }
  void recv(const Length* m, const uint32_t* e) {
    const Length length = *m + static_cast<Length>(*e);
    if (length >= this->s->distance) return;
    this->s->distance = length;
    *this->readyToSend = Pin(0);
  }
  // The bits of non-negative floats are in the order of the numbers: keys that are far apart.
  uint32_t priority() const {
    if constexpr (std::is_same_v<Length, uint32_t>) return this->s->distance;
    return __builtin_bit_cast(uint32_t, static_cast<float>(this->s->distance));
  }
};

/// Dijkstra's algorithm, as the reference.
std::vector<uint64_t> distances(const Wiring<uint32_t>& wiring, uint32_t source, uint64_t far) {
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> leaving(wiring.vertices);
  for (const auto& w : wiring.wires) leaving[w.from].push_back({w.to, w.value});
  std::vector<uint64_t> best(wiring.vertices, far);
  using Entry = std::pair<uint64_t, uint32_t>;
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

template <typename Length>
void findPaths(Wiring<uint32_t>& wiring, std::mt19937_64& random, uint32_t longest) {
  const auto far = static_cast<Length>(1u << 30);
  const auto source = static_cast<uint32_t>(random() % wiring.vertices);
  const auto expected = distances(wiring, source, uint64_t{1} << 30);
  std::vector<PathState<Length>> states(wiring.vertices, {far});
  states[source].distance = 0;
  const auto alone = runOn<Path<Length>>(wiring.network(), states, {}, 1);
  for (const unsigned threads : manyThreads) {
    const auto ran = runOn<Path<Length>>(wiring.network(), states, {}, threads);
    size_t wrong = 0;
    for (uint32_t v = 0; v < wiring.vertices; ++v) {
      wrong += ran.state[v].distance != static_cast<Length>(expected[v]);
    }
    CHECK_EQ(wrong, 0u);
    // The counts do not depend on the number of processors. A thread writes shared memory where a message has an
    // effect, not for every edge; it sends little more than one thread does; and no round is too short for all threads.
    CHECK(ran.stats.deliveries <= alone.stats.deliveries * 5 / 4);
    if (threads > 1) {
      CHECK(ran.stats.pushRounds > 0);
      CHECK(ran.stats.commits < ran.stats.deliveries / 2);
      CHECK(ran.stats.retries < ran.stats.deliveries / 20);
      CHECK(ran.stats.pushRounds * 4096 < ran.stats.deliveries);
    }
    if (check::failures) {
      std::fprintf(stderr, "  lengths to %u, %u threads; deliveries %zu of %zu, %zu commits, %zu retries, %zu rounds\n",
                   longest, threads, size_t{ran.stats.deliveries}, size_t{alone.stats.deliveries},
                   size_t{ran.stats.commits}, size_t{ran.stats.retries}, size_t{ran.stats.pushRounds});
      return;
    }
  }
}

}  // namespace

GS_TEST(concurrent_rounds_find_shortest_paths_with_few_shared_writes) {
  std::mt19937_64 random(check::seed ^ 0x7171);
  for (const uint32_t longest : {1u, 4u, 255u}) {
    const uint32_t n = 6000;
    auto wiring = randomWiring<uint32_t>(random, n, 1, n * 30, [&](unsigned, auto& r) {
      return static_cast<uint32_t>(longest == 4 ? r() % 4 : 1 + r() % longest);  // 4: with edges of length 0
    });
    findPaths<uint32_t>(wiring, random, longest);
    findPaths<float>(wiring, random, longest);
    findPaths<double>(wiring, random, longest);
  }
}

namespace {

// ---- Ends of a run --------------------------------------------------------------------

/// Programs whose edges have no values take other rounds.
uint32_t one(unsigned, std::mt19937_64&) { return 1; }

struct Aim {
  uint32_t pin;
};

struct SendsOn : PVertex<Aim, uint32_t, uint32_t> {
  void init() { *readyToSend = Pin(0); }
  void send(uint32_t* m) {
    *m = 0;
    *readyToSend = static_cast<PPin>(s->pin);
    s->pin = No;
  }
  void recv(const uint32_t*, const uint32_t*) {}
  uint32_t priority() const { return s->pin != No ? 5 : 6; }
};

/// Never ends by itself.
struct Endless : PVertex<Aim, uint32_t, uint32_t> {
  void init() { *readyToSend = Pin(0); }
  void send(uint32_t* m) {
    *m = ++s->pin;
    *readyToSend = No;
  }
  void recv(const uint32_t*, const uint32_t*) { *readyToSend = Pin(0); }
  uint32_t priority() const { return s->pin % 8; }
};

}  // namespace

GS_TEST(concurrent_send_on_a_missing_pin_is_an_error) {
  std::mt19937_64 random(check::seed ^ 0x8181);
  const uint32_t n = 3000;
  auto wiring = randomWiring<uint32_t>(random, n, 1, n * 20, one);
  for (const PPin pin : {Pin(1), Pin(MaxPins - 1), OneEdge}) {
    std::vector<Aim> states(n, {No});
    states[1234].pin = pin;
    for (const unsigned threads : manyThreads) {
      std::string complaint;
      try {
        runOn<SendsOn>(wiring.network(), states, {}, threads);
      } catch (const std::runtime_error& error) {
        complaint = error.what();
      }
      const std::string what = "the vertex of index 1234 sends ";
      CHECK_EQ(complaint, pin == OneEdge ? what + "along one edge, but has no member edges to name it"
                                         : what + "on pin " + std::to_string(pin - 2) + ", but the graph has 1 pin");
    }
  }
}

GS_TEST(concurrent_rounds_end_when_the_stop_flag_is_set) {
  std::mt19937_64 random(check::seed ^ 0x9191);
  const uint32_t n = 3000;
  auto wiring = randomWiring<uint32_t>(random, n, 1, n * 20, one);
  for (const unsigned threads : manyThreads) {
    std::atomic<int> stop{0};
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop = 1;
    });
    const auto ran = runOn<Endless>(wiring.network(), std::vector<Aim>(n, {0}), {}, threads, nullptr, &stop);
    other.join();
    CHECK(ran.stats.stopped);
  }
}
