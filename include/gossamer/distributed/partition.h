// SPDX-License-Identifier: Apache-2.0
/// A streaming partition of a graph over ranks. Plain C; functions return 0, or a negative code with gs_last_error().
#pragma once

#include "gossamer/distributed/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A rank's rows before the partition, in both directions. Targets are less cuts[rank], modulo 2^32.
struct gs_stream {
  const struct gs_ranks* ranks;
  const uint64_t* cuts;  // rank r has the rows of the vertices cuts[r] .. cuts[r + 1] - 1
  const uint64_t* offsets[2];
  const uint32_t* targets[2];  // the second is NULL if every edge is in the first in both directions
  uint32_t passes;             // at most that many
  double uneven;               // greatest work of a part, relative to the mean
};

/// Sets the part of each of this rank's vertices, of as many parts as there are ranks. The work of a vertex is one, and
/// one for each edge in and out. Never cuts more edges than the given ranges. All ranks call it.
///
/// Each rank passes over its vertices several times, and moves each to the part with the most neighbours less a cost of
/// the part's work: Fennel (Tsourakakis et al., WSDM 2014) with re-streaming (Nishimura and Ugander, KDD 2013). Between
/// blocks of vertices, ranks exchange the work of the parts, and the new parts of vertices with edges to other ranks.
int gs_partition_stream(const struct gs_stream* stream, uint32_t* parts);

#ifdef __cplusplus
}
#endif
