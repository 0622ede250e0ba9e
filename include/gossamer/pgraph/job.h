// SPDX-License-Identifier: Apache-2.0
/// A running graph, as seen by its host. Part of pgraph.h.
#pragma once

#include <atomic>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/core/guard.h"
#include "gossamer/core/symbolize.h"
#include "gossamer/dynamic_graph.h"
#include "gossamer/engine.h"
#include "gossamer/engines.h"
#include "gossamer/pgraph/queues.h"

namespace gossamer {

/// A running graph. The host takes part in termination: the vertices' `step` and
/// `finish` run only while the host waits in recv() or has closed its end.
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
  /// Error for a vertex that does not exist, after the end of the run, and after close().
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

  /// Waits for the next message to the host. Empty when the run is over and no
  /// message is left. Throws Error if the run failed.
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

  /// Whether recv() would return at once: a message has arrived, or the run is over. A host may poll with it: during
  /// this call, as during recv(), the vertices' steps continue.
  bool canRecv() {
    return run_->boards ? onBoards([&] { return run_->boards->canRecv(); }) : run_->queues.canRecv();
  }

  /// Declares that the host sends no more messages; the run may then end.
  void close() {
    if (run_->boards) run_->boards->close();
    run_->queues.close();
  }

  /// Waits for the end; messages to the host remain queued for recv(). Throws Error
  /// if the run failed.
  const Statistics& wait() {
    close();
    if (run_->boards) onBoards([&] { return run_->boards->finish(), true; });
    join();
    return run_->statistics;
  }

  /// The reduction of the last step's contributions, after the end.
  typename V::Aggregates totals() const { return run_->statistics.template aggregatesAs<typename V::Aggregates>(); }

  /// The state of a vertex, after the end.
  const S& state(PVertexId v) const { return run_->state[v]; }

  // Changes to the graph, after the end of a run: go() then continues from the stored states. The vertex's handlers
  // `changed` and `resume` start that part. All functions throw Error for a vertex or edge that does not exist.

  /// Adds a vertex, with the state S{}; it starts with `init`.
  PVertexId newVertex() { return dynamicGraph("newVertex").newVertex(); }
  void addEdge(PVertexId from, unsigned pin, PVertexId to) { addLabelledEdge(typename V::Edge{}, from, pin, to); }
  void addLabelledEdge(const typename V::Edge& value, PVertexId from, unsigned pin, PVertexId to) {
    auto& graph = dynamicGraph("addEdge", {from, to});
    detail::checkPin(pin);
    graph.addEdge(value, from, pin, to);
  }
  /// Removes all edges from one vertex to another on a pin; at least one must exist.
  void removeEdge(PVertexId from, unsigned pin, PVertexId to) {
    auto& graph = dynamicGraph("removeEdge", {from, to});
    if (!graph.has(from, pin, to)) {
      throw Error("removeEdge: there is no edge from vertex " + std::to_string(from) + " to vertex " +
                  std::to_string(to) + " on pin " + std::to_string(pin));
    }
    graph.removeEdge(from, pin, to);
  }
  /// Removes a vertex and its edges. Other vertices keep their numbers.
  void removeVertex(PVertexId v) {
    auto& graph = dynamicGraph("removeVertex", {v});
    if (graph.liveVertices() == 1) {
      throw Error("removeVertex: no vertex would be left");
    }
    graph.removeVertex(v);
  }
  /// Makes the next part call `changed` on a vertex.
  void wake(PVertexId v) { dynamicGraph("wake", {v}).wake(v); }
  /// Restarts a vertex with `init`, from this state, and wakes the sources of its in-edges.
  void reset(PVertexId v, const S& state) {
    dynamicGraph("reset", {v}).reset(v);
    run_->state[v] = state;
  }
  /// Starts the next part of the run; the host takes part in it as in the first.
  void go() {
    static_assert(rules::Resumable<V>,
                  "to continue a run, the vertex needs a handler: void changed() or void resume()");
    Running& run = *run_;
    run.resumption = dynamicGraph("go").wire();
    if (run.boards) {
#ifdef GOSSAMER_BOARDS
      onBoards([&] { return run.boards->go(run.onBoards(&run.resumption), run.state.data()), true; });
#endif
      run.statistics = {};
      run.lost = false;
      return;
    }
    run.problem.resumption = &run.resumption;
    run.queues.reopen();
    run.begin();
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
    bool broken = false;  // the run did not reach its end
    Resumption resumption;
    std::unique_ptr<DynamicGraph<V>> dynamicGraph;  // null until the first change
    std::unique_ptr<detail::Boards> boards;         // null if the run is on this machine
    bool lost = false;                              // a lost message has been reported
    std::string type;                               // of the vertex, spelled as in its source

#ifdef GOSSAMER_BOARDS
    /// The graph in the form for boards; `from` lists where a continued run starts.
    host::Vertices onBoards(const Resumption* from = nullptr) const {
      using E = typename V::Edge;
      const Network& net = problem.network;
      host::Vertices graph;
      graph.count = net.vertices;
      graph.stateBytes = sizeof(S);
      graph.edgeBytes = std::is_empty_v<E> ? 0 : sizeof(E);
      graph.messageBytes = sizeof(M);
      const auto* const params = reinterpret_cast<const uint8_t*>(&problem.params);
      graph.params.assign(params, params + sizeof problem.params);
      graph.type = type;
      for (const Relation& relation : net.relations) {
        const Rows& rows = relation.out;
        const auto* const values = static_cast<const uint8_t*>(rows.values);
        auto& pin = graph.pins.emplace_back();
        pin.offsets.push_back(0);
        for (uint32_t v = 0; v < net.vertices; ++v) {
          const uint64_t begin = rows.offsets[v], end = rows.ends[v];
          pin.targets.insert(pin.targets.end(), rows.targets + begin, rows.targets + end);
          pin.offsets.push_back(pin.targets.size());
          if (graph.edgeBytes) {
            pin.values.insert(pin.values.end(), values + begin * sizeof(E), values + end * sizeof(E));
          }
        }
      }
      if (!from) return graph;
      graph.marks.resize(net.vertices, host::Vertices::kStays);
      for (const uint32_t v : from->fresh) graph.marks[v] = host::Vertices::kBegins;
      for (const uint32_t v : from->changed) graph.marks[v] = host::Vertices::kChanged;
      for (uint32_t v = 0; v < net.vertices; ++v) {
        if (net.isGone(v)) graph.marks[v] = host::Vertices::kGone;
      }
      return graph;
    }
#endif

    /// Starts the engine. Throws Error for an unknown engine name.
    void begin() {
      std::unique_ptr<Engine<V>> engine = makeEngine<V>(config.engine);
      if (!engine) throw Error("there is no engine " + config.engine + "; the engines are cpu and shuffle");
      RunOptions options;
      options.threads = config.threads;
      options.seed = config.seed;
      options.stop = &stop;
      over = false;
      auto all = [this, options, engine = std::move(engine)] {
        try {
          const guard::Signals signals;
          statistics = engine->run(problem, state, options);
        } catch (...) {
          failure = std::current_exception();
          broken = true;
        }
        over = true;
        queues.over();
      };
      try {
        thread = std::thread(std::move(all));
      } catch (const std::system_error&) {
        over = broken = true;
        throw Error(
            "start: the system cannot create a thread for the run; end other programs, or raise the limit (ulimit -u)",
            true);
      }
    }
    std::atomic<bool> over{false};
  };

  /// The graph between two parts of a run; checks that these vertices exist. Throws Error.
  DynamicGraph<V>& dynamicGraph(const std::string& what, std::initializer_list<PVertexId> vertices = {}) {
    Running& run = *run_;
    if (run.boards && rules::WritesEdges<V>) {
      throw Error(what +
                  ": recv changes the values of edges, which boards do not return; use --engine cpu or shuffle, or "
                  "recv with const Edge*");
    }
    if (run.boards ? !run.boards->over() : !run.over) throw Error(what + ": the run is not over; wait() for its end");
    join();
    if (run.broken) throw Error(what + ": the run did not reach its end; call start() for a new run");
    if (!run.dynamicGraph) run.dynamicGraph = std::make_unique<DynamicGraph<V>>(run.problem.network, run.state);
    for (const PVertexId v : vertices) {
      detail::checkVertex(what, v, run.problem.network.vertices);
      if (run.dynamicGraph->isGone(v)) throw Error(what + ": vertex " + std::to_string(v) + " was removed");
    }
    return *run.dynamicGraph;
  }

  /// Calls a function of the boards' library and converts its exceptions to Error.
  template <typename F>
  static bool onBoards(F&& call) {
    try {
      return call();
    } catch (const std::runtime_error& e) {
      throw Error(e.what());
    }
  }

  explicit Job(std::unique_ptr<Running> run) : run_(std::move(run)) {}

  /// At the end of a run on boards: copies states and statistics, once.
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
      s.stepCalls = s.steps * (s.vertices - run.problem.network.removed);
      s.hostMessages = found.hostMessages;
      s.aggregates = std::move(found.aggregates);
    }
    if (run.boards->lost() && !std::exchange(run.lost, true)) {
      throw Error("send: the run ended before a message of the host had arrived");
    }
  }

  /// An engine's message, with the vertex in the host's terms.
  static std::string named(std::string text) {
    const std::string index = "the vertex of index ";
    if (const size_t at = text.find(index); at != std::string::npos) text.replace(at, index.size(), "vertex ");
    return text;
  }

  /// The message for a handler that aborted the run, with the line in the user's source.
  static std::string explained(const HandlerDied& death) {
    const std::string line = userLineOf(death.addresses);
    return named(death.what()) + (line.empty() ? "" : ", at " + line) + "; there is no answer";
  }

  void join() {
    if (run_->boards) return collect();
    if (run_->thread.joinable()) run_->thread.join();
    if (!run_->failure) {
      if (run_->queues.lost()) throw Error("send: the run ended before a message of the host had arrived");
      return;
    }
    try {
      std::rethrow_exception(std::exchange(run_->failure, nullptr));
    } catch (const std::bad_alloc&) {
      throw Error("not enough memory for the run; use a smaller graph, or a machine with more", true);
    } catch (const HandlerDied& death) {
      throw Error(explained(death), true);
    } catch (const Died& death) {
      throw Error(death.what(), true);
    } catch (const std::exception& e) {
      throw Error(named(e.what()));
    }
  }

  std::unique_ptr<Running> run_;
};

}  // namespace gossamer
