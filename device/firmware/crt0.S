// SPDX-License-Identifier: Apache-2.0
// Start of the firmware, at address 0: stack and global pointer, zeroes for .bss, constructors, main.

  .section .text.start, "ax"
  .globl _start
  .type _start, @function
_start:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, __stack_top
  la t0, __bss_start
  la t1, __bss_end
1:
  bgeu t0, t1, 2f
  sw zero, 0(t0)
  addi t0, t0, 4
  j 1b
2:
  la s0, __init_array_start
  la s1, __init_array_end
3:
  bgeu s0, s1, 4f
  lw t0, 0(s0)
  jalr t0
  addi s0, s0, 4
  j 3b
4:
  call main
  // Nothing follows main: the processor stops, which hardware sees as a trap.
  ebreak
  .size _start, . - _start
