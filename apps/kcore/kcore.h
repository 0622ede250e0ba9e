// SPDX-License-Identifier: Apache-2.0
/// Core numbers: the greatest k such that the vertex is in a subgraph of vertices that all have k
/// neighbours in it.
///
/// Peeling. Every second step finds the least number of neighbours that a vertex has left; the
/// next step removes those that have no more, and whoever falls as low by it goes at once,
/// without a step. So there are two steps for each core number that occurs.
#pragma once

#include <gossamer/polite.h>

namespace kcore {

inline constexpr uint32_t Stays = 0xffffffff;

struct State {
  uint32_t left;  // neighbours that are not removed
  uint32_t core;  // Stays until it is removed
  uint32_t k;     // whoever has no more neighbours is removed now
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
    if (s->core == Stays && s->left <= s->k) remove();
  }

  bool step(const Totals& all, Totals& mine) {
    if (s->core != Stays) {
      mine.core.give(s->core);
      return false;
    }
    if (time % 2 == 0) {
      mine.least.give(s->left);
      return true;
    }
    s->k = all.least.value();
    if (s->left <= s->k) remove();
    // Who goes in the cascade behind this step is asked once more: it tells its core there.
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
  static constexpr const char* summary = "core numbers: how dense a subgraph the vertex is part of";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::simple;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) { s = {static_cast<uint32_t>(v.degree), Stays, 0}; }

  void results(gossamer::Columns<State>& c) {
    c.add("core", "the greatest k of a k-core with the vertex", [](const State& s) { return s.core; });
  }

  void totals(gossamer::Columns<Totals>& c) {
    c.add("degeneracy", "the greatest core number", [](const Totals& t) { return t.core.value(); });
  }
};

}  // namespace kcore

GOSSAMER_APPLICATION(kcore::App)
#endif
