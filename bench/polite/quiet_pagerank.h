// SPDX-License-Identifier: Apache-2.0
/// PageRank that goes on for some steps in which nobody sends: what a step costs by itself. Its step is PageRank's and
/// a comparison: with the number of iterations given, the tolerance is of no use but for its sign, and says from where.
#pragma once

#define PAGERANK_VARIANT
#include "../../apps/pagerank/pagerank.h"

namespace pagerank {

struct QuietVertex : Vertex {
  bool step(const Totals& all, Totals& mine) {
    // What it wants is changed on its way, so that there is one store, as in PageRank's own step.
    gossamer::PPin* const flag = readyToSend;
    gossamer::PPin wanted = gossamer::No;  // nobody wants to send when `step` is called
    readyToSend = &wanted;
    bool on = false;
#ifdef __clang__
    [[clang::always_inline]]  // as the softswitch calls PageRank's own
#endif
    on = Vertex::step(all, mine);
    readyToSend = flag;
    *flag = time + 1 >= static_cast<uint32_t>(-params->tolerance) ? gossamer::No : wanted;
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
