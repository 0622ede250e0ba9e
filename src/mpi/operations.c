// SPDX-License-Identifier: Apache-2.0
/// Reductions: MPI's operations on its basic types, and those of programs.

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

/// Threads have no hardware for long double, and its arithmetic in software would be part of each program that reduces.
#ifdef __GOSSAMER_DEVICE__
#define LONG_DOUBLES 0
#else
#define LONG_DOUBLES 1
#endif

/// How the elements of a type are added and compared.
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

#define WHOLE(name, type)                                             \
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
#define FRACTION(name, type)                                          \
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
#define COMPLEX(name, type)                                            \
  static void name(MPI_Op op, const type* in, type* out, int count) {  \
    for (int i = 0; i < 2 * count; i += 2) {                           \
      const type a = in[i], b = in[i + 1], c = out[i], d = out[i + 1]; \
      out[i] = op == MPI_SUM ? a + c : a * c - b * d;                  \
      out[i + 1] = op == MPI_SUM ? b + d : a * d + b * c;              \
    }                                                                  \
  }
/// The greater or less of two, with its place; of equals the lower place.
#define PLACE(name, type)                                                                             \
  typedef struct {                                                                                    \
    type value;                                                                                       \
    int place;                                                                                        \
  } name##_t;                                                                                         \
  static void name(MPI_Op op, const name##_t* in, name##_t* out, int count) {                         \
    for (int i = 0; i < count; ++i) {                                                                 \
      const bool better = op == MPI_MAXLOC ? in[i].value > out[i].value : in[i].value < out[i].value; \
      if (better || (in[i].value == out[i].value && in[i].place < out[i].place)) out[i] = in[i];      \
    }                                                                                                 \
  }

WHOLE(whole8, int8_t)
WHOLE(whole16, int16_t)
WHOLE(whole32, int32_t)
WHOLE(whole64, int64_t)
WHOLE(natural8, uint8_t)
WHOLE(natural16, uint16_t)
WHOLE(natural32, uint32_t)
WHOLE(natural64, uint64_t)
FRACTION(single, float)
FRACTION(twofold, double)
PLACE(two_int, int)
PLACE(float_int, float)
PLACE(double_int, double)
PLACE(long_int, long)
PLACE(short_int, short)
COMPLEX(complex_single, float)
COMPLEX(complex_double, double)
#if LONG_DOUBLES
FRACTION(long_double, long double)
PLACE(long_double_int, long double)
COMPLEX(complex_long, long double)
#endif

static Operation* own(MPI_Op op) { return op >= 0x100 && op < 0x100 + kOps ? gsmpi.operations[op - 0x100] : NULL; }

bool gsmpi_commutes(MPI_Op op) {
  const Operation* operation = own(op);
  return operation ? operation->commutes : true;
}

bool gsmpi_operates(MPI_Op op, MPI_Datatype type) {
  if (own(op)) return true;
  const int kind = kind_of(type);
  if (op == MPI_MAXLOC || op == MPI_MINLOC) return kind >= kTwoInt && kind <= kLongDoubleInt;
  if (op < MPI_MAX || op > MPI_MINLOC) return false;
  if (kind >= kComplex && kind <= kLongComplex) return op == MPI_SUM || op == MPI_PROD;
  if (kind >= kSingle && kind <= kLongDouble) return op <= MPI_PROD;
  return kind < kSingle;
}

/// Elements as the datatype lays them out, from a row of bytes: a copy, to be given back. `base` is where they begin.
static char* laid_out(const void* row, int count, MPI_Datatype type, char** base) {
  const size_t span = (size_t)count * (size_t)gsmpi_extent(type);
  char* copy = gsmpi_allocate(span, "MPI_Op");
  memset(copy, 0, span);  // what lies in gaps is nobody's
  *base = copy - gsmpi_lower(type);
  gsmpi_unpack(row, (size_t)count * gsmpi_type_size(type), count, type, *base);
  return copy;
}

/// A program's operation on rows of bytes: it is given elements where the datatype has them, gaps and all.
static void operate_own(const Operation* operation, const void* in, void* inout, int count, MPI_Datatype type) {
  if (gsmpi_contiguous(type)) {
    operation->function((char*)in - gsmpi_lower(type), (char*)inout - gsmpi_lower(type), &count, &type);
    return;
  }
  char *from, *to;
  char* from_copy = laid_out(in, count, type, &from);
  char* to_copy = laid_out(inout, count, type, &to);
  int given = count;
  MPI_Datatype of = type;  // copies: the function may change them
  operation->function(from, to, &given, &of);
  gsmpi_pack(to, count, type, inout);
  gsmpi_release(from_copy);
  gsmpi_release(to_copy);
}

bool gsmpi_operate(MPI_Op op, const void* in, void* inout, int count, MPI_Datatype type) {
  const Operation* operation = own(op);
  if (operation) {
    operate_own(operation, in, inout, count, type);
    return true;
  }
  switch (kind_of(type)) {
    case kSigned8: whole8(op, in, inout, count); break;
    case kSigned16: whole16(op, in, inout, count); break;
    case kSigned32: whole32(op, in, inout, count); break;
    case kSigned64: whole64(op, in, inout, count); break;
    case kUnsigned8: natural8(op, in, inout, count); break;
    case kUnsigned16: natural16(op, in, inout, count); break;
    case kUnsigned32: natural32(op, in, inout, count); break;
    case kUnsigned64: natural64(op, in, inout, count); break;
    case kSingle: single(op, in, inout, count); break;
    case kDouble: twofold(op, in, inout, count); break;
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
  int place = 0;
  while (place < kOps && gsmpi.operations[place]) ++place;
  if (place == kOps)
    return gsmpi_error(NULL, MPI_ERR_OTHER, "MPI_Op_create", "%d operations are in use, which is the most", kOps);
  Operation* made = gsmpi_allocate(sizeof *made, "MPI_Op_create");
  *made = (Operation){function, commutes != 0};
  gsmpi.operations[place] = made;
  *op = 0x100 + place;
  return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op* op) {
  if (!own(*op)) return gsmpi_error(NULL, MPI_ERR_OP, "MPI_Op_free", "%d is no operation of the program", *op);
  gsmpi_release(own(*op));
  gsmpi.operations[*op - 0x100] = NULL;
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
