// SPDX-License-Identifier: Apache-2.0
/// Errors: MPI's error classes, and one line that names rank, call and cause.

#include <gossamer/core/exit_codes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "transport.h"

static const char* class_name(int error_class) {
  static const char* const names[] = {
      "MPI_SUCCESS",      "MPI_ERR_BUFFER",   "MPI_ERR_COUNT",   "MPI_ERR_TYPE",      "MPI_ERR_TAG",
      "MPI_ERR_COMM",     "MPI_ERR_RANK",     "MPI_ERR_REQUEST", "MPI_ERR_ROOT",      "MPI_ERR_GROUP",
      "MPI_ERR_OP",       "MPI_ERR_TOPOLOGY", "MPI_ERR_DIMS",    "MPI_ERR_ARG",       "MPI_ERR_UNKNOWN",
      "MPI_ERR_TRUNCATE", "MPI_ERR_OTHER",    "MPI_ERR_INTERN",  "MPI_ERR_IN_STATUS", "MPI_ERR_PENDING",
      "MPI_ERR_NO_MEM",   "MPI_ERR_KEYVAL",
  };
  return (unsigned)error_class < sizeof names / sizeof *names ? names[error_class] : "MPI_ERR_UNKNOWN";
}

/// Prints a line of the library: to standard error on this machine, to the thread's text output on the overlay.
static void print_line(const char* text) {
#ifdef __GOSSAMER_DEVICE__
  printf("mpi: %s\n", text);
#else
  fflush(stdout);
  fprintf(stderr, "mpi: %s\n", text);
#endif
}

const char* gsmpi_comm_name(const Comm* comm, char* buffer, size_t size) {
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
  if (used < size) snprintf(text + used, size - used, " [%s]", class_name(error_class));
}

int gsmpi_error(const Comm* comm, int error_class, const char* call, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  format_error(error_class, call, format, arguments);
  va_end(arguments);
  if (comm == NULL) comm = gsmpi.comms[MPI_COMM_WORLD];
  if (comm != NULL && comm->handler == MPI_ERRORS_RETURN) return error_class;
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

/// Deadlock: each rank reports what it waits for, and the run ends.
void gsmpi_deadlock(void) {
  char text[160], name[32];
  const Request* request = gsmpi.waits_for;
  int used = snprintf(text, sizeof text, "rank %d: deadlock: waits in ", gsmpi.rank);
  if (gsmpi.collective)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s ", gsmpi_collective_name(gsmpi.collective));
  else
    used += snprintf(text + used, sizeof text - (size_t)used, "%s ", gsmpi.call);
  if (request) {
    const char* comm = gsmpi_comm_name(request->comm, name, sizeof name);
    const char* what = request->receives ? "for a message from" : "to send to";
    if (request->receives && request->source == MPI_ANY_SOURCE)
      used += snprintf(text + used, sizeof text - (size_t)used, "%s any rank", what);
    else
      used += snprintf(text + used, sizeof text - (size_t)used, "%s rank %d", what, request->source);
    if (!gsmpi.collective && request->receives && request->tag == MPI_ANY_TAG)
      used += snprintf(text + used, sizeof text - (size_t)used, " with any tag");
    else if (!gsmpi.collective)
      used += snprintf(text + used, sizeof text - (size_t)used, " with tag %d", request->tag);
    snprintf(text + used, sizeof text - (size_t)used, " in %s", comm);
  }
  print_line(text);
  transport_stop(GS_EXIT_DIED);
}

int MPI_Abort(MPI_Comm comm, int code) {
  (void)comm;
  char text[64];
  snprintf(text, sizeof text, "rank %d: MPI_Abort with code %d", gsmpi.rank, code);
  print_line(text);
  transport_end(GS_EXIT_DIED);
}

int MPI_Error_class(int code, int* error_class) {
  *error_class = code;
  return MPI_SUCCESS;
}

int MPI_Error_string(int code, char* text, int* length) {
  // For the class of the last error, the text is that error's full message.
  const char* name = class_name(code);
  const char* mark = strchr(gsmpi.error_text, '[');
  const size_t size = strlen(name);
  if (mark && strncmp(mark + 1, name, size) == 0 && mark[1 + size] == ']')
    snprintf(text, MPI_MAX_ERROR_STRING, "%s", gsmpi.error_text);
  else
    snprintf(text, MPI_MAX_ERROR_STRING, "%s", name);
  *length = (int)strlen(text);
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler handler) {
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_set_errhandler");
  if (!comm) return MPI_ERR_COMM;
  if (handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ARE_FATAL)
    return gsmpi_error(comm, MPI_ERR_ARG, "MPI_Comm_set_errhandler", "%d is not an error handler", handler);
  comm->handler = handler;
  return MPI_SUCCESS;
}

int MPI_Comm_get_errhandler(MPI_Comm handle, MPI_Errhandler* handler) {
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_get_errhandler");
  if (!comm) return MPI_ERR_COMM;
  *handler = comm->handler;
  return MPI_SUCCESS;
}

int MPI_Errhandler_free(MPI_Errhandler* handler) {
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}
