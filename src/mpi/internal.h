// SPDX-License-Identifier: Apache-2.0
/// What the files of the MPI library share: one library for this machine and for threads of the overlay.
//
// A message of up to kEagerBytes travels in one packet, if its sender has credit: room that the receiver keeps for it.
// All others first announce themselves (kRts), and their bytes follow when the receive that they match has
// answered (kCts). Whatever arrives is only noted by its handler; what has to be sent because of it waits in a queue
// of work, so that a thread that waits until it can send may take in messages meanwhile.
//
//   announce and eager   word 0  kind | credit that goes back << 8 | sender << 16
//                        word 1  tag
//                        word 2  number in the order of this pair, 16 bits of it
//                        word 3  eager: bytes | context << 16; announce: context << 16
//                        word 4  eager: the message; announce: the sender's request, word 5 bytes
//   clear                word 1  the sender's request, word 2 bytes that are wanted, word 3 the receiver's request
//                        word 4  where the tile has a DMA engine: address of the first byte, or 0 for the core to copy
//   data                 word 0  kind | the receiver's request << 16, word 1 offset, word 2 and on: bytes
//                                where the tile has a DMA engine: | bytes << 8
//   credit               word 0 alone
//
// Where the tile has a match engine, messages (announce and eager) go to it, and it sends them on to the thread when
// they have a receive, with the receive's request in place of their number. It sends a thread some packets, and more
// when the thread has told it how many of them it has taken: in the place of credit of the next request, or by itself.
//
// Where the tile has a DMA engine, whole lines of the receiver's memory are its to write. The bytes before the first line
// and behind the last come in packets, since the receiver's cache may hold their lines. A rank has one move at a time.
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
#if GS_MATCH_IN_TILES
/// Who gets what is for the match engine of each tile to find (rtl/match/gs_match_slot.sv); engine.c asks it.
#define MATCH_IN_HARDWARE 1
#define RANKS_PER_TILE (GS_THREADS_PER_TILE / GSMPI_STRIDE ? GS_THREADS_PER_TILE / GSMPI_STRIDE : 1)
/// Eager messages wait in the engine's store, and no more are promised than it keeps slots for.
#define CREDITS_OF_STORE (GS_MATCH_EAGER / (RANKS_PER_TILE * GSMPI_SIZE))
/// Long messages are for the tile's DMA engine to copy (rtl/dma); move.c asks it.
#define MOVES_IN_HARDWARE GS_MATCH_DMA
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
#define MOVES_IN_HARDWARE 0
#define CREDITS_OF_STORE 8
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum {
  kEagerBytes = PACKET_BYTES - 16,
  kDataBytes = PACKET_BYTES - 8,
  kCredits = CREDITS_OF_STORE < 8 ? CREDITS_OF_STORE : 8,  // eager messages of a pair that may wait for their receives
  kComms = 64,                                             // communicators that a rank can have at a time
  kContexts = 256,                                         // contexts of them, agreed by all their ranks
  kTypes = 256,                                            // derived datatypes at a time
  kOps = 64,                                               // operations of programs at a time
  kMostRequests = 65535,
  kMostTag = 0x7FFFFFF,
};

/// A match engine tells kRts, for which nobody has credit, from kEager by a bit.
typedef enum { kEager = 1, kCts, kData, kCredit, kRts = 0x20 } Kind;

typedef struct Packet {
  uint32_t word[PACKET_BYTES / 4];
} Packet;

/// Another rank, as this rank keeps count of it.
typedef struct Peer {
  uint32_t address;   // for the transport
  uint32_t matcher;   // the same, of who finds the receive of a message
  uint32_t first;     // word 0 of the next eager packet: kEager, credit that is owed << 8, this rank << 16
  uint32_t sent;      // number of the next message
  uint32_t limit;     // the message with this number has no credit
  uint16_t expected;  // number of the next message that comes
  uint16_t rank;      // in the world
  bool repaying;      // in the list of those who wait for credit
  struct Peer* next;
} Peer;

typedef struct Comm {
  MPI_Comm handle;
  uint32_t context;       // of messages; one more is that of collectives
  uint32_t context_high;  // the same, where packets have it
  int rank, size;
  uint16_t* rank_of;  // by rank in the world; null: the same
  MPI_Errhandler handler;
  uint32_t taken;  // messages that matched probes have taken, and no receive yet
  Peer* peers[];   // by rank
} Comm;

typedef enum { kNoWork, kSendClear, kSendData, kSendMove } Work;

typedef struct gsmpi_request {
  struct gsmpi_request* next;       // in the queue of receives, of sends for the DMA engine, or of free requests
  struct gsmpi_request* next_work;  // in the queue of work
  Comm* comm;
  Peer* peer;  // null: any source
  void* buffer;
  char* data;       // the bytes: `buffer`, or a copy without gaps
  uint32_t bytes;   // to send; room of a receive
  uint32_t wanted;  // of the bytes: fewer where the receive is too short
  uint32_t moved;
  uint32_t came;  // bytes of the message, whatever the room
  uint32_t context;
  int count, tag;
  int source;  // or destination, as the program named it
  MPI_Datatype type;
#if MOVES_IN_HARDWARE
  uint32_t place;  // of a send: where the receiver wants the first byte
#endif
  uint16_t id, their_id;
  uint8_t work;
  bool used, receives, synchronous, persistent, active, done, queued, freed, absent, copied;
  MPI_Status status;
} Request;

/// A message that came before its receive. MPI_Message points to one that a matched probe has taken.
typedef struct gsmpi_message {
  struct gsmpi_message* next;
  Comm* comm;  // of one that was taken
  uint32_t context, bytes;
  int tag;
  Peer* peer;
  uint16_t their_id;
  bool announced;
  uint32_t data[];
} Early;

/// A packet that came before one that was sent earlier.
typedef struct Ahead {
  struct Ahead* next;
  Packet packet;
} Ahead;

typedef struct Type {
  int count, length;
  intptr_t stride;  // bytes
  MPI_Datatype old;
  uint32_t size;
  intptr_t lower, extent;
  bool contiguous, committed, freed;
} Type;

typedef struct Operation {
  MPI_User_function* function;
  bool commutes;
} Operation;

/// All of a rank.
typedef struct Rank {
  Comm* comms[kComms];
  uint32_t mine;  // kEager | rank << 16
  Packet* slot;   // of the overlay: where packets are made
  int rank, size;
  bool ready, finalized, finalizing;
  Peer* peers;  // the world
  Request* work;
  Request* last_work;
  Peer* repay;
  Ahead* ahead;
  Request* free_requests;
  Request* receiving;  // that of MPI_Recv
#if MATCH_IN_HARDWARE
  Peer engine;  // of this tile; of its `first` packets are owed << 8 alone
#endif
#if MOVES_IN_HARDWARE
  Request* move;  // the send that the DMA engine has, and those that wait for it
  Request* last_move;
#endif
  Request** requests;
  uint32_t request_count, request_room;
  uint32_t early_count;
  uint32_t contexts[kContexts / 32];  // bits of those in use
  Type* types[kTypes];
  int type_end;  // no place from this on has ever had a type
  Operation* operations[kOps];
  const char* call;  // what the program has called that waits
  const Request* waits_for;
  int collective;  // signature of the collective that is under way, or 0
  char error_text[MPI_MAX_ERROR_STRING];
} Rank;

extern RANK_LOCAL Rank gsmpi;

/// A request that was done when it was made.
#define COMPLETED ((Request*)1)

// ---- error.c ----
/// Tells of an error of the program: ends the run, or gives the class if the communicator says so.
int gsmpi_error(const Comm* comm, int error_class, const char* call, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/// Ends the run.
_Noreturn void gsmpi_die(int error_class, const char* call, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void gsmpi_deadlock(void);
const char* gsmpi_comm_name(const Comm* comm, char* room, size_t size);

// ---- messages.c ----
Request* gsmpi_new_request(const char* call);
void gsmpi_free_request(Request* request);
/// Sends what the request says; done at once if it could go eagerly.
void gsmpi_start_send(Request* request, const char* call);
void gsmpi_start_receive(Request* request, const char* call);
/// The part of it behind finding out where its bytes go: it has its message, or waits for it.
void gsmpi_post_receive(Request* request);
/// A receive whose message a matched probe has taken.
void gsmpi_start_taken(Request* request, Early* early, const char* call);
/// The short way of MPI_Recv, for a basic type: posts the receive, waits for its message, and tells what it is.
int gsmpi_receive_short(Comm* comm, Peer* peer, void* buffer, uint32_t bytes, int source, int tag, MPI_Status* status);
/// Takes in what has come and sends what waits to be sent.
void gsmpi_progress(void);
/// Sleeps until something comes. `request` is what the caller waits for.
void gsmpi_sleep(const char* call, const Request* request);
void gsmpi_wait_for(const Request* request, const char* call);
/// Before the end: everything that waits to be sent goes out.
void gsmpi_flush(void);
static inline int gsmpi_source(const Comm* comm, const Peer* peer) {
  return comm->rank_of ? comm->rank_of[peer->rank] : peer->rank;
}
/// Room for a packet to a peer; messages are taken in until there is some.
Packet* gsmpi_begin(const Peer* peer);
/// Takes in one packet, if there is one.
bool gsmpi_take_one(void);
/// Sends what waits, as far as there is room.
void gsmpi_send_pending(void);

// ---- match.c: who gets what, by context, sender and tag, in MPI's order ----
/// A message has come: the receive that gets it, taken off its queue, or null.
Request* gsmpi_match_message(uint32_t context, const Peer* peer, int tag);
/// A receive: the message that it gets, taken off its queue; else the receive is queued and it is null.
Early* gsmpi_match_receive(Request* request);
/// Keeps a message for which no receive has been posted.
void gsmpi_match_keep(Early* early);
/// The message that a receive would get. If there is none and the caller `waits`, something comes when there may be.
const Early* gsmpi_match_probe(uint32_t context, const Peer* peer, int tag, bool waits);
/// The same message, taken off its queue, or null.
Early* gsmpi_match_take(uint32_t context, const Peer* peer, int tag);
/// Takes a receive off its queue; false if it has its message already.
bool gsmpi_match_cancel(Request* request);
/// The first message that waits in a context with an odd number, which are those of collectives.
const Early* gsmpi_match_left(void);

// ---- engine.c, in place of match.c ----
/// What the engine says that is no message for a receive.
void gsmpi_engine_says(const Packet* packet);
/// Empties the tile's engine, before any rank sends; all ranks of a tile may do so.
void gsmpi_engine_clear(void);

// ---- messages.c, for move.c ----
void gsmpi_add_work(Request* request, Work work);
void gsmpi_complete(Request* request);
/// Sends some bytes of a send from the core.
void gsmpi_send_data(const Request* request, Packet* packet, uint32_t at, uint32_t bytes);

// ---- move.c, where the tile has a DMA engine ----
/// Where a receive wants its bytes written by the sender's DMA engine: 0 if its core is to send them.
uint32_t gsmpi_move_place(const Request* request);
/// A send whose receiver has answered becomes work: for the DMA engine if there is enough to move, else for the core.
void gsmpi_move_begin(Request* request, uint32_t place);
/// Makes a packet of a send that is for the DMA engine, the last one for the DMA engine itself.
void gsmpi_move_send(Request* request, Packet* packet);
/// The DMA engine tells of an end.
void gsmpi_move_says(const Packet* packet);
/// The DMA engine has something of this rank.
static inline bool gsmpi_moving(void) {
#if MOVES_IN_HARDWARE
  return gsmpi.move != NULL;
#else
  return false;
#endif
}

// ---- requests.c ----
/// What a request came to, for its caller; frees it if it is not persistent.
int gsmpi_finish(Request** request, MPI_Status* status, const char* call);
/// Tells of a message that was longer than its receive.
int gsmpi_truncated(const Request* request, const char* call);
/// gsmpi_finish, when it is done.
int gsmpi_finish_waited(Request** request, MPI_Status* status, const char* call);

// ---- types.c ----
Type* gsmpi_type(MPI_Datatype type);
bool gsmpi_valid_type(MPI_Datatype type);
uint32_t gsmpi_type_size(MPI_Datatype type);
intptr_t gsmpi_extent(MPI_Datatype type);
bool gsmpi_contiguous(MPI_Datatype type);
void gsmpi_pack(const void* from, int count, MPI_Datatype type, void* to);
void gsmpi_unpack(const void* from, size_t bytes, int count, MPI_Datatype type, void* to);
/// Where the first byte of a contiguous datatype lies, from its buffer.
intptr_t gsmpi_lower(MPI_Datatype type);

/// Whether a handle is in the range of basic types; gsmpi_valid_type knows whether there is one.
static inline bool gsmpi_basic(MPI_Datatype type) { return (uint32_t)type - 0x100 < 0x600; }
enum { kBasicTypes = 64 };
/// Handles of basic types, each at the place of its last six bits.
extern const uint16_t gsmpi_basic_types[kBasicTypes];
/// What the short ways look at: here whether there is such a type. On the overlay, where an instruction counts, the
/// range must do: a handle in it that is none has a size all the same.
static inline bool gsmpi_short_type(MPI_Datatype type) {
#ifdef __GOSSAMER_DEVICE__
  return gsmpi_basic(type);
#else
  return gsmpi_basic_types[type & (kBasicTypes - 1)] == type;
#endif
}
static inline uint32_t gsmpi_log_size(MPI_Datatype type) { return ((uint32_t)type - 0x100) >> 8; }

// ---- operations.c ----
/// inout = in OP inout, element by element, both without gaps; false if the operation is not for that type.
bool gsmpi_operate(MPI_Op op, const void* in, void* inout, int count, MPI_Datatype type);
bool gsmpi_operates(MPI_Op op, MPI_Datatype type);
bool gsmpi_commutes(MPI_Op op);

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
  kSplit,
  kDup,
  kFinalize
};
int gsmpi_signature(int kind, int root);
const char* gsmpi_name(int kind);
const char* gsmpi_collective_name(int signature);
int gsmpi_send(Comm* comm, int to, const void* data, size_t bytes, int sign);
int gsmpi_receive(Comm* comm, int from, void* data, size_t bytes, int sign);
int gsmpi_exchange(Comm* comm, int to, const void* out, size_t out_bytes, int from, void* in, size_t in_bytes,
                   int sign);
int gsmpi_check_buffer(const Comm* comm, const char* call, const void* buffer, int count, MPI_Datatype type);
/// What a rank gives itself in a collective must be what it expects, as between ranks.
int gsmpi_check_own(const Comm* comm, const char* call, size_t gives, size_t expects);
int gsmpi_check_root(const Comm* comm, const char* call, int root);
/// Returns what is wrong, if anything is.
#define GIVE(error)             \
  do {                          \
    const int error_ = (error); \
    if (error_) return error_;  \
  } while (0)
int gsmpi_barrier(Comm* comm, int kind);
int gsmpi_allgather_bytes(Comm* comm, const void* mine, void* all, uint32_t bytes, int kind);
int gsmpi_agree(Comm* comm, uint32_t* words, int count, int kind);

// ---- memory ----
void* gsmpi_allocate(size_t bytes, const char* call);
void gsmpi_release(void* memory);

/// The communicator of a handle, or null.
static inline Comm* gsmpi_comm(MPI_Comm handle) {
  return likely((uint32_t)handle < kComms) ? gsmpi.comms[handle] : NULL;
}
/// The same; tells of what is wrong with it.
Comm* gsmpi_check_comm(MPI_Comm handle, const char* call);
