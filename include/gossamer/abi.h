// SPDX-License-Identifier: Apache-2.0
/// The C interface between a compiled application, the library and whoever
/// loads them (the command, Python through ctypes, a C++ program).
///
/// Plain C, no ownership passes through it except where a function says so.
/// All arrays are in index order: vertex i of the graph is element i.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Changes whenever a struct or a signature below does.
#define GS_ABI_VERSION 7

/// Element types of edge weights, parameters and result columns.
enum gs_type {
  GS_NONE = 0,
  GS_I32 = 1,
  GS_U32 = 2,
  GS_I64 = 3,
  GS_U64 = 4,
  GS_F32 = 5,
  GS_F64 = 6,
};

/// Compressed sparse rows: the neighbours of vertex v are
/// targets[offsets[v]] .. targets[offsets[v + 1] - 1], ascending.
/// weights is NULL or holds one element per target, in the same order.
struct gs_csr {
  const uint64_t* offsets;  // vertices + 1 elements
  const uint32_t* targets;  // edges elements
  const void* weights;      // edges elements of gs_graph.weight_type, or NULL
};

/// The graph is its own transpose: `in` may alias `out`.
#define GS_GRAPH_SYMMETRIC 1u

/// A graph in memory. Either direction may be absent (offsets == NULL).
struct gs_graph {
  uint64_t vertices;
  uint64_t edges;
  struct gs_csr out;    // edges by source
  struct gs_csr in;     // edges by destination
  int32_t weight_type;  // enum gs_type
  uint32_t flags;       // GS_GRAPH_*
  double weight_low;    // the least and the greatest weight; 1 and 1 without weights
  double weight_high;
};

/// One parameter of an application, by name. Which of the values counts is
/// the parameter's kind, as gs_app_describe() tells.
struct gs_parameter {
  const char* name;
  double real;
  int64_t integer;  // also a vertex's index, 0 or 1 for a flag, and the bits of an unsigned number
};

/// How to run an application.
struct gs_run_options {
  const char* engine;  // "cpu", "shuffle"
  uint32_t threads;    // 0: every CPU
  uint64_t seed;       // of the shuffle engine
  int* stop;           // set to 1 by another thread: the run ends early
  uint64_t* progress;  // NULL, or two numbers kept up to date: steps, rounds of messages
  /// Fills in a missing direction of the graph: in (want_in) or out. May be
  /// NULL; may be called once for each, on the calling thread.
  void (*complete)(void* context, struct gs_graph* graph, int want_in);
  void* context;
  const struct gs_parameter* parameters;
  size_t parameter_count;
};

/// How a run went; the same for every engine.
struct gs_statistics {
  const char* engine;
  const float* step_seconds;  // the time up to each step, step_count of them
  uint64_t step_count;
  uint64_t vertices;
  uint64_t edges;
  uint64_t sends;          // calls of `send`
  uint64_t deliveries;     // calls of `recv`
  uint64_t steps;          // times that everything was still
  uint64_t step_calls;     // calls of `step`
  uint64_t host_messages;  // to the host
  uint64_t pull_rounds;    // how messages were carried, by round
  uint64_t push_rounds;
  uint64_t small_rounds;
  uint64_t vertex_looks;  // work of all threads together: vertices (or words of 64) and edges looked at
  uint64_t edge_looks;
  double seconds;  // init to finish
  uint32_t threads;
  int32_t stopped;            // 1: ended early because it was told to
  const int64_t* aggregates;  // the words that the last step has come to, aggregate_count of them
  uint64_t aggregate_count;
};

/// What the columns of a result are worth, as the application judges.
enum gs_verdict {
  GS_ANSWER = 0,         // they are the answer
  GS_NOT_CONVERGED = 1,  // the run ended at a limit before the values had settled
  GS_OVERFLOW = 2,       // a value did not fit its type
};

/// The vertex of a verdict that names none.
#define GS_NO_VERTEX UINT64_MAX

/// What a compiled application exports. `gs_app_run` returns 0 and a result to
/// be freed, or a negative code with gs_last_error() set. `gs_app_describe` gives
/// JSON (name, summary, parameters, columns, sizes), or NULL with gs_last_error() set.
/// Pointers that are given out live as long as the result.
struct gs_result;
int gs_app_abi_version(void);  // GS_ABI_VERSION when it was compiled; asked before anything else
const char* gs_app_describe(void);
int gs_app_run(const struct gs_graph* graph, const struct gs_run_options* options, struct gs_result** result);
void gs_app_statistics(const struct gs_result* result, struct gs_statistics* statistics);
/// enum gs_verdict; where it is no answer, with a sentence why and the index of a vertex or GS_NO_VERTEX.
int gs_app_verdict(const struct gs_result* result, const char** why, uint64_t* vertex);
int gs_app_column(struct gs_result* result, size_t index, void* values);  // one element a vertex
int gs_app_total(struct gs_result* result, size_t index, void* value);    // one element, of the last step
void gs_app_free(struct gs_result* result);

/// The edges that messages on a pin travel along, by sender.
struct gs_relation {
  uint32_t pin;
  const uint64_t* offsets;  // vertices + 1 elements: where each row begins, and the extent of `targets`
  const uint64_t* ends;     // where each row ends
  const uint32_t* targets;  // ascending within a row
  const void* values;       // edge_bytes for each target, or NULL: `unit` of the problem stands for each
};

/// An application on a graph, ready for an engine that runs elsewhere. Everything belongs to the result that it came
/// with; `states` are the initial states, and in the end the engine writes the final ones there.
struct gs_problem {
  uint64_t vertices;
  void* states;        // state_bytes for each vertex
  const void* params;  // the run's parameters
  const void* unit;    // an edge's value where the graph has none
  const struct gs_relation* relations;
  uint64_t state_bytes;  // sizes of the C++ types; 1 where the type is empty
  uint64_t params_bytes;
  uint64_t edge_bytes;
  uint64_t message_bytes;
  uint32_t relation_count;
  uint32_t listens;           // 1: messages to the host are for gs_app_hear
  const uint8_t* aggregates;  // how each word of the aggregates is reduced: enum gossamer::Reduce
  uint64_t aggregate_count;
};

/// Prepares an application as gs_app_run does, and runs nothing. The graph and `complete` of the options are needed
/// until the result is freed.
int gs_app_open(const struct gs_graph* graph, const struct gs_run_options* options, struct gs_result** result,
                struct gs_problem* problem);
/// Gives the application a message that a vertex sent to the host; message_bytes.
int gs_app_hear(struct gs_result* result, const void* message);
/// Tells the application how the engine's run went, when the final states are there; gs_app_verdict judges them then.
int gs_app_ended(struct gs_result* result, const struct gs_statistics* statistics);

/// What gs_app_change does to a graph, or to the vertices of a run.
enum gs_change_kind {
  GS_ADD_EDGES = 1,
  GS_REMOVE_EDGES = 2,  // all from one vertex to the other
  GS_ADD_VERTICES = 3,
  GS_REMOVE_VERTICES = 4,  // with their edges; indices stay as they are
  GS_WAKE = 5,             // tells vertices as if their edges had changed
  GS_RESET = 6,            // lets them begin again, and tells those that have an edge to them
  GS_RESTART = 7,          // the next run begins on all vertices
};

/// A change between two runs. In a symmetric graph edges are added and removed both ways.
struct gs_change {
  int32_t kind;          // enum gs_change_kind
  int32_t weight_type;   // enum gs_type
  uint64_t count;        // of edges or vertices
  const uint32_t* from;  // sources, or vertices; NULL where vertices are added
  const uint32_t* to;    // targets, or NULL
  const void* weights;   // one an edge, where the graph has weights
};

/// Prepares an application as gs_app_run does, on a copy of the graph's edges that may change. The graph is needed
/// until the call returns.
int gs_app_start(const struct gs_graph* graph, const struct gs_run_options* options, struct gs_result** result);
/// Changes the graph of such a run: all of it, or nothing where it is refused.
int gs_app_change(struct gs_result* result, const struct gs_change* change);
/// Runs it to its end. Behind the first run it goes on from the states that stand. The result is asked as that of
/// gs_app_run. Only engine, threads, seed, stop and progress of the options count.
int gs_app_go(struct gs_result* result, const struct gs_run_options* options);

/// The next part of such a run, for an engine that runs elsewhere. Everything belongs to the result, until the next
/// change. Lists ascend; none names a vertex that is gone, and no vertex is on both.
struct gs_part {
  struct gs_problem problem;  // its vertices are all that there are places for
  const uint32_t* fresh;      // they begin with `init`; the descriptor's has made their states
  const uint32_t* changed;    // their edges have changed, or somebody woke them
  const uint64_t* gone;       // a bit a vertex, or NULL: none is gone
  uint64_t fresh_count;
  uint64_t changed_count;
  uint64_t there;  // vertices that are not gone
  uint32_t whole;  // 1: all begin, and `fresh` and `changed` are empty
};

/// Prepares a part in place of gs_app_go; gs_app_ended tells the application how it went. Where that is never called,
/// there are no states to go on from.
int gs_app_part(struct gs_result* result, struct gs_part* part);

/// The message of this thread's last failed call; valid until its next one.
const char* gs_last_error(void);
/// Where that call returned GS_DIED (-3), a run that died: the index of the vertex that it died at, or GS_NO_VERTEX,
/// and the places in code, OBJECT+0x12ab one a line, the innermost first.
const char* gs_last_death(uint64_t* vertex);
/// Ends handlers that do not return, on all threads: their runs die. For what `stop` of the options does not end.
void gs_interrupt(void);
/// The version of this interface that the library was built with.
int gs_abi_version(void);

#ifdef __cplusplus
}
#endif
