// SPDX-License-Identifier: Apache-2.0
/// Heat on a 3D torus, with persistent requests: six faces per step, two of them vectors of vectors.

#include <mpi.h>
#include <stdio.h>

#ifndef SIDE
#define SIDE 4
#endif
#ifndef STEPS
#define STEPS 3
#endif
#define EDGE (SIDE + 2)

static int cell[EDGE][EDGE][EDGE], next[EDGE][EDGE][EDGE];

int main(int argc, char** argv) {
  int rank, size, shape[3] = {1, 1, 1};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int left = size, axis = 0; left > 1; axis = (axis + 1) % 3) {
    int factor = 2;
    while (left % factor) ++factor;
    shape[axis] *= factor;
    left /= factor;
  }
  const int place[3] = {rank % shape[0], rank / shape[0] % shape[1], rank / shape[0] / shape[1]};
  MPI_Datatype row, face[3];  // across x, y, z; the fastest index is x
  MPI_Type_vector(SIDE, 1, EDGE, MPI_INT, &row);
  MPI_Type_create_hvector(SIDE, 1, (MPI_Aint)(EDGE * EDGE * sizeof(int)), row, &face[0]);
  MPI_Type_vector(SIDE, SIDE, EDGE * EDGE, MPI_INT, &face[1]);
  MPI_Type_vector(SIDE, SIDE, EDGE, MPI_INT, &face[2]);
  MPI_Request request[12];
  for (int axis = 0; axis < 3; ++axis) {
    MPI_Type_commit(&face[axis]);
    int up[3] = {place[0], place[1], place[2]}, down[3] = {place[0], place[1], place[2]};
    up[axis] = (place[axis] + 1) % shape[axis];
    down[axis] = (place[axis] + shape[axis] - 1) % shape[axis];
    const int above = (up[2] * shape[1] + up[1]) * shape[0] + up[0];
    const int below = (down[2] * shape[1] + down[1]) * shape[0] + down[0];
    const int unit[3] = {axis == 0, axis == 1, axis == 2};
#define AT(n) &cell[unit[2] ? (n) : 1][unit[1] ? (n) : 1][unit[0] ? (n) : 1]
    MPI_Recv_init(AT(0), 1, face[axis], below, 2 * axis, MPI_COMM_WORLD, &request[4 * axis]);
    MPI_Recv_init(AT(SIDE + 1), 1, face[axis], above, 2 * axis + 1, MPI_COMM_WORLD, &request[4 * axis + 1]);
    MPI_Send_init(AT(SIDE), 1, face[axis], above, 2 * axis, MPI_COMM_WORLD, &request[4 * axis + 2]);
    MPI_Send_init(AT(1), 1, face[axis], below, 2 * axis + 1, MPI_COMM_WORLD, &request[4 * axis + 3]);
  }
  for (int z = 1; z <= SIDE; ++z)
    for (int y = 1; y <= SIDE; ++y)
      for (int x = 1; x <= SIDE; ++x) cell[z][y][x] = (rank * 613 + z * 97 + y * 31 + x * 7) % 1009 << 8;
  for (int step = 0; step < STEPS; ++step) {
    MPI_Startall(12, request);
    MPI_Waitall(12, request, MPI_STATUSES_IGNORE);
    for (int z = 1; z <= SIDE; ++z)
      for (int y = 1; y <= SIDE; ++y)
        for (int x = 1; x <= SIDE; ++x)
          next[z][y][x] = (2 * cell[z][y][x] + cell[z - 1][y][x] + cell[z + 1][y][x] + cell[z][y - 1][x] +
                           cell[z][y + 1][x] + cell[z][y][x - 1] + cell[z][y][x + 1]) >> 3;
    for (int z = 1; z <= SIDE; ++z)
      for (int y = 1; y <= SIDE; ++y)
        for (int x = 1; x <= SIDE; ++x) cell[z][y][x] = next[z][y][x];
  }
  int heat = 0, all = 0;
  for (int z = 1; z <= SIDE; ++z)
    for (int y = 1; y <= SIDE; ++y)
      for (int x = 1; x <= SIDE; ++x) heat += cell[z][y][x];
  MPI_Reduce(&heat, &all, 1, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
  if (rank == size - 1)
    printf("%d x %d x %d ranks: heat %d, corner %d\n", shape[0], shape[1], shape[2], all, cell[1][1][1]);
  for (int i = 0; i < 12; ++i) MPI_Request_free(&request[i]);
  for (int axis = 0; axis < 3; ++axis) MPI_Type_free(&face[axis]);
  MPI_Type_free(&row);
  MPI_Finalize();
  return 0;
}
