// SPDX-License-Identifier: Apache-2.0
/// Heat: every vertex moves towards the mean temperature of its neighbours, in
/// time steps. One vertex is fixed at 1, all others start at 0.
///
/// On a grid or cube this is the explicit scheme for the heat equation. There
/// are two versions. In `heat` the engine synchronises: a step starts when
/// all messages have arrived. In `heat-gals` (globally asynchronous, locally
/// synchronous) vertices count messages: a vertex continues as soon as it has one
/// message from each neighbour, without a barrier. A neighbour can be at most one
/// step ahead, since it waits for this vertex's message. So messages carry
/// the parity of their step, and there are two sums.
#pragma once

#include <gossamer/accumulator.h>
#include <gossamer/polite.h>

namespace heat {

struct Params {
  uint32_t steps;
};

/// The new value of a vertex; share is rate / degree, or 0 for a vertex that is fixed or isolated.
inline float moved(float value, const gossamer::Accumulator& sum, float share, uint32_t degree) {
  using Number = gossamer::Accumulator::Number;  // as the difference of two sums is small
  const Number difference = sum.value() - static_cast<Number>(degree) * static_cast<Number>(value);
  return static_cast<float>(static_cast<Number>(value) + static_cast<Number>(share) * difference);
}

struct State {
  gossamer::Accumulator sum;  // of the neighbours' values received since the last step
  float value;
  float share;
  uint32_t degree;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, float, Params> {
  void init() { *readyToSend = gossamer::Pin(0); }

  void send(float* message) {
    *message = s->value;
    *readyToSend = gossamer::No;
  }

  void recv(const float* message, const gossamer::None*) { s->sum.add(*message); }

  bool step() {
    s->value = moved(s->value, s->sum, s->share, s->degree);
    s->sum.clear();
    if (time + 1 < params->steps) *readyToSend = gossamer::Pin(0);
    return time + 1 < params->steps;
  }

  bool finish(float* message) {
    *message = s->value;
    return true;
  }
};

namespace gals {

struct Message {
  float value;
  uint32_t odd;  // parity of the message's step
};

/// The messages of a step.
struct Inbox {
  gossamer::Accumulator sum;
  uint32_t missing;  // messages not yet received, plus one for the vertex's own if not yet sent
};

struct State {
  float value;
  float share;
  uint32_t degree;
  uint32_t now;    // completed steps
  Inbox inbox[2];  // by the parity of the step
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params> {
  /// A vertex without neighbours receives nothing, and does not change.
  void init() {
    if (s->degree != 0) *readyToSend = gossamer::Pin(0);
  }

  void send(Message* message) {
    *message = {s->value, s->now & 1};
    *readyToSend = gossamer::No;
    countDown(s->inbox[s->now & 1]);
  }

  void recv(const Message* message, const gossamer::None*) {
    Inbox& inbox = s->inbox[message->odd];
    inbox.sum.add(message->value);
    countDown(inbox);
  }

  bool finish(Message* message) {
    *message = {s->value, s->now & 1};
    return true;
  }

 private:
  /// Completes the step when no message is missing. The next step cannot end first: this vertex has not sent in it.
  void countDown(Inbox& inbox) {
    if (--inbox.missing != 0) return;
    s->value = moved(s->value, inbox.sum, s->share, s->degree);
    inbox.sum.clear();
    inbox.missing = s->degree + 1;
    if (++s->now < params->steps) *readyToSend = gossamer::Pin(0);
  }
};

}  // namespace gals

#ifdef HEAT_GALS
using Chosen = gals::Vertex;
#else
using Chosen = Vertex;
#endif

}  // namespace heat

GOSSAMER_VERTEX(heat::Chosen)

#if __STDC_HOSTED__
#include <gossamer/app.h>

#include <type_traits>

namespace heat {

inline void expect(State&) {}
inline void expect(gals::State& s) { s.inbox[0].missing = s.inbox[1].missing = s.degree + 1; }

struct App : gossamer::Application<Chosen> {
  static constexpr bool inStep = std::is_same_v<Chosen, heat::Vertex>;
  static constexpr const char* name = inStep ? "heat" : "heat-gals";
  static constexpr const char* summary =
      inStep ? "heat spreads from one vertex, in time steps"
             : "heat, where vertices synchronise by counting messages instead of by barriers";
  static constexpr bool undirected = true;
  static constexpr bool parallelInit = true;
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-4;

  uint32_t steps = 100;
  double rate = 0.5;
  uint32_t hot = 0;

  void parameters(gossamer::Parameters& p) {
    p.integer("steps", steps, 1, 1000000000, "time steps");
    p.real("rate", rate, 0, 1, "change of a vertex in a step, as a share of its difference to the neighbours' mean");
    p.vertex("hot", hot, "the vertex that is fixed at 1");
  }

  Params params(const gossamer::GraphInfo&) { return {steps}; }

  void init(const gossamer::VertexInfo& v, State& s) {
    s = {};
    s.value = v.index == hot ? 1 : 0;
    s.degree = static_cast<uint32_t>(v.degree);
    expect(s);
    s.share = v.index == hot || v.degree == 0 ? 0 : static_cast<float>(rate / static_cast<double>(v.degree));
  }

  void results(gossamer::Columns<State>& c) {
    c.add("temperature", "between 0 and 1", [](const State& s) { return s.value; });
  }
};

}  // namespace heat

GOSSAMER_APPLICATION(heat::App)
#endif
