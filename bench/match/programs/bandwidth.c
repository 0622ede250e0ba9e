// SPDX-License-Identifier: Apache-2.0
/// Cycles from the first call to the last answer of a long message to another rank, and whether it came. The argument
/// is its size in bytes. Exit code 2: it is missing, or does not fit into a thread's memory.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tinsel.h>

enum { kStep = 4096 + 4 };

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int bytes = atoi(argv[1]);
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* data = malloc((size_t)bytes);
  if (data == NULL) {
    printf("no memory for %d bytes\n", bytes);
    return 2;
  }
  for (int at = 0; at < bytes - 3; at += kStep) *(volatile int*)(data + at) = rank ? 0 : at * 17 + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const uint32_t start = tinselCycleCount();
  if (rank == 0) {
    MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d bytes: %u cycles\n", bytes, (unsigned)(tinselCycleCount() - start));
  } else {
    MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    for (int at = 0; at < bytes - 3; at += kStep)
      if (*(volatile int*)(data + at) != at * 17 + 1) return 1;
  }
  MPI_Finalize();
  return 0;
}
