// SPDX-License-Identifier: Apache-2.0
/// What an application's descriptor derives from, and what it is told of graph and vertices. A part of app.h.
#pragma once

#include <cstdint>

#include "gossamer/app/columns.h"
#include "gossamer/app/parameters.h"
#include "gossamer/app/verdict.h"
#include "gossamer/app/wiring.h"

namespace gossamer {

struct GraphInfo {
  uint32_t vertices = 0;
  uint64_t edges = 0;
  bool weighted = false;
  double weightLow = 1;  // the range of the weights, as the file has them
  double weightHigh = 1;
};

struct VertexInfo {
  uint32_t index = 0;
  uint64_t degree = 0;  // edges that a message on pin 0 travels along
  uint32_t vertices = 0;
  uint64_t backward = 0;  // those of pin 1, where the wiring has it
  double weight = 0;      // the sum of the values of the edges of pin 0, where the application `sumsWeights`
};

/// What two right answers may differ in.
enum class Same {
  exact,   // every value the same
  within,  // |a - b| <= tolerance * max(|a|, |b|, largest value / vertices)
};

/// Base of every descriptor: names the vertex's types and the defaults.
template <typename V>
struct Application {
  using Vertex = V;
  using State = typename V::State;
  using Edge = typename V::Edge;
  using Message = typename V::Message;
  using Params = typename V::Params;
  using Aggregates = typename V::Aggregates;
  using Outcome = gossamer::Outcome<State, Aggregates>;

  /// Messages travel along edges both ways, whatever the file says.
  static constexpr bool undirected = false;
  static constexpr Wiring wiring = Wiring::given;
  static constexpr bool sumsWeights = false;
  static constexpr Same same = Same::exact;
  static constexpr double tolerance = 0;
  /// The application that takes weights which do not fit this one's, named where one is refused; or null.
  static constexpr const char* wider = nullptr;
  /// And those that take weights which are no whole numbers, or null.
  static constexpr const char* fractional = nullptr;
  /// `init` of a vertex neither reads nor writes what `init` of another does.
  static constexpr bool parallelInit = false;

  void parameters(Parameters&) {}
  Params params(const GraphInfo&) { return {}; }
  void begin(const GraphInfo&) {}
  Verdict verdict(const Outcome&) { return Verdict::answer(); }
  void totals(Columns<Aggregates>&) {}
};

}  // namespace gossamer
