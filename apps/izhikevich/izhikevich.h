// SPDX-License-Identifier: Apache-2.0
/// A net of spiking neurons by Izhikevich's model (IEEE Transactions on Neural
/// Networks 14, 2003): four in five excite their targets, the others inhibit.
///
///   v' = 0.04 v^2 + 5 v + 140 - u + I        at 30 mV: v = c, u = u + d
///   u' = a (b v - u)
///
/// A step is a millisecond; v moves in two halves, as in the paper's program. I
/// is noise from outside and what the sources of spikes give. Everything is in
/// fixed point, so sums do not depend on the order of messages: all engines give
/// the same spikes, which floating point in a chaotic net would not.
#pragma once

#include <gossamer/polite.h>

namespace izhikevich {

/// Numbers with 16 bits behind the point.
using Fixed = int32_t;
inline constexpr Fixed One = 1 << 16;
constexpr Fixed fixed(double x) { return static_cast<Fixed>(x * One + (x < 0 ? -0.5 : 0.5)); }
inline Fixed times(Fixed a, Fixed b) { return static_cast<Fixed>(static_cast<int64_t>(a) * b >> 16); }

struct Params {
  uint32_t steps;
  uint32_t seed;
};

/// What a neuron is, and how it is.
struct Neuron {
  Fixed v, u;
  Fixed a, b, c, d;
  Fixed noise;       // width of the current from outside
  int32_t strength;  // of a spike at its targets, in 1/256 mV; 1,280,000 at most
  uint32_t number;
  uint32_t spikes;
};

/// Bits that depend on everything and look like chance.
inline uint32_t scattered(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  return x ^ x >> 16;
}

/// The current from outside: four uniform numbers added up are nearly normal, of variance 1/3 here.
inline Fixed outside(const Neuron& n, uint32_t time, uint32_t seed) {
  const uint32_t bits = scattered(scattered(n.number ^ scattered(seed)) + time);
  const int32_t sum = static_cast<int32_t>((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24)) - 510;
  return times(n.noise, sum * (One / 256));
}

/// A millisecond with a current; true for a spike in its beginning.
inline bool live(Neuron& n, Fixed current) {
  const bool spikes = n.v >= fixed(30);
  if (spikes) {
    n.v = n.c;
    n.u += n.d;
    ++n.spikes;
  }
  for (int half = 0; half < 2; ++half) {
    const Fixed change = times(times(fixed(0.04), n.v), n.v) + 5 * n.v + fixed(140) - n.u + current;
    n.v += change >> 1;
    // What is beyond has spiked; in fixed point it must not run away before that is seen.
    if (n.v > fixed(100)) n.v = fixed(100);
    if (n.v < fixed(-200)) n.v = fixed(-200);
  }
  n.u += times(n.a, times(n.b, n.v) - n.u);
  return spikes;
}

struct State {
  Neuron neuron;
  int64_t current;  // from the spikes of this step: all edges that a graph can have, at the greatest strength, fit
};

struct Vertex : gossamer::PVertex<State, gossamer::None, int32_t, Params> {
  void init() { *readyToSend = gossamer::No; }

  void send(int32_t* message) {
    *message = s->neuron.strength;
    *readyToSend = gossamer::No;
  }

  void recv(const int32_t* message, const gossamer::None*) { s->current += *message; }

  /// Spikes of a step arrive in the next one.
  bool step() {
    if (time >= params->steps) return false;
    int64_t current = s->current;
    if (current > 256 * 1000) current = 256 * 1000;
    if (current < -256 * 1000) current = -256 * 1000;
    s->current = 0;
    const Fixed given = static_cast<Fixed>(current) * 256 + outside(s->neuron, time, params->seed);
    if (live(s->neuron, given)) *readyToSend = gossamer::Pin(0);
    return time + 1 < params->steps;
  }

  bool finish(int32_t* message) {
    *message = s->neuron.v;
    return true;
  }
};

}  // namespace izhikevich

GOSSAMER_VERTEX(izhikevich::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace izhikevich {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "izhikevich";
  static constexpr const char* summary = "a net of spiking neurons, in steps of a millisecond";
  static constexpr bool parallelInit = true;

  uint32_t steps = 100;
  uint32_t seed = 1;
  double strength = 1;

  void parameters(gossamer::Parameters& p) {
    p.integer("steps", steps, 1, 1000000000, "milliseconds");
    p.integer("noise-seed", seed, 0, 4294967295, "of the neurons' kinds and the current from outside");
    p.real("strength", strength, 0, 10, "of spikes; 1: the targets of one together get what the paper's do");
  }

  Params params(const gossamer::GraphInfo&) { return {steps, seed}; }

  /// Kinds as in the paper's program: r uniform, squared for those that excite. There a spike has 1,000 targets and
  /// gives each 0.25 mV in the mean, or takes 0.5 mV; here it has fewer, and each gets more.
  void init(const gossamer::VertexInfo& v, State& s) {
    const uint32_t bits = scattered(v.index ^ scattered(seed + 0x9e3779b9));
    const double r = (bits >> 8 & 0xffff) / 65536.0;
    const bool excites = bits % 5 != 0;
    const double share = v.degree ? strength * 1000 / static_cast<double>(v.degree) : 0;
    Neuron& n = s.neuron;
    n.number = v.index;
    n.spikes = 0;
    n.a = fixed(excites ? 0.02 : 0.02 + 0.08 * r);
    n.b = fixed(excites ? 0.2 : 0.25 - 0.05 * r);
    n.c = fixed(excites ? -65 + 15 * r * r : -65);
    n.d = fixed(excites ? 8 - 6 * r * r : 2);
    n.noise = fixed((excites ? 5 : 2) * 1.7320508);
    n.strength = static_cast<int32_t>(256 * (excites ? 0.25 : -0.5) * share);
    n.v = fixed(-65);
    n.u = times(n.b, n.v);
    s.current = 0;
  }

  void results(gossamer::Columns<State>& c) {
    c.add("spikes", "how often the neuron has spiked", [](const State& s) { return s.neuron.spikes; });
    c.add("potential", "of its membrane in the end, mV", [](const State& s) { return s.neuron.v / 65536.0f; });
  }
};

}  // namespace izhikevich

GOSSAMER_APPLICATION(izhikevich::App)
#endif
