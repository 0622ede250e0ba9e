// SPDX-License-Identifier: Apache-2.0
// Instructions that a thread has finished: differences around code whose instructions are known one by one.
#include <io.h>
#include <stdint.h>
#include <tinsel.h>

// Bodies with a known number of instructions, between two reads: the first read counts itself.
#define BETWEEN(body, argument)                                                                                   \
  ({                                                                                                               \
    uint32_t first, second;                                                                                        \
    __asm__ volatile(".option push\n.option norvc\n.option norelax\ncsrr %0, instret\n" body "csrr %1, instret\n"  \
                     ".option pop\n"                                                                               \
                     : "=&r"(first), "=&r"(second)                                                                 \
                     : "r"(argument)                                                                               \
                     : "t0", "t1", "ft0", "memory");                                                               \
    second - first;                                                                                                \
  })

int main(void) {
  volatile uint32_t* word = (volatile uint32_t*)tinselSendSlot();
  uint32_t me = tinselId() & (TinselThreadsPerMailbox - 1);
  uint32_t nothing = BETWEEN("", 0);
  uint32_t adds = BETWEEN("addi t0, x0, 5\n addi t0, t0, 1\n addi t0, t0, 1\n", 0);
  uint32_t waits = BETWEEN(
      "sw x0, 0(%2)\n lw t0, 0(%2)\n csrr t0, cycle\n fence\n fcvt.s.w ft0, t0\n fsqrt.s ft0, ft0\n", word);
  // Two of the quotients are negative, which need two passes in the core.
  uint32_t divides = BETWEEN(
      "li t0, -7\n li t1, 2\n div t0, t0, t1\n rem t0, t0, t1\n divu t0, t0, t1\n div t0, x0, t1\n", 0);
  uint32_t rounds = 100 * (me + 1);
  uint32_t jumps = BETWEEN("mv t0, %2\n 1: addi t0, t0, -1\n bnez t0, 1b\n j 2f\n nop\n 2:\n", rounds);
  printf("%u %u %u %u %u %u\n", nothing, adds, waits, divides, jumps, tinselInstrCountU());
  uint32_t all = tinselInstrCount();
  if (all < 2 * rounds || tinselInstrCount() <= all) return 1;
  return 0;
}
