// SPDX-License-Identifier: Apache-2.0
/// Breadth-first search by levels: every step is one level, and the search ends after a step that
/// reached no new vertex.
#pragma once

#include <gossamer/polite.h>

struct LevelsState {
  uint32_t level;  // edges from the source; Unreached if not yet reached
  bool signalled;  // a neighbour was reached in the last step
};
inline constexpr uint32_t Unreached = 0xffffffff;

struct LevelsTotals {
  gossamer::Sum<uint32_t> reached;  // vertices, so far
  gossamer::Sum<uint32_t> fresh;    // of those, in this step
};

struct LevelsVertex : gossamer::PVertex<LevelsState, gossamer::None, gossamer::None, gossamer::None, LevelsTotals> {
  void init() { *readyToSend = s->level == 0 ? gossamer::Pin(0) : gossamer::No; }

  void send(gossamer::None*) { *readyToSend = gossamer::No; }

  void recv(const gossamer::None*, const gossamer::None*) { s->signalled = true; }

  bool step(const LevelsTotals& all, LevelsTotals& mine) {
    if (s->signalled && s->level == Unreached) {
      s->level = time + 1;
      *readyToSend = gossamer::Pin(0);
      mine.fresh.give(1);
    }
    if (s->level != Unreached) mine.reached.give(1);
    // In the first step there are no contributions yet.
    return time == 0 || all.fresh.value() > 0;
  }
};

GOSSAMER_VERTEX(LevelsVertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

struct LevelsApp : gossamer::Application<LevelsVertex> {
  static constexpr const char* name = "levels";
  static constexpr const char* summary = "distance in edges from one vertex, level by level";
  uint32_t source = 0;

  void parameters(gossamer::Parameters& p) { p.vertex("source", source, "where the search starts"); }
  void init(const gossamer::VertexInfo& v, LevelsState& s) { s = {v.index == source ? 0 : Unreached, false}; }
  void results(gossamer::Columns<LevelsState>& c) {
    c.add("level", "edges from the source", [](const LevelsState& s) { return s.level; }).absent(Unreached);
  }
  void totals(gossamer::Columns<LevelsTotals>& c) {
    c.add("reached", "vertices that can be reached", [](const LevelsTotals& t) { return t.reached.value(); });
  }
};
GOSSAMER_APPLICATION(LevelsApp)
#endif
