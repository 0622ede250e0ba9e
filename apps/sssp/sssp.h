// SPDX-License-Identifier: Apache-2.0
/// Single-source shortest paths, asynchronous: a vertex that hears of a shorter
/// way tells its neighbours. The nearest go first, so each mostly tells once.
#pragma once

#include <gossamer/polite.h>

namespace sssp {

inline constexpr uint32_t Unreached = 0xffffffff;

struct State {
  uint32_t distance;
};

struct Vertex : gossamer::PVertex<State, int32_t, uint32_t> {
  void init() { *readyToSend = s->distance == 0 ? gossamer::Pin(0) : gossamer::No; }

  void send(uint32_t* message) {
    *message = s->distance;
    *readyToSend = gossamer::No;
  }

  void recv(const uint32_t* message, const int32_t* weight) {
    const uint32_t distance = *message + static_cast<uint32_t>(*weight);
    // A path longer than 2^32 - 2 wraps to below the message: not a shorter way.
    if (distance < s->distance && distance >= *message) {
      s->distance = distance;
      *readyToSend = gossamer::Pin(0);
    }
  }

  bool finish(uint32_t* message) {
    *message = s->distance;
    return true;
  }

  uint32_t priority() const { return s->distance; }
};

}  // namespace sssp

GOSSAMER_VERTEX(sssp::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace sssp {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "sssp";
  static constexpr const char* summary = "lengths of the shortest paths from one vertex";

  uint32_t source = 0;

  void parameters(gossamer::Parameters& p) { p.vertex("source", source, "the vertex that the paths start from"); }

  void begin(const gossamer::GraphInfo& g) {
    if (g.weightLow < 0) {
      throw std::invalid_argument("sssp: the graph has a negative weight; it takes weights from 0 up");
    }
  }

  void init(const gossamer::VertexInfo& v, State& s) { s.distance = v.index == source ? 0 : Unreached; }

  void results(gossamer::Columns<State>& c) {
    c.add("distance", "length of the shortest path; 4294967295 where there is none",
          [](const State& s) { return s.distance; })
        .absent(Unreached);
  }
};

}  // namespace sssp

GOSSAMER_APPLICATION(sssp::App)
#endif
