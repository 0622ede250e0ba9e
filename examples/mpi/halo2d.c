// SPDX-License-Identifier: Apache-2.0
/// Heat on a 2D torus, in blocks of ranks: each step exchanges rows, and columns as vectors.

#include <mpi.h>
#include <stdio.h>

#ifndef SIDE
#define SIDE 6
#endif
#ifndef STEPS
#define STEPS 4
#endif

static int cell[SIDE + 2][SIDE + 2], next[SIDE + 2][SIDE + 2];

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int width = 1;
  for (int w = 1; w * w <= size; ++w)
    if (size % w == 0) width = w;
  const int height = size / width, x = rank % width, y = rank / width;
  const int east = y * width + (x + 1) % width, west = y * width + (x + width - 1) % width;
  const int north = (y + 1) % height * width + x, south = (y + height - 1) % height * width + x;
  MPI_Datatype column;
  MPI_Type_vector(SIDE, 1, SIDE + 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int i = 1; i <= SIDE; ++i)
    for (int j = 1; j <= SIDE; ++j) cell[i][j] = (rank * SIDE * SIDE + i * SIDE + j) * 7919 % 10007 << 8;
  for (int step = 0; step < STEPS; ++step) {
    MPI_Request request[8];
    MPI_Irecv(&cell[0][1], SIDE, MPI_INT, south, 1, MPI_COMM_WORLD, request);
    MPI_Irecv(&cell[SIDE + 1][1], SIDE, MPI_INT, north, 2, MPI_COMM_WORLD, request + 1);
    MPI_Irecv(&cell[1][0], 1, column, west, 3, MPI_COMM_WORLD, request + 2);
    MPI_Irecv(&cell[1][SIDE + 1], 1, column, east, 4, MPI_COMM_WORLD, request + 3);
    MPI_Isend(&cell[SIDE][1], SIDE, MPI_INT, north, 1, MPI_COMM_WORLD, request + 4);
    MPI_Isend(&cell[1][1], SIDE, MPI_INT, south, 2, MPI_COMM_WORLD, request + 5);
    MPI_Isend(&cell[1][SIDE], 1, column, east, 3, MPI_COMM_WORLD, request + 6);
    MPI_Isend(&cell[1][1], 1, column, west, 4, MPI_COMM_WORLD, request + 7);
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
    for (int i = 1; i <= SIDE; ++i)
      for (int j = 1; j <= SIDE; ++j)
        next[i][j] = (4 * cell[i][j] + cell[i - 1][j] + cell[i + 1][j] + cell[i][j - 1] + cell[i][j + 1]) >> 3;
    for (int i = 1; i <= SIDE; ++i)
      for (int j = 1; j <= SIDE; ++j) cell[i][j] = next[i][j];
  }
  long long heat = 0, all = 0;
  int top = 0, most = 0;
  for (int i = 1; i <= SIDE; ++i)
    for (int j = 1; j <= SIDE; ++j) {
      heat += cell[i][j];
      if (cell[i][j] > top) top = cell[i][j];
    }
  MPI_Reduce(&heat, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&top, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%d x %d ranks: heat %lld, most %d, corner %d\n", width, height, all, most, cell[1][1]);
  MPI_Type_free(&column);
  MPI_Finalize();
  return 0;
}
