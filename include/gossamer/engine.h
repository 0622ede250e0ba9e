// SPDX-License-Identifier: Apache-2.0
/// What an engine is given, what it gives back, and the class that all are.
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
/// changes, rows stand in any order with room between them, so nothing may be taken for a row but one of those ranges.
struct Rows {
  const uint64_t* offsets = nullptr;  // vertices + 1; the last is the extent of `targets`
  const uint64_t* ends = nullptr;     // one a vertex
  const uint32_t* targets = nullptr;  // ascending within a row
  const void* values = nullptr;       // one edge value per target, or null: `unit` stands for each
  uint64_t holes = 0;                 // places of `targets` that are in no row

  Rows() = default;
  /// Rows one after the other, without room between them.
  Rows(const uint64_t* starts, const uint32_t* to, const void* with)
      : offsets(starts), ends(starts ? starts + 1 : nullptr), targets(to), values(with) {}
  explicit operator bool() const { return offsets && targets; }

  uint64_t length(size_t v) const { return ends[v] - offsets[v]; }
  uint64_t edges(size_t vertices) const { return offsets[vertices] - holes; }
  /// Whether row v + 1 begins where row v ends.
  bool dense() const { return ends == offsets + 1; }
};

/// All edges that messages on one pin travel along. A pin may have several:
/// the edges of a graph and the same edges backwards, for one.
struct Relation {
  unsigned pin = 0;
  Rows out;  // by sender; needed
  Rows in;   // by receiver; needed to pull
};

/// Vertices and their wiring, as an engine sees it.
struct Network {
  uint32_t vertices = 0;
  std::vector<Relation> relations;
  uint32_t removed = 0;            // of the vertices: they have no edges, and no handler of theirs runs
  const uint64_t* gone = nullptr;  // a bit for each of those, or null where there is none
  bool edgesHaveValues = false;

  bool isGone(size_t v) const { return gone && (gone[v >> 6] >> (v & 63) & 1); }
  /// Called once when an engine would rather pull and a relation has no `in`;
  /// may fill it. Called again for `out` targets when they were left out.
  std::function<void(Network&, bool wantIn)> complete;
};

struct RunOptions {
  unsigned threads = 0;                       // 0: every CPU
  Pool* pool = nullptr;                       // threads to use, if there are some already
  uint64_t seed = 0;                          // of the shuffle engine
  std::atomic<int>* stop = nullptr;           // set to 1 from outside: the run ends early
  std::atomic<uint64_t>* progress = nullptr;  // two: steps and rounds so far

  void note(uint64_t steps, uint64_t rounds) const {
    if (!progress) return;
    progress[0].store(steps, std::memory_order_relaxed);
    progress[1].store(rounds, std::memory_order_relaxed);
  }
};

/// How a run went; the same for every engine.
struct Statistics {
  std::string engine;
  unsigned threads = 1;
  uint64_t vertices = 0;
  uint64_t edges = 0;
  uint64_t sends = 0;         // calls of `send`
  uint64_t deliveries = 0;    // calls of `recv`
  uint64_t steps = 0;         // times that everything was still
  uint64_t stepCalls = 0;     // calls of `step`
  uint64_t hostMessages = 0;  // to the host
  uint64_t pullRounds = 0;    // how messages were carried, by round
  uint64_t pushRounds = 0;
  uint64_t smallRounds = 0;
  uint64_t vertexLooks = 0;         // times that a thread took up a vertex, or passed over a word of 64
  uint64_t edgeLooks = 0;           // times that a thread read an edge
  double seconds = 0;               // init to finish
  std::vector<float> stepSeconds;   // time up to each step; at most the first 100,000
  bool stopped = false;             // ended early because it was told to
  std::vector<int64_t> aggregates;  // the words that the last step has come to

  /// Those as the vertex has them; where there was no step, what nobody giving comes to.
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
/// The host takes part in termination: a run goes still only while the host
/// waits for a message, or has closed its end.
class HostEnd {
 public:
  virtual ~HostEnd() = default;
  /// A message from a vertex. Called by one thread at a time.
  virtual void fromVertex(const void* message) = 0;
  /// The next message for a vertex; false when there is none now.
  virtual bool toVertex(uint32_t& vertex, void* message) = 0;
  /// Blocks until there is a message for a vertex (true) or the host is idle
  /// (false).
  virtual bool waitIdle() = 0;
};

/// A run that goes on from the states that another has left, on a graph that has changed meanwhile. Lists ascend, name
/// each vertex once and none that is gone; no vertex is on both.
struct Resumption {
  std::vector<uint32_t> fresh;    // they begin: `init`
  std::vector<uint32_t> changed;  // their edges have changed, or somebody woke them: `changed`
};

/// Everything one run of vertex type V needs.
template <typename V>
struct Problem {
  using S = typename V::State;
  using P = typename V::Params;

  Network network;
  P params{};
  typename V::Edge unit{};                 // the value of every edge when the network has none
  HostEnd* host = nullptr;                 // null: nobody listens, messages to the host are only counted
  const Resumption* resumption = nullptr;  // null: every vertex begins
};

/// Refuses a send on a pin that the graph does not have.
[[noreturn]] inline void refusePin(uint32_t vertex, unsigned pin, unsigned pins) {
  if (Pin(pin) == OneEdge) {
    throw Refused("the vertex of index " + std::to_string(vertex) +
                  " sends along one edge, but has no member edges to name it");
  }
  throw Refused("the vertex of index " + std::to_string(vertex) + " sends on pin " + std::to_string(pin) +
                ", but the graph has " + std::to_string(pins) + (pins == 1 ? " pin" : " pins"));
}

/// An engine runs vertices. Its children differ in where and how, never in
/// what the handlers may count on.
template <typename V>
class Engine {
 public:
  using S = typename V::State;

  virtual ~Engine() = default;
  virtual const char* name() const = 0;

  /// Runs the problem to its end. `state` holds the initial states, one a
  /// vertex, and in the end the final ones. Throws std::bad_alloc.
  virtual Statistics run(Problem<V>& problem, Array<S>& state, const RunOptions& options) = 0;
};

}  // namespace gossamer
