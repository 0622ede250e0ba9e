// SPDX-License-Identifier: Apache-2.0
/// Breadth-first search from one vertex: levels, and for each vertex a parent one level nearer.
///
/// A step is a level. Of several parents the one of the smallest index counts, so that every
/// engine gives the same tree. Trick: `settled` lets an engine that looks from the unreached
/// vertices for a parent stop at the first, as Beamer's direction-optimizing search does.
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

  void parameters(gossamer::Parameters& p) { p.vertex("source", source, "the vertex that the search starts from"); }

  void init(const gossamer::VertexInfo& v, State& s) { s = {v.index == source ? 0 : None, None, v.index}; }

  void results(gossamer::Columns<State>& c) {
    c.add("level", "edges from the source; 4294967295 where no way leads", [](const State& s) { return s.level; })
        .absent(None);
    c.add("parent", "the vertex before it on a shortest way", [](const State& s) { return s.parent; })
        .vertex()
        .absent(None);
  }
};

}  // namespace bfs

GOSSAMER_APPLICATION(bfs::App)
#endif
