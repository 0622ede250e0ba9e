// SPDX-License-Identifier: Apache-2.0
/// Sample sort: splitters from all ranks, then an all-to-all exchange of the keys between them.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef KEYS
#define KEYS 24
#endif

static void sort(unsigned* keys, int count) {
  for (int i = 1; i < count; ++i) {
    const unsigned key = keys[i];
    int at = i;
    for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
    keys[at] = key;
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int keys = argc > 1 ? atoi(argv[1]) : KEYS;
  unsigned* mine = malloc((size_t)keys * sizeof *mine);
  unsigned* samples = malloc((size_t)(size * size) * sizeof *samples);
  unsigned seed = 12345u + (unsigned)rank * 7919u;
  for (int i = 0; i < keys; ++i) mine[i] = (seed = seed * 1664525u + 1013904223u) >> 8;
  sort(mine, keys);
  unsigned* some = malloc((size_t)size * sizeof *some);
  for (int i = 0; i < size; ++i) some[i] = mine[i * keys / size];
  MPI_Allgather(some, size, MPI_UNSIGNED, samples, size, MPI_UNSIGNED, MPI_COMM_WORLD);
  sort(samples, size * size);

  int* counts = malloc((size_t)(4 * size) * sizeof *counts);
  int *places = counts + size, *their = places + size, *where = their + size;
  for (int to = 0, at = 0; to < size; ++to) {
    places[to] = at;
    while (at < keys && (to == size - 1 || mine[at] < samples[(to + 1) * size])) ++at;
    counts[to] = at - places[to];
  }
  MPI_Alltoall(counts, 1, MPI_INT, their, 1, MPI_INT, MPI_COMM_WORLD);
  int total = 0;
  for (int from = 0; from < size; ++from) {
    where[from] = total;
    total += their[from];
  }
  unsigned* sorted = malloc((size_t)(total + 1) * sizeof *sorted);
  MPI_Alltoallv(mine, counts, places, MPI_UNSIGNED, sorted, their, where, MPI_UNSIGNED, MPI_COMM_WORLD);
  sort(sorted, total);

  int before = 0, all = 0;
  MPI_Exscan(&total, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&total, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) before = 0;  // MPI leaves it undefined on rank 0
  unsigned sum = 0, mixed = 0;
  for (int i = 0; i < total; ++i) sum += sorted[i] * (unsigned)(before + i + 1);
  MPI_Reduce(&sum, &mixed, 1, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
  unsigned ends[2] = {total ? sorted[0] : 0, total ? sorted[total - 1] : 0};
  unsigned* list = malloc((size_t)(2 * size) * sizeof *list);
  MPI_Gather(ends, 2, MPI_UNSIGNED, list, 2, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d keys, sum %u\n", all, mixed);
    for (int i = 0; i < size; ++i) printf("rank %d: %u to %u\n", i, list[2 * i], list[2 * i + 1]);
  }
  free(list);
  free(sorted);
  free(counts);
  free(some);
  free(samples);
  free(mine);
  MPI_Finalize();
  return 0;
}
