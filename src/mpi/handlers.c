// SPDX-License-Identifier: Apache-2.0
/// Error handlers: MPI's own, and functions of the program.

#include "internal.h"

SMALL_CODE_BEGIN

enum { kFirstHandler = 16 };

static RANK_LOCAL Table handlers;

static MPI_Comm_errhandler_function* function_of(MPI_Errhandler handler) {
  // The table has pointers to objects; a function pointer is stored in one.
  MPI_Comm_errhandler_function** stored = gsmpi_entry(&handlers, (uint32_t)handler - kFirstHandler);
  return stored ? *stored : NULL;
}

static bool valid(MPI_Errhandler handler) {
  return (handler >= MPI_ERRORS_ARE_FATAL && handler <= MPI_ERRORS_ABORT) || function_of(handler);
}

static int handle_error(const Comm* comm, int error_class) {
  MPI_Comm handle = comm->handle;
  function_of(comm->handler)(&handle, &error_class);
  return error_class;
}

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  static const char call[] = "MPI_Comm_create_errhandler";
  CALLED();
  MPI_Comm_errhandler_function** stored = gsmpi_allocate(sizeof *stored, call);
  *stored = function;
  const uint32_t index = gsmpi_add_entry(&handlers, stored, kMostHandles);
  if (!index) return gsmpi_error(NULL, MPI_ERR_OTHER, call, "%u error handlers are in use, the maximum", handlers.size);
  *handler = (MPI_Errhandler)(kFirstHandler + index);
  gsmpi.hooks.handle_error = handle_error;
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler handler) {
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_set_errhandler");
  if (!comm) return MPI_ERR_COMM;
  if (!valid(handler))
    return gsmpi_error(comm, MPI_ERR_ARG, "MPI_Comm_set_errhandler", "%d is not an error handler", handler);
  comm->handler = handler;
  return MPI_SUCCESS;
}

int MPI_Comm_get_errhandler(MPI_Comm handle, MPI_Errhandler* handler) {
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_get_errhandler");
  if (!comm) return MPI_ERR_COMM;
  *handler = comm->handler;
  return MPI_SUCCESS;
}

int MPI_Errhandler_free(MPI_Errhandler* handler) {
  CALLED();
  if (!valid(*handler))
    return gsmpi_error(NULL, MPI_ERR_ARG, "MPI_Errhandler_free", "%d is not an error handler", *handler);
  // Communicators may still have the handler, so its function is kept.
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

int MPI_Comm_call_errhandler(MPI_Comm handle, int code) {
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_call_errhandler");
  if (!comm) return MPI_ERR_COMM;
  gsmpi_error(comm, code, "MPI_Comm_call_errhandler", "called by the program");
  return MPI_SUCCESS;
}

SMALL_CODE_END
