// SPDX-License-Identifier: Apache-2.0
/// What vertices read of their own edges (own_edges.h), and sends along one: the softswitch's end of that.
//
// The host has written for each vertex, behind its lists of edges, the address of a row, how many edges it has, and
// where there is room for its notes:
//
//   row -> for each edge the vertex that it leads to; then for each edge an AlongEdge; then the values, if any
//
// A message along an edge has an odd key, for lists of edges stand at even ones: 1 more than the place of the edge at
// its receiver. The key is as other messages' are: an address, or an offset in the receiver's table by key.
#pragma once

#include <gossamer/polite.h>
#include <stddef.h>
#include <stdint.h>
#include <tinsel.h>

namespace gossamer {

/// Where the message along an edge goes. To this thread itself: the key is 1 more than the edge's address.
struct AlongEdge {
  uint32_t thread;
  uint32_t key;
};

/// Nothing, for vertices without a member `edges`.
template <typename V>
class OwnEdges {
 public:
  static constexpr bool some = false;
  static constexpr uint32_t words = 0;  // of what the host has written behind a vertex's lists
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

  /// Fills in what a vertex sees; `its` is what the host has written for it.
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

  /// Notes are zeros at the start.
  INLINE void clear(V& vertex) {
    if constexpr (hasNotes) {
      for (uint32_t k = 0; k < vertex.edges.count_; ++k) vertex.edges.notes_[k] = N{};
    }
  }

  /// The edge that `send` has named, and where the message along it goes; nothing if the vertex has no such edge.
  INLINE uint32_t named(const V& vertex) { return vertex.edges.along_; }
  INLINE const AlongEdge* along(const V& vertex) {
    const auto& edges = vertex.edges;
    if (edges.along_ >= edges.count_) return nullptr;
    return reinterpret_cast<const AlongEdge*>(edges.targets_ + edges.count_) + edges.along_;
  }
};

}  // namespace gossamer
