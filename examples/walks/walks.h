// SPDX-License-Identifier: Apache-2.0
/// Random walks: the number of visits of walkers to each vertex. A vertex distributes its walkers among its own
/// edges, and sends along each edge the number of walkers that use it.
#pragma once

#include <gossamer/polite.h>

struct WalksState {
  uint32_t self;
  uint32_t here;  // walkers that arrived since the last step
  uint64_t visits;
  uint32_t next;  // the first edge that may have walkers to send
};

struct WalksParams {
  uint32_t steps;
  uint32_t seed;
};

struct WalksVertex : gossamer::PVertex<WalksState, gossamer::None, uint32_t, WalksParams> {
  static constexpr bool lazyStep = true;
  gossamer::Edges<gossamer::None, uint32_t> edges;  // the note: walkers to send along the edge

  void init() {}

  void send(uint32_t* message) {
    edges.along(s->next);
    *message = edges.note(s->next);
    edges.note(s->next) = 0;
    findNext();
  }

  void recv(const uint32_t* message, const gossamer::None*) { s->here += *message; }

  bool step() {
    const uint32_t walkers = s->here;
    s->here = 0;
    s->visits += walkers;
    if (!walkers || !edges.count() || time >= params->steps) return false;
    for (uint32_t i = 0; i < walkers; ++i) ++edges.note(draw(i));
    s->next = 0;
    findNext();
    return true;
  }

 private:
  /// The edge of walker i: the same in every run, independent of the order of messages.
  uint32_t draw(uint32_t i) const {
    uint64_t x = (uint64_t{params->seed} << 32 | s->self) * 0x9e3779b97f4a7c15u + (uint64_t{time} << 32 | i);
    x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
    return static_cast<uint32_t>((x >> 33) % edges.count());
  }

  void findNext() {
    while (s->next < edges.count() && !edges.note(s->next)) ++s->next;
    *readyToSend = s->next < edges.count() ? gossamer::OneEdge : gossamer::No;
  }
};

GOSSAMER_VERTEX(WalksVertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

struct WalksApp : gossamer::Application<WalksVertex> {
  static constexpr const char* name = "walks";
  static constexpr const char* summary = "number of visits of random walks to each vertex";
  static constexpr bool parallelInit = true;

  uint32_t walkers = 10;
  uint32_t steps = 10;
  uint32_t start = 1;

  void parameters(gossamer::Parameters& p) {
    p.integer("walkers", walkers, 0, 1000000, "number of walkers that start at each vertex");
    p.integer("steps", steps, 0, 1000000000, "edges that each walker follows; it stops at a vertex without out-edges");
    p.integer("walk", start, 0, 4294967295, "seed of the walks");
  }

  WalksParams params(const gossamer::GraphInfo&) { return {steps, start}; }
  void init(const gossamer::VertexInfo& v, WalksState& s) { s = {v.index, walkers, 0, 0}; }
  void results(gossamer::Columns<WalksState>& c) {
    c.add("visits", "number of visits of walkers, including their starts",
          [](const WalksState& s) { return s.visits; });
  }
};
GOSSAMER_APPLICATION(WalksApp)
#endif
