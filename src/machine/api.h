// SPDX-License-Identifier: Apache-2.0
/// The C interface of the machine library, for Python and other languages. Units and errors are those of machine.h. A
/// call returns 0 or more, or a negative number (gs_machine_failure), whose reason gs_machine_error has.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

struct gs_machine;

enum gs_machine_failure {
  gs_machine_input = -1,         ///< the request is wrong
  gs_machine_died = -2,          ///< boards or their simulator report a failure
  gs_machine_disconnected = -3,  ///< the process at the other end has ended
  gs_machine_interrupted = -4    ///< by a signal, for which `interrupted` returned other than 0
};

/// Called while a call blocks: an interpreter releases its lock in `release`, whose result `acquire` gets.
struct gs_machine_hooks {
  void* (*release)(void);
  void (*acquire)(void* state);
  int (*interrupted)(void);
};

/// Kinds of records beyond those of sim/host/records.h.
enum gs_machine_kind {
  gs_machine_reply = 32,  ///< of a loader: thread: length, what: operation, unit: tag, flags: rejection, value: address
  gs_machine_message = 33,  ///< to a host: thread: host, what: job, unit: epoch
  gs_machine_event = 34,    ///< of a board: thread: board, what: board_event, unit, value
  gs_machine_fault = 35     ///< of an accelerator: thread: its address, what: cause, value: address of the access
};

/// What a board has sent. `data` is valid until the next call.
struct gs_machine_record {
  uint32_t kind, flags, thread, what, unit, bytes;
  uint64_t cycle, value;
  const uint8_t* data;
};

/// Why the last call of this thread has failed.
const char* gs_machine_error(void);
/// A machine whose server reads requests from `to` and writes records to `from`, with the text of a plan. Null on
/// failure.
gs_machine* gs_machine_new(int to, int from, const char* plan, const gs_machine_hooks* hooks);
void gs_machine_free(gs_machine* machine);
/// Opens sessions with boards that have Ethernet shells.
int gs_machine_open(gs_machine* machine, const char* facts);
/// Configures all boards and checks that they are those of the plan.
int gs_machine_configure(gs_machine* machine);
/// Sends all queued requests.
int gs_machine_send_queued(gs_machine* machine);
/// From now on keeps a copy of all requests; gs_machine_requests returns it and its size.
void gs_machine_keep_requests(gs_machine* machine);
const uint8_t* gs_machine_requests(gs_machine* machine, size_t* bytes);

/// Sends flits, and waits for replies of loaders; returns the number of results.
int gs_machine_exchange(gs_machine* machine, const uint8_t* flits, size_t bytes, uint32_t replies);
/// Sends commands to a tile (~0: each), and waits for replies of each; returns the number of results.
int gs_machine_ask(gs_machine* machine, uint32_t tile, const uint8_t* commands, size_t bytes, uint32_t replies);
/// The results of the last such call.
const gs_machine_record* gs_machine_results(gs_machine* machine);

/// `keys`: board, unit and counter of each of `count` counters.
int gs_machine_counters(gs_machine* machine, const uint32_t* keys, size_t count, uint64_t* values);
/// A register of a board's block (register_block), accessed by packets of a job (31: none).
int gs_machine_read_register(gs_machine* machine, uint32_t board, uint32_t job, uint32_t block, uint32_t unit,
                             uint32_t number, uint64_t* value);
int gs_machine_write_register(gs_machine* machine, uint32_t board, uint32_t job, uint32_t block, uint32_t unit,
                              uint32_t number, uint64_t value);
/// Many writes, those to a board in order: board, job, address (register_address) and value of each.
int gs_machine_write_registers(gs_machine* machine, const uint64_t* writes, size_t count);
/// The counters of each tile (debug_counter).
int gs_machine_tile_counters(gs_machine* machine, uint64_t* values);
/// 1 if no packet is in flight, else 0.
int gs_machine_drained(gs_machine* machine);
/// Loads the routing tables of another plan.
int gs_machine_update(gs_machine* machine, const char* plan);
/// Invalidates the record caches of all boards.
int gs_machine_flush_records(gs_machine* machine);

int gs_machine_write(gs_machine* machine, uint32_t tile, uint32_t address, const uint8_t* data, size_t bytes);
int gs_machine_write_all(gs_machine* machine, uint32_t job, uint32_t address, const uint8_t* data, size_t bytes);
int gs_machine_fill_all(gs_machine* machine, uint32_t job, uint32_t address, uint64_t bytes);
int gs_machine_read(gs_machine* machine, uint32_t tile, uint32_t address, uint8_t* data, size_t bytes);
int gs_machine_write_code(gs_machine* machine, uint32_t job, const uint8_t* code, size_t bytes);

/// Writes back all caches. Returns the number of threads that run, and writes at most `most` of them.
int gs_machine_flush(gs_machine* machine, uint32_t* threads, size_t most);
int gs_machine_halt(gs_machine* machine);
int gs_machine_resume(gs_machine* machine);
/// x1 to x31.
int gs_machine_registers(gs_machine* machine, uint32_t thread, uint32_t* values);

int gs_machine_add_input(gs_machine* machine, uint32_t thread, const uint8_t* bytes, size_t count);
int gs_machine_symbols(gs_machine* machine, const uint8_t* bytes, size_t count);
/// Drops what boards have sent before, and starts threads on each board.
int gs_machine_run(gs_machine* machine, const uint32_t* threads, size_t boards, uint64_t most, uint64_t watchdog);
int gs_machine_pause(gs_machine* machine, uint64_t cycle);
int gs_machine_continue(gs_machine* machine);
int gs_machine_stop(gs_machine* machine);
/// Requests the statistics of the last run: gs_machine_next then returns Watch and Note, and Done at the end.
int gs_machine_watch(gs_machine* machine);
/// Waits for the next record of a run.
int gs_machine_next(gs_machine* machine, gs_machine_record* record);
/// Decodes the packet of a record Packet; its kind is gs_machine_reply for all answers of loaders and control units.
int gs_machine_decode(const uint8_t* flits, size_t bytes, gs_machine_record* record);
}
