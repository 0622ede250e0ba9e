// SPDX-License-Identifier: Apache-2.0
/// Connected components in time steps, as the papers run them: in each step a
/// vertex whose label has decreased in the previous step sends it to its neighbours.
#pragma once

#include <gossamer/polite.h>

namespace hashmin_sync {

struct State {
  uint32_t label;
  uint32_t sent;  // the label that the neighbours know
};

struct Vertex : gossamer::PVertex<State, gossamer::None, uint32_t> {
  static constexpr bool lazyStep = true;

  void init() { *readyToSend = gossamer::Pin(0); }

  /// Its edges have changed: sends its label to all neighbours again.
  void changed() { *readyToSend = gossamer::Pin(0); }

  void send(uint32_t* message) {
    *message = s->sent;
    *readyToSend = gossamer::No;
  }

  void recv(const uint32_t* message, const gossamer::None*) {
    if (*message < s->label) s->label = *message;
  }

  bool step() {
    if (s->label == s->sent) return false;
    s->sent = s->label;
    *readyToSend = gossamer::Pin(0);
    return true;
  }

  bool finish(uint32_t* message) {
    *message = s->label;
    return true;
  }
};

}  // namespace hashmin_sync

GOSSAMER_VERTEX(hashmin_sync::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace hashmin_sync {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "hashmin-sync";
  static constexpr const char* summary = "weakly connected components, in time steps";
  static constexpr bool undirected = true;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) { s.label = s.sent = v.index; }

  void results(gossamer::Columns<State>& c) {
    c.add("component", "the first vertex of the same component", [](const State& s) { return s.label; })
        .vertex()
        .show(gossamer::Show::groups);
  }
};

}  // namespace hashmin_sync

GOSSAMER_APPLICATION(hashmin_sync::App)
#endif
