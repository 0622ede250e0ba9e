// SPDX-License-Identifier: Apache-2.0
/// Skips the evaluation of an idle tile: while nothing but counters changes in its model, it is not evaluated. Its
/// cycles, counters and answers are the same as if it were.
///
/// After some idle cycles (no active input or output of the tile), a copy of the whole model is kept and compared with
/// the model one period later. A model is a function of its state and its inputs: if both repeat once, they repeat in
/// every period while the inputs stay idle. Only the words that count cycles differ; they influence nothing else, and
/// they grow by the same amount in each period. So a waking tile adds the growth of whole periods, and evaluates only
/// the remaining cycles.
///
///     idle           copy                 equal: sleeps                        an input: wakes
///     --|--------------|----- period -------|---- skipped periods ------|-- rest --|-->
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "Vgs_sim_mesh_tile.h"
#include "Vgs_sim_mesh_tile___024root.h"
#include "Vgs_sim_mesh_tile__Syms.h"
#include "tile_host.h"

namespace gossamer::sim {

/// Words of a tile's model that count cycles, and the register that shows which of them are being updated.
namespace counts {
#define GS_COUNTERS(name) gs_sim_mesh_tile__DOT__u_tile__DOT__u_tile__DOT__u_control__DOT__u_counters__DOT__##name
auto& cycles(auto& root) { return root.GS_COUNTERS(cycles_q); }
auto& words(auto& root) { return root.GS_COUNTERS(u_counters__DOT__u_words__DOT__mem).m_storage; }
inline unsigned visited(const Vgs_sim_mesh_tile___024root& root) { return root.GS_COUNTERS(u_counters__DOT__read_q); }
#undef GS_COUNTERS
}  // namespace counts

/// Decides whether a tile sleeps, and for how long.
class TileIdleSkip {
 public:
  using Root = Vgs_sim_mesh_tile___024root;
  using State = Vgs_sim_mesh_tile__Syms;  ///< the complete state of a model

  bool asleep() const { return asleep_; }
  /// Cycles since reset that were not evaluated.
  uint64_t skipped() const { return skipped_ + (asleep_ ? whole_periods() * kPeriod : 0); }

  /// Called after an evaluated cycle, in which its ports were `idle` or not.
  void observe(const Root& root, bool idle) {
    if (!idle) {
      idle_cycles_ = 0;
      compares_ = false;
      return;
    }
    ++idle_cycles_;
    if (!compares_) {
      if (idle_cycles_ < from_ || !settled(root)) return;
      if (!copy_) copy_ = std::make_unique_for_overwrite<char[]>(sizeof(State));
      std::memcpy(copy_.get(), static_cast<const void*>(root.vlSymsp), sizeof(State));
      compares_ = true;
      idle_cycles_ = 0;
    } else if (idle_cycles_ == kPeriod) {
      asleep_ = unchanged(root);
      // A tile that has not become periodic is checked again later, with exponential backoff.
      from_ = asleep_ ? kPatience : std::min(2 * from_, kMost);
      idle_cycles_ = since_ = 0;
      compares_ = false;
      copy_.reset();
    }
  }

  /// A cycle in which a sleeping tile is not evaluated.
  void sleep() { ++since_; }

  /// Wakes the tile: advances its counters, and returns the number of cycles to evaluate: 1 to kPeriod if it slept at
  /// all.
  uint64_t wake(Root& root) {
    asleep_ = false;
    if (!since_) return 0;
    const uint64_t periods = whole_periods();
    skipped_ += periods * kPeriod;
    auto& words = counts::words(root);
    for (unsigned i = 0; i < kCounters; ++i) {
      const uint64_t sum = (uint64_t{words[2 * i + 1]} << 32 | words[2 * i]) + periods * gains_[i];
      words[2 * i] = static_cast<uint32_t>(sum);
      words[2 * i + 1] = static_cast<uint32_t>(sum >> 32);
    }
    counts::cycles(root) += static_cast<uint32_t>(periods * kPeriod);
    return since_ - periods * kPeriod;
  }

 private:
  // Words of counters, alternately low and high (gs_counters).
  using Words = std::remove_reference_t<decltype(counts::words(std::declval<Root&>()))>;
  static constexpr uint64_t kWords = std::extent_v<Words>;
  static constexpr unsigned kCounters = kWords / 2;
  // The counters are visited round-robin in kWords cycles, their low bits wrap in at most 512, and the scan of
  // gs_instret over 64 threads takes 512. With a wrong period, no tile would ever sleep.
  static constexpr uint64_t kPeriod = std::lcm(kWords, uint64_t{512});
  static constexpr uint64_t kPatience = 1024;             ///< idle cycles before a tile is checked
  static constexpr uint64_t kMost = kPatience << 10;
  static constexpr uint64_t kMostEvents = 15;             ///< of a counter in a cycle

  /// Periods of this sleep that need no evaluation. At least one cycle is evaluated, so that values computed from an
  /// advanced word follow it.
  uint64_t whole_periods() const { return since_ ? (since_ - 1) / kPeriod : 0; }

  /// Whether no counter update is in progress.
  static bool settled(const Root& root) {
    return counts::visited(root) == 2 * static_cast<unsigned>(config::DebugCounter::FlitsOut);
  }

  /// Whether the model equals its state one period ago, except for the words that count cycles.
  bool unchanged(const Root& root) {
    const auto& state = *root.vlSymsp;
    const auto& all_words = counts::words(root);
    const auto& all_cycles = counts::cycles(root);
    const auto* const now = reinterpret_cast<const char*>(&state);
    const auto* const was = copy_.get();
    auto same = [&](const char* begin, const char* end) {
      return std::memcmp(begin, was + (begin - now), static_cast<size_t>(end - begin)) == 0;
    };
    const auto *first = reinterpret_cast<const char*>(&all_cycles), *first_end = first + sizeof all_cycles;
    const auto *second = reinterpret_cast<const char*>(&all_words), *second_end = second + sizeof all_words;
    const auto words_at = second - now, cycles_at = first - now;
    if (first > second) {
      std::swap(first, second);
      std::swap(first_end, second_end);
    }
    if (!same(now, first) || !same(first_end, second) || !same(second_end, now + sizeof(State))) return false;
    uint32_t words[kWords], cycles;
    std::memcpy(words, was + words_at, sizeof words);
    std::memcpy(&cycles, was + cycles_at, sizeof cycles);
    if (all_cycles - cycles != kPeriod) return false;
    for (unsigned i = 0; i < kCounters; ++i) {
      const auto sum = [i](const auto& all) { return uint64_t{all[2 * i + 1]} << 32 | all[2 * i]; };
      gains_[i] = sum(all_words) - sum(words);
      if (gains_[i] % kPeriod || gains_[i] / kPeriod > kMostEvents) return false;
    }
    return true;
  }

  bool asleep_ = false;
  bool compares_ = false;        ///< there is a copy of the model
  uint64_t idle_cycles_ = 0;           ///< idle cycles, since the copy if there is one
  uint64_t from_ = kPatience;    ///< idle cycles before the copy
  uint64_t since_ = 0;           ///< cycles of this sleep
  uint64_t skipped_ = 0;
  std::unique_ptr<char[]> copy_;
  uint64_t gains_[kCounters]{};  ///< by counter: growth per period
};

}  // namespace gossamer::sim
