// SPDX-License-Identifier: Apache-2.0
/// PageRank: every vertex distributes its score among the targets of its edges.
///
/// One step is one iteration of the power method, without the dangling mass:
/// score = (1 - d)/n + d * sum of score/degree over the in-edges. Up to a factor, this
/// fixed point is the textbook's: distributing the rank of dangling vertices over all
/// vertices only adds the same constant everywhere. So dividing by the sum at the end
/// yields the textbook's scores, without a global sum in each step.
///
/// The last step follows the first one in which the sum of all changes was at most
/// the tolerance. Both sums are in fixed point, so the number of steps does not
/// depend on the order in which vertices are added.
///
/// PAGERANK_WEIGHTED: edges share a score in proportion to their weights. PAGERANK_PERSONAL: the part of the score that
/// does not follow the edges restarts at some vertices, in equal shares, and so does the mass of dangling vertices.
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
  Real base;  // (1 - damping) / sources at a vertex where the walk restarts, else 0
#endif
};

#ifdef PAGERANK_WEIGHTED
using Weight = Real;
#else
using Weight = gossamer::None;
#endif

struct Params {
  Real base;       // (1 - damping) / vertices; unused if PAGERANK_PERSONAL
  Real tolerance;  // permitted change of all scores in the last step, as a share of their sum; below 0: ignored
  uint32_t most;   // maximum number of steps
};

// All scores sum to at most 1, and all changes to at most 2. Every change is rounded up, so that many changes below the
// last bit do not count as convergence. A tolerance below vertices * 2^-61 is therefore met only at a fixed point.
struct Totals {
  static constexpr Real up = static_cast<Real>(0x1p-62);  // half of the last bit
  gossamer::FixedSum<Real, 61> change;
  gossamer::FixedSum<Real, 61> scores;

  bool within(Real tolerance) const { return change.value() <= tolerance * scores.value(); }
};

struct Vertex : gossamer::PVertex<State, Weight, Real, Params, Totals> {
  void init() { *readyToSend = gossamer::Pin(0); }

  /// The graph has changed: the power method continues from the stored scores.
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
    // With a fixed number of steps, only the sums of the last one are used.
    if (params->tolerance >= 0 || time + 1 == params->most) {
      mine.change.give(magnitude(score - s->score) + Totals::up);
      mine.scores.give(score);
    }
    s->score = score;
    s->sum = 0;
    // The same for every vertex: after the first step, `all` holds the sums of the previous one.
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
  static constexpr const char* summary = "pagerank in proportion to edge weights";
  static constexpr bool sumsWeights = true;
#elif defined(PAGERANK_PERSONAL)
  static constexpr const char* name = "pagerank-personal";
  static constexpr const char* summary = "importance of vertices relative to some of them";
#else
  static constexpr const char* name = sizeof(Real) == 4 ? "pagerank" : "pagerank64";
  static constexpr const char* summary =
      sizeof(Real) == 4 ? "importance of vertices by their in-edges" : "pagerank in double precision";
#endif
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = sizeof(Real) == 4 ? 1e-3 : 1e-8;
  static constexpr bool parallelInit = true;

  double damping = 0.85;
  double accuracy = sizeof(Real) == 4 ? 1e-4 : 1e-10;
  uint32_t iterations = 0;
  // The sum of a vertex with very many in-edges is noisy in single precision,
  // and the noise circulates: a tolerance below it is never met.
  uint32_t limit = 1000;
  bool raw = false;
#ifdef PAGERANK_PERSONAL
  std::vector<uint32_t> sources;  // ascending, each once
#endif

  void parameters(gossamer::Parameters& p) {
#ifdef PAGERANK_PERSONAL
    p.vertices("source", sources, "a vertex where the walk starts and restarts");
#endif
    p.real("damping", damping, 0, 0.9999, "share of a score that follows the edges");
    p.real("tolerance", accuracy, 1e-15, 1, "stop when the scores change by at most this share of their sum in a step");
    p.integer("iterations", iterations, 0, 1000000000, "run exactly this many steps (0: until the tolerance)");
    p.integer("limit", limit, 1, 1000000000, "give up if the tolerance needs more steps");
    p.flag("raw", raw, "do not normalise the scores to a sum of 1");
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
      throw std::invalid_argument(std::string(name) + ": the graph has a negative weight; weights must be at least 0");
    }
  }
#endif

  Params params(const gossamer::GraphInfo& g) {
    return {static_cast<Real>((1 - damping) / g.vertices), static_cast<Real>(iterations ? -1 : stepTolerance()),
            iterations ? iterations : limit};
  }

  // All later steps together would add the last change times damping / (1 - damping).
  // Up to the usual damping the tolerance applies unchanged; above it the permitted change
  // of a step is smaller, so that the error is the same as at the usual damping.
  double stepTolerance() const {
    constexpr double usual = 0.85;
    return damping <= usual ? accuracy : accuracy * (usual / (1 - usual)) / (damping / (1 - damping));
  }

  gossamer::Verdict verdict(const typename gossamer::Application<V>::Outcome& run) {
    // Below the limit a run ends only because an earlier step was within the tolerance; `totals` is the last step's.
    if (iterations || run.statistics.steps < limit) return gossamer::Verdict::answer();
    if (run.totals.within(static_cast<Real>(stepTolerance()))) return gossamer::Verdict::answer();
    return gossamer::Verdict::notConverged("after " + std::to_string(limit) +
                                           " steps the scores still change by more than the tolerance; use a larger "
                                           "--limit or --tolerance, or a fixed number of --iterations" +
                                           (sizeof(Real) == 4 ? ", or use pagerank64" : ""));
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
    c.add("change", "sum of all changes in the last step, as a share of the sum of the scores",
          [](const Totals& t) { return t.change.value() / t.scores.value(); });
  }
};

using App = AppOf<Vertex>;

}  // namespace pagerank

#ifndef PAGERANK_VARIANT
GOSSAMER_APPLICATION(pagerank::App)
#endif
#endif
