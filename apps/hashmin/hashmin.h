// SPDX-License-Identifier: Apache-2.0
/// Connected components: every vertex adopts the smallest index that it receives and
/// sends it on. The smallest are sent first, so each component is flooded once.
#pragma once

#include <gossamer/polite.h>

namespace hashmin {

struct State {
  uint32_t label;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, uint32_t> {
  void init() { *readyToSend = gossamer::Pin(0); }

  /// Its edges have changed: sends its label to all neighbours again.
  void changed() { *readyToSend = gossamer::Pin(0); }

  void send(uint32_t* message) {
    *message = s->label;
    *readyToSend = gossamer::No;
  }

  void recv(const uint32_t* message, const gossamer::None*) {
    if (*message < s->label) {
      s->label = *message;
      *readyToSend = gossamer::Pin(0);
    }
  }

  bool finish(uint32_t* message) {
    *message = s->label;
    return true;
  }

  uint32_t priority() const { return s->label; }
};

}  // namespace hashmin

GOSSAMER_VERTEX(hashmin::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace hashmin {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "hashmin";
  static constexpr const char* summary = "weakly connected components";
  static constexpr bool undirected = true;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) { s.label = v.index; }

  void results(gossamer::Columns<State>& c) {
    c.add("component", "the first vertex of the same component", [](const State& s) { return s.label; })
        .vertex()
        .show(gossamer::Show::groups);
  }
};

}  // namespace hashmin

GOSSAMER_APPLICATION(hashmin::App)
#endif
