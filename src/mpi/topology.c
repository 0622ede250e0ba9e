// SPDX-License-Identifier: Apache-2.0
/// Cartesian grids of ranks, in row-major order.

#include <string.h>

#include "internal.h"

SMALL_CODE_BEGIN

static int check_grid(const char* call, MPI_Comm handle, Comm** comm) {
  *comm = gsmpi_check_comm(handle, call);
  if (!*comm) return MPI_ERR_COMM;
  if ((*comm)->topology) return MPI_SUCCESS;
  char name[MPI_MAX_OBJECT_NAME];
  return gsmpi_error(*comm, MPI_ERR_TOPOLOGY, call, "%s is not a Cartesian grid",
                     gsmpi_comm_name(*comm, name, sizeof name));
}

static int check_shape(const Comm* comm, const char* call, int dimensions, const int sizes[], int* ranks) {
  if (dimensions < 0) return gsmpi_error(comm, MPI_ERR_DIMS, call, "a grid has no %d dimensions", dimensions);
  int64_t all = 1;
  for (int i = 0; i < dimensions; ++i) {
    if (sizes[i] < 1) return gsmpi_error(comm, MPI_ERR_DIMS, call, "dimension %d has the size %d", i, sizes[i]);
    all *= sizes[i];
    if (all > comm->size)
      return gsmpi_error(comm, MPI_ERR_DIMS, call, "the grid has more ranks than the communicator, %d", comm->size);
  }
  *ranks = (int)all;
  return MPI_SUCCESS;
}

static void set_grid(Comm* comm, const char* call, int dimensions, const int sizes[], const int periods[]) {
  const size_t bytes = sizeof(Topology) + 2 * (size_t)dimensions * sizeof(int);
  Topology* grid = gsmpi_allocate(bytes, call);
  grid->bytes = bytes;
  grid->dimensions = dimensions;
  for (int i = 0; i < dimensions; ++i) {
    grid->values[i] = sizes[i];
    grid->values[dimensions + i] = periods[i] != 0;
  }
  comm->topology = grid;
}

int MPI_Cart_create(MPI_Comm handle, int dimensions, const int sizes[], const int periods[], int reorder,
                    MPI_Comm* made) {
  static const char call[] = "MPI_Cart_create";
  (void)reorder;
  CALLED();
  *made = MPI_COMM_NULL;
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  int ranks;
  RETURN_ON_ERROR(check_shape(comm, call, dimensions, sizes, &ranks));
  RETURN_ON_ERROR(gsmpi_split(call, comm, comm->rank < ranks ? 0 : MPI_UNDEFINED, comm->rank, made));
  if (*made != MPI_COMM_NULL) set_grid(gsmpi_comm(*made), call, dimensions, sizes, periods);
  return MPI_SUCCESS;
}

int MPI_Cart_map(MPI_Comm handle, int dimensions, const int sizes[], const int periods[], int* rank) {
  static const char call[] = "MPI_Cart_map";
  (void)periods;
  CALLED();
  const Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  int ranks;
  RETURN_ON_ERROR(check_shape(comm, call, dimensions, sizes, &ranks));
  *rank = comm->rank < ranks ? comm->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Topo_test(MPI_Comm handle, int* kind) {
  CALLED();
  const Comm* comm = gsmpi_check_comm(handle, "MPI_Topo_test");
  if (!comm) return MPI_ERR_COMM;
  *kind = comm->topology ? MPI_CART : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Cartdim_get(MPI_Comm handle, int* dimensions) {
  CALLED();
  Comm* comm;
  RETURN_ON_ERROR(check_grid("MPI_Cartdim_get", handle, &comm));
  *dimensions = comm->topology->dimensions;
  return MPI_SUCCESS;
}

static void find_position(const Topology* grid, int rank, int most, int position[]) {
  for (int i = grid->dimensions - 1; i >= 0; --i) {
    if (i < most) position[i] = rank % grid->values[i];
    rank /= grid->values[i];
  }
}

int MPI_Cart_get(MPI_Comm handle, int most, int sizes[], int periods[], int position[]) {
  CALLED();
  Comm* comm;
  RETURN_ON_ERROR(check_grid("MPI_Cart_get", handle, &comm));
  const Topology* grid = comm->topology;
  for (int i = 0; i < most && i < grid->dimensions; ++i) {
    sizes[i] = grid->values[i];
    periods[i] = grid->values[grid->dimensions + i];
  }
  find_position(grid, comm->rank, most, position);
  return MPI_SUCCESS;
}

int MPI_Cart_coords(MPI_Comm handle, int rank, int most, int position[]) {
  static const char call[] = "MPI_Cart_coords";
  CALLED();
  Comm* comm;
  RETURN_ON_ERROR(check_grid(call, handle, &comm));
  if ((unsigned)rank >= (unsigned)comm->size)
    return gsmpi_error(comm, MPI_ERR_RANK, call, "rank %d is not in the grid, which has %d ranks", rank, comm->size);
  if (most < comm->topology->dimensions)
    return gsmpi_error(comm, MPI_ERR_DIMS, call, "the grid has %d dimensions, and there is space for %d",
                       comm->topology->dimensions, most);
  find_position(comm->topology, rank, most, position);
  return MPI_SUCCESS;
}

int MPI_Cart_rank(MPI_Comm handle, const int position[], int* rank) {
  static const char call[] = "MPI_Cart_rank";
  CALLED();
  Comm* comm;
  RETURN_ON_ERROR(check_grid(call, handle, &comm));
  const Topology* grid = comm->topology;
  int found = 0;
  for (int i = 0; i < grid->dimensions; ++i) {
    const int size = grid->values[i];
    int at = position[i];
    if (grid->values[grid->dimensions + i])
      at = (at % size + size) % size;
    else if ((unsigned)at >= (unsigned)size)
      return gsmpi_error(comm, MPI_ERR_ARG, call, "coordinate %d of dimension %d is not in the grid, 0 to %d", at, i,
                         size - 1);
    found = found * size + at;
  }
  *rank = found;
  return MPI_SUCCESS;
}

int MPI_Cart_shift(MPI_Comm handle, int dimension, int distance, int* source, int* dest) {
  static const char call[] = "MPI_Cart_shift";
  CALLED();
  Comm* comm;
  RETURN_ON_ERROR(check_grid(call, handle, &comm));
  const Topology* grid = comm->topology;
  if ((unsigned)dimension >= (unsigned)grid->dimensions)
    return gsmpi_error(comm, MPI_ERR_ARG, call, "dimension %d is not in the grid, which has %d", dimension,
                       grid->dimensions);
  const int size = grid->values[dimension];
  int unit = 1;  // ranks between neighbours
  for (int i = dimension + 1; i < grid->dimensions; ++i) unit *= grid->values[i];
  const int at = comm->rank / unit % size;
  for (int sign = -1; sign <= 1; sign += 2) {
    int64_t other = at + (int64_t)sign * distance;
    int* to = sign < 0 ? source : dest;
    if (grid->values[grid->dimensions + dimension]) other = (other % size + size) % size;
    *to = other < 0 || other >= size ? MPI_PROC_NULL : comm->rank + ((int)other - at) * unit;
  }
  return MPI_SUCCESS;
}

int MPI_Cart_sub(MPI_Comm handle, const int remain[], MPI_Comm* made) {
  static const char call[] = "MPI_Cart_sub";
  CALLED();
  *made = MPI_COMM_NULL;
  Comm* comm;
  RETURN_ON_ERROR(check_grid(call, handle, &comm));
  const Topology* grid = comm->topology;
  int *sizes = gsmpi_allocate(3 * (size_t)grid->dimensions * sizeof(int), call), *periods = sizes + grid->dimensions;
  int* position = periods + grid->dimensions;
  find_position(grid, comm->rank, grid->dimensions, position);
  int kept = 0, color = 0, key = 0;
  for (int i = 0; i < grid->dimensions; ++i) {
    if (remain[i]) {
      key = key * grid->values[i] + position[i];
      sizes[kept] = grid->values[i];
      periods[kept++] = grid->values[grid->dimensions + i];
    } else {
      color = color * grid->values[i] + position[i];
    }
  }
  const int error = gsmpi_split(call, comm, color, key, made);
  if (!error) set_grid(gsmpi_comm(*made), call, kept, sizes, periods);
  gsmpi_release(sizes);
  return error;
}

// ---------------------------------------------------------------------- balanced shapes

/// Divides `ranks` into factors, in decreasing order, whose largest and smallest differ least: tries all first factors
/// in decreasing order. `best` has the best so far, and `trial` the factors of this one.
static void divide(int ranks, int left, int most, int* trial, int count, int* best, int* best_spread) {
  if (left == 1) {
    if (ranks > most) return;
    trial[count - 1] = ranks;
    const int spread = trial[0] - ranks;
    if (*best_spread >= 0 && spread > *best_spread) return;  // of equals, the last has the smallest factors
    *best_spread = spread;
    memcpy(best, trial, (size_t)count * sizeof *best);
    return;
  }
  for (int factor = ranks < most ? ranks : most; factor >= 1; --factor) {
    if (ranks % factor) continue;
    int64_t reach = 1;  // the other factors are no larger
    for (int i = 0; i < left && reach < ranks; ++i) reach *= factor;
    if (reach < ranks) return;
    trial[count - left] = factor;
    divide(ranks / factor, left - 1, factor, trial, count, best, best_spread);
  }
}

int MPI_Dims_create(int ranks, int dimensions, int sizes[]) {
  static const char call[] = "MPI_Dims_create";
  CALLED();
  if (dimensions < 1 && ranks != 1)
    return gsmpi_error(NULL, MPI_ERR_DIMS, call, "a grid of %d ranks has no %d dimensions", ranks, dimensions);
  if (ranks < 1) return gsmpi_error(NULL, MPI_ERR_ARG, call, "the number of ranks is %d", ranks);
  int64_t fixed = 1;
  int open = 0;
  for (int i = 0; i < dimensions; ++i) {
    if (sizes[i] < 0) return gsmpi_error(NULL, MPI_ERR_DIMS, call, "dimension %d has the size %d", i, sizes[i]);
    if (sizes[i] == 0)
      ++open;
    else if (fixed <= ranks)
      fixed *= sizes[i];
  }
  if (ranks % fixed || (open == 0 && fixed != ranks))
    return gsmpi_error(NULL, MPI_ERR_DIMS, call, "%d ranks are not a multiple of the given sizes", ranks);
  if (open == 0) return MPI_SUCCESS;
  int *best = gsmpi_allocate(2 * (size_t)open * sizeof(int), call), *trial = best + open, spread = -1;
  divide(ranks / (int)fixed, open, ranks, trial, open, best, &spread);
  for (int i = 0, used = 0; i < dimensions; ++i)
    if (sizes[i] == 0) sizes[i] = best[used++];
  gsmpi_release(best);
  return MPI_SUCCESS;
}

SMALL_CODE_END
