// SPDX-License-Identifier: Apache-2.0
/// Breadth-first search from one vertex: levels, and for each vertex a parent one level nearer.
///
/// A step is a level. Among several parents the one of the smallest index is chosen, so that every
/// engine computes the same tree. Method: `settled` lets an engine that searches from the unreached
/// vertices for a parent stop at the first, as in Beamer's direction-optimizing search.
#pragma once

#include <gossamer/polite.h>

namespace bfs {

inline constexpr uint32_t None = 0xffffffff;

struct State {
  uint32_t level;
  uint32_t parent;
  uint32_t self;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, uint32_t> {
  static constexpr bool lazyStep = true;

  void init() { *readyToSend = s->level == 0 ? gossamer::Pin(0) : gossamer::No; }

  void send(uint32_t* message) {
    *message = s->self;
    *readyToSend = gossamer::No;
  }

  void recv(const uint32_t* message, const gossamer::None*) {
    if (s->level <= time || *message >= s->parent) return;
    s->level = time + 1;
    s->parent = *message;
  }

  bool settled() const { return s->level != None; }

  bool step() {
    const bool fresh = s->level == time + 1;
    if (fresh) *readyToSend = gossamer::Pin(0);
    return fresh;
  }
};

}  // namespace bfs

GOSSAMER_VERTEX(bfs::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace bfs {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "bfs";
  static constexpr const char* summary = "breadth-first search: levels and parents";
  static constexpr bool parallelInit = true;

  uint32_t source = 0;

  void parameters(gossamer::Parameters& p) { p.vertex("source", source, "the source of the search"); }

  void init(const gossamer::VertexInfo& v, State& s) { s = {v.index == source ? 0 : None, None, v.index}; }

  void results(gossamer::Columns<State>& c) {
    c.add("level", "edges from the source; 4294967295 if unreachable", [](const State& s) {
       return s.level;
     }).absent(None);
    c.add("parent", "the predecessor on a shortest path", [](const State& s) { return s.parent; })
        .vertex()
        .absent(None);
  }
};

}  // namespace bfs

GOSSAMER_APPLICATION(bfs::App)
#endif
