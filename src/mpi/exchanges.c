// SPDX-License-Identifier: Apache-2.0
/// Collectives with blocks of different sizes, and all-to-all exchanges. They exchange pairwise or in a ring.

#include <string.h>

#include "internal.h"

SMALL_CODE_BEGIN

/// One block per rank in a buffer: of equal size, or with given counts and displacements.
typedef struct Blocks {
  char* buffer;
  MPI_Datatype type;
  int count;
  const int *counts, *displacements;
  const MPI_Datatype* types;  // MPI_Alltoallw: a type for each block, and displacements in bytes
} Blocks;

static int block_count(const Blocks* blocks, int rank) { return blocks->counts ? blocks->counts[rank] : blocks->count; }

static MPI_Datatype block_type(const Blocks* blocks, int rank) {
  return blocks->types ? blocks->types[rank] : blocks->type;
}

static size_t block_bytes(const Blocks* blocks, int rank) {
  return (size_t)block_count(blocks, rank) * gsmpi_type_size(block_type(blocks, rank));
}

static char* block_address(const Blocks* blocks, int rank) {
  if (blocks->types) return blocks->buffer + blocks->displacements[rank];
  const intptr_t at = blocks->counts ? blocks->displacements[rank] : (intptr_t)rank * blocks->count;
  return blocks->buffer + at * gsmpi_extent(blocks->type);
}

static int check_blocks(const Comm* comm, const char* call, const Blocks* blocks) {
  for (int rank = 0; rank < (blocks->counts ? comm->size : 1); ++rank)
    RETURN_ON_ERROR(
        gsmpi_check_buffer(comm, call, blocks->buffer, block_count(blocks, rank), block_type(blocks, rank)));
  return MPI_SUCCESS;
}

/// Sends one block and receives another; blocks are packed on the way.
static int exchange_blocks(Comm* comm, const Blocks* out, int to, const Blocks* in, int from, int sign) {
  const char* call = gsmpi_name(gsmpi_kind(sign));
  const size_t out_bytes = block_bytes(out, to), in_bytes = block_bytes(in, from);
  char* sent = gsmpi_allocate(out_bytes, call);
  char* received = gsmpi_allocate(in_bytes, call);
  gsmpi_pack(block_address(out, to), block_count(out, to), block_type(out, to), sent);
  int error = MPI_SUCCESS;
  if (to == comm->rank)
    memcpy(received, sent, in_bytes);  // gsmpi_check_own has checked that the sizes agree
  else
    error = gsmpi_exchange(comm, to, sent, out_bytes, from, received, in_bytes, sign);
  if (!error) gsmpi_unpack(received, in_bytes, block_count(in, from), block_type(in, from), block_address(in, from));
  gsmpi_release(sent);
  gsmpi_release(received);
  return error;
}

/// Exchanges the blocks of a buffer with those of others: packed first, so that none is overwritten before it is sent.
static int all_to_all_in_place(Comm* comm, const Blocks* blocks, int sign) {
  const char* call = gsmpi_name(gsmpi_kind(sign));
  size_t bytes = 0, most = 0;
  for (int rank = 0; rank < comm->size; ++rank) {
    bytes += block_bytes(blocks, rank);
    if (block_bytes(blocks, rank) > most) most = block_bytes(blocks, rank);
  }
  char* packed = gsmpi_allocate(bytes + most, call);
  char *received = packed + bytes, *at = packed;
  for (int rank = 0; rank < comm->size; at += block_bytes(blocks, rank++))
    gsmpi_pack(block_address(blocks, rank), block_count(blocks, rank), block_type(blocks, rank), at);
  int error = MPI_SUCCESS;
  for (int step = 1; step < comm->size && !error; ++step) {
    const int to = (comm->rank + step) % comm->size, from = (comm->rank + comm->size - step) % comm->size;
    at = packed;
    for (int rank = 0; rank < to; ++rank) at += block_bytes(blocks, rank);
    error = gsmpi_exchange(comm, to, at, block_bytes(blocks, to), from, received, block_bytes(blocks, from), sign);
    if (!error)
      gsmpi_unpack(received, block_bytes(blocks, from), block_count(blocks, from), block_type(blocks, from),
                   block_address(blocks, from));
  }
  gsmpi_release(packed);
  return error;
}

static int all_to_all(int kind, Blocks* out, Blocks* in, MPI_Comm handle) {
  const char* call = gsmpi_name(kind);
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(check_blocks(comm, call, in));
  if (out->buffer == MPI_IN_PLACE) return all_to_all_in_place(comm, in, gsmpi_signature(kind, 0));
  RETURN_ON_ERROR(check_blocks(comm, call, out));
  RETURN_ON_ERROR(gsmpi_check_own(comm, call, block_bytes(out, comm->rank), block_bytes(in, comm->rank)));
  int error = MPI_SUCCESS;
  for (int step = 0; step < comm->size && !error; ++step)
    error = exchange_blocks(comm, out, (comm->rank + step) % comm->size, in,
                            (comm->rank + comm->size - step) % comm->size, gsmpi_signature(kind, 0));
  return error;
}

int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                 MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  Blocks sent = {(char*)in, in_type, in_count, NULL, NULL, NULL},
         received = {out, out_type, out_count, NULL, NULL, NULL};
  return all_to_all(kAlltoall, &sent, &received, comm);
}

int MPI_Alltoallv(const void* in, const int in_counts[], const int in_displacements[], MPI_Datatype in_type, void* out,
                  const int out_counts[], const int out_displacements[], MPI_Datatype out_type, MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  Blocks sent = {(char*)in, in_type, 0, in_counts, in_displacements, NULL};
  Blocks received = {out, out_type, 0, out_counts, out_displacements, NULL};
  return all_to_all(kAlltoallv, &sent, &received, comm);
}

int MPI_Alltoallw(const void* in, const int in_counts[], const int in_displacements[], const MPI_Datatype in_types[],
                  void* out, const int out_counts[], const int out_displacements[], const MPI_Datatype out_types[],
                  MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  Blocks sent = {(char*)in, 0, 0, in_counts, in_displacements, in_types};
  Blocks received = {out, 0, 0, out_counts, out_displacements, out_types};
  return all_to_all(kAlltoallw, &sent, &received, comm);
}

// ---------------------------------------------------------------------- gather and scatter of different sizes

int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                const int displacements[], MPI_Datatype out_type, int root, MPI_Comm handle) {
  CALLED_UNLESS_TASK();
  const char* call = gsmpi_name(kGatherv);
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(gsmpi_check_root(comm, call, root));
  const int sign = gsmpi_signature(kGatherv, root);
  const bool mine = comm->rank == root, in_place = mine && in == MPI_IN_PLACE;
  char* packed = NULL;
  size_t bytes = 0;
  if (!in_place) {
    RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, in, in_count, in_type));
    bytes = (size_t)in_count * gsmpi_type_size(in_type);
    packed = gsmpi_allocate(bytes, call);
    gsmpi_pack(in, in_count, in_type, packed);
  }
  int error = MPI_SUCCESS;
  if (!mine) {
    error = gsmpi_send(comm, root, packed, bytes, sign);
  } else {
    const Blocks blocks = {out, out_type, 0, out_counts, displacements, NULL};
    error = check_blocks(comm, call, &blocks);
    if (!error && !in_place) error = gsmpi_check_own(comm, call, bytes, block_bytes(&blocks, root));
    for (int rank = 0; rank < comm->size && !error; ++rank) {
      if (rank == root) {
        if (!in_place) gsmpi_unpack(packed, bytes, block_count(&blocks, rank), out_type, block_address(&blocks, rank));
        continue;
      }
      char* received = gsmpi_allocate(block_bytes(&blocks, rank), call);
      error = gsmpi_receive(comm, rank, received, block_bytes(&blocks, rank), sign);
      if (!error)
        gsmpi_unpack(received, block_bytes(&blocks, rank), block_count(&blocks, rank), out_type,
                     block_address(&blocks, rank));
      gsmpi_release(received);
    }
  }
  gsmpi_release(packed);
  return error;
}

int MPI_Scatterv(const void* in, const int in_counts[], const int displacements[], MPI_Datatype in_type, void* out,
                 int out_count, MPI_Datatype out_type, int root, MPI_Comm handle) {
  CALLED_UNLESS_TASK();
  const char* call = gsmpi_name(kScatterv);
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(gsmpi_check_root(comm, call, root));
  const int sign = gsmpi_signature(kScatterv, root);
  const bool mine = comm->rank == root, in_place = mine && out == MPI_IN_PLACE;
  if (!in_place) RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, out, out_count, out_type));
  if (!mine) {
    const size_t bytes = (size_t)out_count * gsmpi_type_size(out_type);
    char* received = gsmpi_allocate(bytes, call);
    const int error = gsmpi_receive(comm, root, received, bytes, sign);
    if (!error) gsmpi_unpack(received, bytes, out_count, out_type, out);
    gsmpi_release(received);
    return error;
  }
  const Blocks blocks = {(char*)in, in_type, 0, in_counts, displacements, NULL};
  int error = check_blocks(comm, call, &blocks);
  if (!error && !in_place)
    error = gsmpi_check_own(comm, call, block_bytes(&blocks, root), (size_t)out_count * gsmpi_type_size(out_type));
  for (int rank = 0; rank < comm->size && !error; ++rank) {
    if (rank == root && in_place) continue;
    const size_t bytes = block_bytes(&blocks, rank);
    char* packed = gsmpi_allocate(bytes, call);
    gsmpi_pack(block_address(&blocks, rank), block_count(&blocks, rank), in_type, packed);
    if (rank == root)
      gsmpi_unpack(packed, bytes, out_count, out_type, out);
    else
      error = gsmpi_send(comm, rank, packed, bytes, sign);
    gsmpi_release(packed);
  }
  return error;
}

// ---------------------------------------------------------------------- allgather

/// Each block travels around a ring.
static int all_gather(int kind, const void* in, int in_count, MPI_Datatype in_type, const Blocks* blocks,
                      MPI_Comm handle) {
  const char* call = gsmpi_name(kind);
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(check_blocks(comm, call, blocks));
  const int size = comm->size, me = comm->rank;
  size_t most = 0;
  for (int rank = 0; rank < size; ++rank)
    if (block_bytes(blocks, rank) > most) most = block_bytes(blocks, rank);
  char* here = gsmpi_allocate(2 * most, call);
  char* there = here + most;
  if (in == MPI_IN_PLACE) {
    gsmpi_pack(block_address(blocks, me), block_count(blocks, me), blocks->type, here);
  } else {
    int error = gsmpi_check_buffer(comm, call, in, in_count, in_type);
    if (!error)
      error = gsmpi_check_own(comm, call, (size_t)in_count * gsmpi_type_size(in_type), block_bytes(blocks, me));
    if (error) {
      gsmpi_release(here);
      return error;
    }
    gsmpi_pack(in, in_count, in_type, here);
    gsmpi_unpack(here, block_bytes(blocks, me), block_count(blocks, me), blocks->type, block_address(blocks, me));
  }
  int error = MPI_SUCCESS;
  for (int step = 1; step < size && !error; ++step) {
    const int out = (me - step + 1 + size) % size, received = (me - step + size) % size;
    error = gsmpi_exchange(comm, (me + 1) % size, here, block_bytes(blocks, out), (me + size - 1) % size, there,
                           block_bytes(blocks, received), gsmpi_signature(kind, 0));
    if (error) break;
    gsmpi_unpack(there, block_bytes(blocks, received), block_count(blocks, received), blocks->type,
                 block_address(blocks, received));
    memcpy(here, there, block_bytes(blocks, received));
  }
  gsmpi_release(here);
  return error;
}

int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                  MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  const Blocks blocks = {out, out_type, out_count, NULL, NULL, NULL};
  return all_gather(kAllgather, in, in_count, in_type, &blocks, comm);
}

int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                   const int displacements[], MPI_Datatype out_type, MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  const Blocks blocks = {out, out_type, 0, out_counts, displacements, NULL};
  return all_gather(kAllgatherv, in, in_count, in_type, &blocks, comm);
}

SMALL_CODE_END
