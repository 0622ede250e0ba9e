// SPDX-License-Identifier: Apache-2.0
/// Steps in which nobody sends: what a barrier costs by itself.
#pragma once

#include <gossamer/polite.h>

namespace quiet {

struct State {
  uint32_t steps;
};

struct Params {
  uint32_t steps;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, uint32_t, Params> {
  void init() {}
  void send(uint32_t*) {}
  void recv(const uint32_t*, const gossamer::None*) {}
  bool step() { return ++s->steps < params->steps; }
  bool finish(uint32_t* message) {
    *message = s->steps;
    return true;
  }
};

}  // namespace quiet

GOSSAMER_VERTEX(quiet::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace quiet {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "quiet";
  static constexpr const char* summary = "steps in which nobody sends";
  uint32_t steps = 1;

  void parameters(gossamer::Parameters& p) { p.integer("steps", steps, 1, 1000000, "how many"); }
  Params params(const gossamer::GraphInfo&) { return {steps}; }
  void init(const gossamer::VertexInfo&, State& s) { s = {}; }
  void results(gossamer::Columns<State>& c) {
    c.add("steps", "steps done", [](const State& s) { return s.steps; });
  }
};

}  // namespace quiet

GOSSAMER_APPLICATION(quiet::App)
#endif
