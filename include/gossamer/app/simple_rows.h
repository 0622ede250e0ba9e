// SPDX-License-Identifier: Apache-2.0
/// Rows derived from those of a graph: without self-loops or parallel edges, and the simple graph, optionally oriented.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossamer/core/memory.h"
#include "gossamer/core/pool.h"
#include "gossamer/engine.h"

namespace gossamer::detail {

template <typename E>
inline constexpr bool countsDirections = std::is_same_v<E, Directions>;

/// Rows that own their arrays.
template <typename E>
struct OwnedRows {
  Array<uint64_t> offsets;
  Array<uint32_t> targets;
  Array<E> values;  // empty: every edge has the value `unit`

  bool empty() const { return offsets.empty(); }
  Rows rows() const { return {offsets.data(), targets.data(), values.empty() ? nullptr : values.data()}; }

  /// Allocates the targets; on entry offsets[v + 1] is the length of row v.
  void open(uint64_t vertices, bool valued) {
    for (uint64_t v = 0; v < vertices; ++v) offsets[v + 1] += offsets[v];
    targets = Array<uint32_t>(offsets[vertices] + 1);
    if (valued) values = Array<E>(offsets[vertices] + 1);
  }
};

/// Which edges copied() leaves out.
enum class Without {
  loops,              // self-loops
  loopsAndParallels,  // self-loops, and of parallel edges all but one of least value
};

/// `from` without some edges: `from` itself if it has none of them, else a copy in `kept`. A second call with the same
/// `kept` returns the first copy.
template <typename E>
Rows copied(const Rows& from, uint64_t vertices, Without what, Pool& pool, OwnedRows<E>& kept) {
  constexpr size_t grain = 1024;
  if (!from || !kept.empty()) return kept.empty() ? from : kept.rows();
  const E* const values = static_cast<const E*>(from.values);
  // Calls visit(first, last) for each run of edges that become one.
  const auto runs = [&](size_t v, auto&& visit) {
    const uint64_t end = from.ends[v];
    for (uint64_t i = from.offsets[v]; i < end;) {
      uint64_t last = i + 1;
      while (what == Without::loopsAndParallels && last < end && from.targets[last] == from.targets[i]) ++last;
      if (from.targets[i] != v) visit(i, last);
      i = last;
    }
  };
  Array<uint64_t> offsets(vertices + 1);
  std::vector<char> differs(pool.size());
  pool.chunks(vertices, grain, [&](size_t begin, size_t end, unsigned thread) {
    for (size_t v = begin; v < end; ++v) {
      uint64_t count = 0;
      runs(v, [&](uint64_t, uint64_t) { ++count; });
      offsets[v + 1] = count;
      if (count != from.length(v)) differs[thread] = 1;
    }
  });
  bool any = false;
  for (const char one : differs) any = any || one;
  if (!any) return from;
  kept.offsets = std::move(offsets);
  kept.open(vertices, !std::is_empty_v<E> && values);
  pool.chunks(vertices, grain, [&](size_t begin, size_t end, unsigned) {
    for (size_t v = begin; v < end; ++v) {
      uint64_t at = kept.offsets[v];
      runs(v, [&](uint64_t i, uint64_t last) {
        kept.targets[at] = from.targets[i];
        if constexpr (!std::is_empty_v<E>) {
          if (values) {
            uint64_t least = i;
            if constexpr (std::is_arithmetic_v<E>) {
              for (uint64_t k = i + 1; k < last; ++k) least = values[k] < values[least] ? k : least;
            }
            kept.values[at] = values[least];
          }
        }
        ++at;
      });
    }
  });
  return kept.rows();
}

/// The vertices of a network whose rows are stored elsewhere. Their numbers are not below that of the vertices here.
class Elsewhere {
 public:
  explicit Elsewhere(uint32_t first, bool other = false) : shift(first), renumbered(other) {}
  virtual ~Elsewhere() = default;
  /// Finds the degrees of all targets of rows, from those of the vertices here.
  virtual void learn(const Rows& out, const Rows& in, const uint32_t* degrees) = 0;
  virtual uint32_t degreeOf(uint32_t vertex) const = 0;
  /// The index in the whole graph, by which rows ascend, of any vertex.
  virtual uint32_t indexOf(uint32_t vertex) const = 0;
  /// If not `renumbered`, a vertex's number plus this, modulo 2^32, is its index.
  const uint32_t shift;
  const bool renumbered;
};

/// Rows of the simple graph, with each pair of neighbours in both rows. Oriented, each pair is only in the
/// row of the vertex with fewer neighbours (of the smaller index if their counts are equal). Oriented rows
/// are short: in a graph of m pairs none has more than sqrt(2 m) entries.
///
/// The value of a pair is the least of its edges in both directions, or its number of directions.
template <typename E>
class SimpleRows {
  static constexpr bool counted = countsDirections<E>;
  static constexpr bool least = std::is_arithmetic_v<E>;

 public:
  /// `in` is empty if `out` has every edge in both directions; `far` is null if all vertices are here.
  SimpleRows(uint64_t vertices, const Rows& out, const Rows& in, Pool& pool, bool oriented, Elsewhere* far = nullptr)
      : n_(vertices), given_(out), back_(in), pool_(pool), far_(far), shift_(far ? far->shift : 0), degrees_(vertices) {
    bool plain = !in;
    std::vector<char> differs(pool.size());
    pool_.chunks(n_, grain, [&](size_t begin, size_t end, unsigned thread) {
      for (size_t v = begin; v < end; ++v) {
        uint32_t degree = 0;
        neighbours(v, [&](uint32_t, const E&) { ++degree; });
        degrees_[v] = degree;
        if (degree != given_.offsets[v + 1] - given_.offsets[v]) differs[thread] = 1;
      }
    });
    for (const char one : differs) plain = plain && !one;
    plain_ = plain && !counted;
    if (oriented) {
      if (far_) far_->learn(given_, back_, degrees_.data());
      orient();
    } else if (plain_) {
      result_[0] = result_[1] = given_;
    } else {
      fill();
    }
  }

  Rows out() const { return result_[0]; }
  Rows in() const { return result_[1]; }

 private:
  static constexpr size_t grain = 1024;

  uint32_t indexOf(uint32_t v) const { return far_ && far_->renumbered ? far_->indexOf(v) : v + shift_; }
  /// Whether the edge between v, a vertex here, and w leads to w.
  bool before(uint32_t v, uint32_t w) const {
    const uint32_t degree = w < n_ ? degrees_[w] : far_->degreeOf(w);
    return degrees_[v] != degree ? degrees_[v] < degree : indexOf(v) < indexOf(w);
  }
  bool valued() const { return counted || (least && given_.values); }

  static E valueOf(const Rows& rows, uint64_t i) {
    if constexpr (least) {
      if (rows.values) return static_cast<const E*>(rows.values)[i];
    }
    return E{};
  }

  /// Calls visit(w, value) for each neighbour w of v, ascending, once.
  template <typename F>
  void neighbours(size_t v, F&& visit) const {
    uint64_t a = given_.offsets[v];
    const uint64_t aEnd = given_.offsets[v + 1];
    uint64_t b = back_ ? back_.offsets[v] : 0;
    const uint64_t bEnd = back_ ? back_.offsets[v + 1] : 0;
    while (a < aEnd || b < bEnd) {
      const uint32_t w = b == bEnd || (a < aEnd && indexOf(given_.targets[a]) <= indexOf(back_.targets[b]))
                             ? given_.targets[a]
                             : back_.targets[b];
      E value{};
      uint32_t directions = 0;
      const auto take = [&](const Rows& rows, uint64_t& i, uint64_t end, bool first) {
        if (i == end || rows.targets[i] != w) return;
        ++directions;
        for (; i < end && rows.targets[i] == w; ++i, first = false) {
          if constexpr (least) {
            const E one = valueOf(rows, i);
            value = first || one < value ? one : value;
          }
        }
      };
      take(given_, a, aEnd, true);
      take(back_, b, bEnd, directions == 0);
      if (w == v) continue;
      if constexpr (counted) value.count = back_ ? directions : 2;
      visit(w, value);
    }
  }

  /// As neighbours(), faster if the given rows need no filtering.
  template <typename F>
  void each(size_t v, F&& visit) const {
    if (!plain_) return neighbours(v, visit);
    for (uint64_t a = given_.offsets[v]; a < given_.offsets[v + 1]; ++a) visit(given_.targets[a], valueOf(given_, a));
  }

  void open(int side) {
    kept_[side].open(n_, valued());
    result_[side] = kept_[side].rows();
  }

  void put(int side, uint64_t at, uint32_t w, const E& value) {
    kept_[side].targets[at] = w;
    if constexpr (!std::is_empty_v<E>) {
      if (valued()) kept_[side].values[at] = value;
    }
  }

  void fill() {
    kept_[0].offsets = Array<uint64_t>(n_ + 1);
    for (size_t v = 0; v < n_; ++v) kept_[0].offsets[v + 1] = degrees_[v];
    open(0);
    pool_.chunks(n_, grain, [&](size_t begin, size_t end, unsigned) {
      for (size_t v = begin; v < end; ++v) {
        uint64_t at = kept_[0].offsets[v];
        each(v, [&](uint32_t w, const E& value) { put(0, at++, w, value); });
      }
    });
    result_[1] = result_[0];
  }

  void orient() {
    for (OwnedRows<E>& kept : kept_) kept.offsets = Array<uint64_t>(n_ + 1);
    pool_.chunks(n_, grain, [&](size_t begin, size_t end, unsigned) {
      for (size_t v = begin; v < end; ++v) {
        uint64_t count = 0;
        each(v, [&](uint32_t w, const E&) { count += before(static_cast<uint32_t>(v), w) ? 1 : 0; });
        kept_[0].offsets[v + 1] = count;
        kept_[1].offsets[v + 1] = degrees_[v] - count;
      }
    });
    open(0);
    open(1);
    pool_.chunks(n_, grain, [&](size_t begin, size_t end, unsigned) {
      for (size_t v = begin; v < end; ++v) {
        uint64_t at[] = {kept_[0].offsets[v], kept_[1].offsets[v]};
        each(v, [&](uint32_t w, const E& value) {
          const int side = before(static_cast<uint32_t>(v), w) ? 0 : 1;
          put(side, at[side]++, w, value);
        });
      }
    });
  }

  uint64_t n_;
  Rows given_;
  Rows back_;
  Pool& pool_;
  Elsewhere* far_;
  uint32_t shift_;
  bool plain_ = false;  // the given rows are already those of a simple graph
  Array<uint32_t> degrees_;
  OwnedRows<E> kept_[2];
  Rows result_[2];
};

}  // namespace gossamer::detail
