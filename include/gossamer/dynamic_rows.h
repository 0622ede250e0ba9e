// SPDX-License-Identifier: Apache-2.0
/// Rows of edges that change in place: the cost of a change grows with the rows that it touches, not with the graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/engine.h"

namespace gossamer {

/// Rows with reserved space. A row that outgrows its space moves to the end, where it gets twice the space that it
/// needs. When more than half of the array is unused, all rows are compacted. The amortised cost of adding an edge is
/// constant.
template <typename E>
class DynamicRows {
  static constexpr bool valuedType = !std::is_empty_v<E>;

 public:
  struct Edge {
    uint32_t at;     // the row's vertex
    uint32_t other;  // the vertex at the other end
    [[no_unique_address]] E value;
  };

  DynamicRows(const Rows& from, uint32_t vertices)
      : valued_(valuedType && from.values), begins_(from.offsets, from.offsets + vertices) {
    ends_.assign(from.ends, from.ends + vertices);
    limits_ = ends_;
    targets_.assign(from.targets, from.targets + from.offsets[vertices]);
    if (valued_) values_.assign(valuesOf(from), valuesOf(from) + from.offsets[vertices]);
    edges_ = from.edges(vertices);
    begins_.push_back(targets_.size());
  }

  /// The same edges, by their other ends.
  DynamicRows transposed() const {
    DynamicRows transpose(*this, Empty{});
    for (size_t v = 0; v < size(); ++v) {
      for (uint64_t i = begins_[v]; i < ends_[v]; ++i) ++transpose.begins_[targets_[i] + 1];
    }
    for (size_t v = 0; v < size(); ++v) transpose.begins_[v + 1] += transpose.begins_[v];
    transpose.ends_.assign(transpose.begins_.begin(), transpose.begins_.end() - 1);
    for (size_t v = 0; v < size(); ++v) {
      for (uint64_t i = begins_[v]; i < ends_[v]; ++i) {
        const uint64_t to = transpose.ends_[targets_[i]]++;
        transpose.targets_[to] = static_cast<uint32_t>(v);
        if (valued_) transpose.values_[to] = values_[i];
      }
    }
    transpose.limits_ = transpose.ends_;
    return transpose;
  }

  /// The rows in the engines' form; valid until the next change. The array of targets exists also without an edge.
  Rows rows() const {
    static constexpr uint32_t none = 0;
    static constexpr E noValue{};
    const bool empty = targets_.empty();
    Rows r(begins_.data(), empty ? &none : targets_.data(), !valued_ ? nullptr : empty ? &noValue : values_.data());
    r.ends = ends_.data();
    r.holes = begins_.back() - edges_;
    return r;
  }

  size_t size() const { return ends_.size(); }
  uint64_t edges() const { return edges_; }
  const uint32_t* begin(uint32_t v) const { return targets_.data() + begins_[v]; }
  const uint32_t* end(uint32_t v) const { return targets_.data() + ends_[v]; }
  bool has(uint32_t at, uint32_t other) const { return std::binary_search(begin(at), end(at), other); }

  /// Appends vertices without edges.
  void addVertices(uint32_t count) {
    begins_.resize(begins_.size() + count, begins_.back());
    ends_.resize(ends_.size() + count, begins_.back());
    limits_.resize(ends_.size(), begins_.back());
  }

  /// Adds edges, in ascending order of (at, other); parallel edges are kept.
  void add(const std::vector<Edge>& some) {
    for (size_t first = 0; first < some.size();) {
      const size_t last = endOfRow(some, first);
      merge(some, first, last);
      first = last;
    }
    compact();
  }

  /// Removes all edges between these pairs; in ascending order of (at, other).
  void remove(const std::vector<Edge>& some) {
    for (size_t first = 0; first < some.size();) {
      const size_t last = endOfRow(some, first);
      const uint32_t v = some[first].at;
      uint64_t to = begins_[v];
      for (uint64_t i = begins_[v]; i < ends_[v]; ++i) {
        while (first < last && some[first].other < targets_[i]) ++first;
        if (first < last && some[first].other == targets_[i]) continue;
        targets_[to] = targets_[i];
        if (valued_) values_[to] = values_[i];
        ++to;
      }
      looks_ += ends_[v] - begins_[v];
      edges_ -= ends_[v] - to;
      ends_[v] = to;
      first = last;
    }
    compact();
  }

  /// The number of edges that changes have read or moved since the last call.
  uint64_t takeLooks() { return std::exchange(looks_, 0); }

 private:
  struct Empty {};

  /// Empty rows of the same number, with space for as many edges.
  DynamicRows(const DynamicRows& like, Empty)
      : valued_(like.valued_), begins_(like.begins_.size()), targets_(like.edges_), edges_(like.edges_) {
    if (valued_) values_.resize(like.edges_);
  }

  static const E* valuesOf(const Rows& rows) { return static_cast<const E*>(rows.values); }

  static size_t endOfRow(const std::vector<Edge>& some, size_t first) {
    size_t last = first;
    while (last < some.size() && some[last].at == some[first].at) ++last;
    return last;
  }

  /// Merges edges first .. last of `some` into their row.
  void merge(const std::vector<Edge>& some, size_t first, size_t last) {
    const uint32_t v = some[first].at;
    const uint64_t old = ends_[v] - begins_[v];
    const uint64_t now = old + (last - first);
    if (begins_[v] + now > limits_[v]) move(v, now);
    // Backwards, so that no edge is overwritten before it has moved.
    uint64_t from = begins_[v] + old;
    uint64_t to = begins_[v] + now;
    while (last > first) {
      const bool mine = from > begins_[v] && targets_[from - 1] > some[last - 1].other;
      --to;
      if (mine) --from;
      if (!mine) --last;
      targets_[to] = mine ? targets_[from] : some[last].other;
      if (valued_) values_[to] = mine ? values_[from] : some[last].value;
    }
    looks_ += begins_[v] + now - to;
    ends_[v] = begins_[v] + now;
    edges_ += now - old;
  }

  /// Moves a row to the end, with twice the space for `count` edges.
  void move(uint32_t v, uint64_t count) {
    const uint64_t to = targets_.size();
    targets_.resize(to + 2 * count);
    if (valued_) values_.resize(to + 2 * count);
    std::copy(targets_.begin() + at(begins_[v]), targets_.begin() + at(ends_[v]), targets_.begin() + at(to));
    if (valued_) std::copy(values_.begin() + at(begins_[v]), values_.begin() + at(ends_[v]), values_.begin() + at(to));
    looks_ += ends_[v] - begins_[v];
    ends_[v] = to + (ends_[v] - begins_[v]);
    begins_[v] = to;
    limits_[v] = targets_.size();
    begins_.back() = targets_.size();
  }
  static auto at(uint64_t i) { return static_cast<std::ptrdiff_t>(i); }

  /// Compacts all rows if most of the array is unused.
  void compact() {
    if (targets_.size() <= 2 * edges_ + 2 * size() + 1024) return;
    std::vector<uint32_t> targets;
    std::vector<E> values;
    targets.reserve(edges_);
    if (valued_) values.reserve(edges_);
    for (size_t v = 0; v < size(); ++v) {
      const uint64_t first = targets.size();
      targets.insert(targets.end(), targets_.begin() + at(begins_[v]), targets_.begin() + at(ends_[v]));
      if (valued_) values.insert(values.end(), values_.begin() + at(begins_[v]), values_.begin() + at(ends_[v]));
      begins_[v] = first;
      limits_[v] = ends_[v] = targets.size();
    }
    looks_ += edges_;
    targets_.swap(targets);
    values_.swap(values);
    begins_.back() = targets_.size();
  }

  bool valued_;                   // each edge has its own value
  std::vector<uint64_t> begins_;  // vertices + 1; the last is the size of `targets_`
  std::vector<uint64_t> ends_;
  std::vector<uint64_t> limits_;  // where the row's space ends
  std::vector<uint32_t> targets_;
  std::vector<E> values_;
  uint64_t edges_ = 0;
  uint64_t looks_ = 0;
};

/// The changing edges of one pin, by source and, after needIn(), by target.
template <typename E>
class DynamicEdges {
 public:
  using Edge = typename DynamicRows<E>::Edge;

  DynamicEdges() = default;
  /// `symmetric`: the edges are their own transpose, and remain so.
  DynamicEdges(const Rows& out, const Rows& in, uint32_t vertices, bool symmetric)
      : symmetric_(symmetric), out_(std::make_unique<DynamicRows<E>>(out, vertices)) {
    if (!symmetric && in) in_ = std::make_unique<DynamicRows<E>>(in, vertices);
  }

  Rows out() const { return out_->rows(); }
  /// By target; no rows before needIn().
  Rows in() const { return symmetric_ ? out() : in_ ? in_->rows() : Rows{}; }
  void needIn() {
    if (!symmetric_ && !in_) in_ = std::make_unique<DynamicRows<E>>(out_->transposed());
  }
  bool has(uint32_t from, uint32_t to) const { return out_->has(from, to); }
  uint64_t edges() const { return out_->edges(); }

  void addVertices(uint32_t count) {
    out_->addVertices(count);
    if (in_) in_->addVertices(count);
  }
  void add(std::vector<Edge> some) {
    change(std::move(some), [](DynamicRows<E>& rows, const std::vector<Edge>& edges) { rows.add(edges); });
  }
  void remove(std::vector<Edge> some) {
    change(std::move(some), [](DynamicRows<E>& rows, const std::vector<Edge>& edges) { rows.remove(edges); });
  }

  /// Removes all edges of a vertex; calls f(other) for the other end of each.
  template <typename F>
  void isolate(uint32_t v, F&& f) {
    std::vector<Edge> all = outOf(v);
    if (!symmetric_) {
      const std::vector<Edge> more = into(v);
      all.insert(all.end(), more.begin(), more.end());
    }
    for (const Edge& e : all) f(e.at == v ? e.other : e.at);
    remove(std::move(all));
  }

  /// Calls f(from) for each edge from -> v.
  template <typename F>
  void sourcesOf(uint32_t v, F&& f) {
    for (const Edge& e : into(v)) f(e.at);
  }

  uint64_t takeLooks() { return out_->takeLooks() + (in_ ? in_->takeLooks() : 0); }

 private:
  std::vector<Edge> outOf(uint32_t v) const {
    std::vector<Edge> all;
    for (const uint32_t* t = out_->begin(v); t < out_->end(v); ++t) all.push_back({v, *t, E{}});
    return all;
  }
  std::vector<Edge> into(uint32_t v) {
    needIn();
    const DynamicRows<E>& rows = symmetric_ ? *out_ : *in_;
    std::vector<Edge> all;
    for (const uint32_t* t = rows.begin(v); t < rows.end(v); ++t) all.push_back({*t, v, E{}});
    return all;
  }

  /// Applies the same change to the edges by source and by target.
  template <typename F>
  void change(std::vector<Edge> some, F&& f) {
    std::vector<Edge> reversed;
    if (in_ || symmetric_) {
      for (const Edge& e : some) {
        if (!symmetric_ || e.at != e.other) reversed.push_back({e.other, e.at, e.value});
      }
    }
    const auto sort = [](std::vector<Edge>& edges) {
      std::stable_sort(edges.begin(), edges.end(),
                       [](const Edge& a, const Edge& b) { return a.at != b.at ? a.at < b.at : a.other < b.other; });
    };
    if (symmetric_) some.insert(some.end(), reversed.begin(), reversed.end());
    sort(some);
    f(*out_, some);
    if (!in_) return;
    sort(reversed);
    f(*in_, reversed);
  }

  bool symmetric_ = false;
  std::unique_ptr<DynamicRows<E>> out_;
  std::unique_ptr<DynamicRows<E>> in_;
};

/// The vertices where a continued run starts, and the removed ones.
class VertexChanges {
 public:
  bool isGone(uint32_t v) const { return v / 64 < gone_.size() && (gone_[v / 64] >> (v % 64) & 1); }
  uint32_t removed() const { return removed_; }
  /// One bit per removed vertex, or null: none is removed.
  const uint64_t* gone(uint32_t vertices) {
    if (!removed_) return nullptr;
    gone_.resize((size_t{vertices} + 63) / 64);
    return gone_.data();
  }

  void change(uint32_t v) { changed_.push_back(v); }
  void begin(uint32_t v) { fresh_.push_back(v); }
  void remove(uint32_t v) {
    if (gone_.size() <= v / 64) gone_.resize(size_t{v} / 64 + 1);
    gone_[v / 64] |= uint64_t{1} << (v % 64);
    ++removed_;
  }

  /// The changes since the last call.
  Resumption take() {
    Resumption all;
    all.fresh = sorted(fresh_);
    for (const uint32_t v : sorted(changed_)) {
      if (!std::binary_search(all.fresh.begin(), all.fresh.end(), v)) all.changed.push_back(v);
    }
    fresh_.clear();
    changed_.clear();
    return all;
  }

 private:
  /// Without duplicates and removed vertices.
  std::vector<uint32_t> sorted(std::vector<uint32_t> list) const {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    list.erase(std::remove_if(list.begin(), list.end(), [this](uint32_t v) { return isGone(v); }), list.end());
    return list;
  }

  std::vector<uint64_t> gone_;
  std::vector<uint32_t> fresh_;
  std::vector<uint32_t> changed_;
  uint32_t removed_ = 0;
};

}  // namespace gossamer
