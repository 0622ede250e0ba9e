// SPDX-License-Identifier: Apache-2.0
/// A program with its own host code. Run it with:
///     ./gossamer run examples/paths/host.cpp
#include <gossamer/pgraph.h>

#include <cstdio>

#include "vertex.h"

int main() {
  PGraph<SSSPVertex, SSSPState, int32_t, SSSPMessage> graph;

  // A ring of eight with a short cut from 0 to 5.
  constexpr uint32_t n = 8;
  for (uint32_t i = 0; i < n; ++i) {
    const PVertexId v = graph.newVertex();
    graph.state(v) = {v, v == 0, v == 0 ? 0 : 1000};
  }
  for (uint32_t i = 0; i < n; ++i) graph.addLabelledEdge(10, i, 0, (i + 1) % n);
  graph.addLabelledEdge(25, 0, 0, 5);

  Job<SSSPVertex> job = graph.start();
  int32_t distance[n] = {};
  while (const auto message = job.recv()) distance[message->from] = message->dist;
  for (uint32_t i = 0; i < n; ++i) std::printf("%u %d\n", i, distance[i]);
}
