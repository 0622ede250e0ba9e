// SPDX-License-Identifier: Apache-2.0
/// Datatypes: the handle of a basic type contains its size; derived types are blocks of another type with a stride.

#include <string.h>

#include "internal.h"

enum { kDerived = 0x4100 };

Type* gsmpi_type(MPI_Datatype type) {
  return (uint32_t)type >> 16 == kDerived && ((uint32_t)type & 0xFFFF) < kTypes ? gsmpi.types[type & 0xFFFF] : NULL;
}

/// The table entry of a handle.
#define INDEXED(type) [(type) & (kBasicTypes - 1)] = (type)
const uint16_t gsmpi_basic_types[kBasicTypes] = {
    INDEXED(MPI_CHAR),
    INDEXED(MPI_SIGNED_CHAR),
    INDEXED(MPI_UNSIGNED_CHAR),
    INDEXED(MPI_BYTE),
    INDEXED(MPI_PACKED),
    INDEXED(MPI_SHORT),
    INDEXED(MPI_UNSIGNED_SHORT),
    INDEXED(MPI_INT),
    INDEXED(MPI_UNSIGNED),
    INDEXED(MPI_LONG),
    INDEXED(MPI_UNSIGNED_LONG),
    INDEXED(MPI_LONG_LONG_INT),
    INDEXED(MPI_UNSIGNED_LONG_LONG),
    INDEXED(MPI_FLOAT),
    INDEXED(MPI_DOUBLE),
    INDEXED(MPI_INT8_T),
    INDEXED(MPI_INT16_T),
    INDEXED(MPI_INT32_T),
    INDEXED(MPI_INT64_T),
    INDEXED(MPI_UINT8_T),
    INDEXED(MPI_UINT16_T),
    INDEXED(MPI_UINT32_T),
    INDEXED(MPI_UINT64_T),
    INDEXED(MPI_C_BOOL),
    INDEXED(MPI_AINT),
    INDEXED(MPI_2INT),
    INDEXED(MPI_FLOAT_INT),
    INDEXED(MPI_DOUBLE_INT),
    INDEXED(MPI_WCHAR),
    INDEXED(MPI_C_FLOAT_COMPLEX),
    INDEXED(MPI_C_DOUBLE_COMPLEX),
    INDEXED(MPI_LONG_DOUBLE),
    INDEXED(MPI_C_LONG_DOUBLE_COMPLEX),
    INDEXED(MPI_LONG_DOUBLE_INT),
    INDEXED(MPI_COUNT),
    INDEXED(MPI_OFFSET),
    INDEXED(MPI_CXX_BOOL),
    INDEXED(MPI_LONG_INT),
    INDEXED(MPI_SHORT_INT),
    [0] = 1,  // handle 0 is invalid, so its entry must differ from it
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

/// Copies elements between a user buffer and packed bytes, at most `left` bytes; returns the end of the packed bytes.
static char* copy_elements(char* user, int count, MPI_Datatype type, char* packed, size_t* left, bool packs) {
  const Type* derived = gsmpi_type(type);
  if (gsmpi_contiguous(type)) {
    size_t bytes = (size_t)count * gsmpi_type_size(type);
    if (bytes > *left) bytes = *left;
    user += gsmpi_lower(type);
    memcpy(packs ? packed : user, packs ? user : packed, bytes);
    *left -= bytes;
    return packed + bytes;
  }
  for (int i = 0; i < count && *left; ++i, user += derived->extent)
    for (int block = 0; block < derived->count && *left; ++block)
      packed = copy_elements(user + block * derived->stride, derived->length, derived->old, packed, left, packs);
  return packed;
}

void gsmpi_pack(const void* from, int count, MPI_Datatype type, void* to) {
  size_t left = (size_t)count * gsmpi_type_size(type);
  copy_elements((char*)from, count, type, to, &left, true);
}

void gsmpi_unpack(const void* from, size_t bytes, int count, MPI_Datatype type, void* to) {
  copy_elements(to, count, type, (char*)from, &bytes, false);
}

static bool in_use(MPI_Datatype type) {
  for (int i = 0; i < gsmpi.type_end; ++i)
    if (gsmpi.types[i] && gsmpi.types[i]->old == type) return true;
  for (uint32_t i = 0; i < gsmpi.request_count; ++i)
    if (gsmpi.requests[i]->used && gsmpi.requests[i]->type == type) return true;
  return false;
}

/// Releases freed types that nothing uses. Repeats, since a released type may have been the last user of another.
static void release_unused_types(void) {
  for (bool released = true; released;) {
    released = false;
    for (int i = 0; i < gsmpi.type_end; ++i) {
      Type* type = gsmpi.types[i];
      if (!type || !type->freed || in_use((kDerived << 16) | i)) continue;
      gsmpi.types[i] = NULL;
      gsmpi_release(type);
      released = true;
    }
  }
}

static int make(const char* call, int count, int length, intptr_t stride, MPI_Datatype old, MPI_Datatype* type) {
  *type = MPI_DATATYPE_NULL;
  if (count < 0 || length < 0)
    return gsmpi_error(NULL, MPI_ERR_COUNT, call, "%d blocks of %d elements: a count is negative", count, length);
  if (!known(old)) return gsmpi_error(NULL, MPI_ERR_TYPE, call, "0x%x is not a datatype", (unsigned)old);
  int index = 0;
  while (index < kTypes && gsmpi.types[index]) ++index;
  if (index == kTypes) {
    release_unused_types();  // requests that used a type may have completed since
    index = 0;
  }
  while (index < kTypes && gsmpi.types[index]) ++index;
  if (index == kTypes)
    return gsmpi_error(NULL, MPI_ERR_OTHER, call, "%d datatypes are in use, the maximum; free some", kTypes);
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
  gsmpi.types[index] = made;
  if (index >= gsmpi.type_end) gsmpi.type_end = index + 1;
  *type = (MPI_Datatype)((kDerived << 16) | index);
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
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_commit", "0x%x is not a datatype", (unsigned)*type);
  return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype* type) {
  Type* derived = gsmpi_type(*type);
  if (!derived || derived->freed)
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_free", "0x%x is not a datatype that can be freed",
                       (unsigned)*type);
  // Other types and messages in flight may still use it. The program's handle is invalid from now on.
  derived->freed = true;
  release_unused_types();
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

/// Size without the trailing gap of a pair type. Messages include that gap.
static uint32_t reported_size(MPI_Datatype type) {
  switch (type) {
    case MPI_DOUBLE_INT: return sizeof(double) + sizeof(int);
    case MPI_LONG_INT: return sizeof(long) + sizeof(int);
    case MPI_SHORT_INT: return sizeof(short) + sizeof(int);
    case MPI_LONG_DOUBLE_INT: return sizeof(long double) + sizeof(int);
    default: return gsmpi_type_size(type);
  }
}

int MPI_Type_size(MPI_Datatype type, int* size) {
  if (!known(type)) return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_size", "0x%x is not a datatype", (unsigned)type);
  *size = (int)reported_size(type);
  return MPI_SUCCESS;
}

int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  if (!known(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_get_extent", "0x%x is not a datatype", (unsigned)type);
  *lower = gsmpi_lower(type);
  *extent = gsmpi_extent(type);
  return MPI_SUCCESS;
}
