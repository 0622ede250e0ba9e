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

void gsmpi_release(void* memory) { free(memory); }
#endif

static Comm* new_comm(const char* call, int size, int rank, uint32_t number) {
  int index = MPI_COMM_WORLD;
  while (index < kComms && gsmpi.comms[index]) ++index;
  if (index == kComms) gsmpi_abort_run(MPI_ERR_OTHER, call, "%d communicators are in use, the maximum", kComms - 1);
  Comm* comm = gsmpi_allocate(sizeof *comm + (size_t)size * sizeof *comm->peers, call);
  *comm = (Comm){.handle = index, .context = 2 * number, .rank = rank, .size = size, .handler = MPI_ERRORS_ARE_FATAL};
  comm->context_high = comm->context << 16;
  gsmpi.comms[index] = comm;
  gsmpi.contexts[number / 32] |= 1u << number % 32;
  return comm;
}

int MPI_Init(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  if (gsmpi.ready)
    gsmpi_abort_run(MPI_ERR_OTHER, "MPI_Init", gsmpi.finalized ? "called after MPI_Finalize" : "called twice");
  if (!transport_join(&gsmpi.rank, &gsmpi.size))
    gsmpi_abort_run(MPI_ERR_OTHER, "MPI_Init",
                    "this process is not a rank of a run; start the program with ./gossamer mpi run");
  gsmpi.mine = kEager | (uint32_t)gsmpi.rank << 16;
  gsmpi.peers = gsmpi_allocate((size_t)gsmpi.size * sizeof *gsmpi.peers, "MPI_Init");
  Comm* world = new_comm("MPI_Init", gsmpi.size, gsmpi.rank, 0);
  for (int rank = 0; rank < gsmpi.size; ++rank) {
    gsmpi.peers[rank] = (Peer){.address = transport_address(rank),
                               .matcher = transport_matcher(transport_address(rank)),
                               .first = gsmpi.mine,
                               .limit = kCredits,
                               .rank = (uint16_t)rank};
    world->peers[rank] = gsmpi.peers + rank;
  }
  Comm* self = new_comm("MPI_Init", 1, 0, 1);
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
  (void)required;
  *provided = MPI_THREAD_FUNNELED;
  return MPI_Init(argc, argv);
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
  Comm* world = gsmpi_check_comm(MPI_COMM_WORLD, "MPI_Finalize");
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
  for (int i = 0; i < kComms; ++i) gsmpi.comms[i] = NULL;
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
  text(name, "gossamer", length);
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
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_rank");
  if (!comm) return MPI_ERR_COMM;
  *rank = comm->rank;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm handle, int* size) {
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_size");
  if (!comm) return MPI_ERR_COMM;
  *size = comm->size;
  return MPI_SUCCESS;
}

int MPI_Comm_get_attr(MPI_Comm handle, int key, void* value, int* flag) {
  static const int most_tag = kMostTag;
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_get_attr");
  if (!comm) return MPI_ERR_COMM;
  *flag = key == MPI_TAG_UB;
  if (*flag) *(const int**)value = &most_tag;
  return MPI_SUCCESS;
}

/// A context that no rank of the communicator uses, or -1.
static int new_context(Comm* comm, int kind) {
  uint32_t used[kContexts / 32];
  memcpy(used, gsmpi.contexts, sizeof used);
  if (gsmpi_agree(comm, used, kContexts / 32, kind)) return -1;
  for (int number = 0; number < kContexts; ++number)
    if (!(used[number / 32] >> number % 32 & 1)) return number;
  return -1;
}

/// Creates a communicator of some ranks of another, in the given order.
static int derive(const char* call, Comm* from, const int* ranks, int size, int number, MPI_Comm* made) {
  int rank = 0;
  while (ranks[rank] != from->rank) ++rank;
  Comm* comm = new_comm(call, size, rank, (uint32_t)number);
  comm->handler = from->handler;
  comm->rank_of = gsmpi_allocate((size_t)gsmpi.size * sizeof *comm->rank_of, call);
  for (int i = 0; i < size; ++i) {
    comm->peers[i] = from->peers[ranks[i]];
    comm->rank_of[comm->peers[i]->rank] = (uint16_t)i;
  }
  *made = comm->handle;
  return MPI_SUCCESS;
}

int MPI_Comm_split(MPI_Comm handle, int color, int key, MPI_Comm* part) {
  static const char call[] = "MPI_Comm_split";
  *part = MPI_COMM_NULL;
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  if (color < 0 && color != MPI_UNDEFINED)
    return gsmpi_error(comm, MPI_ERR_ARG, call, "the colour %d is negative and not MPI_UNDEFINED", color);
  const int mine[2] = {color, key};
  int* all = gsmpi_allocate((size_t)comm->size * sizeof mine, call);
  int error = gsmpi_allgather_bytes(comm, mine, all, sizeof mine, kSplit);
  const int number = error ? 0 : new_context(comm, kSplit);
  if (error || number < 0 || color == MPI_UNDEFINED) {
    gsmpi_release(all);
    if (!error && number < 0)
      return gsmpi_error(comm, MPI_ERR_OTHER, call, "%d communicators are in use, the maximum", kContexts);
    return error;
  }
  int* ranks = gsmpi_allocate((size_t)comm->size * sizeof *ranks, call);
  int size = 0;
  for (int rank = 0; rank < comm->size; ++rank) {
    if (all[2 * rank] != color) continue;
    int at = size++;  // insertion sort by key, then by rank
    for (; at > 0 && all[2 * ranks[at - 1] + 1] > all[2 * rank + 1]; --at) ranks[at] = ranks[at - 1];
    ranks[at] = rank;
  }
  derive(call, comm, ranks, size, number, part);
  gsmpi_release(all);
  gsmpi_release(ranks);
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm handle, MPI_Comm* copy) {
  static const char call[] = "MPI_Comm_dup";
  *copy = MPI_COMM_NULL;
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  const int number = new_context(comm, kDup);
  if (number < 0) return gsmpi_error(comm, MPI_ERR_OTHER, call, "%d communicators are in use, the maximum", kContexts);
  int* ranks = gsmpi_allocate((size_t)comm->size * sizeof *ranks, call);
  for (int rank = 0; rank < comm->size; ++rank) ranks[rank] = rank;
  derive(call, comm, ranks, comm->size, number, copy);
  gsmpi_release(ranks);
  return MPI_SUCCESS;
}

int MPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result) {
  const Comm* a = gsmpi_check_comm(one, "MPI_Comm_compare");
  const Comm* b = gsmpi_check_comm(other, "MPI_Comm_compare");
  if (!a || !b) return MPI_ERR_COMM;
  bool congruent = a->size == b->size, similar = congruent;
  for (int i = 0; congruent && i < a->size; ++i) congruent = a->peers[i] == b->peers[i];
  for (int i = 0; similar && !congruent && i < a->size; ++i) {
    int j = 0;
    while (j < b->size && a->peers[i] != b->peers[j]) ++j;
    similar = j < b->size;
  }
  *result = one == other ? MPI_IDENT : congruent ? MPI_CONGRUENT : similar ? MPI_SIMILAR : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* handle) {
  Comm* comm = gsmpi_check_comm(*handle, "MPI_Comm_free");
  if (!comm) return MPI_ERR_COMM;
  if (*handle <= MPI_COMM_SELF)
    return gsmpi_error(comm, MPI_ERR_COMM, "MPI_Comm_free", "%s cannot be freed",
                       *handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
  gsmpi.comms[*handle] = NULL;
  *handle = MPI_COMM_NULL;
  gsmpi.receiving->comm = NULL;  // no MPI_Recv is in progress; drop its last communicator
  // If messages of it may still be in flight, its memory stays allocated and its context is not reused.
  if (comm->matched_messages) return MPI_SUCCESS;
  for (uint32_t i = 0; i < gsmpi.request_count; ++i)
    if (gsmpi.requests[i]->used && gsmpi.requests[i]->comm == comm) return MPI_SUCCESS;
  gsmpi.contexts[comm->context / 64] &= ~(1u << comm->context / 2 % 32);
  gsmpi_release(comm->rank_of);
  gsmpi_release(comm);
  return MPI_SUCCESS;
}
