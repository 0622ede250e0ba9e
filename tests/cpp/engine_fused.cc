// SPDX-License-Identifier: Apache-2.0
/// The pass that pulls, steps and sends at once. The engine uses it only if the optimiser proves that
/// `recv` does not change *readyToSend, so this test is built with -O1 under its sanitizers; and it counts
/// that the pass was used.
#include "check.h"
#include "network.h"

using namespace gossamer;
using namespace test;

namespace {

// On one thread: how often a vertex stepped after a message that arrived after another vertex's step. A
// separate pass of `step` has no message in between.
uint64_t received = 0;
uint64_t receivedAtStep = 0;
uint64_t between = 0;
bool watched = false;

struct State {
  uint64_t id;
  uint64_t heard;  // since the last step; a sum, so order is free
  uint64_t chain;
  uint32_t received;
  uint32_t faults;
};

struct Params {
  uint32_t steps;
};

/// Every vertex sends in every step, or (E) every vertex except in the last steps.
template <typename E>
struct Vertex : PVertex<State, E, uint64_t, Params> {
  void init() { *this->readyToSend = Pin(0); }
  void send(uint64_t* message) {
    *message = mix(this->s->chain + this->s->id);
    *this->readyToSend = No;
  }
  void recv(const uint64_t* message, const E* edge) {
    if constexpr (std::is_empty_v<E>)
      this->s->heard += *message;
    else
      this->s->heard += *message * (2 * *edge + 1);
    ++this->s->received;
    if (watched) ++received;
  }
  bool step() {
    if (watched) {
      between += received != receivedAtStep;
      receivedAtStep = received;
    }
    this->s->faults += *this->readyToSend != No;
    this->s->chain = mix(this->s->chain * 3 + this->s->heard + this->time);
    this->s->heard = 0;
    if (this->time + 1 < this->params->steps) *this->readyToSend = Pin(0);
    return this->time + 1 < this->params->steps;
  }
  bool finish(uint64_t* message) {
    *message = this->s->chain;
    return true;
  }
};

template <typename E>
void same_as_the_plain_loop(Wiring<E>& wiring, uint32_t steps) {
  std::vector<State> start(wiring.vertices);
  for (uint32_t v = 0; v < wiring.vertices; ++v) start[v] = {v, 0, mix(v), 0, 0};
  watched = false;
  const auto judge = plain<Vertex<E>>(wiring, start, {steps});
  for (const unsigned threads : threadCounts) {
    watched = threads == 1;
    received = receivedAtStep = between = 0;
    const auto ran = runOn<Vertex<E>>(wiring.network(), start, {steps}, threads);
    watched = false;
    for (uint32_t v = 0; v < wiring.vertices; ++v) {
      CHECK_EQ(ran.state[v].chain, judge.state[v].chain);
      CHECK_EQ(ran.state[v].received, judge.state[v].received);
      CHECK_EQ(ran.state[v].faults, 0u);
    }
    CHECK_EQ(ran.stats.steps, judge.steps);
#ifdef __OPTIMIZE__
    // Without the pass it is at most one vertex per step.
    if (threads == 1) CHECK(between > uint64_t{wiring.vertices} / 2 * (steps - 2));
#endif
  }
}

}  // namespace

/// From the second pass on, rows of very different lengths are read in the order of their lengths.
GS_TEST(fused_pass_with_rows_of_many_lengths) {
  std::mt19937_64 random(check::seed);
  for (const uint32_t vertices : {70u, 1000u, 5000u}) {
    auto wiring = randomWiring<None>(random, vertices, 1, vertices * 6, noValue);
    same_as_the_plain_loop(wiring, 3 + static_cast<uint32_t>(random() % 4));
  }
}

GS_TEST(fused_pass_with_rows_of_one_length) {
  std::mt19937_64 random(check::seed);
  for (const uint32_t vertices : {64u, 129u, 4000u}) {
    std::vector<Wire<None>> list;
    for (uint32_t v = 0; v < vertices; ++v)
      for (int i = 0; i < 5; ++i) list.push_back({0, static_cast<uint32_t>(random() % vertices), v, {}});
    Wiring<None> wiring(vertices, 1, std::move(list));
    same_as_the_plain_loop(wiring, 5);
  }
}

GS_TEST(fused_pass_with_edge_values) {
  std::mt19937_64 random(check::seed);
  auto wiring = randomWiring<uint64_t>(random, 3000, 1, 20000, [](unsigned, std::mt19937_64& r) { return r(); });
  same_as_the_plain_loop(wiring, 5);
}
