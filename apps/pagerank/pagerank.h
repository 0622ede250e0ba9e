// SPDX-License-Identifier: Apache-2.0
/// PageRank: every vertex distributes its score among the targets of its edges.
///
/// One step is one iteration of the power method, without the dangling mass:
/// score = (1 - d)/n + d * sum of score/degree over the in-edges. Up to a factor, this
/// fixed point is the textbook's: distributing the rank of dangling vertices over all
/// vertices only adds the same constant everywhere. So dividing by the sum at the end
/// yields the textbook's scores, without a global sum in each step.
///
/// After a fixed number of steps the scores are not at the fixed point, and the dangling mass matters. They are then
/// those of LDBC Graphalytics and NetworkX: each step distributes the mass of the previous scores, which is an
/// aggregate. `raw` omits it.
///
/// The last step follows the first one in which the sum of all changes was at most
/// the tolerance. Both sums are in fixed point, so the number of steps does not
/// depend on the order in which vertices are added.
///
/// A vertex with very many in-edges needs more digits for their sum than for a score: see Accumulator.
///
/// PAGERANK_SETTLING: each step distributes the mass of dangling vertices; the result is the scores of the first step
/// whose changes sum to less than the tolerance, as in NetworkX. The run has one step more, which computes nothing.
///
/// PAGERANK_WEIGHTED: edges share a score in proportion to their weights. PAGERANK_PERSONAL: the part of the score that
/// does not follow the edges restarts at some vertices, in given shares, and so does the mass of dangling vertices.
#pragma once

#include <gossamer/polite.h>

#ifndef PAGERANK_REAL
#include <gossamer/accumulator.h>
#endif
#ifdef PAGERANK_SETTLING
#define PAGERANK_GREATEST_TOLERANCE 2.5  // all changes sum to at most 2
#else
#define PAGERANK_GREATEST_TOLERANCE 1
#endif

namespace pagerank {

#ifdef PAGERANK_REAL
using Real = PAGERANK_REAL;
#else
using Real = float;
#endif

inline float magnitude(float x) { return __builtin_fabsf(x); }
inline double magnitude(double x) { return __builtin_fabs(x); }

/// A sum in double precision.
struct PlainSum {
  double sum;

  void add(double number) { sum += number; }
  double value() const { return sum; }
  void clear() { sum = 0; }
};
#ifdef PAGERANK_REAL
using Sum = PlainSum;
#else
using Sum = gossamer::Accumulator;
#endif

struct State {
  Sum sum;  // received since the last step
  Real score;
  Real share;  // damping / out-degree (or the scaled sum of the weights), or 0
#ifdef PAGERANK_PERSONAL
  Real base;  // (1 - damping) * its share at a vertex where the walk restarts, else 0
#endif
#ifdef PAGERANK_SETTLING
  bool first;  // the vertex that reports the change of the last step
#endif
};

#ifdef PAGERANK_WEIGHTED
using Weight = Real;
#else
using Weight = gossamer::None;
#endif

enum Mode : uint32_t {
  Fixed,        // a fixed number of steps, without dangling mass
  Distributed,  // a fixed number of steps, each of which distributes the dangling mass
  Converging,   // until the scores settle
  Settling,     // until the scores settle, and each step distributes the dangling mass
};

struct Params {
  Real base;       // (1 - damping) / vertices; unused if PAGERANK_PERSONAL
  Real tolerance;  // Converging: permitted change of all scores in the last step, as a share of their sum
  uint32_t most;   // maximum number of steps
  Mode mode;
  Real spread;    // Distributed: damping / (1 - damping)
  Real dangling;  // Distributed: the score of all dangling vertices before the first step
#ifdef PAGERANK_WEIGHTED
  Real weightScale;  // of every weight, a power of two
#endif
};

// All scores sum to at most 1, and all changes to at most 2. Every change is rounded up, so that many changes below the
// last bit do not count as convergence. A tolerance below vertices * 2^-61 is therefore met only at a fixed point.
struct Totals {
  static constexpr Real up = static_cast<Real>(0x1p-62);  // half of the last bit
  gossamer::FixedSum<Real, 61> change;
  gossamer::FixedSum<Real, 61> scores;  // Distributed: only those of dangling vertices, except in the last step

  bool within(Real tolerance) const { return change.value() <= tolerance * scores.value(); }
};

// Not inlined: on boards conversions of aggregates are software, and a `step` that contains them is too large for the
// compiler to inline into the loop over a thread's vertices.
[[gnu::noinline, gnu::cold]] inline Real valueOf(gossamer::FixedSum<Real, 61> sum) { return sum.value(); }
[[gnu::noinline, gnu::cold]] inline bool within(Totals all, Real tolerance) { return all.within(tolerance); }

struct Vertex : gossamer::PVertex<State, Weight, Real, Params, Totals> {
  void init() { *readyToSend = gossamer::Pin(0); }

  /// The graph has changed: the power method continues from the stored scores.
  void resume() { *readyToSend = gossamer::Pin(0); }

  void send(Real* message) {
    *message = s->score * s->share;
    *readyToSend = gossamer::No;
  }

#ifdef PAGERANK_WEIGHTED
  void recv(const Real* message, const Weight* weight) { s->sum.add(*message * (*weight * params->weightScale)); }
#else
  void recv(const Real* message, const Weight*) { s->sum.add(*message); }
#endif

  bool step(const Totals& all, Totals& mine) {
#ifdef PAGERANK_PERSONAL
    Real base = s->base;
#else
    Real base = params->base;
#endif
#ifdef PAGERANK_SETTLING
    if (params->mode == Settling) {
      // The previous step was the last: its scores remain, and its change is reported again by one vertex.
      if (time > 0 && all.change.value() < params->tolerance) {
        if (s->first) mine.change.give(all.change.value());
        mine.scores.give(s->score);
        s->sum.clear();
        return false;
      }
      base += base * params->spread * (time > 0 ? all.scores.value() : params->dangling);
      const Real score = static_cast<Real>(base + s->sum.value());
      const bool on = time + 1 < params->most;
      mine.change.give(magnitude(score - s->score));
      if (s->share == 0 || !on) mine.scores.give(score);
      s->score = score;
      s->sum.clear();
      if (on) *readyToSend = gossamer::Pin(0);
      return on;
    }
#endif
    if (__builtin_expect(params->mode == Distributed, 0)) {
      base += base * params->spread * (time > 0 ? valueOf(all.scores) : params->dangling);
    }
    const Real score = static_cast<Real>(base + s->sum.value());
    bool on = time + 1 < params->most;
    // With a fixed number of steps, only the sums of the last one are used.
    if (params->mode == Converging || !on) {
      mine.change.give(magnitude(score - s->score) + Totals::up);
      mine.scores.give(score);
    } else if (params->mode == Distributed && s->share == 0) {
      mine.scores.give(score);
    }
    s->score = score;
    s->sum.clear();
    // The same for every vertex: after the first step, `all` holds the sums of the previous one.
    if (params->mode == Converging && time > 0 && within(all, params->tolerance)) on = false;
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
#include <cmath>
#include <limits>
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
  // Scores are noisy in their last digit, and the noise circulates: a tolerance below it is never met.
  uint32_t limit = 1000;
  bool raw = false;
#ifdef PAGERANK_PERSONAL
  std::vector<gossamer::WeightedVertex> sources;  // ascending, each once
#endif
#ifdef PAGERANK_WEIGHTED
  double weightScale = 0;  // 0: not determined yet
  // The sums of the weights of a vertex with which all messages are normal numbers.
  static constexpr double leastSum = 0x1p-1000;
  static constexpr double greatestSum = 0x1p970;
#endif

  void parameters(gossamer::Parameters& p) {
#ifdef PAGERANK_PERSONAL
    p.shares("source", sources, "a vertex where the walk restarts, and its share relative to the others (1)");
#endif
    p.real("damping", damping, 0, 0.9999, "share of a score that follows the edges");
    p.real("tolerance", accuracy, 1e-15, PAGERANK_GREATEST_TOLERANCE,
           "stop when the scores change by at most this share of their sum in a step");
    p.integer("iterations", iterations, 0, 1000000000, "run exactly this many steps (0: until the tolerance)");
    p.integer("limit", limit, 1, 1000000000, "give up if the tolerance needs more steps");
    p.flag("raw", raw, "omit the mass of vertices without out-edges, and do not normalise the scores to a sum of 1");
  }

#ifdef PAGERANK_PERSONAL
  using Source = gossamer::WeightedVertex;

  void restart() {
    if (sources.empty()) sources = {{0, 1}};
    std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.vertex < b.vertex; });
    // First by the greatest weight, so that the sum neither overflows nor vanishes.
    double greatest = 0;
    double sum = 0;
    for (const Source& one : sources) greatest = std::max(greatest, one.weight);
    for (Source& one : sources) sum += one.weight = one.weight / greatest;
    for (Source& one : sources) one.weight /= sum;
  }

  /// The vertex's share of what restarts.
  double shareOf(uint32_t vertex) const {
    const auto at = std::lower_bound(sources.begin(), sources.end(), vertex,
                                     [](const Source& one, uint32_t v) { return one.vertex < v; });
    return at != sources.end() && at->vertex == vertex ? at->weight : 0;
  }
#endif

#if defined(PAGERANK_PERSONAL) || defined(PAGERANK_WEIGHTED)
  void begin([[maybe_unused]] const gossamer::GraphInfo& g) {
#ifdef PAGERANK_PERSONAL
    restart();
#endif
#ifdef PAGERANK_WEIGHTED
    if (g.weightLow < 0) {
      throw std::invalid_argument(std::string(name) + ": the graph has a negative weight; weights must be at least 0");
    }
    // Messages and weights of one run need one scale, also if its graph changes.
    if (weightScale == 0) weightScale = scaleOf(g);
#endif
  }
#endif

#ifdef PAGERANK_WEIGHTED
  /// A power of two with which the sums of weights lie in the permitted range, if the weights do not differ by more.
  static double scaleOf(const gossamer::GraphInfo& g) {
    int exponent = 0;
    std::frexp(g.weightHigh, &exponent);
    const int most = exponent + 33;  // of a sum of up to 2^32 weights; more parallel edges are rejected by `verdict`
    if (g.weightHigh > 0 && most > 970) return std::ldexp(1.0, 970 - most);
    return g.weightHigh > 0 && exponent < -900 ? 0x1p1000 : 1;
  }
#endif

  Params params(const gossamer::GraphInfo& g) {
    Params p{};
    p.base = static_cast<Real>((1 - damping) / g.vertices);
    p.tolerance = static_cast<Real>(stepTolerance());
    p.most = iterations ? iterations : limit;
    p.mode = !iterations ? Converging : raw ? Fixed : Distributed;
#ifdef PAGERANK_SETTLING
    if (p.mode == Converging) {
      p.mode = Settling;
      p.tolerance = static_cast<Real>(accuracy);
    }
#endif
    p.spread = static_cast<Real>(damping / (1 - damping));
#ifdef PAGERANK_WEIGHTED
    p.weightScale = weightScale;
#endif
    return p;
  }

  /// The dangling mass before the first step; without dangling vertices no step computes one.
  void complete(Params& p, const gossamer::States<State>& all) {
    if (p.mode != Distributed && p.mode != Settling) return;
    bool any = false;
    double sum = 0;
    all.each([&](const State& s) {
      any = any || s.share == 0;
      sum += s.share == 0 ? static_cast<double>(s.score) : 0;
    });
    p.dangling = static_cast<Real>(sum);
    if (!any && p.mode == Distributed) p.mode = Fixed;
  }

  // All later steps together would add the last change times damping / (1 - damping).
  // Up to the usual damping the tolerance applies unchanged; above it the permitted change
  // of a step is smaller, so that the error is the same as at the usual damping.
  double stepTolerance() const {
    constexpr double usual = 0.85;
    return damping <= usual ? accuracy : accuracy * (usual / (1 - usual)) / (damping / (1 - damping));
  }

  gossamer::Verdict verdict(const typename gossamer::Application<V>::Outcome& run) {
#ifdef PAGERANK_WEIGHTED
    for (const State& s : run) {
      if (!std::isnan(s.share)) continue;
      return gossamer::Verdict::overflow(
                 "the weights of a vertex's edges are too small for double precision, compared with the greatest "
                 "weight of the graph; set them to 0, or remove the edge of the greatest")
          .at(static_cast<uint32_t>(&s - run.begin()));
    }
#endif
    // Below the limit a run ends only because an earlier step was within the tolerance; `totals` is the last step's.
    if (iterations || run.statistics.steps < limit) return gossamer::Verdict::answer();
#ifdef PAGERANK_SETTLING
    if (run.totals.change.value() < static_cast<Real>(accuracy)) return gossamer::Verdict::answer();
#endif
    if (run.totals.within(static_cast<Real>(stepTolerance()))) return gossamer::Verdict::answer();
    return gossamer::Verdict::notConverged("after " + std::to_string(limit) +
                                           " steps the scores still change by more than the tolerance; use a larger "
                                           "--limit or --tolerance, or a fixed number of --iterations" +
                                           (sizeof(Real) == 4 ? ", or use pagerank64" : ""));
  }

  void init(const gossamer::VertexInfo& v, State& s) {
    s.sum.clear();
#ifdef PAGERANK_SETTLING
    s.first = v.index == 0;
#endif
    s.score = static_cast<Real>(1.0 / v.vertices);
#ifdef PAGERANK_PERSONAL
    const double share = shareOf(v.index);
    // From the sources on, vertices that the walk cannot reach have the score 0 in every step. NetworkX starts from
    // equal scores.
#ifndef PAGERANK_SETTLING
    if (!iterations) s.score = static_cast<Real>(share);
#endif
    s.base = static_cast<Real>((1 - damping) * share);
#endif
    changed(v, s);
  }

  void changed(const gossamer::VertexInfo& v, State& s) {
#ifdef PAGERANK_WEIGHTED
    const bool there = v.weight == 0 || (v.weight >= leastSum && v.weight <= greatestSum);
    s.share = !there ? std::numeric_limits<Real>::quiet_NaN() : v.weight > 0 ? damping / v.weight : 0;
#else
    s.share = v.degree > 0 ? static_cast<Real>(damping / static_cast<double>(v.degree)) : 0;
#endif
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
