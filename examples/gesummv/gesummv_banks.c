// SPDX-License-Identifier: Apache-2.0
// GESUMMV from DRAM banks: y = alpha A x + beta B x, 16 elements of a matrix a cycle from each bank. A single rank
// reads A from half of its banks and B from the others. With two ranks, each reads one matrix from all its banks, and
// rank 0 streams its elements to rank 1, which adds them.
//
//   ./gossamer smi run examples/gesummv/gesummv_banks.c --ranks 2 --cluster torus8 --engine rtl -- \
//     64 4 1.5 0.5 a.bin b.bin x.bin y.bin
//
// Arguments: N BANKS ALPHA BETA A B X Y; N is a multiple of 16 BANKS. Element j of a row is in bank j / 16 % banks.
#include <smi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16, MOST_BANKS = 8, DEPTH = 16 };

typedef struct {
  int n, banks;
  float factor;
  float* parts[MOST_BANKS];  // of the matrix, one per bank
  const float* x;
  SMI_Fifo* out;  // null: to rank 1
} Gemv;

static SMI_Fifo left, right;

static void gemv(void* given) {
  const Gemv* g = given;
  const int width = LANES * g->banks;
  SMI_Bank_stream streams[MOST_BANKS];
  for (int b = 0; b < g->banks; b++) {
    streams[b] = SMI_Open_bank_read(g->parts[b], 4ull * (unsigned)(g->n / g->banks) * (unsigned)g->n);
  }
  SMI_Channel to_axpy;
  if (!g->out) to_axpy = SMI_Open_send_channel(g->n, SMI_FLOAT, 1, 0, SMI_COMM_WORLD);
  for (int i = 0; i < g->n; i++) {
    float sums[LANES * MOST_BANKS] = {0};
    for (int j = 0; j < g->n; j += width) {
      float chunk[LANES * MOST_BANKS];
      for (int b = 0; b < g->banks; b++) SMI_Bank_read(&streams[b], chunk + b * LANES, 4 * LANES);
      for (int lane = 0; lane < width; lane++) sums[lane] += chunk[lane] * g->x[j + lane];
    }
    float sum = 0;
    for (int lane = 0; lane < width; lane++) sum += sums[lane];
    sum *= g->factor;
    if (g->out)
      SMI_Fifo_write(g->out, &sum, sizeof sum, DEPTH, "gemv");
    else
      SMI_Push(&to_axpy, &sum);
  }
}

typedef struct {
  int n, remote;
  float* y;
} Axpy;

static void axpy(void* given) {
  const Axpy* a = given;
  SMI_Channel from_gemv;
  if (a->remote) from_gemv = SMI_Open_recv_channel(a->n, SMI_FLOAT, 0, 0, SMI_COMM_WORLD);
  SMI_Bank_stream out = SMI_Open_bank_write(a->y, 4ull * (unsigned)a->n);
  for (int i = 0; i < a->n; i += LANES) {
    float sums[LANES];
    for (int lane = 0; lane < LANES; lane++) {
      float one, other;
      if (a->remote)
        SMI_Pop(&from_gemv, &one);
      else
        SMI_Fifo_read(&left, &one, sizeof one, DEPTH, "left");
      SMI_Fifo_read(&right, &other, sizeof other, DEPTH, "right");
      sums[lane] = one + other;
    }
    SMI_Bank_write(&out, sums, sizeof sums);
  }
  SMI_Bank_flush(&out);
}

/* Reads elements from a file; false on failure. */
static int load(const char* name, float* to, int count) {
  FILE* file = fopen(name, "rb");
  const int good = file && fread(to, 4, (size_t)count, file) == (size_t)count;
  if (!good) fprintf(stderr, "gesummv: %s cannot be read, or is too short\n", name);
  if (file) fclose(file);
  return good;
}

/* Loads a matrix from a file into `banks` banks, from `first` on. */
static int place(Gemv* g, const char* name, int first, int banks) {
  g->banks = banks;
  for (int b = 0; b < banks; b++) {
    g->parts[b] = SMI_Bank_alloc(first + b, 4ull * (unsigned)(g->n / banks) * (unsigned)g->n);
  }
  float* all = malloc(4ull * (unsigned)g->n * (unsigned)g->n);
  const int good = all && load(name, all, g->n * g->n);
  for (int at = 0; good && at < g->n * g->n; at += LANES) {
    memcpy(g->parts[at / LANES % banks] + at / LANES / banks * LANES, all + at, 4 * LANES);
  }
  free(all);
  return good;
}

int main(int count, char** words) {
  const int n = count == 9 ? atoi(words[1]) : 0, banks = count == 9 ? atoi(words[2]) : 0;
  const int ranks = SMI_Comm_size(SMI_COMM_WORLD), me = SMI_Comm_rank(SMI_COMM_WORLD);
  if (ranks > 2 || banks < 2 || banks > MOST_BANKS || banks % 2 || n < 1 || n % (LANES * banks) || n > 16384) {
    fprintf(stderr,
            "gesummv: give N BANKS ALPHA BETA A B X Y on one rank or two; BANKS is 2, 4, 6 or 8, and N a "
            "multiple of 16 x BANKS up to 16384\n");
    return 2;
  }
  float* x = malloc(4u * (unsigned)n);
  if (!load(words[7], x, n)) return 2;
  Gemv a = {.n = n, .factor = (float)atof(words[3]), .x = x, .out = ranks == 1 ? &left : NULL};
  Gemv b = {.n = n, .factor = (float)atof(words[4]), .x = x, .out = &right};
  const int own = ranks == 1 ? banks / 2 : banks;  // banks of a matrix
  SMI_Kernel kernels[3];
  int started = 0;
  if (me == 0 && !place(&a, words[5], 0, own)) return 2;
  if (me == ranks - 1 && !place(&b, words[6], ranks == 1 ? own : 0, own)) return 2;
  Axpy sum = {n, ranks == 2, me == ranks - 1 ? SMI_Bank_alloc(0, 4ull * (unsigned)n) : NULL};
  if (me == 0) kernels[started++] = SMI_Start_kernel("gemv_a", gemv, &a);
  if (me == ranks - 1) {
    kernels[started++] = SMI_Start_kernel("gemv_b", gemv, &b);
    kernels[started++] = SMI_Start_kernel("axpy", axpy, &sum);
  }
  for (int k = 0; k < started; k++) SMI_Wait_kernel(kernels[k]);
  if (me < ranks - 1) return 0;
  FILE* out = fopen(words[8], "wb");
  return out && fwrite(sum.y, 4, (size_t)n, out) == (size_t)n && !fclose(out) ? 0 : 2;
}
