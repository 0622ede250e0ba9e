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
#pragma once

#include <gossamer/accumulator.h>
#include <gossamer/polite.h>

namespace pagerank_gals {

struct Params {
  float base;  // (1 - damping) / vertices
  uint32_t iterations;
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
  float score;
  float share;  // damping / degree
  float alone;  // the score of an isolated vertex after as many iterations
  uint32_t degree;
  uint32_t now;    // completed iterations
  Inbox inbox[2];  // by the parity of the iteration
};

/// The score of an isolated vertex after an iteration: what every vertex has without its in-edges.
inline float next(float alone, const Params& params) { return params.base + params.spread * alone; }

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params> {
  /// A vertex without neighbours receives nothing.
  void init() {
    if (s->degree == 0) {
      s->score = params->alone;
    } else {
      *readyToSend = gossamer::Pin(0);
    }
  }

  void send(Message* message) {
    *message = {s->score * s->share, s->now & 1};
    *readyToSend = gossamer::No;
    countDown(s->inbox[s->now & 1]);
  }

  void recv(const Message* message, const gossamer::None*) {
    Inbox& inbox = s->inbox[message->odd];
    inbox.sum.add(message->share);
    countDown(inbox);
  }

  bool finish(Message* message) {
    *message = {s->score, 0};
    return true;
  }

 private:
  /// Ends the iteration when no message is missing. The next one cannot end first: this vertex has not sent in it.
  void countDown(Inbox& inbox) {
    if (--inbox.missing != 0) return;
    s->alone = next(s->alone, *params);
    s->score = static_cast<float>(s->alone + inbox.sum.value());
    inbox.sum.clear();
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
    return {static_cast<float>((1 - damping) / g.vertices), iterations, 0, 0};
  }

  void complete(Params& p, const gossamer::States<State>& all) {
    uint32_t isolated = 0;
    float alone = 1;
    all.each([&](const State& s) {
      isolated += s.degree == 0 ? 1 : 0;
      alone = s.score;  // the same at all vertices
    });
    if (!raw) p.spread = static_cast<float>(damping * isolated * static_cast<double>(alone));
    for (uint32_t k = 0; k < iterations; ++k) {
      const float before = std::exchange(alone, next(alone, p));
      if (alone == before) break;
    }
    p.alone = alone;
  }

  void init(const gossamer::VertexInfo& v, State& s) {
    s = {};
    s.score = s.alone = static_cast<float>(1.0 / v.vertices);
    s.degree = static_cast<uint32_t>(v.degree);
    s.inbox[0].missing = s.inbox[1].missing = s.degree + 1;
    s.share = v.degree == 0 ? 0 : static_cast<float>(damping / static_cast<double>(v.degree));
  }

  void results(gossamer::Columns<State>& c) {
    c.add("rank", "score of the vertex", [](const State& s) { return s.score; }).normalised(!raw);
  }
};

}  // namespace pagerank_gals

GOSSAMER_APPLICATION(pagerank_gals::App)
#endif
