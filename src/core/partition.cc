// SPDX-License-Identifier: Apache-2.0
#include "gossamer/cpu/partition.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace gossamer::cpu {

std::vector<uint32_t> partitionReceivers(const Network& net, unsigned threads) {
  const size_t n = net.vertices;
  std::vector<uint32_t> first(threads + 1, 0);
  first[threads] = net.vertices;
  if (threads == 1) return first;
  std::vector<uint32_t> sample;
  for (const Relation& r : net.relations) {
    if (!r.out) continue;
    const uint64_t count = r.out.offsets[n];
    const uint64_t stride = count / 16384 + 1;
    for (uint64_t i = stride / 2; i < count; i += stride) sample.push_back(r.out.targets[i]);
  }
  std::sort(sample.begin(), sample.end());
  for (unsigned t = 1; t < threads; ++t) {
    const size_t at = sample.empty() ? n * t / threads : sample[sample.size() * t / threads];
    // Round down at the end as well: the last, partial word must not also belong to the empty range after it.
    const size_t word = std::min<size_t>((at + 32) / 64, n / 64) * 64;
    first[t] = std::max(first[t - 1], static_cast<uint32_t>(word));
  }
  return first;
}

size_t firstWordOfPart(const Rows& rows, size_t vertices, uint64_t part, uint64_t parts) {
  if (part == parts) return (vertices + 63) / 64;
  if (!rows.dense()) return (vertices + 63) / 64 * part / parts;  // rows of a dynamic graph are in no order
  const uint64_t edge = rows.offsets[vertices] / parts * part;
  return static_cast<size_t>(std::lower_bound(rows.offsets, rows.offsets + vertices, edge) - rows.offsets) / 64;
}

bool lengthsVary(const Rows& rows, size_t vertices, Pool& pool) {
  constexpr uint64_t mostShort = 32;  // mean length above which mispredicted row ends do not matter
  if (rows.offsets[vertices] / vertices > mostShort) return false;
  std::atomic<uint64_t> changes{0};
  pool.chunks(vertices, 65536, [&](size_t begin, size_t end, unsigned) {
    uint64_t mine = 0;
    const auto length = [&](size_t v) { return rows.offsets[v + 1] - rows.offsets[v]; };
    uint64_t last = begin ? length(begin - 1) : 0;
    for (size_t v = begin; v < end; ++v) {
      const uint64_t before = std::exchange(last, length(v));
      mine += last != before;
    }
    changes.fetch_add(mine, std::memory_order_relaxed);
  });
  return changes.load(std::memory_order_relaxed) > vertices / 4;
}

void sortChunk(const Rows& rows, size_t from, size_t to, Sorted* sorted, uint32_t* sources) {
  constexpr uint64_t longest = 255;  // longer rows are not sorted among each other
  const auto length = [&](size_t v) { return rows.offsets[v + 1] - rows.offsets[v]; };
  uint32_t place[longest + 2] = {};
  for (size_t v = from; v < to; ++v) ++place[std::min(length(v), longest) + 1];
  for (size_t k = 1; k <= longest; ++k) place[k] += place[k - 1];
  for (size_t v = from; v < to; ++v) {
    sorted[from + place[std::min(length(v), longest)]++] = {static_cast<uint32_t>(v - from),
                                                            static_cast<uint32_t>(length(v))};
  }
  uint32_t* row = sources + rows.offsets[from];
  for (size_t k = from; k < to; ++k) {
    const uint32_t* const old = rows.targets + rows.offsets[from + sorted[k].at];
    for (uint32_t i = 0; i < sorted[k].length; ++i) *row++ = old[i];
  }
}

}  // namespace gossamer::cpu
