// SPDX-License-Identifier: Apache-2.0
/// Graph generators. Every random draw is a function of the seed and of its purpose
/// and item (vertex, edge), never of a stream that threads share: so the graph is
/// the same for any number of threads.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "gossamer/core/error.h"
#include "gossamer/graph/graph.h"
#include "graph/hash.h"
#include "graph/parallel.h"
#include "graph/stop.h"
#include "graph/store.h"

namespace gossamer::graph {
namespace {

/// A separate stream of random words for each (seed, purpose, number).
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t purpose, std::uint64_t number)
      : state_(mix(mix(seed ^ (purpose * 0xd1342543de82ef95u)) ^ number)) {}
  std::uint64_t word() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }
  /// Uniform in [0, bound), without bias (Lemire's multiplication).
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = (word() >> 32) * bound;
    auto low = static_cast<std::uint32_t>(product);
    if (low < bound) {
      const std::uint32_t threshold = (0u - bound) % bound;
      while (low < threshold) {
        product = (word() >> 32) * bound;
        low = static_cast<std::uint32_t>(product);
      }
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  std::uint64_t state_;
};

enum Purpose : std::uint64_t { kPosition = 1, kNeighbours = 2, kEdge = 3, kWeight = 4, kPermute = 5 };

/// A bijection on [0, count): a four-round Feistel network over the next even
/// number of bits, iterated until the result is in range.
class Permutation {
 public:
  Permutation(std::uint64_t count, std::uint64_t seed) : count_(count) {
    while ((std::uint64_t{1} << (2 * half_)) < count) ++half_;
    for (unsigned i = 0; i < 4; ++i) key_[i] = Draw(seed, kPermute, i).word();
  }
  std::uint64_t operator()(std::uint64_t number) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
    do {
      std::uint64_t left = number >> half_, right = number & mask;
      for (const std::uint64_t key : key_) {
        const std::uint64_t next = left ^ (mix(right ^ key) & mask);
        left = right;
        right = next;
      }
      number = left << half_ | right;
    } while (number >= count_);
    return number;
  }

 private:
  std::uint64_t count_;
  unsigned half_ = 1;
  std::uint64_t key_[4] = {};
};

struct Generated {
  std::vector<std::uint32_t> targets;
};

struct Position {
  double x, y;
};

/// The vertices' positions, sorted into square cells in bands of rows, so that the
/// candidates around a position are a few runs of consecutive vertices.
class Layout {
 public:
  Layout(std::uint64_t count, double radius, std::uint64_t seed) {
    // Cells hold at least one vertex on average, and are at least as wide as the radius.
    const double most = std::max(1.0, std::floor(std::sqrt(static_cast<double>(count))));
    side_ = static_cast<std::uint32_t>(std::clamp(std::floor(1.0 / radius), 1.0, most));
    std::vector<Position> drawn(count);
    std::vector<std::uint32_t> cell(count);
    start_.assign(std::uint64_t{side_} * side_ + 1, 0);
    const Stop stop;
    for (std::uint64_t v = 0; v < count; ++v) {
      stop.look(v);
      Draw draw(seed, kPosition, v);
      drawn[v].x = draw.unit();
      drawn[v].y = draw.unit();
      cell[v] = row(drawn[v].y) * side_ + row(drawn[v].x);
      ++start_[cell[v] + 1];
    }
    for (std::size_t c = 1; c < start_.size(); ++c) start_[c] += start_[c - 1];
    std::vector<std::uint32_t> next(start_.begin(), start_.end() - 1);
    positions.resize(count);
    for (std::uint64_t v = 0; v < count; ++v) {
      stop.look(v);
      positions[next[cell[v]]++] = drawn[v];
    }
  }

  /// Runs [begin, end) of vertices that include all vertices within `radius` of a position.
  void runs(const Position& at, double radius, std::vector<std::pair<std::uint32_t, std::uint32_t>>& into) const {
    into.clear();
    const std::uint32_t left = row(at.x - radius), right = row(at.x + radius);
    for (std::uint32_t band = row(at.y - radius), last = row(at.y + radius); band <= last; ++band) {
      const std::uint32_t begin = start_[std::size_t{band} * side_ + left];
      const std::uint32_t end = start_[std::size_t{band} * side_ + right + 1];
      if (begin != end) into.emplace_back(begin, end);
    }
  }

  std::vector<Position> positions;  // of each vertex, in index order

 private:
  std::uint32_t row(double at) const {
    return static_cast<std::uint32_t>(std::clamp(at * side_, 0.0, static_cast<double>(side_) - 1));
  }
  std::uint32_t side_ = 1;
  std::vector<std::uint32_t> start_;
};

/// A free slot in a table of vertices.
constexpr std::uint32_t kFree = 0xffffffffu;

/// Draws the neighbours of one vertex.
class Neighbours {
 public:
  Neighbours(const Layout& layout, double radius, std::uint32_t fanout, std::uint64_t seed)
      : layout_(layout), radius_(radius), fanout_(fanout), seed_(seed) {
    std::size_t slots = 16;
    while (slots < std::size_t{fanout} * 2) slots *= 2;
    table_.assign(slots, kFree);
  }

  const std::vector<std::uint32_t>& operator()(std::uint32_t vertex) {
    chosen_.clear();
    layout_.runs(layout_.positions[vertex], radius_, runs_);
    std::uint64_t all = 0;
    for (const auto& [begin, end] : runs_) all += end - begin;
    Draw draw(seed_, kNeighbours, vertex);
    if (all > 3 * std::uint64_t{fanout_} && by_rejection(vertex, static_cast<std::uint32_t>(all), draw)) return chosen_;
    // Few candidates: list them, and draw without replacement.
    chosen_.clear();
    for (const auto& [begin, end] : runs_)
      for (std::uint32_t other = begin; other != end; ++other)
        if (near(vertex, other)) chosen_.push_back(other);
    const auto count = static_cast<std::uint32_t>(chosen_.size());
    if (count <= fanout_) return chosen_;
    for (std::uint32_t i = 0; i < fanout_; ++i) std::swap(chosen_[i], chosen_[i + draw.below(count - i)]);
    chosen_.resize(fanout_);
    return chosen_;
  }

 private:
  bool near(std::uint32_t a, std::uint32_t b) const {
    const double x = layout_.positions[a].x - layout_.positions[b].x;
    const double y = layout_.positions[a].y - layout_.positions[b].y;
    return a != b && x * x + y * y <= radius_ * radius_;
  }

  /// Uniform among the candidates: draws until enough distinct ones are near. Gives up
  /// if there seem to be too few.
  bool by_rejection(std::uint32_t vertex, std::uint32_t all, Draw& draw) {
    std::fill(table_.begin(), table_.end(), kFree);
    for (std::uint64_t tries = 16 * std::uint64_t{fanout_} + 64; tries && chosen_.size() < fanout_; --tries) {
      std::uint32_t number = draw.below(all);
      std::uint32_t other = 0;
      for (const auto& [begin, end] : runs_) {
        if (number < end - begin) {
          other = begin + number;
          break;
        }
        number -= end - begin;
      }
      if (!near(vertex, other)) continue;
      std::size_t slot = mix(other) & (table_.size() - 1);
      while (table_[slot] != kFree && table_[slot] != other) slot = (slot + 1) & (table_.size() - 1);
      if (table_[slot] == other) continue;
      table_[slot] = other;
      chosen_.push_back(other);
    }
    return chosen_.size() == fanout_;
  }

  const Layout& layout_;
  const double radius_;
  const std::uint32_t fanout_;
  const std::uint64_t seed_;
  std::vector<std::uint32_t> chosen_;
  std::vector<std::uint32_t> table_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs_;
};

/// A geometric graph, of which any rows can be drawn.
struct Geometric {
  Geometric(std::uint64_t vertices, std::uint32_t fanout_, double radius_, int shuffle, std::uint64_t seed_,
            int threads_)
      : fanout(fanout_), radius(radius_), seed(seed_), threads(threads_), layout(vertices, radius_, seed_) {
    if (!shuffle) return;
    shuffled.emplace(vertices, seed);
    position_of.resize(vertices);
    for (std::uint64_t p = 0; p < vertices; ++p) position_of[(*shuffled)(p)] = static_cast<std::uint32_t>(p);
  }

  /// Appends the targets of the rows first + begin .. first + end - 1, and sets offsets[row + 1] to their lengths.
  void rows(std::uint64_t first, std::uint64_t begin, std::uint64_t end, std::uint64_t* offsets,
            std::vector<std::uint32_t>& targets) const {
    Neighbours neighbours(layout, radius, fanout, seed);
    for (std::uint64_t row = begin; row < end; ++row) {
      const std::uint64_t v = first + row;
      const std::size_t before = targets.size();
      for (const std::uint32_t other : neighbours(shuffled ? position_of[v] : static_cast<std::uint32_t>(v)))
        targets.push_back(shuffled ? static_cast<std::uint32_t>((*shuffled)(other)) : other);
      std::sort(targets.begin() + static_cast<std::ptrdiff_t>(before), targets.end());
      offsets[row + 1] = targets.size() - before;
    }
  }

  std::uint32_t fanout;
  double radius;
  std::uint64_t seed;
  int threads;
  Layout layout;
  std::optional<Permutation> shuffled;
  std::vector<std::uint32_t> position_of;
};

/// Draws the ends of an edge of a recursive matrix.
class Rmat {
 public:
  Rmat(std::uint32_t scale, double a, double b, double c, int permute, std::uint64_t seed)
      : scale_(scale),
        permute_(permute),
        seed_(seed),
        // Quadrants in 32-bit fixed point; two levels from each random word.
        to_a_(static_cast<std::uint64_t>(a * 0x1p32)),
        to_b_(static_cast<std::uint64_t>((a + b) * 0x1p32)),
        to_c_(static_cast<std::uint64_t>((a + b + c) * 0x1p32)),
        permutation_(std::uint64_t{1} << scale, seed) {}

  std::pair<std::uint32_t, std::uint32_t> operator()(std::uint64_t edge) const {
    Draw draw(seed_, kEdge, edge);
    std::uint64_t source = 0, target = 0, word = 0;
    for (unsigned level = 0; level < scale_; ++level) {
      word = level % 2 ? word >> 32 : draw.word();
      const std::uint64_t part = word & 0xffffffffu;
      source = source << 1 | (part >= to_b_);
      target = target << 1 | ((part >= to_a_ && part < to_b_) || part >= to_c_);
    }
    if (permute_) {
      source = permutation_(source);
      target = permutation_(target);
    }
    return {static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target)};
  }

 private:
  std::uint32_t scale_;
  bool permute_;
  std::uint64_t seed_, to_a_, to_b_, to_c_;
  Permutation permutation_;
};

/// The random weight of an edge.
class WeightOf {
 public:
  WeightOf(int symmetric, std::int32_t low, std::int32_t high, std::uint64_t seed)
      : symmetric_(symmetric),
        low_(low),
        span_(static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low + 1)),
        seed_(seed) {}

  std::int32_t operator()(std::uint64_t from, std::uint64_t to) const {
    if (symmetric_ && from > to) std::swap(from, to);
    const std::uint64_t word = Draw(seed_, kWeight, from << 32 | to).word();
    // The high half of a 128-bit product: uniform to one part in 2^32.
    return static_cast<std::int32_t>(low_ + static_cast<std::int64_t>((word >> 32) * span_ >> 32));
  }

 private:
  bool symmetric_;
  std::int32_t low_;
  std::uint64_t span_, seed_;
};

/// Runs the body of a generator.
template <class Body>
int guarded(Body&& body) {
  return run_stoppable("generating the graph", "use a smaller one", body);
}

}  // namespace
}  // namespace gossamer::graph

using gossamer::fail;
using namespace gossamer::graph;

extern "C" {

int gs_graph_geometric(uint64_t vertices, uint32_t fanout, double radius, int shuffle, uint64_t seed, int threads,
                       uint64_t* offsets, void** state) {
  void* layout = nullptr;
  const int code = gs_graph_geometric_layout(vertices, fanout, radius, shuffle, seed, threads, &layout);
  if (code) return code;
  const std::unique_ptr<Geometric> owner(static_cast<Geometric*>(layout));
  return gs_graph_geometric_rows(layout, 0, vertices, offsets, state);
}

int gs_graph_geometric_layout(uint64_t vertices, uint32_t fanout, double radius, int shuffle, uint64_t seed,
                              int threads, void** layout) {
  return guarded([&] {
    *layout = new Geometric(vertices, fanout, radius, shuffle, seed, threads);
    return 0;
  });
}

int gs_graph_geometric_rows(const void* layout, uint64_t first, uint64_t count, uint64_t* offsets, void** state) {
  return guarded([&] {
    const auto& geometric = *static_cast<const Geometric*>(layout);
    constexpr std::uint64_t kPiece = 2048;
    std::vector<std::vector<std::uint32_t>> pieces((count + kPiece - 1) / kPiece);
    in_pieces(thread_count(geometric.threads), count, kPiece, [&](std::uint64_t begin, std::uint64_t end) {
      geometric.rows(first, begin, end, offsets, pieces[begin / kPiece]);
    });
    offsets[0] = 0;
    for (std::uint64_t v = 0; v < count; ++v) offsets[v + 1] += offsets[v];
    auto result = std::make_unique<Generated>();
    result->targets.reserve(offsets[count]);
    for (auto& piece : pieces) {
      result->targets.insert(result->targets.end(), piece.begin(), piece.end());
      std::vector<std::uint32_t>().swap(piece);
    }
    *state = result.release();
    return 0;
  });
}

int gs_graph_geometric_free(void* layout) {
  delete static_cast<Geometric*>(layout);
  return 0;
}

int gs_graph_rmat(uint32_t scale, uint64_t edges, double a, double b, double c, int permute, uint64_t seed, int threads,
                  uint64_t* offsets, void** state) {
  return guarded([&] {
    const std::uint64_t vertices = std::uint64_t{1} << scale;
    const Rmat draw(scale, a, b, c, permute, seed);
    const unsigned count = thread_count(threads);
    const unsigned shift = scale > 8 ? std::min(12u, scale - 8) : 0;
    std::vector<EdgeStore> parts;
    for (unsigned t = 0; t < count; ++t) parts.emplace_back(shift, GS_NONE);
    const Stop stop;
    on_threads(count, [&](unsigned t) {
      for (std::uint64_t e = edges / count * t, end = t + 1 == count ? edges : edges / count * (t + 1); e < end; ++e) {
        stop.look(e);
        const auto [source, target] = draw(e);
        parts[t].add(source, target);
      }
    });
    auto result = std::make_unique<Generated>();
    result->targets.resize(edges);
    std::vector<EdgeStore*> stores;
    for (auto& part : parts) stores.push_back(&part);
    build_rows(stores, Numbering(vertices, 0), count, offsets, result->targets.data(), nullptr, GS_NONE);
    *state = result.release();
    return 0;
  });
}

int gs_graph_rmat_edges(uint32_t scale, double a, double b, double c, int permute, uint64_t seed, uint64_t first,
                        uint64_t count, uint32_t* sources, uint32_t* targets) {
  return guarded([&] {
    const Rmat draw(scale, a, b, c, permute, seed);
    const Stop stop;
    for (std::uint64_t e = 0; e < count; ++e) {
      stop.look(e);
      std::tie(sources[e], targets[e]) = draw(first + e);
    }
    return 0;
  });
}

int gs_graph_generated(void* state, uint32_t* targets) {
  const std::unique_ptr<Generated> generated(static_cast<Generated*>(state));
  if (generated && targets) std::copy(generated->targets.begin(), generated->targets.end(), targets);
  return 0;
}

int gs_graph_grid(uint64_t width, uint64_t height, uint64_t* offsets, uint32_t* targets) {
  return gs_graph_grid_rows(width, height, 0, width * height, offsets, targets);
}

int gs_graph_grid_rows(uint64_t width, uint64_t height, uint64_t first, uint64_t count, uint64_t* offsets,
                       uint32_t* targets) {
  return guarded([&] {
    const Stop stop;
    uint64_t edge = 0;
    for (uint64_t row = 0; row < count; ++row) {
      const uint64_t v = first + row;
      const uint64_t y = v / width, x = v % width;
      stop.look(row);
      offsets[row] = edge;
      if (y > 0) targets[edge++] = static_cast<uint32_t>(v - width);
      if (x > 0) targets[edge++] = static_cast<uint32_t>(v - 1);
      if (x + 1 < width) targets[edge++] = static_cast<uint32_t>(v + 1);
      if (y + 1 < height) targets[edge++] = static_cast<uint32_t>(v + width);
    }
    offsets[count] = edge;
    return 0;
  });
}

int gs_graph_random_weights(uint64_t vertices, const uint64_t* offsets, const uint32_t* targets, int symmetric,
                            int32_t low, int32_t high, uint64_t seed, int threads, int32_t* weights) {
  return guarded([&] {
    const WeightOf weight(symmetric, low, high, seed);
    in_pieces(thread_count(threads), vertices, 4096, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t v = begin; v < end; ++v)
        for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) weights[e] = weight(v, targets[e]);
    });
    return 0;
  });
}

int gs_graph_edge_weights(uint64_t first, uint64_t count, const uint64_t* offsets, const uint32_t* ends, int by_target,
                          int symmetric, int32_t low, int32_t high, uint64_t seed, int32_t* weights) {
  return guarded([&] {
    const WeightOf weight(symmetric, low, high, seed);
    const Stop stop;
    for (std::uint64_t row = 0; row < count; ++row) {
      stop.look(row);
      const std::uint64_t v = first + row;
      for (std::uint64_t e = offsets[row]; e < offsets[row + 1]; ++e)
        weights[e] = by_target ? weight(ends[e], v) : weight(v, ends[e]);
    }
    return 0;
  });
}

}  // extern "C"
