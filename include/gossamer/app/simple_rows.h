// SPDX-License-Identifier: Apache-2.0
/// The simple graph of a graph: each pair of neighbours once, without self-loops; optionally oriented.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gossamer/core/memory.h"
#include "gossamer/core/pool.h"
#include "gossamer/engine.h"

namespace gossamer::detail {

/// Rows of the simple graph, with each pair of neighbours in both rows. Oriented, each pair is only in the
/// row of the vertex with fewer neighbours (of the smaller index if their counts are equal). Oriented rows
/// are short: in a graph of m pairs none has more than sqrt(2 m) entries.
class SimpleRows {
 public:
  /// `in` is empty if `out` has every edge in both directions.
  SimpleRows(uint64_t vertices, const Rows& out, const Rows& in, Pool& pool, bool oriented)
      : n_(vertices), given_(out), back_(in), pool_(pool), degrees_(vertices) {
    bool plain = !in;
    std::vector<char> differs(pool.size());
    pool_.chunks(n_, grain, [&](size_t begin, size_t end, unsigned thread) {
      for (size_t v = begin; v < end; ++v) {
        uint32_t degree = 0;
        neighbours(v, [&](uint32_t) { ++degree; });
        degrees_[v] = degree;
        if (degree != given_.offsets[v + 1] - given_.offsets[v]) differs[thread] = 1;
      }
    });
    for (const char one : differs) plain = plain && !one;
    plain_ = plain;
    if (oriented) {
      orient();
    } else if (plain) {
      result_[0] = result_[1] = given_;
    } else {
      fill();
    }
  }

  Rows out() const { return result_[0]; }
  Rows in() const { return result_[1]; }

 private:
  static constexpr size_t grain = 1024;

  bool before(uint32_t v, uint32_t w) const { return degrees_[v] != degrees_[w] ? degrees_[v] < degrees_[w] : v < w; }

  /// Calls visit(w) for each neighbour of v, ascending, once.
  template <typename F>
  void neighbours(size_t v, F&& visit) const {
    uint64_t a = given_.offsets[v];
    const uint64_t aEnd = given_.offsets[v + 1];
    uint64_t b = back_ ? back_.offsets[v] : 0;
    const uint64_t bEnd = back_ ? back_.offsets[v + 1] : 0;
    uint64_t last = v;  // a self-loop never counts as new
    bool any = false;
    const auto one = [&](uint32_t w) {
      if (w == v || (any && w == last)) return;
      last = w;
      any = true;
      visit(w);
    };
    while (a < aEnd && b < bEnd) {
      one(given_.targets[a] <= back_.targets[b] ? given_.targets[a++] : back_.targets[b++]);
    }
    while (a < aEnd) one(given_.targets[a++]);
    while (b < bEnd) one(back_.targets[b++]);
  }

  /// As neighbours(), faster if the given rows need no filtering.
  template <typename F>
  void each(size_t v, F&& visit) const {
    if (!plain_) return neighbours(v, visit);
    for (uint64_t a = given_.offsets[v]; a < given_.offsets[v + 1]; ++a) visit(given_.targets[a]);
  }

  /// Allocates the rows of one side; on entry offsets[v + 1] is the length of row v.
  uint32_t* open(int side) {
    Array<uint64_t>& offsets = offsets_[side];
    for (size_t v = 0; v < n_; ++v) offsets[v + 1] += offsets[v];
    targets_[side] = Array<uint32_t>(offsets[n_] + 1);
    result_[side] = {offsets.data(), targets_[side].data(), nullptr};
    return targets_[side].data();
  }

  void fill() {
    offsets_[0] = Array<uint64_t>(n_ + 1);
    for (size_t v = 0; v < n_; ++v) offsets_[0][v + 1] = degrees_[v];
    uint32_t* const targets = open(0);
    pool_.chunks(n_, grain, [&](size_t begin, size_t end, unsigned) {
      for (size_t v = begin; v < end; ++v) {
        uint64_t at = offsets_[0][v];
        each(v, [&](uint32_t w) { targets[at++] = w; });
      }
    });
    result_[1] = result_[0];
  }

  void orient() {
    for (Array<uint64_t>& offsets : offsets_) offsets = Array<uint64_t>(n_ + 1);
    pool_.chunks(n_, grain, [&](size_t begin, size_t end, unsigned) {
      for (size_t v = begin; v < end; ++v) {
        uint64_t count = 0;
        each(v, [&](uint32_t w) { count += before(static_cast<uint32_t>(v), w) ? 1 : 0; });
        offsets_[0][v + 1] = count;
        offsets_[1][v + 1] = degrees_[v] - count;
      }
    });
    uint32_t* const targets[] = {open(0), open(1)};
    pool_.chunks(n_, grain, [&](size_t begin, size_t end, unsigned) {
      for (size_t v = begin; v < end; ++v) {
        uint32_t* out = targets[0] + offsets_[0][v];
        uint32_t* in = targets[1] + offsets_[1][v];
        each(v, [&](uint32_t w) { (before(static_cast<uint32_t>(v), w) ? *out++ : *in++) = w; });
      }
    });
  }

  uint64_t n_;
  Rows given_;
  Rows back_;
  Pool& pool_;
  bool plain_ = false;  // the given rows are already those of a simple graph
  Array<uint32_t> degrees_;
  Array<uint64_t> offsets_[2];
  Array<uint32_t> targets_[2];
  Rows result_[2];
};

}  // namespace gossamer::detail
