// SPDX-License-Identifier: Apache-2.0
/// Betweenness from samples: over how many shortest paths a vertex lies (Brandes), from some sources.
///
/// One source after the other. A step is a level: outwards, each vertex adds up how many shortest
/// paths lead to it; back again, what its successors depend on it. All vertices know which step it
/// is, since the aggregate tells when a level reached nobody new.
#pragma once

#include <gossamer/polite.h>

namespace betweenness {

inline constexpr uint32_t None = 0xffffffff;

struct State {
  double paths;    // shortest ones from the source
  double depends;  // of all targets behind it, the share of paths that lead through it
  double sum;      // of that over all sources
  uint32_t level;
  uint32_t turn;   // it is this source, or None
  // The same at all vertices:
  uint32_t now;    // the source of this turn
  uint32_t depth;  // the level that has sent last
  bool back;
};

struct Params {
  uint32_t sources;
};

struct Totals {
  gossamer::Sum<uint32_t> fresh;  // vertices reached in this step
};

struct Vertex : gossamer::PVertex<State, gossamer::None, double, Params, Totals> {
  void init() { begin(); }

  void send(double* message) {
    *message = s->back ? (1 + s->depends) / s->paths : s->paths;
    *readyToSend = gossamer::No;
  }

  void recv(const double* message, const gossamer::None*) {
    if (s->back) {
      if (s->level != None && s->level + 1 == s->depth) s->depends += s->paths * *message;
    } else if (s->level > s->depth) {
      s->level = s->depth + 1;
      s->paths += *message;
    }
  }

  bool step(const Totals& all, Totals& mine) {
    if (s->back) {
      --s->depth;
    } else if (s->depth > 0 && all.fresh.value() == 0) {
      --s->depth;  // nobody is at the level that should have sent last
      s->back = true;
    } else {
      ++s->depth;
      if (s->level == s->depth) {
        // More than can be counted: said here, since all that comes back from this vertex would be 0.
        if (!__builtin_isfinite(s->paths)) s->sum = s->paths;
        mine.fresh.give(1);
        *readyToSend = gossamer::Pin(0);
      }
      return true;
    }
    if (s->depth > 0) {
      if (s->level == s->depth) *readyToSend = gossamer::Pin(1);
      return true;
    }
    if (s->level != 0) s->sum += s->depends;
    ++s->now;
    begin();
    return s->now < params->sources;
  }

 private:
  void begin() {
    const bool source = s->turn == s->now && s->now < params->sources;
    s->level = source ? 0 : None;
    s->paths = source ? 1 : 0;
    s->depends = 0;
    s->depth = 0;
    s->back = false;
    if (source) *readyToSend = gossamer::Pin(0);
  }
};

}  // namespace betweenness

GOSSAMER_VERTEX(betweenness::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

#include <algorithm>
#include <cmath>

namespace betweenness {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "betweenness";
  static constexpr const char* summary = "over how many shortest paths a vertex lies, from a sample of sources";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::backward;
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-9;
  static constexpr bool parallelInit = true;

  uint32_t sources = 16;
  uint32_t vertices = 1;

  void parameters(gossamer::Parameters& p) {
    p.integer("sources", sources, 1, 4294967294, "how many sources, spaced evenly over the vertices");
  }

  void begin(const gossamer::GraphInfo& g) {
    vertices = g.vertices;
    sources = std::min(sources, vertices);
  }

  Params params(const gossamer::GraphInfo&) { return {sources}; }

  /// Source k is vertex k * n / sources, rounded down.
  void init(const gossamer::VertexInfo& v, State& s) {
    const uint64_t n = v.vertices;
    const auto k = static_cast<uint32_t>((uint64_t{v.index} * sources + n - 1) / n);
    s = State{};
    s.turn = k < sources && uint64_t{k} * n / sources == v.index ? k : None;
  }

  gossamer::Verdict verdict(const Outcome& run) {
    for (const State& s : run) {
      if (std::isfinite(s.sum)) continue;
      return gossamer::Verdict::overflow("there are more shortest paths than double precision counts")
          .at(static_cast<uint32_t>(&s - run.begin()));
    }
    return gossamer::Verdict::answer();
  }

  void results(gossamer::Columns<State>& c) {
    const double each = static_cast<double>(vertices) / sources;
    c.add("betweenness", "sum over pairs of other vertices of the share of shortest paths through it, scaled up "
                         "from the sample",
          [each](const State& s) { return s.sum * each; });
  }
};

}  // namespace betweenness

GOSSAMER_APPLICATION(betweenness::App)
#endif
