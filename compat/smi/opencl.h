/* SPDX-License-Identifier: Apache-2.0 */
/* What SMI device files use besides the language OpenCL C, which the compiler implements: channels, calls, macros.
   The compiler also declares OpenCL's built-in functions, which src/smi/opencl implements. The front end
   (python/gossamer/smi/opencl.py) includes this file before every .cl file, and rewrites channels. */
#ifndef GOSSAMER_SMI_OPENCL_H_
#define GOSSAMER_SMI_OPENCL_H_

#include "opencl_types.h"

/* Each call of the emulator keeps its line for error reports. */
#pragma clang attribute push(__attribute__((nomerge)), apply_to = function)
#include <gossamer/smi/smi.h>
#pragma clang attribute pop

int gs_smi_printf(__constant const char* format, ...);
#define printf gs_smi_printf

/* All memory of a rank is one address space, so that kernels are functions as in C, also for a host in C. */
#ifdef GOSSAMER_SMI_PARSE
#define __kernel __attribute__((annotate("kernel")))
#define channel __attribute__((annotate("channel")))
#else
#define __kernel
#endif
#define kernel __kernel
#define __global
#define global
#define __local
#define local
#define __private
#define private
#define __constant const
#define constant const

/* Every function of a device file is the file's own, so an inline function needs no definition elsewhere. */
#define inline static inline

#define bool _Bool
#define true 1
#define false 0
#define NULL ((void*)0)

typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

/* Limits and constants. */
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define HUGE_VAL __builtin_inf()
#define MAXFLOAT FLT_MAX
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP 38
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MIN_EXP (-125)
#define FLT_RADIX 2
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define FP_ILOGB0 (-2147483647 - 1)
#define FP_ILOGBNAN (-2147483647 - 1)
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MAX_10_EXP 308
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MIN_EXP (-1021)
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1p-1022
#define DBL_EPSILON 0x1p-52
#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX ((half)0x1.ffcp15f)
#define HALF_MIN ((half)0x1p-14f)
#define HALF_EPSILON ((half)0x1p-10f)
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f

/* Kernels execute sequentially here, each by one work-item, so fences and barriers are unnecessary. */
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define CLK_CHANNEL_MEM_FENCE 4
#define mem_fence(flags) ((void)(flags))
#define read_mem_fence(flags) ((void)(flags))
#define write_mem_fence(flags) ((void)(flags))
#define barrier(flags) ((void)(flags))

#ifdef GOSSAMER_SMI_PARSE
#define read_channel_intel(ch) (ch)
#define write_channel_intel(ch, value) ((void)((ch) = (value)))
#define read_channel_nb_intel(ch, valid) (*(valid) = true, (ch))
#define write_channel_nb_intel(ch, value) ((bool)((ch) = (value), true))
#else
/* A channel is a struct of a FIFO and two arrays without elements, whose types encode the type and the depth. */
/* A string is in the constant address space, which no other pointer may be. */
#define GS_SMI_NAME(text) ((const char*)(uintptr_t)(text))
#define GS_SMI_WORDS(ch) sizeof((ch).type[0]), sizeof((ch).depth[0]), GS_SMI_NAME(#ch)
#define read_channel_intel(ch)                                  \
  ({                                                            \
    __typeof_unqual__((ch).type[0]) gs_smi_value;               \
    SMI_Fifo_read(&(ch).fifo, &gs_smi_value, GS_SMI_WORDS(ch)); \
    gs_smi_value;                                               \
  })
#define write_channel_intel(ch, value)                           \
  ({                                                             \
    __typeof_unqual__((ch).type[0]) gs_smi_value = (value);      \
    SMI_Fifo_write(&(ch).fifo, &gs_smi_value, GS_SMI_WORDS(ch)); \
  })
#define read_channel_nb_intel(ch, valid)                                       \
  ({                                                                           \
    __typeof_unqual__((ch).type[0]) gs_smi_value;                              \
    *(valid) = SMI_Fifo_read_nb(&(ch).fifo, &gs_smi_value, GS_SMI_WORDS(ch)); \
    gs_smi_value;                                                              \
  })
#define write_channel_nb_intel(ch, value)                                  \
  ({                                                                       \
    __typeof_unqual__((ch).type[0]) gs_smi_value = (value);                \
    (bool)SMI_Fifo_write_nb(&(ch).fifo, &gs_smi_value, GS_SMI_WORDS(ch)); \
  })
#endif

#endif
