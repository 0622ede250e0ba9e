// SPDX-License-Identifier: Apache-2.0
/// Programs with their own host code: build a graph, run it, exchange messages with it.
///
///     gossamer::PGraph<Vertex> graph;
///     auto a = graph.newVertex(), b = graph.newVertex();
///     graph.addLabelledEdge(7, a, 0, b);
///     graph.state(a).distance = 0;
///     auto job = graph.start();
///     while (auto message = job.recv()) ...
///
/// `./gossamer run host.cpp` compiles such a program and runs it. The command's
/// options select the engine, through GOSSAMER_ENGINE, GOSSAMER_THREADS and
/// GOSSAMER_SEED in the program's environment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/engine.h"
#include "gossamer/pgraph/config.h"
#include "gossamer/pgraph/job.h"

namespace gossamer {

/// Vertices of type V, their edges by pin, and their initial states.
template <typename V>
class PGraphOf {
  static_assert(rules::Check<V>::passed);

 public:
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using P = typename V::Params;

  PGraphOf() { detail::reportUncaught(); }

  /// The run parameters, the same for every vertex.
  P params{};

  /// Adds a vertex, with the state S{}.
  PVertexId newVertex() {
    if (states_.size() >= 0xfffffffe) throw Error("newVertex: a graph has at most 4294967294 vertices");
    states_.push_back(S{});
    fan_out_.push_back(0);
    fan_in_.push_back(0);
    return static_cast<PVertexId>(states_.size() - 1);
  }

  /// Adds an edge with the value E{}. Throws Error for a vertex that does not exist
  /// or a pin above the last.
  void addEdge(PVertexId from, unsigned pin, PVertexId to) { addLabelledEdge(E{}, from, pin, to); }

  void addLabelledEdge(const E& value, PVertexId from, unsigned pin, PVertexId to) {
    check("addEdge", from);
    check("addEdge", to);
    detail::checkPin(pin);
    if (pin >= pins_.size()) pins_.resize(pin + 1);
    ++fan_out_[from];
    ++fan_in_[to];
    pins_[pin].from.push_back(from);
    pins_[pin].to.push_back(to);
    if constexpr (!std::is_empty_v<E>) pins_[pin].value.push_back(value);
  }

  /// The initial state of a vertex. The reference lasts until newVertex().
  S& state(PVertexId v) {
    check("state", v);
    return states_[v];
  }

  uint32_t numVertices() const { return static_cast<uint32_t>(states_.size()); }

  /// Edges out of and into a vertex, over all pins.
  uint32_t fanOut(PVertexId v) const {
    check("fanOut", v);
    return fan_out_[v];
  }
  uint32_t fanIn(PVertexId v) const {
    check("fanIn", v);
    return fan_in_[v];
  }

  /// Starts a run on the current states and edges. Throws Error.
  Job<V> start(const RunConfig& config = RunConfig::fromEnvironment()) const {
#ifdef GOSSAMER_BOARDS
    if (config.engine == "rtl") return onBoards();
#endif
    auto run = std::make_unique<typename Job<V>::Running>();
    run->config = config;
    run->problem.params = params;
    run->problem.host = &run->queues;
    wire(*run);
    run->state = Array<S>(states_.size());
    for (size_t v = 0; v < states_.size(); ++v) run->state[v] = states_[v];

    run->begin();
    return Job<V>(std::move(run));
  }

 private:
  struct Edges {
    std::vector<PVertexId> from;
    std::vector<PVertexId> to;
    std::vector<E> value;  // empty when E is
  };

#ifdef GOSSAMER_BOARDS
  /// The vertex's type, spelled as in its source; the mapper compiles it for the threads.
  static std::string typeName() {
    const std::string text = __PRETTY_FUNCTION__;  // ... [with V = Name; ...]
    const size_t begin = text.find("V = ") + 4;
    return text.substr(begin, text.find_first_of(";]", begin) - begin);
  }

  Job<V> onBoards() const {
    auto run = std::make_unique<typename Job<V>::Running>();
    wire(*run);
    run->state = Array<S>(states_.size());
    for (size_t v = 0; v < states_.size(); ++v) run->state[v] = states_[v];
    run->problem.params = params;
    run->type = typeName();
    try {
      run->boards = std::make_unique<host::Job>(run->onBoards(), run->state.data());
    } catch (const std::runtime_error& e) {
      throw Error(e.what());
    }
    return Job<V>(std::move(run));
  }
#endif

  void check(const char* what, PVertexId v) const { detail::checkVertex(what, v, states_.size()); }

  /// Both directions of every pin. If recv may change edge values, only the rows by
  /// sender, so that each value is stored once.
  void wire(typename Job<V>::Running& run) const {
    Network& net = run.problem.network;
    net.vertices = numVertices();
    net.edgesHaveValues = !std::is_empty_v<E>;
    // A graph without an edge still has pin 0.
    for (size_t p = 0; p < std::max<size_t>(1, pins_.size()); ++p) {
      static const Edges none;
      const Edges& edges = p < pins_.size() ? pins_[p] : none;
      Relation relation;
      relation.pin = static_cast<unsigned>(p);
      relation.out = rows(run, edges, edges.from, edges.to);
      if constexpr (rules::ConstantEdges<V>) relation.in = rows(run, edges, edges.to, edges.from);
      net.relations.push_back(relation);
    }
  }

  /// Edges by `at`, ascending by `other` within a row; parallel edges in the order of their addition.
  Rows rows(typename Job<V>::Running& run, const Edges& edges, const std::vector<PVertexId>& at,
            const std::vector<PVertexId>& other) const {
    std::vector<uint64_t> order(at.size());
    std::iota(order.begin(), order.end(), uint64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](uint64_t a, uint64_t b) { return at[a] != at[b] ? at[a] < at[b] : other[a] < other[b]; });
    Array<uint64_t> offsets(states_.size() + 1);
    for (const PVertexId v : at) ++offsets[v + 1];
    for (size_t v = 0; v < states_.size(); ++v) offsets[v + 1] += offsets[v];
    Array<uint32_t> targets(std::max<size_t>(1, order.size()));
    for (size_t i = 0; i < order.size(); ++i) targets[i] = other[order[i]];
    Rows result{offsets.data(), targets.data(), nullptr};
    if constexpr (!std::is_empty_v<E>) {
      Array<E> values(std::max<size_t>(1, order.size()));
      for (size_t i = 0; i < order.size(); ++i) values[i] = edges.value[order[i]];
      result.values = values.data();
      run.values.push_back(std::move(values));
    }
    run.offsets.push_back(std::move(offsets));
    run.targets.push_back(std::move(targets));
    return result;
  }

  std::vector<S> states_;
  std::vector<uint32_t> fan_out_;
  std::vector<uint32_t> fan_in_;
  std::vector<Edges> pins_;
};

/// PGraph<Vertex>, or in the papers' form PGraph<Vertex, State, Edge, Message>.
template <typename V, typename S = typename V::State, typename E = typename V::Edge, typename M = typename V::Message>
class PGraph : public PGraphOf<V> {
  static_assert(std::is_same_v<S, typename V::State> && std::is_same_v<E, typename V::Edge> &&
                    std::is_same_v<M, typename V::Message>,
                "the types of the graph differ from those of its vertex");
};

}  // namespace gossamer
