// SPDX-License-Identifier: Apache-2.0
/// Shortest paths with weights of either sign (Bellman-Ford), and the detection of negative cycles.
///
/// In each step a vertex whose distance has decreased sends it to its targets. As in `sssp-paths`, of paths of one
/// length the one with the fewest edges is chosen, then the one with the smallest predecessor index; so cycles of
/// length 0 are no shorter path.
///
/// A negative cycle would decrease distances for ever. Two tests find it. A path of as many edges as the graph has
/// vertices contains a cycle, which is negative. And in steps 32, 64, 128 ... the search pauses, and a wave follows the
/// predecessors from the source: they form a tree unless a negative cycle has been followed, and its vertices are then
/// those that the wave does not reach. So a cycle is found after about twice the steps that follow it.
#pragma once

#include <gossamer/polite.h>

#include <limits>

#ifndef BELLMAN_FORD_NUMBER
#define BELLMAN_FORD_NUMBER int64_t
#endif

namespace bellman_ford {

using Number = BELLMAN_FORD_NUMBER;
using Limits = std::numeric_limits<Number>;

inline constexpr Number Unreached = Limits::has_infinity ? Limits::infinity() : Limits::max();
inline constexpr uint32_t None = 0xffffffff;
inline constexpr uint32_t FirstCheck = 32;

enum Flags : uint32_t {
  News = 1,       // its distance has decreased and is not sent yet
  Marked = 2,     // the wave along the predecessors has arrived
  Cycle = 4,      // on a negative cycle, or beyond it
  TooLong = 8,    // a path to it is longer than the type can represent
  TooShort = 16,  // a path to it has a negative length that the type cannot represent
};

struct State {
  Number distance;
  uint32_t hops;
  uint32_t previous;
  uint32_t self;
  uint32_t flags;
  uint32_t source;
};

struct Message {
  Number distance;
  uint32_t hops;
  uint32_t from;
};

struct Totals {
  gossamer::Or<uint32_t> cycle;
};

struct Vertex : gossamer::PVertex<State, Number, Message, gossamer::None, Totals> {
  void init() {
    if (s->source != 0) *readyToSend = gossamer::Pin(0);
  }

  void send(Message* message) {
    *message = {s->distance, s->hops, s->self};
    *readyToSend = gossamer::No;
  }

  void recv(const Message* message, const Number* weight) {
    if (checks(time)) {
      if (s->previous == message->from && (s->flags & Marked) == 0) mark();
      return;
    }
    Number length;
    if (overflows(message->distance, *weight, length)) {
      s->flags |= *weight < 0 ? TooShort : TooLong;
      return;
    }
    const uint32_t hops = message->hops + 1;
    if (length > s->distance) return;
    if (length == s->distance) {
      if (hops > s->hops) return;
      if (hops == s->hops) {
        if (message->from < s->previous && s->previous != None) s->previous = message->from;
        return;
      }
    }
    s->distance = length;
    s->hops = hops;
    s->previous = message->from;
    s->flags |= News;
    // A shorter path to the source itself, or one with a repeated vertex.
    if (s->source != 0 || hops >= numVertices) s->flags |= Cycle;
  }

  bool step(const Totals& all, Totals& mine) {
    if (all.cycle.value() != 0) return false;
    if ((s->flags & Cycle) != 0) mine.cycle.give(1);
    if (checks(time + 1)) {  // the following messages are those of the wave
      if (s->source != 0) mark();
      return true;
    }
    if (checks(time)) {
      if (s->distance != Unreached && (s->flags & Marked) == 0) {
        s->flags |= Cycle;
        mine.cycle.give(1);
      }
      s->flags &= ~uint32_t{Marked};
    }
    const bool news = (s->flags & News) != 0;
    s->flags &= ~uint32_t{News};
    if (news) *readyToSend = gossamer::Pin(0);
    return news || (s->flags & Cycle) != 0;
  }

  bool finish(Message* message) {
    *message = {s->distance, s->hops, s->self};
    return true;
  }

 private:
  /// Whether the messages after `steps` steps are those of the wave.
  static bool checks(uint32_t steps) { return steps >= FirstCheck && (steps & (steps - 1)) == 0; }

  void mark() {
    s->flags |= Marked;
    *readyToSend = gossamer::Pin(0);
  }

  static bool overflows(int64_t a, int64_t b, int64_t& sum) {
    // The greatest number means that no path exists.
    return __builtin_add_overflow(a, b, &sum) || sum == Limits::max();
  }
  static bool overflows(double a, double b, double& sum) {
    sum = a + b;
    return __builtin_isinf(sum);
  }
};

}  // namespace bellman_ford

GOSSAMER_VERTEX(bellman_ford::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace bellman_ford {

struct App : gossamer::Application<Vertex> {
  static constexpr bool real = !Limits::is_integer;
  static constexpr const char* name = real ? "bellman-ford-double" : "bellman-ford";
  static constexpr const char* summary =
      real ? "bellman-ford with weights and lengths in double precision"
           : "shortest paths from one vertex, with weights of either sign; detects negative cycles";
  static constexpr const char* wider = real ? nullptr : "bellman-ford-double";
  static constexpr const char* fractional = real ? nullptr : "bellman-ford-double";
  static constexpr bool parallelInit = true;

  uint32_t source = 0;

  void parameters(gossamer::Parameters& p) { p.vertex("source", source, "the source of the paths"); }

  void init(const gossamer::VertexInfo& v, State& s) {
    const bool first = v.index == source;
    s = {first ? 0 : Unreached, first ? 0 : None, None, v.index, 0, first ? 1U : 0U};
  }

  gossamer::Verdict verdict(const Outcome& run) {
    for (const State& s : run) {
      if ((s.flags & Cycle) == 0) continue;
      return gossamer::Verdict::notConverged(
                 "a cycle of negative length can be reached from the source, so there are no shortest paths to the "
                 "vertices that it leads to; remove the cycle")
          .at(static_cast<uint32_t>(&s - run.begin()));
    }
    for (const State& s : run) {
      // A path that is too long does not matter if there is a shorter one.
      if ((s.flags & TooShort) == 0 && ((s.flags & TooLong) == 0 || s.distance != Unreached)) continue;
      return gossamer::Verdict::overflow(real ? "the length of a path overflows double precision"
                                              : "the length of a path does not fit 64 bits; use bellman-ford-double")
          .at(static_cast<uint32_t>(&s - run.begin()));
    }
    return gossamer::Verdict::answer();
  }

  void results(gossamer::Columns<State>& c) {
    c.add("distance",
          real ? "length of the shortest path; inf if no path exists"
               : "length of the shortest path; 9223372036854775807 if no path exists",
          [](const State& s) { return s.distance; })
        .absent(Unreached);
    c.add("previous", "the predecessor on that path", [](const State& s) { return s.previous; }).vertex().absent(None);
    c.add("hops", "number of edges of that path", [](const State& s) { return s.hops; }).absent(None);
  }
};

}  // namespace bellman_ford

GOSSAMER_APPLICATION(bellman_ford::App)
#endif
