// SPDX-License-Identifier: Apache-2.0
/// Simulates a board for the `rtl` engine (host/simulation.h) as one model, gs_sim_board: slower to build and to run
/// than board.cc, and its reference.
#include "Vgs_sim_board.h"
#include "machine.h"
#include "simulation.h"

namespace gossamer::sim {
namespace {

class FlatBoard : public OneBoard<FlatBoard, config::derived::tiles, config::router::mesh_ports> {
 public:
  static constexpr unsigned kExits = config::router::mesh_ports;

  FlatBoard(int argc, char** argv) : arguments_(context_, argc, argv), model_(&context_, "") {
    model_.clk_i = 0;
    model_.rst_ni = 0;
    model_.eval();
  }
  ~FlatBoard() { model_.final(); }

  unsigned most_workers() const { return 1; }

  /// The cores of all tiles are in one context, tile by tile.
  bool find(Probe* probes) {
    Probe all;
    return all.find(context_, kThreadsPerCore) && all.split(probes, kTiles);
  }

#if VM_TRACE
  bool open_waves(const char*, unsigned) { return false; }
  void flush_waves() {}
#endif

  template <bool kWaves>
  void step(unsigned, unsigned, uint64_t cycle, bool reset, TileHost* hosts) {
    model_.clk_i = 0;
    model_.rst_ni = !reset;
    bool accepted[kTiles], sent_byte[kTiles], arrived[kExits];
    uint8_t byte[kTiles];
    Flit flit[kExits];
    for (unsigned t = 0; t < kTiles; ++t) {
      Bus& bus = hosts[t].bus();
      const bool sends = bus.pending() && !reset;
      model_.dbg_in_valid_i[t] = sends;
      if (sends) model_.dbg_in_data_i[t] = bus.head();
      accepted[t] = sends && model_.dbg_in_ready_o[t];
      sent_byte[t] = model_.dbg_out_valid_o[t] && !reset;
      byte[t] = model_.dbg_out_data_o[t];
      model_.expected_i[t] = hosts[t].expected();
    }
    model_.host_hold_i = 0;
    for (unsigned e = 0; e < kExits; ++e) {
      const auto& port = network_.exit(e);
      const bool may = port.may_enter(model_.host_open_o) && !reset;
      const unsigned valid = may ? 1U << port.head().network() & model_.host_in_ready_o[e] : 0;
      if (port.message()) model_.host_hold_i = 1;
      model_.host_in_valid_i[e] = static_cast<uint8_t>(valid);
      if (valid) std::memcpy(&model_.host_in_i[e], port.head().words.data(), sizeof(Flit));
      arrived[e] = model_.host_out_valid_o[e] && !reset;
      if (arrived[e]) std::memcpy(flit[e].words.data(), &model_.host_out_o[e], sizeof(Flit));
    }
    model_.eval();
    model_.clk_i = 1;
    model_.eval();
    ++cycle;
    for (unsigned t = 0; t < kTiles; ++t) {
      if (accepted[t]) hosts[t].on_accepted(cycle);
      if (sent_byte[t]) hosts[t].receive(byte[t], cycle);
    }
    for (unsigned e = 0; e < kExits; ++e) {
      if (model_.host_in_valid_i[e]) network_.on_accepted(e, cycle);
      if (arrived[e]) network_.receive(e, flit[e], cycle);
    }
  }

 private:
  VerilatedContext context_;
  struct Arguments {
    Arguments(VerilatedContext& context, int argc, char** argv) {
      context.randReset(0);
      context.commandArgs(argc, argv);
    }
  } arguments_;
  Vgs_sim_board model_;
};

}  // namespace
}  // namespace gossamer::sim

int main(int argc, char** argv) { return gossamer::sim::simulate<gossamer::sim::FlatBoard>(argc, argv); }
