// SPDX-License-Identifier: Apache-2.0
/// The sources of an application that searches from several vertices: named ones, or a number of evenly spaced ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "gossamer/app/application.h"
#include "gossamer/app/parameters.h"

namespace gossamer {

class Sources {
 public:
  static constexpr uint32_t None = 0xffffffff;
  static constexpr uint32_t Any = 4294967294;  // no limit

  /// `usual` sources if the user names none and no number, 0: all vertices; `most`: the greatest number.
  explicit Sources(uint32_t usual, uint32_t most = Any) : usual_(usual), most_(most), count_(usual) {}

  void parameters(Parameters& p) {
    p.integer("sources", count_, usual_ == 0 ? 0 : 1, most_,
              usual_ == 0 ? "number of sources, spaced evenly over the vertices (0: all vertices)"
                          : "number of sources, spaced evenly over the vertices");
    p.vertices("source", named_, "a source, instead of evenly spaced ones", Parameters::Unnamed::none);
  }

  /// Throws std::invalid_argument if the user names too many sources, or names sources and a number of them. A vertex
  /// that is named repeatedly counts once.
  void begin(const char* app, const GraphInfo& g) {
    vertices_ = g.vertices;
    if (named_.empty()) return;
    const std::string where = std::string(app) + ": ";
    if (count_ != usual_) throw std::invalid_argument(where + "give either sources, a number, or each source by name");
    std::sort(named_.begin(), named_.end());
    named_.erase(std::unique(named_.begin(), named_.end()), named_.end());
    if (named_.size() > most_) {
      throw std::invalid_argument(where + std::to_string(named_.size()) + " sources are named; at most " +
                                  std::to_string(most_) + " run at once");
    }
  }

  bool named() const { return !named_.empty(); }
  uint32_t size() const {
    if (named()) return static_cast<uint32_t>(named_.size());
    return count_ == 0 ? vertices_ : std::min(count_, vertices_);
  }

  /// The number of a vertex among the sources, in the order of their indices, or None. Evenly spaced, source k is
  /// vertex k * vertices / sources, rounded down.
  uint32_t number(uint32_t vertex) const {
    if (named()) {
      const auto at = std::lower_bound(named_.begin(), named_.end(), vertex);
      return at != named_.end() && *at == vertex ? static_cast<uint32_t>(at - named_.begin()) : None;
    }
    const uint64_t n = vertices_;
    const uint64_t count = size();
    const auto k = static_cast<uint32_t>((uint64_t{vertex} * count + n - 1) / n);
    return k < count && uint64_t{k} * n / count == vertex ? k : None;
  }

 private:
  uint32_t usual_;
  uint32_t most_;
  uint32_t count_;
  uint32_t vertices_ = 1;
  std::vector<uint32_t> named_;  // ascending, each once
};

}  // namespace gossamer
