// SPDX-License-Identifier: Apache-2.0
/// Reductions whose result is distributed, and of one rank's buffers.

#include "internal.h"

SMALL_CODE_BEGIN

/// Reduces all blocks to rank 0, which sends each rank its own. `counts` is null if all blocks have `count` elements.
static int reduce_scatter(int kind, const void* in, void* out, const int counts[], int count, MPI_Datatype type,
                          MPI_Op op, MPI_Comm handle) {
  Comm* comm = gsmpi_enter(handle, kind);
  if (!comm) return MPI_ERR_COMM;
  const char* call = gsmpi_name(kind);
  int64_t total = 0;
  for (int rank = 0; rank < comm->size; ++rank) {
    const int block = counts ? counts[rank] : count;
    if (block < 0) return gsmpi_error(comm, MPI_ERR_COUNT, call, "the count %d of rank %d is negative", block, rank);
    total += block;
  }
  if (total > INT32_MAX) return gsmpi_error(comm, MPI_ERR_COUNT, call, "the blocks are more than 2 GB");
  const void* from = in == MPI_IN_PLACE ? out : in;
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, from, (int)total, type));
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, out, counts ? counts[comm->rank] : count, type));
  RETURN_ON_ERROR(gsmpi_check_op(comm, call, op, type));
  const int sign = gsmpi_signature(kind, 0);
  const size_t each = gsmpi_type_size(type);
  char* data = gsmpi_allocate((size_t)total * each, call);
  gsmpi_pack(from, (int)total, type, data);
  int error = gsmpi_reduce_to_first(comm, data, (int)total, type, op, 0, sign);
  const int own = counts ? counts[comm->rank] : count;
  if (!error && comm->rank) error = gsmpi_receive(comm, 0, data, (size_t)own * each, sign);
  size_t at = (size_t)own * each;
  for (int rank = 1; !error && comm->rank == 0 && rank < comm->size; ++rank) {
    const size_t bytes = (size_t)(counts ? counts[rank] : count) * each;
    error = gsmpi_send(comm, rank, data + at, bytes, sign);
    at += bytes;
  }
  if (!error) gsmpi_unpack(data, (size_t)own * each, own, type, out);
  gsmpi_release(data);
  return error;
}

int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  return reduce_scatter(kReduceScatter, in, out, counts, 0, type, op, comm);
}

int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  return reduce_scatter(kReduceScatterBlock, in, out, NULL, count, type, op, comm);
}

int MPI_Reduce_local(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
  static const char call[] = "MPI_Reduce_local";
  CALLED();
  RETURN_ON_ERROR(gsmpi_check_buffer(NULL, call, in, count, type));
  RETURN_ON_ERROR(gsmpi_check_buffer(NULL, call, inout, count, type));
  RETURN_ON_ERROR(gsmpi_check_op(NULL, call, op, type));
  const size_t bytes = (size_t)count * gsmpi_type_size(type);
  char *data = gsmpi_allocate(2 * bytes, call), *result = data + bytes;
  gsmpi_pack(in, count, type, data);
  gsmpi_pack(inout, count, type, result);
  gsmpi_operate(op, data, result, count, type);
  gsmpi_unpack(result, bytes, count, type, inout);
  gsmpi_release(data);
  return MPI_SUCCESS;
}

SMALL_CODE_END
