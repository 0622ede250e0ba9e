// SPDX-License-Identifier: Apache-2.0
/// Graphs for partitioning, and coarser ones made of them. Plain C, for Python.
///
/// All results are the same for any number of threads. Functions that return int give 0, -1 with a message in
/// gs_last_error(), or -2 where a signal has ended them.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Neighbours both ways, ascending, without loops. Vertex v has the entries `offsets[v]` to `offsets[v + 1]`;
/// `weights` of an entry is how many edges it stands for, the same at both its ends. `work` is what a vertex weighs.
struct gs_map_graph {
  uint64_t vertices;
  const uint64_t* offsets;
  const uint32_t* neighbours;
  const uint32_t* weights;
  const uint64_t* work;
};

/// Makes the graph of `edges` edges between `vertices` vertices. A vertex weighs `own`, and 1 for each edge in and out,
/// loops too. `threads` 0 is one a core. Each graph is freed with gs_map_free.
int gs_map_undirected(uint64_t vertices, uint64_t edges, const uint32_t* sources, const uint32_t* targets, uint64_t own,
                      int threads, struct gs_map_graph** made);

/// Makes the graph among some of the vertices, numbered in their order.
int gs_map_part(const struct gs_map_graph* graph, const uint32_t* members, uint64_t count, int threads,
                struct gs_map_graph** made);

/// Makes the graph whose vertices are the labels 0 to `count` - 1; each takes in the vertices that have it.
int gs_map_contract(const struct gs_map_graph* graph, const uint32_t* labels, uint64_t count, int threads,
                    struct gs_map_graph** made);

/// Joins vertices with neighbours that they share most edges with into clusters that weigh at most `most`, in up to
/// `rounds` rounds; what is left alone is joined with others that have a neighbour in common, or none. `labels`
/// receives the cluster of each vertex, numbered from 0 on without gaps, `count` how many there are.
int gs_map_cluster(const struct gs_map_graph* graph, uint64_t most, int rounds, int threads, uint32_t* labels,
                   uint64_t* count);

/// Moves vertices to the part that they share most edges with, as long as that part weighs `most` at most; parts that
/// weigh more are only left. `labels` are numbers of parts, below `parts`.
int gs_map_refine(const struct gs_map_graph* graph, uint64_t parts, uint64_t most, int rounds, int threads,
                  uint32_t* labels);

void gs_map_free(struct gs_map_graph* graph);

#ifdef __cplusplus
}
#endif
