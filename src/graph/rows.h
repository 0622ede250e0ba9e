// SPDX-License-Identifier: Apache-2.0
/// Common helpers for operations on rows: weight types, sorting a row, error handling of a C function.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gossamer/core/error.h"
#include "gossamer/graph/graph.h"
#include "graph/stop.h"

namespace gossamer::graph {

/// Calls `body` with a null pointer of the C++ type of a gs_type; void* for GS_NONE.
template <class Body>
int with_type(int type, Body&& body) {
  switch (type) {
    case GS_NONE: return body(static_cast<void*>(nullptr));
    case GS_I32: return body(static_cast<std::int32_t*>(nullptr));
    case GS_U32: return body(static_cast<std::uint32_t*>(nullptr));
    case GS_I64: return body(static_cast<std::int64_t*>(nullptr));
    case GS_U64: return body(static_cast<std::uint64_t*>(nullptr));
    case GS_F32: return body(static_cast<float*>(nullptr));
    case GS_F64: return body(static_cast<double*>(nullptr));
    default: return fail("unknown weight type %d", type);
  }
}

/// Runs the body of a C function on rows.
template <class Body>
int guarded(Body&& body) {
  return run_stoppable("working on the graph", "use a smaller one, or a machine with more", body);
}

/// Sorts one row by (target, weight); `scratch` is reused between calls.
template <class Weight>
void sort_row(std::uint32_t* targets, Weight* weights, std::uint64_t count,
              std::vector<std::pair<std::uint32_t, Weight>>& scratch);

/// Calls the body with a null pointer of an unsigned type as wide as a weight type: for code that only moves weights.
template <class Body>
int with_width(int type, Body&& body) {
  switch (type) {
    case GS_NONE: return body(static_cast<void*>(nullptr));
    case GS_I32:
    case GS_U32:
    case GS_F32: return body(static_cast<std::uint32_t*>(nullptr));
    case GS_I64:
    case GS_U64:
    case GS_F64: return body(static_cast<std::uint64_t*>(nullptr));
    default: return fail("unknown weight type %d", type);
  }
}

}  // namespace gossamer::graph
