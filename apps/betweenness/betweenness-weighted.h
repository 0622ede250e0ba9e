// SPDX-License-Identifier: Apache-2.0
/// Weighted betweenness: the number of shortest paths through a vertex (Brandes), where edges have lengths.
///
/// One source after the other, in four steps each; within a step all is asynchronous. Search: the distances from the
/// source. Count: every vertex counts the edges of shortest paths that lead to it and from it; an edge is one if its
/// length is the difference of the distances of its ends. Paths: a vertex that has received the number of paths of all
/// its predecessors sends their sum. Back: a vertex that has received the dependencies of all its successors sends its
/// own. So numbers of paths are final when they are sent, in whatever order the edges lead.
///
/// Lengths are above 0, as cycles of length 0 have no number of shortest paths. Of parallel edges only the shortest
/// counts, as one edge, as in NetworkX.
#pragma once

#include <gossamer/polite.h>

namespace betweenness_weighted {

inline constexpr double Infinite = __builtin_inf();

enum Phase : uint32_t { Search, Count, Paths, Back, Phases };

enum Fault : uint32_t {
  TooFar = 1,      // a path to the vertex is longer than double precision can represent
  TooMany = 2,     // the number of paths overflows
  TooUnequal = 4,  // adding the length of an edge to that of a path does not change it
};

struct State {
  double distance;
  double in;        // received: numbers of paths, or shares of paths through this vertex divided by `paths`
  double paths;     // number of shortest paths from the source
  double sum;       // over all sources, of the share of paths through this vertex
  uint32_t before;  // edges of shortest paths whose source has not sent its number of paths
  uint32_t after;   // edges of shortest paths whose target has not sent its dependency
  uint32_t number;  // its number as a source, or none
  uint32_t now;     // the number of the current source
  uint32_t far;     // a path to it is too long
  uint32_t faults;
};

struct Message {
  double distance;
  double value;  // Count: 1 along an edge, -1 against it; else what is to be added
};

struct Params {
  uint32_t sources;
};

struct Vertex : gossamer::PVertex<State, double, Message, Params> {
  void init() { begin(); }

  void send(Message* message) {
    const uint32_t phase = time % Phases;
    const bool against = *readyToSend == gossamer::Pin(1);
    message->distance = s->distance;
    message->value = phase == Count   ? (against ? -1.0 : 1.0)
                     : phase == Paths ? s->paths
                     : phase == Back  ? 1 / s->paths + s->in
                                      : 0;
    *readyToSend = phase == Count && !against ? gossamer::Pin(1) : gossamer::No;
  }

  void recv(const Message* message, const double* length) {
    switch (time % Phases) {
      case Search: {
        const double distance = message->distance + *length;
        if (distance == Infinite) s->far = 1;
        if (distance >= s->distance) return;
        s->distance = distance;
        *readyToSend = gossamer::Pin(0);
        return;
      }
      case Count:
        if (message->value > 0) {
          if (message->distance + *length != s->distance) return;
          ++s->before;
          if (message->distance == s->distance) s->faults |= TooUnequal;
        } else if (s->distance + *length == message->distance) {
          ++s->after;
        }
        return;
      case Paths:
        if (message->distance + *length != s->distance) return;
        s->in += message->value;
        if (--s->before != 0) return;
        s->paths = s->in;
        if (s->paths == Infinite) s->faults |= TooMany;
        *readyToSend = gossamer::Pin(0);
        return;
      default:
        if (s->distance + *length != message->distance) return;
        s->in += message->value;
        if (--s->after == 0) *readyToSend = gossamer::Pin(1);
    }
  }

  bool step() {
    const bool reached = s->distance != Infinite;
    switch (time % Phases) {
      case Search:
        if (!reached && s->far != 0) s->faults |= TooFar;
        if (reached) *readyToSend = gossamer::Pin(0);
        return true;
      case Count:
        if (source()) *readyToSend = gossamer::Pin(0);
        return true;
      case Paths:
        s->in = 0;
        if (reached && s->after == 0) *readyToSend = gossamer::Pin(1);
        return true;
      default:
        if (reached && !source()) s->sum += s->paths * s->in;
        ++s->now;
        begin();
        return s->now < params->sources;
    }
  }

  /// The nearest send first.
  uint32_t priority() const { return __builtin_bit_cast(uint32_t, static_cast<float>(s->distance)); }

 private:
  bool source() const { return s->number == s->now; }

  void begin() {
    s->distance = source() ? 0 : Infinite;
    s->paths = source() ? 1 : 0;
    s->in = 0;
    s->before = s->after = s->far = 0;
    // After the last source, no vertex is one.
    if (source()) *readyToSend = gossamer::Pin(0);
  }
};

}  // namespace betweenness_weighted

GOSSAMER_VERTEX(betweenness_weighted::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>
#include <gossamer/app/sources.h>

namespace betweenness_weighted {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "betweenness-weighted";
  static constexpr const char* summary = "betweenness on paths that are shortest by edge weights";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::distinct;
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-9;
  static constexpr bool parallelInit = true;

  gossamer::Sources sources{16};
  uint32_t vertices = 1;

  void parameters(gossamer::Parameters& p) { sources.parameters(p); }

  void begin(const gossamer::GraphInfo& g) {
    if (g.edges != 0 && g.weightLow <= 0) {
      throw std::invalid_argument(
          "betweenness-weighted: the graph has a weight that is not above 0; with edges of length 0, numbers of "
          "shortest paths are not defined");
    }
    vertices = g.vertices;
    sources.begin(name, g);
  }

  Params params(const gossamer::GraphInfo&) { return {sources.size()}; }

  void init(const gossamer::VertexInfo& v, State& s) {
    s = State{};
    s.number = sources.number(v.index);
  }

  gossamer::Verdict verdict(const Outcome& run) {
    for (const State& s : run) {
      if (s.faults == 0) continue;
      const char* const why =
          (s.faults & TooFar) != 0    ? "the length of a path overflows double precision; scale the weights down"
          : (s.faults & TooMany) != 0 ? "the number of shortest paths overflows double precision"
                                      : "the weights differ by so much that the length of an edge is lost in that "
                                        "of a path; remove or round the small ones";
      return gossamer::Verdict::overflow(why).at(static_cast<uint32_t>(&s - run.begin()));
    }
    return gossamer::Verdict::answer();
  }

  void results(gossamer::Columns<State>& c) {
    // Named sources are no sample.
    const double each = sources.named() ? 1 : static_cast<double>(vertices) / sources.size();
    c.add("betweenness",
          "sum over pairs of other vertices of the share of shortest paths through it, scaled up "
          "from the sample; from named sources unscaled",
          [each](const State& s) { return s.sum * each; });
  }
};

}  // namespace betweenness_weighted

GOSSAMER_APPLICATION(betweenness_weighted::App)
#endif
