// SPDX-License-Identifier: Apache-2.0
/// PageRank on CombBLAS, the peer of the rows `distributed.vs-combblas`, as products of the sparse matrix and a dense
/// vector in single precision, as in the examples of CombBLAS.
///
/// Usage: combblas_pagerank EDGES VERTICES STEPS RESULT
/// EDGES are pairs of int32, source and target, without parallel edges; RESULT gets a float for each vertex. Rank 0
/// prints the seconds of each step, one a line. The number of ranks must be a square.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "CombBLAS/CombBLAS.h"

namespace {

using Index = int64_t;
template <typename T>
using MatrixOf = combblas::SpParMat<Index, T, combblas::SpDCCols<Index, T>>;
using Matrix = MatrixOf<bool>;  // the entries are all 1: no product reads a value of 4 bytes
using Vector = combblas::FullyDistVec<Index, float>;

constexpr float kDamping = 0.85F;

using Indices = combblas::FullyDistVec<Index, Index>;

struct Edges {
  Indices sources, targets;
};

/// The edges in a file: each rank reads those that CombBLAS's distribution of a vector gives it.
Edges read(const char* path, const std::shared_ptr<combblas::CommGrid>& grid) {
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) std::exit(2);
  MPI_Offset bytes = 0;
  MPI_File_get_size(file, &bytes);
  Edges edges{Indices(grid, bytes / 8, 0), Indices(grid, bytes / 8, 0)};
  const Index count = edges.sources.MyLocLength();
  std::vector<int32_t> pairs(static_cast<size_t>(2 * count));
  MPI_File_read_at_all(file, 8 * edges.sources.LengthUntil(), pairs.data(), static_cast<int>(pairs.size()), MPI_INT32_T,
                       MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  for (Index i = 0; i < count; ++i) {
    edges.sources.SetLocalElement(i, pairs[static_cast<size_t>(2 * i)]);
    edges.targets.SetLocalElement(i, pairs[static_cast<size_t>(2 * i + 1)]);
  }
  return edges;
}

void run(const char* edges_path, Index vertices, int steps, const char* result_path) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto grid = std::make_shared<combblas::CommGrid>(MPI_COMM_WORLD, 0, 0);
  Vector share(grid, vertices, 0);
  Matrix matrix(grid);
  {
    const Edges edges = read(edges_path, grid);
    matrix = MatrixOf<int>(vertices, vertices, edges.targets, edges.sources, 1);  // has no constructor of bool
  }
  matrix.Reduce(share, combblas::Column, std::plus<float>(), 0.0F, [](bool) { return 1.0F; });
  share.Apply([](float degree) { return degree > 0 ? kDamping / degree : 0; });
  const float base = (1 - kDamping) / static_cast<float>(vertices);
  Vector ranked(grid, vertices, 1 / static_cast<float>(vertices));
  std::vector<double> seconds;
  for (int step = 0; step < steps; ++step) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    ranked.EWiseApply(share, std::multiplies<float>());
    ranked = combblas::SpMV<combblas::PlusTimesSRing<bool, float>>(matrix, ranked);
    ranked.Apply([base](float sum) { return sum + base; });
    MPI_Barrier(MPI_COMM_WORLD);
    seconds.push_back(MPI_Wtime() - begun);
  }
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, result_path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) std::exit(2);
  MPI_File_write_at_all(file, 4 * ranked.LengthUntil(), const_cast<float*>(ranked.GetLocArr()),
                        static_cast<int>(ranked.LocArrSize()), MPI_FLOAT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  if (rank == 0) {
    for (const double one : seconds) std::printf("%.9f\n", one);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  MPI_Init(&count, &words);
  run(words[1], std::atoll(words[2]), std::atoi(words[3]), words[4]);
  MPI_Finalize();
  return 0;
}
