// SPDX-License-Identifier: Apache-2.0
/// A send and a receive in one call.

#include "internal.h"

SMALL_CODE_BEGIN

int gsmpi_sendrecv(const char* call, const void* out, int out_count, MPI_Datatype out_type, int dest, int out_tag,
                   void* in, int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                   MPI_Status* status) {
  Request *receiving, *sending;
  RETURN_ON_ERROR(gsmpi_make_request(call, in, in_count, in_type, source, in_tag, comm, true, false, &receiving));
  const int error = gsmpi_make_request(call, out, out_count, out_type, dest, out_tag, comm, false, false, &sending);
  if (error) {
    gsmpi_free_request(receiving);
    return error;
  }
  gsmpi_start(receiving, call);
  gsmpi_start(sending, call);
  const int other = gsmpi_finish_waited(&receiving, status, call);
  gsmpi_finish_waited(&sending, MPI_STATUS_IGNORE, call);
  return other;
}

int gsmpi_sendrecv_replace(const char* call, void* buffer, int count, MPI_Datatype type, int dest, int out_tag,
                           int source, int in_tag, MPI_Comm handle, MPI_Status* status) {
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, buffer, count, type));
  const size_t bytes = (size_t)count * gsmpi_type_size(type);
  char* copy = gsmpi_allocate(bytes, call);
  gsmpi_pack(buffer, count, type, copy);
  const int error = gsmpi_sendrecv(call, copy, (int)bytes, MPI_BYTE, dest, out_tag, buffer, count, type, source, in_tag,
                                   handle, status);
  gsmpi_release(copy);
  return error;
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int dest, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status) {
  CALLED();
  return gsmpi_sendrecv("MPI_Sendrecv", out, out_count, out_type, dest, out_tag, in, in_count, in_type, source, in_tag,
                        comm, status);
}

int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int out_tag, int source, int in_tag,
                         MPI_Comm comm, MPI_Status* status) {
  CALLED();
  return gsmpi_sendrecv_replace("MPI_Sendrecv_replace", buffer, count, type, dest, out_tag, source, in_tag, comm,
                                status);
}

SMALL_CODE_END
