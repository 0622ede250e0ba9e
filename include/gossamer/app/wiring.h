// SPDX-License-Identifier: Apache-2.0
/// Builds an engine's network from a graph of the C interface.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "gossamer/abi.h"
#include "gossamer/app/columns.h"
#include "gossamer/app/simple_rows.h"
#include "gossamer/core/guard.h"
#include "gossamer/core/memory.h"
#include "gossamer/core/pool.h"
#include "gossamer/engine.h"

namespace gossamer {

/// The edges that an application runs on.
enum class Wiring {
  given,     // the file's edges; with `undirected`, each in both directions, but a self-loop once
  backward,  // the file's edges on pin 0, and their reverses on pin 1
  distinct,  // as `backward`, without self-loops, and of parallel edges only one of least value
  simple,    // each pair of neighbours once, in both directions, without self-loops
  oriented,  // the edges of `simple` in one direction: from the vertex with fewer neighbours (or the smaller index)
  ranked,    // the edges of `oriented` on pin 0, and their reverses on pin 1
};

}  // namespace gossamer

namespace gossamer::detail {

/// Builds the network of an application from a graph, and owns the rows and edge values that it had to convert.
template <typename App>
class GraphNetwork {
  using V = typename App::Vertex;
  using E = typename V::Edge;

 public:
  /// `far` has the vertices that are not in the graph but targets of its edges; null if there are none.
  GraphNetwork(const gs_graph& graph, const gs_run_options& options, App& app, Pool& pool, Elsewhere* far = nullptr)
      : graph_(graph), options_(options), app_(app), pool_(pool), far_(far) {
    if (!graph_.out.offsets) request(false);
    if (!graph_.out.offsets) throw std::invalid_argument("the graph has no edges by source");
  }

  Network network() {
    Network net;
    net.vertices = static_cast<uint32_t>(graph_.vertices);
    net.edgesHaveValues = countsDirections<E> || (!std::is_empty_v<E> && graph_.weight_type != GS_NONE);
    if (needsReverse() && !graph_.in.offsets) request(true);
    if (needsReverse() && !graph_.out.targets) request(false);
    if constexpr (simple()) {
      if (!graph_.out.targets) request(false);
      simple_ = std::make_unique<SimpleRows<E>>(graph_.vertices, rows(graph_.out, outValues_),
                                                needsReverse() ? rows(graph_.in, inValues_) : Rows{}, pool_,
                                                App::wiring != Wiring::simple, far_);
      net.relations.push_back({0, simple_->out(), simple_->in()});
      if (App::wiring == Wiring::ranked) net.relations.push_back({1, simple_->in(), simple_->out()});
      return net;
    }
    wire(net);
    net.complete = [this](Network& n, bool wantIn) {
      request(wantIn);
      wire(n);
    };
    return net;
  }

  E unit() {
    if constexpr (countsDirections<E>) {
      return {1};
    } else {
      return edgeValue(1.0);
    }
  }

  /// The edge value for element i of a weight array of this type.
  E value(int32_t type, const void* weights, size_t i) {
    const auto at = [&]<typename W>(const W* from) { return edgeValue(from[i]); };
    switch (weights ? type : GS_NONE) {
      case GS_I32: return at(static_cast<const int32_t*>(weights));
      case GS_U32: return at(static_cast<const uint32_t*>(weights));
      case GS_I64: return at(static_cast<const int64_t*>(weights));
      case GS_U64: return at(static_cast<const uint64_t*>(weights));
      case GS_F32: return at(static_cast<const float*>(weights));
      case GS_F64: return at(static_cast<const double*>(weights));
      default: return unit();
    }
  }

  /// Whether the application needs the targets of out-edges, not only their number.
  static constexpr bool needsTargets() { return rules::ReadsEdges<V> || App::sumsWeights || bothDirections(); }

  /// Frees the converted values; the network is then invalid.
  void release() {
    outValues_ = {};
    inValues_ = {};
    keptOut_ = {};
    keptIn_ = {};
    graph_.out = graph_.in = {};
  }

 private:
  static constexpr bool constant() { return rules::ConstantEdges<V>; }

  static_assert(App::wiring == Wiring::given || !App::undirected, "`undirected` requires the wiring `given`");
  static_assert(!rules::ReadsEdges<V> || !App::undirected,
                "a vertex that reads its edges needs the wiring `simple` instead of `undirected`");
  static constexpr bool simple() {
    return App::wiring == Wiring::simple || App::wiring == Wiring::oriented || App::wiring == Wiring::ranked;
  }
  static constexpr bool directedPair() { return App::wiring == Wiring::backward || App::wiring == Wiring::distinct; }
  static_assert(App::wiring == Wiring::given || App::wiring == Wiring::backward || std::is_empty_v<E> ||
                    std::is_arithmetic_v<E> || (countsDirections<E> && simple()),
                "an edge value of this wiring is a number, gossamer::Directions (not with `distinct`) or None");
  static_assert(App::wiring == Wiring::given || rules::ConstantEdges<V>,
                "edges of this wiring share one value per pair, so recv may not change it");

  /// Messages travel in both directions along an edge.
  static constexpr bool bothDirections() { return App::undirected || App::wiring != Wiring::given; }
  /// So the network needs the reverses of the graph's edges.
  bool needsReverse() const { return bothDirections() && !(graph_.flags & GS_GRAPH_SYMMETRIC); }

  void request(bool wantIn) {
    if (!options_.complete) return;
    // A jump out of Python and its threads would break them.
    const guard::Unguarded outside;
    options_.complete(options_.context, &graph_, wantIn ? 1 : 0);
  }

  void wire(Network& net) {
    net.relations.clear();
    const bool symmetric = graph_.flags & GS_GRAPH_SYMMETRIC;
    const bool shared = symmetric && graph_.in.targets == graph_.out.targets && constant();
    Rows out = rows(graph_.out, outValues_);
    Rows in = shared ? out : rows(graph_.in, inValues_);
    if constexpr (App::wiring == Wiring::distinct) {
      out = copied(out, net.vertices, Without::loopsAndParallels, pool_, keptOut_);
      in = shared ? out : copied(in, net.vertices, Without::loopsAndParallels, pool_, keptIn_);
    }
    net.relations.push_back({0, out, in});
    if (directedPair()) {
      net.relations.push_back(symmetric ? Relation{1, out, in} : Relation{1, in, out});
    } else if (needsReverse()) {
      // A self-loop is its own reverse.
      net.relations.push_back({0, copied(in, net.vertices, Without::loops, pool_, keptIn_),
                               copied(out, net.vertices, Without::loops, pool_, keptOut_)});
    }
  }

  static constexpr bool ownEdge() {
    return requires(App a) { a.edge(1.0); };
  }

  /// An edge's value from the file's weight. Throws if it cannot be represented exactly.
  template <typename W>
  E edgeValue(W weight) {
    if constexpr (ownEdge()) {
      return app_.edge(static_cast<double>(weight));
    } else {
      E value{};
      if (!fits(weight, value)) rejectWeight(weight);
      return value;
    }
  }

  /// Whether the application's edge type can represent a weight; sets `value`.
  template <typename W>
  static bool fits(W weight, E& value) {
    if constexpr (std::is_integral_v<E>) {
      if (!holds<E>(weight)) return false;
      value = static_cast<E>(weight);
    } else if constexpr (std::is_arithmetic_v<E>) {
      value = static_cast<E>(weight);
      if (!std::isfinite(value)) return false;
    }
    return true;
  }

  /// Whether the integer type T can represent a number.
  template <typename T, typename W>
  static bool holds(W weight) {
    using Limits = std::numeric_limits<T>;
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    if constexpr (std::is_integral_v<W>) {
      return std::cmp_greater_equal(weight, Wide{Limits::min()}) && std::cmp_less_equal(weight, Wide{Limits::max()});
    } else {
      // max() + 1 is a power of two, and so exact as a double; max() itself may not be.
      const double above = std::ldexp(1.0, Limits::digits);
      return weight >= static_cast<double>(Limits::min()) && weight < above && weight == std::floor(weight);
    }
  }

  /// Throws an error for a weight that the edge type cannot represent, with advice.
  template <typename W>
  [[noreturn]] static void rejectWeight(W weight) {
    std::string why = "is too large for the application";
    if constexpr (std::is_integral_v<E>) {
      using Wide = std::conditional_t<std::is_signed_v<E>, int64_t, uint64_t>;
      why = "is not an integer from " + std::to_string(Wide{std::numeric_limits<E>::min()}) + " to " +
            std::to_string(Wide{std::numeric_limits<E>::max()});
    }
    const char* other = App::wider;
    if constexpr (!std::is_integral_v<W>) {
      if (std::isfinite(weight) && weight != std::floor(weight)) other = App::fractional;
    }
    why += "; scale the weights of the graph";
    if (other) why += std::string(", or use ") + other;
    std::string text;
    if constexpr (std::is_integral_v<W>) {
      text = std::to_string(weight);
    } else {
      char digits[32];  // std::to_string would print six decimals only
      std::snprintf(digits, sizeof digits, "%.17g", static_cast<double>(weight));
      text = digits;
    }
    throw std::invalid_argument(std::string(App::name) + ": the weight " + text + " " + why);
  }

  Rows rows(const gs_csr& csr, Array<E>& kept) {
    Rows r{csr.offsets, csr.targets, nullptr};
    if constexpr (!std::is_empty_v<E> && !countsDirections<E>) {
      if (!csr.offsets || !csr.targets) return r;
      if (constant() && !csr.weights) return r;
      if constexpr (!ownEdge() && typeOf<E>() != GS_NONE) {
        if (constant() && graph_.weight_type == typeOf<E>()) {
          r.values = csr.weights;
          return r;
        }
      }
      if (kept.empty()) {
        kept = Array<E>(csr.offsets[graph_.vertices]);
        switch (csr.weights ? graph_.weight_type : GS_NONE) {
          case GS_I32: keep<int32_t>(csr.weights, kept); break;
          case GS_U32: keep<uint32_t>(csr.weights, kept); break;
          case GS_I64: keep<int64_t>(csr.weights, kept); break;
          case GS_U64: keep<uint64_t>(csr.weights, kept); break;
          case GS_F32: keep<float>(csr.weights, kept); break;
          case GS_F64: keep<double>(csr.weights, kept); break;
          default:
            pool_.chunks(kept.size(), 65536, [&, value = unit()](size_t begin, size_t end, unsigned) {
              std::fill(kept.data() + begin, kept.data() + end, value);
            });
        }
      }
      r.values = kept.data();
    }
    return r;
  }

  template <typename W>
  void keep(const void* weights, Array<E>& kept) {
    const W* from = static_cast<const W*>(weights);
    if constexpr (ownEdge()) {  // the application's function may have side effects: call it in order
      for (size_t i = 0; i < kept.size(); ++i) kept[i] = edgeValue(from[i]);
    } else {
      std::atomic<size_t> wrong{kept.size()};  // the first weight that does not fit
      pool_.chunks(kept.size(), 65536, [&](size_t begin, size_t end, unsigned) {
        for (size_t i = begin; i < end; ++i) {
          if (fits(from[i], kept[i])) [[likely]]
            continue;
          size_t first = wrong.load(std::memory_order_relaxed);
          while (i < first && !wrong.compare_exchange_weak(first, i, std::memory_order_relaxed)) {
          }
          return;
        }
      });
      if (wrong < kept.size()) rejectWeight(from[wrong]);
    }
  }

  gs_graph graph_;
  gs_run_options options_;
  App& app_;
  Pool& pool_;
  Elsewhere* far_;
  std::unique_ptr<SimpleRows<E>> simple_;
  Array<E> outValues_;
  Array<E> inValues_;
  OwnedRows<E> keptOut_;  // without self-loops or parallel edges
  OwnedRows<E> keptIn_;
};

}  // namespace gossamer::detail
