// SPDX-License-Identifier: Apache-2.0
/// Shortest paths from one vertex, and for each vertex its predecessor on such a path.
///
/// Among paths of equal length the one with the fewest edges is chosen, and among several predecessors
/// the one of the smallest index. So every engine computes the same tree, and edges of weight 0 cannot
/// make it cyclic. Weights and lengths have 64 bits, as in sssp64; `max() - 1` (TooFar) means: a path
/// exists, but its length overflows the type.
#pragma once

#include <gossamer/polite.h>

namespace sssp_paths {

inline constexpr uint64_t Unreached = 0xffffffffffffffff;
inline constexpr uint64_t TooFar = Unreached - 1;
inline constexpr uint32_t None = 0xffffffff;

struct State {
  uint64_t distance;
  uint32_t hops;
  uint32_t previous;
  uint32_t self;
};

struct Message {
  uint64_t distance;
  uint32_t hops;
  uint32_t from;
};

struct Vertex : gossamer::PVertex<State, int64_t, Message> {
  void init() { *readyToSend = s->distance == 0 ? gossamer::Pin(0) : gossamer::No; }

  /// Its edges have changed: sends its distance along them again.
  void changed() { *readyToSend = s->distance < TooFar ? gossamer::Pin(0) : gossamer::No; }

  void send(Message* message) {
    *message = {s->distance, s->hops, s->self};
    *readyToSend = gossamer::No;
  }

  void recv(const Message* message, const int64_t* weight) {
    uint64_t length = message->distance + static_cast<uint64_t>(*weight);
    if (length < message->distance || length == Unreached) length = TooFar;
    const uint32_t hops = message->hops + 1;
    if (length > s->distance || (length == s->distance && hops > s->hops)) return;
    if (length == s->distance && hops == s->hops) {
      // An equally good path: nothing changes for the targets.
      if (message->from < s->previous) s->previous = message->from;
      return;
    }
    s->distance = length;
    s->hops = hops;
    s->previous = message->from;
    *readyToSend = gossamer::Pin(0);
  }

  /// The bits of non-negative floats are in the order of the numbers.
  uint32_t priority() const { return __builtin_bit_cast(uint32_t, static_cast<float>(s->distance)); }
};

}  // namespace sssp_paths

GOSSAMER_VERTEX(sssp_paths::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace sssp_paths {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "sssp-paths";
  static constexpr const char* summary = "shortest paths from one vertex, with each vertex's predecessor";
  static constexpr bool parallelInit = true;

  uint32_t source = 0;

  void parameters(gossamer::Parameters& p) { p.vertex("source", source, "the source of the paths"); }

  void begin(const gossamer::GraphInfo& g) {
    if (g.weightLow < 0) {
      throw std::invalid_argument("sssp-paths: the graph has a negative weight; weights must be at least 0");
    }
  }

  void init(const gossamer::VertexInfo& v, State& s) {
    const bool first = v.index == source;
    s = {first ? 0 : Unreached, first ? 0 : None, None, v.index};
  }

  gossamer::Verdict verdict(const Outcome& run) {
    for (const State& s : run) {
      if (s.distance != TooFar) continue;
      return gossamer::Verdict::overflow("a shortest path is longer than 18446744073709551613")
          .at(static_cast<uint32_t>(&s - run.begin()));
    }
    return gossamer::Verdict::answer();
  }

  void results(gossamer::Columns<State>& c) {
    c.add("distance", "length of the shortest path; 18446744073709551615 if no path exists", [](const State& s) {
       return s.distance;
     }).absent(Unreached);
    c.add("previous", "the predecessor on that path", [](const State& s) { return s.previous; }).vertex().absent(None);
    c.add("hops", "number of edges of that path", [](const State& s) { return s.hops; }).absent(None);
  }
};

}  // namespace sssp_paths

GOSSAMER_APPLICATION(sssp_paths::App)
#endif
