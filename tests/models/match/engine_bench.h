// SPDX-License-Identifier: Apache-2.0
/// A match engine with a requester in front of it, and the plain lists that say what it must answer. Layouts are typed
/// once more, from config/constants/match.toml.
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
  /// Puts a request into the queue to the engine.
  void send(const Command& command) { to_send_.push_back(command); }
  /// Sends a cancel of a post that waits by what the engine answered, or of something that is none.
  void send_cancel(uint32_t handle);
  /// So many receives and messages by turns, of a rank that nobody else has and with tags that never meet: they fill
  /// the CAM. Handles are counted from the first one.
  void send_strangers(unsigned count, uint16_t rank, uint32_t handle, Op first);
  void tick();
  /// Until everything that was sent is answered.
  void finish();
  size_t in_flight() const { return to_send_.size() + sent_.size(); }
  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random) < p; }

  std::mt19937_64 random;
  std::unique_ptr<Vgs_match> top;
  Reference reference{GS_RANKS};
  /// Odds that a request is offered, and that a completion is taken, in a cycle.
  double send_rate = 1.0, take_rate = 1.0;
  /// Of each queue: entries that must fit; and of both together, if that is a limit.
  size_t fits = 0, fits_together = ~size_t{0};
  uint64_t now = 0, answered = 0, matched = 0, refused = 0, wild = 0, cancelled = 0;
  /// Cycle in which the last request was taken, and the last completion given.
  uint64_t taken_at = 0, given_at = 0;
  uint64_t answers[8][5] = {};
  Completion last;
  /// Entry numbers that the engine gave to posts, by handle.
  std::unordered_map<uint32_t, uint32_t> entries;

 private:
  void check(const Command& command);

  std::deque<Command> to_send_, sent_;
  bool offering_ = false;
};

/// A parameter of the design, given to the compiler as well.
constexpr unsigned kArchitecture = GS_ARCHITECTURE, kCam = GS_CAM, kEntries = GS_ENTRIES, kReserve = GS_RESERVE;

}  // namespace match_test
