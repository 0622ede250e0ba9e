// SPDX-License-Identifier: Apache-2.0
/// Reduction operations: MPI's own on basic types, and user-defined ones.

#include <string.h>

#include "internal.h"

enum {
  kSigned8,
  kSigned16,
  kSigned32,
  kSigned64,
  kUnsigned8,
  kUnsigned16,
  kUnsigned32,
  kUnsigned64,
  kSingle,
  kDouble,
  kLongDouble,
  kComplex,
  kDoubleComplex,
  kLongComplex,
  kTwoInt,
  kFloatInt,
  kDoubleInt,
  kLongInt,
  kShortInt,
  kLongDoubleInt,
  kNone
};

/// Threads have no hardware for long double, and each program that reduces would contain its software arithmetic.
#ifdef __GOSSAMER_DEVICE__
#define LONG_DOUBLES 0
#else
#define LONG_DOUBLES 1
#endif

/// The representation of a type's elements.
static int kind_of(MPI_Datatype type) {
  if (!gsmpi_basic(type)) return kNone;
  switch (type) {
    case MPI_FLOAT: return kSingle;
    case MPI_DOUBLE: return kDouble;
    case MPI_C_FLOAT_COMPLEX: return kComplex;
    case MPI_C_DOUBLE_COMPLEX: return kDoubleComplex;
    case MPI_LONG_DOUBLE: return LONG_DOUBLES ? kLongDouble : kNone;
    case MPI_C_LONG_DOUBLE_COMPLEX: return LONG_DOUBLES ? kLongComplex : kNone;
    case MPI_LONG_DOUBLE_INT: return LONG_DOUBLES ? kLongDoubleInt : kNone;
    case MPI_LONG_INT: return kLongInt;
    case MPI_SHORT_INT: return kShortInt;
    case MPI_2INT: return kTwoInt;
    case MPI_FLOAT_INT: return kFloatInt;
    case MPI_DOUBLE_INT: return kDoubleInt;
    case MPI_PACKED:
    case MPI_WCHAR: return kNone;
    case MPI_UNSIGNED_CHAR:
    case MPI_BYTE:
    case MPI_UNSIGNED_SHORT:
    case MPI_UNSIGNED:
    case MPI_UNSIGNED_LONG:
    case MPI_UNSIGNED_LONG_LONG:
    case MPI_UINT8_T:
    case MPI_UINT16_T:
    case MPI_UINT32_T:
    case MPI_UINT64_T:
    case MPI_C_BOOL:
    case MPI_CXX_BOOL: return kUnsigned8 + __builtin_ctz(gsmpi_type_size(type));
    default: return kSigned8 + __builtin_ctz(gsmpi_type_size(type));
  }
}

#define INTEGER_OPERATIONS(name, type)                                \
  static void name(MPI_Op op, const type* in, type* out, int count) { \
    for (int i = 0; i < count; ++i) {                                 \
      const type a = in[i], b = out[i];                               \
      switch (op) {                                                   \
        case MPI_MAX: out[i] = a > b ? a : b; break;                  \
        case MPI_MIN: out[i] = a < b ? a : b; break;                  \
        case MPI_SUM: out[i] = (type)(a + b); break;                  \
        case MPI_PROD: out[i] = (type)(a * b); break;                 \
        case MPI_LAND: out[i] = a && b; break;                        \
        case MPI_BAND: out[i] = a & b; break;                         \
        case MPI_LOR: out[i] = a || b; break;                         \
        case MPI_BOR: out[i] = a | b; break;                          \
        case MPI_LXOR: out[i] = !a != !b; break;                      \
        default: out[i] = a ^ b; break;                               \
      }                                                               \
    }                                                                 \
  }
#define FLOAT_OPERATIONS(name, type)                                  \
  static void name(MPI_Op op, const type* in, type* out, int count) { \
    for (int i = 0; i < count; ++i) {                                 \
      const type a = in[i], b = out[i];                               \
      switch (op) {                                                   \
        case MPI_MAX: out[i] = a > b ? a : b; break;                  \
        case MPI_MIN: out[i] = a < b ? a : b; break;                  \
        case MPI_SUM: out[i] = a + b; break;                          \
        default: out[i] = a * b; break;                               \
      }                                                               \
    }                                                                 \
  }
/// Pairs of a real and an imaginary part.
#define COMPLEX_OPERATIONS(name, type)                                 \
  static void name(MPI_Op op, const type* in, type* out, int count) {  \
    for (int i = 0; i < 2 * count; i += 2) {                           \
      const type a = in[i], b = in[i + 1], c = out[i], d = out[i + 1]; \
      out[i] = op == MPI_SUM ? a + c : a * c - b * d;                  \
      out[i + 1] = op == MPI_SUM ? b + d : a * d + b * c;              \
    }                                                                  \
  }
/// Maximum or minimum with its location; the lower location if values are equal.
#define LOCATION_OPERATIONS(name, type)                                                                \
  typedef struct {                                                                                     \
    type value;                                                                                        \
    int location;                                                                                      \
  } name##_t;                                                                                          \
  static void name(MPI_Op op, const name##_t* in, name##_t* out, int count) {                          \
    for (int i = 0; i < count; ++i) {                                                                  \
      const bool better = op == MPI_MAXLOC ? in[i].value > out[i].value : in[i].value < out[i].value;  \
      if (better || (in[i].value == out[i].value && in[i].location < out[i].location)) out[i] = in[i]; \
    }                                                                                                  \
  }

INTEGER_OPERATIONS(signed8, int8_t)
INTEGER_OPERATIONS(signed16, int16_t)
INTEGER_OPERATIONS(signed32, int32_t)
INTEGER_OPERATIONS(signed64, int64_t)
INTEGER_OPERATIONS(unsigned8, uint8_t)
INTEGER_OPERATIONS(unsigned16, uint16_t)
INTEGER_OPERATIONS(unsigned32, uint32_t)
INTEGER_OPERATIONS(unsigned64, uint64_t)
FLOAT_OPERATIONS(float32, float)
FLOAT_OPERATIONS(float64, double)
LOCATION_OPERATIONS(two_int, int)
LOCATION_OPERATIONS(float_int, float)
LOCATION_OPERATIONS(double_int, double)
LOCATION_OPERATIONS(long_int, long)
LOCATION_OPERATIONS(short_int, short)
COMPLEX_OPERATIONS(complex_single, float)
COMPLEX_OPERATIONS(complex_double, double)
#if LONG_DOUBLES
FLOAT_OPERATIONS(long_double, long double)
LOCATION_OPERATIONS(long_double_int, long double)
COMPLEX_OPERATIONS(complex_long, long double)
#endif

static Operation* user_operation(MPI_Op op) {
  return op >= 0x100 ? gsmpi_entry(&gsmpi.operations, (uint32_t)op - 0x100) : NULL;
}

const char* gsmpi_op_name(MPI_Op op) {
  static const char* const names[] = {"MPI_OP_NULL", "MPI_MAX",    "MPI_MIN",    "MPI_SUM",     "MPI_PROD",
                                      "MPI_LAND",    "MPI_BAND",   "MPI_LOR",    "MPI_BOR",     "MPI_LXOR",
                                      "MPI_BXOR",    "MPI_MAXLOC", "MPI_MINLOC", "MPI_REPLACE", "MPI_NO_OP"};
  if ((unsigned)op < sizeof names / sizeof *names) return names[op];
  return user_operation(op) ? "this operation" : "an unknown operation";
}

bool gsmpi_commutes(MPI_Op op) {
  const Operation* operation = user_operation(op);
  return operation ? operation->commutes : true;
}

bool gsmpi_operates(MPI_Op op, MPI_Datatype type) {
  const Operation* operation = user_operation(op);
  if (operation) return !operation->freed;
  const int kind = kind_of(type);
  const bool logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
  if (type == MPI_BYTE) return op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
  if (type == MPI_C_BOOL || type == MPI_CXX_BOOL) return logical;
  if (type == MPI_AINT || type == MPI_COUNT || type == MPI_OFFSET) return op >= MPI_MAX && op <= MPI_BXOR && !logical;
  if (op == MPI_MAXLOC || op == MPI_MINLOC) return kind >= kTwoInt && kind <= kLongDoubleInt;
  if (op < MPI_MAX || op > MPI_MINLOC) return false;
  if (kind >= kComplex && kind <= kLongComplex) return op == MPI_SUM || op == MPI_PROD;
  if (kind >= kSingle && kind <= kLongDouble) return op <= MPI_PROD;
  return kind < kSingle;
}

/// Unpacks elements into the datatype's layout: a copy that the caller frees. `base` is its buffer address.
static char* unpacked_copy(const void* row, int count, MPI_Datatype type, char** base) {
  intptr_t first;
  const size_t span = gsmpi_span(count, type, &first);
  char* copy = gsmpi_allocate(span, "MPI_Op");
  memset(copy, 0, span);  // gaps have defined bytes
  *base = copy - first;
  gsmpi_unpack(row, (size_t)count * gsmpi_type_size(type), count, type, *base);
  return copy;
}

/// Applies a user-defined operation to packed elements. The user's function receives them in the datatype's layout.
static void apply_user_operation(const Operation* operation, const void* in, void* inout, int count,
                                 MPI_Datatype type) {
  if (gsmpi_contiguous(type)) {
    operation->function((char*)in - gsmpi_lower(type), (char*)inout - gsmpi_lower(type), &count, &type);
    return;
  }
  char *from, *to;
  char* from_copy = unpacked_copy(in, count, type, &from);
  char* to_copy = unpacked_copy(inout, count, type, &to);
  int count_copy = count;
  MPI_Datatype type_copy = type;  // the function may change its arguments
  operation->function(from, to, &count_copy, &type_copy);
  gsmpi_pack(to, count, type, inout);
  gsmpi_release(from_copy);
  gsmpi_release(to_copy);
}

bool gsmpi_operate(MPI_Op op, const void* in, void* inout, int count, MPI_Datatype type) {
  const Operation* operation = user_operation(op);
  if (operation) {
    apply_user_operation(operation, in, inout, count, type);
    return true;
  }
  switch (kind_of(type)) {
    case kSigned8: signed8(op, in, inout, count); break;
    case kSigned16: signed16(op, in, inout, count); break;
    case kSigned32: signed32(op, in, inout, count); break;
    case kSigned64: signed64(op, in, inout, count); break;
    case kUnsigned8: unsigned8(op, in, inout, count); break;
    case kUnsigned16: unsigned16(op, in, inout, count); break;
    case kUnsigned32: unsigned32(op, in, inout, count); break;
    case kUnsigned64: unsigned64(op, in, inout, count); break;
    case kSingle: float32(op, in, inout, count); break;
    case kDouble: float64(op, in, inout, count); break;
    case kTwoInt: two_int(op, in, inout, count); break;
    case kFloatInt: float_int(op, in, inout, count); break;
    case kDoubleInt: double_int(op, in, inout, count); break;
    case kLongInt: long_int(op, in, inout, count); break;
    case kShortInt: short_int(op, in, inout, count); break;
    case kComplex: complex_single(op, in, inout, count); break;
    case kDoubleComplex: complex_double(op, in, inout, count); break;
#if LONG_DOUBLES
    case kLongDouble: long_double(op, in, inout, count); break;
    case kLongDoubleInt: long_double_int(op, in, inout, count); break;
    case kLongComplex: complex_long(op, in, inout, count); break;
#endif
    default: return false;
  }
  return true;
}

int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  CALLED();
  Operation* made = gsmpi_allocate(sizeof *made, "MPI_Op_create");
  *made = (Operation){function, commutes != 0, false};
  const uint32_t index = gsmpi_add_entry(&gsmpi.operations, made, kMostHandles);
  if (!index) {
    gsmpi_release(made);
    return gsmpi_error(NULL, MPI_ERR_OTHER, "MPI_Op_create", "%u operations are in use, the maximum",
                       (unsigned)gsmpi.operations.size);
  }
  *op = 0x100 + (int)index;
  return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op* op) {
  CALLED();
  Operation* operation = user_operation(*op);
  if (!operation || operation->freed)
    return gsmpi_error(NULL, MPI_ERR_OP, "MPI_Op_free", "%d is not a user-defined operation", *op);
  operation->freed = true;
  if (!gsmpi.tasks) {  // a nonblocking collective may use it
    gsmpi.operations.entries[*op - 0x100] = NULL;
    gsmpi_release(operation);
  }
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int MPI_Op_commutative(MPI_Op op, int* commutes) {
  CALLED();
  const Operation* operation = user_operation(op);
  if (operation ? operation->freed : op < MPI_MAX || op > MPI_NO_OP)
    return gsmpi_error(NULL, MPI_ERR_OP, "MPI_Op_commutative", "%d is not an operation", op);
  *commutes = gsmpi_commutes(op);
  return MPI_SUCCESS;
}
