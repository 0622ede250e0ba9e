// SPDX-License-Identifier: Apache-2.0
/// The number of triangles that each vertex is part of, and its clustering coefficient: the share of
/// pairs of its neighbours that are themselves neighbours.
#pragma once

#include "../triangles/neighbours.h"

GOSSAMER_VERTEX(neighbours::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace clustering {

using State = neighbours::State;
using Totals = neighbours::Totals;

struct App : gossamer::Application<neighbours::Vertex> {
  static constexpr const char* name = "clustering";
  static constexpr const char* summary = "triangles and clustering coefficient of every vertex";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::simple;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) { s = {0, 0, static_cast<uint32_t>(v.degree)}; }

  /// Each triangle is reported by both other vertices.
  void results(gossamer::Columns<State>& c) {
    c.add("triangles", "triangles that contain the vertex", [](const State& s) { return s.common / 2; });
    c.add("clustering", "share of pairs of its neighbours that are neighbours; 0 with fewer than two",
          [](const State& s) {
            const double degree = s.degree;
            return s.degree < 2 ? 0.0 : static_cast<double>(s.common) / (degree * (degree - 1));
          });
  }

  /// Each of its three vertices counts a triangle twice.
  void totals(gossamer::Columns<Totals>& c) {
    c.add("triangles", "of the whole graph", [](const Totals& t) { return t.common.value() / 6; });
  }
};

}  // namespace clustering

GOSSAMER_APPLICATION(clustering::App)
#endif
