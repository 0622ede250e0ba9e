// SPDX-License-Identifier: Apache-2.0
/// A net of spiking neurons by Izhikevich's model (IEEE Transactions on Neural
/// Networks 14, 2003): four in five excite their targets, the others inhibit.
///
///   v' = 0.04 v^2 + 5 v + 140 - u + I        at 30 mV: v = c, u = u + d
///   u' = a (b v - u)
///
/// A step is a millisecond; v is integrated in two half steps, as in the paper's program. I
/// is external noise plus the current from spikes. Everything is in
/// fixed point, so sums do not depend on the order of messages: all engines compute
/// the same spikes, which floating point in a chaotic net would not ensure.
///
/// In `izhikevich` the engine synchronises: a step starts when all spikes
/// have arrived. `izhikevich-gals` (globally asynchronous, locally synchronous) has no
/// barrier: in each step a neuron informs its targets whether it spikes, and its sources
/// that it has completed the step, and continues when it has a message from all of both. So a
/// neighbour can be at most one step ahead: messages carry the parity of their
/// step, and there are two sums.
#pragma once

#include <gossamer/polite.h>

namespace izhikevich {

/// Numbers with 16 fractional bits.
using Fixed = int32_t;
inline constexpr Fixed One = 1 << 16;
constexpr Fixed fixed(double x) { return static_cast<Fixed>(x * One + (x < 0 ? -0.5 : 0.5)); }
inline Fixed times(Fixed a, Fixed b) { return static_cast<Fixed>(static_cast<int64_t>(a) * b >> 16); }

struct Params {
  uint32_t steps;
  uint32_t seed;
};

/// Parameters and state of a neuron.
struct Neuron {
  Fixed v, u;
  Fixed a, b, c, d;
  Fixed noise;       // amplitude of the external current
  int32_t strength;  // of a spike at its targets, in 1/256 mV; at most 1,280,000
  uint32_t number;
  uint32_t spikes;
};

/// A hash, used as a source of pseudo-random bits.
inline uint32_t scattered(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  return x ^ x >> 16;
}

/// The external current: the sum of four uniform numbers is nearly normal, here of variance 1/3.
inline Fixed outside(const Neuron& n, uint32_t time, uint32_t seed) {
  const uint32_t bits = scattered(scattered(n.number ^ scattered(seed)) + time);
  const int32_t sum = static_cast<int32_t>((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24)) - 510;
  return times(n.noise, sum * (One / 256));
}

/// Simulates a millisecond with a current; returns true for a spike at its beginning.
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
    // A larger value is a spike; in fixed point it must not overflow before the spike is detected.
    if (n.v > fixed(100)) n.v = fixed(100);
    if (n.v < fixed(-200)) n.v = fixed(-200);
  }
  n.u += times(n.a, times(n.b, n.v) - n.u);
  return spikes;
}

/// Simulates a millisecond with the current of spikes, in 1/256 mV; returns true for a spike at its beginning.
inline bool liveWith(Neuron& n, int64_t current, uint32_t time, uint32_t seed) {
  if (current > 256 * 1000) current = 256 * 1000;
  if (current < -256 * 1000) current = -256 * 1000;
  return live(n, static_cast<Fixed>(current) * 256 + outside(n, time, seed));
}

struct State {
  Neuron neuron;
  int64_t current;  // from the spikes of this step; the maximum number of edges at the maximum strength fits
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
    const int64_t current = s->current;
    s->current = 0;
    if (liveWith(s->neuron, current, time, params->seed)) *readyToSend = gossamer::Pin(0);
    return time + 1 < params->steps;
  }

  bool finish(int32_t* message) {
    *message = s->neuron.v;
    return true;
  }
};

namespace gals {

struct Message {
  int32_t strength;  // 0 without a spike, and in messages to a source
  uint32_t odd;      // parity of the message's step
};

struct State {
  Neuron neuron;
  int64_t currents[2];
  uint32_t missing[2];  // messages of the step not yet received, plus those of the neuron's own two not yet sent
  uint32_t neighbours;  // sources and targets
  uint32_t now;         // completed steps
  uint32_t sent;        // in this step: 0 nothing, 1 the message to the targets
  int32_t strength;     // of the spike in this step's message
};

/// Pin 0 leads to the targets, pin 1 to the sources.
struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params> {
  void init() {
    *readyToSend = gossamer::No;
    advance(0);
  }

  void send(Message* message) {
    const bool targets = s->sent == 0;
    *message = {targets ? s->strength : 0, s->now & 1};
    *readyToSend = targets ? gossamer::Pin(1) : gossamer::No;
    s->sent = 1;
    countDown(s->now & 1);
  }

  void recv(const Message* message, const gossamer::None*) {
    s->currents[message->odd] += message->strength;
    countDown(message->odd);
  }

  bool finish(Message* message) {
    *message = {s->neuron.v, s->now & 1};
    return true;
  }

 private:
  /// Starts the next step when no message is missing. The step after it cannot start first: this neuron has not sent.
  void countDown(uint32_t odd) {
    if (--s->missing[odd] != 0) return;
    const int64_t current = s->currents[odd];
    s->currents[odd] = 0;
    s->missing[odd] = s->neighbours + 2;
    advance(current);
  }

  void advance(int64_t current) {
    s->strength = liveWith(s->neuron, current, s->now, params->seed) ? s->neuron.strength : 0;
    s->sent = 0;
    // No neuron needs a message of the last step.
    if (++s->now < params->steps) *readyToSend = gossamer::Pin(0);
  }
};

}  // namespace gals

#ifdef IZHIKEVICH_GALS
using Chosen = gals::Vertex;
#else
using Chosen = Vertex;
#endif

}  // namespace izhikevich

GOSSAMER_VERTEX(izhikevich::Chosen)

#if __STDC_HOSTED__
#include <gossamer/app.h>

#include <type_traits>

namespace izhikevich {

inline void join(State&, uint64_t) {}
inline void join(gals::State& s, uint64_t neighbours) {
  s.neighbours = static_cast<uint32_t>(neighbours);
  s.missing[0] = s.missing[1] = s.neighbours + 2;
}

struct App : gossamer::Application<Chosen> {
  using State = Chosen::State;
  static constexpr bool inStep = std::is_same_v<Chosen, izhikevich::Vertex>;
  static constexpr const char* name = inStep ? "izhikevich" : "izhikevich-gals";
  static constexpr const char* summary =
      inStep ? "a net of spiking neurons, in steps of a millisecond"
             : "izhikevich, where neurons synchronise by counting messages instead of by barriers";
  static constexpr gossamer::Wiring wiring = inStep ? gossamer::Wiring::given : gossamer::Wiring::backward;
  static constexpr bool parallelInit = true;

  uint32_t steps = 100;
  uint32_t seed = 1;
  double strength = 1;

  void parameters(gossamer::Parameters& p) {
    p.integer("steps", steps, 1, 1000000000, "milliseconds");
    p.integer("noise-seed", seed, 0, 4294967295, "of the neurons' kinds and the external current");
    p.real("strength", strength, 0, 10, "of spikes; 1: the total effect of a spike on its targets equals the paper's");
  }

  Params params(const gossamer::GraphInfo&) { return {steps, seed}; }

  /// Kinds as in the paper's program: r uniform, squared for excitatory neurons. In the paper a spike has 1,000 targets
  /// and adds 0.25 mV to each on average, or subtracts 0.5 mV; here it has fewer targets, with a larger effect on each.
  void init(const gossamer::VertexInfo& v, State& s) {
    const uint32_t bits = scattered(v.index ^ scattered(seed + 0x9e3779b9));
    const double r = (bits >> 8 & 0xffff) / 65536.0;
    const bool excites = bits % 5 != 0;
    const double share = v.degree ? strength * 1000 / static_cast<double>(v.degree) : 0;
    s = {};
    join(s, v.degree + v.backward);
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
  }

  void results(gossamer::Columns<State>& c) {
    c.add("spikes", "number of spikes of the neuron", [](const State& s) { return s.neuron.spikes; });
    c.add("potential", "of its membrane at the end, mV", [](const State& s) { return s.neuron.v / 65536.0f; });
  }
};

}  // namespace izhikevich

GOSSAMER_APPLICATION(izhikevich::App)
#endif
