// SPDX-License-Identifier: Apache-2.0
/// A run of an application and its result. Part of app.h.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/abi.h"
#include "gossamer/app/application.h"
#include "gossamer/core/guard.h"
#include "gossamer/core/memory.h"
#include "gossamer/engine.h"

namespace gossamer {

namespace detail {

/// Passes messages to the host on to the application; never delays the end of a run.
template <typename App>
class AppHost final : public HostEnd {
 public:
  explicit AppHost(App& app) : app_(app) {}
  void fromVertex(const void* message) override {
    if constexpr (listens()) {
      guard::inDescriptor(Handler::receive, [&] { app_.receive(*static_cast<const typename App::Message*>(message)); });
    }
  }
  bool toVertex(uint32_t&, void*) override { return false; }
  bool waitIdle() override { return false; }
  static constexpr bool listens() {
    return requires(App a, const typename App::Message m) { a.receive(m); };
  }

 private:
  App& app_;
};

}  // namespace detail
}  // namespace gossamer

/// A finished run of an application: the object of the C interface.
struct gs_result {
  virtual ~gs_result() = default;
  virtual void column(size_t index, void* out) = 0;
  virtual void total(size_t index, void* out) = 0;
  virtual void receive(const void* message) = 0;
  virtual void judge() = 0;  // sets the verdict on the current states
  virtual void change(const gs_change&) { throw std::logic_error("this run was not started with gs_app_start"); }
  virtual void go(const gs_run_options&) { throw std::logic_error("this run was not started with gs_app_start"); }
  virtual void part(gs_part&) { throw std::logic_error("this run was not started with gs_app_start"); }
  virtual void ended() { judge(); }  // an engine elsewhere has stored the final states and set `statistics`
  gossamer::Statistics statistics;
  gossamer::Verdict verdict = gossamer::Verdict::answer();
};

namespace gossamer::detail {

template <typename App>
struct AppResult : gs_result {
  using V = typename App::Vertex;
  using S = typename App::State;
  App app;
  std::unique_ptr<GraphNetwork<App>> wiring;
  Problem<V> problem;
  Array<S> state;
  Columns<S> columns;
  Columns<typename V::Aggregates> totals;
  std::vector<gs_relation> relations;

  uint32_t firstIndex = 0;            // of the vertices here, in the whole graph, where they are consecutive
  const uint32_t* indices = nullptr;  // else the index of each
  uint32_t allVertices = 0;           // of the whole graph; 0: all are here

  /// Sets parameters and network. Throws if the application rejects them. Where the graph is a rank's share, `whole`
  /// are the numbers of the whole graph, and `far` has the vertices of other ranks.
  void prepare(const gs_graph& graph, const gs_run_options& options, Pool& pool, const GraphInfo* whole = nullptr,
               Elsewhere* far = nullptr) {
    Parameters parameters;
    app.parameters(parameters);
    for (size_t i = 0; i < options.parameter_count; ++i) parameters.set(options.parameters[i]);

    if (graph.vertices > 0xfffffffe) throw std::invalid_argument("the graph has more than 4294967294 vertices");
    const GraphInfo info = whole ? *whole
                                 : GraphInfo{static_cast<uint32_t>(graph.vertices), graph.edges,
                                             graph.weight_type != GS_NONE, graph.weight_low, graph.weight_high};
    if constexpr (!std::is_empty_v<typename V::Edge>) {
      for (const double weight : {info.weightLow, info.weightHigh}) {
        if (!std::isfinite(weight)) {
          throw std::invalid_argument(std::string(App::name) +
                                      ": the graph has a weight that is not a finite number (" +
                                      std::to_string(weight) + "); correct or remove that edge");
        }
      }
    }
    app.begin(info);
    wiring = std::make_unique<GraphNetwork<App>>(graph, options, app, pool, far);
    problem.network = wiring->network();
    problem.unit = wiring->unit();
    problem.params = app.params(info);
    state = Array<S>(graph.vertices);
    app.results(columns);
    app.totals(totals);
  }

  /// Calls the descriptor's init for every vertex.
  void initialise(Pool& pool) {
    const size_t vertices = problem.network.vertices;
    std::vector<Position> positions(pool.size());
    const auto init = [&](size_t begin, size_t end, unsigned thread) {
      positions[thread].handler = Handler::start;
      for (size_t v = begin; v < end; ++v) {
        positions[thread].vertex = indexOf(v);
        app.init(about(v), state[v]);
      }
    };
    auto initAll = [&] {
      if constexpr (App::parallelInit) {
        pool.chunks(vertices, 4096, init);
      } else {
        for (size_t v = 0; v < vertices && !pool.stopped(); v += 4096) init(v, std::min(vertices, v + 4096), 0);
      }
    };
    for (unsigned t = 0; t < pool.size(); ++t) pool.watch(t, &positions[t]);
    Fault fault;
    const bool done = guard::run(initAll, &positions[0], fault);
    for (unsigned t = 0; t < pool.size(); ++t) pool.watch(t, nullptr);
    if (!done) guard::raise(fault);
    complete();
  }

  /// Lets the descriptor complete the parameters, when all states are those that the run starts with.
  virtual void complete() {
    if constexpr (requires(App a, typename V::Params p, States<S> all) { a.complete(p, all); }) {
      guard::inDescriptor(Handler::start, [&] {
        app.complete(problem.params, States<S>{state.data(), problem.network.vertices, problem.network.gone});
      });
    }
  }

  /// The index in the whole graph of vertex v here.
  uint32_t indexOf(size_t v) const { return indices ? indices[v] : static_cast<uint32_t>(v) + firstIndex; }

  /// The descriptor's view of a vertex.
  VertexInfo about(size_t v) const {
    const Network& net = problem.network;
    VertexInfo info{.index = indexOf(v), .vertices = allVertices ? allVertices : net.vertices - net.removed};
    for (const Relation& r : net.relations) {
      (r.pin ? info.backward : info.degree) += r.out.length(v);
      if constexpr (App::sumsWeights) info.weight += r.pin ? 0 : sumOfValues(r.out, v);
    }
    return info;
  }

  /// The scaled sum of the values of the edges of vertex v; VertexInfo::weight.
  double sumOfValues(const Rows& rows, size_t v) const {
    using E = typename V::Edge;
    static_assert(std::is_arithmetic_v<E>, "an application with `sumsWeights` needs numbers as edge values");
    double scale = 1;
    if constexpr (requires(const App a) { a.weightScale; }) scale = app.weightScale;
    const auto count = static_cast<double>(rows.length(v));
    if (!rows.values) return count * static_cast<double>(problem.unit) * scale;
    double sum = 0;
    bool any = false;
    for (uint64_t i = rows.offsets[v]; i < rows.ends[v]; ++i) {
      const auto value = static_cast<double>(static_cast<const E*>(rows.values)[i]);
      sum += value * scale;
      any = any || value != 0;
    }
    const bool lost = any && sum == 0;  // by underflow, or values of both signs
    return lost ? std::numeric_limits<double>::denorm_min() : sum;
  }

  /// What prepare() has set up, with all edges by sender, for an engine that runs elsewhere.
  gs_problem open() {
    Network& net = problem.network;
    for (size_t i = 0; i < net.relations.size(); ++i) {
      if (!net.relations[i].out && net.complete) net.complete(net, false);
    }
    relations.clear();
    for (const Relation& r : net.relations) {
      relations.push_back({r.pin, r.out.offsets, r.out.ends, r.out.targets, r.out.values});
    }
    return {net.vertices,
            state.data(),
            &problem.params,
            &problem.unit,
            relations.data(),
            sizeof(S),
            sizeof(typename V::Params),
            sizeof(typename V::Edge),
            sizeof(typename V::Message),
            static_cast<uint32_t>(relations.size()),
            AppHost<App>::listens(),
            reinterpret_cast<const uint8_t*>(aggregates::reductions<typename V::Aggregates>.of),
            aggregates::count<typename V::Aggregates>};
  }

  void receive(const void* message) override { AppHost<App>(app).fromVertex(message); }

  void judge() override {
    if (statistics.stopped) return;
    constexpr size_t words = aggregates::count<typename V::Aggregates>;
    if (statistics.aggregates.size() != words) {
      throw std::logic_error("the engine " + statistics.engine + " returned aggregates of " +
                             std::to_string(statistics.aggregates.size()) + " words instead of " +
                             std::to_string(words));
    }
    guard::inDescriptor(Handler::verdict, [&] {
      verdict = app.verdict({statistics, state.data(), problem.network.vertices, finalTotals()});
    });
  }

  void column(size_t index, void* out) override {
    const auto& all = columns.all();
    if (index >= all.size()) throw std::invalid_argument("there is no such column");
    guard::inDescriptor(Handler::results, [&] { all[index].write(state.data(), problem.network.vertices, out); });
    if (!all[index].normalise) return;
    if (all[index].type == GS_F32) scale(static_cast<float*>(out), problem.network.vertices);
    if (all[index].type == GS_F64) scale(static_cast<double*>(out), problem.network.vertices);
  }

  auto finalTotals() const { return statistics.template aggregatesAs<typename V::Aggregates>(); }

  void total(size_t index, void* out) override {
    const auto& all = totals.all();
    if (index >= all.size()) throw std::invalid_argument("there is no such total");
    const auto last = finalTotals();
    guard::inDescriptor(Handler::results, [&] { all[index].write(&last, 1, out); });
  }

  template <typename T>
  void scale(T* values, uint64_t count) const {
    const Network& net = problem.network;
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += net.isGone(i) ? 0 : static_cast<double>(values[i]);
    for (size_t i = 0; i < count; ++i) {
      if (net.isGone(i)) values[i] = 0;
      if (sum != 0) values[i] = static_cast<T>(static_cast<double>(values[i]) / sum);
    }
  }
};

/// The engine's options from those of the C interface.
inline RunOptions runOptions(const gs_run_options& options) {
  RunOptions run;
  run.threads = options.threads;
  run.seed = options.seed;
  run.stop = reinterpret_cast<std::atomic<int>*>(options.stop);
  run.progress = reinterpret_cast<std::atomic<uint64_t>*>(options.progress);
  run.timeline = timelineOf(options.timeline);
  return run;
}

}  // namespace gossamer::detail
