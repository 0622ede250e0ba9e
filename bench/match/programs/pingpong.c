// SPDX-License-Identifier: Apache-2.0
/// Cycles of a round trip between two ranks, by size.

#include <mpi.h>
#include <stdio.h>
#include <tinsel.h>

enum { kRounds = 8 };

int main(int argc, char** argv) {
  static const int sizes[] = {0, 4, 48, 64, 256, 1024};
  static char data[1024];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 6; ++i) {
    uint32_t start = 0;
    for (int round = -1; round < kRounds; ++round) {  // the first one fills the cache
      if (round == 0) start = tinselCycleCount();
      if (rank == 0) MPI_Send(data, sizes[i], MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(data, sizes[i], MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(data, sizes[i], MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    const uint32_t cycles = (tinselCycleCount() - start) / kRounds;
    if (rank == 0) printf("%d bytes: %u cycles\n", sizes[i], (unsigned)cycles);
  }
  MPI_Finalize();
  return 0;
}
