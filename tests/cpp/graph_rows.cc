// SPDX-License-Identifier: Apache-2.0
/// Operations on rows (transpose, remove edges, symmetrise) and the generators, against plain lists of edges;
/// under the sanitizers and on several threads.
#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "check.h"
#include "gossamer/graph/graph.h"

namespace {

using Edge = std::tuple<std::uint32_t, std::uint32_t, std::int32_t>;

struct Rows {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> targets;
  std::vector<std::int32_t> weights;
  std::uint64_t vertices() const { return offsets.size() - 1; }
  std::uint64_t edges() const { return targets.size(); }
};

Rows rows_of(std::uint64_t vertices, std::vector<Edge> edges) {
  std::sort(edges.begin(), edges.end());
  Rows rows;
  rows.offsets.assign(vertices + 1, 0);
  for (const auto& [source, target, weight] : edges) {
    ++rows.offsets[source + 1];
    rows.targets.push_back(target);
    rows.weights.push_back(weight);
  }
  for (std::uint64_t v = 0; v < vertices; ++v) rows.offsets[v + 1] += rows.offsets[v];
  return rows;
}

std::vector<Edge> edges_of(const Rows& rows) {
  std::vector<Edge> edges;
  for (std::uint64_t v = 0; v < rows.vertices(); ++v)
    for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e)
      edges.emplace_back(static_cast<std::uint32_t>(v), rows.targets[e],
                         rows.weights.empty() ? 0 : rows.weights[e]);
  return edges;
}

std::vector<Edge> random_edges(std::mt19937_64& random, std::uint64_t vertices, std::size_t count) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < count; ++i)
    edges.emplace_back(random() % vertices, random() % (1 + random() % vertices), random() % 5);
  return edges;
}

}  // namespace

GS_TEST(transpose_is_a_sort_by_target) {
  std::mt19937_64 random(check::seed);
  // From one bucket of targets to many, the last of them partial; several parts of the edges.
  for (const std::uint64_t vertices : {1u, 7u, 1000u, 60001u})
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{50}, check::pick<std::size_t>(150000, 150000, 2000000)})
      for (const int threads : {1, 2, 5}) {
        const auto edges = random_edges(random, vertices, count);
        const Rows rows = rows_of(vertices, edges);
        std::vector<Edge> turned;
        for (const auto& [source, target, weight] : edges) turned.emplace_back(target, source, weight);
        const Rows judge = rows_of(vertices, turned);
        Rows got{std::vector<std::uint64_t>(vertices + 1), std::vector<std::uint32_t>(count),
                 std::vector<std::int32_t>(count)};
        CHECK_EQ(
            gs_graph_transpose(vertices, count, rows.offsets.data(), rows.targets.data(), rows.weights.data(),
                               GS_I32, threads, got.offsets.data(), got.targets.data(), got.weights.data()),
            0);
        CHECK(edges_of(got) == edges_of(judge));
      }
}

GS_TEST(simplify_and_count_in_pieces) {
  std::mt19937_64 random(check::seed);
  for (const std::uint32_t vertices : {1u, 16384u, 16385u, 70000u}) {
    // Most edges in a few rows, so that pieces shrink by very different amounts.
    auto edges = random_edges(random, vertices, 60000);
    for (auto& [source, target, weight] : edges)
      if (source % 3 == 0) source = source % 7, target = target % 5;
    const Rows rows = rows_of(vertices, edges);
    for (const unsigned what : {0u, 1u, 2u, 3u}) {  // GS_SIMPLIFY_*
      Rows folded = rows;
      std::uint64_t count = 0;
      CHECK_EQ(gs_graph_simplify(vertices, folded.offsets.data(), folded.targets.data(), folded.weights.data(), GS_I32,
                                 what, &count),
               0);
      folded.targets.resize(count);
      folded.weights.resize(count);
      std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
      std::vector<Edge> judge;
      std::uint64_t loops = 0;
      std::vector<std::uint32_t> in(vertices, 0);
      for (const Edge& edge : edges_of(rows)) {
        const auto [source, target, weight] = edge;
        if ((what & GS_SIMPLIFY_LOOPS) && source == target) continue;
        if (!seen.emplace(source, target).second && (what & GS_SIMPLIFY_PARALLEL)) continue;
        judge.push_back(edge);
        loops += source == target;
        ++in[target];
      }
      CHECK(edges_of(folded) == judge);
      gs_graph_census census;
      CHECK_EQ(gs_graph_count(vertices, count, folded.offsets.data(), folded.targets.data(), &census), 0);
      CHECK_EQ(census.loops, loops);
      CHECK_EQ(census.parallel, judge.size() - seen.size());
      CHECK_EQ(census.most_in, std::uint64_t{*std::max_element(in.begin(), in.end())});
      CHECK_EQ(census.sources, static_cast<std::uint64_t>(std::count(in.begin(), in.end(), 0u)));
    }
  }
}

/// Enough edges to move in several waves, with gaps narrower and wider than a wave.
GS_TEST(remaining_edges_move_down) {
  constexpr std::uint32_t vertices = 70001, degree = 64;
  for (const std::uint32_t gap : {1u, 1000u, 3000000u}) {
    Rows rows;
    rows.offsets = {0};
    const auto add = [&](std::uint32_t target, std::uint32_t times) {
      for (std::uint32_t i = 0; i < times; ++i) {
        rows.targets.push_back(target);
        rows.weights.push_back(static_cast<std::int32_t>(rows.targets.size()));
      }
    };
    add(1, gap + 1);
    rows.offsets.push_back(rows.targets.size());
    for (std::uint32_t v = 1; v < vertices; ++v) {
      for (std::uint32_t i = 0; i < degree; ++i) add(v % 1000 + i * 1000, v % 500 == 0 && i == 7 ? 2 : 1);
      rows.offsets.push_back(rows.targets.size());
    }
    Rows folded = rows;
    std::uint64_t count = 0;
    CHECK_EQ(gs_graph_simplify(vertices, folded.offsets.data(), folded.targets.data(), folded.weights.data(), GS_I32,
                               GS_SIMPLIFY_PARALLEL, &count),
             0);
    std::uint64_t wrong = 0, at = 0;
    for (std::uint32_t v = 0; v < vertices; ++v) {
      wrong += folded.offsets[v] != at;
      for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
        if (e > rows.offsets[v] && rows.targets[e] == rows.targets[e - 1]) continue;
        wrong += folded.targets[at] != rows.targets[e] || folded.weights[at] != rows.weights[e];
        ++at;
      }
    }
    CHECK_EQ(at, count);
    CHECK_EQ(folded.offsets[vertices], count);
    CHECK_EQ(wrong, 0u);
  }
}

GS_TEST(simplify_and_symmetrise) {
  std::mt19937_64 random(check::seed);
  const auto edges = random_edges(random, 50, 3000);
  const Rows rows = rows_of(50, edges);
  Rows folded = rows;
  std::uint64_t count = 0;
  CHECK_EQ(gs_graph_simplify(50, folded.offsets.data(), folded.targets.data(), folded.weights.data(), GS_I32,
                             GS_SIMPLIFY_PARALLEL | GS_SIMPLIFY_LOOPS, &count),
           0);
  folded.targets.resize(count);
  folded.weights.resize(count);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  std::vector<Edge> judge;
  for (const Edge& edge : edges_of(rows)) {
    const auto [source, target, weight] = edge;
    if (source != target && seen.emplace(source, target).second) judge.push_back(edge);
  }
  CHECK(edges_of(folded) == judge);
  judge.clear();
  for (const auto& [source, target, weight] : edges) {
    judge.emplace_back(source, target, weight);
    if (source != target) judge.emplace_back(target, source, weight);
  }
  Rows both{std::vector<std::uint64_t>(51), std::vector<std::uint32_t>(judge.size()),
            std::vector<std::int32_t>(judge.size())};
  CHECK_EQ(
      gs_graph_symmetrise(50, edges.size(), rows.offsets.data(), rows.targets.data(), rows.weights.data(),
                          GS_I32, 3, both.offsets.data(), both.targets.data(), both.weights.data()),
      0);
  CHECK(edges_of(both) == edges_of(rows_of(50, judge)));
  std::uint64_t vertex = 0, other = 0;
  CHECK_EQ(gs_graph_check_symmetric(50, both.offsets.data(), both.targets.data(), both.weights.data(), GS_I32,
                                    3, &vertex, &other),
           0);
  ++both.weights[both.offsets[1] - 1];  // the last edge of vertex 0 differs
  CHECK(gs_graph_check_symmetric(50, both.offsets.data(), both.targets.data(), both.weights.data(), GS_I32, 3,
                                 &vertex, &other) != 0);
}

/// Enough edges for several threads; the reference sorts edges and reverses.
GS_TEST(symmetrise_is_independent_of_the_number_of_threads) {
  std::mt19937_64 random(check::seed);
  for (const std::uint64_t vertices : {3000u, 40000u})
    for (const int threads : {1, 4}) {
      const std::vector<Edge> edges = random_edges(random, vertices, 120000);
      const Rows rows = rows_of(vertices, edges);
      std::vector<Edge> judge;
      for (const auto& [source, target, weight] : edges) {
        judge.emplace_back(source, target, weight);
        if (source != target) judge.emplace_back(target, source, weight);
      }
      for (const bool weighted : {true, false}) {
        Rows both{std::vector<std::uint64_t>(vertices + 1), std::vector<std::uint32_t>(judge.size()),
                  std::vector<std::int32_t>(weighted ? judge.size() : 0)};
        CHECK_EQ(gs_graph_symmetrise(vertices, edges.size(), rows.offsets.data(), rows.targets.data(),
                                     weighted ? rows.weights.data() : nullptr, weighted ? GS_I32 : GS_NONE,
                                     threads, both.offsets.data(), both.targets.data(),
                                     weighted ? both.weights.data() : nullptr),
                 0);
        if (!weighted)
          for (auto& edge : judge) std::get<2>(edge) = 0;
        CHECK(edges_of(both) == edges_of(rows_of(vertices, judge)));
      }
    }
}

/// A road network has fewer edges per vertex than a machine has processors: no work may be per thread and vertex.
GS_TEST(work_does_not_grow_with_the_number_of_threads) {
  std::mt19937_64 random(check::seed);
  const std::uint64_t vertices = 150000;
  const std::vector<Edge> edges = random_edges(random, vertices, 220000);
  const Rows rows = rows_of(vertices, edges);
  std::uint64_t loops = 0;
  for (const auto& [source, target, weight] : edges) loops += source == target;
  std::uint64_t turned[2], doubled[2];
  for (const int many : {0, 1}) {
    const int threads = many ? 64 : 1;
    Rows got{std::vector<std::uint64_t>(vertices + 1), std::vector<std::uint32_t>(2 * edges.size()), {}};
    const std::uint64_t begun = gs_graph_work();
    CHECK_EQ(gs_graph_transpose(vertices, edges.size(), rows.offsets.data(), rows.targets.data(), nullptr, GS_NONE,
                                threads, got.offsets.data(), got.targets.data(), nullptr),
             0);
    turned[many] = gs_graph_work() - begun;
    CHECK_EQ(gs_graph_symmetrise(vertices, edges.size(), rows.offsets.data(), rows.targets.data(), nullptr, GS_NONE,
                                 threads, got.offsets.data(), got.targets.data(), nullptr),
             0);
    CHECK_EQ(got.offsets.back(), 2 * edges.size() - loops);
    doubled[many] = gs_graph_work() - begun - turned[many];
    CHECK(turned[many] >= vertices + edges.size() && doubled[many] > turned[many]);
  }
  CHECK(turned[1] * 100 <= turned[0] * 115);
  CHECK(doubled[1] * 100 <= doubled[0] * 115);
}

/// Reference: counting each edge and its reverse among all edges; small graphs, so that every case occurs.
GS_TEST(symmetry_check_finds_the_first_edge_without_reverse) {
  std::mt19937_64 random(check::seed);
  int symmetric = 0, lopsided = 0;
  for (int round = 0; round < check::pick(2000, 6000, 200000); ++round) {
    const std::uint64_t vertices = 1 + random() % 12;
    std::vector<Edge> edges;
    for (std::uint64_t i = random() % 30; i; --i) {
      const auto a = static_cast<std::uint32_t>(random() % vertices);
      const auto b = static_cast<std::uint32_t>(random() % vertices);
      const auto weight = static_cast<std::int32_t>(random() % 2);
      edges.emplace_back(a, b, weight);
      if (a != b) edges.emplace_back(b, a, weight);
    }
    if (!edges.empty() && random() % 2) {
      auto& [source, target, weight] = edges[random() % edges.size()];
      (random() % 2 ? target : source) = static_cast<std::uint32_t>(random() % vertices);
      if (random() % 4 == 0) weight = 7;
    }
    const Rows rows = rows_of(vertices, edges);
    edges = edges_of(rows);
    const bool weighted = random() % 2;
    const auto run = [&](std::uint32_t from, std::uint32_t to) {
      std::vector<std::int32_t> weights;
      for (const auto& [source, target, weight] : edges)
        if (source == from && target == to) weights.push_back(weighted ? weight : 0);
      return weights;
    };
    const auto first = std::find_if(edges.begin(), edges.end(), [&](const Edge& edge) {
      return run(std::get<0>(edge), std::get<1>(edge)) != run(std::get<1>(edge), std::get<0>(edge));
    });
    std::uint64_t vertex = 0, other = 0;
    const int code = gs_graph_check_symmetric(vertices, rows.offsets.data(), rows.targets.data(),
                                              weighted ? rows.weights.data() : nullptr, weighted ? GS_I32 : GS_NONE,
                                              1 + static_cast<int>(random() % 5), &vertex, &other);
    CHECK_EQ(code == 0, first == edges.end());
    ++(code == 0 ? symmetric : lopsided);
    if (code == 0) continue;
    CHECK_EQ(vertex, std::get<0>(*first));
    CHECK_EQ(other, std::get<1>(*first));
  }
  CHECK(symmetric > 100 && lopsided > 100);
}

GS_TEST(generators_are_independent_of_the_number_of_threads) {
  for (const std::uint64_t count : {1u, 2u, 3000u}) {
    for (const double radius : {0.00001, 0.05, 0.3, 2.0})
      for (const int shuffle : {0, 1}) {
        std::vector<std::vector<Edge>> results;
        for (const int threads : {1, 4}) {
          Rows rows;
          rows.offsets.resize(count + 1);
          void* state = nullptr;
          CHECK_EQ(gs_graph_geometric(count, 15, radius, shuffle, check::seed, threads, rows.offsets.data(),
                                      &state),
                   0);
          rows.targets.resize(rows.offsets[count]);
          CHECK_EQ(gs_graph_generated(state, rows.targets.data()), 0);
          rows.weights.resize(rows.edges());
          CHECK_EQ(gs_graph_random_weights(count, rows.offsets.data(), rows.targets.data(), 0, -2, 2,
                                           check::seed, threads, rows.weights.data()),
                   0);
          gs_graph_census census;
          CHECK_EQ(gs_graph_count(count, rows.edges(), rows.offsets.data(), rows.targets.data(), &census), 0);
          CHECK_EQ(census.loops + census.parallel, 0u);
          CHECK(census.most_out <= 15);
          if (radius == 2.0) CHECK_EQ(rows.edges(), count * std::min<std::uint64_t>(15, count - 1));
          results.push_back(edges_of(rows));
        }
        CHECK(results[0] == results[1]);
      }
  }
  std::vector<std::vector<Edge>> results;
  for (const int threads : {1, 3}) {
    Rows rows;
    rows.offsets.resize((1u << 11) + 1);
    void* state = nullptr;
    CHECK_EQ(gs_graph_rmat(11, 20000, 0.57, 0.19, 0.19, 1, check::seed, threads, rows.offsets.data(), &state),
             0);
    rows.targets.resize(20000);
    CHECK_EQ(gs_graph_generated(state, rows.targets.data()), 0);
    results.push_back(edges_of(rows));
  }
  CHECK_EQ(results[0].size(), 20000u);
  CHECK(results[0] == results[1]);
}
