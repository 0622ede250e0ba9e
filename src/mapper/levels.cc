// SPDX-License-Identifier: Apache-2.0
#include "gossamer/mapper/levels.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "gossamer/core/memory.h"
#include "graph/parallel.h"
#include "graph/stop.h"

namespace {

using gossamer::Array;
using gossamer::graph::in_pieces;
using gossamer::graph::on_threads;
using gossamer::graph::thread_count;

constexpr uint64_t kPiece = 1024;  // vertices that a thread processes at a time

/// Owns the arrays of a gs_map_graph.
struct Graph : gs_map_graph {
  Array<uint64_t> offset, works;
  Array<uint32_t> neighbour, weight;

  void show() {
    offsets = offset.data();
    neighbours = neighbour.data();
    weights = weight.data();
    work = works.data();
  }
};

/// Sums of weights by label, and the labels with a sum. One element per label; each thread has its own.
class Ratings {
 public:
  explicit Ratings(uint64_t labels) : sums_(labels) {}

  void add(uint32_t label, uint64_t weight) {
    if (!sums_[label]) seen_.push_back(label);
    sums_[label] += weight;
  }
  uint64_t operator[](uint32_t label) const { return sums_[label]; }
  const std::vector<uint32_t>& seen() const { return seen_; }
  void sort() { std::sort(seen_.begin(), seen_.end()); }
  void clear() {
    for (const uint32_t label : seen_) sums_[label] = 0;
    seen_.clear();
  }

 private:
  Array<uint64_t> sums_;
  std::vector<uint32_t> seen_;
};

/// Rows that threads make piece by piece, concatenated in the order of the pieces.
class Rows {
 public:
  explicit Rows(uint64_t rows) : rows_(rows), ends_(rows), pieces_((rows + kPiece - 1) / kPiece) {}

  /// Calls row(number, ratings) for every row; the sums that it adds to the ratings become the row.
  template <class Row>
  void make(unsigned threads, uint64_t labels, Row&& row) {
    std::atomic<uint64_t> next{0};
    on_threads(threads, [&](unsigned) {
      Ratings ratings(labels);
      for (;;) {
        const uint64_t mine = next.fetch_add(1, std::memory_order_relaxed);
        if (mine >= pieces_.size()) return;
        Piece& piece = pieces_[mine];
        const uint64_t last = std::min(rows_, (mine + 1) * kPiece);
        for (uint64_t number = mine * kPiece; number < last; ++number) {
          row(number, ratings);
          ratings.sort();
          for (const uint32_t label : ratings.seen()) {
            piece.neighbours.push_back(label);
            piece.weights.push_back(static_cast<uint32_t>(std::min<uint64_t>(ratings[label], UINT32_MAX)));
          }
          ratings.clear();
          ends_[number] = piece.neighbours.size();
        }
      }
    });
  }

  void into(Graph& graph) {
    uint64_t total = 0;
    for (const Piece& piece : pieces_) total += piece.neighbours.size();
    graph.vertices = rows_;
    graph.offset = Array<uint64_t>(rows_ + 1);
    graph.neighbour = Array<uint32_t>(total);
    graph.weight = Array<uint32_t>(total);
    uint64_t at = 0;
    for (uint64_t mine = 0; mine < pieces_.size(); ++mine) {
      Piece& piece = pieces_[mine];
      std::copy(piece.neighbours.begin(), piece.neighbours.end(), graph.neighbour.data() + at);
      std::copy(piece.weights.begin(), piece.weights.end(), graph.weight.data() + at);
      const uint64_t last = std::min(rows_, (mine + 1) * kPiece);
      for (uint64_t number = mine * kPiece; number < last; ++number) graph.offset[number + 1] = at + ends_[number];
      at += piece.neighbours.size();
      piece = Piece();
    }
    graph.show();
  }

 private:
  struct Piece {
    std::vector<uint32_t> neighbours, weights;
  };
  uint64_t rows_;
  Array<uint64_t> ends_;  ///< of each row within its piece
  std::vector<Piece> pieces_;
};

void undirected(Graph& made, uint64_t vertices, uint64_t edges, const uint32_t* sources, const uint32_t* targets,
                uint64_t own, unsigned threads) {
  made.vertices = vertices;
  made.works = Array<uint64_t>(vertices);
  std::vector<std::atomic<uint64_t>> cursor(vertices + 1);
  constexpr uint64_t kEdges = 1 << 16;
  in_pieces(threads, edges, kEdges, [&](uint64_t begin, uint64_t end) {
    for (uint64_t e = begin; e < end; ++e) {
      std::atomic_ref<uint64_t>(made.works[sources[e]]).fetch_add(1, std::memory_order_relaxed);
      std::atomic_ref<uint64_t>(made.works[targets[e]]).fetch_add(1, std::memory_order_relaxed);
      if (sources[e] == targets[e]) continue;
      cursor[sources[e]].fetch_add(1, std::memory_order_relaxed);
      cursor[targets[e]].fetch_add(1, std::memory_order_relaxed);
    }
  });
  Array<uint64_t> first(vertices + 1);
  for (uint64_t v = 0; v < vertices; ++v) {
    made.works[v] += own;
    first[v + 1] = first[v] + cursor[v].load(std::memory_order_relaxed);
    cursor[v].store(first[v], std::memory_order_relaxed);
  }
  Array<uint32_t> ends(first[vertices]);
  in_pieces(threads, edges, kEdges, [&](uint64_t begin, uint64_t end) {
    for (uint64_t e = begin; e < end; ++e) {
      const uint32_t a = sources[e], b = targets[e];
      if (a == b) continue;
      ends[cursor[a].fetch_add(1, std::memory_order_relaxed)] = b;
      ends[cursor[b].fetch_add(1, std::memory_order_relaxed)] = a;
    }
  });
  // Equal neighbours become one entry. Rows keep their positions until all are compacted.
  Array<uint32_t> counts(first[vertices]);
  made.offset = Array<uint64_t>(vertices + 1);
  in_pieces(threads, vertices, kPiece, [&](uint64_t begin, uint64_t end) {
    for (uint64_t v = begin; v < end; ++v) {
      uint32_t* row = ends.data() + first[v];
      uint32_t* const last = ends.data() + first[v + 1];
      std::sort(row, last);
      uint32_t* to = row;
      for (const uint32_t* from = row; from != last; ++to) {
        const uint32_t* const run = from;
        while (from != last && *from == *run) ++from;
        counts[first[v] + static_cast<uint64_t>(to - row)] = static_cast<uint32_t>(from - run);
        *to = *run;
      }
      made.offset[v + 1] = static_cast<uint64_t>(to - row);
    }
  });
  for (uint64_t v = 0; v < vertices; ++v) {
    const uint64_t kept = made.offset[v + 1], to = made.offset[v];
    std::copy_n(ends.data() + first[v], kept, ends.data() + to);
    std::copy_n(counts.data() + first[v], kept, counts.data() + to);
    made.offset[v + 1] = to + kept;
  }
  made.neighbour = std::move(ends);
  made.weight = std::move(counts);
  made.show();
}

void part(Graph& made, const gs_map_graph& graph, const uint32_t* members, uint64_t count, unsigned threads) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> number(graph.vertices, kNone);
  for (uint64_t i = 0; i < count; ++i) number[members[i]] = static_cast<uint32_t>(i);
  made.works = Array<uint64_t>(count);
  Rows rows(count);
  rows.make(threads, count, [&](uint64_t i, Ratings& ratings) {
    const uint32_t v = members[i];
    made.works[i] = graph.work[v];
    for (uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      if (const uint32_t to = number[graph.neighbours[e]]; to != kNone) ratings.add(to, graph.weights[e]);
    }
  });
  rows.into(made);
}

void contract(Graph& made, const gs_map_graph& graph, const uint32_t* labels, uint64_t count, unsigned threads) {
  // Vertices in the order of their labels.
  std::vector<uint64_t> first(count + 1);
  for (uint64_t v = 0; v < graph.vertices; ++v) ++first[labels[v] + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<uint32_t> member(graph.vertices);
  std::vector<uint64_t> cursor(first.begin(), first.end() - 1);
  for (uint64_t v = 0; v < graph.vertices; ++v) member[cursor[labels[v]]++] = static_cast<uint32_t>(v);
  made.works = Array<uint64_t>(count);
  Rows rows(count);
  rows.make(threads, count, [&](uint64_t label, Ratings& ratings) {
    for (uint64_t i = first[label]; i < first[label + 1]; ++i) {
      const uint32_t v = member[i];
      made.works[label] += graph.work[v];
      for (uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        if (const uint32_t to = labels[graph.neighbours[e]]; to != label) ratings.add(to, graph.weights[e]);
      }
    }
  });
  rows.into(made);
}

/// Moves vertices between labels, block by block. For each vertex of a block all threads find the best label from the
/// state before the block; then the moves are made in order, so that the result is independent of the threads.
class Refiner {
 public:
  Refiner(const gs_map_graph& graph, uint64_t labels, uint64_t most, unsigned threads, uint32_t* label)
      : graph_(graph), most_(most), threads_(threads), label_(label), held_(labels) {
    for (uint64_t v = 0; v < graph.vertices; ++v) held_[label[v]] += graph.work[v];
    for (unsigned t = 0; t < threads; ++t) ratings_.push_back(std::make_unique<Ratings>(labels));
  }

  /// Returns the number of vertices that have moved.
  uint64_t round() {
    // Blocks are a small part of the graph, since vertices of one block do not see each other's moves.
    const uint64_t block = std::clamp<uint64_t>(graph_.vertices / 64, 1, 1 << 15);
    std::vector<uint32_t> wanted(block);
    uint64_t moved = 0;
    for (uint64_t begin = 0; begin < graph_.vertices; begin += block) {
      const uint64_t count = std::min(block, graph_.vertices - begin);
      std::atomic<uint64_t> next{0};
      constexpr uint64_t kStep = 256;
      const unsigned threads = count < 4 * kStep ? 1 : threads_;
      on_threads(threads, [&](unsigned thread) {
        for (;;) {
          const uint64_t from = next.fetch_add(kStep, std::memory_order_relaxed);
          if (from >= count) return;
          for (uint64_t i = from; i < std::min(count, from + kStep); ++i) {
            wanted[i] = best(begin + i, *ratings_[thread]);
          }
        }
      });
      for (uint64_t i = 0; i < count; ++i) moved += move(begin + i, wanted[i]);
    }
    return moved;
  }

 private:
  /// The label that the vertex shares most edges with, among those with enough free capacity. Ties are broken by the
  /// lower weight, and then by the lower label.
  uint32_t best(uint64_t v, Ratings& ratings) const {
    for (uint64_t e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
      ratings.add(label_[graph_.neighbours[e]], graph_.weights[e]);
    }
    uint32_t found = label_[v];
    // A part above its capacity loses vertices even if that cuts edges.
    const bool heavy = held_[found] > most_;
    uint64_t rating = heavy ? 0 : ratings[found];
    bool own = true;
    for (const uint32_t other : ratings.seen()) {
      if (other == label_[v] || held_[other] + graph_.work[v] > most_) continue;
      const uint64_t its = ratings[other];
      const bool better =
          its > rating || (its == rating && !own && std::pair(held_[other], other) < std::pair(held_[found], found));
      if (better) found = other, rating = its, own = false;
    }
    ratings.clear();
    return found;
  }

  bool move(uint64_t v, uint32_t to) {
    const uint32_t from = label_[v];
    if (to == from || held_[to] + graph_.work[v] > most_) return false;
    held_[from] -= graph_.work[v];
    held_[to] += graph_.work[v];
    label_[v] = to;
    return true;
  }

  const gs_map_graph& graph_;
  uint64_t most_;
  unsigned threads_;
  uint32_t* label_;
  std::vector<uint64_t> held_;
  std::vector<std::unique_ptr<Ratings>> ratings_;
};

void rounds(Refiner& refiner, uint64_t vertices, int most) {
  for (int round = 0; round < most; ++round) {
    if (refiner.round() <= vertices / 100) return;
  }
}

/// Joins single-vertex clusters: those whose heaviest neighbours are in the same cluster, which was full, and those
/// without neighbours.
void join_single(const gs_map_graph& graph, uint64_t most, uint32_t* labels) {
  std::vector<uint32_t> size(graph.vertices);
  for (uint64_t v = 0; v < graph.vertices; ++v) ++size[labels[v]];
  std::vector<std::pair<uint32_t, uint32_t>> single;  // the neighbour's cluster, the vertex
  for (uint64_t v = 0; v < graph.vertices; ++v) {
    if (size[labels[v]] != 1) continue;
    uint32_t favourite = UINT32_MAX, weight = 0;
    for (uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      if (graph.weights[e] > weight) weight = graph.weights[e], favourite = labels[graph.neighbours[e]];
    }
    single.emplace_back(favourite, static_cast<uint32_t>(v));
  }
  std::sort(single.begin(), single.end());
  uint64_t held = 0;
  for (std::size_t i = 0; i < single.size(); ++i) {
    const uint64_t work = graph.work[single[i].second];
    if (i && single[i].first == single[i - 1].first && held + work <= most) {
      labels[single[i].second] = labels[single[i - 1].second];
      held += work;
    } else {
      held = work;
    }
  }
}

/// Renumbers labels without gaps, in the order of their first vertices. Returns the number of labels.
uint64_t number(uint64_t vertices, uint32_t* labels) {
  std::vector<uint32_t> numbers(vertices, UINT32_MAX);
  uint32_t count = 0;
  for (uint64_t v = 0; v < vertices; ++v) {
    uint32_t& its = numbers[labels[v]];
    if (its == UINT32_MAX) its = count++;
    labels[v] = its;
  }
  return count;
}

template <class Body>
int guarded(Body&& body) {
  return gossamer::graph::run_stoppable("mapping the graph", "use a smaller one, or a machine with more", body);
}

template <class Make>
int make(gs_map_graph** made, Make&& how) {
  return guarded([&] {
    auto graph = std::make_unique<Graph>();
    how(*graph);
    *made = graph.release();
    return 0;
  });
}

}  // namespace

extern "C" {

int gs_map_undirected(uint64_t vertices, uint64_t edges, const uint32_t* sources, const uint32_t* targets, uint64_t own,
                      int threads, gs_map_graph** made) {
  return make(made,
              [&](Graph& graph) { undirected(graph, vertices, edges, sources, targets, own, thread_count(threads)); });
}

int gs_map_part(const gs_map_graph* graph, const uint32_t* members, uint64_t count, int threads, gs_map_graph** made) {
  return make(made, [&](Graph& its) { part(its, *graph, members, count, thread_count(threads)); });
}

int gs_map_contract(const gs_map_graph* graph, const uint32_t* labels, uint64_t count, int threads,
                    gs_map_graph** made) {
  return make(made, [&](Graph& coarse) { contract(coarse, *graph, labels, count, thread_count(threads)); });
}

int gs_map_cluster(const gs_map_graph* graph, uint64_t most, int most_rounds, int threads, uint32_t* labels,
                   uint64_t* count) {
  return guarded([&] {
    std::iota(labels, labels + graph->vertices, 0u);
    Refiner refiner(*graph, graph->vertices, most, thread_count(threads), labels);
    rounds(refiner, graph->vertices, most_rounds);
    join_single(*graph, most, labels);
    *count = number(graph->vertices, labels);
    return 0;
  });
}

int gs_map_refine(const gs_map_graph* graph, uint64_t parts, uint64_t most, int most_rounds, int threads,
                  uint32_t* labels) {
  return guarded([&] {
    Refiner refiner(*graph, parts, most, thread_count(threads), labels);
    rounds(refiner, graph->vertices, most_rounds);
    return 0;
  });
}

void gs_map_free(gs_map_graph* graph) { delete static_cast<Graph*>(graph); }

}  // extern "C"
