// SPDX-License-Identifier: Apache-2.0
/// Instructions of MPI_Recv of a message that is there: from before the call to behind it.

#include <mpi.h>
#include <stdio.h>
#include <tinsel.h>

int main(int argc, char** argv) {
  int rank, data[12] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int count = 0; count <= 12; count = count == 0 ? 1 : count == 8 ? 12 : 2 * count) {
    uint32_t least = ~0u;
    for (int round = 0; round < 3; ++round) {
      if (rank == 1) MPI_Send(data, count, MPI_INT, 0, 5, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);  // behind it the message is there
      if (rank == 0) {
        const uint32_t before = tinselInstrCount();
        MPI_Recv(data, 12, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const uint32_t after = tinselInstrCount();
        if (after - before < least) least = after - before;
      }
    }
    if (rank == 0) printf("%d %u\n", 4 * count, (unsigned)least);
  }
  MPI_Finalize();
  return 0;
}
