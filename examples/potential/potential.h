// SPDX-License-Identifier: Apache-2.0
/// Potentials in a network of conductors, by conjugate gradients: 1 ampere enters at one vertex and leaves at another.
///
/// Solves L x = b, where L is the Laplacian of the graph with conductances as weights. An iteration is three steps: the
/// product with L, for which vertices receive values from their neighbours; the new x and residual; the new direction.
/// The two scalar products that each iteration needs are aggregates.
#pragma once

#include <gossamer/polite.h>

namespace potential {

struct State {
  double x;            // potential
  double current;      // b: 1 at the source, -1 at the sink
  double residual;     // b - L x
  double direction;    // p of the textbooks
  double product;      // L p
  double received;     // from the neighbours: conductance times direction
  double conductance;  // of all edges
  double last;         // sum of squared residuals before the last change of x
};

struct Params {
  double enough;  // the sum of squares at which the residual is small enough
  uint32_t most;  // maximum number of steps
};

struct Totals {
  gossamer::Sum<double> residual;  // of squares
  gossamer::Sum<double> product;   // p L p
  gossamer::Sum<double> voltage;
};

struct Vertex : gossamer::PVertex<State, double, double, Params, Totals> {
  void init() { *readyToSend = gossamer::Pin(0); }

  void send(double* direction) {
    *direction = s->direction;
    *readyToSend = gossamer::No;
  }

  void recv(const double* direction, const double* conductance) {
    s->received += *conductance * *direction;
    s->conductance += *conductance;
  }

  bool step(const Totals& all, Totals& mine) {
    bool on = true;
    switch (time % 3) {
      case 0:
        s->product = s->conductance * s->direction - s->received;
        s->received = s->conductance = 0;
        mine.product.give(s->direction * s->product);
        break;
      case 1:
        // No product: the direction is 0 at every vertex with a current.
        if (all.product.value() > 0) {
          const double share = all.residual.value() / all.product.value();
          s->x += share * s->direction;
          s->residual -= share * s->product;
        }
        s->last = all.residual.value();
        break;
      default:
        on = all.residual.value() > params->enough && time + 1 < params->most;
        if (on) {
          s->direction = s->residual + all.residual.value() / s->last * s->direction;
          *readyToSend = gossamer::Pin(0);
        }
    }
    mine.residual.give(s->residual * s->residual);
    mine.voltage.give(s->current * s->x);
    return on;
  }
};

}  // namespace potential

GOSSAMER_VERTEX(potential::Vertex)

#if __STDC_HOSTED__
#include <gossamer/app.h>

namespace potential {

struct App : gossamer::Application<Vertex> {
  static constexpr const char* name = "potential";
  static constexpr const char* summary = "potentials for a current of 1 from one vertex to another";
  static constexpr bool undirected = true;
  static constexpr gossamer::Same same = gossamer::Same::within;
  static constexpr double tolerance = 1e-6;

  uint32_t source = 0;
  uint32_t sink = 1;
  double accuracy = 1e-10;
  uint32_t limit = 10000;

  void parameters(gossamer::Parameters& p) {
    p.vertex("source", source, "the vertex where the current enters");
    p.vertex("sink", sink, "the vertex where it leaves");
    p.real("tolerance", accuracy, 1e-15, 1, "stop when the residual is at most this share of the current");
    p.integer("limit", limit, 1, 1000000000, "give up after this many iterations");
  }
  double enough() const { return accuracy * accuracy * 2; }  // b has two ones in it
  Params params(const gossamer::GraphInfo&) { return {enough(), 3 * limit}; }

  void begin(const gossamer::GraphInfo& g) {
    if (g.weightLow < 0) {
      throw std::invalid_argument("potential: the graph has a negative weight; conductances must be at least 0");
    }
    if (source == sink) throw std::invalid_argument("potential: source and sink are the same vertex; they must differ");
    if (sink >= g.vertices) {
      throw std::invalid_argument("potential: the graph has no second vertex; --sink must name a vertex");
    }
  }
  void init(const gossamer::VertexInfo& v, State& s) {
    s = {};
    s.current = v.index == source ? 1 : v.index == sink ? -1 : 0;
    s.residual = s.direction = s.current;
  }
  gossamer::Verdict verdict(const Outcome& run) {
    if (run.totals.residual.value() <= enough()) return gossamer::Verdict::answer();
    return gossamer::Verdict::notConverged(
        "the residual is still above the tolerance; source and sink may not be connected; "
        "otherwise use a larger --limit or --tolerance");
  }
  void results(gossamer::Columns<State>& c) {
    c.add("potential", "potential of the vertex", [](const State& s) { return s.x; });
  }
  void totals(gossamer::Columns<Totals>& c) {
    c.add("resistance", "between source and sink", [](const Totals& t) { return t.voltage.value(); });
  }
};

}  // namespace potential

GOSSAMER_APPLICATION(potential::App)
#endif
