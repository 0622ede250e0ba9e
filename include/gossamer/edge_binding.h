// SPDX-License-Identifier: Apache-2.0
/// The engines' side of a vertex's own edges; own_edges.h has the vertex's side.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "gossamer/core/guard.h"
#include "gossamer/core/memory.h"
#include "gossamer/engine.h"

namespace gossamer {

/// For vertices without a member `edges`: empty calls, without a cost at run time.
template <typename V>
class OwnEdges {
 public:
  static constexpr bool some = false;
  void open(const Network&, const typename V::Edge&) {}
  void show(V&, size_t) const {}
};

/// The edges of pin 0 by sender, and the vertices' notes on them.
template <typename V>
  requires rules::ReadsEdges<V>
class OwnEdges<V> {
  using E = typename V::Edge;
  using N = typename decltype(V::edges)::Note;

 public:
  static constexpr bool some = true;

  /// The network must have all edges by sender.
  void open(const Network& net, const E& unit) {
    for (size_t i = 0; i < net.relations.size(); ++i) {
      if (net.relations[i].pin != 0) continue;
      if (rows_) throw std::logic_error("pin 0 has two relations, but a vertex can read only one");
      rows_ = net.relations[i].out;
      relation_ = i;
    }
    if (!rows_) throw std::logic_error("the network has no edges by sender");
    unit_ = &unit;
    if constexpr (!std::is_empty_v<N>) notes_ = Array<N>(rows_.offsets[net.vertices]);
  }

  /// Points the member `edges` to the edges of vertex v.
  void show(V& vertex, size_t v) const {
    const uint64_t first = rows_.offsets[v];
    auto& edges = vertex.edges;
    edges.targets_ = rows_.targets + first;
    edges.count_ = static_cast<uint32_t>(rows_.ends[v] - first);
    edges.apart_ = rows_.values && !std::is_empty_v<E>;
    edges.values_ = edges.apart_ ? static_cast<const E*>(rows_.values) + first : unit_;
    if constexpr (!std::is_empty_v<N>) edges.notes_ = const_cast<N*>(notes_.data()) + first;
  }

  /// The edge that `send` of vertex v has selected, as its index in the rows of relation(). v plus `first`,
  /// modulo 2^32, is its index in the whole graph, for messages.
  uint64_t named(const V& vertex, uint32_t v, uint32_t first = 0) const {
    if (vertex.edges.along_ >= vertex.edges.count_) {
      throw ProgramError("the vertex of index " + std::to_string(v + first) + " sends along its edge " +
                         std::to_string(vertex.edges.along_) + ", but it has " + std::to_string(vertex.edges.count_) +
                         (vertex.edges.count_ == 1 ? " edge" : " edges"));
    }
    return rows_.offsets[v] + vertex.edges.along_;
  }

  size_t relation() const { return relation_; }

  /// The notes of all edges by sender, and the size of one.
  N* notes() { return notes_.data(); }
  static constexpr size_t noteBytes = std::is_empty_v<N> ? 0 : sizeof(N);

 private:
  Rows rows_;
  size_t relation_ = 0;
  const E* unit_ = nullptr;
  Array<N> notes_;
};

}  // namespace gossamer
