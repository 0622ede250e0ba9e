// SPDX-License-Identifier: Apache-2.0
/// Graphs for partitioning, and coarser graphs made from them. Plain C, for Python.
///
/// All results are independent of the number of threads. Functions that return int return 0, -1 with a message in
/// gs_last_error(), or -2 if a signal interrupted them.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Neighbours in both directions, ascending, without self-loops. Vertex v has the entries `offsets[v]` to
/// `offsets[v + 1]`. An entry's weight is the number of edges that it represents, the same at both ends. `work` is the
/// weight of a vertex.
struct gs_map_graph {
  uint64_t vertices;
  const uint64_t* offsets;
  const uint32_t* neighbours;
  const uint32_t* weights;
  const uint64_t* work;
};

/// Makes the graph of `edges` edges between `vertices` vertices. The weight of a vertex is `own` plus 1 for each
/// in-edge and out-edge, self-loops included. `threads` 0: one per core. Free each graph with gs_map_free.
int gs_map_undirected(uint64_t vertices, uint64_t edges, const uint32_t* sources, const uint32_t* targets, uint64_t own,
                      int threads, struct gs_map_graph** made);

/// Makes the subgraph of some of the vertices, numbered in their order.
int gs_map_part(const struct gs_map_graph* graph, const uint32_t* members, uint64_t count, int threads,
                struct gs_map_graph** made);

/// Makes the graph whose vertices are the labels 0 to `count` - 1; each represents the vertices with that label.
int gs_map_contract(const struct gs_map_graph* graph, const uint32_t* labels, uint64_t count, int threads,
                    struct gs_map_graph** made);

/// Clusters vertices with the neighbours that they share most edges with, up to the weight `most` per cluster, in at
/// most `rounds` rounds. Vertices left alone are then joined with others that share a neighbour or have none. `labels`
/// receives the cluster of each vertex, numbered from 0 without gaps, `count` the number of clusters.
int gs_map_cluster(const struct gs_map_graph* graph, uint64_t most, int rounds, int threads, uint32_t* labels,
                   uint64_t* count);

/// Moves vertices to the part that they share most edges with, as long as its weight stays at most `most`; parts above
/// that weight only lose vertices. `labels` are part numbers below `parts`.
int gs_map_refine(const struct gs_map_graph* graph, uint64_t parts, uint64_t most, int rounds, int threads,
                  uint32_t* labels);

void gs_map_free(struct gs_map_graph* graph);

#ifdef __cplusplus
}
#endif
