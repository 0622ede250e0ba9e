// SPDX-License-Identifier: Apache-2.0
/// Strongly connected components, by colours (Orzan) with trimming.
///
/// Three steps make a round. Trim: a vertex without a remaining in-edge or out-edge is a component by
/// itself, and is removed. Colour: every vertex adopts the smallest index that reaches it. Collect: a search
/// from each vertex that kept its own index as colour, backwards within its colour, finds its component, which is
/// removed. Within a step all is asynchronous, so that a chain takes one step.
#pragma once

#include <gossamer/polite.h>

namespace scc {

inline constexpr uint32_t None = 0xffffffff;

enum Kind : uint32_t {
  Colour,         // the vertex `colour` reaches the receiver
  SourceRemoved,  // along an edge: its source has been removed
  TargetRemoved,  // against an edge: its target has been removed, as part of the component `colour` or alone (None)
};

struct Message {
  Kind kind;
  uint32_t colour;
};

struct State {
  uint32_t self;
  uint32_t colour;
  uint32_t component;  // None until it is found
  uint32_t in;         // edges from vertices that have not been removed
  uint32_t out;        // edges to such vertices
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Message> {
  enum Phase : uint32_t { Trim, Flood, Collect };

  void init() {
    s->colour = None;
    trim();
  }

  void send(Message* message) {
    if (time % 3 == Flood) {
      *message = {Colour, s->colour};
      *readyToSend = gossamer::No;
    } else if (*readyToSend == gossamer::Pin(1)) {
      *message = {TargetRemoved, s->colour};
      *readyToSend = gossamer::Pin(0);
    } else {
      *message = {SourceRemoved, None};
      *readyToSend = gossamer::No;
    }
  }

  void recv(const Message* message, const gossamer::None*) {
    if (message->kind == SourceRemoved) {
      --s->in;
    } else if (message->kind == TargetRemoved) {
      --s->out;
    }
    if (s->component != None) return;
    if (message->kind == Colour) {
      if (message->colour >= s->colour) return;
      s->colour = message->colour;
      *readyToSend = gossamer::Pin(0);
    } else if (time % 3 == Trim) {
      trim();
    } else if (message->kind == TargetRemoved && message->colour == s->colour) {
      remove(s->colour);
    }
  }

  /// Starts the next phase.
  bool step() {
    if (s->component != None) return false;
    switch ((time + 1) % 3) {
      case Trim:
        s->colour = None;
        trim();
        break;
      case Flood:
        s->colour = s->self;
        *readyToSend = gossamer::Pin(0);
        break;
      default:
        if (s->colour == s->self) remove(s->self);
    }
    return true;
  }

  /// The smallest colours are sent first, so that most vertices send only once.
  uint32_t priority() const { return s->colour; }

 private:
  void trim() {
    if (!s->in || !s->out) remove(s->self);
  }
  void remove(uint32_t component) {
    s->component = component;
    *readyToSend = gossamer::Pin(1);
  }
};

}  // namespace scc

GOSSAMER_VERTEX(scc::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace scc {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "scc";
  static constexpr const char* summary = "strongly connected components";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::backward;
  static constexpr bool parallelInit = true;

  void init(const gossamer::VertexInfo& v, State& s) {
    s = {v.index, None, None, static_cast<uint32_t>(v.backward), static_cast<uint32_t>(v.degree)};
  }

  void results(gossamer::Columns<State>& c) {
    c.add("component", "the first vertex of the same component", [](const State& s) { return s.component; })
        .vertex()
        .show(gossamer::Show::groups);
  }
};

}  // namespace scc

GOSSAMER_APPLICATION(scc::App)
#endif
