// SPDX-License-Identifier: Apache-2.0
/// Conjugate gradients for a chain of springs: rows are distributed, neighbours exchange halos, dot products are
/// reduced.

#include <mpi.h>
#include <stdio.h>

#ifndef ROWS
#define ROWS 6
#endif

static float x[ROWS], r[ROWS], p[ROWS + 2], q[ROWS];

static float dot(const float* a, const float* b) {
  float sum = 0.0f, all;
  for (int i = 0; i < ROWS; ++i) sum += a[i] * b[i];
  MPI_Allreduce(&sum, &all, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int before = rank ? rank - 1 : MPI_PROC_NULL, behind = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  for (int i = 0; i < ROWS; ++i) r[i] = p[i + 1] = (float)(1 + (rank * ROWS + i) % 3);
  float rr = dot(r, r);
  int steps = 0;
  for (; rr > 1e-6f && steps < 200; ++steps) {
    MPI_Sendrecv(&p[1], 1, MPI_FLOAT, before, 0, &p[ROWS + 1], 1, MPI_FLOAT, behind, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&p[ROWS], 1, MPI_FLOAT, behind, 1, &p[0], 1, MPI_FLOAT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < ROWS; ++i) q[i] = 4.0f * p[i + 1] - p[i] - p[i + 2];
    const float alpha = rr / dot(p + 1, q);
    for (int i = 0; i < ROWS; ++i) {
      x[i] += alpha * p[i + 1];
      r[i] -= alpha * q[i];
    }
    const float now = dot(r, r);
    for (int i = 0; i < ROWS; ++i) p[i + 1] = r[i] + now / rr * p[i + 1];
    rr = now;
  }
  float ends[2] = {x[0], x[ROWS - 1]};
  static float all[2 * 1024];
  MPI_Gather(ends, 2, MPI_FLOAT, all, 2, MPI_FLOAT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i)
    printf("rank %d: %d to %d thousandths\n", i, (int)(1000.0f * all[2 * i] + 0.5f),
           (int)(1000.0f * all[2 * i + 1] + 0.5f));
  if (rank == 0) printf("%s\n", rr <= 1e-6f ? "converged" : "not converged");
  MPI_Finalize();
  return 0;
}
