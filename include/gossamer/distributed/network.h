// SPDX-License-Identifier: Apache-2.0
/// The network of one rank: its own vertices, ghosts (vertices of other ranks with edges to them), and lists of the
/// vertices whose messages other ranks need.
///
/// Local numbers: own vertices first, then the ghosts, both in the order of their numbers in the whole graph (share.h).
/// Since ranks have consecutive numbers, the ghosts of one rank are consecutive.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/app/simple_rows.h"
#include "gossamer/core/memory.h"
#include "gossamer/core/pool.h"
#include "gossamer/distributed/ranks.h"
#include "gossamer/distributed/share.h"
#include "gossamer/engine.h"

namespace gossamer::distributed {

/// The range of vertices of each rank, and the indices of this rank's vertices.
class Ranges {
 public:
  /// `indices` are those of the rank's vertices, or null if they are the numbers.
  Ranges(const uint64_t* cuts, const uint32_t* indices, const Ranks& ranks)
      : cuts_(cuts, cuts + ranks.count() + 1), rank_(ranks.rank()), indices_(indices) {}

  uint32_t first() const { return static_cast<uint32_t>(cuts_[rank_]); }
  uint32_t own() const { return static_cast<uint32_t>(cuts_[rank_ + 1] - cuts_[rank_]); }
  uint64_t vertices() const { return cuts_.back(); }
  /// Whether numbers differ from indices.
  bool renumbered() const { return indices_; }
  /// The index of one of this rank's vertices in the whole graph.
  uint32_t indexOf(uint32_t v) const { return indices_ ? indices_[v] : first() + v; }
  uint32_t firstOf(unsigned rank) const { return static_cast<uint32_t>(cuts_[rank]); }
  unsigned ownerOf(uint32_t vertex) const {
    return static_cast<unsigned>(std::upper_bound(cuts_.begin(), cuts_.end(), vertex) - cuts_.begin() - 1);
  }

 private:
  std::vector<uint64_t> cuts_;
  unsigned rank_;
  const uint32_t* indices_;
};

/// A set of vertices of other ranks, numbered in ascending order. Before number(), vertices can only be added.
class VertexSet {
 public:
  explicit VertexSet(uint64_t vertices) : bits_(vertices) {}

  void add(uint32_t vertex) { bits_.set(vertex); }
  /// Adds the ends of all edges to other ranks. Targets are less `first`, modulo 2^32.
  void addEnds(const Rows& rows, uint32_t own, uint32_t first) {
    if (!rows.targets) return;
    for (uint32_t v = 0; v < own; ++v) {
      for (uint64_t i = rows.offsets[v]; i < rows.ends[v]; ++i) {
        if (rows.targets[i] >= own) add(rows.targets[i] + first);
      }
    }
  }
  void addAll(const VertexSet& other) {
    for (size_t w = 0; w < bits_.words(); ++w) bits_.word(w) |= other.bits_.word(w);
  }
  void number() {
    before_ = Array<uint32_t>(bits_.words() + 1);
    uint32_t sum = 0;
    for (size_t w = 0; w < bits_.words(); ++w) {
      before_[w] = sum;
      sum += static_cast<uint32_t>(std::popcount(bits_.word(w)));
    }
    before_[bits_.words()] = count_ = sum;
  }
  uint32_t count() const { return count_; }
  bool has(uint32_t vertex) const { return bits_.test(vertex); }
  uint32_t numberOf(uint32_t vertex) const {
    const uint64_t below = bits_.word(vertex / 64) & ((uint64_t{1} << vertex % 64) - 1);
    return before_[vertex / 64] + static_cast<uint32_t>(std::popcount(below));
  }
  /// Calls f(vertex) in ascending order.
  template <typename F>
  void each(F&& f) const {
    for (size_t w = 0; w < bits_.words(); ++w) {
      for (uint64_t bits = bits_.word(w); bits; bits &= bits - 1) {
        f(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(bits))));
      }
    }
  }

 private:
  Bitmap bits_;
  Array<uint32_t> before_;
  uint32_t count_ = 0;
};

/// For each rank the vertices of it that a set contains.
inline std::vector<Bytes> byOwner(const VertexSet& set, const Ranges& ranges, unsigned ranks) {
  std::vector<Bytes> lists(ranks);
  set.each([&](uint32_t vertex) { append(lists[ranges.ownerOf(vertex)], &vertex, 1); });
  return lists;
}

/// Indices and degrees of vertices of other ranks. Vertices are those of a rank's rows, less its first number. Part of
/// SimpleRows, which orders by them.
class FarVertices final : public gossamer::detail::Elsewhere {
 public:
  FarVertices(const Ranks& ranks, const Ranges& ranges)
      : Elsewhere(ranges.first(), ranges.renumbered()), ranks_(ranks), ranges_(ranges), far_(ranges.vertices()) {}

  /// Finds the indices of all targets of rows, where vertices are renumbered. All ranks call it.
  void learnIndices(const Rows& out, const Rows& in) {
    if (!renumbered) return;
    find(out, in);
    indices_ = ask([&](uint32_t v) { return ranges_.indexOf(v); });
  }
  void learn(const Rows& out, const Rows& in, const uint32_t* degrees) override {
    if (indices_.empty()) find(out, in);  // else all rows are known, and these are parts of them
    degrees_ = ask([&](uint32_t v) { return degrees[v]; });
  }
  uint32_t degreeOf(uint32_t vertex) const override { return degrees_[far_.numberOf(vertex + shift)]; }
  uint32_t indexOf(uint32_t vertex) const override {
    if (!renumbered) return vertex + shift;
    return vertex < ranges_.own() ? ranges_.indexOf(vertex) : indices_[far_.numberOf(vertex + shift)];
  }

 private:
  void find(const Rows& out, const Rows& in) {
    if (out) far_.addEnds(out, ranges_.own(), ranges_.first());
    if (in) far_.addEnds(in, ranges_.own(), ranges_.first());
    far_.number();
  }

  /// What the owners answer about each of the vertices, in the order of their numbers.
  template <typename Answer>
  std::vector<uint32_t> ask(Answer&& answer) const {
    std::vector<Bytes> replies(ranks_.count());
    const std::vector<Bytes> requests = ranks_.exchange(byOwner(far_, ranges_, ranks_.count()));
    for (unsigned r = 0; r < ranks_.count(); ++r) {
      for (const uint32_t vertex : elements<uint32_t>(requests[r])) {
        const uint32_t value = answer(vertex - ranges_.first());
        append(replies[r], &value, 1);
      }
    }
    std::vector<uint32_t> all;
    for (const Bytes& reply : ranks_.exchange(replies)) {
      const auto its = elements<uint32_t>(reply);
      all.insert(all.end(), its.begin(), its.end());
    }
    return all;
  }

  const Ranks& ranks_;
  const Ranges& ranges_;
  VertexSet far_;
  std::vector<uint32_t> degrees_;
  std::vector<uint32_t> indices_;
};

/// The other ranks that need messages of this rank's vertices on one pin.
struct Pairs {
  struct To {
    uint32_t rank;
    uint32_t at;  // position in the rank's list
  };
  std::vector<std::vector<uint32_t>> give;  // by rank: own vertices whose messages it needs, ascending
  std::vector<std::vector<uint32_t>> take;  // by rank: the ghosts that it sends, in the order of its list
  std::vector<uint64_t> offsets;            // for each own vertex where its ranks begin in `to`
  std::vector<To> to;
  uint64_t ghosts = 0;

  /// Builds offsets and to.
  void invert(uint32_t own) {
    offsets.assign(own + size_t{1}, 0);
    for (const auto& list : give) {
      for (const uint32_t v : list) ++offsets[v + 1];
    }
    for (uint32_t v = 0; v < own; ++v) offsets[v + 1] += offsets[v];
    to.resize(offsets[own]);
    std::vector<uint64_t> next(offsets.begin(), offsets.end() - 1);
    for (uint32_t rank = 0; rank < give.size(); ++rank) {
      for (uint32_t at = 0; at < give[rank].size(); ++at) to[next[give[rank][at]]++] = {rank, at};
    }
  }
};

/// The edges of one relation to own vertices, in local numbers.
template <typename E>
struct Incoming {
  unsigned pin = 0;
  Rows in;    // by receiver
  Rows push;  // by sender, own vertices and ghosts; null until built
  gossamer::detail::OwnedRows<E> kept;
};

template <typename E>
class LocalNetwork {
 public:
  /// Renumbers the targets of the network's in-edges in place, and agrees with the other ranks on messages to send.
  LocalNetwork(const Network& net, const Ranks& ranks, const Ranges& ranges) : own_(ranges.own()) {
    for (const Relation& r : net.relations) pins_ = std::max(pins_, r.pin + 1);
    VertexSet all(ranges.vertices());
    std::vector<VertexSet> needed;
    for (unsigned p = 0; p < pins_; ++p) {
      needed.emplace_back(ranges.vertices());
      for (const Relation& r : net.relations) {
        if (r.pin == p) needed[p].addEnds(r.in, own_, ranges.first());
      }
      all.addAll(needed[p]);
    }
    all.number();
    ghosts_ = all.count();
    for (unsigned p = 0; p < pins_; ++p) pairs_.push_back(agree(needed[p], all, ranks, ranges));
    std::set<const uint32_t*> done;  // relations may share rows
    for (const Relation& r : net.relations) {
      relations_.emplace_back();
      relations_.back().pin = r.pin;
      relations_.back().in = r.in;
      edges_ += r.in.edges(own_);
      if (!done.insert(r.in.targets).second) continue;
      auto* const targets = const_cast<uint32_t*>(r.in.targets);
      for (uint64_t i = 0; i < r.in.offsets[own_]; ++i) {
        if (targets[i] >= own_) targets[i] = own_ + all.numberOf(targets[i] + ranges.first());
      }
    }
    findBoundary();
  }

  uint32_t own() const { return own_; }
  uint32_t ghosts() const { return ghosts_; }
  size_t all() const { return size_t{own_} + ghosts_; }
  unsigned pins() const { return pins_; }
  uint64_t edges() const { return edges_; }
  const std::vector<Incoming<E>>& relations() const { return relations_; }
  const Pairs& pairs(unsigned pin) const { return pairs_[pin]; }
  /// Whether an own vertex of this word of 64 has an in-edge from another rank.
  bool atBoundary(size_t word) const { return boundary_[word]; }

  /// Builds the rows by sender, once.
  void requirePush(Pool& pool) {
    for (Incoming<E>& r : relations_) {
      if (!r.push) build(r, pool);
    }
  }

  /// Calls f(value by receiver, value by sender) for the two copies of each edge value of a relation; the rows by
  /// sender must exist, and have values.
  template <typename F>
  void eachValue(Incoming<E>& r, F&& f) {
    std::vector<uint64_t> next(r.kept.offsets.data(), r.kept.offsets.data() + all());
    for (uint64_t i = 0; i < r.in.offsets[own_]; ++i) f(i, r.kept.values[next[r.in.targets[i]]++]);
  }
  std::vector<Incoming<E>>& relations() { return relations_; }

 private:
  /// The lists of vertices whose messages on a pin this rank sends and receives.
  Pairs agree(const VertexSet& needed, const VertexSet& all, const Ranks& ranks, const Ranges& ranges) const {
    Pairs pairs;
    const std::vector<Bytes> wanted = byOwner(needed, ranges, ranks.count());
    const std::vector<Bytes> requests = ranks.exchange(wanted);
    for (unsigned r = 0; r < ranks.count(); ++r) {
      pairs.give.push_back(elements<uint32_t>(requests[r]));
      for (uint32_t& vertex : pairs.give.back()) vertex -= ranges.first();
      pairs.take.push_back(elements<uint32_t>(wanted[r]));
      for (uint32_t& vertex : pairs.take.back()) vertex = own_ + all.numberOf(vertex);
      pairs.ghosts += pairs.take.back().size();
    }
    pairs.invert(own_);
    return pairs;
  }

  void findBoundary() {
    boundary_.assign((size_t{own_} + 63) / 64, 0);
    for (const Incoming<E>& r : relations_) {
      for (uint32_t v = 0; v < own_; ++v) {
        char& flag = boundary_[v / 64];
        for (uint64_t i = r.in.offsets[v]; !flag && i < r.in.ends[v]; ++i) flag = r.in.targets[i] >= own_;
      }
    }
  }

  void build(Incoming<E>& r, Pool& pool) {
    const bool valued = !std::is_empty_v<E> && r.in.values;
    auto& kept = r.kept;
    kept.offsets = Array<uint64_t>(all() + 1);
    const uint64_t count = r.in.offsets[own_];
    for (uint64_t i = 0; i < count; ++i) ++kept.offsets[r.in.targets[i] + size_t{1}];
    kept.open(all(), valued);
    Array<uint64_t> next(all());
    pool.chunks(all(), 4096, [&](size_t begin, size_t end, unsigned) {
      for (size_t v = begin; v < end; ++v) next[v] = kept.offsets[v];
    });
    for (uint32_t v = 0; v < own_; ++v) {
      for (uint64_t i = r.in.offsets[v]; i < r.in.ends[v]; ++i) {
        const uint64_t at = next[r.in.targets[i]]++;
        kept.targets[at] = v;
        if constexpr (!std::is_empty_v<E>) {
          if (valued) kept.values[at] = static_cast<const E*>(r.in.values)[i];
        }
      }
    }
    r.push = kept.rows();
  }

  uint32_t own_;
  uint32_t ghosts_ = 0;
  unsigned pins_ = 1;
  uint64_t edges_ = 0;
  std::vector<Incoming<E>> relations_;
  std::vector<Pairs> pairs_;
  std::vector<char> boundary_;
};

}  // namespace gossamer::distributed
