// SPDX-License-Identifier: Apache-2.0
// K-means: the points are distributed over the ranks. In each round rank 0 broadcasts the means, every rank sums the
// points that are nearest to each mean, and sums and counts are reduced to rank 0. The two reductions have separate
// ports and run concurrently in two kernels.
//
//   ./gossamer smi run examples/streams/kmeans.cpp --ranks 4 -- K DIMENSIONS POINTS ROUNDS points.bin means.bin
//
// Files hold floats: the points, and the K means, whose initial values are the first K points.
#include <gossamer/smi/smi.hpp>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

void reduceSums(int count, const float* mine, float* all) {
  SMI_RChannel channel = SMI_Open_reduce_channel(count, SMI_FLOAT, SMI_ADD_ORDERED, 1, 0, SMI_COMM_WORLD);
  for (int i = 0; i < count; ++i) SMI_Reduce(&channel, &mine[i], &all[i]);
}

void reduceCounts(int count, const int* mine, int* all) {
  SMI_RChannel channel = SMI_Open_reduce_channel(count, SMI_INT, SMI_ADD, 2, 0, SMI_COMM_WORLD);
  for (int i = 0; i < count; ++i) SMI_Reduce(&channel, &mine[i], &all[i]);
}

int nearest(const float* point, const std::vector<float>& means, int k, int dimensions) {
  int best = 0;
  float least = std::numeric_limits<float>::infinity();
  for (int mean = 0; mean < k; ++mean) {
    float distance = 0;
    for (int d = 0; d < dimensions; ++d) {
      const float apart = point[d] - means[static_cast<std::size_t>(mean * dimensions + d)];
      distance += apart * apart;
    }
    if (distance < least) {
      least = distance;
      best = mean;
    }
  }
  return best;
}

}  // namespace

int main(int count, char** words) {
  const int rank = SMI_Comm_rank(SMI_COMM_WORLD), ranks = SMI_Comm_size(SMI_COMM_WORLD);
  if (count != 7) {
    std::fprintf(stderr, "kmeans: give K DIMENSIONS POINTS ROUNDS IN OUT\n");
    return 2;
  }
  const int k = std::atoi(words[1]), dimensions = std::atoi(words[2]), points = std::atoi(words[3]);
  if (k < 1 || dimensions < 1 || points < k) {
    std::fprintf(stderr, "kmeans: K and DIMENSIONS must be at least 1, and POINTS at least K\n");
    return 2;
  }
  const auto first = static_cast<int>(static_cast<long>(points) * rank / ranks);
  const auto last = static_cast<int>(static_cast<long>(points) * (rank + 1) / ranks);
  std::vector<float> data(static_cast<std::size_t>(points) * static_cast<std::size_t>(dimensions));
  std::FILE* in = std::fopen(words[5], "rb");
  if (!in || std::fread(data.data(), 4, data.size(), in) != data.size()) {
    std::fprintf(stderr, "kmeans: %s cannot be read, or has fewer points\n", words[5]);
    return 2;
  }
  std::fclose(in);
  const int size = k * dimensions;
  std::vector<float> means(data.begin(), data.begin() + size), all(means.size());
  std::vector<int> allCounts(static_cast<std::size_t>(k));
  for (int round = std::atoi(words[4]); round > 0; --round) {
    SMI_BChannel channel = SMI_Open_bcast_channel(size, SMI_FLOAT, 0, 0, SMI_COMM_WORLD);
    for (float& one : means) SMI_Bcast(&channel, &one);
    std::vector<float> sums(means.size());
    std::vector<int> counts(allCounts.size());
    for (int point = first; point < last; ++point) {
      const float* at = &data[static_cast<std::size_t>(point) * static_cast<std::size_t>(dimensions)];
      const int mean = nearest(at, means, k, dimensions);
      ++counts[static_cast<std::size_t>(mean)];
      for (int d = 0; d < dimensions; ++d) sums[static_cast<std::size_t>(mean * dimensions + d)] += at[d];
    }
    const SMI_Kernel sum = smi::start("sums", reduceSums, size, sums.data(), all.data());
    const SMI_Kernel number = smi::start("counts", reduceCounts, k, counts.data(), allCounts.data());
    SMI_Wait_kernel(sum);
    SMI_Wait_kernel(number);
    // A mean without points does not change.
    for (int i = 0; rank == 0 && i < size; ++i) {
      const int here = allCounts[static_cast<std::size_t>(i / dimensions)];
      if (here) means[static_cast<std::size_t>(i)] = all[static_cast<std::size_t>(i)] / static_cast<float>(here);
    }
  }
  if (rank == 0) {
    std::FILE* out = std::fopen(words[6], "wb");
    const bool done = out && std::fwrite(means.data(), 4, means.size(), out) == means.size();
    if (!out || std::fclose(out) || !done) return 2;
  }
  return 0;
}
