// SPDX-License-Identifier: Apache-2.0
/// The model of a board whose tiles run nothing: of its uncore alone. To it, tiles that are idle and tiles that are
/// absent are the same: no flit, no memory request, no byte on a debug bus.
#pragma once

#include "instance.h"

namespace gossamer::sim {

template <typename RestModel>
class UncoreModels {
 public:
  static constexpr unsigned kTiles = 0;
  using TileModel = void;

  UncoreModels(int argc, char** argv, unsigned) : rest_(argc, argv, "rest") {}
  ~UncoreModels() { rest_.model.final(); }
  UncoreModels(const UncoreModels&) = delete;
  UncoreModels& operator=(const UncoreModels&) = delete;

  RestModel& rest() { return rest_.model; }
  VerilatedContext& rest_context() { return rest_.context; }
  /// Evaluates the model once separately, which the joint evaluation requires.
  void settle() { rest_.model.eval(); }

  void low_rest(unsigned, bool reset) {
    rest_.model.clk_i = 0;
    rest_.model.rst_ni = !reset;
  }
  void high_rest(unsigned) {}

 private:
  Instance<RestModel> rest_;
};

}  // namespace gossamer::sim
