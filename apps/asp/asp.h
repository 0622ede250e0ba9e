// SPDX-License-Identifier: Apache-2.0
/// Average shortest path: breadth-first search from up to 64 sources at once,
/// one bit per source, and at each vertex the sum of the distances from them.
///
/// A message is the set of all sources that have reached the sender, not only
/// the new ones: known sources cost the receiver nothing, and the sender
/// need not store the new ones separately.
#pragma once

#include <gossamer/polite.h>

namespace asp {

struct State {
  uint64_t reached;   // the sources whose wave has arrived
  uint64_t received;  // sources received from neighbours since the last step
  uint32_t sum;       // of the distances from the sources in `reached`
};

struct Vertex : gossamer::PVertex<State, gossamer::None, uint64_t> {
  static constexpr bool lazyStep = true;

  void init() { *readyToSend = s->reached ? gossamer::Pin(0) : gossamer::No; }

  void send(uint64_t* message) {
    *message = s->reached;
    *readyToSend = gossamer::No;
  }

  void recv(const uint64_t* message, const gossamer::None*) { s->received |= *message; }

  bool step() {
    const uint64_t fresh = s->received & ~s->reached;
    s->received = 0;
    if (!fresh) return false;
    s->reached |= fresh;
    s->sum += static_cast<uint32_t>(__builtin_popcountll(fresh)) * (time + 1);
    *readyToSend = gossamer::Pin(0);
    return true;
  }

  bool finish(uint64_t* message) {
    *message = s->sum;
    return true;
  }
};

}  // namespace asp

GOSSAMER_VERTEX(asp::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>
#include <gossamer/app/sources.h>

namespace asp {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "asp";
  static constexpr const char* summary = "sum of the hops from many sources (one breadth-first search for all)";
  static constexpr bool parallelInit = true;

  gossamer::Sources sources{64, 64};

  void parameters(gossamer::Parameters& p) { sources.parameters(p); }

  void begin(const gossamer::GraphInfo& g) { sources.begin(name, g); }

  void init(const gossamer::VertexInfo& v, State& s) {
    const uint32_t number = sources.number(v.index);
    s.reached = number < 64 ? uint64_t{1} << number : 0;
    s.received = 0;
    s.sum = 0;
  }

  void results(gossamer::Columns<State>& c) {
    c.add("sum", "sum of the hops from the sources that reach the vertex", [](const State& s) { return s.sum; });
    c.add("sources", "number of sources that reach the vertex",
          [](const State& s) { return static_cast<uint32_t>(__builtin_popcountll(s.reached)); });
  }
};

}  // namespace asp

GOSSAMER_APPLICATION(asp::App)
#endif
