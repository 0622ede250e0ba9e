// SPDX-License-Identifier: Apache-2.0
/// A run of an application on the ranks of a job, and its result. Part of app.h, in applications that are compiled for
/// the `distributed` engine.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/app/result.h"
#include "gossamer/distributed/engine.h"
#include "gossamer/distributed/share.h"

namespace gossamer::distributed {

template <typename App>
struct ShareResult final : gossamer::detail::AppResult<App> {
  using Base = gossamer::detail::AppResult<App>;
  using V = typename App::Vertex;
  using S = typename App::State;
  using E = typename V::Edge;
  using Base::app;
  using Base::problem;
  using Base::state;
  using Base::statistics;
  using Base::totals;

  Ranks ranks;
  Ranges ranges;
  FarVertices far;
  gs_rank_figures figures{};

  explicit ShareResult(const gs_share& share)
      : ranks(share.ranks), ranges(share.cuts, share.indices, ranks), far(ranks, ranges) {}

  void run(const gs_share& share, const gs_run_options& options) {
    RunOptions how = gossamer::detail::runOptions(options);
    const PoolLease pool(how.threads ? how.threads : defaultThreads());
    const gs_graph& graph = share.graph;
    const GraphInfo whole{static_cast<uint32_t>(share.vertices), share.edges, graph.weight_type != GS_NONE,
                          graph.weight_low, graph.weight_high};
    this->firstIndex = ranges.first();
    this->indices = share.indices;
    this->allVertices = whole.vertices;
    if constexpr (rules::ReadsEdges<V> || App::wiring == Wiring::simple || App::wiring == Wiring::oriented ||
                  App::wiring == Wiring::ranked) {
      far.learnIndices(rowsOf(graph.out), rowsOf(graph.in));
    }
    this->prepare(graph, options, *pool, &whole, &far);
    if constexpr (App::parallelInit) {
      this->initialise(*pool);
    } else {
      initialiseInOrder();
      complete();
    }
    const Network own = ownEdges();
    gossamer::detail::AppHost<App> host(app);
    if constexpr (gossamer::detail::AppHost<App>::listens()) problem.host = &host;
    Run<V> run(problem, own, numbers_, state, ranks, ranges, *pool, share.checkpoints, how.timeline);
    statistics = run.run();
    figures = run.figures();
    problem.host = nullptr;
    judge();
  }

  /// The descriptor's init may depend on earlier calls: every rank calls it for all vertices, in the order of their
  /// indices, and keeps the states of its own.
  void initialiseInOrder() {
    constexpr uint64_t block = 65536;
    std::vector<VertexInfo> infos;
    std::vector<VertexInfo> here;
    uint32_t next = 0;  // of the vertices here
    for (uint64_t from = 0; from < ranges.vertices(); from += block) {
      infos.resize(std::min(block, ranges.vertices() - from));
      here.clear();
      for (uint32_t v = next; v < ranges.own() && ranges.indexOf(v) - from < block; ++v) here.push_back(this->about(v));
      ranks.gather(here.data(), here.size() * sizeof(VertexInfo), [&](unsigned, const uint8_t* bytes, uint64_t size) {
        for (uint64_t at = 0; at < size; at += sizeof(VertexInfo)) {
          VertexInfo info;
          __builtin_memcpy(&info, bytes + at, sizeof info);
          infos[info.index - from] = info;
        }
      });
      ranks.broadcast(0, infos.data(), infos.size() * sizeof(VertexInfo));
      Position position;
      position.handler = Handler::start;
      Fault fault;
      auto init = [&] {
        for (const VertexInfo& info : infos) {
          S other{};
          position.vertex = info.index;
          const bool ours = next < ranges.own() && ranges.indexOf(next) == info.index;
          app.init(info, ours ? state[next++] : other);
        }
      };
      if (!guard::run(init, &position, fault)) guard::raise(fault);
    }
  }

  /// Rank 0 completes the parameters from the states of all ranks, which it gets one rank at a time, in order.
  void complete() override {
    if constexpr (requires(App a, typename V::Params p, States<S> all) { a.complete(p, all); }) {
      uint8_t more = 1;
      const auto gather = [&](const std::function<void(const S*, uint64_t)>& take) {
        ranks.broadcast(0, &more, 1);
        ranks.gather(state.data(), ranks.rank() ? state.size() * sizeof(S) : 0,
                     [&](unsigned, const uint8_t* bytes, uint64_t size) {
                       take(reinterpret_cast<const S*>(bytes), size / sizeof(S));
                     });
      };
      if (ranks.rank() == 0) {
        guard::inDescriptor(Handler::start, [&] {
          app.complete(problem.params, States<S>{state.data(), static_cast<uint32_t>(state.size()), nullptr, gather});
        });
        more = 0;
        ranks.broadcast(0, &more, 1);
      } else {
        for (;;) {
          ranks.broadcast(0, &more, 1);
          if (!more) break;
          ranks.gather(state.data(), state.size() * sizeof(S), [](unsigned, const uint8_t*, uint64_t) {});
        }
      }
      ranks.broadcast(0, &problem.params, sizeof problem.params);
    }
  }

  /// The verdict is rank 0's, on the states of all ranks. It is an answer where the application does not judge.
  void judge() override {
    using Default = Verdict (Application<V>::*)(const typename Application<V>::Outcome&);
    bool judges = true;
    if constexpr (requires { &App::verdict; }) judges = !std::is_same_v<decltype(&App::verdict), Default>;
    if (!judges) return;
    Array<S> all(ranks.rank() == 0 ? ranges.vertices() : 0);
    gather(state.data(), sizeof(S), reinterpret_cast<uint8_t*>(all.data()));
    if (ranks.rank() != 0) return;
    guard::inDescriptor(Handler::verdict, [&] {
      this->verdict = app.verdict({statistics, all.data(), this->allVertices, this->finalTotals()});
    });
  }

  /// All ranks call it; rank 0 stores the values of all.
  void column(size_t index, void* out) override {
    const auto& columns = this->columns.all();
    if (index >= columns.size()) throw std::invalid_argument("there is no such column");
    const auto& column = columns[index];
    const size_t width = column.type == GS_I64 || column.type == GS_U64 || column.type == GS_F64 ? 8 : 4;
    Bytes mine(state.size() * width);
    guard::inDescriptor(Handler::results, [&] { column.write(state.data(), state.size(), mine.data()); });
    gather(mine.data(), width, static_cast<uint8_t*>(out));
    if (ranks.rank() != 0 || !column.normalise) return;
    if (column.type == GS_F32) this->scale(static_cast<float*>(out), ranges.vertices());
    if (column.type == GS_F64) this->scale(static_cast<double*>(out), ranges.vertices());
  }

 private:
  /// Copies the elements of all vertices, `width` bytes each, to `to` of rank 0, in the order of their indices.
  void gather(const void* mine, uint64_t width, uint8_t* to) const {
    const auto* const bytes = static_cast<const uint8_t*>(mine);
    const uint64_t size = ranges.own() * width;
    if (!ranges.renumbered()) {
      ranks.gather(bytes, size, [&](unsigned, const uint8_t* its, uint64_t count) {
        __builtin_memcpy(static_cast<void*>(to), its, count);
        to += count;
      });
      return;
    }
    Bytes both;
    both.reserve(ranges.own() * sizeof(uint32_t) + size);
    append(both, this->indices, ranges.own());
    append(both, bytes, size);
    ranks.gather(both.data(), both.size(), [&](unsigned, const uint8_t* its, uint64_t count) {
      const uint64_t vertices = count / (sizeof(uint32_t) + width);
      const uint8_t* const elements = its + vertices * sizeof(uint32_t);
      for (uint64_t i = 0; i < vertices; ++i) {
        uint32_t index;
        __builtin_memcpy(&index, its + i * sizeof index, sizeof index);
        __builtin_memcpy(static_cast<void*>(to + index * width), elements + i * width, width);
      }
    });
  }

  static Rows rowsOf(const gs_csr& rows) { return {rows.offsets, rows.targets, nullptr}; }

  /// The edges of the vertices here by sender, with indices of the whole graph, if vertices read them.
  Network ownEdges() {
    Network own;
    own.vertices = problem.network.vertices;
    if constexpr (rules::ReadsEdges<V>) {
      for (const Relation& r : problem.network.relations) {
        if (r.pin != 0) continue;
        const uint64_t edges = r.out.offsets[own.vertices];
        ownTargets_ = Array<uint32_t>(edges + 1);
        if (ranges.renumbered()) ownNumbers_ = Array<uint32_t>(edges + 1);
        for (uint64_t i = 0; i < edges; ++i) {
          ownTargets_[i] = far.indexOf(r.out.targets[i]);
          if (ranges.renumbered()) ownNumbers_[i] = r.out.targets[i] + ranges.first();
        }
        own.relations.push_back({0, Rows{r.out.offsets, ownTargets_.data(), r.out.values}, {}});
      }
      numbers_ = ranges.renumbered() ? ownNumbers_.data() : ownTargets_.data();
    }
    return own;
  }

  Array<uint32_t> ownTargets_;
  Array<uint32_t> ownNumbers_;  // where they differ
  const uint32_t* numbers_ = nullptr;
};

}  // namespace gossamer::distributed

namespace gossamer::detail {

template <typename App>
int runShare(const gs_share* share, const gs_run_options* options, gs_result** out, gs_rank_figures* figures) noexcept {
  return guarded([&] {
    auto result = std::make_unique<distributed::ShareResult<App>>(*share);
    result->run(*share, *options);
    *figures = result->figures;
    *out = result.release();
  });
}

}  // namespace gossamer::detail
