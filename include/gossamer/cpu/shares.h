// SPDX-License-Identifier: Apache-2.0
/// How the `cpu` engine shares a network out among threads: nothing here knows the vertices' type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gossamer/engine.h"

namespace gossamer::cpu {

/// Ranges of receivers, one a thread, with about the same number of in-edges: range t is
/// result[t] .. result[t + 1]. All but the end of the last are multiples of 64, so that each word of
/// 64 vertices is in one range. From a sample of the targets, since in-degrees may not be known.
std::vector<uint32_t> shareReceivers(const Network& net, unsigned threads);

/// The first word of 64 vertices behind `part` of `parts` of the edges; all words are in one part.
size_t wordAt(const Rows& rows, size_t vertices, uint64_t part, uint64_t parts);

/// Whether rows are short and of such different lengths that the processor
/// mispredicts the end of most: that costs as much as a dozen reads.
bool lengthsVary(const Rows& rows, size_t vertices, Pool& pool);

/// A vertex by its place in the chunk, and the number of its in-edges.
struct Sorted {
  uint32_t at;
  uint32_t length;
};

/// Puts the vertices from .. to in the order of their rows' lengths, and copies the rows in that order to where
/// `sources` has those of these vertices.
void sortChunk(const Rows& rows, size_t from, size_t to, Sorted* sorted, uint32_t* sources);

/// The first of the ascending targets begin .. end that is not below `low`. Where
/// that is cannot be predicted, so the search has no branch to mispredict.
inline uint64_t firstFrom(const uint32_t* targets, uint64_t begin, uint64_t end, uint32_t low) {
  for (uint64_t count = end - begin; count > 0;) {
    const uint64_t half = (count + 1) / 2;
    begin += targets[begin + half - 1] < low ? half : 0;
    count -= half;
  }
  return begin;
}

}  // namespace gossamer::cpu
