// SPDX-License-Identifier: Apache-2.0
/// The base class of an application's descriptor, and its views of graph and vertices. Part of app.h.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "gossamer/app/columns.h"
#include "gossamer/app/parameters.h"
#include "gossamer/app/verdict.h"
#include "gossamer/app/wiring.h"

namespace gossamer {

struct GraphInfo {
  uint32_t vertices = 0;
  uint64_t edges = 0;
  bool weighted = false;
  double weightLow = 1;  // the range of the weights, in the file's units
  double weightHigh = 1;
};

struct VertexInfo {
  uint32_t index = 0;
  uint64_t degree = 0;  // edges that a message on pin 0 travels along
  uint32_t vertices = 0;
  uint64_t backward = 0;  // edges of pin 1, with the wiring `backward`
  /// The sum of the values of the edges of pin 0, if the application `sumsWeights`. Each value is multiplied by the
  /// application's member `double weightScale`, if it has one, so that sums do not overflow. A sum of 0 of values that
  /// are not all 0 is the smallest positive number.
  double weight = 0;
};

/// The states that a run starts with.
template <typename S>
class States {
 public:
  /// Passes further states, in order, to its argument, block by block.
  using Rest = std::function<void(const std::function<void(const S* states, uint64_t count)>&)>;

  States(const S* states, uint32_t vertices, const uint64_t* gone, Rest rest = {})
      : states_(states), vertices_(vertices), gone_(gone), rest_(std::move(rest)) {}

  /// Calls visit(state) for every vertex that is not removed.
  template <typename F>
  void each(F&& visit) const {
    for (uint32_t v = 0; v < vertices_; ++v) {
      if (!gone_ || !(gone_[v >> 6] >> (v & 63) & 1)) visit(states_[v]);
    }
    if (!rest_) return;
    rest_([&](const S* states, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) visit(states[i]);
    });
  }

 private:
  const S* states_;
  uint32_t vertices_;
  const uint64_t* gone_;  // one bit per removed vertex, or null: none is removed
  Rest rest_;             // the states of other ranks
};

/// The permitted difference between two right answers.
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

  /// Messages travel along edges in both directions, even if the graph is directed.
  static constexpr bool undirected = false;
  static constexpr Wiring wiring = Wiring::given;
  static constexpr bool sumsWeights = false;
  static constexpr Same same = Same::exact;
  static constexpr double tolerance = 0;
  /// An application for weights that do not fit this one's, named in the error for such a weight; or null.
  static constexpr const char* wider = nullptr;
  /// Applications for weights that are not integers, or null.
  static constexpr const char* fractional = nullptr;
  /// The calls of `init` are independent: none reads or writes data of another.
  static constexpr bool parallelInit = false;

  void parameters(Parameters&) {}
  Params params(const GraphInfo&) { return {}; }
  void begin(const GraphInfo&) {}
  Verdict verdict(const Outcome&) { return Verdict::answer(); }
  void totals(Columns<Aggregates>&) {}
};

}  // namespace gossamer
