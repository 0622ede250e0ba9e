// SPDX-License-Identifier: Apache-2.0
/// PageRank that goes on for some steps in which nobody sends: what a step costs by itself. Its step is PageRank's and
/// a comparison: with the number of iterations given, the tolerance is of no use but for its sign, and says from where.
#pragma once

#define PAGERANK_VARIANT
#include "../../apps/pagerank/pagerank.h"

namespace pagerank {

struct QuietVertex : Vertex {
  bool step(const Totals& all, Totals& mine) {
    const bool on = Vertex::step(all, mine);
    if (static_cast<Real>(time + 1) >= -params->tolerance) *readyToSend = gossamer::No;
    return on;
  }
};

}  // namespace pagerank

GOSSAMER_VERTEX(pagerank::QuietVertex)

#if __STDC_HOSTED__
namespace pagerank {

struct Quiet : AppOf<QuietVertex> {
  static constexpr const char* name = "quiet-pagerank";
  uint32_t quiet = 0;

  void parameters(gossamer::Parameters& p) {
    AppOf::parameters(p);
    p.integer("quiet", quiet, 0, 1000000, "steps behind the iterations in which nobody sends");
  }

  Params params(const gossamer::GraphInfo& g) {
    Params made = AppOf::params(g);
    made.tolerance = -static_cast<Real>(iterations);
    made.most += quiet;
    return made;
  }
};

}  // namespace pagerank

GOSSAMER_APPLICATION(pagerank::Quiet)
#endif
