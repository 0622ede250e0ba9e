// SPDX-License-Identifier: Apache-2.0
/// An exchange whose receivers do not know their senders: counts are reduced, receives use MPI_ANY_SOURCE.

#include <mpi.h>
#include <stdio.h>

#ifndef ROUNDS
#define ROUNDS 3
#endif
#define MOST 4

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned seed = 99u + (unsigned)rank, sum = 0, sources = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    static int counts[1024];
    int out[MOST][20];
    MPI_Request requests[MOST];
    for (int i = 0; i < size; ++i) counts[i] = 0;
    const int sends = 1 + rank % MOST;
    int to[MOST];
    for (int i = 0; i < sends; ++i) {
      seed = seed * 1664525u + 1013904223u;
      ++counts[to[i] = (int)((seed >> 16) % (unsigned)size)];
    }
    static int all[1024];
    MPI_Allreduce(counts, all, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < sends; ++i) {
      const int length = 1 + (rank + i + round) % 20;  // some exceed a packet of the overlay
      for (int j = 0; j < length; ++j) out[i][j] = rank * 1000 + round * 100 + j;
      MPI_Isend(out[i], length, MPI_INT, to[i], round, MPI_COMM_WORLD, requests + i);
    }
    for (int i = 0; i < all[rank]; ++i) {
      MPI_Status status;
      int in[20], count;
      MPI_Probe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_INT, &count);
      MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, round, MPI_COMM_WORLD, &status);
      for (int j = 0; j < count; ++j) sum += (unsigned)in[j] * (unsigned)(j + 1);
      sources += (unsigned)(status.MPI_SOURCE + 1) * (unsigned)count;
    }
    MPI_Waitall(sends, requests, MPI_STATUSES_IGNORE);
  }
  unsigned both[2] = {sum, sources}, prefix[2];
  MPI_Scan(both, prefix, 2, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d: sum %u, sources %u, so far %u %u\n", rank, sum, sources, prefix[0], prefix[1]);
  MPI_Finalize();
  return 0;
}
