/* SPDX-License-Identifier: Apache-2.0 */
/* The subset of OpenCL C that SMI device files use, in GNU C: single-task kernels, channels, vectors accessed by
   element. The front end (python/gossamer/smi/opencl.py) prepends it to every .cl file and rewrites channels. */
#ifndef GOSSAMER_SMI_OPENCL_H_
#define GOSSAMER_SMI_OPENCL_H_

#include <gossamer/smi/smi.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef GOSSAMER_SMI_PARSE
#define __kernel __attribute__((annotate("kernel")))
#define channel __attribute__((annotate("channel")))
#else
/* Type-generic mathematical functions. The compiler provides this header, not the parser. */
#include <tgmath.h>
#define __kernel
#endif
#define kernel __kernel
#define __global
#define global
#define __local
#define __private
#define __constant const
#define restrict __restrict

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#ifdef GOSSAMER_SMI_PARSE
/* For the parser, elements have names (v.x, v.s0) and literals are calls; the front end rewrites them in GNU C. */
#define GS_SMI_VECTOR(type, n)                                 \
  typedef type type##n __attribute__((ext_vector_type(n))); \
  type##n V_##type##n();
#else
#define GS_SMI_VECTOR(type, n) typedef type type##n __attribute__((vector_size(sizeof(type) * n)));
#endif
#define GS_SMI_VECTORS(type)                                                                  \
  GS_SMI_VECTOR(type, 2) GS_SMI_VECTOR(type, 4) GS_SMI_VECTOR(type, 8) GS_SMI_VECTOR(type, 16)
GS_SMI_VECTORS(char)
GS_SMI_VECTORS(uchar)
GS_SMI_VECTORS(short)
GS_SMI_VECTORS(ushort)
GS_SMI_VECTORS(int)
GS_SMI_VECTORS(uint)
GS_SMI_VECTORS(long)
GS_SMI_VECTORS(ulong)
GS_SMI_VECTORS(float)
GS_SMI_VECTORS(double)

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define CLK_CHANNEL_MEM_FENCE 4
/* Kernels execute sequentially here, so fences are unnecessary. */
#define mem_fence(flags) ((void)(flags))

#ifdef GOSSAMER_SMI_PARSE
#define read_channel_intel(ch) (ch)
#define write_channel_intel(ch, value) ((void)((ch) = (value)))
#define read_channel_nb_intel(ch, valid) (*(valid) = true, (ch))
#define write_channel_nb_intel(ch, value) ((bool)((ch) = (value), true))
#else
/* A channel is a struct of a FIFO and two arrays without elements, whose types encode the type and the depth. */
#define GS_SMI_WORDS(ch) sizeof((ch).type[0]), sizeof((ch).depth[0]), #ch
#define read_channel_intel(ch)                                  \
  ({                                                            \
    __typeof__((ch).type[0]) gs_smi_value;                      \
    SMI_Fifo_read(&(ch).fifo, &gs_smi_value, GS_SMI_WORDS(ch)); \
    gs_smi_value;                                               \
  })
#define write_channel_intel(ch, value)                           \
  ({                                                             \
    __typeof__((ch).type[0]) gs_smi_value = (value);             \
    SMI_Fifo_write(&(ch).fifo, &gs_smi_value, GS_SMI_WORDS(ch)); \
  })
#define read_channel_nb_intel(ch, valid)                                       \
  ({                                                                           \
    __typeof__((ch).type[0]) gs_smi_value;                                     \
    *(valid) = SMI_Fifo_read_nb(&(ch).fifo, &gs_smi_value, GS_SMI_WORDS(ch)); \
    gs_smi_value;                                                              \
  })
#define write_channel_nb_intel(ch, value)                                  \
  ({                                                                       \
    __typeof__((ch).type[0]) gs_smi_value = (value);                       \
    (bool)SMI_Fifo_write_nb(&(ch).fifo, &gs_smi_value, GS_SMI_WORDS(ch)); \
  })
#endif

#endif
