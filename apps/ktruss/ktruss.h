// SPDX-License-Identifier: Apache-2.0
/// Truss numbers: the largest k such that the vertex is in a subgraph whose edges are all in at least k - 2 triangles
/// of the subgraph.
///
/// Peeling of edges. Every pair of neighbours is one edge, from the lower vertex, with fewer neighbours, to the upper;
/// it has a note at its lower vertex. Two steps make a round. Count: each vertex sends the list of its upper neighbours
/// along its remaining edges, up and down. Of a triangle, the lowest vertex receives the list of the middle one and
/// counts for its two edges; the middle one receives the list of the lowest and counts for the edge between itself and
/// the upper one. Remove: edges in fewer than k - 2 triangles are removed. If none is, k grows to the next number with
/// which an edge is. At the end each edge's number is sent to its upper vertex.
#pragma once

#include <gossamer/polite.h>

namespace ktruss {

inline constexpr uint32_t PerMessage = 13;
inline constexpr uint32_t NoVertex = 0xffffffff;

enum Kind : uint32_t { Up, Down, Final };

struct State {
  uint32_t self;
  uint32_t truss;   // the largest number of its edges
  uint32_t k;       // the same at all vertices
  uint32_t ending;  // all edges have their numbers; the same at all vertices
  uint32_t edge;    // the edge along which it sends
  uint32_t first;   // the first neighbour of the next message
};

struct Message {
  uint32_t from;
  uint32_t kind;
  uint32_t of[PerMessage];  // neighbours along remaining edges, ascending; Final: the number of the edge
};

struct Note {
  uint32_t triangles;
  uint32_t truss;  // 0: not removed
};

struct Totals {
  gossamer::Or<uint32_t> removed;  // an edge was removed in this step
  gossamer::Min<uint32_t> least;   // triangles of a remaining edge
  gossamer::Max<uint32_t> truss;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, gossamer::None, Totals> {
  gossamer::Edges<gossamer::None, Note> edges;

  void init() { beginCount(); }

  void send(Message* message) {
    message->from = s->self;
    if (s->ending != 0) {
      message->kind = Final;
      message->of[0] = edges.note(s->edge).truss;
      edges.along(s->edge);
      if (++s->edge == edges.count()) *readyToSend = gossamer::No;
      return;
    }
    const bool up = *readyToSend == gossamer::OneEdge;
    message->kind = up ? Up : Down;
    if (up) edges.along(s->edge);
    uint32_t k = s->first;
    for (uint32_t i = 0; i < PerMessage; ++i) {
      message->of[i] = k < edges.count() ? edges.to(k) : NoVertex;
      if (k < edges.count()) k = remaining(k + 1);
    }
    s->first = k;
    if (k < edges.count()) return;
    // The list is complete: first down, then along each edge.
    s->first = remaining(0);
    s->edge = remaining(up ? s->edge + 1 : 0);
    *readyToSend = s->edge < edges.count() ? gossamer::OneEdge : gossamer::No;
  }

  void recv(const Message* message, const gossamer::None*) {
    if (message->kind == Final) {
      if (message->of[0] > s->truss) s->truss = message->of[0];
      return;
    }
    uint32_t sender = 0;
    if (message->kind == Down) {
      sender = edges.first(message->from);
      if (edges.note(sender).truss != 0) return;
    }
    uint32_t own = edges.first(message->of[0]);
    for (uint32_t i = 0; i < PerMessage && message->of[i] != NoVertex; ++i) {
      while (own < edges.count() && edges.to(own) < message->of[i]) ++own;
      if (own == edges.count()) return;
      Note& note = edges.note(own);
      if (edges.to(own) != message->of[i] || note.truss != 0) continue;
      ++note.triangles;
      if (message->kind == Down) ++edges.note(sender).triangles;
    }
  }

  bool step(const Totals& all, Totals& mine) {
    if (s->ending != 0) {
      mine.truss.give(s->truss);
      return false;
    }
    if (time % 2 == 0) {
      remove(mine);
      return true;
    }
    if (all.removed.value() == 0) {
      if (all.least.value() == 0xffffffff) {
        s->ending = 1;
        s->edge = 0;
        for (uint32_t k = 0; k < edges.count(); ++k) {
          if (edges.note(k).truss > s->truss) s->truss = edges.note(k).truss;
        }
        if (edges.count() > 0) *readyToSend = gossamer::OneEdge;
        return true;
      }
      s->k = all.least.value() + 3;
    }
    beginCount();
    return true;
  }

 private:
  /// The first edge from `k` on that is not removed.
  uint32_t remaining(uint32_t k) const {
    while (k < edges.count() && edges.note(k).truss != 0) ++k;
    return k;
  }

  void beginCount() {
    s->first = remaining(0);
    s->edge = 0;
    *readyToSend = s->first < edges.count() ? gossamer::Pin(1) : gossamer::No;
  }

  void remove(Totals& mine) {
    for (uint32_t k = remaining(0); k < edges.count(); k = remaining(k + 1)) {
      Note& note = edges.note(k);
      if (note.triangles + 2 < s->k) {
        note.truss = s->k - 1;
        mine.removed.give(1);
      } else {
        mine.least.give(note.triangles);
      }
      note.triangles = 0;
    }
  }
};

}  // namespace ktruss

GOSSAMER_VERTEX(ktruss::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace ktruss {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "ktruss";
  static constexpr const char* summary = "truss numbers: the triangles of a subgraph that contains the vertex";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::ranked;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) { s = {v.index, 0, 3, 0, 0, 0}; }

  void results(gossamer::Columns<State>& c) {
    c.add("truss", "the largest k of a k-truss that contains the vertex; 0 without neighbours",
          [](const State& s) { return s.truss; });
  }

  void totals(gossamer::Columns<Totals>& c) {
    c.add("truss", "the largest truss number", [](const Totals& t) { return t.truss.value(); });
  }
};

}  // namespace ktruss

GOSSAMER_APPLICATION(ktruss::App)
#endif
