// SPDX-License-Identifier: Apache-2.0
/// OpenCL's functions of floating-point numbers (OpenCL C 2.0, 6.13.2, 6.13.4 and 6.13.5), by means of the C library. A
/// function of half computes in float. native_ and half_ functions are as exact as the others; mad rounds twice.
#include "types.h"

// Functions of the C library. Their names are OpenCL's too, with other symbols.
#define C1(name)                           \
  double gs_##name(double) __asm__(#name); \
  float gs_##name##f(float) __asm__(#name "f");
#define C2(name)                                   \
  double gs_##name(double, double) __asm__(#name); \
  float gs_##name##f(float, float) __asm__(#name "f");
C1(acos)
C1(acosh) C1(asin) C1(asinh) C1(atan) C1(atanh) C1(cbrt) C1(cos) C1(cosh) C1(erfc) C1(erf) C1(exp) C1(exp2) C1(exp10)
    C1(expm1) C1(log) C1(log2) C1(log10) C1(log1p) C1(logb) C1(sin) C1(sinh) C1(sqrt) C1(tan) C1(tanh) C1(tgamma)
        C1(ceil) C1(floor) C1(rint) C1(round) C1(trunc) C2(atan2) C2(fdim) C2(fmod) C2(hypot) C2(nextafter) C2(pow)
            C2(remainder) double gs_fma(double, double, double) __asm__("fma");
float gs_fmaf(float, float, float) __asm__("fmaf");
double gs_ldexp(double, int) __asm__("ldexp");
float gs_ldexpf(float, int) __asm__("ldexpf");
double gs_frexp(double, int*) __asm__("frexp");
float gs_frexpf(float, int*) __asm__("frexpf");
double gs_remquo(double, double, int*) __asm__("remquo");
float gs_remquof(float, float, int*) __asm__("remquof");
double gs_lgamma_r(double, int*) __asm__("lgamma_r");
float gs_lgamma_rf(float, int*) __asm__("lgammaf_r");
int gs_ilogb(double) __asm__("ilogb");
int gs_ilogbf(float) __asm__("ilogbf");

#define PI 3.14159265358979323846

/// A function of one number, with its expressions for double and float.
#define FUNCTION1(name, ofDouble, ofFloat)           \
  double BUILTIN name(double x) { return ofDouble; } \
  float BUILTIN name(float x) { return ofFloat; }    \
  half BUILTIN name(half a) {                        \
    const float x = a;                               \
    return (half)(ofFloat);                          \
  }                                                  \
  WIDTHS(EACH1, double, double, name) WIDTHS(EACH1, float, float, name) WIDTHS(EACH1, half, half, name)
#define LIBRARY1(name) FUNCTION1(name, gs_##name(x), gs_##name##f(x))
LIBRARY1(acos)
LIBRARY1(acosh) LIBRARY1(asin) LIBRARY1(asinh) LIBRARY1(atan) LIBRARY1(atanh) LIBRARY1(cbrt) LIBRARY1(cos)
    LIBRARY1(cosh) LIBRARY1(erfc) LIBRARY1(erf) LIBRARY1(exp) LIBRARY1(exp2) LIBRARY1(exp10) LIBRARY1(expm1)
        LIBRARY1(log) LIBRARY1(log2) LIBRARY1(log10) LIBRARY1(log1p) LIBRARY1(logb) LIBRARY1(sin) LIBRARY1(sinh)
            LIBRARY1(sqrt) LIBRARY1(tan) LIBRARY1(tanh) LIBRARY1(tgamma) LIBRARY1(ceil) LIBRARY1(floor) LIBRARY1(rint)
                LIBRARY1(round) LIBRARY1(trunc) FUNCTION1(fabs, __builtin_fabs(x), __builtin_fabsf(x))
                    FUNCTION1(acospi, gs_acos(x) / PI, (float)(gs_acos(x) / PI))
                        FUNCTION1(asinpi, gs_asin(x) / PI, (float)(gs_asin(x) / PI))
                            FUNCTION1(atanpi, gs_atan(x) / PI, (float)(gs_atan(x) / PI))
    // remainder(x, 2) is exact, and so are the results at multiples of 1/2.
    static double gs_sinpi(double x) {
  const double r = gs_remainder(x, 2), a = __builtin_fabs(r);
  if (a == 0 || a == 1) return __builtin_copysign(0.0, x);
  return __builtin_copysign(a > 0.75 ? gs_sin(PI * (1 - a)) : a > 0.25 ? gs_cos(PI * (a - 0.5)) : gs_sin(PI * a), r);
}
static double gs_cospi(double x) {
  const double a = __builtin_fabs(gs_remainder(x, 2));
  if (a == 0.5) return 0;
  return a < 0.25 ? gs_cos(PI * a) : a <= 0.75 ? -gs_sin(PI * (a - 0.5)) : -gs_cos(PI * (1 - a));
}
FUNCTION1(sinpi, gs_sinpi(x), (float)gs_sinpi(x))
FUNCTION1(cospi, gs_cospi(x), (float)gs_cospi(x))
FUNCTION1(tanpi, gs_sinpi(x) / gs_cospi(x), (float)(gs_sinpi(x) / gs_cospi(x)))
FUNCTION1(rsqrt, 1 / gs_sqrt(x), (float)(1 / gs_sqrt(x)))
static double gs_lgamma(double x) {
  int sign;
  return gs_lgamma_r(x, &sign);
}
static float gs_lgammaf(float x) {
  int sign;
  return gs_lgamma_rf(x, &sign);
}
LIBRARY1(lgamma)
FUNCTION1(degrees, 180 / PI * x, (float)(180 / PI) * x)
FUNCTION1(radians, PI / 180 * x, (float)(PI / 180) * x)
FUNCTION1(sign, x != x ? 0 : x > 0 ? 1 : x < 0 ? -1 : x, x != x ? 0 : x > 0 ? 1 : x < 0 ? -1 : x)

/// A function of two numbers.
#define FUNCTION2(name, ofDouble, ofFloat)                     \
  double BUILTIN name(double x, double y) { return ofDouble; } \
  float BUILTIN name(float x, float y) { return ofFloat; }     \
  half BUILTIN name(half a, half b) {                          \
    const float x = a, y = b;                                  \
    return (half)(ofFloat);                                    \
  }                                                            \
  WIDTHS(EACH2, double, double, name, double)                  \
  WIDTHS(EACH2, float, float, name, float) WIDTHS(EACH2, half, half, name, half)
#define LIBRARY2(name) FUNCTION2(name, gs_##name(x, y), gs_##name##f(x, y))
LIBRARY2(atan2)
LIBRARY2(fdim) LIBRARY2(fmod) LIBRARY2(hypot) LIBRARY2(pow) LIBRARY2(remainder)
    FUNCTION2(atan2pi, gs_atan2(x, y) / PI, (float)(gs_atan2(x, y) / PI))
        FUNCTION2(copysign, __builtin_copysign(x, y), __builtin_copysignf(x, y))
            FUNCTION2(powr, x < 0 ? __builtin_nan("") : gs_pow(x, y), x < 0 ? __builtin_nanf("") : gs_powf(x, y))
#define FMAX(x, y) (x != x ? y : y != y ? x : x < y ? y : x)
#define FMIN(x, y) (x != x ? y : y != y ? x : y < x ? y : x)
                FUNCTION2(fmax, FMAX(x, y), FMAX(x, y)) FUNCTION2(fmin, FMIN(x, y), FMIN(x, y))
                    FUNCTION2(max, x < y ? y : x, x < y ? y : x) FUNCTION2(min, y < x ? y : x, y < x ? y : x)
#define SIZE(x) ((x) < 0 ? -(x) : (x))
#define MAXMAG(x, y) (SIZE(x) > SIZE(y) ? x : SIZE(y) > SIZE(x) ? y : FMAX(x, y))
#define MINMAG(x, y) (SIZE(x) < SIZE(y) ? x : SIZE(y) < SIZE(x) ? y : FMIN(x, y))
                        FUNCTION2(maxmag, MAXMAG(x, y), MAXMAG(x, y)) FUNCTION2(minmag, MINMAG(x, y), MINMAG(x, y))
                            FUNCTION2(step, y < x ? 0 : 1, y < x ? 0 : 1) double BUILTIN nextafter(double x, double y) {
  return gs_nextafter(x, y);
}
float BUILTIN nextafter(float x, float y) { return gs_nextafterf(x, y); }
half BUILTIN nextafter(half x, half y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  short bits = __builtin_astype(x, short);
  if (x == 0) return __builtin_astype((short)(y < 0 ? 0x8001 : 1), half);
  bits += (x < y) == (x > 0) ? 1 : -1;
  return __builtin_astype(bits, half);
}
#define NEXTAFTER(T, I, ...) WIDTHS(EACH2, T, T, nextafter, T)
FLOATS(NEXTAFTER)

#define SCALAR_LAST(T, I, ...) \
  WIDTHS(LAST1, T, T, fmax, T) \
  WIDTHS(LAST1, T, T, fmin, T) WIDTHS(LAST1, T, T, max, T) WIDTHS(LAST1, T, T, min, T) WIDTHS(FIRST1, T, T, step)
FLOATS(SCALAR_LAST)

/// A function of three numbers. fma, smoothstep and mix of half compute in float.
#define FUNCTION3(name, ofDouble, ofFloat)                               \
  double BUILTIN name(double x, double y, double z) { return ofDouble; } \
  float BUILTIN name(float x, float y, float z) { return ofFloat; }      \
  half BUILTIN name(half a, half b, half c) {                            \
    const float x = a, y = b, z = c;                                     \
    return (half)(ofFloat);                                              \
  }                                                                      \
  WIDTHS(EACH3, double, double, name, double, double)                    \
  WIDTHS(EACH3, float, float, name, float, float) WIDTHS(EACH3, half, half, name, half, half)
#define CLAMP(x, low, high) FMIN(FMAX(x, low), high)
static double gs_smooth(double t) {
  t = CLAMP(t, 0, 1);
  return t * t * (3 - 2 * t);
}
static float gs_smoothf(float t) {
  t = CLAMP(t, 0, 1);
  return t * t * (3 - 2 * t);
}
FUNCTION3(fma, gs_fma(x, y, z), gs_fmaf(x, y, z))
FUNCTION3(mad, x* y + z, x* y + z)
FUNCTION3(clamp, FMIN(FMAX(x, y), z), FMIN(FMAX(x, y), z))
FUNCTION3(mix, x + (y - x) * z, x + (y - x) * z)
FUNCTION3(smoothstep, gs_smooth((z - x) / (y - x)), gs_smoothf((z - x) / (y - x)))
#define MIX(T, N, ...) \
  T##N BUILTIN mix(T##N x, T##N y, T z) { return mix(x, y, (T##N)(z)); }
#define SCALARS(T, I, ...) WIDTHS(LAST2, T, T, clamp) WIDTHS(FIRST2, T, T, smoothstep) WIDTHS(MIX, T)
FLOATS(SCALARS)

// Functions with integers.
int BUILTIN ilogb(double x) { return gs_ilogb(x); }
int BUILTIN ilogb(float x) { return gs_ilogbf(x); }
int BUILTIN ilogb(half x) { return gs_ilogbf(x); }
double BUILTIN ldexp(double x, int k) { return gs_ldexp(x, k); }
float BUILTIN ldexp(float x, int k) { return gs_ldexpf(x, k); }
half BUILTIN ldexp(half x, int k) { return (half)gs_ldexpf(x, k); }
double BUILTIN pown(double x, int n) { return gs_pow(x, n); }
// n may have more bits than a float.
float BUILTIN pown(float x, int n) { return (float)gs_pow(x, n); }
half BUILTIN pown(half x, int n) { return (half)gs_pow(x, n); }
static double gs_root(double x, int n) {
  if (!n || (x < 0 && !(n & 1))) return __builtin_nan("");
  const double size = gs_pow(__builtin_fabs(x), 1.0 / n);
  return n & 1 ? __builtin_copysign(size, x) : size;
}
double BUILTIN rootn(double x, int n) { return gs_root(x, n); }
float BUILTIN rootn(float x, int n) { return (float)gs_root(x, n); }
half BUILTIN rootn(half x, int n) { return (half)gs_root(x, n); }
#define WITH_INTEGERS(T, I, ...)                                                                 \
  WIDTHS(EACH1, T, int, ilogb)                                                                   \
  WIDTHS(EACH2, T, T, ldexp, int) WIDTHS(LAST1, T, T, ldexp, int) WIDTHS(EACH2, T, T, pown, int) \
      WIDTHS(EACH2, T, T, rootn, int)
FLOATS(WITH_INTEGERS)
float BUILTIN nan(uint code) { return __builtin_astype(0x7fc00000u | (code & 0x3fffffu), float); }
double BUILTIN nan(ulong code) { return __builtin_astype(0x7ff8000000000000ul | (code & 0x7fffffffffffful), double); }
half BUILTIN nan(ushort code) { return __builtin_astype((ushort)(0x7e00 | (code & 0x1ff)), half); }
WIDTHS(EACH1, uint, float, nan)
WIDTHS(EACH1, ulong, double, nan) WIDTHS(EACH1, ushort, half, nan)
// Functions with a second result.
#define FRACT(T, most)                                                                  \
  T BUILTIN fract(T x, T* whole) {                                                      \
    *whole = floor(x);                                                                  \
    const T rest = x == *whole ? copysign((T)0, x) : x - *whole; /* also of infinity */ \
    return rest > most ? most : rest;                                                   \
  }
    FRACT(double, 0x1.fffffffffffffp-1) FRACT(float, 0x1.fffffep-1f) FRACT(half, (half)0x1.ffcp-1f)
#define MODF(T, I, ...)                                  \
  T BUILTIN modf(T x, T* whole) {                        \
    *whole = trunc(x);                                   \
    return copysign(x == *whole ? (T)0 : x - *whole, x); \
  }                                                      \
  T BUILTIN sincos(T x, T* cosine) {                     \
    *cosine = cos(x);                                    \
    return sin(x);                                       \
  }
        FLOATS(MODF) double BUILTIN frexp(double x, int* power) {
  return gs_frexp(x, power);
}
float BUILTIN frexp(float x, int* power) { return gs_frexpf(x, power); }
half BUILTIN frexp(half x, int* power) { return (half)gs_frexpf(x, power); }
double BUILTIN lgamma_r(double x, int* sign) { return gs_lgamma_r(x, sign); }
float BUILTIN lgamma_r(float x, int* sign) { return gs_lgamma_rf(x, sign); }
half BUILTIN lgamma_r(half x, int* sign) { return (half)gs_lgamma_rf(x, sign); }
double BUILTIN remquo(double x, double y, int* quotient) { return gs_remquo(x, y, quotient); }
float BUILTIN remquo(float x, float y, int* quotient) { return gs_remquof(x, y, quotient); }
half BUILTIN remquo(half x, half y, int* quotient) { return (half)gs_remquof(x, y, quotient); }
#define SECOND1(T, N, name, S)              \
  T##N BUILTIN name(T##N x, S##N* second) { \
    T##N r;                                 \
    S##N out;                               \
    for (int i = 0; i < N; i++) {           \
      S one;                                \
      r[i] = name(x[i], &one);              \
      out[i] = one;                         \
    }                                       \
    *second = out;                          \
    return r;                               \
  }
#define SECOND2(T, N, name)                           \
  T##N BUILTIN name(T##N x, T##N y, int##N* second) { \
    T##N r;                                           \
    int##N out;                                       \
    for (int i = 0; i < N; i++) {                     \
      int one;                                        \
      r[i] = name(x[i], y[i], &one);                  \
      out[i] = one;                                   \
    }                                                 \
    *second = out;                                    \
    return r;                                         \
  }
#define WITH_SECOND(T, I, ...)                                                             \
  WIDTHS(SECOND1, T, fract, T)                                                             \
  WIDTHS(SECOND1, T, modf, T) WIDTHS(SECOND1, T, sincos, T) WIDTHS(SECOND1, T, frexp, int) \
      WIDTHS(SECOND1, T, lgamma_r, int) WIDTHS(SECOND2, T, remquo)
FLOATS(WITH_SECOND)

// native_ and half_ functions of float.
#define SAME1(name)                                        \
  float BUILTIN native_##name(float x) { return name(x); } \
  float BUILTIN half_##name(float x) { return name(x); }   \
  WIDTHS(EACH1, float, float, native_##name) WIDTHS(EACH1, float, float, half_##name)
#define SAME2(name)                                                    \
  float BUILTIN native_##name(float x, float y) { return name(x, y); } \
  float BUILTIN half_##name(float x, float y) { return name(x, y); }   \
  WIDTHS(EACH2, float, float, native_##name, float) WIDTHS(EACH2, float, float, half_##name, float)
static float BUILTIN divide(float x, float y) { return x / y; }
static float BUILTIN recip(float x) { return 1 / x; }
SAME1(cos)
SAME1(exp) SAME1(exp2) SAME1(exp10) SAME1(log) SAME1(log2) SAME1(log10) SAME1(recip) SAME1(rsqrt) SAME1(sin) SAME1(sqrt)
    SAME1(tan) SAME2(divide) SAME2(powr)

// Geometric functions. Sums are from the first element to the last; the length avoids neither overflow nor underflow.
#define GEOMETRY1(T)                                   \
  T BUILTIN dot(T a, T b) { return a * b; }            \
  T BUILTIN length(T a) { return fabs(a); }            \
  T BUILTIN distance(T a, T b) { return fabs(a - b); } \
  T BUILTIN normalize(T a) { return sign(a); }
#define GEOMETRY(T, N)                                         \
  T BUILTIN dot(T##N a, T##N b) {                              \
    T sum = a[0] * b[0];                                       \
    for (int i = 1; i < N; i++) sum += a[i] * b[i];            \
    return sum;                                                \
  }                                                            \
  T BUILTIN length(T##N a) { return sqrt(dot(a, a)); }         \
  T BUILTIN distance(T##N a, T##N b) { return length(a - b); } \
  T##N BUILTIN normalize(T##N a) {                             \
    const T size = length(a);                                  \
    return size == 0 ? a : a / size;                           \
  }
#define CROSS(T)                                                               \
  T##3 BUILTIN cross(T##3 a, T##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; } \
  T##4 BUILTIN cross(T##4 a, T##4 b) { return (T##4)(cross(a.xyz, b.xyz), (T)0); }
#define GEOMETRIC(T, I, ...) GEOMETRY1(T) GEOMETRY(T, 2) GEOMETRY(T, 3) GEOMETRY(T, 4) CROSS(T)
        FLOATS(GEOMETRIC)
#define FAST(V)                                                    \
  float BUILTIN fast_length(V a) { return length(a); }             \
  float BUILTIN fast_distance(V a, V b) { return distance(a, b); } \
  V BUILTIN fast_normalize(V a) { return normalize(a); }
            FAST(float) FAST(float2) FAST(float3) FAST(float4)
