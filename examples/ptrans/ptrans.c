/* SPDX-License-Identifier: Apache-2.0 */
/* PTRANS of the HPC Challenge as a role of simulated boards: C = B + transpose of A, in single precision. The registers
 * and codes are those of the hardware, rtl/role/gs_role_ptrans.sv.
 *
 * A run takes as long as the hardware does at CLOCK_HZ: the cycles are the hardware's, which
 * tests/shell/test_ptrans.py compares, and the role waits until they have passed. So boards that share the processors
 * of one machine scale as real ones do. Repetitions write the same sums again, so one is computed and all are waited
 * for. A machine that computes more slowly than the hardware takes longer. */
#include <gossamer/role.h>
#include <time.h>

#define TILE 32u
#define CLOCK_HZ 100000000ull
/* Cycles from the start to the first beat, and from the last beat to the end. */
#define START_CYCLES 39u

enum { DONE = 0, NO_KERNEL = 1, WRONG_REGISTERS = 2, NO_MEMORY = 3, STOPPED = 4 };

struct matrix {
  uint64_t at, step; /* bytes */
};

static int fits(const struct gs_role_shell* shell, struct matrix m, uint64_t rows, uint64_t row_bytes) {
  const uint64_t last = m.at + (rows - 1) * m.step;
  return last >= m.at && last + row_bytes >= last && last + row_bytes <= shell->memory_bytes;
}

static float* row_of(const struct gs_role_shell* shell, struct matrix m, uint64_t row) {
  return (float*)(void*)(shell->memory + m.at + row * m.step);
}

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Waits for a time, and asks now and then whether the run shall end. */
static int wait_until(const struct gs_role_shell* shell, uint64_t end) {
  for (;;) {
    if (shell->stopped(shell->shell)) return STOPPED;
    const uint64_t now = nanoseconds();
    if (now >= end) return DONE;
    const uint64_t left = end - now;
    const struct timespec step = {0, left < 10000000u ? (long)left : 10000000};
    nanosleep(&step, NULL);
  }
}

static int run(const struct gs_role_shell* shell, uint32_t kernel, struct gs_role_result* result) {
  const uint64_t begun = nanoseconds();
  if (kernel != 0) return NO_KERNEL;
  const volatile uint32_t* word = shell->registers;
  const struct matrix a = {word[0] | (uint64_t)word[1] << 32, word[8]};
  const struct matrix b = {word[2] | (uint64_t)word[3] << 32, word[9]};
  const struct matrix c = {word[4] | (uint64_t)word[5] << 32, word[10]};
  const uint32_t rows = word[6], columns = word[7], repeat = word[11] ? word[11] : 1;
  if (!rows || !columns || rows % TILE || columns % TILE) return WRONG_REGISTERS;
  if ((a.at | a.step | b.at | b.step | c.at | c.step) % (4 * TILE)) return WRONG_REGISTERS;
  if (!fits(shell, a, columns, 4ull * rows) || !fits(shell, b, rows, 4ull * columns) ||
      !fits(shell, c, rows, 4ull * columns))
    return NO_MEMORY;
  for (uint32_t down = 0; down < rows; down += TILE) {
    if (shell->stopped(shell->shell)) return STOPPED;
    for (uint32_t across = 0; across < columns; across += TILE)
      for (uint32_t row = down; row < down + TILE; row++) {
        const float* from = row_of(shell, b, row);
        float* to = row_of(shell, c, row);
        for (uint32_t column = across; column < across + TILE; column++)
          to[column] = from[column] + row_of(shell, a, column)[row];
      }
  }
  /* A beat of two elements is read in each cycle, two beats for two elements of C. */
  result->cycles = (uint64_t)rows * columns * repeat + START_CYCLES;
  result->address = c.at;
  result->bytes = (rows - 1) * c.step + 4ull * columns;
  return wait_until(shell, begun + result->cycles * 1000000000ull / CLOCK_HZ);
}

const struct gs_role gs_role_entry = {GS_ROLE_VERSION, 1, "ptrans", 0, run};
