// SPDX-License-Identifier: Apache-2.0
/// PageRank without barriers (globally asynchronous, locally synchronous): a vertex starts its next iteration as
/// soon as it has a message from each neighbour.
///
/// This requires edges in both directions, as in the paper: a neighbour can then be at most one iteration ahead, since
/// it waits for this vertex's message. So messages carry the parity of their iteration, and there are two sums. The
/// scores equal those of `pagerank` on the same graph after the same number of iterations.
///
/// The mass of vertices without neighbours is distributed without a global sum: they all have one score, which every
/// vertex computes for itself from their number.
///
/// States have 24 bytes on a board, of which a message accesses 8 in one line of the cache. So a vertex has no score:
/// while it has not sent in an iteration, no neighbour can send in the next one, and the sum of the previous iteration
/// remains in the inbox of the next.
#pragma once

#include <gossamer/accumulator.h>
#include <gossamer/polite.h>

namespace pagerank_gals {

struct Params {
  float base;  // (1 - damping) / vertices
  float damping;
  uint32_t iterations;
  float first;   // the score of every vertex before the first iteration
  float spread;  // damping / vertices * number of isolated vertices; raw: 0
  float alone;   // the last score of an isolated vertex
};

struct Message {
  float share;
  uint32_t odd;  // parity of the message's iteration
};

/// The messages of an iteration.
struct Inbox {
  gossamer::Accumulator sum;
  uint32_t missing;  // messages not yet received, plus one for the vertex's own if not yet sent
};

struct State {
  uint32_t degree;
  uint32_t now;    // completed iterations
  Inbox inbox[2];  // by the parity of the iteration
};

/// The score of an isolated vertex after an iteration: what every vertex has without its in-edges.
inline float next(float alone, const Params& params) { return params.base + params.spread * alone; }

/// The same after some iterations: their fixed point, and what remains of the distance to it. Not inlined, so that the
/// loop over a message's receivers has all registers.
[[gnu::noinline, gnu::cold]] inline float aloneAfter(uint32_t iterations, const Params& params) {
  const float fixed = params.base / (1 - params.spread);
  float left = params.first - fixed;
  for (float power = params.spread; iterations; iterations >>= 1, power *= power) {
    if (iterations & 1) left *= power;
  }
  return fixed + left;
}

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params> {
  /// A vertex without neighbours receives nothing.
  void init() {
    if (s->degree != 0) *readyToSend = gossamer::Pin(0);
  }

  void send(Message* message) {
    const float share = params->damping / static_cast<float>(s->degree);
    *message = {score() * share, s->now & 1};
    previous().sum.clear();
    *readyToSend = gossamer::No;
    countDown(s->inbox[s->now & 1]);
  }

  void recv(const Message* message, const gossamer::None*) {
    Inbox& inbox = s->inbox[message->odd];
    inbox.sum.add(message->share);
    countDown(inbox);
  }

  /// The score replaces the sum of the first inbox, for the results.
  bool finish(Message* message) {
    const float last = s->degree != 0 ? score() : params->alone;
    s->inbox[0].sum.clear();
    s->inbox[0].sum.add(last);
    *message = {last, 0};
    return true;
  }

 private:
  /// The inbox of the iteration before, and of the one after. It has the messages of the former until the vertex sends.
  Inbox& previous() { return s->inbox[~s->now & 1]; }
  float score() {
    const auto sum = s->now != 0 ? previous().sum.value() : gossamer::Accumulator::Number{0};
    float alone = s->now != 0 ? params->base : params->first;
    if (__builtin_expect(params->spread != 0, 0)) alone = aloneAfter(s->now, *params);
    return static_cast<float>(alone + sum);
  }

  /// Ends the iteration when no message is missing. The next one cannot end first: this vertex has not sent in it.
  void countDown(Inbox& inbox) {
    if (--inbox.missing != 0) return;
    inbox.missing = s->degree + 1;
    if (++s->now < params->iterations) *readyToSend = gossamer::Pin(0);
  }
};

}  // namespace pagerank_gals

GOSSAMER_VERTEX(pagerank_gals::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

#include <utility>

namespace pagerank_gals {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "pagerank-gals";
  static constexpr const char* summary =
      "pagerank of the undirected graph, where vertices synchronise by counting messages instead of by barriers";
  static constexpr bool undirected = true;
  static constexpr bool parallelInit = true;
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-3;

  double damping = 0.85;
  uint32_t iterations = 20;
  bool raw = false;

  void parameters(gossamer::Parameters& p) {
    p.real("damping", damping, 0, 0.9999, "share of a score that follows the edges");
    p.integer("iterations", iterations, 1, 1000000000, "number of iterations");
    p.flag("raw", raw, "omit the mass of vertices without neighbours, and do not normalise the scores to a sum of 1");
  }

  Params params(const gossamer::GraphInfo& g) {
    const auto first = static_cast<float>(1.0 / g.vertices);
    return {static_cast<float>((1 - damping) / g.vertices), static_cast<float>(damping), iterations, first, 0, first};
  }

  void complete(Params& p, const gossamer::States<State>& all) {
    uint32_t isolated = 0;
    all.each([&](const State& s) { isolated += s.degree == 0 ? 1 : 0; });
    if (!raw) p.spread = static_cast<float>(damping * isolated * static_cast<double>(p.first));
    for (uint32_t k = 0; k < iterations; ++k) {
      const float before = std::exchange(p.alone, next(p.alone, p));
      if (p.alone == before) break;
    }
  }

  void init(const gossamer::VertexInfo& v, State& s) {
    s = {};
    s.degree = static_cast<uint32_t>(v.degree);
    s.inbox[0].missing = s.inbox[1].missing = s.degree + 1;
  }

  void results(gossamer::Columns<State>& c) {
    c.add("rank", "score of the vertex", [](const State& s) {
       return static_cast<float>(s.inbox[0].sum.value());
     }).normalised(!raw);
  }
};

}  // namespace pagerank_gals

GOSSAMER_APPLICATION(pagerank_gals::App)
#endif
