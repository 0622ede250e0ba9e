// SPDX-License-Identifier: Apache-2.0
/// The inputs and results of an engine, and the class that all engines derive from.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gossamer/core/guard.h"
#include "gossamer/core/memory.h"
#include "gossamer/core/pool.h"
#include "gossamer/polite.h"
#include "gossamer/vertex_rules.h"

namespace gossamer {

/// The edges of one pin, in compressed rows; borrowed, not owned. Row v is offsets[v] .. ends[v]. Where the graph
/// changes, rows are in any order with unused space between them: read no range of `targets` other than those rows.
struct Rows {
  const uint64_t* offsets = nullptr;  // vertices + 1; the last is the extent of `targets`
  const uint64_t* ends = nullptr;     // one per vertex
  const uint32_t* targets = nullptr;  // ascending within a row
  const void* values = nullptr;       // one edge value per target, or null: every edge has the value `unit`
  uint64_t holes = 0;                 // elements of `targets` that are in no row

  Rows() = default;
  /// Consecutive rows, without unused space between them.
  Rows(const uint64_t* starts, const uint32_t* to, const void* with)
      : offsets(starts), ends(starts ? starts + 1 : nullptr), targets(to), values(with) {}
  explicit operator bool() const { return offsets && targets; }

  uint64_t length(size_t v) const { return ends[v] - offsets[v]; }
  uint64_t edges(size_t vertices) const { return offsets[vertices] - holes; }
  /// Whether row v + 1 begins where row v ends.
  bool dense() const { return ends == offsets + 1; }
};

/// All edges that messages on one pin travel along. A pin may have several
/// relations, for example the edges of a graph and the same edges reversed.
struct Relation {
  unsigned pin = 0;
  Rows out;  // by sender; required
  Rows in;   // by receiver; required to pull
};

/// The vertices and their wiring, as an engine sees them.
struct Network {
  uint32_t vertices = 0;
  std::vector<Relation> relations;
  uint32_t removed = 0;            // removed vertices: they have no edges, and none of their handlers runs
  const uint64_t* gone = nullptr;  // one bit per removed vertex, or null: none is removed
  bool edgesHaveValues = false;

  bool isGone(size_t v) const { return gone && (gone[v >> 6] >> (v & 63) & 1); }
  /// Engines call it once if they prefer to pull and a relation has no `in`; it may
  /// fill it. They call it again for `out` targets if those were left out.
  std::function<void(Network&, bool wantIn)> complete;
};

struct RunOptions {
  unsigned threads = 0;                       // 0: every CPU
  Pool* pool = nullptr;                       // threads to use; null: the engine starts its own
  uint64_t seed = 0;                          // of the shuffle engine
  std::atomic<int>* stop = nullptr;           // set to 1 from outside to end the run early
  std::atomic<uint64_t>* progress = nullptr;  // two counters: steps and rounds so far
  Timeline* timeline = nullptr;               // null, or what the run records over time

  void note(uint64_t steps, uint64_t rounds) const {
    if (!progress) return;
    progress[0].store(steps, std::memory_order_relaxed);
    progress[1].store(rounds, std::memory_order_relaxed);
  }
};

/// Statistics of a run; the same for every engine.
struct Statistics {
  std::string engine;
  unsigned threads = 1;
  uint64_t vertices = 0;
  uint64_t edges = 0;
  uint64_t sends = 0;         // calls of `send`
  uint64_t deliveries = 0;    // calls of `recv`
  uint64_t steps = 0;         // times that the network was idle
  uint64_t stepCalls = 0;     // calls of `step`
  uint64_t hostMessages = 0;  // messages to the host
  uint64_t pullRounds = 0;    // rounds, by how messages were carried
  uint64_t pushRounds = 0;
  uint64_t smallRounds = 0;
  uint64_t vertexLooks = 0;         // times that a thread read a vertex, or skipped a word of 64 vertices
  uint64_t edgeLooks = 0;           // times that a thread read an edge
  uint64_t commits = 0;             // writes of vertices that several threads may change at the same time
  uint64_t retries = 0;             // handlers run again, because another thread changed the vertex meanwhile
  std::vector<uint64_t> byThread;   // deliveries of each thread
  double seconds = 0;               // init to finish
  std::vector<float> stepSeconds;   // elapsed time at each step; at most the first 100,000
  bool stopped = false;             // ended early through RunOptions::stop
  std::vector<int64_t> aggregates;  // the reduced words of the last step

  /// The aggregates in the vertex's type; without a step, the reduction of no contributions.
  template <typename A>
  A aggregatesAs() const {
    A all{};
    if (aggregates.size() == gossamer::aggregates::count<A>) gossamer::aggregates::load(all, aggregates.data());
    return all;
  }
  template <typename A>
  void keepAggregates(const A& all) {
    aggregates.resize(gossamer::aggregates::count<A>);
    gossamer::aggregates::save(all, aggregates.data());
  }
};

/// The host's end of a run, type-erased: messages out of and into the graph.
///
/// The host takes part in termination: a run is idle only while the host
/// waits for a message, or has closed its end.
class HostEnd {
 public:
  virtual ~HostEnd() = default;
  /// Receives a message from a vertex. Called by one thread at a time.
  virtual void fromVertex(const void* message) = 0;
  /// The next message for a vertex; false if none is queued.
  virtual bool toVertex(uint32_t& vertex, void* message) = 0;
  /// Blocks until a message for a vertex is queued (true) or the host is idle
  /// (false).
  virtual bool waitIdle() = 0;
};

/// A run that continues from the states of an earlier run, on a graph that has changed since. Lists ascend, contain
/// each vertex once and no removed vertex; no vertex is on both lists.
struct Resumption {
  std::vector<uint32_t> fresh;    // new vertices, which start with `init`
  std::vector<uint32_t> changed;  // vertices whose edges have changed or that a change woke; `changed` runs on them
};

/// Everything that one run of vertex type V needs.
template <typename V>
struct Problem {
  using S = typename V::State;
  using P = typename V::Params;

  Network network;
  P params{};
  typename V::Edge unit{};                 // the value of every edge when the network has none
  HostEnd* host = nullptr;                 // null: messages to the host are only counted
  const Resumption* resumption = nullptr;  // null: every vertex starts with `init`
};

/// Rejects a send on a pin that the graph does not have.
[[noreturn]] inline void rejectPin(uint32_t vertex, unsigned pin, unsigned pins) {
  if (Pin(pin) == OneEdge) {
    throw ProgramError("the vertex of index " + std::to_string(vertex) +
                       " sends along one edge, but has no member edges to name it");
  }
  throw ProgramError("the vertex of index " + std::to_string(vertex) + " sends on pin " + std::to_string(pin) +
                     ", but the graph has " + std::to_string(pins) + (pins == 1 ? " pin" : " pins"));
}

/// An engine runs vertices. Its subclasses differ in where and how they run
/// them, never in what they guarantee to the handlers.
template <typename V>
class Engine {
 public:
  using S = typename V::State;

  virtual ~Engine() = default;
  virtual const char* name() const = 0;

  /// Runs the problem to its end. `state` holds the initial states, one per
  /// vertex, and receives the final ones. Throws std::bad_alloc.
  virtual Statistics run(Problem<V>& problem, Array<S>& state, const RunOptions& options) = 0;
};

}  // namespace gossamer
