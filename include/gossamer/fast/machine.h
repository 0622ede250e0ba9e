// SPDX-License-Identifier: Apache-2.0
/// The C interface of the engine `fast`: boards whose threads execute instruction by instruction (src/fast).
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

/// Latencies in cycles, from an instruction's issue to the thread's next, and what messages and misses take. The names
/// are those of `_model_machine.timing`. Times of the memories' and links' occupancy are in 1/256 cycles.
struct gs_fast_timing {
  uint32_t issue, load, store, slot, mailbox, control, fpu_long, fpu_short, fpu_divide, divide;
  uint32_t dram_miss, sram_miss, write_back, sram_write_back, dram_line, sram_line;
  uint32_t local_message, mesh_message, hop, send_busy, barrier, release, words;
  uint32_t link, link_flit;
  uint32_t begin, begin_thread, end;
  uint32_t to_router, router, from_router;   ///< a message by key: to its router, its first copy, a copy to its tile
  uint32_t text;                             ///< from a byte of text to the thread's next instruction
  uint32_t report;                           ///< in 1/256 cycles: between two reports of a tile
  uint32_t relay;                            ///< in 1/256 cycles: between two reports of a board
  uint32_t trap;                             ///< in 1/256 cycles: more, after the report of a trap
  uint32_t own_unit, tile_unit, board_unit;  ///< to a match engine: of the own tile, of another one, at the board
  uint32_t from_unit, unit_tile, from_board_unit;  ///< from it to a thread of its tile, of another one; from the board
  uint32_t dma_begin, dma_packet, dma_far, dma_mesh,
      dma_reply;   ///< of a DMA engine: to its first packet, between two, ...
  uint32_t ready;  ///< cycle after reset from which mailboxes serve requests
};

/// The shape of the machine. Sizes are in bytes.
struct gs_fast_config {
  uint32_t boards, tiles, width;    ///< tiles of a board, columns of its mesh
  uint32_t cores, core_threads;     ///< of a tile; of a core
  uint32_t cache_cores, fpu_cores;  ///< cores that share one
  uint32_t instr_cores;             ///< cores that share an instruction memory
  uint32_t instr_words;             ///< of an instruction memory
  uint32_t ways, sets, line;        ///< of a thread's partition of the cache
  uint32_t flit, max_flits, slot, slots, queue;
  uint32_t memories;                                ///< DRAMs of a board
  uint32_t half_bits, partition_bits, direct_bits;  ///< bits of addresses: half of a DRAM, threads, the window of DRAM
  uint64_t dram, sram;                              ///< of a DRAM, and of its SRAM
  const uint32_t* next_board;                       ///< [board, destination]
  const uint32_t* next_link;                        ///< [board, destination]
  uint32_t links;                                   ///< of a board
  const uint32_t* depth;                            ///< of each board in the tree of idle detection
  const uint32_t* neighbour;                        ///< [board, link]: the board at its other end; ~0: none
  uint32_t exits;                                   ///< columns of the mesh with an exit to the board's switch
  uint32_t match_in_tiles, match_on_board, dma;     ///< a match engine in each tile; engines at a board; DMA engines
  uint32_t match_ranks, match_cam, match_entries;   ///< of an engine: its threads, entries of its CAM, all entries
  uint32_t match_receives, match_eager, match_announced, match_window;
  const uint32_t* job_of;  ///< [board]: its job; null: all boards have job 0
  uint32_t jobs;
  struct gs_fast_timing timing;
};

enum gs_fast_state : int { GS_FAST_RUNS, GS_FAST_DONE, GS_FAST_DEADLOCK, GS_FAST_STUCK, GS_FAST_UNSUPPORTED };
enum gs_fast_record_kind : uint32_t {
  GS_FAST_BYTE,
  GS_FAST_EMIT,
  GS_FAST_STOPPED,
  GS_FAST_TRAP,
  GS_FAST_MESSAGE,
  GS_FAST_STARTED,
  GS_FAST_DELIVERY,
  GS_FAST_TILE_DROPPED,
  GS_FAST_MATCH_DROPPED
};

/// What a thread has reported. `thread` is its number in the machine.
struct gs_fast_record {
  uint32_t kind, thread;
  uint64_t cycle;
  uint32_t value;  ///< byte, word, exit code, cause of a trap, reason of a drop; of a message: its bytes, which follow
  uint32_t pc;     ///< of a trap; of a delivery: the sender; of a drop by a match engine: the rank
  uint32_t address;  ///< of a trap: its value; of a delivery: the message's number; of a drop: the message's job
  uint32_t count;    ///< of a drop: messages that the board has dropped so far
};

/// A thread that has not ended: the layout of sim/host/records.h.
struct gs_fast_unfinished {
  uint32_t thread;
  uint8_t doing, asked;
  uint16_t spare;
  uint32_t pc, address, data;
};

struct gs_fast_held {
  uint32_t place, what, index, channels;
};

/// An instruction that a thread has finished.
struct gs_fast_commit {
  uint8_t reg;     ///< the register that it wrote; 32 and above: floating-point; 255: none
  uint8_t stored;  ///< bytes that it stored
  uint16_t spare;
  uint32_t pc, word;
  uint32_t value;          ///< written to the register
  uint32_t address, data;  ///< of a load or store; of a store
};

/// Counters of a tile, with the names of `debug_counter`; `retired` is not among these.
struct gs_fast_counters {
  uint64_t instructions, hits, misses, writebacks, sent, received, flits_out, flits_in, fpu, refused, retired;
};

/// A machine after reset; null if there is not enough memory.
void* gs_fast_new(const struct gs_fast_config* its);
void gs_fast_free(void* machine);
/// The program of a job.
void gs_fast_code(void* machine, uint32_t job, const uint32_t* words, size_t count);
/// Accesses of the host to a memory, numbered board by board. `address` is one of the windows of DRAM or SRAM that are
/// not interleaved; a size of data beyond its memory is refused with -1. Without data the memory is filled with zeroes.
int gs_fast_write(void* machine, uint32_t memory, uint32_t address, const uint8_t* data, size_t size);
/// Writes back all caches before it reads.
int gs_fast_read(void* machine, uint32_t memory, uint32_t address, uint8_t* data, size_t size);
/// Bytes that a thread reads from its debug channel.
void gs_fast_input(void* machine, uint32_t thread, const uint8_t* data, size_t size);
/// The order of each thread's messages: for each thread the number of messages, then sender and number of each.
/// Messages are delivered in this order, whatever the order of arrival.
void gs_fast_order(void* machine, const uint32_t* words, size_t count);
/// Records each delivery.
void gs_fast_record_deliveries(void* machine);
/// Records the retired instructions of each thread, up to `most` of a thread.
void gs_fast_keep_commits(void* machine, size_t most);
const struct gs_fast_commit* gs_fast_commits(void* machine, uint32_t thread, size_t* count);
/// Starts the first threads of each board, not before a cycle after reset.
void gs_fast_start(void* machine, const uint32_t* threads, uint64_t cycle);
/// Runs to a cycle, and for at most about `quanta` steps of all tiles. Returns a gs_fast_state.
int gs_fast_run(void* machine, uint64_t until, uint64_t quanta);
uint64_t gs_fast_cycle(void* machine);
uint64_t gs_fast_first(void* machine);
uint64_t gs_fast_instructions(void* machine);
/// The records since the last call; valid until the next call of any function.
const struct gs_fast_record* gs_fast_records(void* machine, size_t* count);
void gs_fast_counters_of(void* machine, struct gs_fast_counters* tiles);
size_t gs_fast_unfinished_of(void* machine, struct gs_fast_unfinished* threads);
size_t gs_fast_held_of(void* machine, struct gs_fast_held* queues, size_t most);
/// Why a run is not supported, and the thread and pc.
const char* gs_fast_reason(void* machine, uint32_t* thread, uint32_t* pc);

}  // extern "C"
