// SPDX-License-Identifier: Apache-2.0
/// Moves edges between ranks, to the ranks that have their ends. Two passes over the edges, the first of which only
/// counts, so that the memory of a rank is that of its rows and of one block of edges.
#include "gossamer/distributed/shares.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "gossamer/core/error.h"
#include "gossamer/distributed/ranks.h"
#include "graph/rows.h"
#include "graph/store.h"

namespace gossamer::distributed {
namespace {

constexpr uint64_t kBlock = uint64_t{1} << 18;

/// Moves the edges that a rank's source yields in blocks.
class Mover {
 public:
  explicit Mover(const gs_edge_move& move)
      : move_(move),
        ranks_(move.ranks),
        cuts_(move.cuts, move.cuts + ranks_.count() + 1),
        width_(graph::type_bytes(move.weight_type)) {}

  /// Sets offsets[1 + row] of this rank's rows to their lengths, then sums them up.
  void count(uint64_t* offsets) {
    const uint64_t rows = own();
    std::fill(offsets, offsets + rows + 1, 0);
    move([&](Bytes& to, uint32_t row, uint32_t, const uint8_t*) { append(to, &row, 1); },
         [&](const Bytes& from) {
           for (uint64_t i = 0; i < from.size(); i += 4) ++offsets[number(&from[i]) - first() + 1];
         });
    for (uint64_t row = 0; row < rows; ++row) offsets[row + 1] += offsets[row];
  }

  /// Fills the rows, in no order.
  void fill(const uint64_t* offsets, uint32_t* targets, uint8_t* weights) {
    std::vector<uint64_t> next(offsets, offsets + own());
    move(
        [&](Bytes& to, uint32_t row, uint32_t other, const uint8_t* weight) {
          append(to, &row, 1);
          append(to, &other, 1);
          append(to, weight, width_);
        },
        [&](const Bytes& from) {
          for (uint64_t i = 0; i < from.size(); i += 8 + width_) {
            const uint64_t at = next[number(&from[i]) - first()]++;
            targets[at] = number(&from[i + 4]);
            if (width_) std::memcpy(weights + at * width_, &from[i + 8], width_);
          }
        });
  }

 private:
  uint64_t first() const { return cuts_[ranks_.rank()]; }
  uint64_t own() const { return cuts_[ranks_.rank() + 1] - first(); }
  static uint32_t number(const uint8_t* bytes) {
    uint32_t value;
    std::memcpy(&value, bytes, 4);
    return value;
  }
  unsigned ownerOf(uint32_t vertex) const {
    return static_cast<unsigned>(std::upper_bound(cuts_.begin(), cuts_.end(), vertex) - cuts_.begin() - 1);
  }

  /// put(buffer, row, other end, weight) appends an edge to the buffer for the row's rank, take(buffer) receives one.
  template <typename Put, typename Take>
  void move(Put&& put, Take&& take) {
    std::vector<uint32_t> sources(kBlock), targets(kBlock);
    std::vector<Bytes> out(ranks_.count());
    uint64_t edge = 0;
    uint64_t row = 0;
    for (;;) {
      for (Bytes& one : out) one.clear();
      const uint64_t count = std::min(kBlock, move_.edges - edge);
      if (count && move_.draw) {
        if (move_.draw(move_.context, edge, count, sources.data(), targets.data())) throw std::runtime_error(last());
      }
      for (uint64_t i = 0; i < count; ++i) {
        uint32_t source, target;
        const uint8_t* weight = nullptr;
        if (move_.draw) {
          source = sources[i];
          target = targets[i];
        } else {
          while (move_.offsets[row + 1] <= edge + i) ++row;
          source = static_cast<uint32_t>(move_.first + row);
          target = move_.targets[edge + i];
          if (width_) weight = static_cast<const uint8_t*>(move_.weights) + (edge + i) * width_;
        }
        if (move_.by_target) std::swap(source, target);
        put(out[ownerOf(source)], source, target, weight);
      }
      edge += count;
      for (const Bytes& one : ranks_.exchange(out)) take(one);
      if (ranks_.sum(move_.edges - edge) == 0) return;
    }
  }
  static const char* last() { return gs_last_error(); }

  const gs_edge_move& move_;
  Ranks ranks_;
  std::vector<uint64_t> cuts_;
  unsigned width_;
};

}  // namespace
}  // namespace gossamer::distributed

using gossamer::distributed::Mover;
using gossamer::distributed::Ranks;

extern "C" {

int gs_edges_count(const gs_edge_move* move, uint64_t* offsets) {
  return gossamer::graph::guarded([&] {
    Mover(*move).count(offsets);
    return 0;
  });
}

int gs_edges_fill(const gs_edge_move* move, const uint64_t* offsets, uint32_t* targets, void* weights) {
  return gossamer::graph::guarded([&] {
    Mover(*move).fill(offsets, targets, static_cast<uint8_t*>(weights));
    const uint64_t own = move->cuts[move->ranks->rank + 1] - move->cuts[move->ranks->rank];
    return gs_graph_sort(own, offsets, targets, weights, move->weight_type, 1);
  });
}

void gs_ranks_wait_sent(const gs_ranks* ranks, uint64_t request) {
  Ranks(ranks).waitFor([&] { return ranks->sent(request); });
}

void gs_ranks_wait_message(const gs_ranks* ranks, int from, int tag, uint64_t* size) {
  Ranks(ranks).waitFor([&] { return ranks->probe(from, tag, size); });
}

void gs_ranks_wait_reduced(const gs_ranks* ranks) {
  Ranks(ranks).waitFor([&] { return ranks->reduced(); });
}

}  // extern "C"
