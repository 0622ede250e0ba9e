// SPDX-License-Identifier: Apache-2.0
#include "gossamer/mapper/trees.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "graph/parallel.h"
#include "graph/stop.h"

namespace {

using gossamer::graph::in_pieces;
using gossamer::graph::thread_count;

constexpr uint64_t kPiece = 64;  // trees that a thread makes at a time

/// Pseudo-random numbers (xorshift) from a seed, the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  /// From 0 to below `bound`.
  uint32_t below(uint32_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>((state_ >> 32) * bound >> 32);
  }

 private:
  uint64_t state_;
};

struct Node {
  uint32_t board;
  int32_t parent;
  int32_t channel;
};

/// The channels on which a copy may continue from each channel and, numbered after the channels, from each source
/// board.
class NextChannels {
 public:
  explicit NextChannels(const gs_map_channels& channels) : count_(channels.boards * channels.links * channels.vcs) {
    const uint32_t lanes = channels.links * channels.vcs;
    for (uint32_t from = 0; from <= count_ + channels.boards - 1; ++from) {
      first_.push_back(static_cast<uint32_t>(to_.size()));
      const bool source = from >= count_;
      const int32_t board = source ? static_cast<int32_t>(from - count_) : channels.far[from / channels.vcs];
      if (board < 0) continue;
      for (uint32_t lane = 0; lane < lanes; ++lane) {
        const uint32_t to = static_cast<uint32_t>(board) * lanes + lane;
        const int32_t there = channels.far[to / channels.vcs];
        if (there < 0) continue;
        // Returning to the previous board never helps, even over a second cable.
        if (!source && (channels.order[to] <= channels.order[from] || there == static_cast<int32_t>(from / lanes))) {
          continue;
        }
        to_.push_back(to);
      }
    }
    first_.push_back(static_cast<uint32_t>(to_.size()));
  }

  uint32_t channels() const { return count_; }
  const uint32_t* begin(uint32_t from) const { return to_.data() + first_[from]; }
  uint32_t count(uint32_t from) const { return first_[from + 1] - first_[from]; }

 private:
  uint32_t count_;
  std::vector<uint32_t> first_, to_;
};

/// Makes one tree after another: starting at the source, it joins the nearest board that is not yet reached to the tree
/// by a shortest path (Takahashi and Matsuyama, 1980), chosen at random among equals. It shrinks a tree by cutting
/// branches and joining their boards again.
class Grower {
 public:
  Grower(const gs_map_channels& channels, const NextChannels& next_channels)
      : channels_(channels),
        next_channels_(next_channels),
        taken_(next_channels.channels()),
        before_(next_channels.channels()) {}

  /// `ends` has an element for each board.
  void grow(uint32_t source, const uint8_t* wanted, Random& random, std::vector<Node>& nodes, int32_t* ends) {
    nodes.assign(1, {source, -1, -1});
    std::fill(taken_.begin(), taken_.end(), 0);
    uint32_t left = 0;
    for (uint32_t board = 0; board < channels_.boards; ++board) {
      ends[board] = -1;
      left += wanted[board] && board != source;
    }
    if (wanted[source]) ends[source] = 0;
    for (; left; --left) join(wanted, random, nodes, ends);
  }

  /// Cuts one or two branches off the tree that grow() or regrow() made last, and joins their boards again.
  void regrow(const uint8_t* wanted, Random& random, std::vector<Node>& nodes, int32_t* ends) {
    const auto count = static_cast<uint32_t>(nodes.size());
    if (count < 2) return;
    children_.assign(count, 0);
    for (uint32_t node = 1; node < count; ++node) ++children_[static_cast<size_t>(nodes[node].parent)];
    isEnd_.assign(count, 0);
    for (uint32_t board = 0; board < channels_.boards; ++board) {
      if (ends[board] >= 0) isEnd_[static_cast<size_t>(ends[board])] = 1;
    }
    for (uint32_t cuts = 1 + random.below(2); cuts; --cuts) {
      const uint32_t cut = 1 + random.below(count - 1);
      if (children_[cut] == kGone) continue;
      const auto parent = static_cast<size_t>(nodes[cut].parent);
      drop(cut, nodes);
      for (uint32_t node = cut + 1; node < count; ++node) {
        if (children_[node] != kGone && children_[static_cast<size_t>(nodes[node].parent)] == kGone) {
          drop(node, nodes);
        }
      }
      // Also drops nodes that now lead to no board.
      size_t at = parent;
      for (--children_[at]; at && !children_[at] && !isEnd_[at]; --children_[at]) {
        drop(static_cast<uint32_t>(at), nodes);
        at = static_cast<size_t>(nodes[at].parent);
      }
    }
    uint32_t left = 0;
    for (uint32_t board = 0; board < channels_.boards; ++board) {
      if (ends[board] < 0 || children_[static_cast<size_t>(ends[board])] != kGone) continue;
      ends[board] = -1;
      ++left;
    }
    close(nodes, ends);
    for (; left; --left) join(wanted, random, nodes, ends);
  }

  /// Prepares regrow() for an earlier tree.
  void restore(const std::vector<Node>& nodes) {
    std::fill(taken_.begin(), taken_.end(), 0);
    for (const Node& node : nodes) {
      if (node.channel >= 0) taken_[static_cast<size_t>(node.channel)] = 1;
    }
  }

 private:
  static constexpr uint32_t kGone = ~0u;

  void drop(uint32_t node, const std::vector<Node>& nodes) {
    children_[node] = kGone;
    taken_[static_cast<size_t>(nodes[node].channel)] = 0;
  }

  /// Removes dropped nodes.
  void close(std::vector<Node>& nodes, int32_t* ends) {
    now_.resize(nodes.size());
    int32_t kept = 0;
    for (size_t node = 0; node < nodes.size(); ++node) {
      if (children_[node] == kGone) continue;
      now_[node] = kept;
      Node& here = nodes[static_cast<size_t>(kept++)] = nodes[node];
      if (here.parent >= 0) here.parent = now_[static_cast<size_t>(here.parent)];
    }
    nodes.resize(static_cast<size_t>(kept));
    for (uint32_t board = 0; board < channels_.boards; ++board) {
      if (ends[board] >= 0) ends[board] = now_[static_cast<size_t>(ends[board])];
    }
  }

  static constexpr uint32_t kUnseen = ~0u;

  uint32_t ahead(uint32_t channel) const { return static_cast<uint32_t>(channels_.far[channel / channels_.vcs]); }

  void join(const uint8_t* wanted, Random& random, std::vector<Node>& nodes, int32_t* ends) {
    for (size_t node = 1; node < nodes.size(); ++node) {
      const uint32_t board = nodes[node].board;
      if (!wanted[board] || ends[board] >= 0) continue;
      ends[board] = static_cast<int32_t>(node);  // the tree already passes this board
      return;
    }
    std::fill(before_.begin(), before_.end(), kUnseen);
    // Numbers of channels, and after them numbers of tree nodes.
    const uint32_t base = next_channels_.channels();
    front_.clear();
    for (uint32_t node = 0; node < nodes.size(); ++node) front_.push_back(base + node);
    while (!front_.empty()) {
      for (size_t i = front_.size(); i > 1; --i)
        std::swap(front_[i - 1], front_[random.below(static_cast<uint32_t>(i))]);
      next_.clear();
      for (const uint32_t from : front_) {
        const uint32_t state = from < base ? from : stateOf(nodes[from - base]);
        const uint32_t count = next_channels_.count(state);
        const uint32_t* const to = next_channels_.begin(state);
        const uint32_t offset = count ? random.below(count) : 0;
        for (uint32_t i = 0; i < count; ++i) {
          const uint32_t channel = to[offset + i < count ? offset + i : offset + i - count];
          if (taken_[channel] || before_[channel] != kUnseen) continue;
          before_[channel] = from;
          const uint32_t board = ahead(channel);
          if (wanted[board] && ends[board] < 0) {
            add(channel, nodes);
            ends[board] = static_cast<int32_t>(nodes.size()) - 1;
            return;
          }
          next_.push_back(channel);
        }
      }
      front_.swap(next_);
    }
    throw std::runtime_error("a board cannot be reached under this order of channels");
  }

  uint32_t stateOf(const Node& node) const {
    return node.channel < 0 ? next_channels_.channels() + node.board : static_cast<uint32_t>(node.channel);
  }

  /// Adds the path that ends with this channel.
  void add(uint32_t last, std::vector<Node>& nodes) {
    path_.clear();
    uint32_t at = last;
    for (; at < next_channels_.channels(); at = before_[at]) path_.push_back(at);
    auto parent = static_cast<int32_t>(at - next_channels_.channels());
    for (auto channel = path_.rbegin(); channel != path_.rend(); ++channel) {
      nodes.push_back({ahead(*channel), parent, static_cast<int32_t>(*channel)});
      taken_[*channel] = 1;
      parent = static_cast<int32_t>(nodes.size()) - 1;
    }
  }

  const gs_map_channels& channels_;
  const NextChannels& next_channels_;
  std::vector<uint8_t> taken_;
  std::vector<uint8_t> isEnd_;
  std::vector<uint32_t> before_, front_, next_, path_, children_;
  std::vector<int32_t> now_;
};

/// Owns the arrays of a gs_map_trees.
struct Trees : gs_map_trees {
  std::vector<uint64_t> firsts;
  std::vector<uint32_t> boards;
  std::vector<int32_t> parents, channels_in, leaves;
};

}  // namespace

int gs_map_trees_make(const gs_map_channels* channels, uint64_t trees, const uint32_t* sources, const uint8_t* wanted,
                      uint32_t tries, int threads, gs_map_trees** made) {
  return gossamer::graph::run_stoppable("making trees", "use fewer boards", [&] {
    auto all = std::make_unique<Trees>();
    const size_t boards = channels->boards;
    all->leaves.resize(trees * boards);
    std::vector<std::vector<Node>> found(trees);
    const NextChannels next_channels(*channels);
    in_pieces(thread_count(threads), trees, kPiece, [&](uint64_t begin, uint64_t end) {
      Grower grower(*channels, next_channels);
      std::vector<Node> nodes;
      std::vector<int32_t> ends;
      for (uint64_t tree = begin; tree < end; ++tree) {
        Random random(tree);
        std::vector<Node>& best = found[tree];
        int32_t* const leaves = all->leaves.data() + tree * boards;
        grower.grow(sources[tree], wanted + tree * boards, random, best, leaves);
        for (uint32_t one = 1; one < tries; ++one) {
          nodes = best;
          ends.assign(leaves, leaves + boards);
          grower.regrow(wanted + tree * boards, random, nodes, ends.data());
          if (nodes.size() > best.size()) {
            grower.restore(best);
            continue;
          }
          best.swap(nodes);
          std::copy(ends.begin(), ends.end(), leaves);
        }
      }
    });
    for (const std::vector<Node>& nodes : found) {
      all->firsts.push_back(all->boards.size());
      for (const Node& node : nodes) {
        all->boards.push_back(node.board);
        all->parents.push_back(node.parent);
        all->channels_in.push_back(node.channel);
      }
    }
    all->firsts.push_back(all->boards.size());
    all->first = all->firsts.data();
    all->board = all->boards.data();
    all->parent = all->parents.data();
    all->channel = all->channels_in.data();
    all->ends = all->leaves.data();
    *made = all.release();
    return 0;
  });
}

void gs_map_trees_free(gs_map_trees* trees) { delete static_cast<Trees*>(trees); }
