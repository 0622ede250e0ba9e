// SPDX-License-Identifier: Apache-2.0
/// Datatypes: the handle of a basic type contains its size; derived types are blocks of other types.

#include <string.h>

#include "internal.h"

SMALL_CODE_BEGIN

enum { kDerived = 0x4100 };

Type* gsmpi_type(MPI_Datatype type) {
  return (uint32_t)type >> 16 == kDerived ? gsmpi_entry(&gsmpi.types, (uint32_t)type & 0xFFFF) : NULL;
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

bool gsmpi_known_type(MPI_Datatype type) {
  if (gsmpi_basic(type)) return gsmpi_basic_types[type & (kBasicTypes - 1)] == type;
  const Type* derived = gsmpi_type(type);
  return derived && !derived->freed;
}

bool gsmpi_valid_type(MPI_Datatype type) {
  const Type* derived = gsmpi_type(type);
  return derived ? derived->committed && !derived->freed : gsmpi_known_type(type);
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
  return derived ? derived->true_lower : 0;
}

size_t gsmpi_span(int count, MPI_Datatype type, intptr_t* first) {
  const Type* derived = gsmpi_type(type);
  const intptr_t last = count > 0 ? (count - 1) * gsmpi_extent(type) : 0;
  const intptr_t each = derived ? derived->true_extent : (intptr_t)gsmpi_type_size(type);
  *first = gsmpi_lower(type) + (last < 0 ? last : 0);
  return count > 0 ? (size_t)((last < 0 ? -last : last) + each) : 0;
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
    for (int index = 0; index < derived->count && *left; ++index) {
      const Block* block = derived->blocks ? derived->blocks + index : NULL;
      packed = block
                   ? copy_elements(user + block->at, block->length, block->type, packed, left, packs)
                   : copy_elements(user + index * derived->stride, derived->length, derived->old, packed, left, packs);
    }
  return packed;
}

void gsmpi_pack(const void* from, int count, MPI_Datatype type, void* to) {
  size_t left = (size_t)count * gsmpi_type_size(type);
  copy_elements((char*)from, count, type, to, &left, true);
}

void gsmpi_unpack(const void* from, size_t bytes, int count, MPI_Datatype type, void* to) {
  copy_elements(to, count, type, (char*)from, &bytes, false);
}

void gsmpi_release_type(MPI_Datatype type) {
  Type* derived = gsmpi_type(type);
  if (likely(derived == NULL) || --derived->references) return;
  gsmpi.types.entries[type & 0xFFFF] = NULL;
  gsmpi_release_type(derived->old);
  for (int i = 0; derived->blocks && i < derived->count; ++i) gsmpi_release_type(derived->blocks[i].type);
  gsmpi_release(derived->blocks);
  gsmpi_release(derived->name);
  gsmpi_release(derived);
}

uint32_t gsmpi_alignment(MPI_Datatype type) {
  const Type* derived = gsmpi_type(type);
  if (derived) return derived->alignment;
  switch (type) {
    case MPI_2INT:
    case MPI_FLOAT_INT:
    case MPI_SHORT_INT: return _Alignof(int);
    case MPI_DOUBLE_INT: return _Alignof(double);
    case MPI_LONG_INT: return _Alignof(long);
    case MPI_LONG_DOUBLE_INT:
    case MPI_LONG_DOUBLE:
    case MPI_C_LONG_DOUBLE_COMPLEX: return _Alignof(long double);
    case MPI_C_FLOAT_COMPLEX: return _Alignof(float);
    case MPI_C_DOUBLE_COMPLEX: return _Alignof(double);
    default: return gsmpi_type_size(type);
  }
}

/// Extends the bounds of a type by those of `length` elements at a distance from the buffer.
static __attribute__((noinline)) void include(Type* made, bool first, intptr_t at, int length, MPI_Datatype type) {
  const Type* derived = gsmpi_type(type);
  const intptr_t extent = gsmpi_extent(type), last = at + (length - 1) * extent;
  const intptr_t low = last < at ? last : at, high = last > at ? last : at;
  const intptr_t lower = low + (derived ? derived->lower : 0);
  const intptr_t upper = high + (derived ? derived->lower : 0) + extent;
  const intptr_t true_lower = low + gsmpi_lower(type);
  const intptr_t true_upper = high + gsmpi_lower(type) + (derived ? derived->true_extent : extent);
  // Until gsmpi_make_type ends, the extents are upper bounds.
  if (first || lower < made->lower) made->lower = lower;
  if (first || upper > made->extent) made->extent = upper;
  if (first || true_lower < made->true_lower) made->true_lower = true_lower;
  if (first || true_upper > made->true_extent) made->true_extent = true_upper;
}

/// Reports a type that cannot be made.
static __attribute__((noinline)) int reject(Block* blocks, int error_class, const char* call, const char* text,
                                            int value) {
  gsmpi_release(blocks);
  return gsmpi_error(NULL, error_class, call, text, value);
}

int gsmpi_make_type(const char* call, int count, int length, intptr_t stride, MPI_Datatype old, Block* blocks,
                    MPI_Datatype* type) {
  *type = MPI_DATATYPE_NULL;
  if (count < 0) return reject(blocks, MPI_ERR_COUNT, call, "the count %d is negative", count);
  Type made = {.count = count, .length = length, .stride = stride, .old = old, .blocks = blocks, .references = 1};
  uint64_t size = 0;
  bool dense = true, first = true;
  intptr_t next = 0;  // end of the data so far
  for (int i = 0; i < count; ++i) {
    const Block block = blocks ? blocks[i] : (Block){i * stride, length, old};
    if (block.length < 0) return reject(blocks, MPI_ERR_ARG, call, "the block length %d is negative", block.length);
    if (!gsmpi_known_type(block.type)) return reject(blocks, MPI_ERR_TYPE, call, "0x%x is not a datatype", block.type);
    const uint32_t alignment = gsmpi_alignment(block.type);
    if (alignment > made.alignment) made.alignment = alignment;
    if (block.length == 0) continue;
    const intptr_t at = block.at + gsmpi_lower(block.type);
    dense = dense && gsmpi_contiguous(block.type) && (first || at == next || (!blocks && i > 1));
    next = at + (intptr_t)block.length * (intptr_t)gsmpi_type_size(block.type);
    include(&made, first, block.at, block.length, block.type);
    size += (uint64_t)block.length * gsmpi_type_size(block.type);
    first = false;
    if (!blocks && i == 1 && count > 2) i = count - 2;  // regular blocks: the first two and the last are sufficient
  }
  if (!blocks) {
    if (length < 0) return reject(blocks, MPI_ERR_ARG, call, "the block length %d is negative", length);
    if (!gsmpi_known_type(old)) return reject(blocks, MPI_ERR_TYPE, call, "0x%x is not a datatype", old);
    size = (uint64_t)count * (uint64_t)length * gsmpi_type_size(old);
  }
  if (size > INT32_MAX || (!blocks && (uint64_t)count * (uint64_t)length > INT32_MAX))
    return reject(blocks, MPI_ERR_COUNT, call, "%d blocks are more than 2 GB", count);
  made.size = (uint32_t)size;
  made.extent -= made.lower;
  made.true_extent -= made.true_lower;
  made.contiguous = dense && made.extent == (intptr_t)size;
  Type* stored = gsmpi_allocate(sizeof *stored, call);
  *stored = made;
  const uint32_t index = gsmpi_add_entry(&gsmpi.types, stored, kMostHandles);
  if (!index) {
    gsmpi_release(stored);
    return reject(blocks, MPI_ERR_OTHER, call, "%d datatypes are in use, the maximum; free some",
                  (int)gsmpi.types.size);
  }
  gsmpi_use_type(old);
  for (int i = 0; blocks && i < count; ++i) gsmpi_use_type(blocks[i].type);
  *type = (MPI_Datatype)(((uint32_t)kDerived << 16) | index);
  return MPI_SUCCESS;
}

int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* type) {
  CALLED();
  return gsmpi_make_type("MPI_Type_contiguous", count, 1, gsmpi_extent(old), old, NULL, type);
}

int MPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype* type) {
  CALLED();
  return gsmpi_make_type("MPI_Type_vector", count, length, stride * gsmpi_extent(old), old, NULL, type);
}

int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* type) {
  CALLED();
  return gsmpi_make_type("MPI_Type_create_hvector", count, length, stride, old, NULL, type);
}

int MPI_Type_commit(MPI_Datatype* type) {
  CALLED();
  Type* derived = gsmpi_type(*type);
  if (derived && !derived->freed)
    derived->committed = true;
  else if (!gsmpi_known_type(*type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_commit", "0x%x is not a datatype", (unsigned)*type);
  return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype* type) {
  CALLED();
  Type* derived = gsmpi_type(*type);
  if (!derived || derived->freed)
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_free", "0x%x is not a datatype that can be freed",
                       (unsigned)*type);
  if (derived->attributes) {
    const int error = gsmpi.hooks.delete_attributes(*type, &derived->attributes);
    if (error)
      return gsmpi_error(NULL, error, "MPI_Type_free", "a delete function of an attribute has returned %d", error);
  }
  // Other types and messages in flight may still use it. The program's handle is invalid from now on.
  derived->freed = true;
  if (!gsmpi.tasks) gsmpi_release_type(*type);  // a nonblocking collective may use it
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

uint32_t gsmpi_reported_size(MPI_Datatype type) {
  switch (type) {
    case MPI_DOUBLE_INT: return sizeof(double) + sizeof(int);
    case MPI_LONG_INT: return sizeof(long) + sizeof(int);
    case MPI_SHORT_INT: return sizeof(short) + sizeof(int);
    case MPI_LONG_DOUBLE_INT: return sizeof(long double) + sizeof(int);
    default: return gsmpi_type_size(type);
  }
}

int MPI_Type_size(MPI_Datatype type, int* size) {
  CALLED();
  if (!gsmpi_known_type(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_size", "0x%x is not a datatype", (unsigned)type);
  *size = (int)gsmpi_reported_size(type);
  return MPI_SUCCESS;
}

int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  CALLED();
  if (!gsmpi_known_type(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_get_extent", "0x%x is not a datatype", (unsigned)type);
  const Type* derived = gsmpi_type(type);
  *lower = derived ? derived->lower : 0;
  *extent = gsmpi_extent(type);
  return MPI_SUCCESS;
}

int MPI_Type_size_x(MPI_Datatype type, MPI_Count* size) {
  CALLED();
  if (!gsmpi_known_type(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_size_x", "0x%x is not a datatype", (unsigned)type);
  *size = gsmpi_reported_size(type);
  return MPI_SUCCESS;
}

int MPI_Type_get_extent_x(MPI_Datatype type, MPI_Count* lower, MPI_Count* extent) {
  CALLED();
  if (!gsmpi_known_type(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_get_extent_x", "0x%x is not a datatype", (unsigned)type);
  const Type* derived = gsmpi_type(type);
  *lower = derived ? derived->lower : 0;
  *extent = gsmpi_extent(type);
  return MPI_SUCCESS;
}

SMALL_CODE_END
