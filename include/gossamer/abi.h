// SPDX-License-Identifier: Apache-2.0
/// The C interface between a compiled application, the library and the program
/// that loads them (the command, Python through ctypes, a C++ program).
///
/// Plain C. Functions transfer no ownership unless their comment says so.
/// All arrays are in index order: vertex i of the graph is element i.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Incremented whenever a struct or a signature below changes.
#define GS_ABI_VERSION 8

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

/// One parameter of an application, by name. The parameter's kind, as listed by
/// gs_app_describe(), determines which of the two values applies; of `shares`, both do: the weight of a vertex.
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
  int* stop;           // another thread sets it to 1 to end the run early
  uint64_t* progress;  // NULL, or two counters that the run updates: steps, rounds of messages
  /// Fills in a missing direction of the graph: in (want_in) or out. May be
  /// NULL; may be called once for each, on the calling thread.
  void (*complete)(void* context, struct gs_graph* graph, int want_in);
  void* context;
  const struct gs_parameter* parameters;
  size_t parameter_count;
  struct gs_timeline* timeline;  // NULL, or what the run records over time
};

/// Statistics of a run; the same for every engine.
struct gs_statistics {
  const char* engine;
  const float* step_seconds;  // elapsed time at each step, step_count elements
  uint64_t step_count;
  uint64_t vertices;
  uint64_t edges;
  uint64_t sends;          // calls of `send`
  uint64_t deliveries;     // calls of `recv`
  uint64_t steps;          // times that the network was idle
  uint64_t step_calls;     // calls of `step`
  uint64_t host_messages;  // messages to the host
  uint64_t pull_rounds;    // rounds, by how messages were carried
  uint64_t push_rounds;
  uint64_t small_rounds;
  uint64_t vertex_looks;  // work of all threads: vertices (or words of 64 vertices) and edges read
  uint64_t edge_looks;
  double seconds;  // init to finish
  uint32_t threads;
  int32_t stopped;            // 1: ended early through `stop`
  const int64_t* aggregates;  // the reduced words of the last step, aggregate_count elements
  uint64_t aggregate_count;
};

/// The application's judgement of its result columns.
enum gs_verdict {
  GS_ANSWER = 0,         // the columns are the answer
  GS_NOT_CONVERGED = 1,  // the run ended at a limit before the values had settled
  GS_OVERFLOW = 2,       // a value did not fit its type
};

/// The vertex of a verdict that concerns no vertex.
#define GS_NO_VERTEX UINT64_MAX

/// What a compiled application exports. `gs_app_run` returns 0 and a result that
/// the caller frees, or a negative code with gs_last_error() set. `gs_app_describe`
/// returns JSON (name, summary, parameters, columns, sizes), or NULL with
/// gs_last_error() set. Returned pointers are valid until the result is freed.
struct gs_result;
int gs_app_abi_version(void);  // GS_ABI_VERSION at compile time; call it before any other function
const char* gs_app_describe(void);
int gs_app_run(const struct gs_graph* graph, const struct gs_run_options* options, struct gs_result** result);
void gs_app_statistics(const struct gs_result* result, struct gs_statistics* statistics);
/// enum gs_verdict. If the columns are no answer, also a sentence with the reason, and a vertex index or GS_NO_VERTEX.
int gs_app_verdict(const struct gs_result* result, const char** why, uint64_t* vertex);
int gs_app_column(struct gs_result* result, size_t index, void* values);  // one element per vertex
int gs_app_total(struct gs_result* result, size_t index, void* value);    // one element, of the last step
void gs_app_free(struct gs_result* result);

/// The edges that messages on a pin travel along, by sender.
struct gs_relation {
  uint32_t pin;
  const uint64_t* offsets;  // vertices + 1 elements: where each row begins, and the extent of `targets`
  const uint64_t* ends;     // where each row ends
  const uint32_t* targets;  // ascending within a row
  const void* values;       // edge_bytes for each target, or NULL: every edge has the problem's value `unit`
};

/// An application on a graph, prepared for an engine that runs elsewhere. The result owns everything here. `states`
/// are the initial states; at the end the engine stores the final states there.
struct gs_problem {
  uint64_t vertices;
  void* states;        // state_bytes for each vertex
  const void* params;  // the run's parameters
  const void* unit;    // the value of every edge where the graph has none
  const struct gs_relation* relations;
  uint64_t state_bytes;  // sizes of the C++ types; 1 where the type is empty
  uint64_t params_bytes;
  uint64_t edge_bytes;
  uint64_t message_bytes;
  uint32_t relation_count;
  uint32_t listens;           // 1: the engine passes messages to the host to gs_app_receive
  const uint8_t* aggregates;  // the reduction of each aggregate word: enum gossamer::Reduce
  uint64_t aggregate_count;
};

/// Prepares an application as gs_app_run does, without running it. The graph and the options' `complete` must remain
/// valid until the result is freed.
int gs_app_open(const struct gs_graph* graph, const struct gs_run_options* options, struct gs_result** result,
                struct gs_problem* problem);
/// Passes the application a message that a vertex sent to the host; message_bytes.
int gs_app_receive(struct gs_result* result, const void* message);
/// Reports the statistics of the engine's run once the final states are stored; gs_app_verdict then judges them.
int gs_app_ended(struct gs_result* result, const struct gs_statistics* statistics);

/// What gs_app_change does to a graph, or to the vertices of a run.
enum gs_change_kind {
  GS_ADD_EDGES = 1,
  GS_REMOVE_EDGES = 2,  // all edges from one vertex to the other
  GS_ADD_VERTICES = 3,
  GS_REMOVE_VERTICES = 4,  // with their edges; the indices of other vertices do not change
  GS_WAKE = 5,             // notifies vertices as if their edges had changed
  GS_RESET = 6,            // vertices start again with `init`; notifies the sources of their in-edges
  GS_RESTART = 7,          // the next run starts all vertices with `init`
};

/// A change between two runs. In a symmetric graph edges are added and removed in both directions.
struct gs_change {
  int32_t kind;          // enum gs_change_kind
  int32_t weight_type;   // enum gs_type
  uint64_t count;        // of edges or vertices
  const uint32_t* from;  // sources, or vertices; NULL where vertices are added
  const uint32_t* to;    // targets, or NULL
  const void* weights;   // one per edge, where the graph has weights
};

/// Prepares an application as gs_app_run does, on a copy of the graph's edges that may change. The graph must remain
/// valid until the call returns.
int gs_app_start(const struct gs_graph* graph, const struct gs_run_options* options, struct gs_result** result);
/// Changes the graph of such a run. On failure nothing has changed.
int gs_app_change(struct gs_result* result, const struct gs_change* change);
/// Runs it to its end. Every run after the first continues from the stored states. The result is read like that of
/// gs_app_run. Of the options, only engine, threads, seed, stop and progress are used.
int gs_app_go(struct gs_result* result, const struct gs_run_options* options);

/// The next part of such a run, for an engine that runs elsewhere. The result owns everything here, until the next
/// change. Lists ascend; they contain no removed vertex, and no vertex is on both lists.
struct gs_part {
  struct gs_problem problem;  // its vertices are all slots for vertices, removed ones included
  const uint32_t* fresh;      // they start with `init`; the descriptor's init has set their states
  const uint32_t* changed;    // their edges have changed, or a change woke them
  const uint64_t* gone;       // one bit per removed vertex, or NULL: none is removed
  uint64_t fresh_count;
  uint64_t changed_count;
  uint64_t there;  // vertices that are not removed
  uint32_t whole;  // 1: all vertices start with `init`, and `fresh` and `changed` are empty
};

/// Prepares a part for another engine, instead of gs_app_go. gs_app_ended reports its end to the application; without
/// that call there are no states to continue from.
int gs_app_part(struct gs_result* result, struct gs_part* part);

/// What a run does over time (gossamer/core/timeline.h).
enum gs_timeline_kind {
  GS_TIMELINE_WORK = 0,          // a thread executes its part of a task
  GS_TIMELINE_WAIT_THREADS = 1,  // the first thread waits for other threads
  GS_TIMELINE_WAIT_RANKS = 2,    // or for other ranks
  GS_TIMELINE_STEP = 3,          // from the end of the step before
  GS_TIMELINE_ROUND = 4,         // of messages
  GS_TIMELINE_SEND = 5,          // a buffer for another rank has left
  GS_TIMELINE_RECEIVE = 6,       // and has arrived
};

/// One of them, or adjacent short ones of one kind.
struct gs_timeline_item {
  uint64_t begin;  // nanoseconds of the machine's monotonic clock
  uint64_t end;
  uint64_t busy;    // nanoseconds: the sum of the parts' lengths
  uint64_t amount;  // messages of a round, bytes of a buffer
  uint64_t number;  // of the first part: step, round, or buffer to or from this peer, from 0
  uint32_t kind;    // enum gs_timeline_kind
  uint32_t track;   // the thread
  uint32_t peer;    // the other rank, or UINT32_MAX
  uint32_t count;   // parts
};

/// The items of one rank, for gs_timeline_write.
struct gs_timeline_rank {
  const struct gs_timeline_item* items;
  uint64_t count;
  uint64_t begin;  // of the run
  uint64_t end;
  uint32_t threads;
  uint32_t reserved;
};

struct gs_timeline;
struct gs_timeline* gs_timeline_new(void);  // NULL with gs_last_error() set
void gs_timeline_free(struct gs_timeline* timeline);
/// The items of a run that has ended, and its begin and end. They are valid until the next run, or gs_timeline_free.
uint64_t gs_timeline_items(struct gs_timeline* timeline, const struct gs_timeline_item** items, uint64_t* begin,
                           uint64_t* end);
/// Writes a trace in Perfetto's format, with a process of that name for each rank. 0, or a negative code with
/// gs_last_error() set.
int gs_timeline_write(const char* path, const char* name, const struct gs_timeline_rank* ranks, uint64_t count);

/// The error message of this thread's last failed call; valid until its next one.
const char* gs_last_error(void);
/// If that call returned GS_DIED (-3), an aborted run: the index of the vertex whose handler failed, or GS_NO_VERTEX,
/// and the code addresses, OBJECT+0x12ab, one per line, the innermost first.
const char* gs_last_death(uint64_t* vertex);
/// Ends handlers that do not return, on all threads, and so aborts their runs. For code that ignores the options'
/// `stop`.
void gs_interrupt(void);
/// The GS_ABI_VERSION that the library was built with.
int gs_abi_version(void);

#ifdef __cplusplus
}
#endif
