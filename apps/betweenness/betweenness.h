// SPDX-License-Identifier: Apache-2.0
/// Sampled betweenness: the number of shortest paths through a vertex (Brandes), from some sources.
///
/// Parallel edges are one edge, as in NetworkX: paths that differ only in them are the same path.
///
/// Seven sources run at once, as many numbers as fit in a message. Each has a lane, and a vertex sends
/// whenever one of its lanes is at the current level; the message has 0 in the other lanes. A step
/// is a level of all lanes. On the way out, each vertex sums the number of shortest
/// paths that lead to it; on the way back, the dependencies of its successors on it. All vertices know
/// the current level, since the aggregate shows when a level has reached no new vertex in any lane.
///
/// `recv` is the same in both directions, and accesses one cache line of the state. `open` selects
/// the lanes that accept values in this step.
#pragma once

#include <gossamer/polite.h>

namespace betweenness {

inline constexpr uint32_t None = 0xffffffff;
inline constexpr uint32_t Lanes = 7;
inline constexpr uint64_t Infinite = uint64_t{0x7ff} << 52;  // as a double

struct State {
  // Values received in the open lanes. Out: numbers of shortest paths. Back: the share of paths through this vertex,
  // over all targets beyond it, divided by `paths`.
  double in[Lanes];
  uint8_t open;         // one bit per lane: accepts values in this step
  uint8_t due;          // one bit per lane: sends in this step
  bool back;            // direction; the same at all vertices, as is `origin`
  uint32_t origin;      // the current level is `time - origin` on the way out, and `origin - time` back
  double paths[Lanes];  // number of shortest paths from the source
  double sum;           // over all sources, of the share of paths through this vertex
  uint32_t level[Lanes];
  uint32_t number;     // its number as a source, or None
  uint32_t now;        // the source of lane 0
  uint32_t unused[7];  // pads the state to whole cache lines
};

// Packed, to fit the payload of a hardware message.
struct [[gnu::packed, gnu::aligned(4)]] Message {
  double lane[Lanes];
  uint32_t due;  // one bit per lane
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
    if ((lanes & (lanes - 1)) == 0) {  // the usual case on graphs of many levels
      uint32_t k = 0;
      while ((lanes >> k & 1) == 0) ++k;
      s->in[k] += message->lane[k];
      return;
    }
    // Branch-free, so that a compiler can vectorise it.
    for (uint32_t k = 0; k < Lanes; ++k) {
      s->in[k] += (lanes >> k & 1) != 0 ? message->lane[k] : 0;
    }
  }

  bool step(const Totals& all, Totals& mine) {
    if (!s->back) {
      // If the previous level reached no vertex, the level before that was the last that sent.
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
  // The lanes that have reached this vertex at `level`.
  uint8_t lanesAt(uint32_t level) const {
    uint32_t lanes = 0;
    for (uint32_t k = 0; k < Lanes; ++k) lanes |= static_cast<uint32_t>(s->level[k] == level) << k;
    return static_cast<uint8_t>(lanes);
  }

  // On the way out: lanes that received a value reach this vertex at this level.
  void reach(uint32_t level) {
    s->due = 0;
    if (s->open == 0) return;
    for (uint32_t k = 0; k < Lanes; ++k) {
      const auto bits = __builtin_bit_cast(uint64_t, s->in[k]);  // avoids software floating point
      if (bits == 0) continue;
      // Overflow: recorded here, since all values on the way back from this vertex would be 0.
      if (bits >= Infinite) s->sum = s->in[k];
      s->paths[k] = s->in[k];
      s->in[k] = 0;
      s->level[k] = level;
      s->due |= static_cast<uint8_t>(1 << k);
    }
    s->open &= static_cast<uint8_t>(~s->due);
  }

  // Starts the next sources: step number `step` + 1 is level 1.
  void begin(uint32_t step) {
    s->open = s->due = 0;
    for (uint32_t k = 0; k < Lanes; ++k) {
      const bool source = s->number != None && s->number == s->now + k;
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
#include <gossamer/app/sources.h>

#include <cmath>

namespace betweenness {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "betweenness";
  static constexpr const char* summary = "how many shortest paths pass through a vertex, from a sample of sources";
  static constexpr gossamer::Wiring wiring = gossamer::Wiring::distinct;
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-9;
  static constexpr bool parallelInit = true;

  gossamer::Sources sources{16};
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

  gossamer::Verdict verdict(const Outcome& run) {
    for (const State& s : run) {
      if (std::isfinite(s.sum)) continue;
      return gossamer::Verdict::overflow("the number of shortest paths overflows double precision")
          .at(static_cast<uint32_t>(&s - run.begin()));
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

}  // namespace betweenness

GOSSAMER_APPLICATION(betweenness::App)
#endif
