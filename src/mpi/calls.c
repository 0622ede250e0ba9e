// SPDX-License-Identifier: Apache-2.0
/// Point-to-point calls: send, receive and probe.

#include "eager.h"

static const char* name_of(int kind) {
  static const char* const names[] = {"MPI_Send", "MPI_Isend", "MPI_Rsend", "MPI_Irsend", "MPI_Ssend", "MPI_Issend"};
  return names[kind];
}

static int check(const Comm* comm, const char* call, const void* buffer, int count, MPI_Datatype type, int rank,
                 int tag, bool receives) {
  char name[MPI_MAX_OBJECT_NAME];
  if (count < 0) return gsmpi_error(comm, MPI_ERR_COUNT, call, "the count %d is negative", count);
  if (!gsmpi_valid_type(type))
    return gsmpi_error(comm, MPI_ERR_TYPE, call, "0x%x is not a datatype, or was not committed", (unsigned)type);
  if ((uint64_t)gsmpi_type_size(type) * (uint64_t)count > INT32_MAX)
    return gsmpi_error(comm, MPI_ERR_COUNT, call, "%d elements are more than 2 GB", count);
  if (rank != MPI_PROC_NULL && !(receives && rank == MPI_ANY_SOURCE) && (unsigned)rank >= (unsigned)comm->size)
    return gsmpi_error(comm, MPI_ERR_RANK, call, "rank %d is not in %s, which has ranks 0 to %d", rank,
                       gsmpi_comm_name(comm, name, sizeof name), comm->size - 1);
  if (!(receives && tag == MPI_ANY_TAG) && (unsigned)tag > kMostTag)
    return gsmpi_error(comm, MPI_ERR_TAG, call, "tag %d is out of range, 0 to %d", tag, kMostTag);
  if (buffer == NULL && count > 0 && gsmpi_type_size(type) && gsmpi_lower(type) == 0 && rank != MPI_PROC_NULL)
    return gsmpi_error(comm, MPI_ERR_BUFFER, call, "the buffer is null and the count is %d", count);
  return MPI_SUCCESS;
}

/// Checks the arguments and creates a request. The request has no peer for MPI_PROC_NULL.
static int make_in(Comm* comm, const char* call, const void* buffer, int count, MPI_Datatype type, int rank, int tag,
                   bool receives, bool persistent, Request** made) {
  *made = NULL;
  const int error = check(comm, call, buffer, count, type, rank, tag, receives);
  if (error) return error;
  Request* request = gsmpi_new_request(call);
  if (!request)
    return gsmpi_error(comm, MPI_ERR_OTHER, call, "%d requests are open, the maximum; complete some of them first",
                       kMostRequests);
  gsmpi_use_type(type);
  request->comm = comm;
  request->buffer = (void*)buffer;
  request->count = count;
  request->type = type;
  request->bytes = (uint32_t)count * gsmpi_type_size(type);
  request->tag = tag;
  request->context = comm->context;
  request->receives = receives;
  request->persistent = persistent;
  request->absent = rank == MPI_PROC_NULL;
  request->peer = rank >= 0 ? comm->peers[rank] : NULL;
  request->source = rank;
  *made = request;
  return MPI_SUCCESS;
}

int gsmpi_make_request(const char* call, const void* buffer, int count, MPI_Datatype type, int rank, int tag,
                       MPI_Comm handle, bool receives, bool persistent, Request** made) {
  *made = NULL;
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  return make_in(comm, call, buffer, count, type, rank, tag, receives, persistent, made);
}

void gsmpi_start(Request* request, const char* call) {
  request->active = true;
  request->status.gsmpi_cancelled = 0;
  if (request->absent) {
    request->status = (MPI_Status){MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0, 0};
    request->done = true;
  } else if (request->buffered) {
    gsmpi.hooks.start_buffered(request, call);
  } else if (request->receives) {
    gsmpi_start_receive(request, call);
  } else {
    gsmpi_start_send(request, call);
  }
}

enum { kSendCall, kIsendCall, kRsendCall, kIrsendCall, kSsendCall, kIssendCall };

static __attribute__((noinline)) int send_slow(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                                               MPI_Comm comm, MPI_Request* request, int kind) {
  const char* call = name_of(kind);
  const int error = gsmpi_make_request(call, buffer, count, type, dest, tag, comm, false, false, request);
  if (error) return error;
  (*request)->synchronous = kind >= kSsendCall;
  gsmpi_start(*request, call);
  return MPI_SUCCESS;
}

/// Fast path: whole words of a basic type in one packet, with credit and a free packet buffer. False: not sent.
static inline __attribute__((always_inline)) bool send_fast(const void* buffer, int count, MPI_Datatype type, int dest,
                                                            int tag, MPI_Comm handle) {
  const Comm* comm = gsmpi_near_comm(handle);
  if (unlikely(comm == NULL || (unsigned)dest >= (unsigned)comm->size)) return false;
  // A count below 2^27 cannot overflow `bytes`: a basic type has at most 32 bytes.
  _Static_assert(kMostTag == 0x7FFFFFF, "one shift checks both tag and count");
  if (unlikely(!gsmpi_fast_type(type) || ((uint32_t)tag | (uint32_t)count) >> 27)) return false;
  const uint32_t bytes = (uint32_t)count << gsmpi_log_size(type);
  if (unlikely(bytes > kEagerBytes || (((uintptr_t)buffer | bytes) & 3))) return false;
#ifndef __GOSSAMER_DEVICE__
  if (unlikely(buffer == NULL)) return false;  // on the overlay the read traps
#endif
  Peer* peer = comm->peers[dest];
  const uint32_t number = peer->sent;
  if (unlikely(number == peer->limit)) return false;
  Packet* packet = transport_begin(peer);
  if (unlikely(packet == NULL)) return false;
  gsmpi_send_eager(peer, packet, number, comm->context_high, tag, buffer, bytes, true);
  return true;
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (unlikely(!send_fast(buffer, count, type, dest, tag, comm))) {
    CALLED();
    return send_slow(buffer, count, type, dest, tag, comm, request, kIsendCall);
  }
  *request = COMPLETED;
  return MPI_SUCCESS;
}

static __attribute__((noinline)) int send_and_wait(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                                                   MPI_Comm comm, int kind) {
  Request* request = NULL;
  const int error = send_slow(buffer, count, type, dest, tag, comm, &request, kind);
  if (error) return error;
  gsmpi_wait_for(request, name_of(kind));
  return gsmpi_finish(&request, MPI_STATUS_IGNORE, name_of(kind));
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  if (likely(send_fast(buffer, count, type, dest, tag, comm))) return MPI_SUCCESS;
  CALLED();
  return send_and_wait(buffer, count, type, dest, tag, comm, kSendCall);
}

int MPI_Ssend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  CALLED();
  return send_and_wait(buffer, count, type, dest, tag, comm, kSsendCall);
}

int MPI_Rsend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  CALLED();
  return send_and_wait(buffer, count, type, dest, tag, comm, kRsendCall);
}

int MPI_Irsend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  CALLED();
  return send_slow(buffer, count, type, dest, tag, comm, request, kIrsendCall);
}

int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  CALLED();
  return send_slow(buffer, count, type, dest, tag, comm, request, kIssendCall);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  const int error = gsmpi_make_request("MPI_Irecv", buffer, count, type, source, tag, comm, true, false, request);
  if (!error) gsmpi_start(*request, "MPI_Irecv");
  return error;
}

static __attribute__((noinline)) int receive_slow(void* buffer, int count, MPI_Datatype type, int source, int tag,
                                                  MPI_Comm comm, MPI_Status* status) {
  Request* request = NULL;
  const int error = gsmpi_make_request("MPI_Recv", buffer, count, type, source, tag, comm, true, false, &request);
  if (error) return error;
  gsmpi_start(request, "MPI_Recv");
  gsmpi_wait_for(request, "MPI_Recv");
  return gsmpi_finish(&request, status, "MPI_Recv");
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm handle, MPI_Status* status) {
  CALLED();
  Comm* comm = gsmpi_near_comm(handle);
  Peer* peer = NULL;
  if (unlikely(comm == NULL || !gsmpi_fast_type(type) || (uint32_t)count >> 27)) goto slow;
  if (unlikely((uint32_t)tag >> 27 && tag != MPI_ANY_TAG)) goto slow;
  if (likely((unsigned)source < (unsigned)comm->size))
    peer = comm->peers[source];
  else if (unlikely(source != MPI_ANY_SOURCE))
    goto slow;
  const uint32_t bytes = (uint32_t)count << gsmpi_log_size(type);
  if (unlikely((int32_t)bytes < 0 || (buffer == NULL && bytes))) goto slow;
  return gsmpi_receive_fast(comm, peer, buffer, bytes, source, tag, status);
slow:
  return receive_slow(buffer, count, type, source, tag, handle, status);
}

int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  CALLED();
  return gsmpi_make_request("MPI_Send_init", buffer, count, type, dest, tag, comm, false, true, request);
}

int MPI_Ssend_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  CALLED();
  const int error = gsmpi_make_request("MPI_Ssend_init", buffer, count, type, dest, tag, comm, false, true, request);
  if (!error) (*request)->synchronous = true;
  return error;
}

int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  CALLED();
  return gsmpi_make_request("MPI_Recv_init", buffer, count, type, source, tag, comm, true, true, request);
}

static int start_all(const char* call, int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i) {
    Request* request = requests[i];
    if (request == NULL || request == COMPLETED || !request->persistent)
      return gsmpi_error(NULL, MPI_ERR_REQUEST, call, "request %d is not persistent", i);
    if (request->active)
      return gsmpi_error(request->comm, MPI_ERR_REQUEST, call, "request %d is active; wait for it first", i);
    // The previous receive replaced the peer by the actual sender.
    if (request->receives && !request->absent)
      request->peer = request->source >= 0 ? request->comm->peers[request->source] : NULL;
    gsmpi_start(request, call);
  }
  return MPI_SUCCESS;
}

int MPI_Startall(int count, MPI_Request requests[]) {
  CALLED();
  return start_all("MPI_Startall", count, requests);
}

int MPI_Start(MPI_Request* request) {
  CALLED();
  return start_all("MPI_Start", 1, request);
}

int MPI_Rsend_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  CALLED();
  return gsmpi_make_request("MPI_Rsend_init", buffer, count, type, dest, tag, comm, false, true, request);
}

// ---------------------------------------------------------------------- probes

/// Probes for a message. With `message`, removes it from its queue, so that no other receive can match it.
static int probe(const char* call, int source, int tag, MPI_Comm handle, bool waits, int* flag, MPI_Message* message,
                 MPI_Status* status) {
  *flag = 0;
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  const int error = check(comm, call, "", 0, MPI_BYTE, source, tag, true);
  if (error) return error;
  MPI_Status found = {MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0, 0};
  if (message) *message = MPI_MESSAGE_NO_PROC;
  if (source != MPI_PROC_NULL) {
    Request wanted = {.comm = comm, .tag = tag, .source = source, .receives = true};
    if (source >= 0) wanted.peer = comm->peers[source];
    const UnexpectedMessage* unexpected;
    for (;;) {
      gsmpi_progress();
      if (message) {
        *message = gsmpi_match_take(comm->context, wanted.peer, tag);
        unexpected = *message;
        if (unexpected || !waits) break;
      }
      unexpected = gsmpi_match_probe(comm->context, wanted.peer, tag, waits);
      if (message && unexpected) continue;
      if (unexpected || !waits) break;
      gsmpi_sleep(call, &wanted);
    }
    if (!unexpected) return MPI_SUCCESS;
    if (message) {
      (*message)->comm = comm;
      ++comm->matched_messages;
    }
    found = (MPI_Status){gsmpi_source(comm, unexpected->peer), unexpected->tag, MPI_SUCCESS, (int)unexpected->bytes, 0};
  }
  *flag = 1;
  if (status != MPI_STATUS_IGNORE) {
    found.MPI_ERROR = status->MPI_ERROR;  // single-message calls do not set it
    *status = found;
  }
  return MPI_SUCCESS;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  CALLED();
  int flag;
  return probe("MPI_Probe", source, tag, comm, true, &flag, NULL, status);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  CALLED();
  return probe("MPI_Iprobe", source, tag, comm, false, flag, NULL, status);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  CALLED();
  int flag;
  return probe("MPI_Mprobe", source, tag, comm, true, &flag, message, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  CALLED();
  return probe("MPI_Improbe", source, tag, comm, false, flag, message, status);
}

/// Receives a message that a matched probe has taken.
static int receive_matched(const char* call, void* buffer, int count, MPI_Datatype type, MPI_Message* message,
                           Request** request) {
  UnexpectedMessage* unexpected = *message;
  if (unexpected == MPI_MESSAGE_NULL)
    return gsmpi_error(NULL, MPI_ERR_REQUEST, call, "the message is MPI_MESSAGE_NULL");
  if (unexpected == MPI_MESSAGE_NO_PROC) {
    const int error =
        gsmpi_make_request(call, buffer, count, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD, true, false, request);
    if (error) return error;
    gsmpi_start(*request, call);
  } else {
    // The program may have freed the communicator's handle since then.
    Comm* comm = unexpected->comm;
    const int source = gsmpi_source(comm, unexpected->peer);
    const int error = make_in(comm, call, buffer, count, type, source, unexpected->tag, true, false, request);
    if (error) return error;
    --comm->matched_messages;
    (*request)->active = true;
    gsmpi_start_matched(*request, unexpected, call);
  }
  *message = MPI_MESSAGE_NULL;
  return MPI_SUCCESS;
}

int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  CALLED();
  Request* request = NULL;
  const int error = receive_matched("MPI_Mrecv", buffer, count, type, message, &request);
  if (error) return error;
  gsmpi_wait_for(request, "MPI_Mrecv");
  return gsmpi_finish(&request, status, "MPI_Mrecv");
}

int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  CALLED();
  *request = NULL;
  return receive_matched("MPI_Imrecv", buffer, count, type, message, request);
}
