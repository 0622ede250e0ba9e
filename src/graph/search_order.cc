// SPDX-License-Identifier: Apache-2.0
/// The order in which a sequential search visits vertices, and the tree that it builds, from known distances.
///
/// Breadth-first search and Dijkstra's algorithm with a heap of (distance, time of insertion) visit vertices by
/// distance; vertices of one distance are visited in the order in which their final distance was found. A vertex's
/// predecessor is the first visited vertex with a tight edge to it, one whose length closes the distance exactly. So
/// with known distances no heap is needed: every vertex is appended to the queue of its distance when the first tight
/// edge to it is seen. This takes a sort of the distances and one pass over the edges.
#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "gossamer/graph/graph.h"
#include "graph/rows.h"
#include "graph/stop.h"

namespace gossamer::graph {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;

template <class Number>
bool is_reached(Number distance) {
  if constexpr (std::is_floating_point_v<Number>) return distance < std::numeric_limits<Number>::infinity();
  return distance >= 0;
}

template <class Number>
std::uint64_t search_order(std::uint64_t vertices, const std::uint64_t* offsets, const std::uint32_t* targets,
                           const Number* weights, const Number* distances, std::uint32_t source, std::uint32_t* order,
                           std::uint32_t* previous) {
  const Stop stop;
  std::vector<std::uint32_t> sorted;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    previous[v] = kNone;
    if (is_reached(distances[v])) sorted.push_back(static_cast<std::uint32_t>(v));
  }
  std::sort(sorted.begin(), sorted.end(),
            [&](std::uint32_t a, std::uint32_t b) { return distances[a] < distances[b]; });
  const std::uint64_t reached = sorted.size();
  // The queue of a distance is the range of `order` that its vertices have in `sorted`; `cursors` are the ends of
  // queues.
  std::vector<std::uint32_t> queue_of(vertices, kNone);
  std::vector<std::uint64_t> cursors;
  for (std::uint64_t i = 0; i < reached; ++i) {
    if (i == 0 || distances[sorted[i - 1]] < distances[sorted[i]]) cursors.push_back(i);
    queue_of[sorted[i]] = static_cast<std::uint32_t>(cursors.size() - 1);
    order[i] = kNone;
  }
  if (source >= vertices || queue_of[source] != 0) throw std::invalid_argument("the source has not the least distance");
  std::vector<bool> seen(vertices, false);
  seen[source] = true;
  order[cursors[0]++] = source;
  for (std::uint64_t i = 0; i < reached; ++i) {
    stop.look(i);
    const std::uint32_t v = order[i];
    if (v == kNone) throw std::invalid_argument("the distances are not those of a search from the source");
    for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
      const std::uint32_t to = targets[e];
      if (seen[to] || queue_of[to] == kNone) continue;
      if (distances[v] + (weights ? weights[e] : Number{1}) != distances[to]) continue;
      seen[to] = true;
      previous[to] = v;
      order[cursors[queue_of[to]]++] = to;
    }
  }
  return reached;
}

}  // namespace
}  // namespace gossamer::graph

extern "C" int gs_graph_search_order(uint64_t vertices, const uint64_t* offsets, const uint32_t* targets,
                                     const void* weights, int type, const void* distances, uint32_t source,
                                     uint32_t* order, uint32_t* previous, uint64_t* reached) {
  return gossamer::graph::guarded([&] {
    const auto run = [&]<class Number>(const Number*) {
      *reached = gossamer::graph::search_order(vertices, offsets, targets, static_cast<const Number*>(weights),
                                               static_cast<const Number*>(distances), source, order, previous);
      return 0;
    };
    if (type == GS_I64) return run(static_cast<const std::int64_t*>(nullptr));
    if (type == GS_F64) return run(static_cast<const double*>(nullptr));
    return gossamer::fail("unknown type %d of distances", type);
  });
}
