// SPDX-License-Identifier: Apache-2.0
/// Rows: built from buckets of edges, sorted, turned around, folded, counted.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "gossamer/core/error.h"
#include "gossamer/graph/graph.h"
#include "graph/parallel.h"
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
template void sort_row(std::uint32_t*, std::int32_t*, std::uint64_t,
                       std::vector<std::pair<std::uint32_t, std::int32_t>>&);

namespace {

void sort_row(std::uint32_t* targets, std::uint64_t count) {
  if (!std::is_sorted(targets, targets + count)) std::sort(targets, targets + count);
}

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

/// Edges that move down to close the gaps between rows that were folded.
struct Move {
  std::uint64_t from, to, count;
};
constexpr std::uint64_t kMostMoved = std::uint64_t{1} << 16;
constexpr std::uint64_t kWave = std::uint64_t{1} << 21;  // edges moved at once

/// Moves values down, on all threads. Moves ascend. As many as end below the first one's place are simply copied;
/// where the gaps are too narrow for that, a wave of them is copied aside first.
template <class T>
void move_down(const std::vector<Move>& moves, T* values) {
  const unsigned threads = thread_count(0);
  std::vector<T> aside;
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
    aside.resize(end(last - 1) - bottom);
    all([&](const Move& m) { std::copy_n(values + m.from, m.count, aside.data() + (m.to - bottom)); });
    all([&](const Move& m) { std::copy_n(aside.data() + (m.to - bottom), m.count, values + m.to); });
  }
}

/// Folds edges in place, and gives how many are left. Each piece of rows is folded where it stands, all at
/// once; then what is left moves down.
template <class Weight>
std::uint64_t simplify(std::uint64_t vertices, std::uint64_t* offsets, std::uint32_t* targets, Weight* weights,
                       unsigned what) {
  constexpr std::uint64_t piece = 16384;
  const std::uint64_t pieces = (vertices + piece - 1) / piece;
  std::vector<std::uint64_t> starts(pieces + 1);  // a piece writes over the offset that the next one starts with
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
  std::uint64_t left = vertices ? starts[0] : 0;
  std::vector<std::uint64_t> down(pieces);
  std::vector<Move> moves;
  for (std::uint64_t p = 0; p < pieces; ++p) {
    const std::uint64_t count = offsets[std::min((p + 1) * piece, vertices)] - starts[p];
    down[p] = starts[p] - left;
    for (std::uint64_t e = 0; down[p] && e < count; e += kMostMoved)
      moves.push_back({starts[p] + e, left + e, std::min(kMostMoved, count - e)});
    left += count;
  }
  move_down(moves, targets);
  if constexpr (!std::is_void_v<Weight>) move_down(moves, weights);
  in_pieces(thread_count(0), vertices, piece, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t v = first; v < last; ++v) offsets[v + 1] -= down[first / piece];
  });
  return left;
}

/// Counts, and gives the first vertex whose row is none of ascending vertices, or their number.
std::uint64_t count(std::uint64_t vertices, const std::uint64_t* offsets, const std::uint32_t* targets,
                    gs_graph_census& census) {
  constexpr std::uint64_t piece = 16384;
  const unsigned threads = thread_count(0);
  std::atomic<std::uint64_t> wrong{vertices};
  std::atomic<std::uint64_t> loops{0};
  std::atomic<std::uint64_t> parallel{0};
  std::vector<std::uint32_t> in(vertices, 0);
  const auto sound = [&](std::uint64_t v, std::uint64_t& alike) {
    const std::uint64_t end = offsets[v + 1];
    if (offsets[v] > end || end > offsets[vertices]) return false;
    for (std::uint64_t e = offsets[v]; e < end; ++e) {
      if (targets[e] >= vertices) return false;
      if (e == offsets[v]) continue;
      if (targets[e] < targets[e - 1]) return false;
      alike += targets[e] == targets[e - 1];
    }
    return true;
  };
  in_pieces(threads, vertices, piece, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t own = 0, alike = 0;
    for (std::uint64_t v = begin; v < end; ++v) {
      if (!sound(v, alike)) {
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
    parallel += alike;
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
    // Of several that have as many the first vertex.
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

/// Counting sort by target. Each thread owns a run of sources and counts for
/// itself, so the order within a new row is that of the sources whatever the
/// number of threads, and no two threads write the same counter.
constexpr std::uint64_t kPart = std::uint64_t{1} << 16;  // edges that one thread turns around at a time

/// On one thread: where each row begins is a sum of counts, and then a cursor.
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
  // new_offsets[v] serves as the cursor of row v, and ends as the start of row v + 1.
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

/// Whether the targets of most edges are so near their sources that rows of neighbours are in a cache together.
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

/// Parts of the edges, in the order of their sources, are put into buckets of neighbouring targets, part after part;
/// then each bucket is sorted by target, in a cache. A bucket stands where its rows will, so that no second array of
/// edges is needed. Nothing is done once a thread and vertex.
template <class Weight>
void transpose(std::uint64_t vertices, std::uint64_t edges, const std::uint64_t* offsets, const std::uint32_t* targets,
               const Weight* weights, unsigned threads, std::uint64_t* new_offsets, std::uint32_t* new_targets,
               Weight* new_weights) {
  constexpr bool weighted = !std::is_void_v<Weight>;
  using Stored = std::conditional_t<weighted, Weight, char>;
  if (edges < 100000 || (threads == 1 && stays_near(vertices, edges, offsets, targets)))
    return transpose_alone(vertices, edges, offsets, targets, weights, new_offsets, new_targets, new_weights);
  unsigned shift = 6;  // of a target to its bucket; what is left of it has 16 bits at most
  while (shift < 16 && (vertices >> shift) >= 512) ++shift;
  const std::uint64_t width = std::uint64_t{1} << shift;
  const std::uint64_t buckets = (vertices + width - 1) >> shift;
  const std::uint64_t part = std::max(kPart, 16 * buckets);
  const std::uint64_t parts = (edges + part - 1) / part;

  std::vector<std::uint64_t> places(parts * buckets);  // of each part in each bucket
  in_pieces(threads, edges, part, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t* const mine = &places[begin / part * buckets];
    for (std::uint64_t e = begin; e < end; ++e) ++mine[targets[e] >> shift];
  });
  std::vector<std::uint64_t> starts(buckets + 1, 0);
  for (std::uint64_t p = 0; p < parts; ++p)
    for (std::uint64_t b = 0; b < buckets; ++b) starts[b + 1] += places[p * buckets + b];
  for (std::uint64_t b = 0; b < buckets; ++b) starts[b + 1] += starts[b];
  std::vector<std::uint64_t> next(starts.begin(), starts.end() - 1);
  for (std::uint64_t p = 0; p < parts; ++p)
    for (std::uint64_t b = 0; b < buckets; ++b) {
      std::uint64_t& place = places[p * buckets + b];
      next[b] += std::exchange(place, next[b]);
    }
  count_work(2 * parts * buckets);

  const std::unique_ptr<std::uint16_t[]> within(new std::uint16_t[edges]);  // its bucket, a target
  in_pieces(threads, edges, part, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t* const mine = &places[begin / part * buckets];
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

/// Each row becomes what it was, merged with the same row of the graph turned around; both ascend. A loop,
/// which is in both, is taken from the first alone.
template <class Weight>
void symmetrise(std::uint64_t vertices, std::uint64_t edges, const std::uint64_t* offsets, const std::uint32_t* targets,
                const Weight* weights, unsigned threads, std::uint64_t* new_offsets, std::uint32_t* new_targets,
                Weight* new_weights) {
  constexpr bool weighted = !std::is_void_v<Weight>;
  using Stored = std::conditional_t<weighted, Weight, char>;
  std::vector<std::uint64_t> in_offsets(vertices + 1);
  std::vector<std::uint32_t> in_targets(edges);
  std::vector<Stored> in_weights(weighted ? edges : 0);
  if constexpr (weighted)
    transpose(vertices, edges, offsets, targets, weights, threads, in_offsets.data(), in_targets.data(),
              in_weights.data());
  else
    transpose<void>(vertices, edges, offsets, targets, nullptr, threads, in_offsets.data(), in_targets.data(), nullptr);
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
          if constexpr (weighted) first = weights[out] <= in_weights[in];
        }
        new_targets[to] = first ? targets[out] : in_targets[in];
        if constexpr (weighted) new_weights[to] = first ? weights[out] : in_weights[in];
        ++to;
        ++(first ? out : in);
      }
      // Sorted already, unless parallel edges were not by weight.
      if constexpr (weighted)
        graph::sort_row(new_targets + new_offsets[v], new_weights + new_offsets[v], to - new_offsets[v], scratch);
    }
  });
}

/// The first edge whose run of parallel edges has not as many reverses with the same weights.
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

/// Whether every edge has its reverse, without a search an edge. Rows ascend, so when the rows are read one
/// after another, the reverses of their edges must come in order in the row of each target: a place in every
/// row moves on, and the edge at it must be the one. A thread that starts with a later row searches for the
/// place in a row once. There are no more threads than edges a vertex, so that places take less than the rows.
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
    std::vector<std::uint32_t> passed(vertices, 0);  // edges of a row, and one; 0 where none was looked for
    for (std::uint64_t v = begin; v < end; ++v) {
      if (!symmetric.load(std::memory_order_relaxed)) return;
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
        const std::uint32_t to = targets[e];
        const std::uint32_t* const row = targets + offsets[to];
        const std::uint32_t* const row_end = targets + offsets[to + 1];
        std::uint32_t& place = passed[to];
        if (place == 0)
          place = 1 + (begin ? static_cast<std::uint32_t>(
                                   std::lower_bound(row, row_end, static_cast<std::uint32_t>(begin)) - row)
                             : 0);
        const std::uint32_t* const at = row + (place - 1);
        bool same = at < row_end && *at == v;
        if constexpr (!std::is_void_v<Weight>) same = same && weights[at - targets] == weights[e];
        if (!same) return symmetric.store(false, std::memory_order_relaxed);
        ++place;
      }
    }
  });
  return symmetric.load();
}

}  // namespace
}  // namespace gossamer::graph

using gossamer::fail;
using gossamer::graph::in_pieces;
using gossamer::graph::thread_count;
using gossamer::graph::with_type;

/// Runs the body of a C function of this file.
template <class Body>
static int guarded(Body&& body) {
  return gossamer::graph::run_stoppable("working on the graph", "use a smaller one, or a machine with more", body);
}

extern "C" {

uint64_t gs_graph_work() { return gossamer::graph::work.load(); }

int gs_graph_transpose(uint64_t vertices, uint64_t edges, const uint64_t* offsets, const uint32_t* targets,
                       const void* weights, int weight_type, int threads, uint64_t* new_offsets, uint32_t* new_targets,
                       void* new_weights) {
  return guarded([&] {
    return with_type(weights ? weight_type : GS_NONE, [&](auto* type) {
      using Weight = std::remove_pointer_t<decltype(type)>;
      gossamer::graph::transpose(vertices, edges, offsets, targets, static_cast<const Weight*>(weights),
                                 thread_count(threads), new_offsets, new_targets, static_cast<Weight*>(new_weights));
      return 0;
    });
  });
}

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
    return with_type(weights ? weight_type : GS_NONE, [&](auto* type) {
      using Weight = std::remove_pointer_t<decltype(type)>;
      *edges = gossamer::graph::simplify(vertices, offsets, targets, static_cast<Weight*>(weights), what);
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
        return fail("vertex index %llu has an edge to %lu, but there are %llu vertices", (unsigned long long)wrong,
                    (unsigned long)targets[e], (unsigned long long)vertices);
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
    std::atomic<uint64_t> wrong{vertices};  // the first vertex whose row is
    const auto note = [&](uint64_t v) {
      uint64_t first = wrong.load(std::memory_order_relaxed);
      while (v < first && !wrong.compare_exchange_weak(first, v, std::memory_order_relaxed)) {
      }
    };
    gossamer::graph::in_pieces(gossamer::graph::thread_count(threads), vertices, 4096,
                               [&](uint64_t begin, uint64_t end) {
                                 // Targets are looked at only where the offsets are sound.
                                 for (uint64_t v = begin; v < end; ++v)
                                   if (offsets[v] > offsets[v + 1] || offsets[v + 1] > edges) return note(v);
                                 for (uint64_t v = begin; v < end; ++v) {
                                   const uint64_t last = offsets[v + 1];
                                   uint64_t e = offsets[v];
                                   if (e == last) continue;
                                   // In an ascending row the last is the greatest.
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
