// SPDX-License-Identifier: Apache-2.0
/// Ranks 0 and 1 play ping-pong with messages of increasing size; with -DTIMES, also prints the time of each size.

#include <mpi.h>
#include <stdio.h>

#ifndef ROUNDS
#define ROUNDS 8
#endif
#define MOST 256

int main(int argc, char** argv) {
  static int data[MOST];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int count = 0; count <= MOST; count = count ? 4 * count : 1) {
    for (int i = 0; i < count; ++i) data[i] = rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int round = 0; round < ROUNDS && rank < 2; ++round) {
      if (rank == 0) MPI_Send(data, count, MPI_INT, 1, round, MPI_COMM_WORLD);
      MPI_Recv(data, count, MPI_INT, 1 - rank, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < count; ++i) data[i] += 1;
      if (rank == 1) MPI_Send(data, count, MPI_INT, 0, round, MPI_COMM_WORLD);
    }
    const double seconds = MPI_Wtime() - start;
    if (rank == 0) printf("%d bytes: first %d, last %d\n", 4 * count, data[0], data[count ? count - 1 : 0]);
#ifdef TIMES
    if (rank == 0) printf("  %d ns a round trip\n", (int)(1e9 * seconds / ROUNDS));
#endif
    (void)seconds;
  }
  MPI_Finalize();
  return 0;
}
