// SPDX-License-Identifier: Apache-2.0
/// Macros that repeat a macro for types and vector widths, for the implementation of OpenCL's built-in functions.
#pragma once

#define BUILTIN __attribute__((overloadable))

/// M(T, N, ...) for each vector width N of the element type T.
#define WIDTHS(M, T, ...) \
  M(T, 2, __VA_ARGS__) M(T, 3, __VA_ARGS__) M(T, 4, __VA_ARGS__) M(T, 8, __VA_ARGS__) M(T, 16, __VA_ARGS__)

/// M(T, U, ...) for each integer type T and the unsigned type U of its size.
#define INTEGERS(M, ...) SIGNED_INTEGERS(M, __VA_ARGS__) UNSIGNED_INTEGERS(M, __VA_ARGS__)
#define SIGNED_INTEGERS(M, ...) \
  M(char, uchar, __VA_ARGS__) M(short, ushort, __VA_ARGS__) M(int, uint, __VA_ARGS__) M(long, ulong, __VA_ARGS__)
#define UNSIGNED_INTEGERS(M, ...) \
  M(uchar, uchar, __VA_ARGS__) M(ushort, ushort, __VA_ARGS__) M(uint, uint, __VA_ARGS__) M(ulong, ulong, __VA_ARGS__)

/// M(T, I, ...) for each floating-point type T and the signed integer type I of its size.
#define FLOATS(M, ...) M(float, int, __VA_ARGS__) M(double, long, __VA_ARGS__) M(half, short, __VA_ARGS__)

/// A function of vectors that applies the function of scalars of the same name to each element.
#define EACH1(T, N, R, name)                       \
  R##N BUILTIN name(T##N a) {                      \
    R##N r;                                        \
    for (int i = 0; i < N; i++) r[i] = name(a[i]); \
    return r;                                      \
  }
#define EACH2(T, N, R, name, B)                          \
  R##N BUILTIN name(T##N a, B##N b) {                    \
    R##N r;                                              \
    for (int i = 0; i < N; i++) r[i] = name(a[i], b[i]); \
    return r;                                            \
  }
#define EACH3(T, N, R, name, B, C)                             \
  R##N BUILTIN name(T##N a, B##N b, C##N c) {                  \
    R##N r;                                                    \
    for (int i = 0; i < N; i++) r[i] = name(a[i], b[i], c[i]); \
    return r;                                                  \
  }
/// The same with scalars as last operands.
#define LAST1(T, N, R, name, B) \
  R##N BUILTIN name(T##N a, B b) { return name(a, (B##N)(b)); }
#define LAST2(T, N, R, name) \
  R##N BUILTIN name(T##N a, T b, T c) { return name(a, (T##N)(b), (T##N)(c)); }
/// The same with a scalar as first operand, or the first two.
#define FIRST1(T, N, R, name) \
  R##N BUILTIN name(T a, T##N b) { return name((T##N)(a), b); }
#define FIRST2(T, N, R, name) \
  R##N BUILTIN name(T a, T b, T##N c) { return name((T##N)(a), (T##N)(b), c); }
