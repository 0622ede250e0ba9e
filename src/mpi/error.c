// SPDX-License-Identifier: Apache-2.0
/// Errors: MPI's error classes, and one line that names rank, call and cause.

#include <gossamer/core/exit_codes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "transport.h"

SMALL_CODE_BEGIN

const char* gsmpi_class_name(int error_class) {
  static const char* const names[] = {
      "MPI_SUCCESS",        "MPI_ERR_BUFFER",     "MPI_ERR_COUNT",   "MPI_ERR_TYPE",      "MPI_ERR_TAG",
      "MPI_ERR_COMM",       "MPI_ERR_RANK",       "MPI_ERR_REQUEST", "MPI_ERR_ROOT",      "MPI_ERR_GROUP",
      "MPI_ERR_OP",         "MPI_ERR_TOPOLOGY",   "MPI_ERR_DIMS",    "MPI_ERR_ARG",       "MPI_ERR_UNKNOWN",
      "MPI_ERR_TRUNCATE",   "MPI_ERR_OTHER",      "MPI_ERR_INTERN",  "MPI_ERR_IN_STATUS", "MPI_ERR_PENDING",
      "MPI_ERR_NO_MEM",     "MPI_ERR_KEYVAL",     "MPI_ERR_NAME",    "MPI_ERR_INFO",      "MPI_ERR_INFO_KEY",
      "MPI_ERR_INFO_VALUE", "MPI_ERR_INFO_NOKEY",
  };
  return (unsigned)error_class < sizeof names / sizeof *names ? names[error_class] : "MPI_ERR_UNKNOWN";
}

/// Prints a line of the library. The command that started the run replaces the address of the program's call by its
/// file and line.
static void print_line(const char* text) {
#ifdef __GOSSAMER_DEVICE__
  gossamer_select_stream(2);
  printf("mpi: @%x %s\n", (unsigned)(uintptr_t)gsmpi.caller, text);
  gossamer_select_stream(1);
#else
  fflush(stdout);
  transport_print(gsmpi.caller, text);
#endif
}

const char* gsmpi_comm_name(const Comm* comm, char* buffer, size_t size) {
  if (comm->name) return comm->name;
  if (comm->handle == MPI_COMM_WORLD) return "MPI_COMM_WORLD";
  if (comm->handle == MPI_COMM_SELF) return "MPI_COMM_SELF";
  snprintf(buffer, size, "communicator %d", comm->handle);
  return buffer;
}

static void format_error(int error_class, const char* call, const char* format, va_list arguments) {
  char* text = gsmpi.error_text;
  const size_t size = sizeof gsmpi.error_text;
  size_t used = 0;
  if (gsmpi.ready) used += (size_t)snprintf(text, size, "rank %d: ", gsmpi.rank);
  used += (size_t)snprintf(text + used, size - used, "%s: ", call);
  if (used < size) used += (size_t)vsnprintf(text + used, size - used, format, arguments);
  if (used < size) snprintf(text + used, size - used, " [%s]", gsmpi_class_name(error_class));
}

int gsmpi_error(const Comm* comm, int error_class, const char* call, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  format_error(error_class, call, format, arguments);
  va_end(arguments);
  if (comm == NULL) comm = gsmpi.comms[MPI_COMM_WORLD];
  if (comm != NULL && comm->handler == MPI_ERRORS_RETURN) return error_class;
  if (comm != NULL && gsmpi.hooks.handle_error && comm->handler > MPI_ERRORS_ABORT)
    return gsmpi.hooks.handle_error(comm, error_class);
  print_line(gsmpi.error_text);
  transport_end(GS_EXIT_DIED);
}

void gsmpi_abort_run(int error_class, const char* call, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  format_error(error_class, call, format, arguments);
  va_end(arguments);
  print_line(gsmpi.error_text);
  transport_end(GS_EXIT_DIED);
}

Comm* gsmpi_check_comm(MPI_Comm handle, const char* call) {
  Comm* comm = gsmpi_comm(handle);
  if (likely(comm != NULL)) return comm;
  if (!gsmpi.ready) gsmpi_abort_run(MPI_ERR_OTHER, call, "called before MPI_Init");
  if (gsmpi.finalized) gsmpi_abort_run(MPI_ERR_OTHER, call, "called after MPI_Finalize");
  gsmpi_error(NULL, MPI_ERR_COMM, call,
              handle == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL" : "%d is not a communicator, or was freed",
              handle);
  return NULL;
}

/// The first message that waits for a receive and may have been meant for this one: from the same rank with another
/// tag, else from another rank of the communicator, else in another communicator. Null: none.
static const UnexpectedMessage* unmatched_message(const Request* request, const Comm** comm) {
  *comm = request->comm;
  const UnexpectedMessage* found = gsmpi_match_probe(request->context, request->peer, MPI_ANY_TAG, false);
  if (!found && request->peer) found = gsmpi_match_probe(request->context, NULL, MPI_ANY_TAG, false);
  for (MPI_Comm handle = MPI_COMM_WORLD; !found && handle < kNearComms; ++handle) {
    *comm = gsmpi_comm(handle);
    if (*comm && *comm != request->comm) found = gsmpi_match_probe((*comm)->context, NULL, MPI_ANY_TAG, false);
  }
  return found;
}

/// Deadlock: each rank reports what it waits for, and the run ends.
void gsmpi_deadlock(void) {
  char text[256], name[MPI_MAX_OBJECT_NAME];
  const Request* request = gsmpi.waits_for;
  const int space = sizeof text;
  int used = snprintf(text, sizeof text, "rank %d: deadlock: waits in ", gsmpi.rank);
#define ADD(...) used += used < space ? snprintf(text + used, (size_t)(space - used), __VA_ARGS__) : 0
  ADD("%s ", gsmpi.collective ? gsmpi_collective_name(gsmpi.collective) : gsmpi.call);
  if (request && request->collective) {
    ADD("for %s", gsmpi_nonblocking_name(request->collective));
  } else if (request) {
    const char* what = request->receives ? "for a message from" : "to send to";
    if (request->receives && request->source == MPI_ANY_SOURCE)
      ADD("%s any rank", what);
    else
      ADD("%s rank %d", what, request->source);
    if (!gsmpi.collective && request->receives && request->tag == MPI_ANY_TAG)
      ADD(" with any tag");
    else if (!gsmpi.collective)
      ADD(" with tag %d", request->tag);
  }
  if (request) ADD(" in %s", gsmpi_comm_name(request->comm, name, sizeof name));
  if (request && request->receives && !gsmpi.collective) {
    const Comm* comm;
    const UnexpectedMessage* found = unmatched_message(request, &comm);
    if (found) {
      ADD("; a message from rank %d with tag %d", gsmpi_source(comm, found->peer), found->tag);
      if (comm != request->comm) ADD(" in %s", gsmpi_comm_name(comm, name, sizeof name));
      ADD(" waits for a receive");
    }
  }
#undef ADD
  print_line(text);
  transport_stop(GS_EXIT_DIED);
}

int MPI_Abort(MPI_Comm comm, int code) {
  (void)comm;
  CALLED();
  char text[64];
  snprintf(text, sizeof text, "rank %d: MPI_Abort with code %d", gsmpi.rank, code);
  print_line(text);
  transport_end(GS_EXIT_DIED);
}

int MPI_Error_class(int code, int* error_class) {
  CALLED();
  if (code < 0 || code > MPI_ERR_LASTCODE)
    return gsmpi_error(NULL, MPI_ERR_ARG, "MPI_Error_class", "%d is not an error code", code);
  *error_class = code;
  return MPI_SUCCESS;
}

int MPI_Error_string(int code, char* text, int* length) {
  CALLED();
  if (code < 0 || code > MPI_ERR_LASTCODE)
    return gsmpi_error(NULL, MPI_ERR_ARG, "MPI_Error_string", "%d is not an error code", code);
  // For the class of the last error, the text is that error's full message.
  const char* name = gsmpi_class_name(code);
  const char* mark = strchr(gsmpi.error_text, '[');
  const size_t size = strlen(name);
  if (mark && strncmp(mark + 1, name, size) == 0 && mark[1 + size] == ']')
    snprintf(text, MPI_MAX_ERROR_STRING, "%s", gsmpi.error_text);
  else
    snprintf(text, MPI_MAX_ERROR_STRING, "%s", name);
  *length = (int)strlen(text);
  return MPI_SUCCESS;
}

SMALL_CODE_END
