// SPDX-License-Identifier: Apache-2.0
/// Programs with a host of their own: build a graph, run it, talk to it.
///
///     gossamer::PGraph<Vertex> graph;
///     auto a = graph.newVertex(), b = graph.newVertex();
///     graph.addLabelledEdge(7, a, 0, b);
///     graph.state(a).distance = 0;
///     auto job = graph.start();
///     while (auto message = job.recv()) ...
///
/// `./gossamer run host.cpp` compiles such a program and runs it; the engine is
/// the one that the command names (GOSSAMER_ENGINE, GOSSAMER_THREADS and
/// GOSSAMER_SEED in the program's environment).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/changing_graph.h"
#include "gossamer/engine.h"
#include "gossamer/engines.h"
#ifdef GOSSAMER_BOARDS  // compiled for the engine rtl
#include <gossamer/host/job.h>
#endif

namespace gossamer {

/// What goes wrong in setting up or running a graph: one sentence.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using PVertexId = uint32_t;

/// Which engine runs a program, and how.
struct RunConfig {
#ifdef GOSSAMER_BOARDS
  std::string engine = "rtl";
#else
  std::string engine = "cpu";
#endif
  unsigned threads = 0;  // 0: every CPU
  uint64_t seed = 0;     // of the shuffle engine

  /// As the command that started the program has said. Throws Error.
  static RunConfig fromEnvironment() {
    RunConfig config;
    if (const char* name = std::getenv("GOSSAMER_ENGINE")) config.engine = name;
    config.threads = static_cast<unsigned>(number("GOSSAMER_THREADS"));
    config.seed = number("GOSSAMER_SEED");
    return config;
  }

 private:
  static uint64_t number(const char* name) {
    const char* text = std::getenv(name);
    if (!text || !*text) return 0;
    char* end = nullptr;
    const uint64_t value = std::strtoull(text, &end, 10);
    if (*end) throw Error(std::string(name) + "=" + text + ": not a number");
    return value;
  }
};

namespace detail {

/// What is the same of a run on boards as of one on this machine.
inline void checkSend(bool over, bool closed, uint32_t vertex) {
  if (over) throw Error("send: the run is over, nothing hears the message to vertex " + std::to_string(vertex));
  if (closed) throw Error("send: the host has closed its end; send before close() or wait()");
}

inline void checkVertex(const std::string& what, uint32_t vertex, size_t count) {
  if (vertex < count) return;
  throw Error(what + ": there is no vertex " + std::to_string(vertex) + "; the graph has " + std::to_string(count));
}

inline void checkPin(unsigned pin) {
  if (pin < MaxPins) return;
  throw Error("addEdge: pin " + std::to_string(pin) + " is above the last, " + std::to_string(MaxPins - 1));
}

/// Two queues between the host's thread and the engine's.
template <typename M>
class HostQueues final : public HostEnd {
 public:
  // The engine's side.
  void fromVertex(const void* message) override {
    const std::lock_guard lock(mutex_);
    up_.push_back(*static_cast<const M*>(message));
    host_.notify_one();
  }
  bool toVertex(uint32_t& vertex, void* message) override {
    if (!said_.load(std::memory_order_acquire)) return false;
    const std::lock_guard lock(mutex_);
    if (down_.empty()) {
      said_.store(false, std::memory_order_relaxed);
      return false;
    }
    vertex = down_.front().first;
    *static_cast<M*>(message) = down_.front().second;
    down_.pop_front();
    return true;
  }
  bool waitIdle() override {
    std::unique_lock lock(mutex_);
    engine_.wait(lock, [&] { return !down_.empty() || closed_ || (waiting_ && up_.empty()); });
    return !down_.empty();
  }
  /// For another part of the run. Messages from vertices stay where they are.
  void reopen() {
    const std::lock_guard lock(mutex_);
    closed_ = over_ = lost_ = false;
    down_.clear();
  }
  void over() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    lost_ = !down_.empty();
    host_.notify_all();
  }

  // The host's side.
  void send(uint32_t vertex, const M& message) {
    const std::lock_guard lock(mutex_);
    checkSend(over_, closed_, vertex);
    down_.emplace_back(vertex, message);
    said_.store(true, std::memory_order_release);
    engine_.notify_one();
  }
  std::optional<M> recv() {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    engine_.notify_one();
    host_.wait(lock, [&] { return !up_.empty() || over_; });
    waiting_ = false;
    if (up_.empty()) return std::nullopt;
    M message = up_.front();
    up_.pop_front();
    return message;
  }
  /// Whether recv() would not wait. If it would, the host counts as waiting for a moment: a run whose host only polls
  /// goes on, too.
  bool canRecv() {
    std::unique_lock lock(mutex_);
    if (!up_.empty() || over_) return true;
    waiting_ = true;
    engine_.notify_one();
    const bool came = host_.wait_for(lock, std::chrono::milliseconds(1), [&] { return !up_.empty() || over_; });
    waiting_ = false;
    return came;
  }
  /// Whether a message was sent that came behind the end, when it was on its way already.
  bool lost() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lost_, false);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    engine_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable engine_;
  std::condition_variable host_;
  std::deque<M> up_;
  std::deque<std::pair<uint32_t, M>> down_;
  std::atomic<bool> said_{false};
  bool waiting_ = false;
  bool closed_ = false;
  bool over_ = false;
  bool lost_ = false;
};

#ifdef GOSSAMER_BOARDS
using Boards = host::Job;
#else
/// There are none.
struct Boards {
  struct Results {
    uint64_t steps, sends, deliveries, hostMessages;
    std::vector<int64_t> aggregates;
  };
  bool over() const { return false; }
  bool closed() const { return false; }
  void send(uint32_t, const void*) {}
  bool recv(void*) { return false; }
  bool canRecv() { return false; }
  void close() {}
  void finish() {}
  bool lost() const { return false; }
  Results results(void*) const { return {}; }
};
#endif

}  // namespace detail

/// A graph that runs. The host takes part in it: the vertices' `step` and
/// `finish` wait until the host waits too, in recv(), or has closed its end.
template <typename V>
class Job {
  using S = typename V::State;
  using M = typename V::Message;

 public:
  Job(Job&&) = default;
  Job& operator=(Job&&) = delete;
  ~Job() {
    if (!run_ || !run_->thread.joinable()) return;
    run_->stop.store(1);
    run_->queues.close();
    run_->thread.join();
  }

  /// Sends a message to a vertex, as along an edge with the value E{}. Throws
  /// Error where there is no such vertex, and where the run is over or the host has closed its end.
  void send(PVertexId to, const M& message) {
    detail::checkVertex("send", to, run_->problem.network.vertices);
    if (run_->problem.network.isGone(to)) throw Error("send: vertex " + std::to_string(to) + " was removed");
    if (run_->boards) {
      detail::checkSend(run_->boards->over(), run_->boards->closed(), to);
      run_->boards->send(to, &message);
    } else {
      run_->queues.send(to, message);
    }
  }

  /// The next message to the host; waits for it. Empty when the run is over
  /// and every message was taken. Throws Error where the run failed.
  std::optional<M> recv() {
    std::optional<M> message;
    if (run_->boards) {
      M got{};
      if (onBoards([&] { return run_->boards->recv(&got); })) message = got;
    } else {
      message = run_->queues.recv();
    }
    if (!message) join();
    return message;
  }

  /// Whether recv() would not wait: a message is there, or the run is over. A host may poll with it; while it is in
  /// here, as while it is in recv(), steps go on.
  bool canRecv() {
    return run_->boards ? onBoards([&] { return run_->boards->canRecv(); }) : run_->queues.canRecv();
  }

  /// The host has nothing more to send; the run may end without it.
  void close() {
    if (run_->boards) run_->boards->close();
    run_->queues.close();
  }

  /// Waits for the end; messages to the host stay for recv(). Throws Error
  /// where the run failed.
  const Statistics& wait() {
    close();
    if (run_->boards) onBoards([&] { return run_->boards->finish(), true; });
    join();
    return run_->statistics;
  }

  /// What the last step's aggregates have come to, after the end.
  typename V::Aggregates totals() const { return run_->statistics.template aggregatesAs<typename V::Aggregates>(); }

  /// The state of a vertex, after the end.
  const S& state(PVertexId v) const { return run_->state[v]; }

  // A graph that changes, after the end: go() then runs on from the states that stand. The vertex's handlers `changed`
  // and `resume` say what that begins with. Not on boards. All throw Error where something is not there.

  /// Adds a vertex, with the state S{}; it begins with `init`.
  PVertexId newVertex() { return changing("newVertex").newVertex(); }
  void addEdge(PVertexId from, unsigned pin, PVertexId to) { addLabelledEdge(typename V::Edge{}, from, pin, to); }
  void addLabelledEdge(const typename V::Edge& value, PVertexId from, unsigned pin, PVertexId to) {
    auto& graph = changing("addEdge", {from, to});
    detail::checkPin(pin);
    graph.addEdge(value, from, pin, to);
  }
  /// Removes all edges from one vertex to another on a pin; there must be one.
  void removeEdge(PVertexId from, unsigned pin, PVertexId to) {
    auto& graph = changing("removeEdge", {from, to});
    if (!graph.has(from, pin, to)) {
      throw Error("removeEdge: there is no edge from vertex " + std::to_string(from) + " to vertex " +
                  std::to_string(to) + " on pin " + std::to_string(pin));
    }
    graph.removeEdge(from, pin, to);
  }
  /// Removes a vertex and its edges. Other vertices keep their numbers.
  void removeVertex(PVertexId v) {
    auto& graph = changing("removeVertex", {v});
    if (graph.there() == 1) {
      throw Error("removeVertex: no vertex would be left");
    }
    graph.removeVertex(v);
  }
  /// Has `changed` called for a vertex.
  void wake(PVertexId v) { changing("wake", {v}).wake(v); }
  /// Lets a vertex begin again with `init`, from this state, and wakes those that have an edge to it.
  void reset(PVertexId v, const S& state) {
    changing("reset", {v}).reset(v);
    run_->state[v] = state;
  }
  /// The next part of the run; the host takes part in it as in the first.
  void go() {
    static_assert(rules::GoesOn<V>, "a vertex whose run goes on has a handler: void changed() or void resume()");
    run_->resumption = changing("go").wire();
    run_->problem.resumption = &run_->resumption;
    run_->queues.reopen();
    run_->begin();
  }

 private:
  template <typename>
  friend class PGraphOf;

  struct Running {
    Problem<V> problem;
    Array<S> state;
    std::vector<Array<uint64_t>> offsets;
    std::vector<Array<uint32_t>> targets;
    std::vector<Array<typename V::Edge>> values;
    detail::HostQueues<M> queues;
    Statistics statistics;
    std::exception_ptr failure;
    std::atomic<int> stop{0};
    std::thread thread;
    RunConfig config;
    bool broken = false;  // it did not come to its end
    Resumption resumption;
    std::unique_ptr<ChangingGraph<V>> changing;  // where the graph has changed
    std::unique_ptr<detail::Boards> boards;      // that run it, if it does not run here
    bool lost = false;                           // said once

    /// Starts the engine. Throws Error where there is none of that name.
    void begin() {
      std::unique_ptr<Engine<V>> engine = makeEngine<V>(config.engine);
      if (!engine) throw Error("there is no engine " + config.engine + "; there are cpu and shuffle");
      RunOptions options;
      options.threads = config.threads;
      options.seed = config.seed;
      options.stop = &stop;
      over = false;
      thread = std::thread([this, options, engine = std::move(engine)] {
        try {
          const guard::Signals signals;
          statistics = engine->run(problem, state, options);
        } catch (...) {
          failure = std::current_exception();
          broken = true;
        }
        over = true;
        queues.over();
      });
    }
    std::atomic<bool> over{false};
  };

  /// The graph between two parts of a run, with these vertices in it. Throws Error.
  ChangingGraph<V>& changing(const std::string& what, std::initializer_list<PVertexId> vertices = {}) {
    Running& run = *run_;
    if (run.boards) throw Error(what + ": graphs do not change on boards yet; take --engine cpu or shuffle");
    if (!run.over) throw Error(what + ": the run is not over; wait() for its end");
    join();
    if (run.broken) throw Error(what + ": the run did not come to its end; start() another");
    if (!run.changing) run.changing = std::make_unique<ChangingGraph<V>>(run.problem.network, run.state);
    for (const PVertexId v : vertices) {
      detail::checkVertex(what, v, run.problem.network.vertices);
      if (run.changing->isGone(v)) throw Error(what + ": vertex " + std::to_string(v) + " was removed");
    }
    return *run.changing;
  }

  /// What goes wrong there, as an Error.
  template <typename F>
  static bool onBoards(F&& call) {
    try {
      return call();
    } catch (const std::runtime_error& e) {
      throw Error(e.what());
    }
  }

  explicit Job(std::unique_ptr<Running> run) : run_(std::move(run)) {}

  /// The end of a run on boards: states and statistics, once.
  void collect() {
    Running& run = *run_;
    if (run.statistics.engine.empty()) {
      auto found = run.boards->results(run.state.data());
      Statistics& s = run.statistics;
      s.engine = "rtl";
      s.vertices = run.problem.network.vertices;
      for (const Relation& one : run.problem.network.relations) s.edges += one.out.edges(s.vertices);
      s.sends = found.sends;
      s.deliveries = found.deliveries;
      s.steps = found.steps;
      s.stepCalls = s.steps * s.vertices;
      s.hostMessages = found.hostMessages;
      s.aggregates = std::move(found.aggregates);
    }
    if (run.boards->lost() && !std::exchange(run.lost, true)) {
      throw Error("send: the run was over before a message of the host had arrived");
    }
  }

  void join() {
    if (run_->boards) return collect();
    if (run_->thread.joinable()) run_->thread.join();
    if (!run_->failure) {
      if (run_->queues.lost()) throw Error("send: the run was over before a message of the host had arrived");
      return;
    }
    try {
      std::rethrow_exception(std::exchange(run_->failure, nullptr));
    } catch (const std::bad_alloc&) {
      throw Error("not enough memory for the run");
    } catch (const std::exception& e) {
      throw Error(e.what());
    }
  }

  std::unique_ptr<Running> run_;
};

/// Vertices of type V, their edges by pin, and their initial states.
template <typename V>
class PGraphOf {
  static_assert(rules::Check<V>::passed);

 public:
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using P = typename V::Params;

  /// The same for every vertex of the run.
  P params{};

  /// Adds a vertex, with the state S{}.
  PVertexId newVertex() {
    if (states_.size() >= 0xfffffffe) throw Error("newVertex: a graph has at most 4294967294 vertices");
    states_.push_back(S{});
    fan_out_.push_back(0);
    fan_in_.push_back(0);
    return static_cast<PVertexId>(states_.size() - 1);
  }

  /// Adds an edge with the value E{}. Throws Error where a vertex or the pin
  /// cannot be.
  void addEdge(PVertexId from, unsigned pin, PVertexId to) { addLabelledEdge(E{}, from, pin, to); }

  void addLabelledEdge(const E& value, PVertexId from, unsigned pin, PVertexId to) {
    check("addEdge", from);
    check("addEdge", to);
    detail::checkPin(pin);
    if (pin >= pins_.size()) pins_.resize(pin + 1);
    ++fan_out_[from];
    ++fan_in_[to];
    pins_[pin].from.push_back(from);
    pins_[pin].to.push_back(to);
    if constexpr (!std::is_empty_v<E>) pins_[pin].value.push_back(value);
  }

  /// The initial state of a vertex. The reference lasts until newVertex().
  S& state(PVertexId v) {
    check("state", v);
    return states_[v];
  }

  uint32_t numVertices() const { return static_cast<uint32_t>(states_.size()); }

  /// Edges out of and into a vertex, over all pins.
  uint32_t fanOut(PVertexId v) const {
    check("fanOut", v);
    return fan_out_[v];
  }
  uint32_t fanIn(PVertexId v) const {
    check("fanIn", v);
    return fan_in_[v];
  }

  /// Starts a run on states and edges as they are now. Throws Error.
  Job<V> start(const RunConfig& config = RunConfig::fromEnvironment()) const {
#ifdef GOSSAMER_BOARDS
    if (config.engine == "rtl") return onBoards();
#endif
    auto run = std::make_unique<typename Job<V>::Running>();
    run->config = config;
    run->problem.params = params;
    run->problem.host = &run->queues;
    wire(*run);
    run->state = Array<S>(states_.size());
    for (size_t v = 0; v < states_.size(); ++v) run->state[v] = states_[v];

    run->begin();
    return Job<V>(std::move(run));
  }

 private:
  struct Edges {
    std::vector<PVertexId> from;
    std::vector<PVertexId> to;
    std::vector<E> value;  // empty when E is
  };

#ifdef GOSSAMER_BOARDS
  /// The vertex's type as its source names it; the mapper compiles it for the threads.
  static std::string typeName() {
    const std::string text = __PRETTY_FUNCTION__;  // ... [with V = Name; ...]
    const size_t begin = text.find("V = ") + 4;
    return text.substr(begin, text.find_first_of(";]", begin) - begin);
  }

  Job<V> onBoards() const {
    constexpr auto& ways = aggregates::ways<typename V::Aggregates>.of;
    if (std::find(std::begin(ways), std::end(ways) - 1, Reduce::realSum) != std::end(ways) - 1) {
      throw Error(
          "start: the vertex's steps have a Sum of floating-point numbers, which barriers of the hardware do "
          "not carry; take a FixedSum");
    }
    if constexpr (rules::ReadsEdges<V>) {
      throw Error(
          "start: the vertices read their own edges, which the hardware does not show them; take --engine cpu "
          "or shuffle");
    }
    auto run = std::make_unique<typename Job<V>::Running>();
    wire(*run);
    run->state = Array<S>(states_.size());
    for (size_t v = 0; v < states_.size(); ++v) run->state[v] = states_[v];
    host::Vertices graph;
    graph.count = numVertices();
    graph.stateBytes = sizeof(S);
    graph.edgeBytes = std::is_empty_v<E> ? 0 : sizeof(E);
    graph.messageBytes = sizeof(M);
    const auto* const params = reinterpret_cast<const uint8_t*>(&this->params);
    graph.params.assign(params, params + sizeof(P));
    graph.type = typeName();
    for (const Relation& relation : run->problem.network.relations) {
      const Rows& rows = relation.out;
      const uint64_t edges = rows.offsets[graph.count];
      const auto* const values = static_cast<const uint8_t*>(rows.values);
      auto& pin = graph.pins.emplace_back();
      pin.offsets.assign(rows.offsets, rows.offsets + graph.count + 1);
      pin.targets.assign(rows.targets, rows.targets + edges);
      if (graph.edgeBytes) pin.values.assign(values, values + edges * sizeof(E));
    }
    try {
      run->boards = std::make_unique<host::Job>(std::move(graph), run->state.data());
    } catch (const std::runtime_error& e) {
      throw Error(e.what());
    }
    return Job<V>(std::move(run));
  }
#endif

  void check(const char* what, PVertexId v) const { detail::checkVertex(what, v, states_.size()); }

  /// Both directions of every pin. A recv that changes edge values gets only
  /// the one by sender, so that there is one place where they live.
  void wire(typename Job<V>::Running& run) const {
    Network& net = run.problem.network;
    net.vertices = numVertices();
    net.edgesHaveValues = !std::is_empty_v<E>;
    // A graph without an edge still has pin 0.
    for (size_t p = 0; p < std::max<size_t>(1, pins_.size()); ++p) {
      static const Edges none;
      const Edges& edges = p < pins_.size() ? pins_[p] : none;
      Relation relation;
      relation.pin = static_cast<unsigned>(p);
      relation.out = rows(run, edges, edges.from, edges.to);
      if constexpr (rules::ConstantEdges<V>) relation.in = rows(run, edges, edges.to, edges.from);
      net.relations.push_back(relation);
    }
  }

  /// Edges by `at`, ascending by `other` within a row; equal ones as added.
  Rows rows(typename Job<V>::Running& run, const Edges& edges, const std::vector<PVertexId>& at,
            const std::vector<PVertexId>& other) const {
    std::vector<uint64_t> order(at.size());
    std::iota(order.begin(), order.end(), uint64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](uint64_t a, uint64_t b) { return at[a] != at[b] ? at[a] < at[b] : other[a] < other[b]; });
    Array<uint64_t> offsets(states_.size() + 1);
    for (const PVertexId v : at) ++offsets[v + 1];
    for (size_t v = 0; v < states_.size(); ++v) offsets[v + 1] += offsets[v];
    Array<uint32_t> targets(std::max<size_t>(1, order.size()));
    for (size_t i = 0; i < order.size(); ++i) targets[i] = other[order[i]];
    Rows result{offsets.data(), targets.data(), nullptr};
    if constexpr (!std::is_empty_v<E>) {
      Array<E> values(std::max<size_t>(1, order.size()));
      for (size_t i = 0; i < order.size(); ++i) values[i] = edges.value[order[i]];
      result.values = values.data();
      run.values.push_back(std::move(values));
    }
    run.offsets.push_back(std::move(offsets));
    run.targets.push_back(std::move(targets));
    return result;
  }

  std::vector<S> states_;
  std::vector<uint32_t> fan_out_;
  std::vector<uint32_t> fan_in_;
  std::vector<Edges> pins_;
};

/// PGraph<Vertex>, or as the papers write it PGraph<Vertex, State, Edge, Message>.
template <typename V, typename S = typename V::State, typename E = typename V::Edge, typename M = typename V::Message>
class PGraph : public PGraphOf<V> {
  static_assert(std::is_same_v<S, typename V::State> && std::is_same_v<E, typename V::Edge> &&
                    std::is_same_v<M, typename V::Message>,
                "the types of the graph are not those of its vertex");
};

}  // namespace gossamer
