// SPDX-License-Identifier: Apache-2.0
/// An application's verdict on its own result: it is an answer, or why it is none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "gossamer/abi.h"
#include "gossamer/engine.h"

namespace gossamer {

/// A finished run, as the descriptor's `verdict` receives it.
template <typename S, typename A = None>
struct Outcome {
  const Statistics& statistics;
  const S* states;  // the final states, one per vertex
  uint32_t vertices;
  [[no_unique_address]] A totals{};  // the reduction of the last step's contributions

  const S* begin() const { return states; }
  const S* end() const { return states + vertices; }
};

/// Whether the values are an answer. If not, the command and Python do not output them.
class Verdict {
 public:
  static Verdict answer() { return {}; }
  /// The run ended at a limit before the values had settled; `why` ends the
  /// sentence and says what to do.
  static Verdict notConverged(std::string why) { return {GS_NOT_CONVERGED, std::move(why)}; }
  /// A value did not fit its type.
  static Verdict overflow(std::string why) { return {GS_OVERFLOW, std::move(why)}; }
  /// Names a vertex by its index; messages show its label.
  Verdict at(uint32_t vertex) && {
    vertex_ = vertex;
    return std::move(*this);
  }

  gs_verdict kind() const { return kind_; }
  const std::string& why() const { return why_; }
  uint64_t vertex() const { return vertex_; }

 private:
  Verdict() = default;
  Verdict(gs_verdict kind, std::string why) : kind_(kind), why_(std::move(why)) {}

  gs_verdict kind_ = GS_ANSWER;
  std::string why_;
  uint64_t vertex_ = GS_NO_VERTEX;
};

}  // namespace gossamer
