// SPDX-License-Identifier: Apache-2.0
/// Core numbers: the largest k such that the vertex is in a subgraph whose vertices all have at least k
/// neighbours in it.
///
/// Peeling. Every second step finds the minimum number of remaining neighbours of a vertex; the
/// next step removes the vertices with that number. A vertex that drops to it as a consequence is removed
/// immediately, without a step. So there are two steps for each core number that occurs.
#pragma once

#include <gossamer/polite.h>

namespace kcore {

inline constexpr uint32_t Active = 0xffffffff;

struct State {
  uint32_t left;  // neighbours that are not removed
  uint32_t core;  // Active until it is removed
  uint32_t k;     // a vertex with at most this many neighbours left is removed
};

struct Totals {
  gossamer::Min<uint32_t> least;
  gossamer::Max<uint32_t> core;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, gossamer::None, gossamer::None, Totals> {
  void init() {}

  void send(gossamer::None*) { *readyToSend = gossamer::No; }

  void recv(const gossamer::None*, const gossamer::None*) {
    --s->left;
    if (s->core == Active && s->left <= s->k) remove();
  }

  bool step(const Totals& all, Totals& mine) {
    if (s->core != Active) {
      mine.core.give(s->core);
      return false;
    }
    if (time % 2 == 0) {
      mine.least.give(s->left);
      return true;
    }
    s->k = all.least.value();
    if (s->left <= s->k) remove();
    // true even if removed here: a later step must report the core, also of vertices that the cascade removes.
    return true;
  }

 private:
  void remove() {
    s->core = s->k;
    *readyToSend = gossamer::Pin(0);
  }
};

}  // namespace kcore

GOSSAMER_VERTEX(kcore::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace kcore {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "kcore";
  static constexpr const char* summary = "core numbers: the density of a subgraph that contains the vertex";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::simple;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) { s = {static_cast<uint32_t>(v.degree), Active, 0}; }

  void results(gossamer::Columns<State>& c) {
    c.add("core", "the largest k of a k-core that contains the vertex", [](const State& s) { return s.core; });
  }

  void totals(gossamer::Columns<Totals>& c) {
    c.add("degeneracy", "the largest core number", [](const Totals& t) { return t.core.value(); });
  }
};

}  // namespace kcore

GOSSAMER_APPLICATION(kcore::App)
#endif
