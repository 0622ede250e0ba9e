// SPDX-License-Identifier: Apache-2.0
/// A vertex that reads its own edges and sends along one of them.
///
///     struct Vertex : gossamer::PVertex<State, Edge, Message> {
///       gossamer::Edges<Edge> edges;   // engines set it before every handler
///       void init()           { *readyToSend = edges.count() ? gossamer::OneEdge : gossamer::No; }
///       void send(Message* m) { edges.along(s->next); ... }
///       ...
///     };
///
/// The edges are those of pin 0, in ascending order of their target vertices. Targets and edge
/// values do not change during a run. The second type is a note that the vertex stores for each
/// edge: zero at the start, read and written only by its handlers.
///
/// All engines support this. Included by polite.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace gossamer {

/// The edges of a vertex. E is the vertex's edge type, N the type of its notes.
template <typename E = None, typename N = None>
class Edges {
 public:
  using Value = E;
  using Note = N;

  /// The number of edges; parallel edges count separately.
  uint32_t count() const { return count_; }
  /// The index of the vertex that edge k leads to; ascending with k.
  uint32_t to(uint32_t k) const { return targets_[k]; }
  /// The targets of all edges, consecutively.
  const uint32_t* targets() const { return targets_; }
  /// The number of edges to vertices of smaller indices: the first edge to `vertex`, if there is one.
  uint32_t first(uint32_t vertex) const {
    uint32_t low = 0;
    for (uint32_t count = count_; count > 0;) {
      const uint32_t half = (count + 1) / 2;
      low += targets_[low + half - 1] < vertex ? half : 0;
      count -= half;
    }
    return low;
  }
  const E& value(uint32_t k) const { return apart_ ? values_[k] : *values_; }
  N& note(uint32_t k) const { return notes_[k]; }
  /// Called in `send`: the message on OneEdge travels along edge k. Default: edge 0.
  void along(uint32_t k) { along_ = k; }

 private:
  template <typename V>
  friend class OwnEdges;

  const uint32_t* targets_ = nullptr;
  const E* values_ = nullptr;
  N* notes_ = nullptr;
  uint32_t count_ = 0;
  uint32_t along_ = 0;
  bool apart_ = false;  // each edge has its own value
};

namespace rules {

template <typename T>
inline constexpr bool isEdges = false;
template <typename E, typename N>
inline constexpr bool isEdges<Edges<E, N>> = true;

/// The vertex has a member `edges` that engines set.
template <typename V>
concept ReadsEdges = requires(V v) { requires isEdges<decltype(v.edges)>; };

}  // namespace rules
}  // namespace gossamer
