// SPDX-License-Identifier: Apache-2.0
/// How the `cpu` engine partitions a network among threads; independent of the vertex type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gossamer/engine.h"

namespace gossamer::cpu {

/// Ranges of receivers, one per thread, with about equal numbers of in-edges: range t is
/// result[t] .. result[t + 1]. All bounds except the end of the last are multiples of 64, so that each word of
/// 64 vertices is in one range. Estimated from a sample of the targets, since in-degrees may be unknown.
std::vector<uint32_t> partitionReceivers(const Network& net, unsigned threads);

/// The first word of 64 vertices of part `part`, when the edges are split into `parts`; every word is in one part.
size_t firstWordOfPart(const Rows& rows, size_t vertices, uint64_t part, uint64_t parts);

/// Whether rows are short and their lengths vary so much that the processor
/// mispredicts the end of most rows, which costs as much as a dozen reads.
bool lengthsVary(const Rows& rows, size_t vertices, Pool& pool);

/// A vertex by its offset in the chunk, and the number of its in-edges.
struct Sorted {
  uint32_t at;
  uint32_t length;
};

/// Sorts the vertices from .. to by the lengths of their rows, and copies the rows in that order into the same range
/// of `sources`.
void sortChunk(const Rows& rows, size_t from, size_t to, Sorted* sorted, uint32_t* sources);

/// The index of the first of the ascending targets begin .. end that is at least `low`.
/// Branch-free, since the result cannot be predicted.
inline uint64_t firstFrom(const uint32_t* targets, uint64_t begin, uint64_t end, uint32_t low) {
  for (uint64_t count = end - begin; count > 0;) {
    const uint64_t half = (count + 1) / 2;
    begin += targets[begin + half - 1] < low ? half : 0;
    count -= half;
  }
  return begin;
}

}  // namespace gossamer::cpu
