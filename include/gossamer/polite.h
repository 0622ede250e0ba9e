// SPDX-License-Identifier: Apache-2.0
/// POLite: a program is the behaviour of one vertex, in five handlers.
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
/// What the handlers may count on, whatever the engine:
/// - `init` runs once, before any other handler of the vertex.
/// - A vertex whose *readyToSend is not No gets `send` called, unless another
///   of its handlers says No before. Where the message goes is the value of
///   *readyToSend just before the call: every edge of Pin(p), or the host.
/// - `recv` runs once for each message and edge. The order of messages is free.
/// - `step` runs on every vertex when no vertex wants to send and no message is
///   on its way; it returns whether the vertex wants to go on.
/// - `finish` runs once instead, when every vertex's last `step` said false; a
///   message that it returns true for goes to the host.
/// - With aggregates (a fifth type) `step(all, mine)` adds to `mine` and reads in
///   `all` what all vertices added in the step before; aggregates.h.
/// - Where the host changes the graph and the run goes on, `void resume()` runs on every vertex
///   that was there, `void changed()` on those whose edges have changed; both may be left out.
///   New vertices have `init`. `time` and the aggregates begin again.
/// - Handlers of one vertex never overlap. They see their own state only.
///
/// This header is freestanding: it compiles for the overlay's threads as it is.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gossamer/aggregates.h"

namespace gossamer {

/// Where a vertex wants to send.
enum PPin : uint8_t {
  No = 0,         // nowhere
  HostPin = 1,    // to the host
  OneEdge = 255,  // along one of its own edges, which `send` names; own_edges.h
};

/// The most pins that a vertex can have.
inline constexpr unsigned MaxPins = 253;

/// The edges of pin `p` (0 .. MaxPins - 1).
constexpr PPin Pin(unsigned p) { return static_cast<PPin>(p + 2); }

/// No edge value, no message or no parameters.
struct None {};
using PEmpty = None;

/// What a vertex is made of: state S, edge value E, message M, P, values that
/// are the same for every vertex of a run and that no handler changes, and A, a
/// struct of aggregates.
///
/// All are plain data: trivially copyable, without pointers, of fixed
/// width (uint32_t, float; not long or size_t), so that they mean the same on
/// a PC and on the overlay. Optional members that engines look for:
///
///     uint32_t priority() const;              // lower is sent earlier; a hint
///     static constexpr bool lazyStep = true;  // see below
///     bool settled() const;                   // see below
///     gossamer::Edges<E> edges;               // its own edges, to read; own_edges.h
///
/// `priority` never changes what is right, only what is quick. `lazyStep`
/// promises that `step`, on a vertex that neither sent nor received since its
/// last `step`, would change nothing, give nothing and return false; engines then may leave
/// out the call. `settled`, where it returns true, promises that until the next `step` no
/// message changes anything but one whose sender has a smaller index than every sender that
/// the vertex has heard since the last `step`. `--shuffle` ignores all three, and so shows a
/// promise not kept.
template <typename S, typename E = None, typename M = None, typename P = None, typename A = None>
struct PVertex {
  using State = S;
  using Edge = E;
  using Message = M;
  using Params = P;
  using Aggregates = A;

  S* s;                  // this vertex's state
  PPin* readyToSend;     // where it wants to send
  const P* params;       // the run's parameters
  uint32_t numVertices;  // in the whole graph
  uint32_t time;         // how many times `step` was called before

  bool step() { return false; }
  bool finish(M*) { return false; }
};

}  // namespace gossamer

/// Names the vertex of an application header, and checks it against the rule
/// of what a vertex may be.
#define GOSSAMER_VERTEX(VERTEX)                            \
  static_assert(::gossamer::rules::Check<VERTEX>::passed); \
  using GossamerVertex = VERTEX;

#include "gossamer/own_edges.h"
#include "gossamer/vertex_rules.h"
