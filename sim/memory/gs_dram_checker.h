// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "gs_dram_config.h"

namespace gossamer::sim {

/// Checks the commands of a DRAM and reports every rule that they violate. It is independent of the controller.
class DramChecker {
 public:
  explicit DramChecker(const DramConfig& config) : c_(config), bank_(config.banks) {}

  /// Checks the command at this clock; clocks never decrease.
  void observe(std::uint64_t clock, const DramCommand& command);

  /// The first hundred violations, each with its clock.
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t count() const { return count_; }
  /// Commands seen, by kind.
  std::uint64_t seen(DramCommand::Kind kind) const { return seen_[kind]; }

 private:
  static constexpr std::uint64_t kNever = ~0ull;
  struct Bank {
    bool open = false;
    std::uint64_t activated = kNever, precharged = kNever, read = kNever, writeEnd = kNever;
  };

  void need(std::uint64_t clock, std::uint64_t since, std::uint64_t gap, const char* rule);
  void violate(std::uint64_t clock, const std::string& what);
  void activate(std::uint64_t clock, const DramCommand& command);
  void access(std::uint64_t clock, const DramCommand& command);
  void precharge(std::uint64_t clock, Bank& bank);
  void refresh(std::uint64_t clock);

  DramConfig c_;
  std::vector<Bank> bank_;
  std::deque<std::uint64_t> activates_;  // the last four
  std::uint64_t last_ = kNever, refreshed_ = kNever;
  std::uint64_t access_ = kNever, writeDataEnd_ = kNever;
  std::uint64_t busEnd_ = 0;
  bool busUsed_ = false, busWrote_ = false;
  std::uint64_t seen_[6] = {};
  std::vector<std::string> violations_;
  std::uint64_t count_ = 0;
};

}  // namespace gossamer::sim
