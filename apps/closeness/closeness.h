// SPDX-License-Identifier: Apache-2.0
/// Closeness: how near other vertices are to a vertex, over paths that lead to it; and harmonic centrality.
///
/// Breadth-first search from 448 sources at once, as many bits as fit in a message: each vertex adds up the levels at
/// which the sources' waves arrive. A step is a level. All vertices know when a batch has ended, since the aggregate
/// shows that a level has reached no vertex, and then start the next batch.
///
/// As in `asp`, a message is the set of all sources that have reached the sender.
#pragma once

#include <gossamer/polite.h>

namespace closeness {

inline constexpr uint32_t Words = 7;
inline constexpr uint32_t Batch = 64 * Words;
inline constexpr uint32_t None = 0xffffffff;

struct Set {
  uint64_t of[Words];  // one bit per source of the batch
};

struct State {
  Set reached;      // the sources whose wave has arrived
  Set received;     // sources received from neighbours since the last step
  uint64_t sum;     // of the distances from all sources
  double harmonic;  // the sum of their reciprocals, without 0
  uint32_t others;  // other sources that reach the vertex
  uint32_t number;  // its number as a source, or None
  uint32_t now;     // the first source of the batch
  uint32_t origin;  // the first step of the batch; the same at all vertices
};

struct Params {
  uint32_t sources;
};

struct Totals {
  gossamer::Or<uint32_t> fresh;  // a vertex was reached in this step
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Set, Params, Totals> {
  void init() { begin(0); }

  void send(Set* message) {
    *message = s->reached;
    *readyToSend = gossamer::No;
  }

  void recv(const Set* message, const gossamer::None*) {
    for (uint32_t i = 0; i < Words; ++i) s->received.of[i] |= message->of[i];
  }

  bool step(const Totals& all, Totals& mine) {
    const uint32_t level = time - s->origin + 1;
    if (level > 1 && all.fresh.value() == 0) {
      s->now += Batch;
      if (s->now >= params->sources) return false;
      begin(time + 1);
      return true;
    }
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < Words; ++i) {
      fresh += static_cast<uint32_t>(__builtin_popcountll(s->received.of[i] & ~s->reached.of[i]));
      s->reached.of[i] |= s->received.of[i];
      s->received.of[i] = 0;
    }
    if (fresh != 0) {
      s->sum += uint64_t{fresh} * level;
      s->harmonic += static_cast<double>(fresh) / level;
      s->others += fresh;
      mine.fresh.give(1);
      *readyToSend = gossamer::Pin(0);
    }
    return true;
  }

 private:
  /// Starts a batch, whose first level is that of step `origin`.
  void begin(uint32_t origin) {
    s->origin = origin;
    s->reached = s->received = {};
    if (s->number == None || s->number < s->now || s->number - s->now >= Batch) return;
    const uint32_t bit = s->number - s->now;
    s->reached.of[bit / 64] = uint64_t{1} << (bit % 64);
    *readyToSend = gossamer::Pin(0);
  }
};

}  // namespace closeness

GOSSAMER_VERTEX(closeness::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>
#include <gossamer/app/sources.h>

namespace closeness {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "closeness";
  static constexpr const char* summary = "how near other vertices are to a vertex: closeness and harmonic centrality";
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-12;
  static constexpr bool parallelInit = true;

  gossamer::Sources sources{0};
  uint32_t vertices = 1;

  void parameters(gossamer::Parameters& p) { sources.parameters(p); }

  void begin(const gossamer::GraphInfo& g) {
    vertices = g.vertices;
    sources.begin(name, g);
  }

  Params params(const gossamer::GraphInfo&) { return {sources.size()}; }

  void init(const gossamer::VertexInfo& v, State& s) {
    s = State{};
    s.number = sources.number(v.index);
  }

  void results(gossamer::Columns<State>& c) {
    const double count = sources.size();
    const double other = vertices - 1.0;
    // The number of sources that could reach the vertex.
    const auto possible = [count](const State& s) { return count - (s.number == None ? 0 : 1); };
    c.add(
        "closeness",
        "the reciprocal of the mean distance from the sources that reach the vertex, times their share of all sources",
        [possible](const State& s) {
          const double others = s.others;
          return s.others == 0 ? 0 : others / static_cast<double>(s.sum) * (others / possible(s));
        });
    c.add("harmonic", "the sum of the reciprocals of the distances from all other vertices, scaled up from the sources",
          [possible, other](const State& s) { return s.others == 0 ? 0 : s.harmonic * (other / possible(s)); });
  }
};

}  // namespace closeness

GOSSAMER_APPLICATION(closeness::App)
#endif
