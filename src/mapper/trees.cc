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

/// Numbers that look random, from a seed; the same on every machine.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
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

struct Place {
  uint32_t board;
  int32_t parent;
  int32_t channel;
};

/// What a copy on a channel may go on to, for all channels and, behind them, for the sources on all boards.
class Turns {
 public:
  explicit Turns(const gs_map_channels& channels) : count_(channels.boards * channels.links * channels.vcs) {
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
        // To go back to the board that it came from never helps, over whichever of two cables.
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

/// Makes one tree after another: from the source on, the nearest board that is still wanted is joined to what is there
/// by a shortest way (Takahashi and Matsuyama, 1980). Which of several is taken, chance decides. A tree gets smaller
/// when branches are cut off and what they led to is joined anew.
class Grower {
 public:
  Grower(const gs_map_channels& channels, const Turns& turns)
      : channels_(channels), turns_(turns), taken_(turns.channels()), before_(turns.channels()) {}

  /// `ends` has room for all boards.
  void grow(uint32_t source, const uint8_t* wanted, Chance& chance, std::vector<Place>& places, int32_t* ends) {
    places.assign(1, {source, -1, -1});
    std::fill(taken_.begin(), taken_.end(), 0);
    uint32_t left = 0;
    for (uint32_t board = 0; board < channels_.boards; ++board) {
      ends[board] = -1;
      left += wanted[board] && board != source;
    }
    if (wanted[source]) ends[source] = 0;
    for (; left; --left) join(wanted, chance, places, ends);
  }

  /// Cuts a branch or two off a tree that grow() or this has left, and joins the boards that they led to.
  void regrow(const uint8_t* wanted, Chance& chance, std::vector<Place>& places, int32_t* ends) {
    const auto count = static_cast<uint32_t>(places.size());
    if (count < 2) return;
    children_.assign(count, 0);
    for (uint32_t place = 1; place < count; ++place) ++children_[static_cast<size_t>(places[place].parent)];
    isEnd_.assign(count, 0);
    for (uint32_t board = 0; board < channels_.boards; ++board) {
      if (ends[board] >= 0) isEnd_[static_cast<size_t>(ends[board])] = 1;
    }
    for (uint32_t cuts = 1 + chance.below(2); cuts; --cuts) {
      const uint32_t cut = 1 + chance.below(count - 1);
      if (children_[cut] == kGone) continue;
      const auto parent = static_cast<size_t>(places[cut].parent);
      drop(cut, places);
      for (uint32_t place = cut + 1; place < count; ++place) {
        if (children_[place] != kGone && children_[static_cast<size_t>(places[place].parent)] == kGone) {
          drop(place, places);
        }
      }
      // What leads nowhere now goes as well.
      size_t at = parent;
      for (--children_[at]; at && !children_[at] && !isEnd_[at]; --children_[at]) {
        drop(static_cast<uint32_t>(at), places);
        at = static_cast<size_t>(places[at].parent);
      }
    }
    uint32_t left = 0;
    for (uint32_t board = 0; board < channels_.boards; ++board) {
      if (ends[board] < 0 || children_[static_cast<size_t>(ends[board])] != kGone) continue;
      ends[board] = -1;
      ++left;
    }
    close(places, ends);
    for (; left; --left) join(wanted, chance, places, ends);
  }

  /// For regrow() of a tree that another one has come after.
  void restore(const std::vector<Place>& places) {
    std::fill(taken_.begin(), taken_.end(), 0);
    for (const Place& place : places) {
      if (place.channel >= 0) taken_[static_cast<size_t>(place.channel)] = 1;
    }
  }

 private:
  static constexpr uint32_t kGone = ~0u;

  void drop(uint32_t place, const std::vector<Place>& places) {
    children_[place] = kGone;
    taken_[static_cast<size_t>(places[place].channel)] = 0;
  }

  /// Closes the gaps between places.
  void close(std::vector<Place>& places, int32_t* ends) {
    now_.resize(places.size());
    int32_t kept = 0;
    for (size_t place = 0; place < places.size(); ++place) {
      if (children_[place] == kGone) continue;
      now_[place] = kept;
      Place& here = places[static_cast<size_t>(kept++)] = places[place];
      if (here.parent >= 0) here.parent = now_[static_cast<size_t>(here.parent)];
    }
    places.resize(static_cast<size_t>(kept));
    for (uint32_t board = 0; board < channels_.boards; ++board) {
      if (ends[board] >= 0) ends[board] = now_[static_cast<size_t>(ends[board])];
    }
  }

  static constexpr uint32_t kUnseen = ~0u;

  uint32_t ahead(uint32_t channel) const { return static_cast<uint32_t>(channels_.far[channel / channels_.vcs]); }

  void join(const uint8_t* wanted, Chance& chance, std::vector<Place>& places, int32_t* ends) {
    for (size_t place = 1; place < places.size(); ++place) {
      const uint32_t board = places[place].board;
      if (!wanted[board] || ends[board] >= 0) continue;
      ends[board] = static_cast<int32_t>(place);  // a copy passes there already
      return;
    }
    std::fill(before_.begin(), before_.end(), kUnseen);
    // Numbers of channels, and of places behind them.
    const uint32_t base = turns_.channels();
    front_.clear();
    for (uint32_t place = 0; place < places.size(); ++place) front_.push_back(base + place);
    while (!front_.empty()) {
      for (size_t i = front_.size(); i > 1; --i)
        std::swap(front_[i - 1], front_[chance.below(static_cast<uint32_t>(i))]);
      next_.clear();
      for (const uint32_t from : front_) {
        const uint32_t state = from < base ? from : stateOf(places[from - base]);
        const uint32_t count = turns_.count(state);
        const uint32_t* const to = turns_.begin(state);
        const uint32_t turn = count ? chance.below(count) : 0;
        for (uint32_t i = 0; i < count; ++i) {
          const uint32_t channel = to[turn + i < count ? turn + i : turn + i - count];
          if (taken_[channel] || before_[channel] != kUnseen) continue;
          before_[channel] = from;
          const uint32_t board = ahead(channel);
          if (wanted[board] && ends[board] < 0) {
            add(channel, places);
            ends[board] = static_cast<int32_t>(places.size()) - 1;
            return;
          }
          next_.push_back(channel);
        }
      }
      front_.swap(next_);
    }
    throw std::runtime_error("a board cannot be reached in this order of channels");
  }

  uint32_t stateOf(const Place& place) const {
    return place.channel < 0 ? turns_.channels() + place.board : static_cast<uint32_t>(place.channel);
  }

  /// The way that ends with a channel.
  void add(uint32_t last, std::vector<Place>& places) {
    way_.clear();
    uint32_t at = last;
    for (; at < turns_.channels(); at = before_[at]) way_.push_back(at);
    auto parent = static_cast<int32_t>(at - turns_.channels());
    for (auto channel = way_.rbegin(); channel != way_.rend(); ++channel) {
      places.push_back({ahead(*channel), parent, static_cast<int32_t>(*channel)});
      taken_[*channel] = 1;
      parent = static_cast<int32_t>(places.size()) - 1;
    }
  }

  const gs_map_channels& channels_;
  const Turns& turns_;
  std::vector<uint8_t> taken_;
  std::vector<uint8_t> isEnd_;
  std::vector<uint32_t> before_, front_, next_, way_, children_;
  std::vector<int32_t> now_;
};

/// What a gs_map_trees points into.
struct Trees : gs_map_trees {
  std::vector<uint64_t> firsts;
  std::vector<uint32_t> boards;
  std::vector<int32_t> parents, ways, leaves;
};

}  // namespace

int gs_map_trees_make(const gs_map_channels* channels, uint64_t trees, const uint32_t* sources, const uint8_t* wanted,
                      uint32_t tries, int threads, gs_map_trees** made) {
  return gossamer::graph::run_stoppable("making trees", "take fewer boards", [&] {
    auto all = std::make_unique<Trees>();
    const size_t boards = channels->boards;
    all->leaves.resize(trees * boards);
    std::vector<std::vector<Place>> found(trees);
    const Turns turns(*channels);
    in_pieces(thread_count(threads), trees, kPiece, [&](uint64_t begin, uint64_t end) {
      Grower grower(*channels, turns);
      std::vector<Place> places;
      std::vector<int32_t> ends;
      for (uint64_t tree = begin; tree < end; ++tree) {
        Chance chance(tree);
        std::vector<Place>& best = found[tree];
        int32_t* const leaves = all->leaves.data() + tree * boards;
        grower.grow(sources[tree], wanted + tree * boards, chance, best, leaves);
        for (uint32_t one = 1; one < tries; ++one) {
          places = best;
          ends.assign(leaves, leaves + boards);
          grower.regrow(wanted + tree * boards, chance, places, ends.data());
          if (places.size() > best.size()) {
            grower.restore(best);
            continue;
          }
          best.swap(places);
          std::copy(ends.begin(), ends.end(), leaves);
        }
      }
    });
    for (const std::vector<Place>& places : found) {
      all->firsts.push_back(all->boards.size());
      for (const Place& place : places) {
        all->boards.push_back(place.board);
        all->parents.push_back(place.parent);
        all->ways.push_back(place.channel);
      }
    }
    all->firsts.push_back(all->boards.size());
    all->first = all->firsts.data();
    all->board = all->boards.data();
    all->parent = all->parents.data();
    all->channel = all->ways.data();
    all->ends = all->leaves.data();
    *made = all.release();
    return 0;
  });
}

void gs_map_trees_free(gs_map_trees* trees) { delete static_cast<Trees*>(trees); }
