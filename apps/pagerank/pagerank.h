// SPDX-License-Identifier: Apache-2.0
/// PageRank: every vertex shares its score among the vertices it points to.
///
/// One step is one iteration of the power method, without the dangling mass:
/// score = (1 - d)/n + d * sum of score/degree over the in-edges. That fixed
/// point is the textbook's, up to a factor: spreading the rank of dangling
/// vertices over all only adds the same constant everywhere, so dividing by
/// the sum in the end gives it exactly, without a global sum in each step.
///
/// The last step is the one behind that in which all scores together moved by no
/// more than the tolerance. Both sums are in fixed point, so the number of steps
/// does not depend on the order in which vertices are added up.
///
/// PAGERANK_WEIGHTED: edges share a score by their weights. PAGERANK_PERSONAL: what does not follow the
/// edges starts over at some vertices, in equal shares, and so does the mass of dangling ones.
#pragma once

#include <gossamer/polite.h>

#ifndef PAGERANK_REAL
#define PAGERANK_REAL float
#endif

namespace pagerank {

using Real = PAGERANK_REAL;

inline float magnitude(float x) { return __builtin_fabsf(x); }
inline double magnitude(double x) { return __builtin_fabs(x); }

struct State {
  Real sum;  // received since the last step
  Real score;
  Real share;  // damping / out-degree (or the sum of the weights), or 0
#ifdef PAGERANK_PERSONAL
  Real base;  // 1 - damping where the walk starts over, or 0
#endif
};

#ifdef PAGERANK_WEIGHTED
using Weight = Real;
#else
using Weight = gossamer::None;
#endif

struct Params {
  Real base;       // (1 - damping) / vertices; personal, each vertex has its own
  Real tolerance;  // how much all scores may move in the last step, as a share of their sum; below 0: no matter
  uint32_t most;   // stop after so many steps
};

// Scores are 1 in all at most; what they move by, twice that. Every change is rounded up: what many vertices move by,
// each less than the last bit, must not pass for rest. So a tolerance below vertices * 2^-61 is met at rest only.
struct Totals {
  static constexpr Real up = static_cast<Real>(0x1p-62);  // half of the last bit
  gossamer::FixedSum<Real, 61> change;
  gossamer::FixedSum<Real, 61> scores;

  bool within(Real tolerance) const { return change.value() <= tolerance * scores.value(); }
};

struct Vertex : gossamer::PVertex<State, Weight, Real, Params, Totals> {
  void init() { *readyToSend = gossamer::Pin(0); }

  /// The graph has changed: the power method goes on from the scores that stand.
  void resume() { *readyToSend = gossamer::Pin(0); }

  void send(Real* message) {
    *message = s->score * s->share;
    *readyToSend = gossamer::No;
  }

#ifdef PAGERANK_WEIGHTED
  void recv(const Real* message, const Weight* weight) { s->sum += *message * *weight; }
#else
  void recv(const Real* message, const Weight*) { s->sum += *message; }
#endif

  bool step(const Totals& all, Totals& mine) {
#ifdef PAGERANK_PERSONAL
    const Real score = s->base + s->sum;
#else
    const Real score = params->base + s->sum;
#endif
    // With a number of steps given, only the last one's sums are of interest.
    if (params->tolerance >= 0 || time + 1 == params->most) {
      mine.change.give(magnitude(score - s->score) + Totals::up);
      mine.scores.give(score);
    }
    s->score = score;
    s->sum = 0;
    // The same for every vertex: behind the first step `all` is of the step before.
    const bool settled = time > 0 && params->tolerance >= 0 && all.within(params->tolerance);
    const bool on = time + 1 < params->most && !settled;
    if (on) *readyToSend = gossamer::Pin(0);
    return on;
  }

  bool finish(Real* message) {
    *message = s->score;
    return true;
  }
};

}  // namespace pagerank

#ifndef PAGERANK_VARIANT
GOSSAMER_VERTEX(pagerank::Vertex)
#endif

#if __STDC_HOSTED__
#include <gossamer/app.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pagerank {

template <typename V>
struct AppOf : gossamer::Application<V> {
#if defined(PAGERANK_WEIGHTED)
  static constexpr const char* name = "pagerank-weighted";
  static constexpr const char* summary = "pagerank by the weights of edges";
  static constexpr bool sumsWeights = true;
#elif defined(PAGERANK_PERSONAL)
  static constexpr const char* name = "pagerank-personal";
  static constexpr const char* summary = "importance of vertices as some of them see it";
#else
  static constexpr const char* name = sizeof(Real) == 4 ? "pagerank" : "pagerank64";
  static constexpr const char* summary =
      sizeof(Real) == 4 ? "importance of vertices by who points to them" : "pagerank in double precision";
#endif
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = sizeof(Real) == 4 ? 1e-3 : 1e-8;
  static constexpr bool parallelInit = true;

  double damping = 0.85;
  double accuracy = sizeof(Real) == 4 ? 1e-4 : 1e-10;
  uint32_t iterations = 0;
  // The sum of a vertex with very many in-edges is noisy in single precision,
  // and the noise goes round for ever: a tolerance below it is never met.
  uint32_t limit = 1000;
  bool raw = false;
#ifdef PAGERANK_PERSONAL
  std::vector<uint32_t> sources;  // ascending, each once
#endif

  void parameters(gossamer::Parameters& p) {
#ifdef PAGERANK_PERSONAL
    p.vertices("source", sources, "a vertex where the walk starts, and starts over");
#endif
    p.real("damping", damping, 0, 0.9999, "share of a score that follows the edges");
    p.real("tolerance", accuracy, 1e-15, 1, "stop when all scores together move by no more than this share in a step");
    p.integer("iterations", iterations, 0, 1000000000, "do exactly so many instead (0: until the tolerance)");
    p.integer("limit", limit, 1, 1000000000, "give up where the tolerance takes more steps");
    p.flag("raw", raw, "leave the scores as they are; else they are made to sum to 1");
  }

#ifdef PAGERANK_PERSONAL
  void begin(const gossamer::GraphInfo&) {
    if (sources.empty()) sources = {0};
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  }
#endif

#ifdef PAGERANK_WEIGHTED
  void begin(const gossamer::GraphInfo& g) {
    if (g.weightLow < 0) {
      throw std::invalid_argument(std::string(name) + ": the graph has a negative weight; it takes weights from 0 up");
    }
  }
#endif

  Params params(const gossamer::GraphInfo& g) {
    return {static_cast<Real>((1 - damping) / g.vertices), static_cast<Real>(iterations ? -1 : stepTolerance()),
            iterations ? iterations : limit};
  }

  // What all later steps add is the last one's change times damping / (1 - damping).
  // Up to the usual damping the tolerance is taken as it is; above it a step may
  // move a score by less, so that the answer is as near as it is there.
  double stepTolerance() const {
    constexpr double usual = 0.85;
    return damping <= usual ? accuracy : accuracy * (usual / (1 - usual)) / (damping / (1 - damping));
  }

  gossamer::Verdict verdict(const typename gossamer::Application<V>::Outcome& run) {
    // Before the limit a run ends only because an earlier step was within the tolerance; the sums are the last one's.
    if (iterations || run.statistics.steps < limit) return gossamer::Verdict::answer();
    if (run.totals.within(static_cast<Real>(stepTolerance()))) return gossamer::Verdict::answer();
    return gossamer::Verdict::notConverged("after " + std::to_string(limit) +
                                           " steps scores still moved by more than the tolerance; give a greater "
                                           "--limit or --tolerance, or the number of --iterations" +
                                           (sizeof(Real) == 4 ? ", or take pagerank64" : ""));
  }

  void init(const gossamer::VertexInfo& v, State& s) {
    s.sum = 0;
#ifdef PAGERANK_PERSONAL
    const bool source = std::binary_search(sources.begin(), sources.end(), v.index);
    s.score = source ? static_cast<Real>(1.0 / static_cast<double>(sources.size())) : 0;
    s.base = source ? static_cast<Real>((1 - damping) / static_cast<double>(sources.size())) : 0;
#else
    s.score = static_cast<Real>(1.0 / v.vertices);
#endif
    changed(v, s);
  }

  void changed(const gossamer::VertexInfo& v, State& s) {
    const double out = AppOf::sumsWeights ? v.weight : static_cast<double>(v.degree);
    s.share = out > 0 ? static_cast<Real>(damping / out) : 0;
  }

  void results(gossamer::Columns<State>& c) {
    c.add("rank", "score of the vertex", [](const State& s) { return s.score; }).normalised(!raw);
  }

  void totals(gossamer::Columns<Totals>& c) {
    c.add("change", "share by which all scores together moved in the last step",
          [](const Totals& t) { return t.change.value() / t.scores.value(); });
  }
};

using App = AppOf<Vertex>;

}  // namespace pagerank

#ifndef PAGERANK_VARIANT
GOSSAMER_APPLICATION(pagerank::App)
#endif
#endif
