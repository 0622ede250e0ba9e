// SPDX-License-Identifier: Apache-2.0
/// A vertex's handlers for the timing model: functions on states and flags in the layout of the softswitch.
///
///     #include "vertex.h"
///     #include <gossamer/model/handlers.h>
///     GOSSAMER_MODEL_HANDLERS(GossamerVertex)
///
/// The C part declares the functions that gs_model_vertex() returns; src/model/engine.cc calls them. They run on any
/// thread, on different vertices at the same time.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

/// What every call of a handler has in common.
struct gs_model_context {
  const void* params;
  uint32_t vertices;  // of the graph
  uint32_t time;      // earlier steps
};

/// What a call of `recv` did, as bits.
enum gs_model_received { GS_MODEL_WOKE = 1, GS_MODEL_SLEPT = 2, GS_MODEL_CHANGED = 4 };
struct gs_model_receipt {
  uint8_t what;
  uint32_t first, end;  // bytes of the state that changed: from a multiple of 4, and after the last
};

/// A list of edges in a thread's memory.
struct gs_model_edges {
  const uint8_t* first;  // of the edges: an offset, then the value
  uint32_t count;
  uint32_t edge_bytes;
  uint32_t value_at;      // of the value in an edge
  uint32_t offset_bytes;  // 2 or 4
};

struct gs_model_handlers {
  uint32_t state_bytes;  // distance of states
  uint32_t message_bytes;
  uint32_t words;  // of aggregates
  uint32_t reads_edges;
  const uint8_t* reductions;      // of each word: enum gossamer::Reduce
  void (*empty)(int64_t* words);  // the words of aggregates without contributions
  void (*init)(const struct gs_model_context* its, void* state, uint8_t* pin);
  int (*step)(const struct gs_model_context* its, void* state, uint8_t* pin, const int64_t* before, int64_t* mine);
  int (*finish)(const struct gs_model_context* its, void* state, uint8_t* pin, void* message);
  void (*send)(const struct gs_model_context* its, void* state, uint8_t* pin, void* message);
  /// Calls `recv` for each edge of a list; `flags` of a vertex are `offset / state_bytes * flag_bytes` from the first.
  void (*receive)(const struct gs_model_context* its, uint8_t* states, uint8_t* flags, uint32_t flag_bytes,
                  const void* message, const struct gs_model_edges* edges, struct gs_model_receipt* received);
};

const struct gs_model_handlers* gs_model_vertex(void);
}

#ifdef GOSSAMER_MODEL_VERTEX_HEADER
#include <gossamer/polite.h>

namespace gossamer::model {

template <typename V>
struct Handlers {
  using S = typename V::State;
  using E = typename V::Edge;
  using M = typename V::Message;
  using P = typename V::Params;
  using A = typename V::Aggregates;
  static constexpr size_t words = aggregates::count<A>;
  static constexpr uint32_t stride = sizeof(S) < 2 ? 2 : sizeof(S);

  static V at(const gs_model_context* its, void* state, uint8_t* pin) {
    V vertex;
    vertex.s = static_cast<S*>(state);
    vertex.readyToSend = reinterpret_cast<PPin*>(pin);
    vertex.params = static_cast<const P*>(its->params);
    vertex.numVertices = its->vertices;
    vertex.time = its->time;
    return vertex;
  }
  static void empty(int64_t* to) { aggregates::save(A{}, to); }
  static void init(const gs_model_context* its, void* state, uint8_t* pin) { at(its, state, pin).init(); }
  static int step(const gs_model_context* its, void* state, uint8_t* pin, const int64_t* before, int64_t* mine) {
    A all{}, given{};
    aggregates::load(all, before);
    aggregates::load(given, mine);
    V vertex = at(its, state, pin);
    const bool on = aggregates::step(vertex, all, given);
    aggregates::save(given, mine);
    return on;
  }
  static int finish(const gs_model_context* its, void* state, uint8_t* pin, void* message) {
    return at(its, state, pin).finish(static_cast<M*>(message));
  }
  static void send(const gs_model_context* its, void* state, uint8_t* pin, void* message) {
    at(its, state, pin).send(static_cast<M*>(message));
  }
  static void receive(const gs_model_context* its, uint8_t* states, uint8_t* flags, uint32_t flagBytes,
                      const void* message, const gs_model_edges* edges, gs_model_receipt* received) {
    const uint8_t* edge = edges->first;
    for (uint32_t i = 0; i < edges->count; ++i, edge += edges->edge_bytes) {
      uint32_t offset = 0;
      if (edges->offset_bytes == 2) {
        uint16_t narrow;
        __builtin_memcpy(&narrow, edge, 2);
        offset = narrow;
      } else {
        __builtin_memcpy(&offset, edge, 4);
      }
      uint8_t* const state = states + offset;
      uint8_t* const pin = flags + offset / stride * flagBytes;
      const uint8_t before = *pin;
      M copy;
      __builtin_memcpy(static_cast<void*>(&copy), message, sizeof(M));
      E value{};
      if constexpr (!std::is_empty_v<E>)
        __builtin_memcpy(static_cast<void*>(&value), edge + edges->value_at, sizeof(E));
      uint8_t old[sizeof(S)];
      __builtin_memcpy(old, state, sizeof(S));
      at(its, state, pin).recv(&copy, &value);
      gs_model_receipt found{};
      if (!before && *pin) found.what |= GS_MODEL_WOKE;
      if (before && !*pin) found.what |= GS_MODEL_SLEPT;
      if (__builtin_memcmp(old, state, sizeof(S)) != 0) {
        found.what |= GS_MODEL_CHANGED;
        size_t first = 0, end = sizeof(S);
        while (first + 4 < sizeof(S) && !__builtin_memcmp(old + first, state + first, 4)) first += 4;
        while (end > first + 4 && !__builtin_memcmp(old + end - 4, state + end - 4, 4)) end -= 4;
        found.first = static_cast<uint32_t>(first);
        found.end = static_cast<uint32_t>(end);
      }
      received[i] = found;
    }
  }
};

}  // namespace gossamer::model

#define GOSSAMER_MODEL_HANDLERS(VERTEX)                                                                       \
  extern "C" const gs_model_handlers* gs_model_vertex(void) {                                                 \
    using Its = ::gossamer::model::Handlers<VERTEX>;                                                          \
    static const gs_model_handlers found = {                                                                  \
        Its::stride,                                                                                          \
        sizeof(typename VERTEX::Message),                                                                     \
        Its::words,                                                                                           \
        ::gossamer::rules::ReadsEdges<VERTEX>,                                                                \
        reinterpret_cast<const uint8_t*>(::gossamer::aggregates::reductions<typename VERTEX::Aggregates>.of), \
        Its::empty,                                                                                           \
        Its::init,                                                                                            \
        Its::step,                                                                                            \
        Its::finish,                                                                                          \
        Its::send,                                                                                            \
        Its::receive};                                                                                        \
    return &found;                                                                                            \
  }
#endif
