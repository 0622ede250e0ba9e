// SPDX-License-Identifier: Apache-2.0
/// Shared declarations of the MPI library, which runs on this machine and on threads of the overlay.
//
// Eager protocol: a message of up to kEagerBytes travels in one packet if its sender has credit. One credit is one
// buffer that the receiver reserves for the pair.
// Rendezvous protocol: every other message starts with a request to send (RTS, kRts). The matching receive answers with
// clear to send (CTS, kCts), and the data packets follow.
// The handler of a received packet never sends. It queues the resulting work, so a thread that waits until it can send
// can receive packets meanwhile.
//
//   RTS and eager        word 0  kind | returned credits << 8 | sender << 16
//                        word 1  tag
//                        word 2  sequence number of this pair's messages, 16 bits of it
//                        word 3  eager: bytes | context << 16; RTS: context << 16
//                        word 4  eager: the message; RTS: the sender's request, word 5 bytes
//   CTS                  word 1  the sender's request, word 2 requested bytes, word 3 the receiver's request
//                        word 4  if the tile has a DMA engine: address of the first byte, or 0 for the core to copy
//   data                 word 0  kind | the receiver's request << 16, word 1 offset, from word 2 on: bytes
//                                if the tile has a DMA engine: | bytes << 8
//   credit               word 0 alone
//
// If the tile has a match engine, RTS and eager packets are sent to it. It forwards each one to the thread of the
// matching receive, with that receive's request in place of the sequence number. The engine has a limited window of
// packets per thread: the thread reports how many it has consumed, in the credit field of its next request or in a
// packet of its own.
//
// If the tile has a DMA engine, the DMA engine writes whole lines of the receiver's memory. The bytes before the first
// and after the last whole line arrive in packets, since the receiver's cache may hold their lines. A rank has one DMA
// transfer at a time.
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __GOSSAMER_DEVICE__
#include <gossamer/device.h>
/// Variables of a rank: ranks are threads on the overlay, and processes on this machine.
#define RANK_LOCAL _Thread_local
#define PACKET_BYTES (GS_MAX_FLITS * GS_FLIT_BYTES)
#define STORE_LIMIT 4096
#if GS_MATCH_IN_TILES || GS_MATCH_ON_BOARD
/// A match engine in each tile or at the board matches messages with receives (rtl/match/gs_match_slot.sv); engine.c
/// drives it.
#define MATCH_IN_HARDWARE 1
#define RANKS_PER_ENGINE (GS_MATCH_RANKS / GSMPI_STRIDE ? GS_MATCH_RANKS / GSMPI_STRIDE : 1)
/// Eager messages wait in the engine's store, so the ranks grant no more credits than it has slots.
#define CREDITS_OF_STORE (GS_MATCH_EAGER / (RANKS_PER_ENGINE * GSMPI_SIZE))
/// The tile's DMA engine copies long messages (rtl/dma); dma_transfer.c drives it.
#define DMA_IN_HARDWARE GS_MATCH_DMA
#endif
#else
#define RANK_LOCAL
#ifndef PACKET_BYTES
#define PACKET_BYTES 1024
#endif
#ifndef STORE_LIMIT
#define STORE_LIMIT (1 << 20)
#endif
#endif

#ifndef MATCH_IN_HARDWARE
#define MATCH_IN_HARDWARE 0
#define DMA_IN_HARDWARE 0
#define CREDITS_OF_STORE 8
#endif

/// Functions between these two are optimized for size on the overlay, whose instruction memory is small.
#ifdef __GOSSAMER_DEVICE__
#define SMALL_CODE_BEGIN _Pragma("clang attribute push(__attribute__((minsize)), apply_to = function)")
#define SMALL_CODE_END _Pragma("clang attribute pop")
#else
#define SMALL_CODE_BEGIN
#define SMALL_CODE_END
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum {
  kEagerBytes = PACKET_BYTES - 16,
  kDataBytes = PACKET_BYTES - 8,
  kCredits = CREDITS_OF_STORE < 8 ? CREDITS_OF_STORE : 8,  // eager messages of a pair that may wait for their receives
  kNearComms = 64,                                         // communicators with handles that the fast paths accept
  kContexts = 16384,                                       // contexts of communicators; all their ranks agree on them
  kMostHandles = 65535,  // communicators, datatypes and operations of a rank at a time
  kMostRequests = 65535,
  kMostTag = 0x7FFFFFF,
};

/// One bit distinguishes kRts, for which the receiver reserves no buffer, from kEager: a match engine tests that bit.
typedef enum { kEager = 1, kCts, kData, kCredit, kRts = 0x20 } Kind;

typedef struct Packet {
  uint32_t word[PACKET_BYTES / 4];
} Packet;

/// A peer rank, with the flow control of the pair.
typedef struct Peer {
  uint32_t address;       // for the transport
  uint32_t matcher;       // address of the unit that matches this peer's messages
  uint32_t first;         // word 0 of the next eager packet: kEager, credits to return << 8, this rank << 16
  uint32_t sent;          // sequence number of the next message
  uint32_t limit;         // the message with this sequence number has no credit
  uint16_t expected;      // sequence number of the next message to receive
  uint16_t rank;          // in the world
  bool returning_credit;  // is in the list `credit_returns`
  struct Peer* next;
} Peer;

/// Handles of a kind: an index, for which the table has a pointer. Index 0 is never used.
typedef struct Table {
  void** entries;
  uint32_t size;
} Table;

typedef struct Attribute Attribute;
/// A Cartesian grid: for each dimension its size, then for each whether it is periodic.
typedef struct Topology {
  size_t bytes;  // of this structure
  int dimensions;
  int values[];
} Topology;

/// A communicator uses four contexts: of point-to-point messages, of blocking collectives, one that is unused, and of
/// nonblocking collectives.
typedef struct Comm {
  MPI_Comm handle;
  uint32_t context;       // of point-to-point messages
  uint32_t context_high;  // `context`, shifted to its field of a packet
  int rank, size;
  uint16_t* rank_of;  // rank in this communicator by rank in the world; null: identity
  MPI_Errhandler handler;
  uint32_t matched_messages;  // messages that matched probes have taken and that no receive has consumed
  uint16_t sequence;          // of the next nonblocking collective
  bool subset;                // only these ranks agree on a context: tags separate them from those of the parent
  char* name;                 // null: its default name
  Attribute* attributes;
  Topology* topology;
  MPI_Info info;
  Peer* peers[];  // by rank
} Comm;

typedef enum { kNoWork, kSendCts, kSendData, kSendDma } Work;

typedef struct gsmpi_request {
  struct gsmpi_request* next;       // in the queue of receives, of sends for the DMA engine, or of free requests
  struct gsmpi_request* next_work;  // in the queue of work
  Comm* comm;
  Peer* peer;  // null: any source
  void* buffer;
  char* data;       // the bytes: `buffer`, or a packed copy
  uint32_t bytes;   // of a send: to send; of a receive: its capacity
  uint32_t wanted;  // bytes to transfer: fewer than the message has if the receive is too short
  uint32_t moved;
  uint32_t message_bytes;  // length of the message, even if it exceeds the capacity
  uint32_t context;
  int count, tag;
  int source;  // or destination, as the caller specified it
  MPI_Datatype type;
#if DMA_IN_HARDWARE
  uint32_t remote_address;  // of a send: where the receiver stores the first byte
#endif
  uint16_t id, remote_id;
  uint8_t work;
  uint8_t collective;  // kind of the nonblocking collective that it represents, or 0
  bool used, receives, synchronous, buffered, persistent, active, done, queued, freed, absent, copied;
  MPI_Status status;
} Request;

/// An unexpected message: one that arrived before its receive. MPI_Message points to one that a matched probe took.
typedef struct gsmpi_message {
  struct gsmpi_message* next;
  Comm* comm;  // set by a matched probe
  uint32_t context, bytes;
  int tag;
  Peer* peer;
  uint16_t remote_id;
  bool announced;
  uint32_t data[];
} UnexpectedMessage;

/// A packet that arrived before an earlier packet of its pair.
typedef struct OutOfOrderPacket {
  struct OutOfOrderPacket* next;
  Packet packet;
} OutOfOrderPacket;

/// Elements of a type at a distance from the buffer, in bytes.
typedef struct Block {
  intptr_t at;
  int length;
  MPI_Datatype type;
} Block;

/// `count` blocks: `length` elements of type `old` every `stride` bytes, or a list.
typedef struct Type {
  int count, length;
  intptr_t stride;
  MPI_Datatype old;
  Block* blocks;  // null: regular blocks
  uint32_t size, alignment;
  uint32_t references;  // the program's handle, types derived from it, requests
  intptr_t lower, extent, true_lower, true_extent;
  char* name;
  Attribute* attributes;
  bool contiguous;  // the bytes of any number of elements have no gaps and are in order, from `true_lower` on
  bool committed, freed;
} Type;

typedef struct Operation {
  MPI_User_function* function;
  bool commutes, freed;
} Operation;

/// A nonblocking collective in progress (nonblocking.c).
typedef struct Task {
  const Request* awaits;  // it continues when this request is done
  uint16_t sequence;      // among the nonblocking collectives of its communicator
  uint8_t kind;
  /// Suspends the task until a request is done.
  void (*wait)(const Request* request);
  /// Agrees on the context of a new communicator.
  int (*agree_on_context)(Comm* comm, bool usable, uint32_t* number);
} Task;

/// Functions of files that are linked only if the program uses them. Null: it does not.
typedef struct Hooks {
  bool (*run_tasks)(void);  // continues nonblocking collectives; false: none can continue
  int (*copy_attributes)(MPI_Comm from, const Attribute* attributes, Attribute** to);
  int (*delete_attributes)(MPI_Comm from, Attribute** attributes);
  void (*copy_info)(MPI_Info from, MPI_Info* to);
  void (*free_info)(MPI_Info* info);
  void (*detach_buffer)(void);  // waits for buffered sends
  void (*start_buffered)(Request* request, const char* call);
  int (*handle_error)(const Comm* comm, int error_class);
} Hooks;

/// State of a rank.
typedef struct Rank {
  Comm* comms[kNearComms];
  Table far_comms;
  uint32_t mine;  // kEager | rank << 16
  Packet* slot;   // overlay only: the mailbox slot in which packets are composed
  int rank, size;
  bool ready, finalized, finalizing;
  int thread_level;
  Peer* peers;  // the world
  Request* work;
  Request* last_work;
  Peer* credit_returns;
  OutOfOrderPacket* out_of_order;
  Request* free_requests;
  Request* receiving;  // reserved for MPI_Recv
#if MATCH_IN_HARDWARE
  Peer engine;  // of this tile; its `first` holds only the number of consumed packets << 8
#endif
#if DMA_IN_HARDWARE
  Request* dma_send;  // the send that the DMA engine transfers, followed by those that wait for it
  Request* last_dma_send;
#endif
  Request** requests;
  uint32_t request_count, request_capacity;
  uint32_t unexpected_count;
  uint32_t* contexts;  // bitmap of those in use
  uint32_t context_words;
  Table types, operations;
  Task* task;         // the nonblocking collective that runs, or null
  struct Run* tasks;  // those in progress (nonblocking.c)
  Hooks hooks;
  const void* caller;  // return address of the program's call
  const char* call;    // the MPI call that blocks
  const Request* waits_for;
  int collective;  // signature of the collective in progress, or 0
  char error_text[MPI_MAX_ERROR_STRING];
} Rank;

extern RANK_LOCAL Rank gsmpi;

/// Records the place of the program's call for messages. First statement of each function that the program calls.
#define CALLED() (gsmpi.caller = __builtin_return_address(0))
/// The same for functions that nonblocking collectives also call.
#define CALLED_UNLESS_TASK() (gsmpi.task ? gsmpi.caller : CALLED())

/// A request that was complete when it was created.
#define COMPLETED ((Request*)1)

// ---- error.c ----
/// Reports an error of the program: ends the run, or returns the class if the communicator's handler says so.
int gsmpi_error(const Comm* comm, int error_class, const char* call, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/// Reports an error and ends the run.
_Noreturn void gsmpi_abort_run(int error_class, const char* call, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void gsmpi_deadlock(void);
const char* gsmpi_comm_name(const Comm* comm, char* buffer, size_t size);
/// Name of an error class.
const char* gsmpi_class_name(int error_class);

// ---- messages.c ----
Request* gsmpi_new_request(const char* call);
void gsmpi_free_request(Request* request);
/// Starts a send. It completes at once if the message could be sent eagerly.
void gsmpi_start_send(Request* request, const char* call);
void gsmpi_start_receive(Request* request, const char* call);
/// Matches a receive whose data pointer is set with a stored message, or queues it.
void gsmpi_post_receive(Request* request);
/// Starts a receive of a message that a matched probe has taken.
void gsmpi_start_matched(Request* request, UnexpectedMessage* unexpected, const char* call);
/// Fast path of MPI_Recv for basic types: posts the receive, waits for its message, and sets the status.
int gsmpi_receive_fast(Comm* comm, Peer* peer, void* buffer, uint32_t bytes, int source, int tag, MPI_Status* status);
/// Handles all received packets, then sends pending work.
void gsmpi_progress(void);
/// Sleeps until a packet arrives. `request` is what the caller waits for.
void gsmpi_sleep(const char* call, const Request* request);
void gsmpi_wait_for(const Request* request, const char* call);
/// Sends all pending work, before the run ends.
void gsmpi_flush(void);
static inline int gsmpi_source(const Comm* comm, const Peer* peer) {
  return comm->rank_of ? comm->rank_of[peer->rank] : peer->rank;
}
/// A packet buffer for a peer. Handles received packets until one is free.
Packet* gsmpi_begin(const Peer* peer);
/// Handles one received packet; false if none has arrived.
bool gsmpi_receive_one(void);
/// Sends pending work as far as the transport has free buffers.
void gsmpi_send_pending(void);

/// Starts a request that was made with the arguments of a send or receive.
void gsmpi_start(Request* request, const char* call);
/// Checks the arguments of a send or receive and makes its request; null for MPI_PROC_NULL's peer.
int gsmpi_make_request(const char* call, const void* buffer, int count, MPI_Datatype type, int rank, int tag,
                       MPI_Comm comm, bool receives, bool persistent, Request** made);
/// Progress of the nonblocking collectives, if there are any; false if none could continue.
static inline bool gsmpi_run_tasks(void) { return unlikely(gsmpi.tasks != NULL) && gsmpi.hooks.run_tasks(); }

// ---- match.c: matching by context, sender and tag, in MPI's order ----
/// Returns the receive that matches an arrived message and removes it from its queue; null if none matches.
Request* gsmpi_match_message(uint32_t context, const Peer* peer, int tag);
/// Returns the stored message that matches a receive and removes it from its queue; else queues the receive.
UnexpectedMessage* gsmpi_match_receive(Request* request);
/// Stores a message that matches no posted receive.
void gsmpi_match_keep(UnexpectedMessage* unexpected);
/// The message that a receive would match, or null. After null with `waits`, a packet arrives when one may match.
const UnexpectedMessage* gsmpi_match_probe(uint32_t context, const Peer* peer, int tag, bool waits);
/// Removes that message from its queue and returns it, or null.
UnexpectedMessage* gsmpi_match_take(uint32_t context, const Peer* peer, int tag);
/// Removes a receive from its queue; false if it has matched already.
bool gsmpi_match_cancel(Request* request);
/// The first stored message with an odd context: collectives use the odd ones.
const UnexpectedMessage* gsmpi_match_unreceived(void);

// ---- engine.c, in place of match.c ----
/// Handles a packet of the engine that is not a message for a receive.
void gsmpi_engine_event(const Packet* packet);
/// Clears the tile's engine before any rank sends. All ranks of a tile may do so.
void gsmpi_engine_clear(void);

// ---- messages.c, for dma_transfer.c ----
void gsmpi_add_work(Request* request, Work work);
void gsmpi_complete(Request* request);
/// Sends a part of a message from the core.
void gsmpi_send_data(const Request* request, Packet* packet, uint32_t at, uint32_t bytes);

// ---- dma_transfer.c, where the tile has a DMA engine ----
/// The address to which the sender's DMA engine shall write, or 0 if its core shall send the data.
uint32_t gsmpi_dma_target(const Request* request);
/// Queues a send whose CTS has arrived: for the DMA engine if the message has whole lines, else for the core.
void gsmpi_dma_begin(Request* request, uint32_t remote_address);
/// Composes and sends the next packet of a DMA send: head and tail first, then the DMA engine's descriptor.
void gsmpi_dma_send(Request* request, Packet* packet);
/// Handles a completion of the DMA engine.
void gsmpi_dma_event(const Packet* packet);
/// Whether the DMA engine has a transfer of this rank.
static inline bool gsmpi_dma_active(void) {
#if DMA_IN_HARDWARE
  return gsmpi.dma_send != NULL;
#else
  return false;
#endif
}

// ---- requests.c ----
/// Returns a completed request's result; frees the request if it is not persistent.
int gsmpi_finish(Request** request, MPI_Status* status, const char* call);
/// Reports a message that was longer than its receive.
int gsmpi_truncated(const Request* request, const char* call);
/// Waits for a request, then finishes it.
int gsmpi_finish_waited(Request** request, MPI_Status* status, const char* call);

// ---- sendrecv.c ----
int gsmpi_sendrecv(const char* call, const void* out, int out_count, MPI_Datatype out_type, int dest, int out_tag,
                   void* in, int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                   MPI_Status* status);
int gsmpi_sendrecv_replace(const char* call, void* buffer, int count, MPI_Datatype type, int dest, int out_tag,
                           int source, int in_tag, MPI_Comm comm, MPI_Status* status);

// ---- types.c ----
Type* gsmpi_type(MPI_Datatype type);
bool gsmpi_valid_type(MPI_Datatype type);
uint32_t gsmpi_type_size(MPI_Datatype type);
intptr_t gsmpi_extent(MPI_Datatype type);
bool gsmpi_contiguous(MPI_Datatype type);
void gsmpi_pack(const void* from, int count, MPI_Datatype type, void* to);
void gsmpi_unpack(const void* from, size_t bytes, int count, MPI_Datatype type, void* to);
/// Offset of the first byte of a datatype's data from its buffer.
intptr_t gsmpi_lower(MPI_Datatype type);
/// Whether a handle is a basic type or a derived one, committed or not.
bool gsmpi_known_type(MPI_Datatype type);
uint32_t gsmpi_alignment(MPI_Datatype type);
/// Bytes of memory between the first and the last byte of elements; `first` is the first one's offset from the buffer.
size_t gsmpi_span(int count, MPI_Datatype type, intptr_t* first);
/// Makes a type of blocks: sets everything but its bounds. Takes the list of blocks, which may be null.
int gsmpi_make_type(const char* call, int count, int length, intptr_t stride, MPI_Datatype old, Block* blocks,
                    MPI_Datatype* made);
static inline void gsmpi_use_type(MPI_Datatype type) {
  Type* derived = gsmpi_type(type);
  if (unlikely(derived != NULL)) ++derived->references;
}
void gsmpi_release_type(MPI_Datatype type);
/// The datatype's name: MPI_INT, or its name or number in `buffer`.
const char* gsmpi_type_name(MPI_Datatype type, char* buffer, size_t size);
/// Size without the trailing gap of a pair type. Messages include that gap.
uint32_t gsmpi_reported_size(MPI_Datatype type);

/// Whether a handle is in the range of basic types; gsmpi_valid_type also checks that the type exists.
static inline bool gsmpi_basic(MPI_Datatype type) { return (uint32_t)type - 0x100 < 0x600; }
enum { kBasicTypes = 64 };
/// Handles of basic types, indexed by their low six bits.
extern const uint16_t gsmpi_basic_types[kBasicTypes];
/// Type check of the fast paths. It checks that the type exists; on the overlay, where each instruction counts, it only
/// checks the range: an undefined handle in the range still has a size.
static inline bool gsmpi_fast_type(MPI_Datatype type) {
#ifdef __GOSSAMER_DEVICE__
  return gsmpi_basic(type);
#else
  return gsmpi_basic_types[type & (kBasicTypes - 1)] == type;
#endif
}
static inline uint32_t gsmpi_log_size(MPI_Datatype type) { return ((uint32_t)type - 0x100) >> 8; }

// ---- operations.c ----
/// inout = in OP inout, element by element, both packed; false if the operation does not support the type.
bool gsmpi_operate(MPI_Op op, const void* in, void* inout, int count, MPI_Datatype type);
bool gsmpi_operates(MPI_Op op, MPI_Datatype type);
bool gsmpi_commutes(MPI_Op op);
/// The operation's name for messages.
const char* gsmpi_op_name(MPI_Op op);

// ---- collectives.c ----
enum {
  kBarrier = 1,
  kBcast,
  kReduce,
  kAllreduce,
  kScan,
  kExscan,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduceScatter,
  kReduceScatterBlock,
  kSplit,
  kDup,
  kCreate,
  kCreateGroup,
  kSendrecv,
  kSendrecvReplace,
  kFinalize,
  kKinds
};
_Static_assert(kKinds <= 32, "the kind has five bits of a signature");
enum { kSignatureBits = 21, kMostSequence = 1 << (32 - kSignatureBits) };
/// Kind and root of a collective. The tags of its messages also have the sequence number of a nonblocking one.
int gsmpi_signature(int kind, int root);
static inline int gsmpi_kind(int sign) { return sign >> 16 & 31; }
/// The name of the call: of the nonblocking form, if the collective is one.
const char* gsmpi_name(int kind);
const char* gsmpi_nonblocking_name(int kind);
const char* gsmpi_collective_name(int signature);
Comm* gsmpi_enter(MPI_Comm handle, int kind);
int gsmpi_check_op(const Comm* comm, const char* call, MPI_Op op, MPI_Datatype type);
int gsmpi_send(Comm* comm, int to, const void* data, size_t bytes, int sign);
int gsmpi_receive(Comm* comm, int from, void* data, size_t bytes, int sign);
int gsmpi_exchange(Comm* comm, int to, const void* out, size_t out_bytes, int from, void* in, size_t in_bytes,
                   int sign);
int gsmpi_check_buffer(const Comm* comm, const char* call, const void* buffer, int count, MPI_Datatype type);
/// Checks that the bytes that a rank sends to itself in a collective are the bytes that it expects.
int gsmpi_check_own(const Comm* comm, const char* call, size_t sent, size_t expected);
int gsmpi_check_root(const Comm* comm, const char* call, int root);
/// Returns from the caller if `error` is not MPI_SUCCESS.
#define RETURN_ON_ERROR(error)  \
  do {                          \
    const int error_ = (error); \
    if (error_) return error_;  \
  } while (0)
int gsmpi_barrier(Comm* comm, int kind);
int gsmpi_allgather_bytes(Comm* comm, const void* mine, void* all, uint32_t bytes, int kind);
/// Reduces the `data` of all ranks in rank order from `first` on; `first` has the result.
int gsmpi_reduce_to_first(Comm* comm, char* data, int count, MPI_Datatype type, MPI_Op op, int first, int sign);
int gsmpi_agree(Comm* comm, uint32_t* words, int count, int kind);

// ---- memory ----
void* gsmpi_allocate(size_t bytes, const char* call);
/// The same; null without memory.
void* gsmpi_try_allocate(size_t bytes);
void gsmpi_release(void* memory);
/// A copy of a text.
char* gsmpi_copy_text(const char* text, const char* call);
/// Adds an entry; returns its index, or 0 if the table is full or there is no memory.
uint32_t gsmpi_add_entry(Table* table, void* entry, uint32_t most);
static inline void* gsmpi_entry(const Table* table, uint32_t index) {
  return index < table->size ? table->entries[index] : NULL;
}

// ---- world.c ----
/// A communicator of a handle for the fast paths, or null.
static inline Comm* gsmpi_near_comm(MPI_Comm handle) {
  return likely((uint32_t)handle < kNearComms) ? gsmpi.comms[handle] : NULL;
}
/// The communicator of a handle, or null.
static inline Comm* gsmpi_comm(MPI_Comm handle) {
  return likely((uint32_t)handle < kNearComms) ? gsmpi.comms[handle]
                                               : gsmpi_entry(&gsmpi.far_comms, (uint32_t)handle - kNearComms);
}
/// Makes a communicator of ranks of `from`, in the given order; `ranks` is null on a rank that is not among them. All
/// ranks of `from` agree on its context, or, for kCreateGroup, those of the new communicator. `mark` separates
/// concurrent calls of the latter.
int gsmpi_derive(const char* call, Comm* from, const int* ranks, int size, int kind, int mark, MPI_Comm* made);
/// Splits a communicator; the arguments are valid.
int gsmpi_split(const char* call, Comm* comm, int color, int key, MPI_Comm* part);
int gsmpi_duplicate(const char* call, Comm* comm, MPI_Comm* copy);
/// Frees a communicator whose attributes are deleted.
void gsmpi_free_comm(Comm* comm);
/// Extends the bitmap of contexts to the number of one; false without memory.
bool gsmpi_reserve_context(uint32_t number);
/// gsmpi_comm; reports an invalid handle.
Comm* gsmpi_check_comm(MPI_Comm handle, const char* call);
