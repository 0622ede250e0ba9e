// SPDX-License-Identifier: Apache-2.0
/// Instructions of MPI_Isend: a call of it beside a call of a function that does nothing, with the same arguments.

#include <mpi.h>
#include <stdio.h>
#include <tinsel.h>

__attribute__((noinline)) static int nothing(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                                             MPI_Comm comm, MPI_Request* request) {
  __asm__ volatile("" : : "r"(buffer), "r"(count), "r"(type), "r"(dest), "r"(tag), "r"(comm), "r"(request));
  return 0;
}

int main(int argc, char** argv) {
  int rank, data[12] = {0};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int count = 0; count <= 12; count = count == 0 ? 1 : count == 8 ? 12 : 2 * count) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      const uint32_t before = tinselInstrCount();
      nothing(data, count, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
      const uint32_t between = tinselInstrCount();
      MPI_Isend(data, count, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
      const uint32_t after = tinselInstrCount();
      // Of the empty call, two instructions are the function's own: its result and its return.
      const unsigned empty = between - before, full = after - between;
      printf("%d %u %u\n", 4 * count, full - empty + 2, full);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(data, 12, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Finalize();
  return 0;
}
