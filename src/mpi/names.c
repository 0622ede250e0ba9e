// SPDX-License-Identifier: Apache-2.0
/// Names of communicators and datatypes.

#include <stdio.h>
#include <string.h>

#include "internal.h"

SMALL_CODE_BEGIN

static const char* basic_name(MPI_Datatype type) {
#define NAME(type) [(type) & (kBasicTypes - 1)] = #type
  static const char* const names[kBasicTypes] = {
      NAME(MPI_CHAR),
      NAME(MPI_SIGNED_CHAR),
      NAME(MPI_UNSIGNED_CHAR),
      NAME(MPI_BYTE),
      NAME(MPI_PACKED),
      NAME(MPI_SHORT),
      NAME(MPI_UNSIGNED_SHORT),
      NAME(MPI_INT),
      NAME(MPI_UNSIGNED),
      NAME(MPI_LONG),
      NAME(MPI_UNSIGNED_LONG),
      NAME(MPI_LONG_LONG_INT),
      NAME(MPI_UNSIGNED_LONG_LONG),
      NAME(MPI_FLOAT),
      NAME(MPI_DOUBLE),
      NAME(MPI_INT8_T),
      NAME(MPI_INT16_T),
      NAME(MPI_INT32_T),
      NAME(MPI_INT64_T),
      NAME(MPI_UINT8_T),
      NAME(MPI_UINT16_T),
      NAME(MPI_UINT32_T),
      NAME(MPI_UINT64_T),
      NAME(MPI_C_BOOL),
      NAME(MPI_AINT),
      NAME(MPI_2INT),
      NAME(MPI_FLOAT_INT),
      NAME(MPI_DOUBLE_INT),
      NAME(MPI_WCHAR),
      NAME(MPI_C_FLOAT_COMPLEX),
      NAME(MPI_C_DOUBLE_COMPLEX),
      NAME(MPI_LONG_DOUBLE),
      NAME(MPI_C_LONG_DOUBLE_COMPLEX),
      NAME(MPI_LONG_DOUBLE_INT),
      NAME(MPI_COUNT),
      NAME(MPI_OFFSET),
      NAME(MPI_CXX_BOOL),
      NAME(MPI_LONG_INT),
      NAME(MPI_SHORT_INT),
  };
#undef NAME
  return names[type & (kBasicTypes - 1)];
}

const char* gsmpi_type_name(MPI_Datatype type, char* buffer, size_t size) {
  const Type* derived = gsmpi_type(type);
  if (derived && derived->name) return derived->name;
  if (!derived && gsmpi_known_type(type)) return basic_name(type);
  snprintf(buffer, size, "datatype 0x%x", (unsigned)type);
  return buffer;
}

static int check(const Comm* comm, const char* call, const char* name) {
  if (strlen(name) < MPI_MAX_OBJECT_NAME) return MPI_SUCCESS;
  return gsmpi_error(comm, MPI_ERR_ARG, call, "a name has at most %d characters", MPI_MAX_OBJECT_NAME - 1);
}

static void copy(char* to, const char* from, int* length) {
  strcpy(to, from);
  *length = (int)strlen(from);
}

int MPI_Comm_set_name(MPI_Comm handle, const char* name) {
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_set_name");
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(check(comm, "MPI_Comm_set_name", name));
  gsmpi_release(comm->name);
  comm->name = gsmpi_copy_text(name, "MPI_Comm_set_name");
  return MPI_SUCCESS;
}

int MPI_Comm_get_name(MPI_Comm handle, char* name, int* length) {
  CALLED();
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_get_name");
  if (!comm) return MPI_ERR_COMM;
  char unused[MPI_MAX_OBJECT_NAME];
  copy(name, comm->name || handle <= MPI_COMM_SELF ? gsmpi_comm_name(comm, unused, sizeof unused) : "", length);
  return MPI_SUCCESS;
}

int MPI_Type_set_name(MPI_Datatype type, const char* name) {
  CALLED();
  Type* derived = gsmpi_type(type);
  if (!derived)
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_set_name", "0x%x is not a derived datatype", (unsigned)type);
  RETURN_ON_ERROR(check(NULL, "MPI_Type_set_name", name));
  gsmpi_release(derived->name);
  derived->name = gsmpi_copy_text(name, "MPI_Type_set_name");
  return MPI_SUCCESS;
}

int MPI_Type_get_name(MPI_Datatype type, char* name, int* length) {
  CALLED();
  if (!gsmpi_known_type(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_get_name", "0x%x is not a datatype", (unsigned)type);
  const Type* derived = gsmpi_type(type);
  copy(name, !derived ? basic_name(type) : derived->name ? derived->name : "", length);
  return MPI_SUCCESS;
}

SMALL_CODE_END
