// SPDX-License-Identifier: Apache-2.0
/// POLite: a program describes the behaviour of one vertex, in five handlers.
///
///     #include <gossamer/polite.h>
///
///     struct State { uint32_t distance; };
///
///     struct Vertex : gossamer::PVertex<State, uint32_t, uint32_t> {
///       void init()                 { *readyToSend = s->distance == 0 ? gossamer::Pin(0) : gossamer::No; }
///       void send(uint32_t* m)      { *m = s->distance; *readyToSend = gossamer::No; }
///       void recv(const uint32_t* m, const uint32_t* weight) { ... }
///       bool step()                 { return false; }
///       bool finish(uint32_t* m)    { *m = s->distance; return true; }
///     };
///
/// What every engine guarantees to the handlers:
/// - `init` runs once, before any other handler of the vertex.
/// - An engine calls `send` on a vertex whose *readyToSend is not No, unless
///   another of its handlers sets No first. The value of *readyToSend just before
///   the call selects the destination: every edge of Pin(p), or the host.
/// - `recv` runs once for each message and edge. Messages arrive in any order.
/// - `step` runs on every vertex when no vertex wants to send and no message is
///   in flight; it returns whether the vertex wants to continue.
/// - `finish` runs once instead of `step`, when the last `step` of every vertex
///   returned false. If it returns true, its message is sent to the host.
/// - With aggregates (a fifth type) `step(all, mine)` adds to `mine` and reads in
///   `all` what all vertices added in the previous step; aggregates.h.
/// - When the host has changed the graph and continues the run, `void resume()` runs
///   on every existing vertex and `void changed()` on those whose edges have changed;
///   both are optional. `init` runs on new vertices. `time` and the aggregates restart.
/// - Handlers of one vertex never overlap. They access only the vertex's own state.
///
/// This header is freestanding: it compiles unchanged for the overlay's threads.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gossamer/aggregates.h"

namespace gossamer {

/// The destination of a vertex's next message.
enum PPin : uint8_t {
  No = 0,         // no message
  HostPin = 1,    // to the host
  OneEdge = 255,  // along one of its own edges, which `send` selects; own_edges.h
};

/// The most pins that a vertex can have.
inline constexpr unsigned MaxPins = 253;

/// The edges of pin `p` (0 .. MaxPins - 1).
constexpr PPin Pin(unsigned p) { return static_cast<PPin>(p + 2); }

/// No edge value, no message or no parameters.
struct None {};
using PEmpty = None;

/// An edge value of the wirings `simple`, `oriented` and `ranked` (app/wiring.h): in how many directions the graph
/// connects the two vertices, 1 or 2. An application with this edge type does not use the graph's weights.
struct Directions {
  uint32_t count;
};

/// The base of a vertex: state S, edge value E, message M, run parameters P, which
/// are the same for every vertex and which no handler changes, and A, a struct of
/// aggregates.
///
/// All are plain data: trivially copyable, without pointers, of fixed
/// width (uint32_t, float; not long or size_t), so that they have the same layout
/// on a PC and on the overlay. Optional members that engines use:
///
///     uint32_t priority() const;              // a lower value is sent earlier; a hint
///     static constexpr bool lazyStep = true;  // see below
///     bool settled() const;                   // see below
///     gossamer::Edges<E> edges;               // its own edges, read-only; own_edges.h
///
/// `priority` affects speed, never the result. `lazyStep` promises that `step`, on
/// a vertex that neither sent nor received since its last `step`, would change no
/// state, add to no aggregate and return false; engines may then omit the call.
/// When `settled` returns true, it promises that until the next `step` the only
/// messages that can change the state are those whose sender has a smaller index
/// than every sender received from since the last `step`. `--shuffle` ignores all
/// three members, and thus reveals a broken promise.
template <typename S, typename E = None, typename M = None, typename P = None, typename A = None>
struct PVertex {
  using State = S;
  using Edge = E;
  using Message = M;
  using Params = P;
  using Aggregates = A;

  S* s;                  // this vertex's state
  PPin* readyToSend;     // destination of its next message
  const P* params;       // the run's parameters
  uint32_t numVertices;  // in the whole graph
  uint32_t time;         // number of earlier `step` calls

  bool step() { return false; }
  bool finish(M*) { return false; }
};

}  // namespace gossamer

/// Names the vertex of an application header, and checks that the type is a
/// legal vertex (vertex_rules.h).
#define GOSSAMER_VERTEX(VERTEX)                            \
  static_assert(::gossamer::rules::Check<VERTEX>::passed); \
  using GossamerVertex = VERTEX;

#include "gossamer/own_edges.h"
#include "gossamer/vertex_rules.h"
