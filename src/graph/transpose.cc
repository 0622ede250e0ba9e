// SPDX-License-Identifier: Apache-2.0
/// Transposed rows: edges by target, both directions merged, and the check whether each edge has its reverse.
#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/core/error.h"
#include "gossamer/graph/graph.h"
#include "graph/parallel.h"
#include "graph/rows.h"
#include "graph/stop.h"

namespace gossamer::graph {
namespace {

constexpr std::uint64_t kPart = std::uint64_t{1} << 16;  // edges that a thread transposes at a time

/// On one thread: a counting sort, whose row starts serve as cursors.
template <class Weight>
void transpose_alone(std::uint64_t vertices, std::uint64_t edges, const std::uint64_t* offsets,
                     const std::uint32_t* targets, const Weight* weights, std::uint64_t* new_offsets,
                     std::uint32_t* new_targets, Weight* new_weights) {
  const Stop stop;
  std::fill(new_offsets, new_offsets + vertices + 1, 0);
  for (std::uint64_t begin = 0, end; begin < edges; begin = end) {
    stop.look();
    end = std::min(begin + kPart, edges);
    for (std::uint64_t e = begin; e < end; ++e) ++new_offsets[targets[e] + 1];
  }
  for (std::uint64_t v = 0; v < vertices; ++v) new_offsets[v + 1] += new_offsets[v];
  // new_offsets[v] serves as the cursor of row v, and is finally the start of row v + 1.
  for (std::uint64_t v = 0; v < vertices; ++v) {
    stop.look(v);
    for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
      const std::uint64_t to = new_offsets[targets[e]]++;
      new_targets[to] = static_cast<std::uint32_t>(v);
      if constexpr (!std::is_void_v<Weight>) new_weights[to] = weights[e];
    }
  }
  for (std::uint64_t v = vertices; v > 0; --v) new_offsets[v] = new_offsets[v - 1];
  new_offsets[0] = 0;
  count_work(2 * (vertices + edges));
}

/// Whether most targets are so near their sources that rows of nearby vertices fit a cache together.
bool stays_near(std::uint64_t vertices, std::uint64_t edges, const std::uint64_t* offsets,
                const std::uint32_t* targets) {
  constexpr std::uint64_t sample = 1024, near = 65536;
  std::uint64_t far = 0;
  for (std::uint64_t i = 0; i < sample; ++i) {
    const std::uint64_t e = edges / sample * i;
    const auto v = static_cast<std::uint64_t>(std::upper_bound(offsets, offsets + vertices + 1, e) - offsets) - 1;
    far += std::max<std::uint64_t>(v, targets[e]) - std::min<std::uint64_t>(v, targets[e]) > near;
  }
  return far < sample / 4;
}

/// Parts of the edges, in the order of their sources, are put into buckets of nearby targets, part after part;
/// then each bucket is sorted by target, within a cache. A bucket occupies the space of its final rows, so that no
/// second array of edges is needed. No work is proportional to the number of threads times vertices.
template <class Weight>
void transpose(std::uint64_t vertices, std::uint64_t edges, const std::uint64_t* offsets, const std::uint32_t* targets,
               const Weight* weights, unsigned threads, std::uint64_t* new_offsets, std::uint32_t* new_targets,
               Weight* new_weights) {
  constexpr bool weighted = !std::is_void_v<Weight>;
  using Stored = std::conditional_t<weighted, Weight, char>;
  if (edges < 100000 || (threads == 1 && stays_near(vertices, edges, offsets, targets)))
    return transpose_alone(vertices, edges, offsets, targets, weights, new_offsets, new_targets, new_weights);
  unsigned shift = 6;  // from a target to its bucket; the remaining bits are at most 16
  while (shift < 16 && (vertices >> shift) >= 512) ++shift;
  const std::uint64_t width = std::uint64_t{1} << shift;
  const std::uint64_t buckets = (vertices + width - 1) >> shift;
  const std::uint64_t part = std::max(kPart, 16 * buckets);
  const std::uint64_t parts = (edges + part - 1) / part;

  std::vector<std::uint64_t> cursors(parts * buckets);  // cursor of each part in each bucket
  in_pieces(threads, edges, part, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t* const mine = &cursors[begin / part * buckets];
    for (std::uint64_t e = begin; e < end; ++e) ++mine[targets[e] >> shift];
  });
  std::vector<std::uint64_t> starts(buckets + 1, 0);
  for (std::uint64_t p = 0; p < parts; ++p)
    for (std::uint64_t b = 0; b < buckets; ++b) starts[b + 1] += cursors[p * buckets + b];
  for (std::uint64_t b = 0; b < buckets; ++b) starts[b + 1] += starts[b];
  std::vector<std::uint64_t> next(starts.begin(), starts.end() - 1);
  for (std::uint64_t p = 0; p < parts; ++p)
    for (std::uint64_t b = 0; b < buckets; ++b) {
      std::uint64_t& cursor = cursors[p * buckets + b];
      next[b] += std::exchange(cursor, next[b]);
    }
  count_work(2 * parts * buckets);

  const std::unique_ptr<std::uint16_t[]> within(new std::uint16_t[edges]);  // each target, relative to its bucket
  in_pieces(threads, edges, part, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t* const mine = &cursors[begin / part * buckets];
    auto v = static_cast<std::uint64_t>(std::upper_bound(offsets, offsets + vertices + 1, begin) - offsets) - 1;
    for (std::uint64_t e = begin; e < end; ++v) {
      for (const std::uint64_t last = std::min(end, offsets[v + 1]); e < last; ++e) {
        const std::uint64_t to = mine[targets[e] >> shift]++;
        new_targets[to] = static_cast<std::uint32_t>(v);
        within[to] = static_cast<std::uint16_t>(targets[e] & (width - 1));
        if constexpr (weighted) new_weights[to] = weights[e];
      }
    }
  });
  in_pieces(threads, buckets, 1, [&](std::uint64_t bucket, std::uint64_t) {
    const std::uint64_t first = starts[bucket];
    const std::uint64_t count = starts[bucket + 1] - first;
    const std::uint64_t rows = std::min(width, vertices - bucket * width);
    std::vector<std::uint64_t> at(rows + 1, 0);
    for (std::uint64_t i = 0; i < count; ++i) ++at[within[first + i] + 1];
    for (std::uint64_t r = 0; r < rows; ++r) at[r + 1] += at[r];
    for (std::uint64_t r = 0; r < rows; ++r) new_offsets[bucket * width + r] = first + at[r];
    const std::vector<std::uint32_t> sources(new_targets + first, new_targets + first + count);
    std::vector<Stored> costs;
    if constexpr (weighted) costs.assign(new_weights + first, new_weights + first + count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t to = first + at[within[first + i]]++;
      new_targets[to] = sources[i];
      if constexpr (weighted) new_weights[to] = costs[i];
    }
    count_work(2 * rows + 2 * count);
  });
  new_offsets[vertices] = edges;
}

/// Each row is merged with the same row of the transposed graph; both ascend. A self-loop, which is in both, is copied
/// only from the first.
template <class Weight>
void symmetrise(std::uint64_t vertices, std::uint64_t edges, const std::uint64_t* offsets, const std::uint32_t* targets,
                const Weight* weights, unsigned threads, std::uint64_t* new_offsets, std::uint32_t* new_targets,
                Weight* new_weights) {
  constexpr bool weighted = !std::is_void_v<Weight>;
  using Stored = std::conditional_t<weighted, Weight, char>;
  // A transposition only moves weights, so it sees words of their width.
  using Moved = std::conditional_t<sizeof(Stored) == 4, std::uint32_t, std::uint64_t>;
  std::vector<std::uint64_t> in_offsets(vertices + 1);
  std::vector<std::uint32_t> in_targets(edges);
  std::vector<Moved> in_weights(weighted ? edges : 0);
  if constexpr (weighted) {
    transpose(vertices, edges, offsets, targets, reinterpret_cast<const Moved*>(weights), threads, in_offsets.data(),
              in_targets.data(), in_weights.data());
  } else {
    transpose<void>(vertices, edges, offsets, targets, nullptr, threads, in_offsets.data(), in_targets.data(), nullptr);
  }
  const auto loops = [&](std::uint64_t v) {
    const auto [low, high] =
        std::equal_range(targets + offsets[v], targets + offsets[v + 1], static_cast<std::uint32_t>(v));
    return static_cast<std::uint64_t>(high - low);
  };
  in_pieces(threads, vertices, 4096, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v)
      new_offsets[v + 1] = offsets[v + 1] - offsets[v] + in_offsets[v + 1] - in_offsets[v] - loops(v);
  });
  sum_up(threads, new_offsets, vertices);
  in_pieces(threads, vertices, 4096, [&](std::uint64_t begin, std::uint64_t end) {
    [[maybe_unused]] std::vector<std::pair<std::uint32_t, Stored>> scratch;
    for (std::uint64_t v = begin; v < end; ++v) {
      std::uint64_t to = new_offsets[v];
      std::uint64_t out = offsets[v], in = in_offsets[v];
      const std::uint64_t out_end = offsets[v + 1], in_end = in_offsets[v + 1];
      while (out < out_end || in < in_end) {
        if (in < in_end && in_targets[in] == v) {
          ++in;
          continue;
        }
        bool first = in == in_end || (out < out_end && targets[out] < in_targets[in]);
        if (!first && out < out_end && targets[out] == in_targets[in]) {
          first = true;
          if constexpr (weighted) first = weights[out] <= std::bit_cast<Weight>(in_weights[in]);
        }
        new_targets[to] = first ? targets[out] : in_targets[in];
        if constexpr (weighted) new_weights[to] = first ? weights[out] : std::bit_cast<Weight>(in_weights[in]);
        ++to;
        ++(first ? out : in);
      }
      // Already sorted, unless parallel edges were not in the order of their weights.
      if constexpr (weighted)
        graph::sort_row(new_targets + new_offsets[v], new_weights + new_offsets[v], to - new_offsets[v], scratch);
    }
  });
}

/// The first edge whose run of parallel edges has a different number of reverses, or reverses with other weights.
template <class Weight>
std::uint64_t first_without_reverse(std::uint64_t vertices, const std::uint64_t* offsets, const std::uint32_t* targets,
                                    [[maybe_unused]] const Weight* weights, unsigned threads) {
  std::atomic<std::uint64_t> first{UINT64_MAX};
  in_pieces(threads, vertices, 4096, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v)
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1];) {
        const std::uint32_t to = targets[e];
        const auto run =
            static_cast<std::uint64_t>(std::upper_bound(targets + e, targets + offsets[v + 1], to) - (targets + e));
        const auto [low, high] =
            std::equal_range(targets + offsets[to], targets + offsets[to + 1], static_cast<std::uint32_t>(v));
        bool same = static_cast<std::uint64_t>(high - low) == run;
        if constexpr (!std::is_void_v<Weight>)
          if (same) same = std::equal(weights + e, weights + e + run, weights + (low - targets));
        if (!same) {
          std::uint64_t seen = first.load();
          while (e < seen && !first.compare_exchange_weak(seen, e)) {
          }
          return;
        }
        e += run;
      }
  });
  return first.load();
}

/// Whether every edge has its reverse, without a search per edge. Rows ascend, so when the rows are read in order, the
/// reverses of their edges are in order in the row of each target: a cursor in every row advances, and the edge at the
/// cursor must be the reverse. A thread that does not start at the first row finds each cursor once by search. The
/// number of threads is at most the edges per vertex, so that the cursors need less memory than the rows.
template <class Weight>
bool is_symmetric(std::uint64_t vertices, const std::uint64_t* offsets, const std::uint32_t* targets,
                  [[maybe_unused]] const Weight* weights, unsigned threads) {
  const std::uint64_t edges = offsets[vertices];
  const std::uint64_t parts = std::min<std::uint64_t>(threads, vertices ? 1 + edges / vertices : 1);
  std::atomic<bool> symmetric{true};
  on_threads(static_cast<unsigned>(parts), [&](unsigned part) {
    const auto start = [&](std::uint64_t number) {
      const std::uint64_t* found = std::lower_bound(offsets, offsets + vertices, edges / parts * number);
      return number == parts ? vertices : static_cast<std::uint64_t>(found - offsets);
    };
    const std::uint64_t begin = start(part), end = start(part + 1);
    std::vector<std::uint32_t> passed(vertices, 0);  // 1 + the cursor of a row; 0 if not yet set
    for (std::uint64_t v = begin; v < end; ++v) {
      if (!symmetric.load(std::memory_order_relaxed)) return;
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
        const std::uint32_t to = targets[e];
        const std::uint32_t* const row = targets + offsets[to];
        const std::uint32_t* const row_end = targets + offsets[to + 1];
        std::uint32_t& cursor = passed[to];
        if (cursor == 0)
          cursor = 1 + (begin ? static_cast<std::uint32_t>(
                                    std::lower_bound(row, row_end, static_cast<std::uint32_t>(begin)) - row)
                              : 0);
        const std::uint32_t* const at = row + (cursor - 1);
        bool same = at < row_end && *at == v;
        if constexpr (!std::is_void_v<Weight>) same = same && weights[at - targets] == weights[e];
        if (!same) return symmetric.store(false, std::memory_order_relaxed);
        ++cursor;
      }
    }
  });
  return symmetric.load();
}

}  // namespace
}  // namespace gossamer::graph

using gossamer::fail;
using gossamer::graph::guarded;
using gossamer::graph::thread_count;
using gossamer::graph::with_type;
using gossamer::graph::with_width;

extern "C" {

int gs_graph_transpose(uint64_t vertices, uint64_t edges, const uint64_t* offsets, const uint32_t* targets,
                       const void* weights, int weight_type, int threads, uint64_t* new_offsets, uint32_t* new_targets,
                       void* new_weights) {
  return guarded([&] {
    return with_width(weights ? weight_type : GS_NONE, [&](auto* type) {
      using Weight = std::remove_pointer_t<decltype(type)>;
      gossamer::graph::transpose(vertices, edges, offsets, targets, static_cast<const Weight*>(weights),
                                 thread_count(threads), new_offsets, new_targets, static_cast<Weight*>(new_weights));
      return 0;
    });
  });
}

int gs_graph_symmetrise(uint64_t vertices, uint64_t edges, const uint64_t* offsets, const uint32_t* targets,
                        const void* weights, int weight_type, int threads, uint64_t* new_offsets, uint32_t* new_targets,
                        void* new_weights) {
  return guarded([&] {
    return with_type(weights ? weight_type : GS_NONE, [&](auto* type) {
      using Weight = std::remove_pointer_t<decltype(type)>;
      gossamer::graph::symmetrise(vertices, edges, offsets, targets, static_cast<const Weight*>(weights),
                                  thread_count(threads), new_offsets, new_targets, static_cast<Weight*>(new_weights));
      return 0;
    });
  });
}

int gs_graph_check_symmetric(uint64_t vertices, const uint64_t* offsets, const uint32_t* targets, const void* weights,
                             int weight_type, int threads, uint64_t* vertex, uint64_t* other) {
  return guarded([&] {
    return with_type(weights ? weight_type : GS_NONE, [&](auto* type) {
      using Weight = std::remove_pointer_t<decltype(type)>;
      const auto* w = static_cast<const Weight*>(weights);
      const unsigned count = thread_count(threads);
      if (gossamer::graph::is_symmetric(vertices, offsets, targets, w, count)) return 0;
      const uint64_t e = gossamer::graph::first_without_reverse(vertices, offsets, targets, w, count);
      *vertex = static_cast<uint64_t>(std::upper_bound(offsets, offsets + vertices + 1, e) - offsets) - 1;
      *other = targets[e];
      return fail("the edge from vertex index %llu to %llu has no reverse of the same weight",
                  (unsigned long long)*vertex, (unsigned long long)*other);
    });
  });
}

}  // extern "C"
