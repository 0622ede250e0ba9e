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
/// Optional members: `Params params(const GraphInfo&)`, the vertices' run
/// parameters; `Edge edge(double weight)`, an edge's value from the file's
/// weight; `void begin(const GraphInfo&)`, which may refuse by throwing
/// std::invalid_argument with a sentence; `void receive(const Message&)`, for
/// messages to the host.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/abi.h"
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
};

/// What two right answers may differ in.
enum class Same {
  exact,   // every value the same
  within,  // |a - b| <= tolerance * max(|a|, |b|, largest value / vertices)
};

/// Collects an application's parameters: name, where the value is kept (its
/// value there is the default), the range, and a line of help.
class Parameters {
 public:
  enum class Kind { real, integer, vertex, flag };
  struct Entry {
    std::string name;
    Kind kind;
    std::string help;
    double low;
    double high;
    double initial;
    std::function<void(const gs_parameter&)> set;
  };

  void real(const char* name, double& value, double low, double high, const char* help) {
    add(name, Kind::real, help, low, high, value, [&value](const gs_parameter& p) { value = p.real; });
  }
  template <typename T>
  void integer(const char* name, T& value, int64_t low, int64_t high, const char* help) {
    static_assert(std::is_integral_v<T>);
    add(name, Kind::integer, help, static_cast<double>(low), static_cast<double>(high), static_cast<double>(value),
        [&value](const gs_parameter& p) { value = static_cast<T>(p.integer); });
  }
  /// A vertex: its label on the command line, its index here.
  void vertex(const char* name, uint32_t& value, const char* help) {
    add(name, Kind::vertex, help, 0, 4294967295.0, value,
        [&value](const gs_parameter& p) { value = static_cast<uint32_t>(p.integer); });
  }
  void flag(const char* name, bool& value, const char* help) {
    add(name, Kind::flag, help, 0, 1, value, [&value](const gs_parameter& p) { value = p.integer != 0; });
  }

  const std::vector<Entry>& entries() const { return entries_; }

  /// Sets the value of one; throws std::invalid_argument for an unknown name.
  void set(const gs_parameter& p) const {
    for (const Entry& e : entries_) {
      if (e.name == p.name) return e.set(p);
    }
    throw std::invalid_argument(std::string("there is no parameter ") + p.name);
  }

 private:
  void add(const char* name, Kind kind, const char* help, double low, double high, double initial,
           std::function<void(const gs_parameter&)> set) {
    entries_.push_back({name, kind, help, low, high, initial, std::move(set)});
  }
  std::vector<Entry> entries_;
};

namespace detail {

template <typename T>
constexpr gs_type typeOf() {
  if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a number is float or double");
    return sizeof(T) == 4 ? GS_F32 : GS_F64;
  } else if constexpr (std::is_integral_v<T>) {
    static_assert(sizeof(T) <= 8);
    if (sizeof(T) == 8) return std::is_signed_v<T> ? GS_I64 : GS_U64;
    return std::is_signed_v<T> ? GS_I32 : GS_U32;
  } else {
    return GS_NONE;
  }
}

std::string jsonString(const std::string& text);
std::string jsonNumber(double value);
std::string statisticsJson(const Statistics& statistics);

}  // namespace detail

/// What of a column is worth seeing first.
enum class Show { largest, smallest, groups };

/// The columns of an application's result: one value a vertex, from its state.
template <typename S>
class Columns {
 public:
  struct Column {
    std::string name;
    std::string help;
    gs_type type = GS_NONE;
    bool normalise = false;
    Show order = Show::largest;
    double none = std::numeric_limits<double>::quiet_NaN();
    std::function<void(const S*, size_t, void*)> write;

    /// Divides the values by their sum.
    Column& normalised(bool yes = true) {
      normalise = yes;
      return *this;
    }
    /// How the column is shown: its largest values (the default), its smallest,
    /// or how many vertices share each value.
    Column& show(Show what) {
      order = what;
      return *this;
    }
    /// The value that stands for "there is none".
    Column& absent(double value) {
      none = value;
      return *this;
    }
  };

  template <typename F>
  Column& add(const char* name, const char* help, F value) {
    using T = std::remove_cvref_t<decltype(value(std::declval<const S&>()))>;
    // Narrow integers and bool widen to 32 bits.
    using Stored = std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4),
                                      std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>, T>;
    static_assert(std::is_arithmetic_v<T>, "a result column holds numbers");
    columns_.push_back({name, help, detail::typeOf<Stored>(), false, Show::largest,
                        std::numeric_limits<double>::quiet_NaN(), [value](const S* state, size_t count, void* out) {
                          Stored* values = static_cast<Stored*>(out);
                          for (size_t i = 0; i < count; ++i) values[i] = static_cast<Stored>(value(state[i]));
                        }});
    return columns_.back();
  }

  const std::vector<Column>& all() const { return columns_; }

 private:
  std::vector<Column> columns_;
};

/// Base of every descriptor: names the vertex's types and the defaults.
template <typename V>
struct Application {
  using Vertex = V;
  using State = typename V::State;
  using Edge = typename V::Edge;
  using Message = typename V::Message;
  using Params = typename V::Params;

  /// Messages travel along edges both ways, whatever the file says.
  static constexpr bool undirected = false;
  static constexpr Same same = Same::exact;
  static constexpr double tolerance = 0;

  void parameters(Parameters&) {}
  Params params(const GraphInfo&) { return {}; }
  void begin(const GraphInfo&) {}
};

namespace detail {

/// Builds the network of one pin from a graph, and keeps what it had to copy.
template <typename App>
class GraphNetwork {
  using V = typename App::Vertex;
  using E = typename V::Edge;

 public:
  GraphNetwork(const gs_graph& graph, const gs_run_options& options, App& app)
      : graph_(graph), options_(options), app_(app) {
    if (graph.vertices > 0xfffffffe) throw std::invalid_argument("the graph has more than 4294967294 vertices");
    if (!graph_.out.offsets) request(false);
    if (!graph_.out.offsets) throw std::invalid_argument("the graph has no edges by source");
  }

  Network network() {
    Network net;
    net.vertices = static_cast<uint32_t>(graph_.vertices);
    net.edgesHaveValues = !std::is_empty_v<E> && graph_.weight_type != GS_NONE;
    if (twoWays() && !graph_.in.offsets) request(true);
    if (twoWays() && !graph_.out.targets) request(false);
    wire(net);
    net.complete = [this](Network& n, bool wantIn) {
      request(wantIn);
      wire(n);
    };
    return net;
  }

  E unit() { return edgeValue(1.0); }

 private:
  bool twoWays() const { return App::undirected && !(graph_.flags & GS_GRAPH_SYMMETRIC); }

  void request(bool wantIn) {
    if (options_.complete) options_.complete(options_.context, &graph_, wantIn ? 1 : 0);
  }

  void wire(Network& net) {
    net.relations.clear();
    const Rows out = rows(graph_.out, outValues_);
    const Rows in = graph_.flags & GS_GRAPH_SYMMETRIC && graph_.in.targets == graph_.out.targets && constant()
                        ? out
                        : rows(graph_.in, inValues_);
    net.relations.push_back({0, out, in});
    if (twoWays()) net.relations.push_back({0, in, out});
  }

  static constexpr bool constant() { return rules::ConstantEdges<V>; }

  static constexpr bool ownEdge() {
    return requires(App a) { a.edge(1.0); };
  }

  E edgeValue(double weight) {
    if constexpr (ownEdge()) {
      return app_.edge(weight);
    } else if constexpr (std::is_integral_v<E>) {
      const auto low = static_cast<double>(std::numeric_limits<E>::min());
      const auto high = static_cast<double>(std::numeric_limits<E>::max());
      if (!(weight >= low && weight <= high) || weight != std::floor(weight)) {
        char text[32];  // JSON has no word for what is no number
        std::snprintf(text, sizeof text, "%.17g", weight);
        throw std::invalid_argument(std::string(App::name) + ": the weight " + text +
                                    " is no whole number from " + jsonNumber(low) + " to " + jsonNumber(high) +
                                    "; scale the weights of the graph");
      }
      return static_cast<E>(weight);
    } else if constexpr (std::is_arithmetic_v<E>) {
      return static_cast<E>(weight);
    } else {
      return E{};
    }
  }

  Rows rows(const gs_csr& csr, Array<E>& kept) {
    Rows r{csr.offsets, csr.targets, nullptr};
    if constexpr (!std::is_empty_v<E>) {
      if (!csr.offsets || !csr.targets) return r;
      if (constant() && !csr.weights) return r;
      if constexpr (!ownEdge() && std::is_arithmetic_v<E>) {
        if (constant() && graph_.weight_type == typeOf<E>()) {
          r.values = csr.weights;
          return r;
        }
      }
      if (kept.empty()) {
        kept = Array<E>(csr.offsets[graph_.vertices]);
        for (size_t i = 0; i < kept.size(); ++i) kept[i] = edgeValue(weight(csr, i));
      }
      r.values = kept.data();
    }
    return r;
  }

  double weight(const gs_csr& csr, size_t i) const {
    if (!csr.weights) return 1.0;
    switch (graph_.weight_type) {
      case GS_I32: return static_cast<const int32_t*>(csr.weights)[i];
      case GS_U32: return static_cast<const uint32_t*>(csr.weights)[i];
      case GS_I64: return static_cast<double>(static_cast<const int64_t*>(csr.weights)[i]);
      case GS_U64: return static_cast<double>(static_cast<const uint64_t*>(csr.weights)[i]);
      case GS_F32: return static_cast<double>(static_cast<const float*>(csr.weights)[i]);
      case GS_F64: return static_cast<const double*>(csr.weights)[i];
      default: return 1.0;
    }
  }

  gs_graph graph_;
  gs_run_options options_;
  App& app_;
  Array<E> outValues_;
  Array<E> inValues_;
};

/// Gives the application its messages to the host; never holds up a run.
template <typename App>
class AppHost final : public HostEnd {
 public:
  explicit AppHost(App& app) : app_(app) {}
  void fromVertex(const void* message) override {
    if constexpr (listens()) app_.receive(*static_cast<const typename App::Message*>(message));
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
  virtual void hear(const void* message) = 0;
  std::string statistics;
  std::vector<float> stepSeconds;
};

namespace gossamer::detail {

template <typename App>
struct AppResult final : gs_result {
  using V = typename App::Vertex;
  using S = typename App::State;
  App app;
  std::unique_ptr<GraphNetwork<App>> wiring;
  Problem<V> problem;
  Array<S> state;
  Columns<S> columns;
  std::vector<gs_relation> relations;

  /// Parameters, network and initial states.
  void prepare(const gs_graph& graph, const gs_run_options& options, Pool& pool) {
    Parameters parameters;
    app.parameters(parameters);
    for (size_t i = 0; i < options.parameter_count; ++i) parameters.set(options.parameters[i]);

    wiring = std::make_unique<GraphNetwork<App>>(graph, options, app);
    problem.network = wiring->network();
    problem.unit = wiring->unit();
    const GraphInfo info{problem.network.vertices, graph.edges, graph.weight_type != GS_NONE, graph.weight_low,
                         graph.weight_high};
    app.begin(info);
    problem.params = app.params(info);

    state = Array<S>(info.vertices);
    pool.chunks(info.vertices, 4096, [&](size_t begin, size_t end, unsigned) {
      for (size_t v = begin; v < end; ++v) {
        uint64_t degree = 0;
        for (const Relation& r : problem.network.relations) degree += r.out.offsets[v + 1] - r.out.offsets[v];
        app.init(VertexInfo{static_cast<uint32_t>(v), degree, info.vertices}, state[v]);
      }
    });
  }

  /// Shows an engine that runs elsewhere what prepare() has made; with all edges by sender.
  gs_problem open() {
    Network& net = problem.network;
    for (size_t i = 0; i < net.relations.size(); ++i) {
      if (!net.relations[i].out && net.complete) net.complete(net, false);
    }
    relations.clear();
    for (const Relation& r : net.relations) relations.push_back({r.pin, r.out.offsets, r.out.targets, r.out.values});
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
            AppHost<App>::listens()};
  }

  void hear(const void* message) override { AppHost<App>(app).fromVertex(message); }

  void column(size_t index, void* out) override {
    const auto& all = columns.all();
    if (index >= all.size()) throw std::invalid_argument("there is no such column");
    all[index].write(state.data(), state.size(), out);
    if (!all[index].normalise) return;
    if (all[index].type == GS_F32) scale(static_cast<float*>(out));
    if (all[index].type == GS_F64) scale(static_cast<double*>(out));
  }

  template <typename T>
  void scale(T* values) const {
    double sum = 0;
    for (size_t i = 0; i < state.size(); ++i) sum += static_cast<double>(values[i]);
    if (sum == 0) return;
    for (size_t i = 0; i < state.size(); ++i) values[i] = static_cast<T>(static_cast<double>(values[i]) / sum);
  }
};

/// Whatever is thrown becomes a message and a code: nothing crosses into C.
template <typename F>
int guarded(F&& f) noexcept {
  try {
    f();
    return GS_OK;
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
    RunOptions run;
    run.threads = options->threads;
    run.seed = options->seed;
    run.stop = reinterpret_cast<std::atomic<int>*>(options->stop);
    run.progress = reinterpret_cast<std::atomic<uint64_t>*>(options->progress);
    Pool pool(run.threads ? run.threads : defaultThreads());
    run.pool = &pool;
    result->prepare(*graph, *options, pool);
    AppHost<App> host(result->app);
    if constexpr (AppHost<App>::listens()) result->problem.host = &host;
    const std::unique_ptr<Engine<V>> engine = makeEngine<V>(options->engine);
    if (!engine) throw std::invalid_argument(std::string("there is no engine ") + options->engine);
    Statistics statistics = engine->run(result->problem, result->state, run);
    result->problem.host = nullptr;
    result->statistics = statisticsJson(statistics);
    result->stepSeconds = std::move(statistics.stepSeconds);
    result->app.results(result->columns);
    *out = result.release();
  });
}

template <typename App>
int openApp(const gs_graph* graph, const gs_run_options* options, gs_result** out, gs_problem* problem) noexcept {
  return guarded([&] {
    auto result = std::make_unique<AppResult<App>>();
    Pool pool(options->threads ? options->threads : defaultThreads());
    result->prepare(*graph, *options, pool);
    result->app.results(result->columns);
    *problem = result->open();
    *out = result.release();
  });
}

template <typename App>
std::string describeApp() {
  App app;
  Parameters parameters;
  app.parameters(parameters);
  Columns<typename App::State> columns;
  app.results(columns);
  std::string json = "{\"name\":" + jsonString(App::name) + ",\"summary\":" + jsonString(App::summary);
  json += ",\"same\":" + std::string(App::same == Same::exact ? "\"exact\"" : "\"within\"");
  json += ",\"tolerance\":" + jsonNumber(App::tolerance);
  json += ",\"undirected\":" + std::string(App::undirected ? "true" : "false");
  json += ",\"uses_weights\":" + std::string(std::is_empty_v<typename App::Edge> ? "false" : "true");
  json += ",\"state_bytes\":" + std::to_string(rules::bytesOf<typename App::State>());
  json += ",\"edge_bytes\":" + std::to_string(rules::bytesOf<typename App::Edge>());
  json += ",\"message_bytes\":" + std::to_string(rules::bytesOf<typename App::Message>());
  json += ",\"parameters\":[";
  static constexpr const char* kinds[] = {"real", "integer", "vertex", "flag"};
  const char* comma = "";
  for (const Parameters::Entry& e : parameters.entries()) {
    json += comma + ("{\"name\":" + jsonString(e.name)) + ",\"kind\":\"" + kinds[static_cast<int>(e.kind)] + "\"";
    json += ",\"low\":" + jsonNumber(e.low) + ",\"high\":" + jsonNumber(e.high);
    json += ",\"default\":" + jsonNumber(e.initial) + ",\"help\":" + jsonString(e.help) + "}";
    comma = ",";
  }
  json += "],\"columns\":[";
  static constexpr const char* orders[] = {"largest", "smallest", "groups"};
  comma = "";
  for (const auto& c : columns.all()) {
    json += comma + ("{\"name\":" + jsonString(c.name)) + ",\"type\":" + std::to_string(c.type);
    json += ",\"order\":\"" + std::string(orders[static_cast<int>(c.order)]) + "\",\"absent\":" + jsonNumber(c.none);
    json += ",\"help\":" + jsonString(c.help) + "}";
    comma = ",";
  }
  return json + "]}";
}

}  // namespace gossamer::detail

/// Exports the C interface of an application. Once in each shared object.
#define GOSSAMER_APPLICATION(APP)                                                                        \
  extern "C" {                                                                                           \
  const char* gs_app_describe(void) {                                                                    \
    static const std::string text = ::gossamer::detail::describeApp<APP>();                              \
    return text.c_str();                                                                                 \
  }                                                                                                      \
  int gs_app_run(const gs_graph* graph, const gs_run_options* options, gs_result** result) {             \
    return ::gossamer::detail::runApp<APP>(graph, options, result);                                      \
  }                                                                                                      \
  int gs_app_open(const gs_graph* graph, const gs_run_options* options, gs_result** result,              \
                  gs_problem* problem) {                                                                 \
    return ::gossamer::detail::openApp<APP>(graph, options, result, problem);                            \
  }                                                                                                      \
  int gs_app_hear(gs_result* result, const void* message) {                                              \
    return ::gossamer::detail::guarded([&] { result->hear(message); });                                  \
  }                                                                                                      \
  const char* gs_app_statistics(gs_result* result) { return result->statistics.c_str(); }                \
  size_t gs_app_step_seconds(gs_result* result, const float** seconds) {                                 \
    *seconds = result->stepSeconds.data();                                                               \
    return result->stepSeconds.size();                                                                   \
  }                                                                                                      \
  int gs_app_column(gs_result* result, size_t index, void* values) {                                     \
    return ::gossamer::detail::guarded([&] { result->column(index, values); });                          \
  }                                                                                                      \
  void gs_app_free(gs_result* result) { delete result; }                                                 \
  }
