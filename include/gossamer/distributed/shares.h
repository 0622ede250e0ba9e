// SPDX-License-Identifier: Apache-2.0
/// Moves edges to the ranks that have their ends, and waits for ranks. Plain C; functions that return a value return 0,
/// or a negative code with gs_last_error().
#pragma once

#include "gossamer/distributed/transport.h"
#include "gossamer/graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The edges that this rank has at first: rows of consecutive vertices, or edges that a function draws.
struct gs_edge_move {
  const struct gs_ranks* ranks;
  const uint64_t* cuts;  // rank r shall have the rows of the vertices cuts[r] .. cuts[r + 1] - 1
  uint64_t edges;        // of this rank
  uint64_t first;        // vertex of the first row
  const uint64_t* offsets;
  const uint32_t* targets;  // indices in the whole graph
  const void* weights;      // of weight_type, or NULL
  int32_t weight_type;
  int32_t by_target;  // 1: an edge belongs to the row of its target, else of its source
  /// If not NULL, instead of rows: stores the ends of the edges first .. first + count - 1.
  int (*draw)(void* context, uint64_t first, uint64_t count, uint32_t* sources, uint32_t* targets);
  void* context;
};

/// Sets the offsets (vertices of this rank + 1) of the rows that this rank gets. All ranks call it.
int gs_edges_count(const struct gs_edge_move* move, uint64_t* offsets);
/// Fills those rows, ascending by the other end, parallel edges by weight. All ranks call it.
int gs_edges_fill(const struct gs_edge_move* move, const uint64_t* offsets, uint32_t* targets, void* weights);

/// Wait for the end of a send, for a message of a rank with a tag, whose size they store, and for the result of the
/// reduction in progress, as waiting.h describes.
void gs_ranks_wait_sent(const struct gs_ranks* ranks, uint64_t request);
void gs_ranks_wait_message(const struct gs_ranks* ranks, int from, int tag, uint64_t* size);
void gs_ranks_wait_reduced(const struct gs_ranks* ranks);

#ifdef __cplusplus
}
#endif
