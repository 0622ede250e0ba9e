// SPDX-License-Identifier: Apache-2.0
/// OpenCL's functions of integers, relations, selections, and vectors in memory (OpenCL C 2.0, 6.13.3, 6.13.6, 6.13.7,
/// 6.13.12).
#include "types.h"

typedef __int128 wide;

#define MOST(T) ((T) - 1 < (T)1 ? (T)(((wide)1 << (8 * sizeof(T) - 1)) - 1) : (T) - 1)
#define LEAST(T) ((T) - 1 < (T)1 ? (T)(-((wide)1 << (8 * sizeof(T) - 1))) : (T)0)
#define SATURATED(T, value) ((value) < (wide)LEAST(T) ? LEAST(T) : (value) > (wide)MOST(T) ? MOST(T) : (T)(value))

#define SCALAR(T, U, ...)                                                                                              \
  U BUILTIN abs(T a) { return a < (T)1 && a != 0 ? (U)(0 - (U)a) : (U)a; }                                             \
  U BUILTIN abs_diff(T a, T b) { return a > b ? (U)((U)a - (U)b) : (U)((U)b - (U)a); }                                 \
  T BUILTIN add_sat(T a, T b) {                                                                                        \
    const wide r = (wide)a + b;                                                                                        \
    return SATURATED(T, r);                                                                                            \
  }                                                                                                                    \
  T BUILTIN sub_sat(T a, T b) {                                                                                        \
    const wide r = (wide)a - b;                                                                                        \
    return SATURATED(T, r);                                                                                            \
  }                                                                                                                    \
  T BUILTIN hadd(T a, T b) { return (T)(((wide)a + b) >> 1); }                                                         \
  T BUILTIN rhadd(T a, T b) { return (T)(((wide)a + b + 1) >> 1); }                                                    \
  T BUILTIN clz(T a) { return a ? (T)(__builtin_clzl((ulong)(U)a) - (64 - 8 * (int)sizeof(T))) : (T)(8 * sizeof(T)); } \
  T BUILTIN ctz(T a) { return a ? (T)__builtin_ctzl((ulong)(U)a) : (T)(8 * sizeof(T)); }                               \
  T BUILTIN popcount(T a) { return (T)__builtin_popcountl((ulong)(U)a); }                                              \
  T BUILTIN mul_hi(T a, T b) {                                                                                         \
    return (T)((T) - 1 < (T)1 ? (ulong)(((wide)a * b) >> 8 * sizeof(T))                                                \
                              : (ulong)(((unsigned __int128)a * (unsigned __int128)b) >> 8 * sizeof(T)));              \
  }                                                                                                                    \
  T BUILTIN mad_hi(T a, T b, T c) { return (T)((U)mul_hi(a, b) + (U)c); }                                              \
  T BUILTIN mad_sat(T a, T b, T c) {                                                                                   \
    /* A product of two unsigned longs plus a third fits into 128 bits without a sign. */                              \
    if ((T) - 1 > (T)1) {                                                                                              \
      const unsigned __int128 r = (unsigned __int128)a * (unsigned __int128)b + (unsigned __int128)c;                  \
      return r > MOST(T) ? MOST(T) : (T)r;                                                                             \
    }                                                                                                                  \
    const wide r = (wide)a * b + c;                                                                                    \
    return SATURATED(T, r);                                                                                            \
  }                                                                                                                    \
  T BUILTIN max(T a, T b) { return a < b ? b : a; }                                                                    \
  T BUILTIN min(T a, T b) { return b < a ? b : a; }                                                                    \
  T BUILTIN clamp(T x, T low, T high) { return min(max(x, low), high); }                                               \
  T BUILTIN rotate(T a, T by) {                                                                                        \
    const int bits = 8 * sizeof(T), k = (int)((U)by & (bits - 1));                                                     \
    return k ? (T)((U)((U)a << k) | (U)((U)a >> (bits - k))) : a;                                                      \
  }
INTEGERS(SCALAR)
#define VECTOR(T, U, ...)                                                                                          \
  WIDTHS(EACH1, T, U, abs)                                                                                         \
  WIDTHS(EACH2, T, U, abs_diff, T) WIDTHS(EACH2, T, T, add_sat, T) WIDTHS(EACH2, T, T, sub_sat, T)                 \
      WIDTHS(EACH2, T, T, hadd, T) WIDTHS(EACH2, T, T, rhadd, T) WIDTHS(EACH1, T, T, clz) WIDTHS(EACH1, T, T, ctz) \
          WIDTHS(EACH1, T, T, popcount) WIDTHS(EACH2, T, T, mul_hi, T) WIDTHS(EACH3, T, T, mad_hi, T, T)           \
              WIDTHS(EACH3, T, T, mad_sat, T, T) WIDTHS(EACH2, T, T, max, T) WIDTHS(EACH2, T, T, min, T)           \
                  WIDTHS(LAST1, T, T, max, T) WIDTHS(LAST1, T, T, min, T) WIDTHS(EACH3, T, T, clamp, T, T)         \
                      WIDTHS(LAST2, T, T, clamp) WIDTHS(EACH2, T, T, rotate, T)
INTEGERS(VECTOR)
#define UPSAMPLE(T, U, R)                                                              \
  R BUILTIN upsample(T high, U low) { return (R)((R)high << 8 * sizeof(T) | (R)low); } \
  WIDTHS(EACH2, T, R, upsample, U)
UPSAMPLE(char, uchar, short)
UPSAMPLE(uchar, uchar, ushort) UPSAMPLE(short, ushort, int) UPSAMPLE(ushort, ushort, uint) UPSAMPLE(int, uint, long)
    UPSAMPLE(uint, uint, ulong)
    // Of the operands, 24 bits are used.
    int BUILTIN mul24(int a, int b) {
  return (int)((uint)(a << 8 >> 8) * (uint)(b << 8 >> 8));
}
uint BUILTIN mul24(uint a, uint b) { return (a & 0xffffff) * (b & 0xffffff); }
int BUILTIN mad24(int a, int b, int c) { return (int)((uint)mul24(a, b) + (uint)c); }
uint BUILTIN mad24(uint a, uint b, uint c) { return mul24(a, b) + c; }
#define SHORT_PRODUCTS(T) WIDTHS(EACH2, T, T, mul24, T) WIDTHS(EACH3, T, T, mad24, T, T)
SHORT_PRODUCTS(int)
SHORT_PRODUCTS(uint)
// Relations: 1 for scalars, -1 in each element of a vector.
#define RELATION(T, N, I, name, expression) \
  I##N BUILTIN name(T##N x, T##N y) { return expression; }
#define RELATION2(T, I, name, expression)           \
  int BUILTIN name(T x, T y) { return expression; } \
  WIDTHS(RELATION, T, I, name, expression)
#define PROPERTY(T, N, I, name, expression) \
  I##N BUILTIN name(T##N x) { return expression; }
#define PROPERTY1(T, I, name, scalar, vector) \
  int BUILTIN name(T x) { return scalar; }    \
  WIDTHS(PROPERTY, T, I, name, vector)
#define RELATIONS(T, I, ...)                                                                                    \
  RELATION2(T, I, isequal, x == y)                                                                              \
  RELATION2(T, I, isnotequal, x != y) RELATION2(T, I, isgreater, x > y) RELATION2(T, I, isgreaterequal, x >= y) \
      RELATION2(T, I, isless, x < y) RELATION2(T, I, islessequal, x <= y)                                       \
          RELATION2(T, I, islessgreater, (x < y) | (x > y)) RELATION2(T, I, isordered, (x == x) & (y == y))     \
              RELATION2(T, I, isunordered, (x != x) | (y != y)) PROPERTY1(T, I, isnan, x != x, x != x)          \
                  PROPERTY1(T, I, isfinite, x - x == 0, x - x == (T)0)                                          \
                      PROPERTY1(T, I, isinf, (x == x) & (x - x != 0), (x == x) & (x - x != (T)0))               \
                          PROPERTY1(T, I, isnormal, (fabs(x) >= LEAST_NORMAL(T)) & (x - x == 0),                \
                                    (fabs(x) >= LEAST_NORMAL(T)) & (x - x == (T)0))                             \
                              PROPERTY1(T, I, signbit, __builtin_astype(x, I) < 0,                              \
                                        __builtin_astype(x, __typeof__(x == x)) < (I)0)
#define LEAST_NORMAL(T) ((T)(sizeof(T) == 8 ? 0x1p-1022 : sizeof(T) == 4 ? 0x1p-126 : 0x1p-14))
#define FABS(T, I, ...) \
  T BUILTIN fabs(T);    \
  WIDTHS(FABS_OF, T)
#define FABS_OF(T, N, ...) T##N BUILTIN fabs(T##N);
    FLOATS(FABS) FLOATS(RELATIONS)
#define ANY(T, N, ...)                         \
  int BUILTIN any(T##N a) {                    \
    int r = 0;                                 \
    for (int i = 0; i < N; i++) r |= a[i] < 0; \
    return r;                                  \
  }                                            \
  int BUILTIN all(T##N a) {                    \
    int r = 1;                                 \
    for (int i = 0; i < N; i++) r &= a[i] < 0; \
    return r;                                  \
  }
#define ANY1(T)                          \
  int BUILTIN any(T a) { return a < 0; } \
  int BUILTIN all(T a) { return a < 0; } \
  WIDTHS(ANY, T)
        ANY1(char) ANY1(short) ANY1(int) ANY1(long)

// Selections. A scalar condition is true if it is not 0, an element if its highest bit is set.
#define SELECT(T, N, I)                                             \
  T##N BUILTIN select(T##N a, T##N b, I##N c) {                     \
    T##N r;                                                         \
    for (int i = 0; i < N; i++) r[i] = HIGHEST(c[i]) ? b[i] : a[i]; \
    return r;                                                       \
  }
#define HIGHEST(c) ((ulong)(c) >> (8 * sizeof(c) - 1) & 1)
#define SELECT1(T, I)                                   \
  T BUILTIN select(T a, T b, I c) { return c ? b : a; } \
  WIDTHS(SELECT, T, I)
#define BITS(T, N, U)                                                                                       \
  T##N BUILTIN bitselect(T##N a, T##N b, T##N c) {                                                          \
    const U##N x = __builtin_astype(a, U##N), y = __builtin_astype(b, U##N), m = __builtin_astype(c, U##N); \
    return __builtin_astype((x & ~m) | (y & m), T##N);                                                      \
  }
#define SELECTIONS(T, I, U)                                                                     \
  SELECT1(T, I) SELECT1(T, U) WIDTHS(BITS, T, U) T BUILTIN bitselect(T a, T b, T c) {           \
    const U x = __builtin_astype(a, U), y = __builtin_astype(b, U), m = __builtin_astype(c, U); \
    return __builtin_astype((U)((x & ~m) | (y & m)), T);                                        \
  }
            SELECTIONS(char, char, uchar) SELECTIONS(uchar, char, uchar) SELECTIONS(short, short, ushort)
                SELECTIONS(ushort, short, ushort) SELECTIONS(int, int, uint) SELECTIONS(uint, int, uint)
                    SELECTIONS(long, long, ulong) SELECTIONS(ulong, long, ulong) SELECTIONS(float, int, uint)
                        SELECTIONS(double, long, ulong) SELECTIONS(half, short, ushort)

// Vectors in memory, aligned as their elements.
#define MEMORY(T, N, ...)                             \
  T##N BUILTIN vload##N(size_t at, const T* p) {      \
    T##N r;                                           \
    for (int i = 0; i < N; i++) r[i] = p[at * N + i]; \
    return r;                                         \
  }                                                   \
  void BUILTIN vstore##N(T##N a, size_t at, T* p) {   \
    for (int i = 0; i < N; i++) p[at * N + i] = a[i]; \
  }
#define MEMORIES(T, U, ...) WIDTHS(MEMORY, T)
                            INTEGERS(MEMORIES) FLOATS(MEMORIES) float BUILTIN vload_half(size_t at, const half* p) {
  return p[at];
}
void BUILTIN vstore_half(float a, size_t at, half* p) { p[at] = (half)a; }
void BUILTIN vstore_half(double a, size_t at, half* p) { p[at] = (half)a; }
void BUILTIN vstore_half_rte(float a, size_t at, half* p) { p[at] = (half)a; }
void BUILTIN vstore_half_rte(double a, size_t at, half* p) { p[at] = (half)a; }
// vloada_half3 and vstorea_half3 have the stride of four.
#define HALF_MEMORY(N, stride)                                \
  float##N BUILTIN vload_half##N(size_t at, const half* p) {  \
    float##N r;                                               \
    for (int i = 0; i < N; i++) r[i] = p[at * N + i];         \
    return r;                                                 \
  }                                                           \
  float##N BUILTIN vloada_half##N(size_t at, const half* p) { \
    float##N r;                                               \
    for (int i = 0; i < N; i++) r[i] = p[at * stride + i];    \
    return r;                                                 \
  }                                                           \
  HALF_STORE(N, stride, float, )                              \
  HALF_STORE(N, stride, double, ) HALF_STORE(N, stride, float, _rte) HALF_STORE(N, stride, double, _rte)
#define HALF_STORE(N, stride, F, mode)                             \
  void BUILTIN vstore_half##N##mode(F##N a, size_t at, half* p) {  \
    for (int i = 0; i < N; i++) p[at * N + i] = (half)a[i];        \
  }                                                                \
  void BUILTIN vstorea_half##N##mode(F##N a, size_t at, half* p) { \
    for (int i = 0; i < N; i++) p[at * stride + i] = (half)a[i];   \
  }
HALF_MEMORY(2, 2)
HALF_MEMORY(3, 4) HALF_MEMORY(4, 4) HALF_MEMORY(8, 8) HALF_MEMORY(16, 16)

// Permutations. Of an index, the bits that the source's size needs are used.
#define SHUFFLE(T, N, M, U)                                                                 \
  T##N BUILTIN shuffle(T##M a, U##N at) {                                                   \
    T##N r;                                                                                 \
    for (int i = 0; i < N; i++) r[i] = a[at[i] & (M - 1)];                                  \
    return r;                                                                               \
  }                                                                                         \
  T##N BUILTIN shuffle2(T##M a, T##M b, U##N at) {                                          \
    T##N r;                                                                                 \
    for (int i = 0; i < N; i++) r[i] = at[i] & M ? b[at[i] & (M - 1)] : a[at[i] & (M - 1)]; \
    return r;                                                                               \
  }
#define SHUFFLES(T, M, U) SHUFFLE(T, 2, M, U) SHUFFLE(T, 4, M, U) SHUFFLE(T, 8, M, U) SHUFFLE(T, 16, M, U)
#define PERMUTATIONS(T, U) SHUFFLES(T, 2, U) SHUFFLES(T, 4, U) SHUFFLES(T, 8, U) SHUFFLES(T, 16, U)
    PERMUTATIONS(char, uchar) PERMUTATIONS(uchar, uchar) PERMUTATIONS(short, ushort) PERMUTATIONS(ushort, ushort)
        PERMUTATIONS(int, uint) PERMUTATIONS(uint, uint) PERMUTATIONS(long, ulong) PERMUTATIONS(ulong, ulong)
            PERMUTATIONS(float, uint) PERMUTATIONS(double, ulong) PERMUTATIONS(half, ushort)
