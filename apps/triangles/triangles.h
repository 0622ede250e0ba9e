// SPDX-License-Identifier: Apache-2.0
/// The number of triangles of a graph, each counted once.
///
/// Every pair of neighbours is one edge, from the vertex with fewer neighbours to the other. Then each triangle has
/// exactly one edge whose two ends have the third vertex as a common target.
#pragma once

#include "neighbours.h"

namespace triangles {

using State = neighbours::State;
using Totals = neighbours::Totals;

struct Vertex : neighbours::Vertex {};

}  // namespace triangles

GOSSAMER_VERTEX(triangles::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace triangles {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "triangles";
  static constexpr const char* summary = "the number of triangles";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::oriented;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) { s = {0, 0, static_cast<uint32_t>(v.degree)}; }

  void results(gossamer::Columns<State>& c) {
    c.add("counted", "triangles that were counted at this vertex, one of three",
          [](const State& s) { return s.common; });
  }

  void totals(gossamer::Columns<Totals>& c) {
    c.add("triangles", "of the whole graph", [](const Totals& t) { return t.common.value(); });
  }
};

}  // namespace triangles

GOSSAMER_APPLICATION(triangles::App)
#endif
