// SPDX-License-Identifier: Apache-2.0
/// Requests: completion calls, cancel and free.

#include "internal.h"

static const MPI_Status kEmpty = {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, 0};

/// Inactive in MPI's sense: there is nothing to wait for.
static bool is_inactive(const Request* request) {
  return request == NULL || (request != COMPLETED && !request->active);
}

static bool is_done(const Request* request) { return request == COMPLETED || request->done; }

/// Reports a freed request, as far as a pointer shows it.
static int check(const Request* request, const char* call) {
  if (request == NULL || request == COMPLETED || request->used) return MPI_SUCCESS;
  return gsmpi_error(NULL, MPI_ERR_REQUEST, call, "the request was completed or freed before");
}

/// Takes a completed request's status, and frees the request if it is not persistent.
static MPI_Status take_result(Request** at, const Comm** comm, uint32_t* message_bytes, uint32_t* capacity) {
  Request* request = *at;
  *comm = NULL;
  *message_bytes = *capacity = 0;
  if (request == COMPLETED) *at = NULL;
  if (request == COMPLETED || is_inactive(request)) return kEmpty;
  MPI_Status found = request->status;
  *comm = request->comm;
  *message_bytes = request->collective ? 0 : request->message_bytes;
  *capacity = request->bytes;
  request->active = false;
  if (!request->persistent) {
    gsmpi_free_request(request);
    *at = NULL;
  }
  return found;
}

static int truncated(const Comm* comm, const MPI_Status* found, uint32_t message_bytes, uint32_t capacity,
                     const char* call) {
  if (message_bytes <= capacity) return found->MPI_ERROR;  // a nonblocking collective has reported it
  return gsmpi_error(comm, found->MPI_ERROR, call,
                     "the message from rank %d, tag %d, has %u bytes, but the receive buffer has %u", found->MPI_SOURCE,
                     found->MPI_TAG, (unsigned)message_bytes, (unsigned)capacity);
}

int gsmpi_truncated(const Request* request, const char* call) {
  return truncated(request->comm, &request->status, request->message_bytes, request->bytes, call);
}

int gsmpi_finish(Request** at, MPI_Status* status, const char* call) {
  const Comm* comm;
  uint32_t message_bytes, capacity;
  MPI_Status found = take_result(at, &comm, &message_bytes, &capacity);
  const int error = found.MPI_ERROR;
  if (status != MPI_STATUS_IGNORE) {
    found.MPI_ERROR = status->MPI_ERROR;  // single-request calls do not set it
    *status = found;
  }
  found.MPI_ERROR = error;
  if (unlikely(error)) return truncated(comm, &found, message_bytes, capacity, call);
  return MPI_SUCCESS;
}

/// The same for calls on many requests, whose statuses contain the error.
static int finish_one(Request** at, MPI_Status* status, const char* call) {
  const int error = gsmpi_finish(at, status, call);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
  return error;
}

int gsmpi_finish_waited(Request** request, MPI_Status* status, const char* call) {
  if (!is_inactive(*request) && !is_done(*request)) gsmpi_wait_for(*request, call);
  return gsmpi_finish(request, status, call);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  CALLED();
  const int error = check(*request, "MPI_Wait");
  return error ? error : gsmpi_finish_waited(request, status, "MPI_Wait");
}

static MPI_Status* nth(MPI_Status* statuses, int n) { return statuses == MPI_STATUSES_IGNORE ? NULL : statuses + n; }

static int check_all(int count, MPI_Request requests[], const char* call) {
  for (int i = 0; i < count; ++i) {
    const int error = check(requests[i], call);
    if (error) return error;
  }
  return MPI_SUCCESS;
}

static int waitall(int count, MPI_Request requests[], MPI_Status statuses[], const char* call) {
  int worst = MPI_SUCCESS;
  const int error = check_all(count, requests, call);
  if (error) return error;
  for (int i = 0; i < count; ++i) {
    if (!is_inactive(requests[i]) && !is_done(requests[i])) gsmpi_wait_for(requests[i], call);
    if (finish_one(requests + i, nth(statuses, i), call)) worst = MPI_ERR_IN_STATUS;
  }
  return worst;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  CALLED();
  return waitall(count, requests, statuses, "MPI_Waitall");
}

/// Index of the first completed request; MPI_UNDEFINED if none is active, -1 if none has completed yet.
static int first_done(int count, MPI_Request requests[]) {
  int found = MPI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    if (is_inactive(requests[i])) continue;
    if (is_done(requests[i])) return i;
    found = -1;
  }
  return found;
}

static const Request* first_open(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i)
    if (!is_inactive(requests[i]) && !is_done(requests[i])) return requests[i];
  return NULL;
}

/// first_done, with a wait if `waits` is set.
static int find_done(int count, MPI_Request requests[], bool waits, const char* call) {
  for (;;) {
    gsmpi_progress();
    const int found = first_done(count, requests);
    if (found != -1 || !waits) return found;
    gsmpi_sleep(call, first_open(count, requests));
  }
}

static int any(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status, bool waits,
               const char* call) {
  const int error = check_all(count, requests, call);
  if (error) return error;
  const int found = find_done(count, requests, waits, call);
  *flag = found != -1;
  *index = found < 0 ? MPI_UNDEFINED : found;
  if (found >= 0) return gsmpi_finish(requests + found, status, call);
  if (found == MPI_UNDEFINED && status != MPI_STATUS_IGNORE) *status = kEmpty;
  return MPI_SUCCESS;
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  CALLED();
  int flag;
  return any(count, requests, index, &flag, status, true, "MPI_Waitany");
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  CALLED();
  return any(count, requests, index, flag, status, false, "MPI_Testany");
}

static int some(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[], bool waits,
                const char* call) {
  int worst = MPI_SUCCESS;
  const int error = check_all(count, requests, call);
  if (error) return error;
  const int found = find_done(count, requests, waits, call);
  *done = found == MPI_UNDEFINED ? MPI_UNDEFINED : 0;
  for (int i = 0; found >= 0 && i < count; ++i) {
    if (is_inactive(requests[i]) || !is_done(requests[i])) continue;
    indices[*done] = i;
    if (finish_one(requests + i, nth(statuses, *done), call)) worst = MPI_ERR_IN_STATUS;
    ++*done;
  }
  return worst;
}

int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  CALLED();
  return some(count, requests, done, indices, statuses, true, "MPI_Waitsome");
}

int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  CALLED();
  return some(count, requests, done, indices, statuses, false, "MPI_Testsome");
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  CALLED();
  const int error = check(*request, "MPI_Test");
  if (error) return error;
  gsmpi_progress();
  *flag = is_inactive(*request) || is_done(*request);
  return *flag ? gsmpi_finish(request, status, "MPI_Test") : MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  CALLED();
  const int error = check_all(count, requests, "MPI_Testall");
  if (error) return error;
  gsmpi_progress();
  *flag = first_open(count, requests) == NULL;
  return *flag ? waitall(count, requests, statuses, "MPI_Testall") : MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request* at) {
  CALLED();
  Request* request = *at;
  if (request == NULL) return gsmpi_error(NULL, MPI_ERR_REQUEST, "MPI_Cancel", "the request is null");
  const int error = check(request, "MPI_Cancel");
  if (error) return error;
  // A send has already left and cannot be cancelled.
  if (request != COMPLETED && request->receives && gsmpi_match_cancel(request)) {
    request->status = (MPI_Status){MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, 1};
    request->done = true;
  }
  return MPI_SUCCESS;
}

int MPI_Test_cancelled(const MPI_Status* status, int* flag) {
  *flag = status->gsmpi_cancelled;
  return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request* at) {
  CALLED();
  Request* request = *at;
  if (request == NULL) return gsmpi_error(NULL, MPI_ERR_REQUEST, "MPI_Request_free", "the request is null");
  const int error = check(request, "MPI_Request_free");
  if (error) return error;
  *at = NULL;
  if (request == COMPLETED) return MPI_SUCCESS;
  if (request->active && !request->done)
    request->freed = true;  // on completion
  else
    gsmpi_free_request(request);
  return MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  CALLED();
  const int error = check(request, "MPI_Request_get_status");
  if (error) return error;
  gsmpi_progress();
  *flag = is_inactive(request) || is_done(request);
  if (!*flag || status == MPI_STATUS_IGNORE) return MPI_SUCCESS;
  const int before = status->MPI_ERROR;
  *status = is_inactive(request) || request == COMPLETED ? kEmpty : request->status;
  status->MPI_ERROR = before;
  return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  CALLED();
  if (!gsmpi_known_type(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Get_count", "0x%x is not a datatype", (unsigned)type);
  const uint32_t size = gsmpi_type_size(type), bytes = (uint32_t)status->gsmpi_bytes;
  if (bytes == 0)
    *count = 0;
  else
    *count = size && bytes % size == 0 ? (int)(bytes / size) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}
