// SPDX-License-Identifier: Apache-2.0
/// Operations on rows: building from buckets of edges, sorting, removing duplicates, counting.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "gossamer/core/error.h"
#include "gossamer/graph/graph.h"
#include "graph/parallel.h"
#include "graph/rows.h"
#include "graph/stop.h"
#include "graph/store.h"

namespace gossamer::graph {

template <class Weight>
void sort_row(std::uint32_t* targets, Weight* weights, std::uint64_t count,
              std::vector<std::pair<std::uint32_t, Weight>>& scratch) {
  bool sorted = true;
  for (std::uint64_t i = 1; i < count && sorted; ++i)
    sorted = targets[i - 1] < targets[i] || (targets[i - 1] == targets[i] && weights[i - 1] <= weights[i]);
  if (sorted) return;
  scratch.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) scratch[i] = {targets[i], weights[i]};
  std::sort(scratch.begin(), scratch.end());
  for (std::uint64_t i = 0; i < count; ++i) {
    targets[i] = scratch[i].first;
    weights[i] = scratch[i].second;
  }
}

// Each weight type is compiled here once, and not in every file that sorts rows.
template void sort_row(std::uint32_t*, std::int32_t*, std::uint64_t,
                       std::vector<std::pair<std::uint32_t, std::int32_t>>&);
template void sort_row(std::uint32_t*, std::uint32_t*, std::uint64_t,
                       std::vector<std::pair<std::uint32_t, std::uint32_t>>&);
template void sort_row(std::uint32_t*, std::int64_t*, std::uint64_t,
                       std::vector<std::pair<std::uint32_t, std::int64_t>>&);
template void sort_row(std::uint32_t*, std::uint64_t*, std::uint64_t,
                       std::vector<std::pair<std::uint32_t, std::uint64_t>>&);
template void sort_row(std::uint32_t*, float*, std::uint64_t, std::vector<std::pair<std::uint32_t, float>>&);
template void sort_row(std::uint32_t*, double*, std::uint64_t, std::vector<std::pair<std::uint32_t, double>>&);

namespace {

void sort_row(std::uint32_t* targets, std::uint64_t count) {
  if (!std::is_sorted(targets, targets + count)) std::sort(targets, targets + count);
}

template <class To>
To load_weight(const std::uint8_t* at, int type) {
  if (type == GS_I32) {
    std::int32_t value;
    std::memcpy(&value, at, 4);
    return static_cast<To>(value);
  }
  if (type == GS_I64) {
    std::int64_t value;
    std::memcpy(&value, at, 8);
    return static_cast<To>(value);
  }
  double value;
  std::memcpy(&value, at, 8);
  return static_cast<To>(value);
}

template <class Weight>
void build(std::vector<EdgeStore*>& stores, const Numbering& numbering, unsigned threads, std::uint64_t* offsets,
           std::uint32_t* targets, Weight* weights) {
  constexpr bool weighted = !std::is_void_v<Weight>;
  using Stored = std::conditional_t<weighted, Weight, std::int32_t>;
  std::size_t buckets = 0;
  unsigned shift = 0;
  for (auto* store : stores) {
    buckets = std::max(buckets, store->buckets());
    shift = store->shift();
  }
  const std::uint64_t width = std::uint64_t{1} << shift;
  std::vector<std::uint64_t> start(buckets + 1, 0);
  for (std::size_t b = 0; b < buckets; ++b) {
    start[b + 1] = start[b];
    for (auto* store : stores) start[b + 1] += store->bucket_edges(b);
  }
  count_work(buckets * stores.size());
  const std::uint64_t vertices = numbering.count();
  offsets[vertices] = start[buckets];
  std::fill(offsets + std::min<std::uint64_t>(vertices, numbering(buckets * width)), offsets + vertices,
            start[buckets]);

  in_pieces(threads, buckets, 1, [&](std::uint64_t bucket, std::uint64_t) {
    thread_local std::vector<std::uint32_t> at;
    thread_local std::vector<std::pair<std::uint32_t, Stored>> scratch;
    const std::uint32_t first = numbering(bucket * width);
    const std::uint32_t end = numbering((bucket + 1) * width);
    if (first == end) return;
    if (start[bucket + 1] - start[bucket] > 0xffffffffu) throw std::bad_alloc();
    count_work(3 * (start[bucket + 1] - start[bucket]) + (end - first) + 3 * stores.size());
    std::uint32_t* const mine = targets + start[bucket];
    at.assign(end - first + 1, 0);
    auto row = [&](std::uint32_t source) { return numbering(source) - first; };
    for (auto* store : stores)
      store->visit(bucket, [&](std::uint32_t source, std::uint32_t, const std::uint8_t*) { ++at[row(source)]; });
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < end - first; ++i) {
      offsets[first + i] = start[bucket] + sum;
      sum += std::exchange(at[i], sum);
    }
    for (auto* store : stores) {
      [[maybe_unused]] const int type = store->weight_type();
      store->drain(bucket,
                   [&](std::uint32_t source, std::uint32_t target, [[maybe_unused]] const std::uint8_t* weight) {
                     const std::uint32_t to = at[row(source)]++;
                     mine[to] = numbering(target);
                     if constexpr (weighted) weights[start[bucket] + to] = load_weight<Weight>(weight, type);
                   });
    }
    std::uint32_t begin = 0;
    for (std::uint32_t i = 0; i < end - first; ++i) {
      if constexpr (weighted)
        graph::sort_row(mine + begin, weights + start[bucket] + begin, at[i] - begin, scratch);
      else
        sort_row(mine + begin, at[i] - begin);
      begin = at[i];
    }
    if (scratch.capacity() > (1u << 16)) scratch = {};
  });
}

}  // namespace

void build_rows(std::vector<EdgeStore*> stores, const Numbering& numbering, unsigned threads, std::uint64_t* offsets,
                std::uint32_t* targets, void* weights, int weight_type) {
  if (!weights || weight_type == GS_NONE)
    build<void>(stores, numbering, threads, offsets, targets, nullptr);
  else if (weight_type == GS_I32)
    build(stores, numbering, threads, offsets, targets, static_cast<std::int32_t*>(weights));
  else if (weight_type == GS_I64)
    build(stores, numbering, threads, offsets, targets, static_cast<std::int64_t*>(weights));
  else
    build(stores, numbering, threads, offsets, targets, static_cast<double*>(weights));
}

namespace {

/// A run of edges that moves down to close the gaps of removed edges.
struct Move {
  std::uint64_t from, to, count;
};
constexpr std::uint64_t kMostMoved = std::uint64_t{1} << 16;
constexpr std::uint64_t kWave = std::uint64_t{1} << 21;  // edges moved at once

/// Moves values down, on all threads. Moves ascend. Moves that end below the source of the first are copied in
/// parallel; if the gaps are too narrow for that, a wave of them is first copied to a buffer.
template <class T>
void move_down(const std::vector<Move>& moves, T* values) {
  const unsigned threads = thread_count(0);
  std::vector<T> buffer;
  const auto end = [&](std::size_t i) { return moves[i].to + moves[i].count; };
  for (std::size_t first = 0, last = 0; first < moves.size(); first = last) {
    const std::uint64_t bottom = moves[first].to;
    while (last < moves.size() && (end(last) <= moves[first].from || end(last) - bottom <= kWave)) ++last;
    const auto all = [&](auto&& copy) {
      in_pieces(threads, last - first, 4, [&](std::uint64_t begin, std::uint64_t stop) {
        for (std::uint64_t i = begin; i < stop; ++i) copy(moves[first + i]);
      });
    };
    if (end(last - 1) <= moves[first].from) {
      all([&](const Move& m) { std::copy_n(values + m.from, m.count, values + m.to); });
      continue;
    }
    buffer.resize(end(last - 1) - bottom);
    all([&](const Move& m) { std::copy_n(values + m.from, m.count, buffer.data() + (m.to - bottom)); });
    all([&](const Move& m) { std::copy_n(buffer.data() + (m.to - bottom), m.count, values + m.to); });
  }
}

/// Removes edges in place, and returns the number of remaining edges. First all pieces of rows are compacted in
/// parallel; then the remaining edges move down.
template <class Weight>
std::uint64_t simplify(std::uint64_t vertices, std::uint64_t* offsets, std::uint32_t* targets, Weight* weights,
                       unsigned what) {
  constexpr std::uint64_t piece = 16384;
  const std::uint64_t pieces = (vertices + piece - 1) / piece;
  std::vector<std::uint64_t> starts(pieces + 1);  // a piece overwrites the start offset of the next one
  for (std::uint64_t p = 0; p <= pieces; ++p) starts[p] = offsets[std::min(p * piece, vertices)];
  in_pieces(thread_count(0), vertices, piece, [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t begin = starts[first / piece];
    std::uint64_t to = begin;
    for (std::uint64_t v = first; v < last; ++v) {
      const std::uint64_t end = v + 1 == last ? starts[first / piece + 1] : offsets[v + 1];
      const std::uint64_t row = to;
      for (std::uint64_t e = begin; e < end; ++e) {
        if ((what & GS_SIMPLIFY_LOOPS) && targets[e] == v) continue;
        if ((what & GS_SIMPLIFY_PARALLEL) && to > row && targets[to - 1] == targets[e]) continue;
        targets[to] = targets[e];
        if constexpr (!std::is_void_v<Weight>) weights[to] = weights[e];
        ++to;
      }
      begin = end;
      offsets[v + 1] = to;
    }
  });
  std::uint64_t remaining = vertices ? starts[0] : 0;
  std::vector<std::uint64_t> down(pieces);
  std::vector<Move> moves;
  for (std::uint64_t p = 0; p < pieces; ++p) {
    const std::uint64_t count = offsets[std::min((p + 1) * piece, vertices)] - starts[p];
    down[p] = starts[p] - remaining;
    for (std::uint64_t e = 0; down[p] && e < count; e += kMostMoved)
      moves.push_back({starts[p] + e, remaining + e, std::min(kMostMoved, count - e)});
    remaining += count;
  }
  move_down(moves, targets);
  if constexpr (!std::is_void_v<Weight>) move_down(moves, weights);
  in_pieces(thread_count(0), vertices, piece, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t v = first; v < last; ++v) offsets[v + 1] -= down[first / piece];
  });
  return remaining;
}

/// Counts, and returns the first vertex whose row is not a row of ascending vertices, or the number of vertices.
std::uint64_t count(std::uint64_t vertices, const std::uint64_t* offsets, const std::uint32_t* targets,
                    gs_graph_census& census) {
  constexpr std::uint64_t piece = 16384;
  const unsigned threads = thread_count(0);
  std::atomic<std::uint64_t> wrong{vertices};
  std::atomic<std::uint64_t> loops{0};
  std::atomic<std::uint64_t> parallel{0};
  std::vector<std::uint32_t> in(vertices, 0);
  const auto valid = [&](std::uint64_t v, std::uint64_t& duplicates) {
    const std::uint64_t end = offsets[v + 1];
    if (offsets[v] > end || end > offsets[vertices]) return false;
    for (std::uint64_t e = offsets[v]; e < end; ++e) {
      if (targets[e] >= vertices) return false;
      if (e == offsets[v]) continue;
      if (targets[e] < targets[e - 1]) return false;
      duplicates += targets[e] == targets[e - 1];
    }
    return true;
  };
  in_pieces(threads, vertices, piece, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t own = 0, duplicates = 0;
    for (std::uint64_t v = begin; v < end; ++v) {
      if (!valid(v, duplicates)) {
        std::uint64_t first = wrong.load();
        while (v < first && !wrong.compare_exchange_weak(first, v)) {
        }
        return;
      }
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
        own += targets[e] == v;
        if (threads == 1)
          ++in[targets[e]];
        else
          std::atomic_ref(in[targets[e]]).fetch_add(1, std::memory_order_relaxed);
      }
    }
    loops += own;
    parallel += duplicates;
  });
  if (wrong != vertices) return wrong;
  census.loops = loops;
  census.parallel = parallel;
  std::vector<gs_graph_census> parts((vertices + piece - 1) / piece);
  in_pieces(threads, vertices, piece, [&](std::uint64_t begin, std::uint64_t end) {
    gs_graph_census part{};
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint64_t out = offsets[v + 1] - offsets[v];
      part.sinks += out == 0;
      part.sources += in[v] == 0;
      part.isolated += out == 0 && in[v] == 0;
      if (out > part.most_out) {
        part.most_out = out;
        part.most_out_vertex = v;
      }
      if (in[v] > part.most_in) {
        part.most_in = in[v];
        part.most_in_vertex = v;
      }
    }
    parts[begin / piece] = part;
  });
  for (const gs_graph_census& part : parts) {
    census.sinks += part.sinks;
    census.sources += part.sources;
    census.isolated += part.isolated;
    // Ties: the first vertex.
    if (part.most_out > census.most_out) {
      census.most_out = part.most_out;
      census.most_out_vertex = part.most_out_vertex;
    }
    if (part.most_in > census.most_in) {
      census.most_in = part.most_in;
      census.most_in_vertex = part.most_in_vertex;
    }
  }
  return vertices;
}

template <class Weight>
void sort_rows(std::uint64_t vertices, const std::uint64_t* offsets, std::uint32_t* targets, Weight* weights,
               unsigned threads) {
  in_pieces(threads, vertices, 4096, [&](std::uint64_t begin, std::uint64_t end) {
    if constexpr (std::is_void_v<Weight>) {
      for (std::uint64_t v = begin; v < end; ++v) sort_row(targets + offsets[v], offsets[v + 1] - offsets[v]);
    } else {
      std::vector<std::pair<std::uint32_t, Weight>> scratch;
      for (std::uint64_t v = begin; v < end; ++v)
        graph::sort_row(targets + offsets[v], weights + offsets[v], offsets[v + 1] - offsets[v], scratch);
    }
  });
}

}  // namespace
}  // namespace gossamer::graph

using gossamer::fail;
using gossamer::graph::guarded;
using gossamer::graph::thread_count;
using gossamer::graph::with_type;
using gossamer::graph::with_width;

extern "C" {

uint64_t gs_graph_work() { return gossamer::graph::work.load(); }

int gs_graph_sort(uint64_t vertices, const uint64_t* offsets, uint32_t* targets, void* weights, int weight_type,
                  int threads) {
  return guarded([&] {
    return with_type(weights ? weight_type : GS_NONE, [&](auto* type) {
      using Weight = std::remove_pointer_t<decltype(type)>;
      gossamer::graph::sort_rows(vertices, offsets, targets, static_cast<Weight*>(weights), thread_count(threads));
      return 0;
    });
  });
}

int gs_graph_simplify(uint64_t vertices, uint64_t* offsets, uint32_t* targets, void* weights, int weight_type,
                      unsigned what, uint64_t* edges) {
  return guarded([&] {
    return with_width(weights ? weight_type : GS_NONE, [&](auto* type) {
      using Weight = std::remove_pointer_t<decltype(type)>;
      *edges = gossamer::graph::simplify(vertices, offsets, targets, static_cast<Weight*>(weights), what);
      return 0;
    });
  });
}

int gs_graph_count(uint64_t vertices, uint64_t edges, const uint64_t* offsets, const uint32_t* targets,
                   struct gs_graph_census* census) {
  return guarded([&] {
    *census = {};
    if (offsets[0] != 0) return fail("the first row starts at edge %llu and not at 0", (unsigned long long)offsets[0]);
    if (offsets[vertices] != edges)
      return fail("the last row ends at edge %llu of %llu", (unsigned long long)offsets[vertices],
                  (unsigned long long)edges);
    const uint64_t wrong = gossamer::graph::count(vertices, offsets, targets, *census);
    if (wrong == vertices) return 0;
    *census = {};
    if (offsets[wrong] > offsets[wrong + 1] || offsets[wrong + 1] > edges)
      return fail("the row of vertex index %llu ends before it starts or past the last edge",
                  (unsigned long long)wrong);
    for (uint64_t e = offsets[wrong]; e < offsets[wrong + 1]; ++e) {
      if (targets[e] >= vertices)
        return fail("vertex index %llu has an edge to %lu, but the number of vertices is %llu",
                    (unsigned long long)wrong, (unsigned long)targets[e], (unsigned long long)vertices);
    }
    return fail("the row of vertex index %llu is not ascending", (unsigned long long)wrong);
  });
}

int gs_graph_check_rows(uint64_t vertices, uint64_t edges, const uint64_t* offsets, const uint32_t* targets,
                        int threads) {
  return guarded([&] {
    if (offsets[0] != 0) return fail("the first row starts at edge %llu and not at 0", (unsigned long long)offsets[0]);
    if (offsets[vertices] != edges)
      return fail("the last row ends at edge %llu of %llu", (unsigned long long)offsets[vertices],
                  (unsigned long long)edges);
    std::atomic<uint64_t> wrong{vertices};  // the first vertex with a wrong row
    const auto note = [&](uint64_t v) {
      uint64_t first = wrong.load(std::memory_order_relaxed);
      while (v < first && !wrong.compare_exchange_weak(first, v, std::memory_order_relaxed)) {
      }
    };
    gossamer::graph::in_pieces(gossamer::graph::thread_count(threads), vertices, 4096,
                               [&](uint64_t begin, uint64_t end) {
                                 // Targets are read only if all offsets of the piece are valid.
                                 for (uint64_t v = begin; v < end; ++v)
                                   if (offsets[v] > offsets[v + 1] || offsets[v + 1] > edges) return note(v);
                                 for (uint64_t v = begin; v < end; ++v) {
                                   const uint64_t last = offsets[v + 1];
                                   uint64_t e = offsets[v];
                                   if (e == last) continue;
                                   // The last target of an ascending row is its maximum.
                                   bool descends = false;
                                   for (++e; e < last; ++e) descends |= targets[e] < targets[e - 1];
                                   if (descends || targets[last - 1] >= vertices) return note(v);
                                 }
                               });
    const uint64_t v = wrong.load();
    if (v == vertices) return 0;
    return fail("the row of vertex index %llu is not one of ascending vertices", (unsigned long long)v);
  });
}

}  // extern "C"
