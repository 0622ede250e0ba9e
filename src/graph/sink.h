// SPDX-License-Identifier: Apache-2.0
/// Edges of one thread, in one store per type of weight that occurs.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "graph/store.h"
#include "graph/text.h"

namespace gossamer::graph {

class Sink {
 public:
  explicit Sink(unsigned shift) : shift_(shift) {}

  void add(std::uint32_t source, std::uint32_t target) { store(none_, GS_NONE).add(source, target); }
  void add(std::uint32_t source, std::uint32_t target, const Number& weight) {
    if (!weight.whole)
      store(real_, GS_F64).add(source, target, weight.real);
    else if (weight.integer == static_cast<std::int32_t>(weight.integer))
      store(small_, GS_I32).add(source, target, static_cast<std::int32_t>(weight.integer));
    else
      store(large_, GS_I64).add(source, target, weight.integer);
  }
  void add(std::uint32_t source, std::uint32_t target, const Number* weight) {
    if (weight)
      add(source, target, *weight);
    else
      add(source, target);
  }
  void add_real(std::uint32_t source, std::uint32_t target, double weight) {
    store(real_, GS_F64).add(source, target, weight);
  }
  /// From a stored edge's bytes.
  void add(std::uint32_t source, std::uint32_t target, int type, const std::uint8_t* bytes) {
    if (type == GS_NONE) {
      add(source, target);
    } else if (type == GS_I32) {
      std::int32_t value;
      std::memcpy(&value, bytes, 4);
      store(small_, type).add(source, target, value);
    } else if (type == GS_I64) {
      std::int64_t value;
      std::memcpy(&value, bytes, 8);
      store(large_, type).add(source, target, value);
    } else {
      double value;
      std::memcpy(&value, bytes, 8);
      store(real_, type).add(source, target, value);
    }
  }
  void collect(std::vector<EdgeStore*>& into) {
    for (auto* one : {&none_, &small_, &large_, &real_})
      if (*one) into.push_back(&**one);
  }
  void clear() {
    for (auto* one : {&none_, &small_, &large_, &real_}) one->reset();
  }

 private:
  EdgeStore& store(std::optional<EdgeStore>& one, int type) {
    if (!one) [[unlikely]]
      one.emplace(shift_, type);
    return *one;
  }
  unsigned shift_;
  std::optional<EdgeStore> none_, small_, large_, real_;
};

}  // namespace gossamer::graph
