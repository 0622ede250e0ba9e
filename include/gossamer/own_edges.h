// SPDX-License-Identifier: Apache-2.0
/// A vertex that reads its own edges and sends along one of them.
///
///     struct Vertex : gossamer::PVertex<State, Edge, Message> {
///       gossamer::Edges<Edge> edges;   // engines fill it in before every handler
///       void init()           { *readyToSend = edges.count() ? gossamer::OneEdge : gossamer::No; }
///       void send(Message* m) { edges.along(s->next); ... }
///       ...
///     };
///
/// The edges are those of pin 0, in ascending order of the vertices that they lead to. What an
/// edge means does not change: a vertex knows whom it sends to, and what the edge's value is. A
/// second type is a note that the vertex keeps for each edge: zeros at the start, read and
/// written by its handlers alone.
///
/// All engines have this. A part of polite.h.
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

  /// How many edges there are; parallel ones count each.
  uint32_t count() const { return count_; }
  /// The index of the vertex that edge k leads to; ascending with k.
  uint32_t to(uint32_t k) const { return targets_[k]; }
  /// All of them, one after the other.
  const uint32_t* targets() const { return targets_; }
  const E& value(uint32_t k) const { return apart_ ? values_[k] : *values_; }
  N& note(uint32_t k) const { return notes_[k]; }
  /// Said in `send`: the message on OneEdge goes along edge k. Without it, along edge 0.
  void along(uint32_t k) { along_ = k; }

 private:
  template <typename V>
  friend class OwnEdges;

  const uint32_t* targets_ = nullptr;
  const E* values_ = nullptr;
  N* notes_ = nullptr;
  uint32_t count_ = 0;
  uint32_t along_ = 0;
  bool apart_ = false;  // each edge has a value of its own
};

namespace rules {

template <typename T>
inline constexpr bool isEdges = false;
template <typename E, typename N>
inline constexpr bool isEdges<Edges<E, N>> = true;

/// The vertex has a member `edges` that engines fill in.
template <typename V>
concept ReadsEdges = requires(V v) { requires isEdges<decltype(v.edges)>; };

}  // namespace rules
}  // namespace gossamer
