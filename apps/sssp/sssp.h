// SPDX-License-Identifier: Apache-2.0
/// Single-source shortest paths, asynchronous: a vertex that hears of a shorter
/// way tells its neighbours. The nearest go first, so each mostly tells once.
///
/// Trick: the greatest number but one stands for a way that is there and too long
/// for the type. It is longer than any that fits, so the order of messages does
/// not matter to it either; it is looked for in the end. Whole numbers travel one
/// greater than they are, so that every sum that is too long wraps: at a vertex
/// that has heard of no way it then looks shorter, and the comparison that all
/// messages go through is the only one that most of them do.
///
/// SSSP_SYNC: in time steps, as the paper runs it. In each step a vertex whose distance fell in the last one tells its
/// neighbours, so every edge on a way of many edges may be used many times.
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

  /// Its edges have changed: those behind it hear its distance again.
  void changed() { *readyToSend = s->distance < TooFar ? gossamer::Pin(0) : gossamer::No; }

  void send(Distance* message) {
    *message = s->distance + Limits::is_integer;
    *readyToSend = gossamer::No;
  }

  void recv(const Distance* message, const Weight* weight) {
    const Distance way = *message + static_cast<Distance>(*weight);
    if constexpr (Limits::is_integer) {
      if (way > s->distance) return;
      if (way >= *message) {
        s->distance = way - 1;
        *readyToSend = gossamer::Pin(0);
      } else if (s->distance == Unreached) {
        s->distance = TooFar;
      }
    } else {
      if (way < s->distance) {
        s->distance = way;
        *readyToSend = gossamer::Pin(0);
      } else if (way == Unreached && s->distance == Unreached) {
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
      // The bits of numbers from 0 up are in the order of the numbers.
      return __builtin_bit_cast(uint32_t, static_cast<float>(s->distance));
    }
  }
};

namespace sync {

struct State {
  Distance distance;
  Distance told;  // the distance that the vertices behind its edges know
};

struct Vertex : gossamer::PVertex<State, Weight, Distance> {
  static constexpr bool lazyStep = true;

  void init() {
    s->told = s->distance;
    *readyToSend = s->distance == 0 ? gossamer::Pin(0) : gossamer::No;
  }

  /// Its edges have changed: those behind it hear its distance again.
  void changed() { *readyToSend = s->told < TooFar ? gossamer::Pin(0) : gossamer::No; }

  void send(Distance* message) {
    *message = s->told;
    *readyToSend = gossamer::No;
  }

  void recv(const Distance* message, const Weight* weight) {
    Distance way = *message + static_cast<Distance>(*weight);
    if (way < *message || way > TooFar) way = TooFar;
    if (way < s->distance) s->distance = way;
  }

  bool step() {
    if (s->distance == s->told) return false;
    s->told = s->distance;
    if (s->told < TooFar) *readyToSend = gossamer::Pin(0);
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

  void parameters(gossamer::Parameters& p) { p.vertex("source", source, "the vertex that the paths start from"); }

  void begin(const gossamer::GraphInfo& g) {
    if (g.weightLow < 0) {
      throw std::invalid_argument(std::string(name) + ": the graph has a negative weight; it takes weights from 0 up");
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
    const std::string other = sizeof(Distance) == 4 ? (real ? "; take sssp-double" : "; take sssp64") : "";
    return gossamer::Verdict::overflow("the shortest paths to " + std::to_string(far) +
                                       (far == 1 ? " vertex" : " vertices or more") + " are longer than " + limit +
                                       (real ? " hold" : "") + other)
        .at(static_cast<uint32_t>(first - run.begin()));
  }

  void results(gossamer::Columns<ChosenState>& c) {
    constexpr const char* help = real ? "length of the shortest path; inf where there is none"
                                 : sizeof(Distance) == 4
                                     ? "length of the shortest path; 4294967295 where there is none"
                                     : "length of the shortest path; 18446744073709551615 where there is none";
    c.add("distance", help, [](const ChosenState& s) { return s.distance; }).absent(Unreached);
  }
};

}  // namespace sssp

GOSSAMER_APPLICATION(sssp::App)
#endif
