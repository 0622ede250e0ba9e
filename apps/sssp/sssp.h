// SPDX-License-Identifier: Apache-2.0
/// Single-source shortest paths, asynchronous: a vertex that receives a shorter
/// distance sends it to its neighbours. The nearest send first, so most vertices send once.
///
/// Method: `max() - 1` (TooFar) means: a path exists, but its length overflows the
/// type. It is longer than any length that fits, so the result does not depend on the
/// order of messages; `verdict` searches for it. Integer distances are sent incremented
/// by one, so that every sum that overflows wraps around. At a vertex that is not yet
/// reached, a wrapped sum compares as shorter, so most messages need only the one
/// comparison that all messages need.
///
/// SSSP_SYNC: in time steps, as the paper runs it. In each step a vertex whose distance has decreased in the previous
/// step sends it to its neighbours, so every edge of a path of many edges may be used many times.
#pragma once

#include <gossamer/polite.h>

#include <limits>

#ifndef SSSP_NAME
#ifdef SSSP_SYNC
#define SSSP_NAME "sssp-sync"
#else
#define SSSP_NAME "sssp"
#endif
#define SSSP_WEIGHT int32_t
#define SSSP_DISTANCE uint32_t
#endif

namespace sssp {

using Weight = SSSP_WEIGHT;
using Distance = SSSP_DISTANCE;
using Limits = std::numeric_limits<Distance>;

inline constexpr Distance Unreached = Limits::has_infinity ? Limits::infinity() : Limits::max();
inline constexpr Distance TooFar = Limits::has_infinity ? Limits::max() : Limits::max() - 1;

struct State {
  Distance distance;
};

struct Vertex : gossamer::PVertex<State, Weight, Distance> {
  void init() { *readyToSend = s->distance == 0 ? gossamer::Pin(0) : gossamer::No; }

  /// Its edges have changed: sends its distance along them again.
  void changed() { *readyToSend = s->distance < TooFar ? gossamer::Pin(0) : gossamer::No; }

  void send(Distance* message) {
    *message = s->distance + Limits::is_integer;
    *readyToSend = gossamer::No;
  }

  void recv(const Distance* message, const Weight* weight) {
    const Distance length = *message + static_cast<Distance>(*weight);
    if constexpr (Limits::is_integer) {
      if (length > s->distance) return;
      if (length >= *message) {
        s->distance = length - 1;
        *readyToSend = gossamer::Pin(0);
      } else if (s->distance == Unreached) {
        s->distance = TooFar;
      }
    } else {
      if (length < s->distance) {
        s->distance = length;
        *readyToSend = gossamer::Pin(0);
      } else if (length == Unreached && s->distance == Unreached) {
        s->distance = TooFar;
      }
    }
  }

  bool finish(Distance* message) {
    *message = s->distance;
    return true;
  }

  uint32_t priority() const {
    if constexpr (sizeof(Distance) == 4 && Limits::is_integer) {
      return s->distance;
    } else {
      // The bits of non-negative floats are in the order of the numbers.
      return __builtin_bit_cast(uint32_t, static_cast<float>(s->distance));
    }
  }
};

namespace sync {

struct State {
  Distance distance;
  Distance sent;  // the distance that the targets know
};

struct Vertex : gossamer::PVertex<State, Weight, Distance> {
  static constexpr bool lazyStep = true;

  void init() {
    s->sent = s->distance;
    *readyToSend = s->distance == 0 ? gossamer::Pin(0) : gossamer::No;
  }

  /// Its edges have changed: sends its distance along them again.
  void changed() { *readyToSend = s->sent < TooFar ? gossamer::Pin(0) : gossamer::No; }

  void send(Distance* message) {
    *message = s->sent;
    *readyToSend = gossamer::No;
  }

  void recv(const Distance* message, const Weight* weight) {
    Distance length = *message + static_cast<Distance>(*weight);
    if (length < *message || length > TooFar) length = TooFar;
    if (length < s->distance) s->distance = length;
  }

  bool step() {
    if (s->distance == s->sent) return false;
    s->sent = s->distance;
    if (s->sent < TooFar) *readyToSend = gossamer::Pin(0);
    return true;
  }

  bool finish(Distance* message) {
    *message = s->distance;
    return true;
  }
};

}  // namespace sync

#ifdef SSSP_SYNC
using Chosen = sync::Vertex;
using ChosenState = sync::State;
#else
using Chosen = Vertex;
using ChosenState = State;
#endif

}  // namespace sssp

GOSSAMER_VERTEX(sssp::Chosen)

#if __STDC_HOSTED__
#include <gossamer/app.h>

#include <string>
#include <type_traits>

namespace sssp {

struct App : gossamer::Application<Chosen> {
  static constexpr const char* name = SSSP_NAME;
  static constexpr bool real = !Limits::is_integer;
  static constexpr bool inSteps = std::is_same_v<Chosen, sync::Vertex>;
  static constexpr const char* summary =
      inSteps                 ? "sssp in time steps"
      : real                  ? (sizeof(Distance) == 4 ? "sssp with weights and lengths in single precision"
                                                       : "sssp with weights and lengths in double precision")
      : sizeof(Distance) == 4 ? "lengths of the shortest paths from one vertex"
                              : "sssp with weights and lengths of 64 bits";
  static constexpr const char* wider = sizeof(Distance) == 8 ? nullptr : real ? "sssp-double" : "sssp64";
  static constexpr const char* fractional = real                    ? nullptr
                                            : sizeof(Distance) == 8 ? "sssp-double"
                                                                    : "sssp-float or sssp-double";
  static constexpr bool parallelInit = true;

  uint32_t source = 0;

  void parameters(gossamer::Parameters& p) { p.vertex("source", source, "the source of the paths"); }

  void begin(const gossamer::GraphInfo& g) {
    if (g.weightLow < 0) {
      throw std::invalid_argument(std::string(name) + ": the graph has a negative weight; weights must be at least 0");
    }
  }

  void init(const gossamer::VertexInfo& v, ChosenState& s) { s.distance = v.index == source ? 0 : Unreached; }

  gossamer::Verdict verdict(const gossamer::Outcome<ChosenState>& run) {
    uint64_t far = 0;
    for (const ChosenState& s : run) far += s.distance == TooFar;
    if (!far) return gossamer::Verdict::answer();
    const ChosenState* first = run.begin();
    while (first->distance != TooFar) ++first;
    const std::string limit = real ? std::to_string(8 * sizeof(Distance)) + " bits" : std::to_string(TooFar - 1);
    const std::string other = sizeof(Distance) == 4 ? (real ? "; use sssp-double" : "; use sssp64") : "";
    return gossamer::Verdict::overflow("the shortest paths to " + std::to_string(far) +
                                       (far == 1 ? " vertex" : " or more vertices") + " are longer than " + limit +
                                       (real ? " can represent" : "") + other)
        .at(static_cast<uint32_t>(first - run.begin()));
  }

  void results(gossamer::Columns<ChosenState>& c) {
    constexpr const char* help = real ? "length of the shortest path; inf if no path exists"
                                 : sizeof(Distance) == 4
                                     ? "length of the shortest path; 4294967295 if no path exists"
                                     : "length of the shortest path; 18446744073709551615 if no path exists";
    c.add("distance", help, [](const ChosenState& s) { return s.distance; }).absent(Unreached);
  }
};

}  // namespace sssp

GOSSAMER_APPLICATION(sssp::App)
#endif
