// SPDX-License-Identifier: Apache-2.0
/// The rules for a vertex type, as compile-time checks; each failure is one sentence.
///
/// Freestanding: the same checks run for the host and for the overlay.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "gossamer/polite.h"

/// Payload bytes of a hardware message: four flits of sixteen bytes, less the
/// four bytes that identify the edge.
#ifndef GOSSAMER_MAX_MESSAGE_BYTES
#define GOSSAMER_MAX_MESSAGE_BYTES 60
#endif
/// Maximum bytes of a vertex's state, and of the run parameters.
#ifndef GOSSAMER_MAX_STATE_BYTES
#define GOSSAMER_MAX_STATE_BYTES 65536
#endif

namespace gossamer::rules {

/// Converts to any scalar when it initialises a member. Counts the leaves of a
/// struct, since brace elision descends into nested structs and arrays.
struct AnyLeaf {
  template <typename T>
    requires std::is_scalar_v<T>
  operator T() const;
};

/// Converts to plain numbers only: a pointer anywhere in the struct fails.
struct PlainLeaf {
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) && (!std::is_same_v<T, long double>)
  operator T() const;
};

/// As PlainLeaf, without the numbers whose width differs between machines. On a 64-bit machine uint64_t
/// and size_t are the same type; with GOSSAMER_EXACT_WIDTHS, apps.py defines int64_t as long long, which
/// separates them.
struct FixedLeaf {
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) &&
            (!std::is_same_v<T, long double> && !std::is_same_v<T, long> && !std::is_same_v<T, unsigned long>)
  operator T() const;
};

template <typename T, typename Leaf, size_t... I>
constexpr bool takesLeaves(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Leaf{})...}; };
}

template <typename T, typename Leaf, size_t N>
inline constexpr bool takes = takesLeaves<T, Leaf>(std::make_index_sequence<N>{});

/// The number of scalars in T, found by bisection; Low is known to fit.
template <typename T, size_t Low, size_t High>
constexpr size_t leavesBetween() {
  if constexpr (High - Low <= 1) {
    return Low;
  } else {
    constexpr size_t middle = (Low + High) / 2;
    if constexpr (takes<T, AnyLeaf, middle>) {
      return leavesBetween<T, middle, High>();
    } else {
      return leavesBetween<T, Low, middle>();
    }
  }
}

/// True when T holds only types that Leaf converts to. Accepted without a check: types larger than
/// 512 bytes, since the search would take longer than the compilation; unions; and classes with
/// constructors or private members, which cannot be inspected.
template <typename T, typename Leaf = PlainLeaf>
constexpr bool plainData() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return std::is_convertible_v<Leaf, T>;
  } else if constexpr (!std::is_aggregate_v<T> || std::is_union_v<T>) {
    return !std::is_pointer_v<T>;
  } else if constexpr (sizeof(T) > 512) {
    return true;
  } else {
    constexpr size_t most = sizeof(T) + 1;
    return takes<T, Leaf, leavesBetween<T, 0, most + 1>()>;
  }
}

template <typename V>
concept NamesItsTypes =
    requires {
      typename V::State;
      typename V::Edge;
      typename V::Message;
      typename V::Params;
      typename V::Aggregates;
    } && std::derived_from<V, PVertex<typename V::State, typename V::Edge, typename V::Message, typename V::Params,
                                      typename V::Aggregates>>;

template <typename V>
concept HasInit = requires(V v) {
  { v.init() } -> std::same_as<void>;
};
template <typename V>
concept HasSend = requires(V v, typename V::Message* m) {
  { v.send(m) } -> std::same_as<void>;
};
template <typename V>
concept HasRecv = requires(V v, typename V::Message* m, typename V::Edge* e) {
  { v.recv(m, e) } -> std::same_as<void>;
};
template <typename V>
concept HasStep = requires(V v) {
  { v.step() } -> std::same_as<bool>;
};
template <typename V>
concept HasStepWithAggregates = requires(V v, const typename V::Aggregates all, typename V::Aggregates mine) {
  { v.step(all, mine) } -> std::same_as<bool>;
};
template <typename V>
concept HasFinish = requires(V v, typename V::Message* m) {
  { v.finish(m) } -> std::same_as<bool>;
};

/// recv does not change edge values: engines may share and reorder them.
template <typename V>
concept ConstantEdges = requires(V v, typename V::Message* m, const typename V::Edge* e) { v.recv(m, e); };

/// recv may change the values of edges, and the edge type is not empty.
template <typename V>
concept WritesEdges = !ConstantEdges<V> && !std::is_empty_v<typename V::Edge>;

/// The receiver does not change the message.
template <typename V>
concept ConstantMessages = requires(V v, const typename V::Message* m, typename V::Edge* e) { v.recv(m, e); };

template <typename V>
concept HasPriority = requires(const V v) {
  { v.priority() } -> std::convertible_to<uint32_t>;
};

template <typename V>
concept HasSettled = requires(const V v) {
  { v.settled() } -> std::same_as<bool>;
};

/// The handlers of a run that continues on a graph that has changed.
template <typename V>
concept HasChanged = requires(V v) {
  { v.changed() } -> std::same_as<void>;
};
template <typename V>
concept HasResume = requires(V v) {
  { v.resume() } -> std::same_as<void>;
};
template <typename V>
concept Resumable = HasChanged<V> || HasResume<V>;

/// `step` is PVertex's, which does nothing.
template <typename V>
constexpr bool neverSteps() {
  using Base =
      PVertex<typename V::State, typename V::Edge, typename V::Message, typename V::Params, typename V::Aggregates>;
  if constexpr (std::is_empty_v<typename V::Aggregates> && requires { &V::step; }) {
    return std::is_same_v<decltype(&V::step), bool (Base::*)()>;
  } else {
    return false;
  }
}

/// The vertex stores notes on its edges.
template <typename V>
concept KeepsNotes = ReadsEdges<V> && !std::is_empty_v<typename decltype(V::edges)::Note>;

/// Whether the member `edges` has the vertex's edge type and notes of plain data; true for vertices without it.
template <typename V>
constexpr bool readsItsOwnEdges() {
  if constexpr (ReadsEdges<V>) {
    using T = decltype(V::edges);
    return std::is_same_v<typename T::Value, typename V::Edge> && std::is_trivially_copyable_v<typename T::Note> &&
           plainData<typename T::Note>();
  }
  return true;
}

template <typename V>
constexpr bool stepsLazily() {
  if constexpr (requires { V::lazyStep; }) {
    return V::lazyStep;
  } else {
    return false;
  }
}

template <typename T>
constexpr size_t bytesOf() {
  return std::is_empty_v<T> ? 0 : sizeof(T);
}

/// Instantiating Check<V> checks V; each failure is one sentence.
template <typename V>
struct Check {
  static_assert(NamesItsTypes<V>, "a vertex must derive from gossamer::PVertex<State, Edge, Message>");
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using P = typename V::Params;
  static_assert(HasInit<V>, "the vertex needs a handler: void init()");
  static_assert(HasSend<V>, "the vertex needs a handler: void send(Message*)");
  static_assert(HasRecv<V>, "the vertex needs a handler: void recv(Message*, Edge*)");
  using A = typename V::Aggregates;
  static_assert(aggregates::areAll<A>(),
                "the aggregates must be a struct of only gossamer::Sum, FixedSum, Min, Max and Or");
  static_assert(!aggregates::areAll<A>() || aggregates::count<A> <= MaxAggregates,
                "the vertex has too many aggregates: at most 32");
  static_assert(!std::is_empty_v<A> || HasStep<V>, "the vertex needs a handler: bool step()");
  static_assert(std::is_empty_v<A> || HasStepWithAggregates<V>,
                "the vertex has aggregates, so it needs a handler: bool step(const Aggregates& all, Aggregates& mine)");
  static_assert(HasFinish<V>, "the vertex needs a handler: bool finish(Message*)");
  static_assert(std::is_trivially_copyable_v<S>, "the vertex state must be trivially copyable: plain data only");
  static_assert(std::is_trivially_copyable_v<E>, "the edge type must be trivially copyable: plain data only");
  static_assert(std::is_trivially_copyable_v<M>, "the message must be trivially copyable: plain data only");
  static_assert(std::is_trivially_copyable_v<P>, "the parameters must be trivially copyable: plain data only");
  static_assert(plainData<S>(), "the vertex state holds a pointer: a vertex can access only its own state");
  static_assert(plainData<E>(), "the edge type holds a pointer: a pointer is invalid on another machine");
  static_assert(plainData<M>(), "the message holds a pointer: a pointer is invalid at another vertex");
  static_assert(plainData<P>(), "the parameters hold a pointer: a pointer is invalid on another machine");
#ifdef GOSSAMER_EXACT_WIDTHS
  static_assert(plainData<S, FixedLeaf>(),
                "the vertex state holds a long, a size_t or another number whose width depends on the machine; "
                "use uint32_t or uint64_t");
  static_assert(plainData<E, FixedLeaf>(),
                "the edge type holds a long, a size_t or another number whose width depends on the machine; "
                "use uint32_t or uint64_t");
  static_assert(plainData<M, FixedLeaf>(),
                "the message holds a long, a size_t or another number whose width depends on the machine; "
                "use uint32_t or uint64_t");
  static_assert(plainData<P, FixedLeaf>(),
                "the parameters hold a long, a size_t or another number whose width depends on the machine; "
                "use uint32_t or uint64_t");
#endif
  static_assert(!HasSettled<V> || stepsLazily<V>(), "a vertex with settled() must step lazily: set lazyStep = true");
  static_assert(readsItsOwnEdges<V>(),
                "the member edges must be a gossamer::Edges<Edge, Note> with the vertex's edge type and plain notes");
  static_assert(bytesOf<M>() <= GOSSAMER_MAX_MESSAGE_BYTES,
                "the message is too large: a hardware message holds 60 bytes (four flits less the edge's key)");
  static_assert(bytesOf<S>() <= GOSSAMER_MAX_STATE_BYTES, "the vertex state is too large: at most 65536 bytes");
  static_assert(bytesOf<P>() <= GOSSAMER_MAX_STATE_BYTES, "the parameters are too large: at most 65536 bytes");
  static_assert(alignof(S) <= 8 && alignof(E) <= 8 && alignof(M) <= 8 && alignof(P) <= 8,
                "state, edge, message and parameters may be aligned to at most 8 bytes");
  static constexpr bool passed = true;
};

}  // namespace gossamer::rules
