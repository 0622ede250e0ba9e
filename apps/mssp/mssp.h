// SPDX-License-Identifier: Apache-2.0
/// Shortest paths from up to eight sources at once, asynchronous: a message has
/// the sender's distances from all of them.
///
/// As in `sssp`, `max() - 1` (TooFar) means: a path exists, but its length overflows the
/// type. It is never sent; `verdict` searches for it.
#pragma once

#include <gossamer/polite.h>

namespace mssp {

inline constexpr uint32_t Sources = 8;
inline constexpr uint32_t Unreached = 0xffffffff;
inline constexpr uint32_t TooFar = Unreached - 1;

struct State {
  uint32_t distance[Sources];
  uint32_t news;  // the smallest distance not yet sent to the neighbours
};

struct Message {
  uint32_t distance[Sources];
};

struct Vertex : gossamer::PVertex<State, int32_t, Message> {
  void init() { *readyToSend = s->news == Unreached ? gossamer::No : gossamer::Pin(0); }

  void send(Message* message) {
    for (uint32_t i = 0; i < Sources; ++i) message->distance[i] = s->distance[i];
    s->news = Unreached;
    *readyToSend = gossamer::No;
  }

  void recv(const Message* message, const int32_t* weight) {
    for (uint32_t i = 0; i < Sources; ++i) {
      if (message->distance[i] >= TooFar) continue;
      uint32_t length = message->distance[i] + static_cast<uint32_t>(*weight);
      if (length < message->distance[i] || length > TooFar) length = TooFar;
      if (length >= s->distance[i]) continue;
      s->distance[i] = length;
      if (length == TooFar) continue;
      if (length < s->news) s->news = length;
      *readyToSend = gossamer::Pin(0);
    }
  }

  bool finish(Message* message) {
    for (uint32_t i = 0; i < Sources; ++i) message->distance[i] = s->distance[i];
    return true;
  }

  uint32_t priority() const { return s->news; }
};

}  // namespace mssp

GOSSAMER_VERTEX(mssp::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>
#include <gossamer/app/sources.h>

#include <algorithm>
#include <string>

namespace mssp {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "mssp";
  static constexpr const char* summary = "lengths of the shortest paths from several vertices at once";
  static constexpr bool parallelInit = true;

  gossamer::Sources sources{Sources, Sources};

  void parameters(gossamer::Parameters& p) { sources.parameters(p); }

  void begin(const gossamer::GraphInfo& g) {
    if (g.weightLow < 0) {
      throw std::invalid_argument("mssp: the graph has a negative weight; weights must be at least 0");
    }
    sources.begin(name, g);
  }

  void init(const gossamer::VertexInfo& v, State& s) {
    const uint32_t number = sources.number(v.index);
    s.news = number < Sources ? 0 : Unreached;
    for (uint32_t k = 0; k < Sources; ++k) s.distance[k] = k == number ? 0 : Unreached;
  }

  gossamer::Verdict verdict(const gossamer::Outcome<State>& run) {
    uint32_t index = 0;
    for (const State& s : run) {
      if (std::find(s.distance, s.distance + Sources, TooFar) != s.distance + Sources) {
        return gossamer::Verdict::overflow("a shortest path is longer than " + std::to_string(TooFar - 1)).at(index);
      }
      ++index;
    }
    return gossamer::Verdict::answer();
  }

  void results(gossamer::Columns<State>& c) {
    c.add("distance", "from the nearest source; 4294967295 if none reaches the vertex", nearest).absent(Unreached);
    c.add("sum", "of the distances from the sources that reach the vertex", [](const State& s) {
      uint64_t sum = 0;
      for (const uint32_t d : s.distance) sum += d == Unreached ? 0 : d;
      return sum;
    });
    c.add("sources", "number of sources that reach the vertex", [](const State& s) {
      return static_cast<uint32_t>(Sources - std::count(s.distance, s.distance + Sources, Unreached));
    });
  }

  static uint32_t nearest(const State& s) { return *std::min_element(s.distance, s.distance + Sources); }
};

}  // namespace mssp

GOSSAMER_APPLICATION(mssp::App)
#endif
