// SPDX-License-Identifier: Apache-2.0
/// A rank's share of a graph: its vertices, and the edges from and to them.
///
/// Every vertex has a number, and each rank a range of consecutive numbers. Without a partition, the number is the
/// vertex's index in the graph. With one, `indices` has the indices; what the application sees are indices.
///
/// Plain C. An application that is compiled for the `distributed` engine exports gs_app_run_share.
#pragma once

#include "gossamer/abi.h"
#include "gossamer/distributed/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A part of the data of a rank at a step boundary: rows of bytes.
struct gs_saved_part {
  const char* name;
  uint64_t rows;            // one for each vertex of the rank; 0: row_bytes bytes, of which rank 0's are kept
  uint64_t row_bytes;       // 0: rows of different lengths
  const uint64_t* offsets;  // then rows + 1 offsets in bytes
  const void* bytes;
};

/// Checkpoints of a run. Functions return 0, or a nonzero number: the run then fails with the caller's error.
struct gs_checkpoints {
  uint64_t interval;  // steps between two checkpoints; 0: none
  int32_t restores;   // 1: the run continues from saved parts
  void* context;
  /// All ranks call it after the same step, each with its parts.
  int (*save)(void* context, uint64_t step, const struct gs_saved_part* parts, uint64_t count);
  /// The bytes of this rank's rows of a saved part; NULL if there is no such part or it has another size.
  const void* (*restore)(void* context, const char* name, uint64_t bytes);
};

struct gs_share {
  const struct gs_ranks* ranks;
  /// The rows of the rank's vertices in both directions; `vertices` is their count, `edges` that of their out-edges.
  /// A target is its number less that of the rank's first vertex, modulo 2^32, so that the rank's own vertices are
  /// 0 .. vertices - 1. A row ascends by the indices of the targets in the whole graph. The range of the weights is
  /// that of the whole graph. The run overwrites the targets.
  struct gs_graph graph;
  uint64_t vertices;                         // of the whole graph
  uint64_t edges;                            // of the whole graph
  const uint64_t* cuts;                      // rank r has the numbers cuts[r] .. cuts[r + 1] - 1, at least one
  const struct gs_checkpoints* checkpoints;  // or NULL
  /// The index in the whole graph of each of the rank's vertices, ascending; NULL: numbers are indices.
  const uint32_t* indices;
};

/// Numbers of a run, of one rank.
struct gs_rank_figures {
  uint64_t pairs;     // pairs of a vertex of this rank and another rank that needs its messages on pin 0
  uint64_t bytes;     // sent to other ranks in rounds of messages
  uint64_t messages;  // sent to other ranks, each once per receiving rank
  uint64_t rounds;    // rounds of messages
  double wait;        // seconds that this rank has waited for others
};

/// Whether the application needs the targets of out-edges, not only their number.
int gs_app_needs_targets(void);
/// As gs_app_run, on all ranks together; every rank gets a result. gs_app_column and gs_app_total are then called by
/// all ranks together; only rank 0 stores the values, and only there the verdict is known.
int gs_app_run_share(const struct gs_share* share, const struct gs_run_options* options, struct gs_result** result,
                     struct gs_rank_figures* figures);

#ifdef __cplusplus
}
#endif
