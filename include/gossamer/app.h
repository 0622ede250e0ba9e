// SPDX-License-Identifier: Apache-2.0
/// The descriptor of an application: the host's part of a vertex program.
///
/// An application header declares the vertex, then for hosted compilers a class
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
/// `init` is called for the vertices in ascending order of their indices, so
/// that random numbers drawn in it are the same in every run; `parallelInit = true`
/// declares the calls independent, and runs them on all threads.
///
/// Optional members:
/// - `Params params(const GraphInfo&)`: the vertices' run parameters.
/// - `void complete(Params&, const States<State>&)`: completes them when `init` has set all states.
/// - `static constexpr Wiring wiring`: the edges that the application runs on.
/// - `sumsWeights = true`: VertexInfo has the sum of the values of the vertex's edges.
/// - `Edge edge(double weight)`: an edge's value from the file's weight; without it,
///   weights must convert exactly, else they are an error.
/// - `void begin(const GraphInfo&)`: may reject a graph by throwing std::invalid_argument
///   with a sentence.
/// - `void receive(const Message&)`: receives messages to the host.
/// - `Verdict verdict(const Outcome&)`: called after the run; may declare that the values
///   are no answer, and they are then not returned.
/// - `void changed(const VertexInfo&, State&)`: called before a run continues, for each
///   vertex whose edges have changed.
/// - `void totals(Columns<Aggregates>&)`: names the values of the last step's aggregates to report.
#pragma once

#ifndef GOSSAMER_ACCUMULATES
#define GOSSAMER_ACCUMULATES false
#endif

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "gossamer/abi.h"
#include "gossamer/app/application.h"
#include "gossamer/app/dynamic_graph_run.h"
#include "gossamer/app/result.h"
#include "gossamer/core/error.h"
#include "gossamer/engine.h"
#include "gossamer/engines.h"

namespace gossamer::detail {

/// Converts every exception into a message and a code: none may propagate into C.
template <typename F>
int guarded(F&& f) noexcept {
  try {
    guard::Signals signals;
    Fault fault;
    if (!guard::run(f, nullptr, fault)) guard::raise(fault);
    return GS_OK;
  } catch (const HandlerDied& e) {
    return died(e.what(), e.vertex == HandlerDied::noVertex ? GS_NO_VERTEX : e.vertex, e.addresses.c_str());
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
    pool->stopAt(run.stop);
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
    pool->stopAt(runOptions(*options).stop);
    result->prepare(*graph, *options, *pool);
    result->initialise(*pool);
    *problem = result->open();
    *out = result.release();
  });
}

template <typename App>
int startApp(const gs_graph* graph, const gs_run_options* options, gs_result** out) noexcept {
  return guarded([&] {
    if constexpr (rules::Resumable<typename App::Vertex>) {
      auto result = std::make_unique<DynamicGraphRun<App>>();
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

/// Whether the application ignores the direction of edges.
template <typename App>
constexpr bool ignoresDirection() {
  return App::undirected ||
         (!countsDirections<typename App::Edge> &&
          (App::wiring == Wiring::simple || App::wiring == Wiring::oriented || App::wiring == Wiring::ranked));
}

/// `accumulates`: whether the layout of states depends on GOSSAMER_NARROW_SUMS (accumulator.h).
template <typename App>
std::string describeApp(bool accumulates) {
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
  json += ",\"undirected\":" + std::string(ignoresDirection<App>() ? "true" : "false");
  json += ",\"reads_edges\":" + std::string(rules::ReadsEdges<typename App::Vertex> ? "true" : "false");
  json += ",\"writes_edges\":" + std::string(rules::WritesEdges<typename App::Vertex> ? "true" : "false");
  json += ",\"goes_on\":" + std::string(rules::Resumable<typename App::Vertex> ? "true" : "false");
  json += ",\"accumulates\":" + std::string(accumulates ? "true" : "false");
  constexpr bool unweighted = std::is_empty_v<typename App::Edge> || countsDirections<typename App::Edge>;
  json += ",\"uses_weights\":" + std::string(unweighted ? "false" : "true");
  json += ",\"state_bytes\":" + std::to_string(rules::bytesOf<typename App::State>());
  json += ",\"edge_bytes\":" + std::to_string(rules::bytesOf<typename App::Edge>());
  json += ",\"message_bytes\":" + std::to_string(rules::bytesOf<typename App::Message>());
  json += ",\"parameters\":[";
  static constexpr const char* kinds[] = {"real", "integer", "vertex", "flag", "vertices", "shares"};
  const char* comma = "";
  for (const Parameters::Entry& e : parameters.entries()) {
    json += comma + ("{\"name\":" + jsonString(e.name)) + ",\"kind\":\"" + kinds[static_cast<int>(e.kind)] + "\"";
    json += ",\"low\":" + e.low + ",\"high\":" + e.high;
    json += ",\"default\":" + e.initial + ",\"help\":" + jsonString(e.help) + "}";
    comma = ",";
  }
  return json + "],\"columns\":" + describeColumns(columns) + ",\"totals\":" + describeColumns(totals) + "}";
}

/// Statistics in the C interface's form; pointers refer to `from`.
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

/// Statistics from an engine that ran elsewhere.
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

#ifdef GOSSAMER_DISTRIBUTED
#include "gossamer/distributed/result.h"
#define GOSSAMER_SHARES(APP)                                                                       \
  int gs_app_needs_targets(void) { return ::gossamer::detail::GraphNetwork<APP>::needsTargets(); } \
  int gs_app_run_share(const gs_share* share, const gs_run_options* options, gs_result** result,   \
                       gs_rank_figures* figures) {                                                 \
    return ::gossamer::detail::runShare<APP>(share, options, result, figures);                     \
  }
#else
#define GOSSAMER_SHARES(APP)
#endif

/// Exports the C interface of an application. Use it once per shared object.
#define GOSSAMER_APPLICATION(APP)                                                                                  \
  extern "C" {                                                                                                     \
  GOSSAMER_SHARES(APP)                                                                                             \
  int gs_app_abi_version(void) { return GS_ABI_VERSION; }                                                          \
  const char* gs_app_describe(void) {                                                                              \
    static std::string text;                                                                                       \
    return ::gossamer::detail::guarded([] { text = ::gossamer::detail::describeApp<APP>(GOSSAMER_ACCUMULATES); })  \
               ? nullptr                                                                                           \
               : text.c_str();                                                                                     \
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
  int gs_app_receive(gs_result* result, const void* message) {                                                     \
    return ::gossamer::detail::guarded([&] { result->receive(message); });                                         \
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
