// SPDX-License-Identifier: Apache-2.0
/// A simulated board with the wires of its links.
///
/// A word that leaves a board's transceiver arrives at the other end one flight time later. A wire is a ring buffer of
/// words by cycle: one board writes words that arrive a flight time later, the other reads words written before.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "Vgs_sim_uncore.h"
#include "activity.h"
#include "probe.h"
#include "network.h"
#include "queue_probe.h"
#include "watch.h"
#ifdef GS_TOGETHER
void gs_eval_together(Vgs_sim_uncore* const* models, unsigned count, bool inputs);
#endif

namespace gossamer::sim {

/// One direction of a cable.
class Wire {
 public:
  struct Word {
    uint64_t data = 0;
    uint8_t keep = 0, last = 0, error = 0, valid = 0;
  };

  explicit Wire(uint64_t flight) : flight_(flight), ring_(std::bit_ceil(2 * flight)), mask_(ring_.size() - 1) {}

  /// The word that arrives in a cycle.
  const Word& out(uint64_t cycle) const { return ring_[cycle & mask_]; }
  /// The word that is sent in a cycle.
  Word& in(uint64_t cycle) { return ring_[(cycle + flight_) & mask_]; }

 private:
  const uint64_t flight_;
  /// Words for the cycles after the next barrier are written while those of the present ones are read.
  std::vector<Word> ring_;
  const uint64_t mask_;
};

/// One board with its wires, and a host at its switch.
///
/// `Host` is the host's end of the port, which accepts every flit (network.h):
///   choose(ready)             network of the flit that it sends in this cycle, of those in `ready`; kNetworks if none
///   head(network), on_accepted(network, cycle)    that flit, which has entered
///   receive(flit, cycle)      a flit has left the board
/// `ModelSet` has the models of the board: BoardModels, or UncoreModels without tiles.
template <typename Host, typename ModelSet>
class LinkedBoard {
 public:
  using Models = ModelSet;
  static constexpr unsigned kTiles = Models::kTiles;
  static constexpr unsigned kLinks = sizeof(Vgs_sim_uncore::tx_valid_o) / sizeof(CData);
  static constexpr int64_t kNever = -1, kAlways = -2;

  LinkedBoard(int argc, char** argv, unsigned number) : models_(argc, argv, number) {
    Vgs_sim_uncore& rest = models_.rest();
    rest.board_i = number;
    for (unsigned l = 0; l < kLinks; ++l) {
      rest.loss_i[l] = rest.damage_i[l] = rest.seed_i[l] = 0;
      rest.cut_i[l] = 0;
      rest.rx_valid_i[l] = 0;
    }
    models_.settle();
  }

  Models& models() { return models_; }
  const Models& models() const { return models_; }
  bool ready() { return models_.rest().ready_o; }
  void host(Host* port) { host_ = port; }

  /// Connects the wires from and to a link, and sets when the former is cut.
  void plug(unsigned link, Wire* out, int64_t cut) {
    Port& port = ports_[link];
    port.out = out;
    port.cut = cut;
    if (cut == kAlways) models_.rest().cut_i[link] = 1;
  }
  void plug(unsigned link, const Wire* in) { ports_[link].in = in; }
  void faults(unsigned link, uint32_t loss, uint32_t damage, uint32_t seed) {
    Vgs_sim_uncore& rest = models_.rest();
    rest.loss_i[link] = loss;
    rest.damage_i[link] = damage;
    rest.seed_i[link] = seed;
  }

  /// Finds the links' counters; call it after the models' first evaluation. False if there are none.
  bool find_links() {
    const auto scopes = Probe::scopes(models_.rest_context(), "sim_links");
    return scopes.size() == 1 && Probe::at(*scopes[0], "sim_links", counters_);
  }

  /// Counters of the links that have a cable.
  void links(unsigned board, std::vector<LinkSums>& all) {
    for (unsigned l = 0; l < kLinks; ++l) {
      if (!ports_[l].out) continue;
      const EData* its = counters_[l];
      all.push_back({board, l, models_.rest().up_o[l] != 0, its[kTxBytes], its[kTxPackets], its[kResends],
                     its[kRxBytes], its[kDamaged], its[kStalls]});
    }
  }

  /// The same with all counters; `add` is called with the link, whether it is up, and its counters (Counter).
  template <typename Add>
  void each_link(Add add) {
    for (unsigned l = 0; l < kLinks; ++l) {
      if (ports_[l].out) add(l, models_.rest().up_o[l] != 0, counters_[l]);
    }
  }

  /// Adds the traffic of these links so far.
  void add(Traffic& traffic) {
    for (unsigned l = 0; l < kLinks; ++l) {
      if (!ports_[l].out) continue;
      const EData* its = counters_[l];
      traffic.received += its[kRxPackets];
      // Packets that a link had sent before it went down may be lost, so they are not in flight.
      if (models_.rest().up_o[l]) traffic.flying += its[kTxPackets] - its[kLost] - its[kRxPackets];
    }
  }

  /// Non-empty queues of the board, and of links that have a cable.
  void queues(unsigned board, std::vector<OccupiedQueue>& all) {
    QueueProbe::board(models_.rest_context(), board, kLinks, all);
  }

  /// The first run begins: the times of cuts are relative to this cycle.
  void begin(uint64_t cycle) {
    for (Port& port : ports_) {
      if (port.cut >= 0) port.at = cycle + static_cast<uint64_t>(port.cut);
    }
  }

  /// The first half of a cycle of the tiles of worker w of k, before the evaluation; stores the models to evaluate in
  /// `tiles` and returns their number.
  unsigned low_tiles(unsigned worker, unsigned workers, uint64_t cycle, bool reset,
                     typename Models::TileModel** tiles) {
    unsigned count = 0;
    for (unsigned t = worker; t < kTiles; t += workers) {
      if (models_.low_tile(t, cycle & 1, reset)) tiles[count++] = &models_.tile(t);
    }
    return count;
  }
  /// The same of the uncore.
  void low_rest(uint64_t cycle, bool reset) {
    models_.low_rest(cycle & 1, reset);
    low_links(cycle);
    lane_ = low_host(reset);
  }

  /// The second half.
  void high_tiles(unsigned worker, unsigned workers, uint64_t cycle) {
    for (unsigned t = worker; t < kTiles; t += workers) models_.high_tile(t, ~cycle & 1);
  }
  void high_rest(uint64_t cycle) {
    models_.high_rest(~cycle & 1);
    high_links(cycle);
    if (lane_ < kNetworks) host_->on_accepted(lane_, cycle + 1);
    if (arrived_) host_->receive(flit_, cycle + 1);
    arrived_ = false;
  }

 private:
  struct Port {
    Wire* out = nullptr;
    const Wire* in = nullptr;
    int64_t cut = kNever;
    uint64_t at = ~uint64_t{0};  ///< cycle from which it is cut
  };

  void low_links(uint64_t cycle) {
    Vgs_sim_uncore& rest = models_.rest();
    for (unsigned l = 0; l < kLinks; ++l) {
      const Port& port = ports_[l];
      if (!port.in) continue;
      const Wire::Word& word = port.in->out(cycle);
      rest.rx_valid_i[l] = word.valid;
      if (word.valid) {
        rest.rx_data_i[l] = word.data;
        rest.rx_keep_i[l] = word.keep;
        rest.rx_last_i[l] = word.last;
        rest.rx_error_i[l] = word.error;
      }
      if (cycle >= port.at) rest.cut_i[l] = 1;
    }
  }

  void high_links(uint64_t cycle) {
    const Vgs_sim_uncore& rest = models_.rest();
    for (unsigned l = 0; l < kLinks; ++l) {
      if (!ports_[l].out) continue;
      Wire::Word& word = ports_[l].out->in(cycle);
      word.valid = rest.tx_valid_o[l];
      if (!word.valid) continue;
      word = {rest.tx_data_o[l], rest.tx_keep_o[l], rest.tx_last_o[l], rest.tx_error_o[l], 1};
    }
  }

  /// The network whose flit the host sends in this cycle; kNetworks if none.
  unsigned low_host(bool reset) {
    Vgs_sim_uncore& rest = models_.rest();
    rest.host_in_valid_i = 0;
    if (!host_ || reset) return kNetworks;
    const unsigned lane = host_->choose(rest.host_in_ready_o);
    if (lane < kNetworks) {
      rest.host_in_valid_i = static_cast<CData>(1U << lane);
      std::memcpy(&rest.host_in_i[0], host_->head(lane).words.data(), sizeof(Flit));
    }
    arrived_ = rest.host_out_valid_o;
    if (arrived_) std::memcpy(flit_.words.data(), &rest.host_out_o[0], sizeof(Flit));
    return lane;
  }

  /// Fields of gs_link_pkg's counters_t; the last field is in the first word.
  enum Counter : unsigned {
    kLost = 1, kStalls = 2, kDamaged = 4, kRxPackets = 5, kRxBytes = 6, kResends = 8, kTxPackets = 9, kTxBytes = 10,
    kCounters = 12
  };

  Models models_;
  const EData (*counters_)[kCounters] = nullptr;
  Port ports_[kLinks];
  Host* host_ = nullptr;
  unsigned lane_ = kNetworks;  ///< network of the flit that enters in this cycle
  bool arrived_ = false;
  Flit flit_;
};

}  // namespace gossamer::sim
