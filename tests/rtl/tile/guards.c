// SPDX-License-Identifier: Apache-2.0
// Every thread changes its guard repeatedly, and clears it in some rounds: it always reads its own last write.
#include <io.h>
#include <stdint.h>
#include <tinsel.h>

#define ROUNDS 24

int main(void) {
  const uint32_t me = tinselId(), of_stack = GS_CSR_READ(GS_CSR_GUARD);
  uint32_t state = me * 0x9e3779b9u + 1;
  for (int round = 0; round < ROUNDS; round++) {
    state = state * 1664525u + 1013904223u;
    // Far above this program's data and below all stacks.
    const uint32_t guard = state >> 31 ? 0x60000000u | (state & 0x0ffff000u) : 0;
    GS_CSR_WRITE(GS_CSR_GUARD, guard | (guard ? state >> 16 & 0xfffu : 0));
    for (uint32_t wait = state >> 27; wait; wait--) __asm__ volatile("");
    const uint32_t seen = GS_CSR_READ(GS_CSR_GUARD);
    if (seen != guard) {
      GS_CSR_WRITE(GS_CSR_GUARD, of_stack);
      printf("round %d: %x, not %x\n", round, seen, guard);
      return 1;
    }
  }
  GS_CSR_WRITE(GS_CSR_GUARD, of_stack);
  return 0;
}
