// SPDX-License-Identifier: Apache-2.0
/// Heat: every vertex moves towards the mean temperature of its neighbours, in
/// time steps. One is kept at 1, all others start at 0.
///
/// On a grid or cube this is the explicit scheme for the heat equation. There
/// are two ways to keep time. `heat` leaves it to the engine: a step begins when
/// all messages have arrived. `heat-gals` (globally asynchronous, locally
/// synchronous) keeps time by counting: a vertex goes on as soon as it has one
/// message from each neighbour, and no barrier is needed. A neighbour can be one
/// step ahead, never two: it waits for this vertex's message. So messages carry
/// the last bit of their time, and there are two sums.
#pragma once

#include <gossamer/polite.h>

namespace heat {

struct Params {
  uint32_t steps;
};

/// What a vertex moves by; share is rate / degree, or 0 for one that is kept or alone.
inline float moved(float value, float sum, float share, uint32_t degree) {
  return value + share * (sum - static_cast<float>(degree) * value);
}

struct State {
  float value;
  float sum;  // of what neighbours said since the last step
  float share;
  uint32_t degree;
};

struct Vertex : gossamer::PVertex<State, gossamer::None, float, Params> {
  void init() { *readyToSend = gossamer::Pin(0); }

  void send(float* message) {
    *message = s->value;
    *readyToSend = gossamer::No;
  }

  void recv(const float* message, const gossamer::None*) { s->sum += *message; }

  bool step() {
    s->value = moved(s->value, s->sum, s->share, s->degree);
    s->sum = 0;
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
  uint32_t odd;  // last bit of the time that it is of
};

/// What has come of a time.
struct Heard {
  float sum;
  uint32_t missing;  // messages that are still to come, and the vertex's own that is still to go
};

struct State {
  float value;
  float share;
  uint32_t degree;
  uint32_t now;    // steps done
  Heard heard[2];  // by the last bit of the time
};

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params> {
  /// A vertex alone hears nobody, and stays as it is.
  void init() {
    if (s->degree != 0) *readyToSend = gossamer::Pin(0);
  }

  void send(Message* message) {
    *message = {s->value, s->now & 1};
    *readyToSend = gossamer::No;
    oneLess(s->heard[s->now & 1]);
  }

  void recv(const Message* message, const gossamer::None*) {
    Heard& heard = s->heard[message->odd];
    heard.sum += message->value;
    oneLess(heard);
  }

  bool finish(Message* message) {
    *message = {s->value, s->now & 1};
    return true;
  }

 private:
  /// Takes the step if that was all. Of the next time this vertex has not sent yet, so that it cannot end first.
  void oneLess(Heard& heard) {
    if (--heard.missing != 0) return;
    s->value = moved(s->value, heard.sum, s->share, s->degree);
    heard = {0, s->degree + 1};
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
inline void expect(gals::State& s) { s.heard[0].missing = s.heard[1].missing = s.degree + 1; }

struct App : gossamer::Application<Chosen> {
  static constexpr bool inStep = std::is_same_v<Chosen, heat::Vertex>;
  static constexpr const char* name = inStep ? "heat" : "heat-gals";
  static constexpr const char* summary =
      inStep ? "heat spreads from one vertex, in time steps"
             : "heat, where vertices keep time by counting messages instead of by barriers";
  static constexpr bool undirected = true;
  static constexpr bool parallelInit = true;
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-4;

  uint32_t steps = 100;
  double rate = 0.5;
  uint32_t hot = 0;

  void parameters(gossamer::Parameters& p) {
    p.integer("steps", steps, 1, 1000000000, "time steps");
    p.real("rate", rate, 0, 1, "share of the way to the neighbours' mean that a vertex goes in a step");
    p.vertex("hot", hot, "the vertex that is kept at 1");
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
