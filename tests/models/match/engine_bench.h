// SPDX-License-Identifier: Apache-2.0
/// Harness of a match engine: sends requests and compares each completion with the reference model. Layouts are written
/// independently of the generated headers, from config/constants/match.toml.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <unordered_map>

#include "Vgs_match.h"
#include "check.h"
#include "models/match/reference.h"
#include "verilated.h"

namespace match_test {

using gossamer::match::Command;
using gossamer::match::Completion;
using gossamer::match::Op;
using gossamer::match::Reference;
using gossamer::match::Status;

constexpr uint64_t kPatience = 4'000'000;

class Bench {
 public:
  explicit Bench(uint64_t seed);
  ~Bench();
  /// Queues a request for the engine.
  void send(const Command& command) { to_send_.push_back(command); }
  /// Queues a cancel of the post with this handle; if no such post waits, of a nonexistent one.
  void send_cancel(uint32_t handle);
  /// Queues `count` alternating receives and messages of an otherwise unused rank, with tags that never match, to fill
  /// the CAM. Handles are consecutive from `handle` on.
  void send_strangers(unsigned count, uint16_t rank, uint32_t handle, Op first);
  void tick();
  /// Runs until all requests are answered.
  void finish();
  size_t in_flight() const { return to_send_.size() + sent_.size(); }
  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random) < p; }

  std::mt19937_64 random;
  std::unique_ptr<Vgs_match> top;
  Reference reference{GS_RANKS};
  /// Probabilities that a request is offered and that a completion is accepted in a cycle.
  double send_rate = 1.0, take_rate = 1.0;
  /// Guaranteed capacity of each queue, and of both together if it is limited.
  size_t fits = 0, fits_together = ~size_t{0};
  uint64_t now = 0, answered = 0, matched = 0, rejected = 0, wild = 0, cancelled = 0;
  /// Cycles of the last accepted request and of the last completion.
  uint64_t taken_at = 0, given_at = 0;
  uint64_t answers[8][5] = {};
  Completion last;
  /// Entry numbers that the engine assigned to waiting posts, by handle.
  std::unordered_map<uint32_t, uint32_t> entries;

 private:
  void check(const Command& command);

  std::deque<Command> to_send_, sent_;
  bool offering_ = false;
};

/// Parameters of the design, which the compiler gets as macros.
constexpr unsigned kArchitecture = GS_ARCHITECTURE, kCam = GS_CAM, kEntries = GS_ENTRIES, kReserve = GS_RESERVE;

}  // namespace match_test
