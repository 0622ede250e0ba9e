// SPDX-License-Identifier: Apache-2.0
/// Message rate: windows of small messages from the lower half of the ranks to the upper half, all at once.

#include <mpi.h>
#include <stdio.h>

#ifndef WINDOW
#define WINDOW 16
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif

int main(int argc, char** argv) {
  int rank, size, values[WINDOW];
  unsigned sum = 0, all = 0;
  MPI_Request requests[WINDOW];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int half = size / 2, sends = rank < half, takes = rank >= half && rank < 2 * half;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int round = 0; round < ROUNDS; ++round) {
    if (takes) {
      for (int i = 0; i < WINDOW; ++i)
        MPI_Irecv(values + i, 1, MPI_INT, rank - half, i, MPI_COMM_WORLD, requests + i);
      MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
      for (int i = 0; i < WINDOW; ++i) sum = sum * 31 + (unsigned)values[i];
      MPI_Send(NULL, 0, MPI_INT, rank - half, 99, MPI_COMM_WORLD);
    } else if (sends) {
      for (int i = 0; i < WINDOW; ++i) {
        values[i] = rank * 1000 + round * WINDOW + i;
        MPI_Isend(values + i, 1, MPI_INT, rank + half, i, MPI_COMM_WORLD, requests + i);
      }
      MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
      MPI_Recv(NULL, 0, MPI_INT, rank + half, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  const double seconds = MPI_Wtime() - start;
  MPI_Reduce(&sum, &all, 1, MPI_UNSIGNED, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d messages, sum %08x\n", half * WINDOW * ROUNDS, all);
#ifdef TIMES
  if (rank == 0) printf("  %d messages a second\n", (int)(half * WINDOW * ROUNDS / seconds));
#endif
  (void)seconds;
  MPI_Finalize();
  return 0;
}
