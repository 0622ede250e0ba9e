// SPDX-License-Identifier: Apache-2.0
/// The C interface of the timing model (src/model/engine.cc).
///
/// A run has the memory images that the mapper made, the handlers of the vertex, the costs of each event, and the
/// latencies and rates of the hardware. Times are cycles of the boards' clock.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gossamer/model/handlers.h"

extern "C" {

/// Events with costs. gossamer.model.costs has the same names in this order.
enum gs_model_event {
  GS_MODEL_START,  // of a thread, until the first `init`
  GS_MODEL_INIT,   // of a vertex
  GS_MODEL_SEND,
  GS_MODEL_OWN_LIST,  // a send to vertices of the thread itself
  GS_MODEL_OWN_EDGE,
  GS_MODEL_ENTRY,  // a message to a tile or a thread
  GS_MODEL_RECEIVE,
  GS_MODEL_EDGE,
  GS_MODEL_PUSH,    // a vertex enters the queue
  GS_MODEL_CHANGE,  // `recv` changes a state
  GS_MODEL_IDLE,
  GS_MODEL_WAIT,
  GS_MODEL_STEPS,  // a step of a thread
  GS_MODEL_STEP,   // of a vertex
  GS_MODEL_STEP_PUSH,
  GS_MODEL_STEP_CHANGE,
  GS_MODEL_ENDS,    // the end of a thread
  GS_MODEL_FINISH,  // of a vertex
  GS_MODEL_HOST,    // a message to the host
  GS_MODEL_EVENTS
};

/// Costs of an event: numbers of instructions and requests.
struct gs_model_cost {
  double issues;  // all instructions
  double loads, stores, slots, mailbox, control, fpu_long, fpu_short, fpu_divide, divides;
  double other;  // of loads and stores, those outside of the tables
  double state_loads, state_stores, flag_loads, flag_stores, queue_loads, queue_stores, out_loads, list_loads;
};

/// The lines outside of the graph's tables that an event touches, in this order; after all events those that a thread
/// touches after the last vertex of init, a step and the end.
enum {
  GS_MODEL_AFTER_INIT = GS_MODEL_EVENTS,
  GS_MODEL_AFTER_STEP,
  GS_MODEL_AFTER_FINISH,
  GS_MODEL_LINES_OF,
  GS_MODEL_LINES = 16
};
struct gs_model_lines {
  uint32_t count;
  uint32_t line[GS_MODEL_LINES];  // as in gs_model_line_use (probe.h)
  uint32_t store[GS_MODEL_LINES];
};

/// Latencies in cycles, from an instruction's issue to the thread's next, for one thread alone; rates per cycle.
struct gs_model_timing {
  double issue;  // between instructions of a thread
  double load, store, slot, mailbox, control, fpu_long, fpu_short, fpu_divide, divide;
  double dram_miss, sram_miss;         // more than a hit
  double write_back, sram_write_back;  // of a dirty line, more
  double dram_line, sram_line;         // between lines that a memory transfers
  double dram_dirty;                   // of a line that is written back to the DRAM: so many times dram_line
  double port_line;                    // of a line at a memory's port
  double cache_request;                // between requests of a cache
  double fpu_request;
  double core_issue;                   // between instructions of a core
  double local_message, mesh_message;  // from the send to the receiver's queue, without hops
  double hop;                          // of the mesh
  double flit;                         // between flits of a tile
  double send_busy;                    // from a send until the thread may send again
  double barrier;                      // from the last wait to the first release
  double release;                      // between threads of a tile
  double words;                        // more, for a barrier with words
  double link, link_flit, link_frame;  // latency of a link between boards; on the wire per flit, per packet
  double link_store;                   // of the latency, more for each flit: a packet is stored until it is complete
  double control_link, word_link;      // latency of a link for packets of barriers; more, if they have words
  double again;                        // of another wave of a barrier of several boards, besides its packets
  double board_entry;                  // from the last link's switch to the receiver's queue, without hops
  double key_early;                    // of the latency, less for a copy that a multicast router makes
  double record_read;                  // of a beat of records from the DRAM
  double begin;                        // from the start of a run to the first thread, between tiles, threads of a tile
  double begin_tile, begin_thread;
  double end_thread;  // between reports of the ends of a board's threads
  double end;         // from the last thread's end to the end of the run
};

struct gs_model_memory {
  uint32_t dram_at, sram_at;  // addresses of the first bytes
  uint8_t* dram;
  uint8_t* sram;
  uint64_t dram_bytes, sram_bytes;
};

enum { GS_MODEL_KEY_BEATS = 5 };  // bits of a routing key that have the number of its beats
enum { GS_MODEL_RECORD_THREAD, GS_MODEL_RECORD_TILE, GS_MODEL_RECORD_ROUTER, GS_MODEL_RECORD_INDIRECT };

/// A record of a multicast router.
struct gs_model_record {
  uint64_t mask;  // threads of the tile
  uint32_t kind;
  uint32_t tile;     // of the board; of a record to a router: its link
  uint32_t channel;  // virtual channel on the link
  uint32_t key;      // of the edges; of a record to a router, and of an indirection: the routing key there
};

/// Counters of a board's multicast routers.
struct gs_model_router_counters {
  uint64_t messages, copies, lookups, hits;  // messages with keys, their copies; beats of records, those in caches
};

struct gs_model_machine {
  uint32_t boards, tiles, width, memories;  // tiles and memories of a board, columns of its mesh
  uint32_t threads, cores;                  // of a tile
  uint32_t cores_per_cache, cores_per_fpu, ways, sets, line_bytes;
  uint32_t flit_bytes;
  uint32_t queue_depth;   // messages that can be queued for a thread
  uint32_t buffer_flits;  // of an input of a mesh router
  uint32_t inflight;      // fills of a cache
  uint32_t slots;         // of a tile for arriving messages
  // Layout of tables
  uint32_t flag_bytes, offset_bytes, edge_bytes, value_at, list_bytes, unit, pins, multicast;
  uint32_t barriers;                                // of each step
  uint32_t thread_bits, x_bits, y_bits, host_kind;  // of addresses
  const uint32_t* board_of;                         // by the number in addresses
  uint32_t numbers;
  const uint32_t* next_board;   // [board][destination]
  const uint32_t* next_link;    // [board][destination]
  uint32_t links;               // of a board
  const uint32_t* depth;        // of each board in the tree
  const uint32_t* start_links;  // of each board: links from the host's board
  // Multicast routers; no records: messages have no routing keys
  const struct gs_model_record* records;  // of all boards
  const uint32_t* beats;                  // the first record of each beat of all boards; one more for the end
  const uint32_t* board_beats;            // of each board, its first beat in that array
  uint32_t first_beat;                    // number of a board's first beat in keys
  const uint32_t* next_vc;                // [board][destination]
  const uint32_t* far_board;              // [board][link]
  const uint32_t* far_link;               // [board][link]
  uint32_t vcs;                           // of a link
  uint32_t exits;                         // of a board's mesh
};

/// Counters of a tile, as the hardware names them (debug_counter).
struct gs_model_counters {
  double instructions, idle, hits, misses, writebacks, sent, received, flits_out, flits_in, fpu;
};

struct gs_model_outcome {
  double cycles;
  uint64_t steps;
  uint64_t status;        // 0 done, 1 stopped, 2 too many cycles
  double barrier_cycles;  // from the last thread's wait to the release, in all steps
  double retired;
};

struct gs_model_run {
  const struct gs_model_machine* machine;
  const struct gs_model_handlers* handlers;
  const struct gs_model_cost* costs;
  const struct gs_model_timing* timing;
  const uint32_t* ranges;              // of the bytes of a state that handlers access (probe.h)
  const struct gs_model_lines* lines;  // [GS_MODEL_LINES_OF]
  uint32_t blocks;                     // address of the addresses of all headers
  const struct gs_model_memory* memory;
  const uint32_t* headers;    // address of each thread's header
  const uint32_t* memory_of;  // of each thread
  const uint8_t* params;
  uint32_t params_bytes;
  double max_cycles;  // 0: no limit
  uint32_t workers;
  int* stop;                           // another thread sets it to end the run
  uint64_t* progress;                  // cycles
  struct gs_model_counters* counters;  // of each tile
  uint64_t* link_flits;                // of each board and link
  uint64_t* link_packets;
  struct gs_model_router_counters* routers;            // of each board
  void (*listen)(void* context, const void* message);  // or NULL
  void* context;
  struct gs_model_outcome* outcome;
};

/// Runs all threads to their end. Returns 0; the outcome has the status. If a handler aborts: GS_DIED, and the error's
/// vertex is its position in the mapper's order.
int gs_model_simulate(const struct gs_model_run* run);
}
