// SPDX-License-Identifier: Apache-2.0
/// The engines' delivery modes, each against a plain loop: the values and times that each
/// handler sees, and that no message is lost, duplicated or delivered in another step.
#include "check.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "network.h"

using namespace gossamer;
using namespace test;

namespace {

template <typename T>
void checkStepTimes(const T& stats) {
  CHECK_EQ(stats.stepSeconds.size(), stats.steps);
  CHECK(std::is_sorted(stats.stepSeconds.begin(), stats.stepSeconds.end()));
  CHECK(stats.stepSeconds.empty() || stats.stepSeconds.back() <= stats.seconds + 0.001);
}

// ---- Programs in time steps ------------------------------------------------------
// The senders and pins of each step follow from vertex and time only, so the counts
// are the same in every correct run. A step chains up everything that was
// received: one message too many, too few or in another step changes the state.

struct WaveState {
  uint64_t id;
  uint64_t heard;  // since the last step; a sum, so order is free
  uint64_t chain;
  uint32_t sends;
  uint32_t received;
  uint32_t steps;
  uint32_t faults;  // violations observed
  uint8_t want;     // what *readyToSend must be
  bool operator==(const WaveState&) const = default;
};

struct WaveParams {
  uint32_t steps;
  uint32_t pins;
  uint32_t hostEvery;     // every n-th sender sends to the host instead
  uint32_t vertices;
  uint32_t density[4];    // of 256: the number of senders, by step modulo 4
};

struct WaveMessage {
  uint64_t value;
  uint32_t time;
};

/// E is None or uint64_t.
template <typename E>
struct Waves : PVertex<WaveState, E, WaveMessage, WaveParams> {
  void choose(uint32_t time) {
    WaveState& s = *this->s;
    const uint64_t r = mix(s.id * 1000003 + time);
    s.want = No;
    if (time < this->params->steps && (r & 255) < this->params->density[time % 4]) {
      s.want = this->params->hostEvery && (r >> 40) % this->params->hostEvery == 0
                   ? HostPin
                   : Pin(static_cast<unsigned>((r >> 20) % this->params->pins));
    }
    if (s.want != No) *this->readyToSend = static_cast<PPin>(s.want);
  }
  void look(uint32_t time) {
    WaveState& s = *this->s;
    s.faults += *this->readyToSend != s.want;
    s.faults += this->time != time;
    s.faults += this->numVertices != this->params->vertices;
  }
  void init() {
    look(0);
    choose(0);
  }
  void send(WaveMessage* m) {
    WaveState& s = *this->s;
    look(s.steps);
    s.faults += s.want == No;
    *m = {mix(s.id ^ s.chain), this->time};
    ++s.sends;
    s.want = No;
    *this->readyToSend = No;
  }
  void recv(const WaveMessage* m, const E* e) {
    WaveState& s = *this->s;
    look(s.steps);
    s.faults += m->time != this->time;
    if constexpr (std::is_empty_v<E>) {
      s.heard += mix(m->value);
    } else {
      s.heard += mix(m->value ^ *e);
    }
    ++s.received;
  }
  bool step() {
    WaveState& s = *this->s;
    look(s.steps);
    s.faults += s.want != No;  // the network is idle
    s.chain = mix(s.chain + s.heard + s.received);
    s.heard = 0;
    ++s.steps;
    choose(s.steps);
    // A single vertex keeps the run going: every vote must count.
    return s.id == this->params->vertices / 2 && s.steps < this->params->steps;
  }
  bool finish(WaveMessage* m) {
    WaveState& s = *this->s;
    look(s.steps);
    s.faults += s.heard != 0;
    *m = {mix(s.chain), 0xffffffff};
    return s.id % 5 == 0;
  }
};

/// The same with a priority, which changes during the run and must not change the result.
template <typename E>
struct PriorityWaves : Waves<E> {
  uint32_t priority() const { return static_cast<uint32_t>(this->s->chain + this->s->received); }
};

std::vector<WaveState> waveStates(uint32_t n) {
  std::vector<WaveState> all(n);
  for (uint32_t v = 0; v < n; ++v) all[v].id = v;
  return all;
}

template <typename V>
void compareWaves(const Outcome<V>& expected, const Ran<V>& ran, const Listener<WaveMessage>* host,
                  const std::string& what) {
  const int before = check::failures;
  uint32_t faults = 0;
  size_t wrong = 0;
  for (size_t v = 0; v < ran.state.size(); ++v) {
    faults += ran.state[v].faults;
    wrong += !(ran.state[v] == expected.state[v]);
  }
  CHECK_EQ(faults, 0u);
  CHECK_EQ(wrong, 0u);
  CHECK_EQ(ran.stats.sends, expected.sends);
  CHECK_EQ(ran.stats.deliveries, expected.deliveries);
  CHECK_EQ(ran.stats.steps, expected.steps);
  CHECK_EQ(ran.stats.stepCalls, expected.steps * ran.state.size());
  CHECK_EQ(ran.stats.hostMessages, expected.host.size());
  CHECK(!ran.stats.stopped);
  if (host) {
    const auto sorted = [](const std::vector<WaveMessage>& messages) {
      std::vector<uint64_t> values;
      for (const WaveMessage& m : messages) values.push_back(m.value);
      std::sort(values.begin(), values.end());
      return values;
    };
    CHECK(sorted(host->heard) == sorted(expected.host));
  }
  if (check::failures > before) std::fprintf(stderr, "  in %s\n", what.c_str());
}

struct Rounds {
  uint64_t pull = 0, push = 0, small = 0;
  void add(const Statistics& s) {
    pull += s.pullRounds;
    push += s.pushRounds;
    small += s.smallRounds;
  }
};

/// Runs one wave program in every mode, against the plain loop.
template <typename V>
void everyWay(Wiring<typename V::Edge> wiring, const WaveParams& params, Rounds* byThreads,
              const std::string& name) {
  const auto states = waveStates(wiring.vertices);
  auto judged = wiring;
  const Outcome<V> expected = plain<V>(judged, states, params);
  unsigned index = 0;
  for (const unsigned threads : threadCounts) {
    for (const bool withIn : {true, false}) {
      for (const bool withHost : {false, true}) {
        Listener<WaveMessage> host;
        const Ran<V> ran =
            runOn<V>(wiring.network(withIn), states, params, threads, withHost ? &host : nullptr);
        compareWaves<V>(expected, ran, withHost ? &host : nullptr,
                        name + ", " + std::to_string(threads) + " threads" + (withIn ? "" : ", no in-edges") +
                            (withHost ? ", a host" : ""));
        checkStepTimes(ran.stats);
        CHECK_EQ(ran.stats.threads, threads);
        CHECK_EQ(ran.stats.edges, wiring.wires.size());
        if (!withIn) CHECK_EQ(ran.stats.pullRounds, 0u);
        if (withIn && byThreads) byThreads[index].add(ran.stats);
      }
    }
    ++index;
  }
  Listener<WaveMessage> host;
  const Ran<V> ran =
      runOn<V, shuffle::Engine>(wiring.network(), states, params, 1, &host, nullptr, check::seed);
  compareWaves<V>(expected, ran, &host, name + ", shuffled");
}

uint64_t anyValue(unsigned, std::mt19937_64& random) { return random(); }

}  // namespace

GS_TEST(every_delivery_mode_matches_a_plain_loop) {
  std::mt19937_64 random(check::seed);
  const uint32_t n = 3001;
  const uint64_t edges = 60000;  // enough for every parallel mode
  const uint32_t densities[][4] = {
      {256, 256, 256, 256},  // all, step after step: one pass per step
      {256, 256, 20, 0},     // all, then few, then none
      {256, 150, 256, 1},    // messages sent in the step's pass that are too few to pull
      {160, 210, 128, 90},   // some
      {1, 0, 3, 256},        // almost none, then all
  };
  Rounds rounds[4];
  int number = 0;
  for (const auto& d : densities) {
    const WaveParams one{9, 1, 0, n, {d[0], d[1], d[2], d[3]}};
    const std::string name = "densities " + std::to_string(number++);
    everyWay<Waves<None>>(randomWiring<None>(random, n, 1, edges, noValue), one, rounds, name);
    everyWay<Waves<uint64_t>>(randomWiring<uint64_t>(random, n, 1, edges, anyValue), one, rounds,
                              name + " with values");
    const WaveParams several{6, 3, 7, n, {d[0], d[1], d[2], d[3]}};
    everyWay<Waves<uint64_t>>(randomWiring<uint64_t>(random, n, 3, edges, anyValue), several, rounds,
                              name + " on three pins");
    everyWay<PriorityWaves<uint64_t>>(randomWiring<uint64_t>(random, n, 2, edges, anyValue),
                                      {6, 2, 7, n, {d[0], d[1], d[2], d[3]}}, nullptr, name + " by priority");
  }
  // Each mode occurred, or this test would check less than it claims.
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(rounds[i].pull > 0);
    CHECK(rounds[i].push > 0);
    CHECK(rounds[i].small > 0);
  }
}

namespace {

struct LeastState {
  uint32_t label;
  bool operator==(const LeastState&) const = default;
};

/// Every vertex adopts the smallest label that it receives: large waves of one priority.
struct Least : PVertex<LeastState, None, uint32_t> {
  void init() { *readyToSend = Pin(0); }
  void send(uint32_t* m) {
    *m = s->label;
    *readyToSend = No;
  }
  void recv(const uint32_t* m, const None*) {
    if (*m >= s->label) return;
    s->label = *m;
    *readyToSend = Pin(0);
  }
  uint32_t priority() const { return s->label; }
};

}  // namespace

/// The total work of all threads must not grow with their number: many threads are compared
/// with one, for messages pushed in rounds and in waves.
GS_TEST(work_does_not_grow_with_the_number_of_threads) {
  std::mt19937_64 random(check::seed ^ 0x64);
  const uint32_t n = 6000;
  const uint64_t edges = 240000;
  const auto looks = [](const Statistics& s) { return static_cast<double>(s.vertexLooks + s.edgeLooks); };
  const auto judge = [&](const Statistics& one, const Statistics& many) {
    CHECK(many.pushRounds > 0);
    CHECK(many.edgeLooks >= many.deliveries);  // each message travels an edge, on any number of threads
    CHECK(one.edgeLooks >= one.deliveries);
    CHECK(many.vertexLooks >= 2 * n + many.sends);
    CHECK(looks(many) <= 1.15 * looks(one));
    CHECK(looks(one) <= 1.15 * looks(many) + n);
  };

  const WaveParams params{5, 1, 0, n, {60, 70, 80, 60}};
  auto wiring = randomWiring<uint64_t>(random, n, 1, edges, anyValue);
  const auto states = waveStates(n);
  const auto expected = plain<Waves<uint64_t>>(wiring, states, params);
  const auto one = runOn<Waves<uint64_t>>(wiring.network(false), states, params, 1);
  const auto many = runOn<Waves<uint64_t>>(wiring.network(false), states, params, 64);
  compareWaves<Waves<uint64_t>>(expected, many, nullptr, "64 threads");
  judge(one.stats, many.stats);

  auto plainly = randomWiring<None>(random, n, 1, edges, noValue);
  std::vector<LeastState> labels(n);
  for (uint32_t v = 0; v < n; ++v) labels[v].label = v;
  const auto alone = runOn<Least>(plainly.network(), labels, {}, 1);
  const auto together = runOn<Least>(plainly.network(), labels, {}, 64);
  CHECK(alone.state == together.state);
  judge(alone.stats, together.stats);
}

GS_TEST(random_programs_on_random_wirings) {
  std::mt19937_64 random(check::seed ^ 0xabcdef);
  for (int round = 0; round < check::pick(4, 12, 120); ++round) {
    const auto n = static_cast<uint32_t>(random() % 8 ? 1 + random() % 2000 : 1 + random() % 70);
    const unsigned pins = 1 + static_cast<unsigned>(random() % 4);
    const uint64_t edges = random() % 8 ? random() % 50000 : random() % 3;
    const auto steps = static_cast<uint32_t>(1 + random() % 8);
    WaveParams params{steps, pins, static_cast<uint32_t>(random() % 6), n, {}};
    for (uint32_t& d : params.density) d = static_cast<uint32_t>(std::min<uint64_t>(256, random() % 320));
    const std::string name = "round " + std::to_string(round) + " of seed " + std::to_string(check::seed);
    auto wiring = randomWiring<uint64_t>(random, n, pins, edges, anyValue);
    everyWay<Waves<uint64_t>>(std::move(wiring), params, nullptr, name);
    if (check::failures) return;
  }
}

GS_TEST(missing_edge_directions_are_requested_on_demand) {
  std::mt19937_64 random(check::seed ^ 0x1111);
  const uint32_t n = 2500;
  auto wiring = randomWiring<uint64_t>(random, n, 1, 50000, anyValue);
  const auto states = waveStates(n);
  const WaveParams params{10, 1, 0, n, {256, 256, 256, 30}};
  auto judged = wiring;
  const auto expected = plain<Waves<uint64_t>>(judged, states, params);
  for (const unsigned threads : threadCounts) {
    // Edges by receiver are requested once, and not for a single dense round.
    int asked = 0;
    Network late = wiring.network(false);
    late.complete = [&](Network& net, bool wantIn) {
      ++asked;
      CHECK(wantIn);
      net.relations[0].in = Wiring<uint64_t>::rows(wiring.sides[0].in, true);
    };
    const auto ran = runOn<Waves<uint64_t>>(late, states, params, threads);
    compareWaves<Waves<uint64_t>>(expected, ran, nullptr, "in-edges on request");
    CHECK_EQ(asked, 1);
    CHECK(ran.stats.pullRounds > 0);

    // Edges by sender may lack their targets as long as all messages are pulled.
    int askedOut = 0;
    Network noOut = wiring.network();
    noOut.relations[0].out.targets = nullptr;
    noOut.complete = [&](Network& net, bool wantIn) {
      CHECK(!wantIn);
      ++askedOut;
      net.relations[0].out = Wiring<uint64_t>::rows(wiring.sides[0].out, true);
    };
    const auto pulled = runOn<Waves<uint64_t>>(noOut, states, params, threads);
    compareWaves<Waves<uint64_t>>(expected, pulled, nullptr, "no out-edges");
    const auto sorted = runOn<PriorityWaves<uint64_t>>(noOut, states, params, threads);
    CHECK_EQ(sorted.stats.deliveries, expected.deliveries);
    CHECK_EQ(askedOut, 1);
  }
}

GS_TEST(relations_in_both_directions_on_one_pin) {
  std::mt19937_64 random(check::seed ^ 0x2222);
  const uint32_t n = 2000;
  auto there = randomWiring<uint64_t>(random, n, 1, 40000, anyValue);
  std::vector<Wire<uint64_t>> both = there.wires;
  for (const auto& w : there.wires) both.push_back({0, w.to, w.from, w.value});
  Wiring<uint64_t> judged(n, 1, both);
  const auto states = waveStates(n);
  for (const uint32_t density : {256u, 140u, 2u}) {
    const WaveParams params{6, 1, 0, n, {density, density, density, 256}};
    auto copy = judged;
    const auto expected = plain<Waves<uint64_t>>(copy, states, params);
    for (const unsigned threads : threadCounts) {
      Network net = there.network();
      net.relations.push_back({0, net.relations[0].in, net.relations[0].out});
      const auto ran = runOn<Waves<uint64_t>>(net, states, params, threads);
      compareWaves<Waves<uint64_t>>(expected, ran, nullptr, "both ways");
      CHECK_EQ(ran.stats.edges, both.size());
      if (density == 256) CHECK(ran.stats.pullRounds > 0);
    }
  }
}

GS_TEST(small_and_empty_networks) {
  std::mt19937_64 random(check::seed ^ 0x3333);
  for (const uint32_t n : {1u, 2u, 63u, 64u, 65u, 129u}) {
    for (const uint64_t edges : {0u, 1u, 300u}) {
      everyWay<Waves<uint64_t>>(randomWiring<uint64_t>(random, n, 1, edges, anyValue),
                                {4, 1, 3, n, {256, 128, 256, 256}}, nullptr, "a small network");
    }
  }
  Wiring<None> nothing(0, 1, {});
  for (const unsigned threads : threadCounts) {
    const auto ran = runOn<Waves<None>>(nothing.network(), {}, {1, 1, 0, 0, {}}, threads);
    CHECK_EQ(ran.stats.sends, 0u);
    CHECK_EQ(ran.stats.steps, 1u);
  }
}

namespace {

// ---- lazyStep ---------------------------------------------------------------------

struct FloodState {
  uint64_t known;
  uint64_t heard;
  uint32_t sends;
  uint32_t stamp;  // chains the times of new values
  bool operator==(const FloodState&) const = default;
};

struct Flood : PVertex<FloodState, None, uint64_t> {
  static constexpr bool lazyStep = true;
  void init() { *readyToSend = s->known ? Pin(0) : No; }
  void send(uint64_t* m) {
    *m = s->known;
    ++s->sends;
    *readyToSend = No;
  }
  void recv(const uint64_t* m, const None*) { s->heard |= *m; }
  bool step() {
    const uint64_t fresh = s->heard & ~s->known;
    s->heard = 0;
    if (!fresh) return false;
    s->known |= fresh;
    s->stamp = static_cast<uint32_t>(mix(s->stamp + time));
    *readyToSend = Pin(0);
    return true;
  }
};

}  // namespace

GS_TEST(lazy_steps_omit_only_calls_without_effect) {
  std::mt19937_64 random(check::seed ^ 0x4444);
  for (const uint64_t edges : {0u, 8000u, 60000u}) {
    const uint32_t n = edges ? 4000 : 600;
    auto wiring = randomWiring<None>(random, n, 1, edges, noValue);
    std::vector<FloodState> states(n);
    if (edges) {
      for (unsigned bit = 0; bit < 40; ++bit) states[random() % n].known |= uint64_t{1} << bit;
    } else {
      // A path: at most two vertices per step have work.
      std::vector<Wire<None>> path;
      for (uint32_t v = 0; v + 1 < n; ++v) path.push_back({0, v, v + 1, {}});
      wiring = Wiring<None>(n, 1, path);
      states[0].known = 1;
    }
    const auto expected = plain<Flood>(wiring, states, {});
    const auto judge = [&](const Ran<Flood>& ran) {
      CHECK(ran.state == expected.state);
      CHECK_EQ(ran.stats.sends, expected.sends);
      CHECK_EQ(ran.stats.deliveries, expected.deliveries);
      CHECK_EQ(ran.stats.steps, expected.steps);
    };
    for (const unsigned threads : threadCounts) {
      const auto lazy = runOn<Flood>(wiring.network(), states, {}, threads);
      judge(lazy);
      CHECK(lazy.stats.stepCalls <= expected.steps * n);
      if (!edges) CHECK(lazy.stats.stepCalls < 4 * n);
    }
    const auto shuffled = runOn<Flood, shuffle::Engine>(wiring.network(), states, {}, 1);
    judge(shuffled);
    CHECK_EQ(shuffled.stats.stepCalls, expected.steps * n);
  }
}

namespace {

// ---- Programs without order ---------------------------------------------------------
// Anything may happen that the API does not rule out; every handler checks that the
// state is the one that the previous handler left.

struct WildState {
  uint64_t dice;
  uint32_t fuel;
  uint32_t sends;
  uint32_t received;
  uint32_t onPin[3];
  uint32_t toHost;
  uint32_t cancelled;
  uint32_t faults;
  uint8_t want;
};

struct WildParams {
  uint32_t stay;  // of 256: how often a vertex remains ready after a send
};

struct WildMessage {
  uint64_t value;
  uint32_t pin;
};

struct Wild : PVertex<WildState, uint32_t, WildMessage, WildParams> {
  void decide() {
    s->dice = mix(s->dice);
    const unsigned r = s->dice % 8;
    const PPin next = s->fuel == 0 || r < 2 ? No : r == 7 ? HostPin : Pin(r % 3);
    s->cancelled += s->want != No && next == No;
    s->want = next;
    *readyToSend = next;
  }
  void look() { s->faults += *readyToSend != s->want; }
  void init() {
    look();
    decide();
  }
  void send(WildMessage* m) {
    look();
    s->faults += s->want == No || s->fuel == 0;
    *m = {s->dice, s->want == HostPin ? 99u : s->want - 2u};
    if (s->want == HostPin) {
      ++s->toHost;
    } else {
      ++s->onPin[s->want - 2];
    }
    ++s->sends;
    --s->fuel;
    s->dice = mix(s->dice);
    if (s->fuel == 0 || s->dice % 256 >= params->stay) {
      s->want = No;
      *readyToSend = No;
    } else if (s->dice & 256) {
      s->want = Pin(s->dice % 3);
      *readyToSend = Pin(s->dice % 3);
    }
  }
  void recv(const WildMessage* m, const uint32_t* e) {
    look();
    s->faults += m->pin != *e;  // an edge's value is its pin
    ++s->received;
    s->dice = mix(s->dice + m->value);
    if (s->dice % 4 == 0) decide();
  }
  bool step() {
    look();
    s->faults += s->want != No;
    if (s->dice % 2 == 0) decide();
    s->dice = mix(s->dice);
    return s->fuel > 0 && time < 12;
  }
  bool finish(WildMessage*) {
    s->faults += *readyToSend != No;
    return false;
  }
};

struct PriorityWild : Wild {
  uint32_t priority() const { return static_cast<uint32_t>(s->dice >> (s->dice % 33)); }
};

/// In any order, the totals must balance.
template <typename V>
void audit(const Wiring<uint32_t>& wiring, const Ran<V>& ran, const char* what) {
  const int before = check::failures;
  uint64_t sends = 0, received = 0, faults = 0, toHost = 0;
  std::vector<uint64_t> expected(ran.state.size()), got(ran.state.size());
  for (size_t v = 0; v < ran.state.size(); ++v) {
    const WildState& s = ran.state[v];
    sends += s.sends;
    received += s.received;
    faults += s.faults;
    toHost += s.toHost;
    got[v] = s.received;
  }
  // Each vertex has received what its neighbours have sent on their pins.
  uint64_t deliveries = 0;
  for (const auto& w : wiring.wires) {
    expected[w.to] += ran.state[w.from].onPin[w.pin];
    deliveries += ran.state[w.from].onPin[w.pin];
  }
  CHECK_EQ(faults, 0u);
  CHECK(expected == got);
  CHECK_EQ(ran.stats.sends, sends);
  CHECK_EQ(ran.stats.deliveries, deliveries);
  CHECK_EQ(received, deliveries);
  CHECK_EQ(ran.stats.hostMessages, toHost);
  if (check::failures > before) std::fprintf(stderr, "  in %s\n", what);
}

uint32_t pinValue(unsigned pin, std::mt19937_64&) { return pin; }

}  // namespace

GS_TEST(messages_are_delivered_exactly_once) {
  std::mt19937_64 random(check::seed ^ 0x5555);
  uint64_t cancelled = 0;
  Rounds rounds[4];
  for (int round = 0; round < check::pick(3, 6, 60); ++round) {
    const uint32_t n = round == 0 ? 40 : 500 + static_cast<uint32_t>(random() % 2500);
    auto wiring = randomWiring<uint32_t>(random, n, 3, n * (round % 3 == 0 ? 2 : 12), pinValue);
    const WildParams params{static_cast<uint32_t>(random() % 256)};
    std::vector<WildState> states(n);
    const uint32_t fuel = 1 + static_cast<uint32_t>(random() % 6);
    for (uint32_t v = 0; v < n; ++v) states[v] = {random(), random() % 3 ? fuel : 0, 0, 0, {}, 0, 0, 0, No};
    unsigned index = 0;
    for (const unsigned threads : threadCounts) {
      const auto pulling = runOn<Wild>(wiring.network(), states, params, threads);
      audit(wiring, pulling, "a wild program");
      rounds[index++].add(pulling.stats);
      const auto inOrder = runOn<PriorityWild>(wiring.network(), states, params, threads);
      audit(wiring, inOrder, "a wild program in order");
      for (const WildState& s : pulling.state) cancelled += s.cancelled;
    }
    const uint64_t seed = random();
    const auto shuffled =
        runOn<Wild, shuffle::Engine>(wiring.network(), states, params, 1, nullptr, nullptr, seed);
    audit(wiring, shuffled, "a wild program, shuffled");
    if (check::failures) {
      std::fprintf(stderr, "  round %d\n", round);
      return;
    }
  }
  CHECK(cancelled > 0);
  CHECK(rounds[0].small > 0);
  CHECK(rounds[1].push > 0);
  CHECK(rounds[3].push > 0);
}

namespace {

// ---- The host --------------------------------------------------------------------

struct CallMessage {
  uint64_t value;
  uint32_t vertex;
  uint32_t time;
};
struct CallState {
  uint32_t id;
  uint32_t calls;
  uint64_t sum;
  uint32_t steps;
  uint32_t neighbours;  // messages from other vertices
};

/// Answers each call from the host, and forwards it to its neighbours.
struct Answer : PVertex<CallState, None, CallMessage> {
  void init() {}
  void send(CallMessage* m) {
    *m = {s->sum, s->id, time};
    *readyToSend = *readyToSend == HostPin ? Pin(0) : No;
  }
  void recv(const CallMessage* m, const None*) {
    if (m->vertex != 0xffffffff) {
      ++s->neighbours;
      return;
    }
    ++s->calls;
    s->sum += m->value;
    *readyToSend = HostPin;
  }
  bool step() {
    ++s->steps;
    return s->steps < 3;
  }
  bool finish(CallMessage* m) {
    *m = {s->sum, s->id, 0xffffffff};
    return true;
  }
};

struct AnswerInOrder : Answer {
  uint32_t priority() const { return s->id; }
};

/// Calls one vertex after the other, each after the previous answer.
class Caller : public HostEnd {
 public:
  Caller(uint32_t vertices, uint32_t calls) : vertices_(vertices), left_(calls) { call(); }
  void fromVertex(const void* message) override {
    const auto& m = *static_cast<const CallMessage*>(message);
    if (m.time == 0xffffffff) {
      ++finished;
      finalSum += m.value;
      return;
    }
    ++answers;
    late += m.time != 0;  // no step while the host still has messages
    wrong += m.vertex != asked_;
    if (left_) call();
  }
  bool toVertex(uint32_t& vertex, void* message) override {
    if (!waiting_) return false;
    waiting_ = false;
    vertex = asked_;
    const CallMessage m{called, 0xffffffff, 0};
    std::memcpy(message, &m, sizeof m);
    return true;
  }
  bool waitIdle() override { return waiting_; }
  uint64_t called = 0, answers = 0, late = 0, wrong = 0, finished = 0, finalSum = 0;

 private:
  void call() {
    --left_;
    ++called;
    asked_ = static_cast<uint32_t>(mix(called) % vertices_);
    waiting_ = true;
  }
  uint32_t vertices_;
  uint32_t left_;
  uint32_t asked_ = 0;
  bool waiting_ = false;
};

template <typename V, template <typename> typename EngineOf>
void converse(unsigned threads) {
  const uint32_t n = 300;
  std::vector<Wire<None>> ring;
  for (uint32_t v = 0; v < n; ++v) ring.push_back({0, v, (v + 1) % n, {}});
  Wiring<None> wiring(n, 1, ring);
  std::vector<CallState> states(n);
  for (uint32_t v = 0; v < n; ++v) states[v].id = v;
  const uint32_t calls = 200;
  Caller host(n, calls);
  const auto ran = runOn<V, EngineOf>(wiring.network(), states, {}, threads, &host);
  CHECK_EQ(host.answers, calls);
  CHECK_EQ(host.late, 0u);
  CHECK_EQ(host.wrong, 0u);
  CHECK_EQ(host.finished, n);
  CHECK_EQ(host.finalSum, uint64_t{calls} * (calls + 1) / 2);
  uint64_t heard = 0, neighbours = 0, badSteps = 0;
  for (const CallState& s : ran.state) {
    heard += s.calls;
    neighbours += s.neighbours;
    badSteps += s.steps != 3;
  }
  CHECK_EQ(heard, calls);
  CHECK_EQ(neighbours, calls);
  CHECK_EQ(badSteps, 0u);
  CHECK_EQ(ran.stats.steps, 3u);
  CHECK_EQ(ran.stats.hostMessages, calls + n);
  CHECK_EQ(ran.stats.deliveries, 2u * calls);
  CHECK_EQ(ran.stats.sends, 2u * calls);
}

/// A slow host, which waits on its own thread before it sends.
class Thinker : public HostEnd {
 public:
  explicit Thinker(int messages) {
    thread_ = std::thread([this, messages] {
      for (int i = 0; i < messages; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        const std::lock_guard lock(mutex_);
        ++waiting_;
        changed_.notify_all();
      }
      const std::lock_guard lock(mutex_);
      closed_ = true;
      changed_.notify_all();
    });
  }
  ~Thinker() override { thread_.join(); }
  void fromVertex(const void*) override { ++answers; }
  bool toVertex(uint32_t& vertex, void* message) override {
    const std::lock_guard lock(mutex_);
    if (!waiting_) return false;
    --waiting_;
    vertex = 1;
    const CallMessage m{1, 0xffffffff, 0};
    std::memcpy(message, &m, sizeof m);
    return true;
  }
  bool waitIdle() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ || closed_; });
    return waiting_ > 0;
  }
  uint64_t answers = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace

GS_TEST(run_is_idle_only_when_the_host_waits) {
  for (const unsigned threads : threadCounts) {
    converse<Answer, cpu::Engine>(threads);
    converse<AnswerInOrder, cpu::Engine>(threads);
  }
  converse<Answer, shuffle::Engine>(1);
}

GS_TEST(run_waits_for_a_slow_host) {
  Wiring<None> wiring(2, 1, {});
  for (const unsigned threads : {1u, 3u}) {
    Thinker host(5);
    const auto ran = runOn<Answer>(wiring.network(), {{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}}, {}, threads, &host);
    CHECK_EQ(ran.state[1].calls, 5u);
    CHECK_EQ(ran.state[1].steps, 3u);
    // Calls of one vertex may be answered together; the last one is answered.
    CHECK(host.answers >= 1 + 2 && host.answers <= 5 + 2);
  }
}

GS_TEST(shuffle_engine_is_reproducible_by_seed) {
  std::mt19937_64 random(check::seed ^ 0xbbbb);
  auto wiring = randomWiring<uint32_t>(random, 200, 3, 1000, pinValue);
  std::vector<WildState> states(200);
  for (auto& s : states) s = {random(), 4, 0, 0, {}, 0, 0, 0, No};
  const auto dice = [&](uint64_t seed) {
    std::vector<uint64_t> all;
    const auto ran = runOn<Wild, shuffle::Engine>(wiring.network(), states, {100}, 1, nullptr, nullptr, seed);
    for (const WildState& s : ran.state) all.push_back(s.dice);
    return all;
  };
  CHECK(dice(1) == dice(1));
  CHECK(dice(1) != dice(2));
}
