// SPDX-License-Identifier: Apache-2.0
/// Betweenness from samples: over how many shortest paths a vertex lies (Brandes), from some sources.
///
/// Seven sources at once, as many as a message holds numbers: each has a lane, and a vertex sends
/// whenever one of its lanes is at the level that is due; in the other lanes a message has 0, which
/// adds nothing. A step is a level of all lanes: outwards, each vertex adds up how many shortest
/// paths lead to it; back again, what its successors depend on it. All vertices know which step it
/// is, since the aggregate tells when a level reached nobody new in any lane.
///
/// `recv` does the same in both directions, and touches one cache line of the state, which says in
/// `open` what lanes take anything in this step.
#pragma once

#include <gossamer/polite.h>

namespace betweenness {

inline constexpr uint32_t None = 0xffffffff;
inline constexpr uint32_t Lanes = 7;
inline constexpr uint64_t Infinite = uint64_t{0x7ff} << 52;  // as a double

struct State {
  // Of the open lanes, what came in. Outwards: shortest paths. Back: of all targets behind this vertex,
  // the share of paths through it, over `paths`.
  double in[Lanes];
  uint8_t open;         // a bit a lane: takes what comes in this step
  uint8_t due;          // a bit a lane: sends in this step
  bool back;            // the same at all vertices,
  uint32_t origin;      // and so is this: the level that is due is `time` less this, or back, this less `time`
  double paths[Lanes];  // shortest ones from the source
  double sum;           // over all sources, of the share of paths through this vertex
  uint32_t level[Lanes];
  uint32_t turn;       // it is this source, or None
  uint32_t now;        // the source of lane 0
  uint32_t unused[7];  // so that every state begins a cache line
};

// Without room between two of them, and within what a message holds.
struct [[gnu::packed, gnu::aligned(4)]] Message {
  double lane[Lanes];
  uint32_t due;  // a bit a lane
};

struct Params {
  uint32_t sources;
};

struct Totals {
  gossamer::Sum<uint32_t> fresh;  // vertices reached in this step
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params, Totals> {
  void init() { begin(0xffffffff); }

  void send(Message* message) {
    for (uint32_t k = 0; k < Lanes; ++k) {
      const double value = s->back ? 1 / s->paths[k] + s->in[k] : s->paths[k];
      message->lane[k] = (s->due >> k & 1) != 0 ? value : 0;
    }
    message->due = s->due;
    *readyToSend = gossamer::No;
  }

  void recv(const Message* message, const gossamer::None*) {
    const uint32_t lanes = s->open & message->due;
    if (lanes == 0) return;
    if ((lanes & (lanes - 1)) == 0) {  // as mostly on graphs of many levels
      uint32_t k = 0;
      while ((lanes >> k & 1) == 0) ++k;
      s->in[k] += message->lane[k];
      return;
    }
    // No branches here, so that a compiler can take several at once.
    for (uint32_t k = 0; k < Lanes; ++k) {
      s->in[k] += (lanes >> k & 1) != 0 ? message->lane[k] : 0;
    }
  }

  bool step(const Totals& all, Totals& mine) {
    if (!s->back) {
      // Where the level before reached nobody, the one before that was the last that sent.
      const uint32_t level = time - s->origin;
      if (level == 1 || all.fresh.value() != 0) {
        reach(level);
        if (s->due != 0) {
          mine.fresh.give(1);
          *readyToSend = gossamer::Pin(0);
        }
        return true;
      }
      s->back = true;
      s->origin = time + level - 2;
    }
    const uint32_t level = s->origin - time;
    if (level > 0) {
      s->due = lanesAt(level);
      s->open = lanesAt(level - 1);
      if (s->due != 0) *readyToSend = gossamer::Pin(1);
      return true;
    }
    for (uint32_t k = 0; k < Lanes; ++k) s->sum += s->level[k] != 0 ? s->paths[k] * s->in[k] : 0;
    s->now += Lanes;
    begin(time);
    return s->now < params->sources;
  }

 private:
  // What lanes have reached this vertex at `level`.
  uint8_t lanesAt(uint32_t level) const {
    uint32_t lanes = 0;
    for (uint32_t k = 0; k < Lanes; ++k) lanes |= static_cast<uint32_t>(s->level[k] == level) << k;
    return static_cast<uint8_t>(lanes);
  }

  // Outwards: lanes that something came in for are at this level.
  void reach(uint32_t level) {
    s->due = 0;
    if (s->open == 0) return;
    for (uint32_t k = 0; k < Lanes; ++k) {
      const auto bits = __builtin_bit_cast(uint64_t, s->in[k]);  // compared without soft float
      if (bits == 0) continue;
      // More than can be counted: said here, since all that comes back from this vertex would be 0.
      if (bits >= Infinite) s->sum = s->in[k];
      s->paths[k] = s->in[k];
      s->in[k] = 0;
      s->level[k] = level;
      s->due |= static_cast<uint8_t>(1 << k);
    }
    s->open &= static_cast<uint8_t>(~s->due);
  }

  // The next step, after that of this number, is level 1.
  void begin(uint32_t step) {
    s->open = s->due = 0;
    for (uint32_t k = 0; k < Lanes; ++k) {
      const bool source = s->turn != None && s->turn == s->now + k;
      s->level[k] = source ? 0 : None;
      s->paths[k] = source ? 1 : 0;
      s->in[k] = 0;
      (source ? s->due : s->open) |= static_cast<uint8_t>(1 << k);
    }
    if (s->due != 0) *readyToSend = gossamer::Pin(0);
    s->origin = step;
    s->back = false;
  }
};

}  // namespace betweenness

GOSSAMER_VERTEX(betweenness::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

#include <algorithm>
#include <cmath>

namespace betweenness {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "betweenness";
  static constexpr const char* summary = "over how many shortest paths a vertex lies, from a sample of sources";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::backward;
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-9;
  static constexpr bool parallelInit = true;

  uint32_t sources = 16;
  uint32_t vertices = 1;

  void parameters(gossamer::Parameters& p) {
    p.integer("sources", sources, 1, 4294967294, "how many sources, spaced evenly over the vertices");
  }

  void begin(const gossamer::GraphInfo& g) {
    vertices = g.vertices;
    sources = std::min(sources, vertices);
  }

  Params params(const gossamer::GraphInfo&) { return {sources}; }

  /// Source k is vertex k * n / sources, rounded down.
  void init(const gossamer::VertexInfo& v, State& s) {
    const uint64_t n = v.vertices;
    const auto k = static_cast<uint32_t>((uint64_t{v.index} * sources + n - 1) / n);
    s = State{};
    s.turn = k < sources && uint64_t{k} * n / sources == v.index ? k : None;
  }

  gossamer::Verdict verdict(const Outcome& run) {
    for (const State& s : run) {
      if (std::isfinite(s.sum)) continue;
      return gossamer::Verdict::overflow("there are more shortest paths than double precision counts")
          .at(static_cast<uint32_t>(&s - run.begin()));
    }
    return gossamer::Verdict::answer();
  }

  void results(gossamer::Columns<State>& c) {
    const double each = static_cast<double>(vertices) / sources;
    c.add("betweenness",
          "sum over pairs of other vertices of the share of shortest paths through it, scaled up "
          "from the sample",
          [each](const State& s) { return s.sum * each; });
  }
};

}  // namespace betweenness

GOSSAMER_APPLICATION(betweenness::App)
#endif
