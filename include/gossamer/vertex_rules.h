// SPDX-License-Identifier: Apache-2.0
/// The rule of what a vertex may be, checked by the compiler with sentences.
///
/// Freestanding, so the same check runs for the host and for the overlay.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "gossamer/polite.h"

/// Bytes of message payload that a hardware message holds: four flits of
/// sixteen bytes less the four that say for which edge it is.
#ifndef GOSSAMER_MAX_MESSAGE_BYTES
#define GOSSAMER_MAX_MESSAGE_BYTES 60
#endif
/// Bytes of state a vertex may have, and of run parameters.
#ifndef GOSSAMER_MAX_STATE_BYTES
#define GOSSAMER_MAX_STATE_BYTES 65536
#endif

namespace gossamer::rules {

/// Turns into any scalar when it initialises a member: counts the leaves of a
/// struct, since brace elision walks into nested structs and arrays.
struct AnyLeaf {
  template <typename T>
    requires std::is_scalar_v<T>
  operator T() const;
};

/// Turns into plain numbers only: a pointer anywhere in the struct fails.
struct PlainLeaf {
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) && (!std::is_same_v<T, long double>)
  operator T() const;
};

/// As PlainLeaf, without the numbers that are wider on one machine than on another. On a 64-bit
/// machine uint64_t and size_t are one type; a compiler that is told that int64_t is long long, as
/// apps.py does with GOSSAMER_EXACT_WIDTHS, can tell them apart.
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

/// The number of scalars in T, found by bisection; low is known to fit.
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

/// True when T holds only what Leaf turns into. Taken on trust: what is larger than
/// 512 bytes, since the search would cost more time than the compilation; unions; and
/// classes with constructors or private members, which nobody can look into.
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

/// Edge values stay as they are: engines may share and reorder them.
template <typename V>
concept ConstantEdges = requires(V v, typename V::Message* m, const typename V::Edge* e) { v.recv(m, e); };

/// recv may change the values of edges, which have some.
template <typename V>
concept WritesEdges = !ConstantEdges<V> && !std::is_empty_v<typename V::Edge>;

/// The message is the receiver's to read only.
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

/// What a vertex does where a run goes on, on a graph that has changed.
template <typename V>
concept HasChanged = requires(V v) {
  { v.changed() } -> std::same_as<void>;
};
template <typename V>
concept HasResume = requires(V v) {
  { v.resume() } -> std::same_as<void>;
};
template <typename V>
concept GoesOn = HasChanged<V> || HasResume<V>;

/// `step` is the one that PVertex has, which does nothing.
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

/// The vertex writes notes on its edges.
template <typename V>
concept KeepsNotes = ReadsEdges<V> && !std::is_empty_v<typename decltype(V::edges)::Note>;

/// The edges that a vertex reads are of its own type, and its notes plain data.
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

/// Instantiating this checks V; each failure is one sentence.
template <typename V>
struct Check {
  static_assert(NamesItsTypes<V>, "a vertex derives from gossamer::PVertex<State, Edge, Message>");
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using P = typename V::Params;
  static_assert(HasInit<V>, "the vertex needs a handler: void init()");
  static_assert(HasSend<V>, "the vertex needs a handler: void send(Message*)");
  static_assert(HasRecv<V>, "the vertex needs a handler: void recv(Message*, Edge*)");
  using A = typename V::Aggregates;
  static_assert(aggregates::areAll<A>(),
                "the aggregates are a struct of gossamer::Sum, FixedSum, Min, Max and Or, and of nothing else");
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
  static_assert(plainData<S>(), "the vertex state holds a pointer: vertices see their own state only");
  static_assert(plainData<E>(), "the edge type holds a pointer: it means nothing on another machine");
  static_assert(plainData<M>(), "the message holds a pointer: it means nothing at another vertex");
  static_assert(plainData<P>(), "the parameters hold a pointer: they mean nothing on another machine");
#ifdef GOSSAMER_EXACT_WIDTHS
  static_assert(plainData<S, FixedLeaf>(),
                "the vertex state holds a long, a size_t or another number that is not as wide everywhere; "
                "take uint32_t or uint64_t");
  static_assert(plainData<E, FixedLeaf>(),
                "the edge type holds a long, a size_t or another number that is not as wide everywhere; "
                "take uint32_t or uint64_t");
  static_assert(plainData<M, FixedLeaf>(),
                "the message holds a long, a size_t or another number that is not as wide everywhere; "
                "take uint32_t or uint64_t");
  static_assert(plainData<P, FixedLeaf>(),
                "the parameters hold a long, a size_t or another number that is not as wide everywhere; "
                "take uint32_t or uint64_t");
#endif
  static_assert(!HasSettled<V> || stepsLazily<V>(), "a vertex with settled() steps lazily: lazyStep = true");
  static_assert(readsItsOwnEdges<V>(),
                "the member edges is a gossamer::Edges<Edge, Note>: the edge type of the vertex, notes of plain data");
  static_assert(bytesOf<M>() <= GOSSAMER_MAX_MESSAGE_BYTES,
                "the message is too large: a hardware message holds 60 bytes (four flits less the edge's key)");
  static_assert(bytesOf<S>() <= GOSSAMER_MAX_STATE_BYTES, "the vertex state is too large: at most 65536 bytes");
  static_assert(bytesOf<P>() <= GOSSAMER_MAX_STATE_BYTES, "the parameters are too large: at most 65536 bytes");
  static_assert(alignof(S) <= 8 && alignof(E) <= 8 && alignof(M) <= 8 && alignof(P) <= 8,
                "state, edge, message and parameters may be aligned to at most 8 bytes");
  static constexpr bool passed = true;
};

}  // namespace gossamer::rules
