// SPDX-License-Identifier: Apache-2.0
/// Buffered sends: a message is copied to the program's buffer and sent from there.

#include "internal.h"

SMALL_CODE_BEGIN

/// A message in the buffer; the buffer is a list of them in the order of their addresses. Its packed data follows.
typedef struct Slot {
  struct Slot* next;
  Request* request;  // of the send
  size_t bytes;      // with this header
} Slot;

_Static_assert(sizeof(Slot) + _Alignof(Slot) <= MPI_BSEND_OVERHEAD, "a message of the promised size fits");

static RANK_LOCAL struct {
  char* start;
  size_t bytes;
  Slot* first;
} buffer;

/// Removes the messages that have been sent.
static void remove_sent(void) {
  gsmpi_progress();
  for (Slot** at = &buffer.first; *at;) {
    if (!(*at)->request->done) {
      at = &(*at)->next;
      continue;
    }
    gsmpi_free_request((*at)->request);
    *at = (*at)->next;
  }
}

/// Finds space for a slot; null if the buffer is full.
static Slot* reserve(size_t bytes) {
  bytes = (bytes + _Alignof(Slot) - 1) / _Alignof(Slot) * _Alignof(Slot);
  char* free = (char*)(((uintptr_t)buffer.start + _Alignof(Slot) - 1) / _Alignof(Slot) * _Alignof(Slot));
  char* end = buffer.start + buffer.bytes;
  for (Slot** at = &buffer.first;; at = &(*at)->next) {
    char* limit = *at ? (char*)*at : end;
    if (buffer.start && free <= limit && (size_t)(limit - free) >= bytes) {
      Slot* slot = (Slot*)free;
      *slot = (Slot){.next = *at, .bytes = bytes};
      *at = slot;
      return slot;
    }
    if (!*at) return NULL;
    free = (char*)*at + (*at)->bytes;
  }
}

/// Copies a message and starts its send; an error if the buffer has no space.
static int send_buffered(const char* call, const void* data, int count, MPI_Datatype type, int dest, int tag,
                         MPI_Comm handle) {
  Request* request;
  RETURN_ON_ERROR(gsmpi_make_request(call, data, count, type, dest, tag, handle, false, false, &request));
  if (request->absent) {
    gsmpi_free_request(request);
    return MPI_SUCCESS;
  }
  remove_sent();
  const size_t bytes = request->bytes;
  Slot* slot = reserve(sizeof *slot + bytes);
  if (!slot) {
    const Comm* comm = request->comm;
    gsmpi_free_request(request);
    return gsmpi_error(comm, MPI_ERR_BUFFER, call, "the attached buffer of %u bytes has no space for %u bytes and %d",
                       (unsigned)buffer.bytes, (unsigned)bytes, MPI_BSEND_OVERHEAD);
  }
  gsmpi_pack(data, count, type, slot + 1);
  gsmpi_release_type(type);
  request->buffer = slot + 1;
  request->type = MPI_BYTE;
  request->count = (int)bytes;
  slot->request = request;
  gsmpi_start(request, call);
  return MPI_SUCCESS;
}

/// Waits until all messages have been sent.
static void detach(void) {
  while (buffer.first) {
    gsmpi_wait_for(buffer.first->request, "MPI_Buffer_detach");
    remove_sent();
  }
  buffer.start = NULL;
  buffer.bytes = 0;
}

/// Starts a persistent buffered send.
static void start_buffered(Request* request, const char* call) {
  request->status.MPI_ERROR = send_buffered(call, request->buffer, request->count, request->type, request->source,
                                            request->tag, request->comm->handle);
  request->done = true;
}

int MPI_Buffer_attach(void* start, int bytes) {
  CALLED();
  if (bytes < 0) return gsmpi_error(NULL, MPI_ERR_ARG, "MPI_Buffer_attach", "the size %d is negative", bytes);
  if (buffer.start)
    return gsmpi_error(NULL, MPI_ERR_BUFFER, "MPI_Buffer_attach", "a buffer is attached; detach it first");
  buffer.start = start;
  buffer.bytes = (size_t)bytes;
  gsmpi.hooks.detach_buffer = detach;
  return MPI_SUCCESS;
}

int MPI_Buffer_detach(void* start, int* bytes) {
  CALLED();
  if (!buffer.start) return gsmpi_error(NULL, MPI_ERR_BUFFER, "MPI_Buffer_detach", "no buffer is attached");
  *(void**)start = buffer.start;
  *bytes = (int)buffer.bytes;
  detach();
  return MPI_SUCCESS;
}

int MPI_Bsend(const void* data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  CALLED();
  return send_buffered("MPI_Bsend", data, count, type, dest, tag, comm);
}

int MPI_Ibsend(const void* data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  *request = MPI_REQUEST_NULL;
  RETURN_ON_ERROR(send_buffered("MPI_Ibsend", data, count, type, dest, tag, comm));
  *request = COMPLETED;
  return MPI_SUCCESS;
}

int MPI_Bsend_init(const void* data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  CALLED();
  RETURN_ON_ERROR(gsmpi_make_request("MPI_Bsend_init", data, count, type, dest, tag, comm, false, true, request));
  (*request)->buffered = true;
  gsmpi.hooks.start_buffered = start_buffered;
  return MPI_SUCCESS;
}

SMALL_CODE_END
