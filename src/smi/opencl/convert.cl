// SPDX-License-Identifier: Apache-2.0
/// OpenCL's conversions (OpenCL C 2.0, 6.2.3): convert_TYPE, with _sat and a rounding mode. A number outside of an
/// integer type's range, and NaN, which the standard leaves open without _sat, convert as with it.
#include "types.h"

typedef __int128 wide;

#define MOST(T) ((T) - 1 < (T)1 ? (T)(((wide)1 << (8 * sizeof(T) - 1)) - 1) : (T) - 1)
#define LEAST(T) ((T) - 1 < (T)1 ? (T)(-((wide)1 << (8 * sizeof(T) - 1))) : (T)0)

// Integers. `wide` holds all of them, so no rounding takes place.
#define INTEGER(D, S, mode)                                                 \
  D BUILTIN convert_##D##mode(S x) { return (D)x; }                         \
  D BUILTIN convert_##D##_sat##mode(S x) {                                  \
    const wide w = x;                                                       \
    return w<(wide)LEAST(D) ? LEAST(D) : w>(wide) MOST(D) ? MOST(D) : (D)w; \
  }
// Every number of at least 2^(bits of the type) is too large, and doubles below that are exact or rounded already.
#define TRUNCATED(D, r) \
  ((r) != (r) ? (D)0 : (r) >= (double)MOST(D) + (sizeof(D) < 8) ? MOST(D) : (r) <= (double)LEAST(D) ? LEAST(D) : (D)(r))
#define FROM_FLOAT(D, S, mode, round)  \
  D BUILTIN convert_##D##mode(S x) {   \
    const double r = round((double)x); \
    return TRUNCATED(D, r);            \
  }                                    \
  D BUILTIN convert_##D##_sat##mode(S x) { return convert_##D##mode(x); }
// Floating-point numbers. A conversion rounds to nearest; another mode corrects it by one unit in the last place.
#define DOWN(T, I, r)                                                         \
  ((r) == 0 ? __builtin_astype((I)(((ulong)1 << (8 * sizeof(T) - 1)) | 1), T) \
            : __builtin_astype((I)(__builtin_astype(r, I) + ((r) > 0 ? -1 : 1)), T))
#define UP(T, I, r) \
  ((r) == 0 ? __builtin_astype((I)1, T) : __builtin_astype((I)(__builtin_astype(r, I) + ((r) > 0 ? 1 : -1)), T))
static int above_double(double r, double x) { return r > x; }
static int below_double(double r, double x) { return r < x; }
// An integer that was rounded to 2^63 or 2^64 still fits into `wide`; halves may be infinite.
static int above_wide(double r, wide x) { return r > 1e20 || (r > -1e20 && (wide)r > x); }
static int below_wide(double r, wide x) { return r < -1e20 || (r < 1e20 && (wide)r < x); }
#define TO_FLOAT(D, I, S, kind)                     \
  D BUILTIN convert_##D(S x) { return (D)x; }       \
  D BUILTIN convert_##D##_rte(S x) { return (D)x; } \
  D BUILTIN convert_##D##_rtp(S x) {                \
    const D r = (D)x;                               \
    return below_##kind(r, x) ? UP(D, I, r) : r;    \
  }                                                 \
  D BUILTIN convert_##D##_rtn(S x) {                \
    const D r = (D)x;                               \
    return above_##kind(r, x) ? DOWN(D, I, r) : r;  \
  }                                                 \
  D BUILTIN convert_##D##_rtz(S x) { return x < (S)0 ? convert_##D##_rtp(x) : convert_##D##_rtn(x); }

#define VECTOR(S, N, D, mode)                                   \
  D##N BUILTIN convert_##D##N##mode(S##N x) {                   \
    D##N r;                                                     \
    for (int i = 0; i < N; i++) r[i] = convert_##D##mode(x[i]); \
    return r;                                                   \
  }
#define VECTORS(D, S, mode) WIDTHS(VECTOR, S, D, mode)
#define SATURATED_VECTORS(D, S, mode) WIDTHS(VECTOR, S, D, mode) WIDTHS(VECTOR, S, D, _sat##mode)
#define ALL_MODES(M, D, S) M(D, S, ) M(D, S, _rte) M(D, S, _rtz) M(D, S, _rtp) M(D, S, _rtn)

#define INTEGER_FROM_FLOAT(S, I, D)                                                  \
  FROM_FLOAT(D, S, , __builtin_trunc)                                                \
  FROM_FLOAT(D, S, _rtz, __builtin_trunc) FROM_FLOAT(D, S, _rte, __builtin_rint)     \
      FROM_FLOAT(D, S, _rtp, __builtin_ceil) FROM_FLOAT(D, S, _rtn, __builtin_floor) \
          ALL_MODES(SATURATED_VECTORS, D, S)
#define INTEGER_FROM_INTEGER(S, U, D) ALL_MODES(INTEGER, D, S) ALL_MODES(SATURATED_VECTORS, D, S)
#define FLOAT_FROM_INTEGER(S, U, D, I) TO_FLOAT(D, I, S, wide) ALL_MODES(VECTORS, D, S)
#define FLOAT_FROM_FLOAT(S, J, D, I) TO_FLOAT(D, I, S, double) ALL_MODES(VECTORS, D, S)
#define TO_INTEGER(D) INTEGERS(INTEGER_FROM_INTEGER, D) FLOATS(INTEGER_FROM_FLOAT, D)
#define TO_FLOATING(D, I) INTEGERS(FLOAT_FROM_INTEGER, D, I) FLOATS(FLOAT_FROM_FLOAT, D, I)

// Compiled in two parts, side by side.
#ifdef SIGNED
TO_INTEGER(char) TO_INTEGER(short) TO_INTEGER(int) TO_INTEGER(long) TO_FLOATING(float, int)
#else
TO_INTEGER(uchar)
TO_INTEGER(ushort) TO_INTEGER(uint) TO_INTEGER(ulong) TO_FLOATING(double, long) TO_FLOATING(half, short)
#endif
