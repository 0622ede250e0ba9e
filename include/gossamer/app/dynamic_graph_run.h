// SPDX-License-Identifier: Apache-2.0
/// An application on a graph that changes between its runs. A part of app.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/app/result.h"
#include "gossamer/dynamic_rows.h"
#include "gossamer/engines.h"

namespace gossamer::detail {

template <typename App>
struct DynamicGraphRun final : AppResult<App> {
  using V = typename App::Vertex;
  using S = typename V::State;
  using E = typename V::Edge;
  using Edge = typename DynamicEdges<E>::Edge;
  using AppResult<App>::app;
  using AppResult<App>::problem;
  using AppResult<App>::state;
  using AppResult<App>::statistics;

  static_assert(App::wiring == Wiring::given || App::wiring == Wiring::backward,
                "a vertex with changed() or resume() needs the wiring `given` or `backward`: the others are computed "
                "from the whole graph");

  void start(const gs_graph& graph, const gs_run_options& options) {
    const PoolLease pool(options.threads ? options.threads : defaultThreads());
    pool->stopAt(runOptions(options).stop);
    this->prepare(graph, options, *pool);
    info_ = {static_cast<uint32_t>(graph.vertices), graph.edges, graph.weight_type != GS_NONE, graph.weight_low,
             graph.weight_high};
    Network& net = problem.network;
    symmetric_ = graph.flags & GS_GRAPH_SYMMETRIC;
    // The rows that change are a copy, so the wiring's own arrays are no longer needed.
    if (!net.relations[0].out) net.complete(net, false);
    const Relation first = net.relations[0];
    edges_ = DynamicEdges<E>(first.out, first.in, net.vertices, symmetric_);
    this->wiring->release();
    if (needsReverse()) edges_.needIn();
    if (App::undirected && !symmetric_) {
      for (uint32_t v = 0; v < net.vertices && !reversed_; ++v) {
        if (edges_.has(v, v)) separateReverses();
      }
    }
    net.complete = [this](Network&, bool wantIn) {
      if (wantIn) edges_.needIn();
      wire();
    };
    wire();
  }

  void change(const gs_change& what) override {
    switch (what.kind) {
      case GS_ADD_EDGES: addEdges(what); break;
      case GS_REMOVE_EDGES: removeEdges(what); break;
      case GS_ADD_VERTICES: addVertices(what.count); break;
      case GS_REMOVE_VERTICES: removeVertices(what); break;
      case GS_WAKE:
        for (const uint32_t v : named(what)) vertices_.change(v);
        break;
      case GS_RESET:
        for (const uint32_t v : named(what)) {
          vertices_.begin(v);
          markSources(v);
        }
        break;
      case GS_RESTART:
        static_cast<void>(vertices_.take());
        removedNow_.clear();
        state_ = StateStatus::initial;
        break;
      default: throw std::logic_error("there is no such change");
    }
    wire();
  }

  void go(const gs_run_options& options) override {
    RunOptions run = runOptions(options);
    requireStates();
    const PoolLease pool(run.threads ? run.threads : defaultThreads());
    run.pool = &*pool;
    pool->stopAt(run.stop);
    const std::unique_ptr<Engine<V>> engine = makeEngine<V>(options.engine);
    if (!engine) throw std::invalid_argument(std::string("there is no engine ") + options.engine);

    const bool whole = prepareStates(*pool);
    AppHost<App> host(app);
    if constexpr (AppHost<App>::listens()) problem.host = &host;
    problem.resumption = whole ? nullptr : &from_;
    const auto let = [this](void*) {
      problem.host = nullptr;
      problem.resumption = nullptr;
    };
    const std::unique_ptr<void, decltype(let)> end(this, let);
    statistics = engine->run(problem, state, run);
    statistics.edgeLooks += edges_.takeLooks() + (reversed_ ? reversed_->takeLooks() : 0);
    ended();
  }

  void part(gs_part& part) override {
    requireStates();
    const PoolLease pool(1);
    const bool whole = prepareStates(*pool);
    if (whole) from_ = {};
    const Network& net = problem.network;
    part = {.problem = this->open(),
            .fresh = from_.fresh.data(),
            .changed = from_.changed.data(),
            .gone = net.gone,
            .fresh_count = from_.fresh.size(),
            .changed_count = from_.changed.size(),
            .there = info_.vertices,
            .whole = whole};
  }

  void ended() override {
    statistics.vertices = info_.vertices;
    if (!statistics.stopped) state_ = StateStatus::valid;
    this->verdict = Verdict::answer();
    this->judge();
  }

 private:
  enum class StateStatus { initial, valid, lost };

  void requireStates() const {
    if (state_ != StateStatus::lost) return;
    throw std::invalid_argument(std::string(App::name) +
                                ": its last run did not reach its end, so there are no states to continue from; "
                                "call restart()");
  }

  /// Sets parameters and the states for the next part; returns true if all vertices start with `init`. The states are
  /// lost unless `ended` is called.
  bool prepareStates(Pool& pool) {
    app.begin(info_);
    const bool whole = std::exchange(state_, StateStatus::lost) == StateStatus::initial;
    from_ = vertices_.take();
    problem.params = app.params(info_);
    if (whole) {
      this->initialise(pool);  // removed vertices as well
      removedNow_.clear();
    } else {
      adapt();
    }
    return whole;
  }

  static constexpr bool constant() { return rules::ConstantEdges<V>; }
  /// Whether messages also travel against the direction of edges.
  bool needsReverse() const { return (App::undirected || App::wiring == Wiring::backward) && !symmetric_; }

  /// Stores the reverses without self-loops, which are their own reverses; from the first self-loop on.
  void separateReverses() {
    if (!App::undirected || symmetric_ || reversed_) return;
    edges_.needIn();
    const PoolLease pool(1);
    OwnedRows<E> out, in;
    const uint32_t vertices = problem.network.vertices;
    const Rows reverses = copied(edges_.in(), vertices, Without::loops, *pool, out);
    reversed_ = std::make_unique<DynamicEdges<E>>(
        reverses, constant() ? copied(edges_.out(), vertices, Without::loops, *pool, in) : Rows{}, vertices, false);
  }

  /// The reverses of edges other than self-loops.
  static std::vector<Edge> reverses(const std::vector<Edge>& some) {
    std::vector<Edge> all;
    for (const Edge& e : some) {
      if (e.at != e.other) all.push_back({e.other, e.at, e.value});
    }
    return all;
  }

  /// Points the network to the current edges.
  void wire() {
    Network& net = problem.network;
    const Rows out = edges_.out();
    const Rows in = !symmetric_ || constant() ? edges_.in() : Rows{};
    net.relations.clear();
    net.relations.push_back({0, out, in});
    if (App::wiring == Wiring::backward) {
      net.relations.push_back(symmetric_ ? Relation{1, out, in} : Relation{1, in, out});
    } else if (needsReverse()) {
      if (!reversed_) net.relations.push_back({0, in, out});
      if (reversed_) net.relations.push_back({0, reversed_->out(), constant() ? reversed_->in() : Rows{}});
    }
    net.removed = vertices_.removed();
    net.gone = vertices_.gone(net.vertices);
  }

  /// The vertices of a change. Throws if one does not exist.
  std::vector<uint32_t> named(const gs_change& what) const {
    for (uint64_t i = 0; i < what.count; ++i) check(what.from[i]);
    return {what.from, what.from + what.count};
  }

  void check(uint32_t v) const {
    const auto name = [v] { return "the vertex of index " + std::to_string(v); };
    if (v >= problem.network.vertices) {
      throw std::invalid_argument(name() + " does not exist; the number of vertices is " +
                                  std::to_string(problem.network.vertices));
    }
    if (vertices_.isGone(v)) throw std::invalid_argument(name() + " was removed");
  }

  /// Lets the application reject the changed graph by throwing.
  void validate(GraphInfo next) {
    app.begin(next);
    info_ = next;
  }

  /// The ends of all edges of a change. Throws if a vertex does not exist.
  std::vector<Edge> pairs(const gs_change& what) const {
    std::vector<Edge> some(what.count);
    for (uint64_t i = 0; i < what.count; ++i) {
      check(what.from[i]);
      check(what.to[i]);
      some[i].at = what.from[i];
      some[i].other = what.to[i];
    }
    return some;
  }

  void markChanged(const std::vector<Edge>& some) {
    for (const Edge& e : some) {
      vertices_.change(e.at);
      vertices_.change(e.other);
    }
  }

  void markSources(uint32_t v) {
    edges_.sourcesOf(v, [this](uint32_t from) { vertices_.change(from); });
    if (!needsReverse()) return;
    const Rows out = edges_.out();
    for (uint64_t i = out.offsets[v]; i < out.ends[v]; ++i) vertices_.change(out.targets[i]);
  }

  void addEdges(const gs_change& what) {
    std::vector<Edge> some = pairs(what);
    GraphInfo next = info_;
    for (uint64_t i = 0; i < what.count; ++i) {
      if constexpr (!std::is_empty_v<E>) {
        some[i].value = this->wiring->value(what.weight_type, what.weights, i);
        if (what.weights) {
          const double weight = weightOf(what, i);
          if (!std::isfinite(weight)) throw std::invalid_argument("a weight is not a finite number");
          next.weightLow = std::min(next.weightLow, weight);
          next.weightHigh = std::max(next.weightHigh, weight);
        }
      }
      next.edges += symmetric_ && what.from[i] != what.to[i] ? 2 : 1;
    }
    validate(next);
    markChanged(some);
    if (reversed_) reversed_->add(reverses(some));
    const bool loops = std::any_of(some.begin(), some.end(), [](const Edge& e) { return e.at == e.other; });
    edges_.add(std::move(some));
    if (loops) separateReverses();
  }

  static double weightOf(const gs_change& what, uint64_t i) {
    switch (what.weight_type) {
      case GS_I32: return static_cast<double>(static_cast<const int32_t*>(what.weights)[i]);
      case GS_I64: return static_cast<double>(static_cast<const int64_t*>(what.weights)[i]);
      case GS_F32: return static_cast<double>(static_cast<const float*>(what.weights)[i]);
      default: return static_cast<const double*>(what.weights)[i];
    }
  }

  void removeEdges(const gs_change& what) {
    std::vector<Edge> some = pairs(what);
    for (const Edge& e : some) {
      if (edges_.has(e.at, e.other)) continue;
      throw std::invalid_argument("there is no edge from the vertex of index " + std::to_string(e.at) +
                                  " to the vertex of index " + std::to_string(e.other));
    }
    markChanged(some);
    if (reversed_) reversed_->remove(reverses(some));
    edges_.remove(std::move(some));
    info_.edges = edges_.edges();
  }

  void addVertices(uint64_t count) {
    Network& net = problem.network;
    if (count > 0xfffffffe - uint64_t{net.vertices}) {
      throw std::invalid_argument("a graph has at most 4294967294 vertices");
    }
    GraphInfo next = info_;
    next.vertices += static_cast<uint32_t>(count);
    validate(next);
    const uint32_t now = net.vertices + static_cast<uint32_t>(count);
    if (now > state.size()) {
      Array<S> larger(std::max<size_t>(now, state.size() + state.size() / 2));
      std::copy(state.data(), state.data() + net.vertices, larger.data());
      state = std::move(larger);
    }
    edges_.addVertices(static_cast<uint32_t>(count));
    if (reversed_) reversed_->addVertices(static_cast<uint32_t>(count));
    for (uint32_t v = net.vertices; v < now; ++v) vertices_.begin(v);
    net.vertices = now;
  }

  void removeVertices(const gs_change& what) {
    std::vector<uint32_t> some = named(what);
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
    if (some.size() >= info_.vertices) throw std::invalid_argument("no vertex would be left");
    for (const uint32_t v : some) {
      edges_.isolate(v, [this](uint32_t other) { vertices_.change(other); });
      if (reversed_) reversed_->isolate(v, [](uint32_t) {});
      vertices_.remove(v);
      removedNow_.push_back(v);
    }
    info_.vertices -= static_cast<uint32_t>(some.size());
    info_.edges = edges_.edges();
  }

  /// The descriptor's part of a continued run: initial states of new vertices, and `changed` where edges have changed.
  void adapt() {
    std::vector<uint32_t> fresh = from_.fresh;
    fresh.insert(fresh.end(), removedNow_.begin(), removedNow_.end());
    removedNow_.clear();
    Position at;
    auto all = [&] {
      at.handler = Handler::start;
      for (const uint32_t v : fresh) {
        at.vertex = v;
        app.init(this->about(v), state[v]);
      }
      if constexpr (requires(App a, VertexInfo v, S s) { a.changed(v, s); }) {
        at.handler = Handler::adapt;
        for (const uint32_t v : from_.changed) {
          at.vertex = v;
          app.changed(this->about(v), state[v]);
        }
      }
    };
    Fault fault;
    if (!guard::run(all, &at, fault)) guard::raise(fault);
    this->complete();
  }

  DynamicEdges<E> edges_;
  std::unique_ptr<DynamicEdges<E>> reversed_;  // without self-loops; null: the transpose of `edges_`
  VertexChanges vertices_;
  Resumption from_;                   // where the current or last part starts
  std::vector<uint32_t> removedNow_;  // vertices removed since the last run
  GraphInfo info_;
  bool symmetric_ = false;
  StateStatus state_ = StateStatus::initial;
};

}  // namespace gossamer::detail
