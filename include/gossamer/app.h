// SPDX-License-Identifier: Apache-2.0
/// The descriptor of an application: what the host knows of a vertex program.
///
/// An application header has the vertex, then for hosted compilers a class
/// derived from gossamer::Application, then one macro:
///
///     GOSSAMER_VERTEX(MyVertex)
///     #if __STDC_HOSTED__
///     #include <gossamer/app.h>
///     struct MyApp : gossamer::Application<MyVertex> {
///       static constexpr const char* name = "my-app";
///       static constexpr const char* summary = "what it computes, in a line";
///       uint32_t source = 0;
///       void parameters(gossamer::Parameters& p) { p.vertex("source", source, "where paths start"); }
///       void init(const gossamer::VertexInfo& v, State& s) { s.distance = v.index == source ? 0 : far; }
///       void results(gossamer::Columns<State>& c) {
///         c.add("distance", "length of the shortest path", [](const State& s) { return s.distance; });
///       }
///     };
///     GOSSAMER_APPLICATION(MyApp)
///     #endif
///
/// `init` is called for one vertex after the other, in the order of their indices,
/// so that random numbers drawn in it are the same in every run; `parallelInit =
/// true` says that no call reads what another has written, and lets all threads.
///
/// Optional members: `Params params(const GraphInfo&)`, the vertices' run
/// parameters; `static constexpr Wiring wiring`, which edges it runs on; `sumsWeights = true`, for
/// the sum of its edges' values in what `init` sees of a vertex; `Edge edge(double weight)`, an edge's value from
/// the file's weight (without it weights are converted exactly or refused); `void
/// begin(const GraphInfo&)`, which may refuse by throwing std::invalid_argument
/// with a sentence; `void receive(const Message&)`, for messages to the host;
/// `Verdict verdict(const Outcome&)`, asked when the run is over, which may say that
/// the values are no answer: they are then given to nobody; `void changed(const VertexInfo&, State&)`, where the edges
/// of a vertex have changed and the run is to go on; `void
/// totals(Columns<Aggregates>&)`, which names what people see of the last step's aggregates.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "gossamer/abi.h"
#include "gossamer/app/columns.h"
#include "gossamer/app/parameters.h"
#include "gossamer/app/verdict.h"
#include "gossamer/app/wiring.h"
#include "gossamer/core/error.h"
#include "gossamer/core/memory.h"
#include "gossamer/engine.h"
#include "gossamer/engines.h"

namespace gossamer {

struct GraphInfo {
  uint32_t vertices = 0;
  uint64_t edges = 0;
  bool weighted = false;
  double weightLow = 1;  // the range of the weights, as the file has them
  double weightHigh = 1;
};

struct VertexInfo {
  uint32_t index = 0;
  uint64_t degree = 0;  // edges that a message on pin 0 travels along
  uint32_t vertices = 0;
  uint64_t backward = 0;  // those of pin 1, where the wiring has it
  double weight = 0;      // the sum of the values of the edges of pin 0, where the application `sumsWeights`
};

/// What two right answers may differ in.
enum class Same {
  exact,   // every value the same
  within,  // |a - b| <= tolerance * max(|a|, |b|, largest value / vertices)
};

/// Base of every descriptor: names the vertex's types and the defaults.
template <typename V>
struct Application {
  using Vertex = V;
  using State = typename V::State;
  using Edge = typename V::Edge;
  using Message = typename V::Message;
  using Params = typename V::Params;
  using Aggregates = typename V::Aggregates;
  using Outcome = gossamer::Outcome<State, Aggregates>;

  /// Messages travel along edges both ways, whatever the file says.
  static constexpr bool undirected = false;
  static constexpr Wiring wiring = Wiring::given;
  static constexpr bool sumsWeights = false;
  static constexpr Same same = Same::exact;
  static constexpr double tolerance = 0;
  /// `init` of a vertex neither reads nor writes what `init` of another does.
  static constexpr bool parallelInit = false;

  void parameters(Parameters&) {}
  Params params(const GraphInfo&) { return {}; }
  void begin(const GraphInfo&) {}
  Verdict verdict(const Outcome&) { return Verdict::answer(); }
  void totals(Columns<Aggregates>&) {}
};

namespace detail {

/// Gives the application its messages to the host; never holds up a run.
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

/// A finished run of an application, behind the C interface.
struct gs_result {
  virtual ~gs_result() = default;
  virtual void column(size_t index, void* out) = 0;
  virtual void total(size_t index, void* out) = 0;
  virtual void hear(const void* message) = 0;
  virtual void judge() = 0;  // sets the verdict on the states as they are
  virtual void change(const gs_change&) { throw std::logic_error("this run was not begun with gs_app_start"); }
  virtual void go(const gs_run_options&) { throw std::logic_error("this run was not begun with gs_app_start"); }
  virtual void part(gs_part&) { throw std::logic_error("this run was not begun with gs_app_start"); }
  virtual void ended() { judge(); }  // an engine elsewhere has written the final states, and `statistics` are its own
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

  /// Parameters and network. Throws what the application refuses.
  void prepare(const gs_graph& graph, const gs_run_options& options, Pool& pool) {
    Parameters parameters;
    app.parameters(parameters);
    for (size_t i = 0; i < options.parameter_count; ++i) parameters.set(options.parameters[i]);

    if (graph.vertices > 0xfffffffe) throw std::invalid_argument("the graph has more than 4294967294 vertices");
    const GraphInfo info{static_cast<uint32_t>(graph.vertices), graph.edges, graph.weight_type != GS_NONE,
                         graph.weight_low, graph.weight_high};
    if constexpr (!std::is_empty_v<typename V::Edge>) {
      for (const double weight : {info.weightLow, info.weightHigh}) {
        if (!std::isfinite(weight)) {
          throw std::invalid_argument(std::string(App::name) + ": the graph has a weight that is no finite number (" +
                                      std::to_string(weight) + "); mend or drop that edge");
        }
      }
    }
    app.begin(info);
    wiring = std::make_unique<GraphNetwork<App>>(graph, options, app, pool);
    problem.network = wiring->network();
    problem.unit = wiring->unit();
    problem.params = app.params(info);
    state = Array<S>(info.vertices);
    app.results(columns);
    app.totals(totals);
  }

  /// The descriptor's init of every vertex.
  void initialise(Pool& pool) {
    const size_t vertices = problem.network.vertices;
    std::vector<Position> positions(pool.size());
    const auto init = [&](size_t begin, size_t end, unsigned thread) {
      positions[thread].handler = Handler::start;
      for (size_t v = begin; v < end; ++v) {
        positions[thread].vertex = static_cast<uint32_t>(v);
        app.init(about(v), state[v]);
      }
    };
    auto initAll = [&] {
      if constexpr (App::parallelInit) {
        pool.chunks(vertices, 4096, init);
      } else {
        init(0, vertices, 0);
      }
    };
    for (unsigned t = 0; t < pool.size(); ++t) pool.watch(t, &positions[t]);
    Fault fault;
    const bool done = guard::run(initAll, &positions[0], fault);
    for (unsigned t = 0; t < pool.size(); ++t) pool.watch(t, nullptr);
    if (!done) guard::raise(fault);
  }

  /// What the descriptor is told of a vertex.
  VertexInfo about(size_t v) const {
    const Network& net = problem.network;
    VertexInfo info{.index = static_cast<uint32_t>(v), .vertices = net.vertices - net.removed};
    for (const Relation& r : net.relations) {
      (r.pin ? info.backward : info.degree) += r.out.length(v);
      if constexpr (App::sumsWeights) info.weight += r.pin ? 0 : sumOfValues(r.out, v);
    }
    return info;
  }

  /// The values of the edges of vertex v, added up.
  double sumOfValues(const Rows& rows, size_t v) const {
    using E = typename V::Edge;
    static_assert(std::is_arithmetic_v<E>, "an application that sums weights has numbers as edge values");
    const auto count = static_cast<double>(rows.length(v));
    if (!rows.values) return count * static_cast<double>(problem.unit);
    double sum = 0;
    for (uint64_t i = rows.offsets[v]; i < rows.ends[v]; ++i) {
      sum += static_cast<double>(static_cast<const E*>(rows.values)[i]);
    }
    return sum;
  }

  /// Shows an engine that runs elsewhere what prepare() has made; with all edges by sender.
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
            reinterpret_cast<const uint8_t*>(aggregates::ways<typename V::Aggregates>.of),
            aggregates::count<typename V::Aggregates>};
  }

  void hear(const void* message) override { AppHost<App>(app).fromVertex(message); }

  void judge() override {
    if (statistics.stopped) return;
    constexpr size_t words = aggregates::count<typename V::Aggregates>;
    if (statistics.aggregates.size() != words) {
      throw std::logic_error("the engine " + statistics.engine + " gave " +
                             std::to_string(statistics.aggregates.size()) + " words of aggregates, not " +
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
    if (all[index].type == GS_F32) scale(static_cast<float*>(out));
    if (all[index].type == GS_F64) scale(static_cast<double*>(out));
  }

  auto finalTotals() const { return statistics.template aggregatesAs<typename V::Aggregates>(); }

  void total(size_t index, void* out) override {
    const auto& all = totals.all();
    if (index >= all.size()) throw std::invalid_argument("there is no such total");
    const auto last = finalTotals();
    guard::inDescriptor(Handler::results, [&] { all[index].write(&last, 1, out); });
  }

  template <typename T>
  void scale(T* values) const {
    const Network& net = problem.network;
    double sum = 0;
    for (size_t i = 0; i < net.vertices; ++i) sum += net.isGone(i) ? 0 : static_cast<double>(values[i]);
    for (size_t i = 0; i < net.vertices; ++i) {
      if (net.isGone(i)) values[i] = 0;
      if (sum != 0) values[i] = static_cast<T>(static_cast<double>(values[i]) / sum);
    }
  }
};

/// What an engine takes of the options of the C interface.
inline RunOptions runOptions(const gs_run_options& options) {
  RunOptions run;
  run.threads = options.threads;
  run.seed = options.seed;
  run.stop = reinterpret_cast<std::atomic<int>*>(options.stop);
  run.progress = reinterpret_cast<std::atomic<uint64_t>*>(options.progress);
  return run;
}

}  // namespace gossamer::detail

#include "gossamer/app/changing.h"

namespace gossamer::detail {

/// Whatever is thrown becomes a message and a code: nothing crosses into C.
template <typename F>
int guarded(F&& f) noexcept {
  try {
    guard::Signals signals;
    Fault fault;
    if (!guard::run(f, nullptr, fault)) guard::raise(fault);
    return GS_OK;
  } catch (const HandlerDied& e) {
    return died(e.what(), e.vertex == HandlerDied::noVertex ? GS_NO_VERTEX : e.vertex, e.places.c_str());
  } catch (const Died& e) {
    return died(e.what(), GS_NO_VERTEX, "");
  } catch (const std::bad_alloc&) {
    return fail("not enough memory for the run; use a machine with more, or a smaller graph");
  } catch (const std::exception& e) {
    return fail("%s", e.what());
  }
}

template <typename App>
int runApp(const gs_graph* graph, const gs_run_options* options, gs_result** out) noexcept {
  using V = typename App::Vertex;
  return guarded([&] {
    auto result = std::make_unique<AppResult<App>>();
    RunOptions run = runOptions(*options);
    const PoolLease pool(run.threads ? run.threads : defaultThreads());
    run.pool = &*pool;
    result->prepare(*graph, *options, *pool);
    result->initialise(*pool);
    AppHost<App> host(result->app);
    if constexpr (AppHost<App>::listens()) result->problem.host = &host;
    const std::unique_ptr<Engine<V>> engine = makeEngine<V>(options->engine);
    if (!engine) throw std::invalid_argument(std::string("there is no engine ") + options->engine);
    result->statistics = engine->run(result->problem, result->state, run);
    result->problem.host = nullptr;
    result->judge();
    *out = result.release();
  });
}

template <typename App>
int openApp(const gs_graph* graph, const gs_run_options* options, gs_result** out, gs_problem* problem) noexcept {
  return guarded([&] {
    auto result = std::make_unique<AppResult<App>>();
    const PoolLease pool(options->threads ? options->threads : defaultThreads());
    result->prepare(*graph, *options, *pool);
    result->initialise(*pool);
    *problem = result->open();
    *out = result.release();
  });
}

template <typename App>
int startApp(const gs_graph* graph, const gs_run_options* options, gs_result** out) noexcept {
  return guarded([&] {
    if constexpr (rules::GoesOn<typename App::Vertex>) {
      auto result = std::make_unique<ChangingRun<App>>();
      result->start(*graph, *options);
      *out = result.release();
    } else {
      throw std::invalid_argument(std::string(App::name) + ": its vertices have no handler changed() or resume()");
    }
  });
}

template <typename S>
std::string describeColumns(const Columns<S>& columns) {
  static constexpr const char* orders[] = {"largest", "smallest", "groups"};
  std::string json = "[";
  const char* comma = "";
  for (const auto& c : columns.all()) {
    json += comma + ("{\"name\":" + jsonString(c.name)) + ",\"type\":" + std::to_string(c.type);
    json += ",\"order\":\"" + std::string(orders[static_cast<int>(c.order)]) + "\",\"absent\":" + c.none;
    json += ",\"vertex\":" + std::string(c.isVertex ? "true" : "false");
    json += ",\"help\":" + jsonString(c.help) + "}";
    comma = ",";
  }
  return json + "]";
}

/// Whether the direction of an edge does not matter.
template <typename App>
constexpr bool bothWays() {
  return App::undirected || App::wiring == Wiring::simple || App::wiring == Wiring::oriented;
}

template <typename App>
std::string describeApp() {
  App app;
  Parameters parameters;
  app.parameters(parameters);
  Columns<typename App::State> columns;
  app.results(columns);
  Columns<typename App::Aggregates> totals;
  app.totals(totals);
  std::string json = "{\"name\":" + jsonString(App::name) + ",\"summary\":" + jsonString(App::summary);
  json += ",\"same\":" + std::string(App::same == Same::exact ? "\"exact\"" : "\"within\"");
  json += ",\"tolerance\":" + jsonNumber(App::tolerance);
  json += ",\"undirected\":" + std::string(bothWays<App>() ? "true" : "false");
  json += ",\"reads_edges\":" + std::string(rules::ReadsEdges<typename App::Vertex> ? "true" : "false");
  json += ",\"goes_on\":" + std::string(rules::GoesOn<typename App::Vertex> ? "true" : "false");
  json += ",\"uses_weights\":" + std::string(std::is_empty_v<typename App::Edge> ? "false" : "true");
  json += ",\"state_bytes\":" + std::to_string(rules::bytesOf<typename App::State>());
  json += ",\"edge_bytes\":" + std::to_string(rules::bytesOf<typename App::Edge>());
  json += ",\"message_bytes\":" + std::to_string(rules::bytesOf<typename App::Message>());
  json += ",\"parameters\":[";
  static constexpr const char* kinds[] = {"real", "integer", "vertex", "flag", "vertices"};
  const char* comma = "";
  for (const Parameters::Entry& e : parameters.entries()) {
    json += comma + ("{\"name\":" + jsonString(e.name)) + ",\"kind\":\"" + kinds[static_cast<int>(e.kind)] + "\"";
    json += ",\"low\":" + e.low + ",\"high\":" + e.high;
    json += ",\"default\":" + e.initial + ",\"help\":" + jsonString(e.help) + "}";
    comma = ",";
  }
  return json + "],\"columns\":" + describeColumns(columns) + ",\"totals\":" + describeColumns(totals) + "}";
}

/// Statistics as the C interface has them; pointers into `from`.
inline void exportStatistics(const Statistics& from, gs_statistics& to) {
  to = {.engine = from.engine.c_str(),
        .step_seconds = from.stepSeconds.data(),
        .step_count = from.stepSeconds.size(),
        .vertices = from.vertices,
        .edges = from.edges,
        .sends = from.sends,
        .deliveries = from.deliveries,
        .steps = from.steps,
        .step_calls = from.stepCalls,
        .host_messages = from.hostMessages,
        .pull_rounds = from.pullRounds,
        .push_rounds = from.pushRounds,
        .small_rounds = from.smallRounds,
        .vertex_looks = from.vertexLooks,
        .edge_looks = from.edgeLooks,
        .seconds = from.seconds,
        .threads = from.threads,
        .stopped = from.stopped ? 1 : 0,
        .aggregates = from.aggregates.data(),
        .aggregate_count = from.aggregates.size()};
}

/// Statistics of an engine that ran elsewhere.
inline void importStatistics(const gs_statistics& from, Statistics& to) {
  to.engine = from.engine;
  to.threads = from.threads;
  to.vertices = from.vertices;
  to.edges = from.edges;
  to.sends = from.sends;
  to.deliveries = from.deliveries;
  to.steps = from.steps;
  to.stepCalls = from.step_calls;
  to.hostMessages = from.host_messages;
  to.seconds = from.seconds;
  to.stopped = from.stopped != 0;
  to.aggregates.assign(from.aggregates, from.aggregates + from.aggregate_count);
}

}  // namespace gossamer::detail

/// Exports the C interface of an application. Once in each shared object.
#define GOSSAMER_APPLICATION(APP)                                                                                  \
  extern "C" {                                                                                                     \
  int gs_app_abi_version(void) { return GS_ABI_VERSION; }                                                          \
  const char* gs_app_describe(void) {                                                                              \
    static std::string text;                                                                                       \
    return ::gossamer::detail::guarded([] { text = ::gossamer::detail::describeApp<APP>(); }) ? nullptr            \
                                                                                              : text.c_str();      \
  }                                                                                                                \
  int gs_app_run(const gs_graph* graph, const gs_run_options* options, gs_result** result) {                       \
    return ::gossamer::detail::runApp<APP>(graph, options, result);                                                \
  }                                                                                                                \
  int gs_app_open(const gs_graph* graph, const gs_run_options* options, gs_result** result, gs_problem* problem) { \
    return ::gossamer::detail::openApp<APP>(graph, options, result, problem);                                      \
  }                                                                                                                \
  int gs_app_start(const gs_graph* graph, const gs_run_options* options, gs_result** result) {                     \
    return ::gossamer::detail::startApp<APP>(graph, options, result);                                              \
  }                                                                                                                \
  int gs_app_change(gs_result* result, const gs_change* change) {                                                  \
    return ::gossamer::detail::guarded([&] { result->change(*change); });                                          \
  }                                                                                                                \
  int gs_app_go(gs_result* result, const gs_run_options* options) {                                                \
    return ::gossamer::detail::guarded([&] { result->go(*options); });                                             \
  }                                                                                                                \
  int gs_app_part(gs_result* result, gs_part* part) {                                                              \
    return ::gossamer::detail::guarded([&] { result->part(*part); });                                              \
  }                                                                                                                \
  int gs_app_hear(gs_result* result, const void* message) {                                                        \
    return ::gossamer::detail::guarded([&] { result->hear(message); });                                            \
  }                                                                                                                \
  int gs_app_ended(gs_result* result, const gs_statistics* statistics) {                                           \
    return ::gossamer::detail::guarded([&] {                                                                       \
      ::gossamer::detail::importStatistics(*statistics, result->statistics);                                       \
      result->ended();                                                                                             \
    });                                                                                                            \
  }                                                                                                                \
  void gs_app_statistics(const gs_result* result, gs_statistics* statistics) {                                     \
    ::gossamer::detail::exportStatistics(result->statistics, *statistics);                                         \
  }                                                                                                                \
  int gs_app_verdict(const gs_result* result, const char** why, uint64_t* vertex) {                                \
    *why = result->verdict.why().c_str();                                                                          \
    *vertex = result->verdict.vertex();                                                                            \
    return result->verdict.kind();                                                                                 \
  }                                                                                                                \
  int gs_app_column(gs_result* result, size_t index, void* values) {                                               \
    return ::gossamer::detail::guarded([&] { result->column(index, values); });                                    \
  }                                                                                                                \
  int gs_app_total(gs_result* result, size_t index, void* value) {                                                 \
    return ::gossamer::detail::guarded([&] { result->total(index, value); });                                      \
  }                                                                                                                \
  void gs_app_free(gs_result* result) { delete result; }                                                           \
  }
