// SPDX-License-Identifier: Apache-2.0
/// The number of triangles that each vertex is part of, and its clustering coefficient: the share of
/// pairs of its neighbours that are themselves neighbours.
///
/// Every pair of neighbours is one edge, from the lower vertex, with fewer neighbours, to the upper. A vertex sends the
/// list of its upper neighbours to its lower ones, split into messages. A vertex that receives a list is the lowest of
/// the triangles that it finds: it counts them for itself and, in notes on its edges, for the other two vertices, and
/// then sends each note along its edge. Lists have at most sqrt(2 m) entries in a graph of m edges, also at a hub; the
/// work is that of finding each triangle once.
///
/// CLUSTERING_DIRECTED: Fagiolo's coefficient of directed graphs. A pair that is connected in both directions counts
/// as two edges, so three vertices form up to eight triangles.
#pragma once

#include <gossamer/polite.h>

namespace clustering {

inline constexpr uint32_t PerMessage = 13;
inline constexpr uint32_t NoVertex = 0xffffffff;

#ifdef CLUSTERING_DIRECTED
using Edge = gossamer::Directions;
using Count = uint64_t;
#else
using Edge = gossamer::None;
using Count = uint32_t;
#endif

struct State {
  uint64_t triangles;
  uint32_t sent;    // neighbours, later edges, that it has sent or skipped
  uint32_t degree;  // number of neighbours
  uint32_t edges;   // directed edges to and from them
  uint32_t self;
};

struct Message {
  uint32_t from;            // NoVertex: `of` has a number of triangles, the low half first
  uint32_t both;            // one bit for each neighbour in `of`: connected in both directions
  uint32_t of[PerMessage];  // ascending
};

struct Totals {
  gossamer::Sum<uint64_t> triangles;
};

struct Vertex : gossamer::PVertex<State, Edge, Message, gossamer::None, Totals> {
  gossamer::Edges<Edge, Count> edges;

  void init() { *readyToSend = edges.count() > 0 ? gossamer::Pin(1) : gossamer::No; }

  void send(Message* message) {
    if (time == 0) {
      sendNeighbours(*message);
    } else {
      sendCount(*message);
    }
  }

  void recv(const Message* message, const Edge* edge) {
    if (message->from != NoVertex) return search(*message);
    s->triangles += message->of[0] | uint64_t{message->of[1]} << 32;
    ++s->degree;
    s->edges += directions(*edge);
  }

  bool step(const Totals&, Totals& mine) {
    if (time > 0) {
      mine.triangles.give(s->triangles);
      return false;
    }
    s->sent = 0;
    s->degree += edges.count();
    for (uint32_t k = 0; k < edges.count(); ++k) s->edges += directions(edges.value(k));
    if (edges.count() > 0) *readyToSend = gossamer::OneEdge;
    return true;
  }

 private:
  static uint32_t directions(const gossamer::None&) { return 1; }
  static uint32_t directions(const gossamer::Directions& edge) { return edge.count; }

  void sendNeighbours(Message& message) {
    message.from = s->self;
    message.both = 0;
    for (uint32_t i = 0; i < PerMessage; ++i, ++s->sent) {
      const bool there = s->sent < edges.count();
      message.of[i] = there ? edges.to(s->sent) : NoVertex;
      message.both |= (there && directions(edges.value(s->sent)) == 2 ? 1U : 0U) << i;
    }
    if (s->sent >= edges.count()) *readyToSend = gossamer::No;
  }

  void sendCount(Message& message) {
    const uint64_t count = edges.note(s->sent);
    edges.along(s->sent);
    message.from = NoVertex;
    message.of[0] = static_cast<uint32_t>(count);
    message.of[1] = static_cast<uint32_t>(count >> 32);
    if (++s->sent == edges.count()) *readyToSend = gossamer::No;
  }

  /// Counts the triangles of this vertex, the sender and a neighbour in the message.
  void search(const Message& message) {
    const uint32_t sender = edges.first(message.from);
    uint32_t own = edges.first(message.of[0]);
    Count all = 0;
    for (uint32_t i = 0; i < PerMessage && message.of[i] != NoVertex; ++i) {
      while (own < edges.count() && edges.to(own) < message.of[i]) ++own;
      if (own == edges.count()) break;
      if (edges.to(own) != message.of[i]) continue;
      const Count found = (1 + (message.both >> i & 1)) * directions(edges.value(own));
      edges.note(own) += found * directions(edges.value(sender));
      all += found;
    }
    all *= directions(edges.value(sender));
    edges.note(sender) += all;
    s->triangles += all;
  }
};

}  // namespace clustering

GOSSAMER_VERTEX(clustering::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace clustering {

struct App : gossamer::Application<Vertex> {
#ifdef CLUSTERING_DIRECTED
  static constexpr const char* name = "clustering-directed";
  static constexpr const char* summary = "clustering coefficient of every vertex of a directed graph";
#else
  static constexpr const char* name = "clustering";
  static constexpr const char* summary = "triangles and clustering coefficient of every vertex";
#endif
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::ranked;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) { s = {0, 0, 0, 0, v.index}; }

  void results(gossamer::Columns<State>& c) {
#ifdef CLUSTERING_DIRECTED
    c.add("clustering", "share of the possible directed triangles through the vertex that exist; 0 if none is possible",
          [](const State& s) {
            // Each pair that is connected in both directions would count as two edges to different neighbours.
            const double possible = static_cast<double>(s.edges) * (s.edges - 1.0) - 2.0 * (s.edges - s.degree);
            return possible > 0 ? static_cast<double>(s.triangles) / possible : 0.0;
          });
    c.add("triangles", "directed triangles that contain the vertex", [](const State& s) { return s.triangles; });
#else
    c.add("triangles", "triangles that contain the vertex", [](const State& s) { return s.triangles; });
    c.add("clustering", "share of pairs of its neighbours that are neighbours; 0 with fewer than two",
          [](const State& s) {
            const double degree = s.degree;
            return s.degree < 2 ? 0.0 : 2 * static_cast<double>(s.triangles) / (degree * (degree - 1));
          });
#endif
  }

  /// Each of its three vertices counts a triangle.
  void totals(gossamer::Columns<Totals>& c) {
    c.add("triangles", "of the whole graph", [](const Totals& t) { return t.triangles.value() / 3; });
  }
};

}  // namespace clustering

GOSSAMER_APPLICATION(clustering::App)
#endif
