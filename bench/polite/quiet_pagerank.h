// SPDX-License-Identifier: Apache-2.0
/// PageRank, to the instruction, that goes on for some steps in which nobody sends: what a step costs by itself.
#pragma once

#define PAGERANK_VARIANT
#include "../../apps/pagerank/pagerank.h"

#if __STDC_HOSTED__
namespace pagerank {

struct Quiet : App {
  static constexpr const char* name = "quiet-pagerank";
  uint32_t quiet = 0;

  void parameters(gossamer::Parameters& p) {
    App::parameters(p);
    p.integer("quiet", quiet, 0, 1000000, "steps behind the iterations in which nobody sends");
  }

  Params params(const gossamer::GraphInfo& g) {
    Params made = App::params(g);
    made.last += quiet;
    return made;
  }
};

}  // namespace pagerank

GOSSAMER_APPLICATION(pagerank::Quiet)
#endif
