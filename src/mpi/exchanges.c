// SPDX-License-Identifier: Apache-2.0
/// Collectives in which ranks have parts of different sizes, or all send to all: pair by pair, without a tree.

#include <string.h>

#include "internal.h"

/// Parts of ranks in a buffer: of one size, or of the sizes and at the places that are given.
typedef struct Parts {
  char* buffer;
  MPI_Datatype type;
  int count;
  const int *counts, *places;
} Parts;

static int count_of(const Parts* parts, int rank) { return parts->counts ? parts->counts[rank] : parts->count; }

static size_t bytes_of(const Parts* parts, int rank) {
  return (size_t)count_of(parts, rank) * gsmpi_type_size(parts->type);
}

static char* place_of(const Parts* parts, int rank) {
  const intptr_t at = parts->counts ? parts->places[rank] : (intptr_t)rank * parts->count;
  return parts->buffer + at * gsmpi_extent(parts->type);
}

static int check_parts(const Comm* comm, const char* call, const Parts* parts) {
  for (int rank = 0; rank < (parts->counts ? comm->size : 1); ++rank)
    GIVE(gsmpi_check_buffer(comm, call, parts->buffer, count_of(parts, rank), parts->type));
  return MPI_SUCCESS;
}

/// Sends one part and receives another; parts with gaps are copied on the way.
static int swap(Comm* comm, const Parts* out, int to, const Parts* in, int from, int sign) {
  const char* call = gsmpi_name(sign >> 16);
  const size_t out_bytes = bytes_of(out, to), in_bytes = bytes_of(in, from);
  char* sent = gsmpi_allocate(out_bytes, call);
  char* got = gsmpi_allocate(in_bytes, call);
  gsmpi_pack(place_of(out, to), count_of(out, to), out->type, sent);
  int error = MPI_SUCCESS;
  if (to == comm->rank)
    memcpy(got, sent, in_bytes);  // as many as are sent: gsmpi_check_own has seen to that
  else
    error = gsmpi_exchange(comm, to, sent, out_bytes, from, got, in_bytes, sign);
  if (!error) gsmpi_unpack(got, in_bytes, count_of(in, from), in->type, place_of(in, from));
  gsmpi_release(sent);
  gsmpi_release(got);
  return error;
}

static int all_to_all(int kind, Parts* out, Parts* in, MPI_Comm handle) {
  const char* call = gsmpi_name(kind);
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  GIVE(check_parts(comm, call, in));
  char* copy = NULL;
  Parts kept = *in;
  if (out->buffer == MPI_IN_PLACE) {  // what is sent must outlive what comes
    size_t bytes = 0;
    for (int rank = 0; rank < comm->size; ++rank) {
      const char* end = place_of(in, rank) + count_of(in, rank) * gsmpi_extent(in->type);
      if ((size_t)(end - in->buffer) > bytes) bytes = (size_t)(end - in->buffer);
    }
    copy = gsmpi_allocate(bytes, call);
    memcpy(copy, in->buffer, bytes);
    kept.buffer = copy;
    out = &kept;
  } else {
    GIVE(check_parts(comm, call, out));
    GIVE(gsmpi_check_own(comm, call, bytes_of(out, comm->rank), bytes_of(in, comm->rank)));
  }
  int error = MPI_SUCCESS;
  for (int step = 0; step < comm->size && !error; ++step)
    error = swap(comm, out, (comm->rank + step) % comm->size, in, (comm->rank + comm->size - step) % comm->size,
                 gsmpi_signature(kind, 0));
  gsmpi_release(copy);
  return error;
}

int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                 MPI_Comm comm) {
  Parts sent = {(char*)in, in_type, in_count, NULL, NULL}, got = {out, out_type, out_count, NULL, NULL};
  return all_to_all(kAlltoall, &sent, &got, comm);
}

int MPI_Alltoallv(const void* in, const int in_counts[], const int in_displacements[], MPI_Datatype in_type, void* out,
                  const int out_counts[], const int out_displacements[], MPI_Datatype out_type, MPI_Comm comm) {
  Parts sent = {(char*)in, in_type, 0, in_counts, in_displacements};
  Parts got = {out, out_type, 0, out_counts, out_displacements};
  return all_to_all(kAlltoallv, &sent, &got, comm);
}

// ---------------------------------------------------------------------- one for all, of different sizes

int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                const int displacements[], MPI_Datatype out_type, int root, MPI_Comm handle) {
  const char* call = gsmpi_name(kGatherv);
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  GIVE(gsmpi_check_root(comm, call, root));
  const int sign = gsmpi_signature(kGatherv, root);
  const bool mine = comm->rank == root, placed = mine && in == MPI_IN_PLACE;
  char* packed = NULL;
  size_t bytes = 0;
  if (!placed) {
    GIVE(gsmpi_check_buffer(comm, call, in, in_count, in_type));
    bytes = (size_t)in_count * gsmpi_type_size(in_type);
    packed = gsmpi_allocate(bytes, call);
    gsmpi_pack(in, in_count, in_type, packed);
  }
  int error = MPI_SUCCESS;
  if (!mine) {
    error = gsmpi_send(comm, root, packed, bytes, sign);
  } else {
    const Parts parts = {out, out_type, 0, out_counts, displacements};
    error = check_parts(comm, call, &parts);
    if (!error && !placed) error = gsmpi_check_own(comm, call, bytes, bytes_of(&parts, root));
    for (int rank = 0; rank < comm->size && !error; ++rank) {
      if (rank == root) {
        if (!placed) gsmpi_unpack(packed, bytes, count_of(&parts, rank), out_type, place_of(&parts, rank));
        continue;
      }
      char* got = gsmpi_allocate(bytes_of(&parts, rank), call);
      error = gsmpi_receive(comm, rank, got, bytes_of(&parts, rank), sign);
      if (!error) gsmpi_unpack(got, bytes_of(&parts, rank), count_of(&parts, rank), out_type, place_of(&parts, rank));
      gsmpi_release(got);
    }
  }
  gsmpi_release(packed);
  return error;
}

int MPI_Scatterv(const void* in, const int in_counts[], const int displacements[], MPI_Datatype in_type, void* out,
                 int out_count, MPI_Datatype out_type, int root, MPI_Comm handle) {
  const char* call = gsmpi_name(kScatterv);
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  GIVE(gsmpi_check_root(comm, call, root));
  const int sign = gsmpi_signature(kScatterv, root);
  const bool mine = comm->rank == root, placed = mine && out == MPI_IN_PLACE;
  if (!placed) GIVE(gsmpi_check_buffer(comm, call, out, out_count, out_type));
  if (!mine) {
    const size_t bytes = (size_t)out_count * gsmpi_type_size(out_type);
    char* got = gsmpi_allocate(bytes, call);
    const int error = gsmpi_receive(comm, root, got, bytes, sign);
    if (!error) gsmpi_unpack(got, bytes, out_count, out_type, out);
    gsmpi_release(got);
    return error;
  }
  const Parts parts = {(char*)in, in_type, 0, in_counts, displacements};
  int error = check_parts(comm, call, &parts);
  if (!error && !placed)
    error = gsmpi_check_own(comm, call, bytes_of(&parts, root), (size_t)out_count * gsmpi_type_size(out_type));
  for (int rank = 0; rank < comm->size && !error; ++rank) {
    if (rank == root && placed) continue;
    const size_t bytes = bytes_of(&parts, rank);
    char* packed = gsmpi_allocate(bytes, call);
    gsmpi_pack(place_of(&parts, rank), count_of(&parts, rank), in_type, packed);
    if (rank == root)
      gsmpi_unpack(packed, bytes, out_count, out_type, out);
    else
      error = gsmpi_send(comm, rank, packed, bytes, sign);
    gsmpi_release(packed);
  }
  return error;
}

// ---------------------------------------------------------------------- all to all, the same to each

/// Each part goes round a ring.
static int all_gather(int kind, const void* in, int in_count, MPI_Datatype in_type, const Parts* parts,
                      MPI_Comm handle) {
  const char* call = gsmpi_name(kind);
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  GIVE(check_parts(comm, call, parts));
  const int size = comm->size, me = comm->rank;
  size_t most = 0;
  for (int rank = 0; rank < size; ++rank)
    if (bytes_of(parts, rank) > most) most = bytes_of(parts, rank);
  char* here = gsmpi_allocate(2 * most, call);
  char* there = here + most;
  if (in == MPI_IN_PLACE) {
    gsmpi_pack(place_of(parts, me), count_of(parts, me), parts->type, here);
  } else {
    int error = gsmpi_check_buffer(comm, call, in, in_count, in_type);
    if (!error) error = gsmpi_check_own(comm, call, (size_t)in_count * gsmpi_type_size(in_type), bytes_of(parts, me));
    if (error) {
      gsmpi_release(here);
      return error;
    }
    gsmpi_pack(in, in_count, in_type, here);
    gsmpi_unpack(here, bytes_of(parts, me), count_of(parts, me), parts->type, place_of(parts, me));
  }
  int error = MPI_SUCCESS;
  for (int step = 1; step < size && !error; ++step) {
    const int out = (me - step + 1 + size) % size, got = (me - step + size) % size;
    error = gsmpi_exchange(comm, (me + 1) % size, here, bytes_of(parts, out), (me + size - 1) % size, there,
                           bytes_of(parts, got), gsmpi_signature(kind, 0));
    if (error) break;
    gsmpi_unpack(there, bytes_of(parts, got), count_of(parts, got), parts->type, place_of(parts, got));
    memcpy(here, there, bytes_of(parts, got));
  }
  gsmpi_release(here);
  return error;
}

int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                  MPI_Comm comm) {
  const Parts parts = {out, out_type, out_count, NULL, NULL};
  return all_gather(kAllgather, in, in_count, in_type, &parts, comm);
}

int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                   const int displacements[], MPI_Datatype out_type, MPI_Comm comm) {
  const Parts parts = {out, out_type, 0, out_counts, displacements};
  return all_gather(kAllgatherv, in, in_count, in_type, &parts, comm);
}

// ---------------------------------------------------------------------- two at once

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int dest, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request receiving, sending;
  GIVE(MPI_Irecv(in, in_count, in_type, source, in_tag, comm, &receiving));
  const int error = MPI_Isend(out, out_count, out_type, dest, out_tag, comm, &sending);
  if (error) {
    MPI_Cancel(&receiving);
    MPI_Request_free(&receiving);
    return error;
  }
  const int other = gsmpi_finish_waited(&receiving, status, "MPI_Sendrecv");
  gsmpi_finish_waited(&sending, MPI_STATUS_IGNORE, "MPI_Sendrecv");
  return other;
}

int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int out_tag, int source, int in_tag,
                         MPI_Comm handle, MPI_Status* status) {
  const char* call = "MPI_Sendrecv_replace";
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  GIVE(gsmpi_check_buffer(comm, call, buffer, count, type));
  const size_t bytes = (size_t)count * gsmpi_type_size(type);
  char* copy = gsmpi_allocate(bytes, call);
  gsmpi_pack(buffer, count, type, copy);
  const int error =
      MPI_Sendrecv(copy, (int)bytes, MPI_BYTE, dest, out_tag, buffer, count, type, source, in_tag, handle, status);
  gsmpi_release(copy);
  return error;
}
