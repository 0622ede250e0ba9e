// SPDX-License-Identifier: Apache-2.0
/// The streaming partition of a graph over ranks. A rank stores, besides its rows, a number for each of its vertices
/// and of the ends of its edges on other ranks, and one for each part.
#include "gossamer/distributed/partition.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gossamer/distributed/network.h"
#include "gossamer/distributed/ranks.h"
#include "graph/rows.h"
#include "graph/store.h"

namespace gossamer::distributed {
namespace {

/// Blocks of vertices in a pass, between which ranks exchange what has changed.
constexpr uint32_t kBlocks = 16;
/// Passes end when one removes less than this share of the cut edges.
constexpr double kLeastGain = 0.002;

class Streamer {
 public:
  explicit Streamer(const gs_stream& stream)
      : ranks_(stream.ranks),
        ranges_(stream.cuts, nullptr, ranks_),
        own_(ranges_.own()),
        passes_(stream.passes),
        far_(ranges_.vertices()),
        load_(ranks_.count()),
        room_(ranks_.count()),
        count_(ranks_.count()) {
    for (int side = 0; side < 2; ++side) {
      if (!stream.targets[side]) continue;
      sides_.emplace_back(stream.offsets[side], stream.targets[side], nullptr);
      far_.addEnds(sides_.back(), own_, ranges_.first());
    }
    far_.number();
    parts_.assign(size_t{own_} + far_.count(), 0);
    for (uint32_t v = 0; v < own_; ++v) parts_[v] = ranks_.rank();
    uint32_t ghost = own_;
    far_.each([&](uint32_t vertex) { parts_[ghost++] = ranges_.ownerOf(vertex); });
    // Which vertices other ranks need, and where they store them.
    const auto wanted = byOwner(far_, ranges_, ranks_.count());
    ghost = own_;
    for (const Bytes& list : wanted) {
      firstGhost_.push_back(ghost);
      ghost += static_cast<uint32_t>(list.size() / sizeof(uint32_t));
    }
    for (const Bytes& list : ranks_.exchange(wanted)) {
      give_.push_back(elements<uint32_t>(list));
      for (uint32_t& vertex : give_.back()) vertex -= ranges_.first();
    }
    uint64_t mine = 0;
    for (uint32_t v = 0; v < own_; ++v) mine += work(v);
    load_[ranks_.rank()] = static_cast<int64_t>(mine);
    addUp(load_);
    total_ = 0;
    for (const int64_t one : load_) total_ += static_cast<double>(one);
    most_ = static_cast<int64_t>(stream.uneven * total_ / ranks_.count()) + 1;
  }

  void run(uint32_t* parts) {
    std::vector<uint32_t> best(parts_.begin(), parts_.begin() + own_);
    uint64_t least = cut();
    unsigned idle = 0;
    for (uint32_t pass = 0; pass < passes_ && least && idle < 2; ++pass) {
      for (uint32_t block = 0; block < kBlocks; ++block) {
        place(static_cast<uint32_t>(uint64_t{own_} * block / kBlocks),
              static_cast<uint32_t>(uint64_t{own_} * (block + 1) / kBlocks));
      }
      const uint64_t now = cut();
      const bool gains = static_cast<double>(now) < static_cast<double>(least) * (1 - kLeastGain);
      idle = gains ? 0 : idle + 1;
      if (now >= least) continue;
      least = now;
      std::copy_n(parts_.begin(), own_, best.begin());
    }
    std::copy(best.begin(), best.end(), parts);
  }

 private:
  uint64_t work(uint32_t v) const {
    uint64_t sum = 1;
    for (const Rows& rows : sides_) sum += rows.length(v) * (sides_.size() == 1 ? 2 : 1);
    return sum;
  }

  template <typename F>
  void neighbours(uint32_t v, F&& visit) const {
    for (const Rows& rows : sides_) {
      for (uint64_t i = rows.offsets[v]; i < rows.ends[v]; ++i) {
        const uint32_t w = rows.targets[i];
        if (w != v) visit(parts_[w < own_ ? w : own_ + far_.numberOf(w + ranges_.first())]);
      }
    }
  }

  /// Edges of all ranks between different parts, each counted as often as it is in rows.
  uint64_t cut() const {
    uint64_t mine = 0;
    for (uint32_t v = 0; v < own_; ++v) {
      neighbours(v, [&](uint32_t part) { mine += part != parts_[v]; });
    }
    return ranks_.sum(mine);
  }

  /// Moves the vertices begin .. end - 1, and exchanges the changes with other ranks.
  void place(uint32_t begin, uint32_t end) {
    const std::vector<int64_t> before = load_;
    // Each rank may fill its part of the room, so that together they do not exceed it.
    for (unsigned p = 0; p < load_.size(); ++p) room_[p] = std::max<int64_t>(0, most_ - load_[p]) / ranks_.count();
    std::vector<uint32_t> touched;
    std::vector<bool> changed(end - begin);
    auto lightest = static_cast<uint32_t>(std::min_element(load_.begin(), load_.end()) - load_.begin());
    for (uint32_t v = begin; v < end; ++v) {
      const uint32_t old = parts_[v];
      touched.clear();
      double edges = 0;
      neighbours(v, [&](uint32_t part) {
        if (count_[part]++ == 0) touched.push_back(part);
        ++edges;
      });
      const auto its = static_cast<int64_t>(work(v));
      touched.push_back(lightest);
      uint32_t best = old;
      double most = static_cast<double>(count_[old]) - cost(old, its, -its);
      for (const uint32_t part : touched) {
        if (part == old || room_[part] < its) continue;
        const double score = static_cast<double>(count_[part]) - cost(part, its, 0);
        if (score > most) {
          most = score;
          best = part;
        }
      }
      for (const uint32_t part : touched) count_[part] = 0;
      if (best == old) continue;
      parts_[v] = best;
      changed[v - begin] = true;
      load_[old] -= its;
      load_[best] += its;
      room_[old] += its;
      room_[best] -= its;
      if (load_[old] < load_[lightest]) lightest = old;
    }
    for (size_t p = 0; p < load_.size(); ++p) load_[p] -= before[p];
    addUp(load_);
    for (size_t p = 0; p < load_.size(); ++p) load_[p] += before[p];
    std::vector<Bytes> out(ranks_.count());
    for (unsigned rank = 0; rank < ranks_.count(); ++rank) {
      const std::vector<uint32_t>& list = give_[rank];  // ascends
      auto at = static_cast<uint32_t>(std::lower_bound(list.begin(), list.end(), begin) - list.begin());
      for (; at < list.size() && list[at] < end; ++at) {
        if (!changed[list[at] - begin]) continue;
        append(out[rank], &at, 1);
        append(out[rank], &parts_[list[at]], 1);
      }
    }
    const std::vector<Bytes> in = ranks_.exchange(out);
    for (unsigned rank = 0; rank < ranks_.count(); ++rank) {
      const auto pairs = elements<uint32_t>(in[rank]);
      for (size_t i = 0; i < pairs.size(); i += 2) parts_[firstGhost_[rank] + pairs[i]] = pairs[i + 1];
    }
  }

  /// What `its` more work costs in a part, in edges: the derivative of Fennel's cost, whose exponent is 1.5, with work
  /// in the place of vertices.
  double cost(uint32_t part, int64_t its, int64_t less) const {
    const double mean = total_ / ranks_.count();
    const auto load = static_cast<double>(std::max<int64_t>(0, load_[part] + less));
    return 0.75 * static_cast<double>(its) * std::sqrt(load / mean);
  }

  void addUp(std::vector<int64_t>& words) const {
    std::vector<gs_reduced_word> all;
    for (const int64_t word : words) all.push_back({static_cast<int64_t>(Reduce::sum), word});
    ranks_.reduce(all);
    for (size_t i = 0; i < words.size(); ++i) words[i] = all[i].word;
  }

  Ranks ranks_;
  Ranges ranges_;
  uint32_t own_;
  uint32_t passes_;
  VertexSet far_;
  std::vector<Rows> sides_;
  std::vector<uint32_t> parts_;  // of own vertices, then of others, in the order of their numbers
  std::vector<uint32_t> firstGhost_;
  std::vector<std::vector<uint32_t>> give_;
  std::vector<int64_t> load_;
  std::vector<int64_t> room_;  // that this rank may fill in a block
  std::vector<uint64_t> count_;
  double total_ = 0;
  int64_t most_ = 0;
};

}  // namespace
}  // namespace gossamer::distributed

extern "C" int gs_partition_stream(const gs_stream* stream, uint32_t* parts) {
  return gossamer::graph::guarded([&] {
    gossamer::distributed::Streamer(*stream).run(parts);
    return 0;
  });
}
