// SPDX-License-Identifier: Apache-2.0
/// PageRank without barriers (globally asynchronous, locally synchronous): a vertex goes on to its next iteration as
/// soon as it has a message from each neighbour.
///
/// That takes edges that go both ways, as in the paper: a neighbour can then be one iteration ahead, never two, for it
/// waits for this vertex's message. So messages carry the last bit of their iteration, and there are two sums. The
/// scores are those of `pagerank` on the same graph after as many iterations.
#pragma once

#include <gossamer/polite.h>

namespace pagerank_gals {

struct Params {
  float base;  // (1 - damping) / vertices
  uint32_t iterations;
};

struct Message {
  float share;
  uint32_t odd;  // last bit of the iteration that it is of
};

/// What has come of an iteration.
struct Heard {
  float sum;
  uint32_t missing;  // messages that are still to come, and the vertex's own that is still to go
};

struct State {
  float score;
  float share;  // damping / degree
  uint32_t degree;
  uint32_t now;    // iterations done
  Heard heard[2];  // by the last bit of the iteration
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params> {
  /// A vertex alone hears nobody: every iteration gives it the same.
  void init() {
    if (s->degree == 0) {
      s->score = params->base;
    } else {
      *readyToSend = gossamer::Pin(0);
    }
  }

  void send(Message* message) {
    *message = {s->score * s->share, s->now & 1};
    *readyToSend = gossamer::No;
    oneLess(s->heard[s->now & 1]);
  }

  void recv(const Message* message, const gossamer::None*) {
    Heard& heard = s->heard[message->odd];
    heard.sum += message->share;
    oneLess(heard);
  }

  bool finish(Message* message) {
    *message = {s->score, 0};
    return true;
  }

 private:
  /// Ends the iteration if that was all. Of the next one this vertex has not sent yet, so that it cannot end first.
  void oneLess(Heard& heard) {
    if (--heard.missing != 0) return;
    s->score = params->base + heard.sum;
    heard = {0, s->degree + 1};
    if (++s->now < params->iterations) *readyToSend = gossamer::Pin(0);
  }
};

}  // namespace pagerank_gals

GOSSAMER_VERTEX(pagerank_gals::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace pagerank_gals {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "pagerank-gals";
  static constexpr const char* summary =
      "pagerank of the graph with its edges both ways, where vertices keep time by counting messages instead of by "
      "barriers";
  static constexpr bool undirected = true;
  static constexpr bool parallelInit = true;
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-3;

  double damping = 0.85;
  uint32_t iterations = 20;
  bool raw = false;

  void parameters(gossamer::Parameters& p) {
    p.real("damping", damping, 0, 0.9999, "share of a score that follows the edges");
    p.integer("iterations", iterations, 1, 1000000000, "do exactly so many");
    p.flag("raw", raw, "leave the scores as they are; else they are made to sum to 1");
  }

  Params params(const gossamer::GraphInfo& g) { return {static_cast<float>((1 - damping) / g.vertices), iterations}; }

  void init(const gossamer::VertexInfo& v, State& s) {
    s = {};
    s.score = static_cast<float>(1.0 / v.vertices);
    s.degree = static_cast<uint32_t>(v.degree);
    s.heard[0].missing = s.heard[1].missing = s.degree + 1;
    s.share = v.degree == 0 ? 0 : static_cast<float>(damping / static_cast<double>(v.degree));
  }

  void results(gossamer::Columns<State>& c) {
    c.add("rank", "score of the vertex", [](const State& s) { return s.score; }).normalised(!raw);
  }
};

}  // namespace pagerank_gals

GOSSAMER_APPLICATION(pagerank_gals::App)
#endif
