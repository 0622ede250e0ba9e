// SPDX-License-Identifier: Apache-2.0
/// Datatypes: a basic type's handle says its size; derived ones are blocks of another type, a stride apart.

#include <string.h>

#include "internal.h"

enum { kDerived = 0x4100 };

Type* gsmpi_type(MPI_Datatype type) {
  return (uint32_t)type >> 16 == kDerived && ((uint32_t)type & 0xFFFF) < kTypes ? gsmpi.types[type & 0xFFFF] : NULL;
}

/// The place of a handle.
#define AT(type) [(type) & (kBasicTypes - 1)] = (type)
const uint16_t gsmpi_basic_types[kBasicTypes] = {
    AT(MPI_CHAR),
    AT(MPI_SIGNED_CHAR),
    AT(MPI_UNSIGNED_CHAR),
    AT(MPI_BYTE),
    AT(MPI_PACKED),
    AT(MPI_SHORT),
    AT(MPI_UNSIGNED_SHORT),
    AT(MPI_INT),
    AT(MPI_UNSIGNED),
    AT(MPI_LONG),
    AT(MPI_UNSIGNED_LONG),
    AT(MPI_LONG_LONG_INT),
    AT(MPI_UNSIGNED_LONG_LONG),
    AT(MPI_FLOAT),
    AT(MPI_DOUBLE),
    AT(MPI_INT8_T),
    AT(MPI_INT16_T),
    AT(MPI_INT32_T),
    AT(MPI_INT64_T),
    AT(MPI_UINT8_T),
    AT(MPI_UINT16_T),
    AT(MPI_UINT32_T),
    AT(MPI_UINT64_T),
    AT(MPI_C_BOOL),
    AT(MPI_AINT),
    AT(MPI_2INT),
    AT(MPI_FLOAT_INT),
    AT(MPI_DOUBLE_INT),
    AT(MPI_WCHAR),
    AT(MPI_C_FLOAT_COMPLEX),
    AT(MPI_C_DOUBLE_COMPLEX),
    AT(MPI_LONG_DOUBLE),
    AT(MPI_C_LONG_DOUBLE_COMPLEX),
    AT(MPI_LONG_DOUBLE_INT),
    AT(MPI_COUNT),
    AT(MPI_OFFSET),
    AT(MPI_CXX_BOOL),
    AT(MPI_LONG_INT),
    AT(MPI_SHORT_INT),
    [0] = 1,  // the handle 0 is none, and its place is this one
};

static bool known(MPI_Datatype type) {
  if (gsmpi_basic(type)) return gsmpi_basic_types[type & (kBasicTypes - 1)] == type;
  const Type* derived = gsmpi_type(type);
  return derived && !derived->freed;
}

bool gsmpi_valid_type(MPI_Datatype type) {
  const Type* derived = gsmpi_type(type);
  return derived ? derived->committed && !derived->freed : known(type);
}

uint32_t gsmpi_type_size(MPI_Datatype type) {
  const Type* derived = gsmpi_type(type);
  return derived ? derived->size : gsmpi_basic(type) ? 1u << gsmpi_log_size(type) : 0;
}

intptr_t gsmpi_extent(MPI_Datatype type) {
  const Type* derived = gsmpi_type(type);
  return derived ? derived->extent : (intptr_t)gsmpi_type_size(type);
}

intptr_t gsmpi_lower(MPI_Datatype type) {
  const Type* derived = gsmpi_type(type);
  return derived ? derived->lower : 0;
}

bool gsmpi_contiguous(MPI_Datatype type) {
  const Type* derived = gsmpi_type(type);
  return derived ? derived->contiguous : true;
}

/// Moves elements between a buffer and a row of bytes, at most `left` of these; gives the place behind the last.
static char* move(char* user, int count, MPI_Datatype type, char* row, size_t* left, bool packs) {
  const Type* derived = gsmpi_type(type);
  if (gsmpi_contiguous(type)) {
    size_t bytes = (size_t)count * gsmpi_type_size(type);
    if (bytes > *left) bytes = *left;
    user += gsmpi_lower(type);
    memcpy(packs ? row : user, packs ? user : row, bytes);
    *left -= bytes;
    return row + bytes;
  }
  for (int i = 0; i < count && *left; ++i, user += derived->extent)
    for (int block = 0; block < derived->count && *left; ++block)
      row = move(user + block * derived->stride, derived->length, derived->old, row, left, packs);
  return row;
}

void gsmpi_pack(const void* from, int count, MPI_Datatype type, void* to) {
  size_t left = (size_t)count * gsmpi_type_size(type);
  move((char*)from, count, type, to, &left, true);
}

void gsmpi_unpack(const void* from, size_t bytes, int count, MPI_Datatype type, void* to) {
  move(to, count, type, (char*)from, &bytes, false);
}

static bool in_use(MPI_Datatype type) {
  for (int i = 0; i < gsmpi.type_end; ++i)
    if (gsmpi.types[i] && gsmpi.types[i]->old == type) return true;
  for (uint32_t i = 0; i < gsmpi.request_count; ++i)
    if (gsmpi.requests[i]->used && gsmpi.requests[i]->type == type) return true;
  return false;
}

/// Gives back the types that were freed and that nothing uses any more: the last of these may have been a type as well.
static void sweep(void) {
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < gsmpi.type_end; ++i) {
      Type* type = gsmpi.types[i];
      if (!type || !type->freed || in_use((kDerived << 16) | i)) continue;
      gsmpi.types[i] = NULL;
      gsmpi_release(type);
      again = true;
    }
  }
}

static int make(const char* call, int count, int length, intptr_t stride, MPI_Datatype old, MPI_Datatype* type) {
  *type = MPI_DATATYPE_NULL;
  if (count < 0 || length < 0)
    return gsmpi_error(NULL, MPI_ERR_COUNT, call, "%d blocks of %d elements: a count is negative", count, length);
  if (!known(old)) return gsmpi_error(NULL, MPI_ERR_TYPE, call, "0x%x is no datatype", (unsigned)old);
  int place = 0;
  while (place < kTypes && gsmpi.types[place]) ++place;
  if (place == kTypes) {
    sweep();  // requests that kept a type may have ended since
    place = 0;
  }
  while (place < kTypes && gsmpi.types[place]) ++place;
  if (place == kTypes)
    return gsmpi_error(NULL, MPI_ERR_OTHER, call, "%d datatypes are in use, which is the most; free some", kTypes);
  if ((uint64_t)count * (uint64_t)length > INT32_MAX ||
      (uint64_t)count * (uint64_t)length * gsmpi_type_size(old) > INT32_MAX)
    return gsmpi_error(NULL, MPI_ERR_COUNT, call, "%d blocks of %d elements are more than 2 GB", count, length);
  Type* made = gsmpi_allocate(sizeof *made, call);
  const intptr_t each = gsmpi_extent(old), lower = gsmpi_lower(old);
  const intptr_t last = count ? (count - 1) * stride : 0;
  const intptr_t low = last < 0 ? last : 0, high = last > 0 ? last : 0;
  *made = (Type){
      .count = count,
      .length = length,
      .stride = stride,
      .old = old,
      .size = (uint32_t)count * (uint32_t)length * gsmpi_type_size(old),
      .lower = low + lower,
      .extent = count && length ? high - low + length * each : 0,
  };
  made->contiguous =
      gsmpi_contiguous(old) && (uint32_t)each == gsmpi_type_size(old) && (count <= 1 || stride == length * each);
  gsmpi.types[place] = made;
  if (place >= gsmpi.type_end) gsmpi.type_end = place + 1;
  *type = (MPI_Datatype)((kDerived << 16) | place);
  return MPI_SUCCESS;
}

int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* type) {
  return make("MPI_Type_contiguous", count, 1, gsmpi_extent(old), old, type);
}

int MPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype* type) {
  return make("MPI_Type_vector", count, length, stride * gsmpi_extent(old), old, type);
}

int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* type) {
  return make("MPI_Type_create_hvector", count, length, stride, old, type);
}

int MPI_Type_commit(MPI_Datatype* type) {
  Type* derived = gsmpi_type(*type);
  if (derived && !derived->freed)
    derived->committed = true;
  else if (!known(*type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_commit", "0x%x is no datatype", (unsigned)*type);
  return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype* type) {
  Type* derived = gsmpi_type(*type);
  if (!derived || derived->freed)
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_free", "0x%x is no datatype that can be freed", (unsigned)*type);
  // Others may be made of it, and messages under way use it: it stays as long, but the program's handle is no type now.
  derived->freed = true;
  sweep();
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

/// Without the gap behind the second part of a pair, which is sent with it.
static uint32_t size_told(MPI_Datatype type) {
  switch (type) {
    case MPI_DOUBLE_INT: return sizeof(double) + sizeof(int);
    case MPI_LONG_INT: return sizeof(long) + sizeof(int);
    case MPI_SHORT_INT: return sizeof(short) + sizeof(int);
    case MPI_LONG_DOUBLE_INT: return sizeof(long double) + sizeof(int);
    default: return gsmpi_type_size(type);
  }
}

int MPI_Type_size(MPI_Datatype type, int* size) {
  if (!known(type)) return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_size", "0x%x is no datatype", (unsigned)type);
  *size = (int)size_told(type);
  return MPI_SUCCESS;
}

int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  if (!known(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_get_extent", "0x%x is no datatype", (unsigned)type);
  *lower = gsmpi_lower(type);
  *extent = gsmpi_extent(type);
  return MPI_SUCCESS;
}
