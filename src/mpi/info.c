// SPDX-License-Identifier: Apache-2.0
/// MPI_Info: lists of keys and values. The library uses none of them.

#include <string.h>

#include "internal.h"

SMALL_CODE_BEGIN

typedef struct Pair {
  struct Pair* next;
  char *key, *value;
} Pair;

struct gsmpi_info {
  Pair* first;
};

static int check(const char* call, MPI_Info info) {
  if (info != MPI_INFO_NULL && info != MPI_INFO_ENV) return MPI_SUCCESS;
  return gsmpi_error(NULL, MPI_ERR_INFO, call, info ? "MPI_INFO_ENV cannot be changed" : "the info is MPI_INFO_NULL");
}

static int check_key(const char* call, const char* key) {
  const size_t length = key ? strlen(key) : 0;
  if (length > 0 && length < MPI_MAX_INFO_KEY) return MPI_SUCCESS;
  return gsmpi_error(NULL, MPI_ERR_INFO_KEY, call, "a key has 1 to %d characters, and this one %u",
                     MPI_MAX_INFO_KEY - 1, (unsigned)length);
}

/// The pairs of an info; MPI_INFO_ENV has none.
static Pair** pairs(MPI_Info info) {
  static RANK_LOCAL Pair* none;
  return info == MPI_INFO_ENV ? &none : &info->first;
}

static Pair** find(MPI_Info info, const char* key) {
  Pair** at = pairs(info);
  while (*at && strcmp((*at)->key, key)) at = &(*at)->next;
  return at;
}

int MPI_Info_create(MPI_Info* made) {
  CALLED();
  *made = gsmpi_allocate(sizeof **made, "MPI_Info_create");
  (*made)->first = NULL;
  return MPI_SUCCESS;
}

static void set(MPI_Info info, const char* key, const char* value) {
  Pair** at = find(info, key);
  if (*at) {
    gsmpi_release((*at)->value);
  } else {
    *at = gsmpi_allocate(sizeof **at, "MPI_Info_set");
    **at = (Pair){.key = gsmpi_copy_text(key, "MPI_Info_set")};
  }
  (*at)->value = gsmpi_copy_text(value, "MPI_Info_set");
}

int MPI_Info_set(MPI_Info info, const char* key, const char* value) {
  static const char call[] = "MPI_Info_set";
  CALLED();
  RETURN_ON_ERROR(check(call, info));
  RETURN_ON_ERROR(check_key(call, key));
  if (!value || strlen(value) >= MPI_MAX_INFO_VAL)
    return gsmpi_error(NULL, MPI_ERR_INFO_VALUE, call, "a value has at most %d characters", MPI_MAX_INFO_VAL - 1);
  set(info, key, value);
  return MPI_SUCCESS;
}

static void remove_pair(Pair** at) {
  Pair* pair = *at;
  *at = pair->next;
  gsmpi_release(pair->key);
  gsmpi_release(pair->value);
  gsmpi_release(pair);
}

int MPI_Info_delete(MPI_Info info, const char* key) {
  static const char call[] = "MPI_Info_delete";
  CALLED();
  RETURN_ON_ERROR(check(call, info));
  RETURN_ON_ERROR(check_key(call, key));
  Pair** at = find(info, key);
  if (!*at) return gsmpi_error(NULL, MPI_ERR_INFO_NOKEY, call, "the info has no key %s", key);
  remove_pair(at);
  return MPI_SUCCESS;
}

static int check_readable(const char* call, MPI_Info info) {
  return info == MPI_INFO_ENV ? MPI_SUCCESS : check(call, info);
}

/// Copies a text into `size` characters, and the null that ends it.
static void copy(char* to, const char* from, size_t size) {
  size_t length = strlen(from);
  if (length > size) length = size;
  memcpy(to, from, length);
  to[length] = 0;
}

int MPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* flag) {
  static const char call[] = "MPI_Info_get";
  CALLED();
  RETURN_ON_ERROR(check_readable(call, info));
  RETURN_ON_ERROR(check_key(call, key));
  if (length < 0) return gsmpi_error(NULL, MPI_ERR_ARG, call, "the length %d is negative", length);
  const Pair* found = *find(info, key);
  *flag = found != NULL;
  if (found) copy(value, found->value, (size_t)length);
  return MPI_SUCCESS;
}

int MPI_Info_get_string(MPI_Info info, const char* key, int* length, char* value, int* flag) {
  static const char call[] = "MPI_Info_get_string";
  CALLED();
  RETURN_ON_ERROR(check_readable(call, info));
  RETURN_ON_ERROR(check_key(call, key));
  const Pair* found = *find(info, key);
  *flag = found != NULL;
  if (!found) return MPI_SUCCESS;
  if (*length > 0) copy(value, found->value, (size_t)*length - 1);
  *length = (int)strlen(found->value) + 1;
  return MPI_SUCCESS;
}

int MPI_Info_get_valuelen(MPI_Info info, const char* key, int* length, int* flag) {
  static const char call[] = "MPI_Info_get_valuelen";
  CALLED();
  RETURN_ON_ERROR(check_readable(call, info));
  RETURN_ON_ERROR(check_key(call, key));
  const Pair* found = *find(info, key);
  *flag = found != NULL;
  if (found) *length = (int)strlen(found->value);
  return MPI_SUCCESS;
}

int MPI_Info_get_nkeys(MPI_Info info, int* count) {
  CALLED();
  RETURN_ON_ERROR(check_readable("MPI_Info_get_nkeys", info));
  *count = 0;
  for (const Pair* pair = *pairs(info); pair; pair = pair->next) ++*count;
  return MPI_SUCCESS;
}

int MPI_Info_get_nthkey(MPI_Info info, int number, char* key) {
  CALLED();
  RETURN_ON_ERROR(check_readable("MPI_Info_get_nthkey", info));
  const Pair* pair = number < 0 ? NULL : *pairs(info);
  for (int i = 0; pair && i < number; ++i) pair = pair->next;
  if (!pair) return gsmpi_error(NULL, MPI_ERR_ARG, "MPI_Info_get_nthkey", "the info has no key number %d", number);
  copy(key, pair->key, MPI_MAX_INFO_KEY - 1);
  return MPI_SUCCESS;
}

static void copy_info(MPI_Info info, MPI_Info* to) {
  *to = gsmpi_allocate(sizeof **to, "MPI_Info_dup");
  (*to)->first = NULL;
  for (const Pair* pair = *pairs(info); pair; pair = pair->next) set(*to, pair->key, pair->value);
}

int MPI_Info_dup(MPI_Info info, MPI_Info* made) {
  CALLED();
  RETURN_ON_ERROR(check_readable("MPI_Info_dup", info));
  copy_info(info, made);
  return MPI_SUCCESS;
}

static void free_info(MPI_Info* info) {
  while ((*info)->first) remove_pair(&(*info)->first);
  gsmpi_release(*info);
  *info = MPI_INFO_NULL;
}

int MPI_Info_free(MPI_Info* info) {
  CALLED();
  RETURN_ON_ERROR(check("MPI_Info_free", *info));
  free_info(info);
  return MPI_SUCCESS;
}

// ---------------------------------------------------------------------- infos of communicators

static void set_info(Comm* comm, MPI_Info info) {
  if (comm->info) free_info(&comm->info);
  if (info != MPI_INFO_NULL) copy_info(info, &comm->info);
  gsmpi.hooks.copy_info = copy_info;
  gsmpi.hooks.free_info = free_info;
}

int MPI_Comm_set_info(MPI_Comm handle, MPI_Info info) {
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_set_info");
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(check_readable("MPI_Comm_set_info", info));
  set_info(comm, info);
  return MPI_SUCCESS;
}

int MPI_Comm_get_info(MPI_Comm handle, MPI_Info* info) {
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_get_info");
  if (!comm) return MPI_ERR_COMM;
  copy_info(comm->info ? comm->info : MPI_INFO_ENV, info);
  return MPI_SUCCESS;
}

int MPI_Comm_dup_with_info(MPI_Comm handle, MPI_Info info, MPI_Comm* copied) {
  CALLED();
  *copied = MPI_COMM_NULL;
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_dup_with_info");
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(gsmpi_duplicate("MPI_Comm_dup_with_info", comm, copied));
  set_info(gsmpi_comm(*copied), info);
  return MPI_SUCCESS;
}

SMALL_CODE_END
