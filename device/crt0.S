// SPDX-License-Identifier: Apache-2.0
// Entry point of every thread: all threads start here, at address 0, with undefined registers.
//
// Each thread has a partition of the upper half of the DRAM:
//
//   partition base                                                   base + GS_PARTITION_BYTES
//   | heap, upwards ...          | guard | ... stack, downwards | thread-local variables |
//
// The loader writes .rodata, .data and zeroes for .bss before any thread starts: a thread could not know whether
// another one already uses them.

#include <gossamer/device_config.h>

  .section .text.start, "ax"
  .globl _start
  .type _start, @function
_start:
  .option push
  .option norelax
  lui gp, %hi(__global_pointer$)
  addi gp, gp, %lo(__global_pointer$)
  .option pop

  // t0 = number of the thread among those that share the DRAM.
  csrr t0, GS_CSR_THREAD_ID
#if GS_MESH_WIDTH == (1 << GS_ADDRESS_TILE_X_BITS) && GS_THREADS_PER_DRAM == (1 << GS_LOG_THREADS_PER_DRAM)
  // Addresses count the threads of the board without gaps.
  slli t0, t0, 32 - GS_LOG_THREADS_PER_DRAM
  srli t0, t0, 32 - GS_LOG_THREADS_PER_DRAM
#else
  andi t1, t0, (1 << GS_ADDRESS_THREAD_BITS) - 1
  srli t2, t0, GS_ADDRESS_TILE_Y_LSB
  andi t2, t2, (1 << GS_ADDRESS_TILE_Y_BITS) - 1
  srli t3, t0, GS_ADDRESS_TILE_X_LSB
  andi t3, t3, (1 << GS_ADDRESS_TILE_X_BITS) - 1
  li t4, GS_MESH_WIDTH
  mul t2, t2, t4
  add t2, t2, t3
  slli t2, t2, GS_LOG_THREADS_PER_TILE
  add t0, t2, t1
  li t4, GS_THREADS_PER_DRAM
  remu t0, t0, t4
#endif

  // tp = its thread-local variables, sp = directly below them; both 16-byte aligned.
  li t1, GS_PARTITION_BASE
  slli t0, t0, GS_LOG_PARTITION_BYTES
  add t0, t0, t1
  li t1, GS_PARTITION_BYTES
  add t0, t0, t1
  la t1, __tls_bytes
  sub tp, t0, t1
  mv sp, tp

  // Guard: loads and stores to the block between stack and heap trap.
  la t1, __gossamer_top_bytes
  sub t0, t0, t1
  csrw GS_CSR_GUARD, t0

  // Initial values of the thread-local variables, then zeroes for the rest; whole words.
  la t0, __tdata_start
  la t1, __tdata_bytes
  add t1, t1, tp
  mv t2, tp
1:
  bgeu t2, t1, 2f
  lw t3, 0(t0)
  sw t3, 0(t2)
  addi t0, t0, 4
  addi t2, t2, 4
  j 1b
2:
  la t1, __tls_bytes
  add t1, t1, tp
3:
  bgeu t2, t1, 4f
  sw zero, 0(t2)
  addi t2, t2, 4
  j 3b
4:
  csrw fcsr, zero
  mv a0, zero
  mv a1, zero
  call main
  .size _start, . - _start

  // Falls through: the return value of main is the exit code.
  .globl _exit
  .type _exit, @function
_exit:
  csrw GS_CSR_THREAD_STOP, a0
5:
  j 5b
  .size _exit, . - _exit
