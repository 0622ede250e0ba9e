// SPDX-License-Identifier: Apache-2.0
/// Access of vertices to their own edges (own_edges.h), and sends along one edge: the softswitch's side.
//
// After the edge lists of each vertex, the host has written the address of a row, the number of edges, and the location
// of the vertex's notes:
//
//   row -> the destination vertex of each edge; then an AlongEdge for each edge; then the values, if any
//
// Edge lists have even keys, so a message along one edge has an odd key: the location of the edge at its receiver, plus
// 1. As for other messages, the location is an address, or an offset in the receiver's table by key.
#pragma once

#include <gossamer/polite.h>
#include <stddef.h>
#include <stdint.h>
#include <tinsel.h>

namespace gossamer {

/// Destination of a message along an edge. Within this thread, the key is the edge's address plus 1.
struct AlongEdge {
  uint32_t thread;
  uint32_t key;
};

/// Empty, for vertices without a member `edges`.
template <typename V>
class OwnEdges {
 public:
  static constexpr bool some = false;
  static constexpr uint32_t words = 0;  // that the host writes after a vertex's lists
  static constexpr uint32_t note = 0;   // bytes of a note
  INLINE void show(V&, const uint32_t*) {}
  INLINE void clear(V&) {}
};

template <typename V>
  requires rules::ReadsEdges<V>
class OwnEdges<V> {
  using E = typename V::Edge;
  using N = typename decltype(V::edges)::Note;
  static_assert(alignof(N) <= 8, "notes on edges may be aligned to at most 8 bytes");

 public:
  static constexpr bool some = true;
  static constexpr bool hasNotes = rules::KeepsNotes<V>;
  static constexpr uint32_t words = hasNotes ? 3 : 2;
  static constexpr uint32_t note = hasNotes ? sizeof(N) : 0;

  /// Sets a vertex's members; `its` are the words that the host has written for it.
  INLINE void show(V& vertex, const uint32_t* its) {
    auto& edges = vertex.edges;
    const uint32_t row = its[0], count = its[1];
    edges.targets_ = reinterpret_cast<const uint32_t*>(row);
    edges.count_ = count;
    edges.along_ = 0;
    edges.apart_ = true;
    constexpr uint32_t each = sizeof(uint32_t) + sizeof(AlongEdge);
    edges.values_ = reinterpret_cast<const E*>((row + each * count + alignof(E) - 1) & -alignof(E));
    if constexpr (hasNotes) edges.notes_ = reinterpret_cast<N*>(its[2]);
  }

  /// Clears the notes.
  INLINE void clear(V& vertex) {
    if constexpr (hasNotes) {
      for (uint32_t k = 0; k < vertex.edges.count_; ++k) vertex.edges.notes_[k] = N{};
    }
  }

  /// The edge that `send` has selected, and the destination of its message; none if the vertex has no such edge.
  INLINE uint32_t named(const V& vertex) { return vertex.edges.along_; }
  INLINE const AlongEdge* along(const V& vertex) {
    const auto& edges = vertex.edges;
    if (edges.along_ >= edges.count_) return nullptr;
    return reinterpret_cast<const AlongEdge*>(edges.targets_ + edges.count_) + edges.along_;
  }
};

}  // namespace gossamer
