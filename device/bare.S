// SPDX-License-Identifier: Apache-2.0
// Entry point of a program with a _start of its own, instead of crt0.S: threads start at address 0, wherever the linker
// places _start.

  .section .text.start, "ax"
  .globl gossamer_entry
  .type gossamer_entry, @function
gossamer_entry:
  j _start
  .size gossamer_entry, . - gossamer_entry
