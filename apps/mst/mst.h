// SPDX-License-Identifier: Apache-2.0
/// Minimum spanning forest (Boruvka): a tree of least weight in each connected component, directions ignored.
///
/// Every vertex is a fragment at first. A round joins each fragment with another one along its lightest outgoing edge,
/// so there are at most log2(vertices) rounds. Four steps make a round. Lightest: each vertex finds its lightest edge
/// to another fragment, and the least of them floods the fragment along the tree's edges. Join: its owner adds the edge
/// to the tree and notifies the other end. Label: the smallest index floods the new fragment, as its label. Notify:
/// vertices whose label has changed send it to their neighbours. When no edge leaves a fragment, a wave from the vertex
/// that is the label names each vertex's parent.
///
/// Edges of equal weight are ordered by the indices of their ends. So all weights differ, the forest is unique, and two
/// fragments never form a cycle.
#pragma once

#include <gossamer/polite.h>

namespace mst {

inline constexpr uint32_t None = 0xffffffff;

/// An edge in the order of weights.
struct Key {
  uint64_t order;  // of the weight, as orderOf
  uint32_t low;    // the smaller of its ends; None: no edge
  uint32_t high;

  bool operator<(const Key& other) const {
    if (order != other.order) return order < other.order;
    return low != other.low ? low < other.low : high < other.high;
  }
};

/// A number in the order of the weights, which need no floating-point comparison then.
inline uint64_t orderOf(double weight) {
  constexpr uint64_t sign = uint64_t{1} << 63;
  uint64_t bits = __builtin_bit_cast(uint64_t, weight);
  if (bits == sign) bits = 0;  // -0.0
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

inline constexpr Key NoEdge = {~uint64_t{0}, None, None};

enum Phase : uint32_t { Notify, Lightest, Join, Label, Phases };

struct State {
  Key lightest;   // of the fragment's outgoing edges, as far as it is known
  double weight;  // of the edge to its parent
  uint32_t self;
  uint32_t label;  // the smallest index in its fragment
  uint32_t parent;
  uint32_t own;      // the vertex's own edge of `lightest`, or None
  uint32_t next;     // the next edge to send along
  uint32_t ending;   // the forest is complete: the wave of parents; the same at all vertices
  uint32_t changed;  // its label differs from the one that its neighbours know
  uint32_t unused;
};

struct Message {
  Key lightest;
  uint32_t from;
  uint32_t label;
};

struct Note {
  uint32_t label;  // the neighbour's
  uint32_t tree;   // 1: an edge of the forest
};

struct Totals {
  gossamer::Or<uint32_t> open;  // an edge leaves a fragment
};

struct Vertex : gossamer::PVertex<State, double, Message, gossamer::None, Totals> {
  gossamer::Edges<double, Note> edges;

  void init() {
    if (edges.count() > 0) *readyToSend = gossamer::Pin(0);
  }

  void send(Message* message) {
    *message = {s->lightest, s->self, s->label};
    if (*readyToSend == gossamer::Pin(0)) {
      *readyToSend = gossamer::No;
      return;
    }
    edges.along(s->next);
    if (s->ending == 0 && time % Phases == Join) {
      *readyToSend = gossamer::No;
      return;
    }
    ++s->next;
    alongTree();
  }

  void recv(const Message* message, const double*) {
    const uint32_t k = edges.first(message->from);
    Note& note = edges.note(k);
    if (s->ending != 0) {
      if (s->parent != None || s->label == s->self) return;
      s->parent = message->from;
      s->weight = edges.value(k);
      return floodTree();
    }
    switch (time % Phases) {
      case Notify: note.label = message->label; return;
      case Lightest:
        if (!(message->lightest < s->lightest)) return;
        s->lightest = message->lightest;
        return floodTree();
      case Join: note.tree = 1; return;
      default:
        if (message->label >= s->label) return;
        s->label = message->label;
        s->changed = 1;
        floodTree();
    }
  }

  bool step(const Totals& all, Totals& mine) {
    if (s->ending != 0) return false;
    switch (time % Phases) {
      case Notify:
        choose();
        if (s->own != None) {
          mine.open.give(1);
          floodTree();
        }
        return true;
      case Lightest:
        if (all.open.value() == 0) {
          s->ending = 1;
          if (s->label == s->self) floodTree();
          return true;
        }
        if (s->own != None && !(s->lightest < keyOf(s->own))) {
          edges.note(s->own).tree = 1;
          s->next = s->own;
          *readyToSend = gossamer::OneEdge;
        }
        return true;
      case Join: floodTree(); return true;
      default:
        if (s->changed != 0) *readyToSend = gossamer::Pin(0);
        s->changed = 0;
        return true;
    }
  }

  /// The lightest edge, or the smallest label, floods a fragment first.
  uint32_t priority() const {
    if (time % Phases != Lightest) return s->label;
    return static_cast<uint32_t>(s->lightest.order >> 32);
  }

 private:
  Key keyOf(uint32_t k) const {
    const uint32_t other = edges.to(k);
    return {orderOf(edges.value(k)), other < s->self ? other : s->self, other < s->self ? s->self : other};
  }

  /// The vertex's own lightest edge to another fragment.
  void choose() {
    s->own = None;
    s->lightest = NoEdge;
    for (uint32_t k = 0; k < edges.count(); ++k) {
      if (edges.note(k).label == s->label) continue;
      const Key key = keyOf(k);
      if (!(key < s->lightest)) continue;
      s->lightest = key;
      s->own = k;
    }
  }

  /// Sends along all edges of the tree.
  void floodTree() {
    s->next = 0;
    alongTree();
  }

  void alongTree() {
    while (s->next < edges.count() && edges.note(s->next).tree == 0) ++s->next;
    *readyToSend = s->next < edges.count() ? gossamer::OneEdge : gossamer::No;
  }
};

}  // namespace mst

GOSSAMER_VERTEX(mst::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace mst {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "mst";
  static constexpr const char* summary = "minimum spanning tree of each connected component, directions ignored";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::simple;
  static constexpr gossamer::Same same = gossamer::Same::exact;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) {
    s = State{};
    s.lightest = NoEdge;
    s.self = s.label = v.index;
    s.parent = s.own = None;
  }

  void results(gossamer::Columns<State>& c) {
    c.add("parent", "the next vertex towards the root of its tree, the first vertex of the component",
          [](const State& s) { return s.parent; })
        .vertex()
        .absent(None);
    c.add("weight", "of the edge to its parent; 0 at a root", [](const State& s) { return s.weight; });
    c.add("component", "the root of its tree", [](const State& s) { return s.label; }).vertex();
  }

  /// Sums on the host, in index order: sums of doubles as aggregates would be software on the overlay's threads.
  gossamer::Verdict verdict(const Outcome& run) {
    weight_ = 0;
    edges_ = 0;
    for (const State& s : run) {
      weight_ += s.weight;
      edges_ += s.parent == None ? 0 : 1;
    }
    return gossamer::Verdict::answer();
  }

  void totals(gossamer::Columns<Totals>& c) {
    c.add("weight", "of all edges of the forest", [this](const Totals&) { return weight_; });
    c.add("edges", "of the forest", [this](const Totals&) { return edges_; });
  }

 private:
  double weight_ = 0;
  uint32_t edges_ = 0;
};

}  // namespace mst

GOSSAMER_APPLICATION(mst::App)
#endif
