/* SPDX-License-Identifier: Apache-2.0 */
/* A role for simulated boards (docs/cluster.md). Kernel 0 sums the 32-bit words of memory from register 0 on; register
 * 4 has their bytes. The result has 4 bytes. */
#include <gossamer/role.h>
#include <string.h>

static int run(const struct gs_role_shell* shell, uint32_t kernel, struct gs_role_result* result) {
  const uint64_t begin = shell->registers[0], bytes = shell->registers[1];
  const uint64_t place = 0; /* of the result */
  uint32_t sum = 0, word;
  if (kernel != 0 || begin + bytes > shell->memory_bytes) return 1;
  for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
    memcpy(&word, shell->memory + begin + at, 4);
    sum += word;
  }
  memcpy(shell->memory + place, &sum, 4);
  result->address = place;
  result->bytes = 4;
  result->cycles = bytes / 4;
  return 0;
}

const struct gs_role gs_role_entry = {GS_ROLE_VERSION, 1, "sum", 0, run};
