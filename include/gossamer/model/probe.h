// SPDX-License-Identifier: Apache-2.0
/// The C interface of the interpreter that counts what a program of vertices executes (src/model/probe.cc).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace gossamer::model {

enum Phase : int { kInit = 0, kMessages = 1, kStep = 2, kFinish = 3 };

/// Columns of a row: the phase, events, and what they cost. gossamer.model.costs has the same names in this order.
enum Column : int {
  kPhase,
  kVertices,
  kSends,
  kOwnLists,
  kOwnEdges,
  kEntries,
  kReceives,
  kEdges,
  kPushes,
  kChanged,
  kIdles,
  kWaits,
  kHostMessages,  // events
  kInstructions,
  kLoads,
  kStores,
  kSlotLoads,
  kSlotStores,
  kMailbox,
  kControl,
  kFpuLong,
  kFpuShort,
  kFpuDivide,
  kDivides,
  kPlain,  // instructions without a request that are counted elsewhere
  kStateLoads,
  kStateStores,
  kFlagLoads,
  kFlagStores,
  kQueueLoads,
  kQueueStores,
  kOutLoads,
  kListLoads,
  kOtherAccesses,
  kClock,  // reads of the clock
  kColumns
};

}  // namespace gossamer::model

extern "C" {

/// Where in a state accesses of a kind are: by kStateInit and so on, the first byte and the end.
enum { kStateInit, kStateSend, kStateReceive, kStateStep, kStateFinish, kStateKinds };

/// Where accesses outside of the graph's tables are: by kStateInit and so on for a message or a vertex that is not the
/// thread's last in a phase; before the first vertex; from the last vertex on.
enum {
  kLinesBeforeInit = kStateKinds,
  kLinesBeforeStep,
  kLinesBeforeFinish,
  kLinesLastInit,
  kLinesLastStep,
  kLinesLastFinish,
  kLineKinds
};
enum { kOtherLinesMost = 32 };

/// A line is one of the thread's partition, header or the parameters, by its number there; the thread's line of the
/// addresses of headers; else the number of a line of the DRAM.
enum : uint32_t {
  kPartitionLine = 1u << 31,
  kHeaderLine = 1u << 30,
  kParamsLine = 1u << 29,
  kBlockLine = 1u << 28,
  kLineOrigins = kPartitionLine | kHeaderLine | kParamsLine | kBlockLine
};
struct gs_model_line_use {
  uint32_t line;
  uint32_t touched, stored;  // the numbers of phases, messages and vertices in which it was accessed, stored to
};

/// Tiles of a board and their program. Arrays have an element for each thread; addresses are those of threads.
struct gs_model_probe {
  const uint32_t* code;
  uint64_t words;
  uint32_t threads, tileThreads, memories;
  uint32_t barriers;  // of each step
  uint32_t hostKind;  // the kind of a host's address
  uint32_t direct;    // 1: a key is an address, or names a vertex
  uint32_t offset;    // bytes of an offset, of an edge, of a state
  uint32_t edge;
  uint32_t stride;
  uint32_t line;             // bytes of a cache line
  uint32_t tables;           // the lowest address of the graph's tables
  const uint32_t* ids;       // each thread's address
  const uint32_t* memoryOf;  // each thread's DRAM
  const uint32_t* vertices;
  const uint32_t* states;
  const uint32_t* statesBytes;
  const uint32_t* flags;
  const uint32_t* flagsBytes;
  const uint32_t* queues;
  const uint32_t* queuesBytes;
  const uint32_t* outs;
  const uint32_t* outsBytes;
  const uint32_t* keys;
  // [kStateKinds + 1][2], which the interpreter sets; equal where nothing was accessed. The last one: what `recv`
  // reads in a quarter of its calls or more, without storing to it.
  uint32_t* ranges;
  uint32_t partition;  // bytes of a thread's partition of the DRAM
  const uint32_t* headers;
  uint32_t headerBytes, params, paramsBytes;  // `params`: their address
  uint32_t blocks, blocksBytes;               // the addresses of all threads' headers
  struct gs_model_line_use* lines;  // [kLineKinds][kOtherLinesMost], in order of access; the interpreter sets them
};

struct gs_model_image {
  uint32_t memory;
  uint32_t address;
  uint64_t size;
  const uint8_t* data;
};

/// Runs the program to its end. Returns the number of rows, each of kColumns numbers, at most `most`; or a negative
/// number: -2, threads wait forever; -3, too long; else -1 minus the address of an instruction that it cannot execute.
int64_t gs_model_probe_run(const struct gs_model_probe* its, const struct gs_model_image* images, size_t count,
                           double* rows, size_t most);
}
