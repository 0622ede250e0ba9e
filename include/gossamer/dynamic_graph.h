// SPDX-License-Identifier: Apache-2.0
/// A network and its states, which a host changes between two parts of a run; for programs with a host (pgraph.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/dynamic_rows.h"
#include "gossamer/engine.h"

namespace gossamer {

/// The caller checks vertices and pins.
template <typename V>
class DynamicGraph {
  using S = typename V::State;
  using E = typename V::Edge;

 public:
  /// Copies the edges of a network whose relations are its pins, in order.
  DynamicGraph(Network& net, Array<S>& state) : net_(net), state_(state) {
    for (const Relation& r : net.relations) pins_.emplace_back(r.out, r.in, net.vertices, false);
  }
  DynamicGraph(const DynamicGraph&) = delete;
  DynamicGraph& operator=(const DynamicGraph&) = delete;

  bool isGone(uint32_t v) const { return vertices_.isGone(v); }
  uint32_t liveVertices() const { return net_.vertices - vertices_.removed(); }
  bool has(uint32_t from, unsigned pin, uint32_t to) const { return pin < pins_.size() && pins_[pin].has(from, to); }

  /// Appends a vertex, with the state S{}.
  uint32_t newVertex() {
    const uint32_t v = net_.vertices++;
    if (v >= state_.size()) {
      Array<S> larger(std::max<size_t>(64, state_.size() + state_.size() / 2));
      std::copy(state_.data(), state_.data() + v, larger.data());
      state_ = std::move(larger);
    }
    state_[v] = S{};
    for (auto& pin : pins_) pin.addVertices(1);
    vertices_.begin(v);
    return v;
  }

  void addEdge(const E& value, uint32_t from, unsigned pin, uint32_t to) {
    while (pin >= pins_.size()) {
      const std::vector<uint64_t> none(size_t{net_.vertices} + 1);
      const uint32_t target = 0;
      const E unit{};
      pins_.emplace_back(Rows(none.data(), &target, &unit), Rows{}, net_.vertices, false);
      if constexpr (rules::ConstantEdges<V>) pins_.back().needIn();
    }
    pins_[pin].add(one(from, to, value));
    markChanged(from, to);
  }

  /// Removes all edges from one vertex to another.
  void removeEdge(uint32_t from, unsigned pin, uint32_t to) {
    pins_[pin].remove(one(from, to, E{}));
    markChanged(from, to);
  }

  void removeVertex(uint32_t v) {
    for (auto& pin : pins_) pin.isolate(v, [this](uint32_t other) { vertices_.change(other); });
    vertices_.remove(v);
  }

  void wake(uint32_t v) { vertices_.change(v); }
  void reset(uint32_t v) {
    vertices_.begin(v);
    for (auto& pin : pins_) pin.sourcesOf(v, [this](uint32_t from) { vertices_.change(from); });
  }

  /// Points the network to the current edges; returns where the next part starts.
  Resumption wire() {
    net_.relations.clear();
    for (size_t p = 0; p < pins_.size(); ++p) {
      const Rows in = rules::ConstantEdges<V> ? pins_[p].in() : Rows{};
      net_.relations.push_back({static_cast<unsigned>(p), pins_[p].out(), in});
    }
    net_.removed = vertices_.removed();
    net_.gone = vertices_.gone(net_.vertices);
    return vertices_.take();
  }

 private:
  using Edge = typename DynamicEdges<E>::Edge;

  static std::vector<Edge> one(uint32_t from, uint32_t to, const E& value) {
    std::vector<Edge> edges(1);
    edges[0].at = from;
    edges[0].other = to;
    edges[0].value = value;
    return edges;
  }
  void markChanged(uint32_t from, uint32_t to) {
    vertices_.change(from);
    vertices_.change(to);
  }

  Network& net_;
  Array<S>& state_;
  std::vector<DynamicEdges<E>> pins_;
  VertexChanges vertices_;
};

}  // namespace gossamer
