// SPDX-License-Identifier: Apache-2.0
/// Nanoseconds of a message to oneself whose receive is the last of so many that wait: the fewest of some rounds.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRounds = 20 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int at = 1; at < argc; ++at) {
    const int depth = atoi(argv[at]);
    MPI_Request* requests = malloc((size_t)depth * sizeof *requests);
    int* values = calloc((size_t)depth, sizeof *values);
    double least = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < depth; ++i) MPI_Irecv(values + i, 1, MPI_INT, 0, i, MPI_COMM_WORLD, requests + i);
      int value = round + depth;
      const double begun = MPI_Wtime();
      MPI_Send(&value, 1, MPI_INT, 0, depth - 1, MPI_COMM_WORLD);
      MPI_Wait(requests + depth - 1, MPI_STATUS_IGNORE);
      const double took = MPI_Wtime() - begun;
      if (took < least) least = took;
      if (values[depth - 1] != value) MPI_Abort(MPI_COMM_WORLD, 1);
      // Each finds its receive at once.
      for (int i = 0; i < depth - 1; ++i) MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
      MPI_Waitall(depth - 1, requests, MPI_STATUSES_IGNORE);
    }
    printf("%d %.1f\n", depth, least * 1e9);
    free(requests);
    free(values);
  }
  MPI_Finalize();
  return 0;
}
