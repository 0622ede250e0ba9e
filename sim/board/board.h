// SPDX-License-Identifier: Apache-2.0
/// A single simulated board. Worker w of k simulates every kth tile; the first also simulates the uncore (models.h).
#pragma once

#include "Vgs_sim_board_uncore.h"
#include "machine.h"
#include "models.h"
#ifdef GS_TOGETHER
void gs_eval_together(Vgs_sim_board_uncore* const* models, unsigned count, bool inputs);
#endif

namespace gossamer::sim {

class Board : public OneBoard<Board, config::derived::tiles, config::router::mesh_ports> {
 public:
  using Models = BoardModels<Vgs_sim_board_uncore>;
  static constexpr unsigned kExits = Models::kExits;
  static_assert(kTiles == Models::kTiles);

  Board(int argc, char** argv) : models_(argc, argv, 0) { models_.settle(); }

  unsigned most_workers() const { return kTiles; }
  bool find(Probe* probes) { return models_.find(probes); }
  const uint64_t* flits(unsigned tile) const { return models_.flits(tile); }
  uint64_t skipped(unsigned tile) const { return models_.skipped(tile); }

#if VM_TRACE
  bool open_waves(const char* path, unsigned tile) { return models_.open_waves(path, tile); }
  void flush_waves() { models_.flush_waves(); }
#endif

  /// One cycle of one worker's models.
  template <bool kWaves>
  void step(unsigned worker, unsigned workers, uint64_t cycle, bool reset, TileHost* hosts) {
    const unsigned now = cycle & 1;
    Models::TileModel* models[kTiles];
    Vgs_sim_board_uncore* const rest = &models_.rest();
    unsigned count = 0;
    for (unsigned t = worker; t < kTiles; t += workers) {
      if (models_.low_tile(t, now, reset, false, hosts[t])) models[count++] = &models_.tile(t);
    }
    if (!worker) {
      models_.low_rest(now, reset, hosts);
      low_host(reset);
    }
    evaluate_together(models, count, true);
    if (!worker) evaluate_together(&rest, 1, true);
#if VM_TRACE
    if constexpr (kWaves) models_.dump_waves(cycle * 2);
#endif
    for (unsigned i = 0; i < count; ++i) models[i]->clk_i = 1;
    if (!worker) models_.rest().clk_i = 1;
    evaluate_together(models, count, false);
    if (!worker) evaluate_together(&rest, 1, false);
#if VM_TRACE
    if constexpr (kWaves) models_.dump_waves(cycle * 2 + 1);
#endif
    for (unsigned t = worker; t < kTiles; t += workers) models_.high_tile(t, !now, cycle + 1, hosts[t]);
    if (worker) return;
    models_.high_rest(!now);
    for (unsigned t = 0; t < kTiles; ++t) models_.command(t, !now, models_.rest().idle_command_o);
    high_host(cycle + 1);
  }

 private:
  void low_host(bool reset) {
    auto& model = models_.rest();
    model.host_hold_i = 0;
    for (unsigned e = 0; e < kExits; ++e) {
      const auto& port = network_.exit(e);
      const bool may = port.may_enter(model.host_open_o) && !reset;
      const unsigned valid = may ? 1U << port.head().network() & model.host_in_ready_o[e] : 0;
      if (port.message()) model.host_hold_i = 1;
      model.host_in_valid_i[e] = static_cast<uint8_t>(valid);
      if (valid) std::memcpy(&model.host_in_i[e], port.head().words.data(), sizeof(Flit));
      arrived_[e] = model.host_out_valid_o[e] && !reset;
      if (arrived_[e]) std::memcpy(flit_[e].words.data(), &model.host_out_o[e], sizeof(Flit));
    }
  }

  void high_host(uint64_t cycle) {
    for (unsigned e = 0; e < kExits; ++e) {
      if (models_.rest().host_in_valid_i[e]) network_.on_accepted(e, cycle);
      if (arrived_[e]) network_.receive(e, flit_[e], cycle);
    }
  }

  Models models_;
  bool arrived_[kExits]{};
  Flit flit_[kExits];
};

}  // namespace gossamer::sim
