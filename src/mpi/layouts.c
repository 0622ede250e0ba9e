// SPDX-License-Identifier: Apache-2.0
/// Datatypes with irregular blocks, or with other bounds; packed data.

#include "internal.h"

SMALL_CODE_BEGIN

/// Blocks of one type. `lengths` is null if all have one length; displacements are in elements or, if `elements` is
/// null, in bytes.
static int indexed(const char* call, int count, const int lengths[], int length, const int elements[],
                   const MPI_Aint bytes[], MPI_Datatype old, MPI_Datatype* type) {
  *type = MPI_DATATYPE_NULL;
  if (count < 0) return gsmpi_error(NULL, MPI_ERR_COUNT, call, "the count %d is negative", count);
  if (!gsmpi_known_type(old)) return gsmpi_error(NULL, MPI_ERR_TYPE, call, "0x%x is not a datatype", (unsigned)old);
  Block* blocks = gsmpi_allocate((size_t)count * sizeof *blocks, call);
  const intptr_t extent = gsmpi_extent(old);
  for (int i = 0; i < count; ++i)
    blocks[i] = (Block){elements ? elements[i] * extent : bytes[i], lengths ? lengths[i] : length, old};
  return gsmpi_make_type(call, count, 0, 0, MPI_DATATYPE_NULL, blocks, type);
}

int MPI_Type_indexed(int count, const int lengths[], const int displacements[], MPI_Datatype old, MPI_Datatype* type) {
  CALLED();
  return indexed("MPI_Type_indexed", count, lengths, 0, displacements, NULL, old, type);
}

int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint displacements[], MPI_Datatype old,
                             MPI_Datatype* type) {
  CALLED();
  return indexed("MPI_Type_create_hindexed", count, lengths, 0, NULL, displacements, old, type);
}

int MPI_Type_create_indexed_block(int count, int length, const int displacements[], MPI_Datatype old,
                                  MPI_Datatype* type) {
  CALLED();
  return indexed("MPI_Type_create_indexed_block", count, NULL, length, displacements, NULL, old, type);
}

int MPI_Type_create_hindexed_block(int count, int length, const MPI_Aint displacements[], MPI_Datatype old,
                                   MPI_Datatype* type) {
  CALLED();
  return indexed("MPI_Type_create_hindexed_block", count, NULL, length, NULL, displacements, old, type);
}

int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
                           MPI_Datatype* type) {
  static const char call[] = "MPI_Type_create_struct";
  CALLED();
  *type = MPI_DATATYPE_NULL;
  if (count < 0) return gsmpi_error(NULL, MPI_ERR_COUNT, call, "the count %d is negative", count);
  Block* blocks = gsmpi_allocate((size_t)count * sizeof *blocks, call);
  for (int i = 0; i < count; ++i) blocks[i] = (Block){displacements[i], lengths[i], types[i]};
  RETURN_ON_ERROR(gsmpi_make_type(call, count, 0, 0, MPI_DATATYPE_NULL, blocks, type));
  // As the C compiler does, the extent is rounded up to the alignment of the members.
  Type* made = gsmpi_type(*type);
  const intptr_t alignment = made->alignment ? (intptr_t)made->alignment : 1;
  const intptr_t over = made->extent % alignment;
  if (over > 0) made->extent += alignment - over;
  made->contiguous = made->contiguous && over == 0;
  return MPI_SUCCESS;
}

int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype* type) {
  CALLED();
  RETURN_ON_ERROR(gsmpi_make_type("MPI_Type_create_resized", 1, 1, 0, old, NULL, type));
  Type* made = gsmpi_type(*type);
  made->lower = lower;
  made->extent = extent;
  made->contiguous = gsmpi_contiguous(old) && extent == (intptr_t)made->size;
  return MPI_SUCCESS;
}

int MPI_Type_dup(MPI_Datatype old, MPI_Datatype* type) {
  CALLED();
  RETURN_ON_ERROR(gsmpi_make_type("MPI_Type_dup", 1, 1, 0, old, NULL, type));
  const Type* from = gsmpi_type(old);
  Type* made = gsmpi_type(*type);
  made->committed = !from || from->committed;
  if (!from || !from->attributes) return MPI_SUCCESS;
  const int error = gsmpi.hooks.copy_attributes(old, from->attributes, &made->attributes);
  if (!error) return MPI_SUCCESS;
  gsmpi.hooks.delete_attributes(*type, &made->attributes);
  gsmpi_release_type(*type);
  *type = MPI_DATATYPE_NULL;
  return gsmpi_error(NULL, error, "MPI_Type_dup", "a copy function of an attribute has returned %d", error);
}

/// A part of an array: from the fastest dimension on, rows of the previous dimension's part.
int MPI_Type_create_subarray(int dimensions, const int sizes[], const int subsizes[], const int starts[], int order,
                             MPI_Datatype old, MPI_Datatype* type) {
  static const char call[] = "MPI_Type_create_subarray";
  CALLED();
  *type = MPI_DATATYPE_NULL;
  if (dimensions < 1) return gsmpi_error(NULL, MPI_ERR_ARG, call, "an array has no %d dimensions", dimensions);
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return gsmpi_error(NULL, MPI_ERR_ARG, call, "%d is not an order of elements", order);
  if (!gsmpi_known_type(old)) return gsmpi_error(NULL, MPI_ERR_TYPE, call, "0x%x is not a datatype", (unsigned)old);
  for (int i = 0; i < dimensions; ++i)
    if (sizes[i] < 1 || subsizes[i] < 1 || starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
      return gsmpi_error(NULL, MPI_ERR_ARG, call, "dimension %d: %d elements from %d on are not a part of %d", i,
                         subsizes[i], starts[i], sizes[i]);
  intptr_t stride = gsmpi_extent(old), start = 0;
  MPI_Datatype part = old;
  for (int i = 0; i < dimensions; ++i) {
    const int at = order == MPI_ORDER_C ? dimensions - 1 - i : i;
    MPI_Datatype larger;
    const int error = gsmpi_make_type(call, subsizes[at], 1, stride, part, NULL, &larger);
    if (i > 0) gsmpi_release_type(part);
    RETURN_ON_ERROR(error);
    part = larger;
    start += starts[at] * stride;
    stride *= sizes[at];
  }
  Block* block = gsmpi_allocate(sizeof *block, call);
  *block = (Block){start, 1, part};
  const int error = gsmpi_make_type(call, 1, 0, 0, MPI_DATATYPE_NULL, block, type);
  gsmpi_release_type(part);
  RETURN_ON_ERROR(error);
  Type* made = gsmpi_type(*type);
  made->lower = 0;
  made->extent = stride;
  made->contiguous = made->contiguous && stride == (intptr_t)made->size;
  return MPI_SUCCESS;
}

int MPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  CALLED();
  if (!gsmpi_known_type(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Type_get_true_extent", "0x%x is not a datatype", (unsigned)type);
  const Type* derived = gsmpi_type(type);
  *lower = gsmpi_lower(type);
  *extent = derived ? derived->true_extent : (intptr_t)gsmpi_reported_size(type);
  return MPI_SUCCESS;
}

int MPI_Get_address(const void* location, MPI_Aint* address) {
  *address = (MPI_Aint)location;
  return MPI_SUCCESS;
}

MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint distance) { return base + distance; }
MPI_Aint MPI_Aint_diff(MPI_Aint one, MPI_Aint other) { return one - other; }

// ---------------------------------------------------------------------- packed data

static int check_packed(const Comm* comm, const char* call, int count, MPI_Datatype type, int bytes, int position) {
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, "", count, type));
  const uint32_t size = (uint32_t)count * gsmpi_type_size(type);
  if (position >= 0 && bytes >= position && size <= (uint32_t)(bytes - position)) return MPI_SUCCESS;
  return gsmpi_error(comm, MPI_ERR_TRUNCATE, call, "%u bytes at position %d do not fit in %d bytes of packed data",
                     (unsigned)size, position, bytes);
}

int MPI_Pack(const void* from, int count, MPI_Datatype type, void* packed, int bytes, int* position, MPI_Comm handle) {
  CALLED();
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Pack");
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(check_packed(comm, "MPI_Pack", count, type, bytes, *position));
  gsmpi_pack(from, count, type, (char*)packed + *position);
  *position += count * (int)gsmpi_type_size(type);
  return MPI_SUCCESS;
}

int MPI_Unpack(const void* packed, int bytes, int* position, void* to, int count, MPI_Datatype type, MPI_Comm handle) {
  CALLED();
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Unpack");
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(check_packed(comm, "MPI_Unpack", count, type, bytes, *position));
  const uint32_t size = (uint32_t)count * gsmpi_type_size(type);
  gsmpi_unpack((const char*)packed + *position, size, count, type, to);
  *position += (int)size;
  return MPI_SUCCESS;
}

int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm handle, int* bytes) {
  CALLED();
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Pack_size");
  if (!comm) return MPI_ERR_COMM;
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, "MPI_Pack_size", "", count, type));
  *bytes = count * (int)gsmpi_type_size(type);
  return MPI_SUCCESS;
}

// ---------------------------------------------------------------------- counts of elements

/// Counts the basic elements in the first `left` bytes of packed elements.
static int64_t basic_elements(int count, MPI_Datatype type, uint32_t* left) {
  const Type* derived = gsmpi_type(type);
  if (!derived) {
    const uint32_t size = gsmpi_type_size(type);
    const uint32_t whole = *left / size < (uint32_t)count ? *left / size : (uint32_t)count;
    *left -= whole * size;
    int64_t found = whole;
    switch (type) {
      case MPI_2INT:
      case MPI_FLOAT_INT:
      case MPI_DOUBLE_INT:
      case MPI_LONG_INT:
      case MPI_SHORT_INT:
      case MPI_LONG_DOUBLE_INT: {
        const uint32_t value = gsmpi_reported_size(type) - (uint32_t)sizeof(int);
        found *= 2;
        if (whole < (uint32_t)count && *left >= value) {
          ++found;
          *left = 0;
        }
        break;
      }
      default: break;
    }
    if (whole < (uint32_t)count && *left) *left = UINT32_MAX;  // a part of an element
    return found;
  }
  int64_t found = 0;
  for (int i = 0; i < count && *left && *left != UINT32_MAX && derived->size; ++i)
    for (int index = 0; index < derived->count && *left && *left != UINT32_MAX; ++index) {
      const Block* block = derived->blocks ? derived->blocks + index : NULL;
      found += basic_elements(block ? block->length : derived->length, block ? block->type : derived->old, left);
    }
  return found;
}

int MPI_Get_elements_x(const MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  CALLED();
  if (!gsmpi_known_type(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Get_elements", "0x%x is not a datatype", (unsigned)type);
  uint32_t left = (uint32_t)status->gsmpi_bytes;
  *count = basic_elements(INT32_MAX, type, &left);
  if (left) *count = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Get_elements(const MPI_Status* status, MPI_Datatype type, int* count) {
  MPI_Count found = 0;
  const int error = MPI_Get_elements_x(status, type, &found);
  CALLED();
  *count = (int)found;
  return error;
}

int MPI_Status_set_elements(MPI_Status* status, MPI_Datatype type, int count) {
  CALLED();
  if (!gsmpi_known_type(type))
    return gsmpi_error(NULL, MPI_ERR_TYPE, "MPI_Status_set_elements", "0x%x is not a datatype", (unsigned)type);
  // The bytes of `count` basic elements: whole datatypes, then the elements of one.
  uint32_t all = gsmpi_type_size(type);
  const int64_t each = all ? basic_elements(1, type, &all) : 0;
  uint32_t bytes = each ? (uint32_t)(count / each) * gsmpi_type_size(type) : 0;
  for (uint32_t more = 1; each && more <= gsmpi_type_size(type) && count % each; ++more) {
    uint32_t left = more;
    if (basic_elements(1, type, &left) != count % each || left) continue;
    bytes += more;
    break;
  }
  status->gsmpi_bytes = (int)bytes;
  return MPI_SUCCESS;
}

int MPI_Status_set_cancelled(MPI_Status* status, int flag) {
  status->gsmpi_cancelled = flag != 0;
  return MPI_SUCCESS;
}

SMALL_CODE_END
