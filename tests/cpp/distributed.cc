// SPDX-License-Identifier: Apache-2.0
/// The engine `distributed` over simulated ranks whose messages, reductions and speeds vary at random: results are
/// those of a plain loop, no step ends before its last message, and no run waits for ever.
/// tests/cpp/test_distributed_mutants.py shows which errors these tests find.
#include "check.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gossamer/distributed/engine.h"
#include "network.h"
#include "simulated_ranks.h"

using namespace gossamer;
using namespace test;

namespace {

struct SpreadState {
  uint64_t sum;      // of all values of messages, over all steps
  uint64_t history;  // of the distances of all steps
  uint32_t index;
  uint32_t distance;
  uint32_t left;        // messages of this step that are sent in any case
  uint32_t other_step;  // messages of another step
};

struct SpreadMessage {
  uint64_t value;
  uint32_t distance;
  uint32_t step;
};

/// In each step the distances from a few random sources: they are the same in every order of messages, but only if a
/// step ends with its last message. A source also sends a fixed number of values that receivers add up.
struct Spread : PVertex<SpreadState, None, SpreadMessage> {
  static constexpr uint32_t steps = 6;

  void begin(uint32_t number) {
    const uint64_t drawn = mix(s->index * 977 + number + 1);
    s->distance = ~0u;
    s->left = 0;
    if (drawn % 8) return;
    s->distance = static_cast<uint32_t>(drawn >> 8) % 50;
    s->left = 1 + static_cast<uint32_t>(drawn >> 16) % 3;
    *readyToSend = Pin(0);
  }
  void init() { begin(0); }
  void send(SpreadMessage* m) {
    *m = {s->left ? mix(s->index + uint64_t{s->left} * 4099 + time * uint64_t{65537}) : 0, s->distance, time};
    if (s->left) --s->left;
    if (!s->left) *readyToSend = No;
  }
  void recv(const SpreadMessage* m, const None*) {
    s->sum += m->value;
    if (m->step != time) ++s->other_step;
    const auto far = m->distance + 1 + static_cast<uint32_t>(mix(s->index)) % 7;
    if (far >= s->distance) return;
    s->distance = far;
    *readyToSend = Pin(0);
  }
  bool step() {
    s->history = mix(s->history + s->distance);
    if (time + 1 >= steps) return false;
    begin(time + 1);
    return true;
  }
};

/// Ready vertices send in the order of their distances.
struct SpreadInOrder : Spread {
  uint32_t priority() const { return s->distance; }
};

/// The values of every third source go along one edge each, possibly to the source itself.
struct SpreadAlong : Spread {
  Edges<None> edges;

  bool step() {
    const bool again = Spread::step();
    if (s->left && edges.count() && (s->index + time) % 3 == 0) *readyToSend = OneEdge;
    return again;
  }
  void send(SpreadMessage* m) {
    const bool along = *readyToSend == OneEdge;
    if (along) edges.along(s->left % edges.count());
    Spread::send(m);
    if (along && !s->left) *readyToSend = Pin(0);  // the distance travels along all edges
  }
  void recv(const SpreadMessage* m, const None* edge) {
    const PPin before = *readyToSend;
    Spread::recv(m, edge);
    if (before == OneEdge) *readyToSend = OneEdge;
  }
};

/// Sends along single edges only, so that no other message can take these along. Tokens move over five edges. Those of
/// a vertex with the same number of edges left are equal, so that the sums are the same in every order of messages.
struct TokensAlong : PVertex<SpreadState, None, SpreadMessage> {
  static constexpr uint32_t steps = 6;
  static constexpr unsigned most = 4;  // edges after the first; s->distance has a byte for the tokens of each number
  Edges<None> edges;

  void begin(uint32_t number) {
    const uint64_t drawn = mix(s->index * 577 + number + 1);
    s->distance = 0;
    s->left = edges.count() && drawn % 8 == 0 ? 1 + static_cast<uint32_t>(drawn >> 16) % 3 : 0;
    *readyToSend = s->left ? PPin(OneEdge) : PPin(No);
  }
  void init() { begin(0); }
  void send(SpreadMessage* m) {
    unsigned hops = most;
    if (s->left) {
      --s->left;
    } else {
      do --hops;
      while (!(s->distance >> 8 * hops & 0xff));
      s->distance -= 1u << 8 * hops;
    }
    const uint64_t drawn = mix(s->index + hops * uint64_t{4099} + time * uint64_t{65537});
    *m = {drawn, hops, time};
    edges.along(static_cast<uint32_t>(drawn % edges.count()));
    if (!s->left && !s->distance) *readyToSend = No;
  }
  void recv(const SpreadMessage* m, const None*) {
    s->sum += m->value;
    if (m->step != time) ++s->other_step;
    if (!m->distance || !edges.count()) return;
    s->distance += 1u << 8 * (m->distance - 1);
    *readyToSend = OneEdge;
  }
  bool step() {
    s->history = mix(s->history + s->distance);
    if (time + 1 >= steps) return false;
    begin(time + 1);
    return true;
  }
};

/// The rows of the vertices first .. last - 1; targets are less `less`.
struct PartOfRows {
  std::vector<uint64_t> offsets;
  std::vector<uint32_t> targets;

  PartOfRows(const Wiring<None>::Side& side, uint32_t first, uint32_t last, uint32_t less) {
    for (uint32_t v = first; v <= last; ++v) offsets.push_back(side.offsets[v] - side.offsets[first]);
    for (uint64_t i = side.offsets[first]; i < side.offsets[last]; ++i) targets.push_back(side.targets[i] - less);
    targets.reserve(1);
  }
  Rows rows() const { return {offsets.data(), targets.data(), nullptr}; }
};

/// Runs on simulated ranks with the vertices cuts[r] .. cuts[r + 1] - 1.
template <typename V>
std::vector<SpreadState> runOnRanks(const Wiring<None>& wiring, const std::vector<SpreadState>& states,
                                    const std::vector<uint64_t>& cuts, uint64_t seed, const std::string& what,
                                    unsigned threads) {
  std::vector<SpreadState> found(states.size());
  const auto count = static_cast<unsigned>(cuts.size() - 1);
  SimulatedRanks net(count, seed, what);
  net.run([&](const gs_ranks* table) {
    const distributed::Ranks ranks(table, distributed::Waiting(false));
    const distributed::Ranges ranges(cuts.data(), nullptr, ranks);
    const auto first = static_cast<uint32_t>(cuts[ranks.rank()]);
    const auto last = static_cast<uint32_t>(cuts[ranks.rank() + 1]);
    const PartOfRows in(wiring.sides[0].in, first, last, first);
    const PartOfRows out(wiring.sides[0].out, first, last, 0);
    Problem<V> problem;
    problem.network.vertices = last - first;
    problem.network.relations.push_back({0, Rows{out.offsets.data(), nullptr, nullptr}, in.rows()});
    Network own;
    own.vertices = last - first;
    own.relations.push_back({0, out.rows(), Rows{}});
    Array<SpreadState> state(last - first);
    std::copy(states.begin() + first, states.begin() + last, state.data());
    Pool pool(threads);
    distributed::Run<V> run(problem, own, out.targets.data(), state, ranks, ranges, pool, nullptr);
    run.run();
    std::copy(state.data(), state.data() + state.size(), found.begin() + first);
  });
  return found;
}

/// A graph on which messages reach all ranks and return: a few long paths in random order, and some more edges.
Wiring<None> sparse(std::mt19937_64& random, uint32_t n) {
  std::vector<uint32_t> order(n);
  for (uint32_t v = 0; v < n; ++v) order[v] = v;
  if (random() % 3) std::shuffle(order.begin(), order.end(), random);
  std::vector<Wire<None>> list;
  for (uint32_t i = 0; i + 1 < n; ++i) {
    if (random() % 16) list.push_back({0, order[i], order[i + 1], {}});
  }
  for (uint64_t more = random() % (n + 1); more; --more) {
    list.push_back({0, static_cast<uint32_t>(random() % n), static_cast<uint32_t>(random() % n), {}});
  }
  return Wiring<None>(n, 1, std::move(list));
}

/// Random graphs, ranges of ranks and schedules, against `expected(wiring, states)`.
template <typename V, typename F>
void compareWith(F&& expected, unsigned cases, unsigned threads) {
  for (unsigned i = 0; i < cases && !check::failures; ++i) {
    const uint64_t seed = mix(check::seed + i);
    std::mt19937_64 random(seed);
    const auto count = static_cast<unsigned>(1 + random() % 5);
    const auto n = static_cast<uint32_t>(count + random() % (random() % 4 ? 20 : 200));
    Wiring<None> wiring = sparse(random, n);
    std::vector<uint64_t> cuts(n - 1);
    for (uint32_t v = 1; v < n; ++v) cuts[v - 1] = v;
    std::shuffle(cuts.begin(), cuts.end(), random);
    cuts.resize(count - 1);
    cuts.push_back(0);
    cuts.push_back(n);
    std::sort(cuts.begin(), cuts.end());
    std::vector<SpreadState> states(n);
    for (uint32_t v = 0; v < n; ++v) states[v] = {0, 0, v, 0, 0, 0};
    const std::string what = std::to_string(count) + " ranks, " + std::to_string(n) + " vertices, seed " +
                             std::to_string(check::seed) + " case " + std::to_string(i);
    const std::vector<SpreadState> plainly = expected(wiring, states);
    for (unsigned schedule = 0; schedule < 3 && !check::failures; ++schedule) {
      const std::vector<SpreadState> found = runOnRanks<V>(wiring, states, cuts, mix(seed + schedule), what, threads);
      for (uint32_t v = 0; v < n && !check::failures; ++v) {
        const std::string where = what + ", schedule " + std::to_string(schedule) + ", vertex " + std::to_string(v);
        if (found[v].other_step) check::failed(__FILE__, __LINE__, where + ": received a message of another step");
        if (found[v].history != plainly[v].history) check::failed(__FILE__, __LINE__, where + ": wrong distance");
        if (found[v].sum != plainly[v].sum) check::failed(__FILE__, __LINE__, where + ": wrong sum of messages");
      }
    }
  }
}

template <typename V>
std::vector<SpreadState> plainly(Wiring<None>& wiring, const std::vector<SpreadState>& states) {
  return plain<V>(wiring, states, {}).state;
}

/// For messages along one edge, which the plain loop does not have.
template <typename V>
std::vector<SpreadState> onCpu(Wiring<None>& wiring, const std::vector<SpreadState>& states) {
  return runOn<V>(wiring.network(), states, {}, 1).state;
}

}  // namespace

GS_TEST(steps_end_with_their_last_message) { compareWith<Spread>(plainly<Spread>, check::pick(60u, 200u, 8000u), 1); }

GS_TEST(steps_end_with_their_last_message_with_priorities) {
  compareWith<SpreadInOrder>(plainly<SpreadInOrder>, check::pick(20u, 80u, 3000u), 1);
}

GS_TEST(messages_along_one_edge_are_in_their_step) {
  compareWith<SpreadAlong>(onCpu<SpreadAlong>, check::pick(20u, 80u, 3000u), 1);
}

GS_TEST(messages_along_one_edge_need_no_others) {
  compareWith<TokensAlong>(onCpu<TokensAlong>, check::pick(20u, 80u, 3000u), 1);
}

GS_TEST(ranks_of_two_threads_have_the_same_results) {
  compareWith<Spread>(plainly<Spread>, check::pick(10u, 20u, 300u), 2);
}
