// SPDX-License-Identifier: Apache-2.0
/// Initialization, finalization and communicators.

#include <string.h>

#include "transport.h"

#ifndef __GOSSAMER_DEVICE__
#include <stdlib.h>

void* gsmpi_allocate(size_t bytes, const char* call) {
  void* memory = malloc(bytes ? bytes : 1);
  if (!memory) gsmpi_abort_run(MPI_ERR_NO_MEM, call, "out of memory: cannot allocate %zu bytes", bytes);
  return memory;
}

void* gsmpi_try_allocate(size_t bytes) { return malloc(bytes ? bytes : 1); }

void gsmpi_release(void* memory) { free(memory); }
#endif

SMALL_CODE_BEGIN

char* gsmpi_copy_text(const char* text, const char* call) {
  const size_t bytes = strlen(text) + 1;
  return memcpy(gsmpi_allocate(bytes, call), text, bytes);
}

uint32_t gsmpi_add_entry(Table* table, void* entry, uint32_t most) {
  uint32_t index = 1;
  while (index < table->size && table->entries[index]) ++index;
  if (index >= table->size) {
    const uint32_t doubled = table->size ? 2 * table->size : 16, size = doubled < most ? doubled : most;
    void** larger = index < size ? gsmpi_try_allocate(size * sizeof *larger) : NULL;
    if (!larger) return 0;
    memset(larger, 0, size * sizeof *larger);
    if (table->size) memcpy(larger, table->entries, table->size * sizeof *larger);
    gsmpi_release(table->entries);
    table->entries = larger;
    table->size = size;
  }
  table->entries[index] = entry;
  return index;
}

bool gsmpi_reserve_context(uint32_t number) {
  if (number / 32 < gsmpi.context_words) return true;
  uint32_t words = 2 * gsmpi.context_words;
  while (words <= number / 32) words = words ? 2 * words : 8;
  uint32_t* larger = gsmpi_try_allocate(words * sizeof *larger);
  if (!larger) return false;
  memset(larger, 0, words * sizeof *larger);
  if (gsmpi.context_words) memcpy(larger, gsmpi.contexts, gsmpi.context_words * sizeof *larger);
  gsmpi_release(gsmpi.contexts);
  gsmpi.contexts = larger;
  gsmpi.context_words = words;
  return true;
}

/// A communicator without handle and context, or null without memory.
static Comm* allocate_comm(int size, int rank) {
  Comm* comm = gsmpi_try_allocate(sizeof *comm + (size_t)size * sizeof *comm->peers);
  if (!comm) return NULL;
  *comm = (Comm){.rank = rank, .size = size, .handler = MPI_ERRORS_ARE_FATAL};
  return comm;
}

/// Assigns a handle; false if none is free.
static bool assign_handle(Comm* comm) {
  int index = MPI_COMM_WORLD;
  while (index < kNearComms && gsmpi.comms[index]) ++index;
  if (index == kNearComms) {
    const uint32_t far = gsmpi_add_entry(&gsmpi.far_comms, comm, kMostHandles);
    comm->handle = kNearComms + (int)far;
    return far != 0;
  }
  comm->handle = index;
  gsmpi.comms[index] = comm;
  return true;
}

static void release_handle(const Comm* comm) {
  if (comm->handle < kNearComms)
    gsmpi.comms[comm->handle] = NULL;
  else
    gsmpi.far_comms.entries[comm->handle - kNearComms] = NULL;
}

static void assign_context(Comm* comm, uint32_t number) {
  comm->context = 4 * number;
  comm->context_high = comm->context << 16;
  gsmpi.contexts[number / 32] |= 1u << number % 32;
}

/// A communicator of MPI_Init.
static Comm* first_comm(int size, int rank, uint32_t number) {
  Comm* comm = allocate_comm(size, rank);
  if (!comm || !gsmpi_reserve_context(number) || !assign_handle(comm))
    gsmpi_abort_run(MPI_ERR_NO_MEM, "MPI_Init", "out of memory for communicators");
  assign_context(comm, number);
  return comm;
}

int MPI_Init(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  if (!gsmpi.caller) CALLED();  // MPI_Init_thread has recorded its own
  if (gsmpi.ready)
    gsmpi_abort_run(MPI_ERR_OTHER, "MPI_Init", gsmpi.finalized ? "called after MPI_Finalize" : "called twice");
  if (!transport_join(&gsmpi.rank, &gsmpi.size))
    gsmpi_abort_run(MPI_ERR_OTHER, "MPI_Init",
                    "this process is not a rank of a run; start the program with ./gossamer mpi run");
  gsmpi.mine = kEager | (uint32_t)gsmpi.rank << 16;
  gsmpi.peers = gsmpi_allocate((size_t)gsmpi.size * sizeof *gsmpi.peers, "MPI_Init");
  Comm* world = first_comm(gsmpi.size, gsmpi.rank, 0);
  for (int rank = 0; rank < gsmpi.size; ++rank) {
    gsmpi.peers[rank] = (Peer){.address = transport_address(rank),
                               .matcher = transport_matcher(transport_address(rank)),
                               .first = gsmpi.mine,
                               .limit = kCredits,
                               .rank = (uint16_t)rank};
    world->peers[rank] = gsmpi.peers + rank;
  }
  Comm* self = first_comm(1, 0, 1);
  self->peers[0] = gsmpi.peers + gsmpi.rank;
  self->rank_of = gsmpi_allocate((size_t)gsmpi.size * sizeof *self->rank_of, "MPI_Init");
  self->rank_of[gsmpi.rank] = 0;
#if MATCH_IN_HARDWARE
  gsmpi.engine.address = gsmpi.peers[gsmpi.rank].matcher;
#endif
  gsmpi.receiving = gsmpi_new_request("MPI_Init");
  gsmpi.receiving->receives = gsmpi.receiving->active = true;
  gsmpi.receiving->type = MPI_BYTE;
  transport_start();
  gsmpi.ready = true;
  return MPI_SUCCESS;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  CALLED();
  *provided = gsmpi.thread_level = required < MPI_THREAD_FUNNELED ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED;
  return MPI_Init(argc, argv);
}

int MPI_Query_thread(int* provided) {
  *provided = gsmpi.thread_level;
  return MPI_SUCCESS;
}

int MPI_Is_thread_main(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}

/// For profilers, which the library does not support.
int MPI_Pcontrol(int level, ...) {
  (void)level;
  return MPI_SUCCESS;
}

int MPI_Alloc_mem(MPI_Aint bytes, MPI_Info info, void* made) {
  (void)info;
  CALLED();
  if (bytes < 0) return gsmpi_error(NULL, MPI_ERR_ARG, "MPI_Alloc_mem", "the size %ld is negative", (long)bytes);
  void* memory = gsmpi_try_allocate((size_t)bytes);
  *(void**)made = memory;
  return memory ? MPI_SUCCESS
                : gsmpi_error(NULL, MPI_ERR_NO_MEM, "MPI_Alloc_mem", "out of memory: cannot allocate %ld bytes",
                              (long)bytes);
}

int MPI_Free_mem(void* memory) {
  gsmpi_release(memory);
  return MPI_SUCCESS;
}

int MPI_Initialized(int* flag) {
  *flag = gsmpi.ready;
  return MPI_SUCCESS;
}

int MPI_Finalized(int* flag) {
  *flag = gsmpi.finalized;
  return MPI_SUCCESS;
}

int MPI_Finalize(void) {
  CALLED();
  Comm* world = gsmpi_check_comm(MPI_COMM_WORLD, "MPI_Finalize");
  if (gsmpi.hooks.delete_attributes) {
    // In this order, so that a function of MPI_COMM_SELF's can still communicate.
    gsmpi.hooks.delete_attributes(MPI_COMM_SELF, &gsmpi.comms[MPI_COMM_SELF]->attributes);
    gsmpi.hooks.delete_attributes(MPI_COMM_WORLD, &world->attributes);
  }
  if (gsmpi.hooks.detach_buffer) gsmpi.hooks.detach_buffer();
  world->handler = MPI_ERRORS_ARE_FATAL;
  gsmpi.finalizing = true;
  gsmpi_flush();  // returns owed credits: after the barrier their receivers may have exited
  gsmpi_barrier(world, kFinalize);
  gsmpi_progress();
  // All messages sent before this barrier have arrived. An unreceived message of a collective reveals a missing call.
  const UnexpectedMessage* unreceived = gsmpi_match_unreceived();
  if (unreceived)
    gsmpi_abort_run(
        MPI_ERR_OTHER, "MPI_Finalize",
        "rank %d has called %s, and this rank has not: all ranks of a communicator must make the same collective "
        "calls",
        unreceived->peer->rank, gsmpi_collective_name(unreceived->tag));
  for (int i = 0; i < kNearComms; ++i) gsmpi.comms[i] = NULL;
  gsmpi.far_comms.size = 0;
  gsmpi.finalized = true;
  transport_leave();
  return MPI_SUCCESS;
}

double MPI_Wtime(void) { return transport_seconds(); }
double MPI_Wtick(void) { return transport_tick(); }

static void text(char* to, const char* from, int* length) {
  strcpy(to, from);
  *length = (int)strlen(from);
}

int MPI_Get_processor_name(char* name, int* length) {
  transport_host(name, MPI_MAX_PROCESSOR_NAME);
  *length = (int)strlen(name);
  return MPI_SUCCESS;
}

int MPI_Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int MPI_Get_library_version(char* version, int* length) {
  text(version, "Gossamer MPI", length);
  return MPI_SUCCESS;
}

// ---------------------------------------------------------------------- communicators

int MPI_Comm_rank(MPI_Comm handle, int* rank) {
  CALLED();
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_rank");
  if (!comm) return MPI_ERR_COMM;
  *rank = comm->rank;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm handle, int* size) {
  CALLED();
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_size");
  if (!comm) return MPI_ERR_COMM;
  *size = comm->size;
  return MPI_SUCCESS;
}

static uint32_t lowest_free_context(void) {
  for (uint32_t word = 0; word < gsmpi.context_words; ++word)
    if (~gsmpi.contexts[word]) return 32 * word + (uint32_t)__builtin_ctz(~gsmpi.contexts[word]);
  return 32 * gsmpi.context_words;
}

/// Finds the lowest context that no rank of the communicator uses: in most cases all propose the same. `number` is
/// kContexts if all are in use, or if a rank cannot use it.
static int agree_on_context(Comm* comm, bool usable, int kind, uint32_t* number) {
  enum { kWindow = 8 };  // words of a bitmap
  if (gsmpi.task) return gsmpi.task->agree_on_context(comm, usable, number);
  const uint32_t mine = usable ? lowest_free_context() : kContexts;
  uint32_t all[kWindow + 1] = {mine, ~mine};
  RETURN_ON_ERROR(gsmpi_agree(comm, all, 2, kind));
  *number = mine;
  if (all[0] == mine && all[1] == ~mine) return MPI_SUCCESS;
  *number = kContexts;
  for (uint32_t word = 0; word < kContexts / 32; word += kWindow) {
    for (uint32_t i = 0; i < kWindow; ++i) all[i] = word + i < gsmpi.context_words ? gsmpi.contexts[word + i] : 0;
    all[kWindow] = !usable;
    RETURN_ON_ERROR(gsmpi_agree(comm, all, kWindow + 1, kind));
    if (all[kWindow]) return MPI_SUCCESS;
    for (uint32_t i = 0; i < kWindow; ++i) {
      if (!~all[i]) continue;
      *number = 32 * (word + i) + (uint32_t)__builtin_ctz(~all[i]);
      return MPI_SUCCESS;
    }
  }
  return MPI_SUCCESS;
}

static void release_comm(Comm* comm) {
  gsmpi_release(comm->rank_of);
  gsmpi_release(comm->name);
  gsmpi_release(comm->topology);
  gsmpi_release(comm);
}

int gsmpi_derive(const char* call, Comm* from, const int* ranks, int size, int kind, int mark, MPI_Comm* made) {
  Comm* comm = NULL;
  bool usable = true;
  if (ranks) {
    int rank = 0;
    while (ranks[rank] != from->rank) ++rank;
    comm = allocate_comm(size, rank);
    uint16_t* rank_of = gsmpi_try_allocate((size_t)gsmpi.size * sizeof *rank_of);
    usable = comm && rank_of && gsmpi_reserve_context(gsmpi.task ? kContexts - 1 : lowest_free_context()) &&
             assign_handle(comm);
    if (comm) {
      comm->rank_of = rank_of;
      comm->handler = from->handler;
    }
    for (int i = 0; comm && rank_of && i < size; ++i) {
      comm->peers[i] = from->peers[ranks[i]];
      rank_of[comm->peers[i]->rank] = (uint16_t)i;
    }
  }
  uint32_t number = kContexts;
  int error = MPI_SUCCESS;
  if (kind != kCreateGroup) {
    error = agree_on_context(from, usable, kind, &number);
  } else {
    if (!comm || !comm->rank_of) gsmpi_abort_run(MPI_ERR_NO_MEM, call, "out of memory for a communicator");
    comm->context = from->context;
    comm->subset = true;
    comm->sequence = (uint16_t)mark;
    error = agree_on_context(comm, usable, kind, &number);
    comm->subset = false;
    comm->sequence = 0;
  }
  if (!error && number < kContexts && ranks && !gsmpi_reserve_context(number)) number = kContexts;
  if (!error && number < kContexts) {
    if (ranks) {
      assign_context(comm, number);
      *made = comm->handle;
    }
    return MPI_SUCCESS;
  }
  if (comm) {
    if (gsmpi_comm(comm->handle) == comm) release_handle(comm);
    release_comm(comm);
  }
  if (error) return error;
  return gsmpi_error(
      from, MPI_ERR_OTHER, call,
      "no further communicator is possible: %d contexts are in use, or a rank is out of memory; free some", kContexts);
}

int MPI_Comm_split(MPI_Comm handle, int color, int key, MPI_Comm* part) {
  static const char call[] = "MPI_Comm_split";
  CALLED();
  *part = MPI_COMM_NULL;
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  if (color < 0 && color != MPI_UNDEFINED)
    return gsmpi_error(comm, MPI_ERR_ARG, call, "the colour %d is negative and not MPI_UNDEFINED", color);
  return gsmpi_split(call, comm, color, key, part);
}

int gsmpi_split(const char* call, Comm* comm, int color, int key, MPI_Comm* part) {
  const int mine[2] = {color, key};
  int* all = gsmpi_allocate((size_t)comm->size * 3 * sizeof(int), call);
  int error = gsmpi_allgather_bytes(comm, mine, all, sizeof mine, kSplit);
  int* ranks = color == MPI_UNDEFINED ? NULL : all + 2 * comm->size;
  int size = 0;
  for (int rank = 0; ranks && !error && rank < comm->size; ++rank) {
    if (all[2 * rank] != color) continue;
    int at = size++;  // insertion sort by key, then by rank
    for (; at > 0 && all[2 * ranks[at - 1] + 1] > all[2 * rank + 1]; --at) ranks[at] = ranks[at - 1];
    ranks[at] = rank;
  }
  if (!error) error = gsmpi_derive(call, comm, ranks, size, kSplit, 0, part);
  gsmpi_release(all);
  return error;
}

int MPI_Comm_dup(MPI_Comm handle, MPI_Comm* copy) {
  static const char call[] = "MPI_Comm_dup";
  CALLED();
  *copy = MPI_COMM_NULL;
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  return gsmpi_duplicate(call, comm, copy);
}

int gsmpi_duplicate(const char* call, Comm* comm, MPI_Comm* copy) {
  int* ranks = gsmpi_allocate((size_t)comm->size * sizeof *ranks, call);
  for (int rank = 0; rank < comm->size; ++rank) ranks[rank] = rank;
  int error = gsmpi_derive(call, comm, ranks, comm->size, kDup, 0, copy);
  gsmpi_release(ranks);
  if (error) return error;
  Comm* made = gsmpi_comm(*copy);
  if (comm->topology)
    made->topology = memcpy(gsmpi_allocate(comm->topology->bytes, call), comm->topology, comm->topology->bytes);
  if (comm->info) gsmpi.hooks.copy_info(comm->info, &made->info);
  if (!comm->attributes) return MPI_SUCCESS;
  error = gsmpi.hooks.copy_attributes(comm->handle, comm->attributes, &made->attributes);
  if (!error) return MPI_SUCCESS;
  gsmpi_free_comm(made);
  *copy = MPI_COMM_NULL;
  return gsmpi_error(comm, error, call, "a copy function of an attribute has returned %d", error);
}

int MPI_Comm_free(MPI_Comm* handle) {
  static const char call[] = "MPI_Comm_free";
  CALLED();
  Comm* comm = gsmpi_check_comm(*handle, call);
  if (!comm) return MPI_ERR_COMM;
  if (*handle <= MPI_COMM_SELF)
    return gsmpi_error(comm, MPI_ERR_COMM, call, "%s cannot be freed",
                       *handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
  const int error = comm->attributes ? gsmpi.hooks.delete_attributes(*handle, &comm->attributes) : MPI_SUCCESS;
  if (error) return gsmpi_error(comm, error, call, "a delete function of an attribute has returned %d", error);
  gsmpi_free_comm(comm);
  *handle = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

void gsmpi_free_comm(Comm* comm) {
  release_handle(comm);
  if (comm->info) gsmpi.hooks.free_info(&comm->info);
  gsmpi.receiving->comm = NULL;  // no MPI_Recv is in progress; drop its last communicator
  // If messages of it may still be in flight, its memory stays allocated and its context is not reused.
  if (comm->matched_messages) return;
  for (uint32_t i = 0; i < gsmpi.request_count; ++i)
    if (gsmpi.requests[i]->used && gsmpi.requests[i]->comm == comm) return;
  const uint32_t number = comm->context / 4;
  gsmpi.contexts[number / 32] &= ~(1u << number % 32);
  release_comm(comm);
}

SMALL_CODE_END
