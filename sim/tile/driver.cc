// SPDX-License-Identifier: Apache-2.0
/// Simulates a single tile, gs_sim_tile, for the `rtl` engine (host/simulation.h).
#include "Vgs_sim_tile.h"
#include "machine.h"
#include "simulation.h"
#if VM_TRACE
#include <verilated_fst_c.h>
#endif

namespace gossamer::sim {
namespace {

class TileMachine : public OneModel<TileMachine, 1, TilePort> {
 public:
  TileMachine(int argc, char** argv) : arguments_(context_, argc, argv), model_(&context_, "") {
    model_.clk_i = 0;
    model_.rst_ni = 0;
    model_.dbg_in_valid_i = 0;
    model_.dbg_in_data_i = 0;
    model_.dbg_out_ready_i = 1;
    model_.net_in_valid_i = 0;
#if VM_TRACE
    context_.traceEverOn(true);
#endif
  }

  ~TileMachine() {
    model_.final();
#if VM_TRACE
    if (fst_) fst_->close();
#endif
  }

  bool find(Probe* probes) { return probes[0].find(context_, kThreadsPerCore); }

#if VM_TRACE
  bool open_waves(const char* path, unsigned) {
    if (fst_) return true;
    fst_ = std::make_unique<VerilatedFstC>();
    model_.trace(fst_.get(), 99);
    fst_->open(path);
    return fst_->isOpen();
  }
  void flush_waves() {
    if (fst_) fst_->flush();
  }
#endif

  /// The outputs before the edge are stable, because no input depends on an output.
  template <bool kWaves>
  void step(uint64_t cycle, bool reset, TileHost* hosts) {
    Bus& bus = hosts[0].bus();
    Network& port = host_.network();
    model_.clk_i = 0;
    model_.rst_ni = !reset;
    const bool sends = bus.pending() && !reset;
    model_.dbg_in_valid_i = sends;
    if (sends) model_.dbg_in_data_i = bus.head();
    const bool flit = port.pending() && !reset;
    model_.net_in_valid_i = flit ? 1U << port.head().network() : 0;
    if (flit) std::memcpy(&model_.net_in_i[0], port.head().words.data(), sizeof(Flit));
    model_.eval();
    const bool accepted = sends && model_.dbg_in_ready_o;
    const bool entered = model_.net_in_valid_i & model_.net_in_ready_o;
    const bool received = model_.dbg_out_valid_o && !reset;
    const bool arrived = model_.net_out_valid_o && !reset;
    Flit arrival;
    if (arrived) std::memcpy(arrival.words.data(), &model_.net_out_o[0], sizeof arrival);
    const uint8_t byte = model_.dbg_out_data_o;
#if VM_TRACE
    if constexpr (kWaves) fst_->dump(cycle * 2);
#endif
    model_.clk_i = 1;
    model_.eval();
#if VM_TRACE
    if constexpr (kWaves) fst_->dump(cycle * 2 + 1);
#endif
    ++cycle;
    if (accepted) hosts[0].on_accepted(cycle);
    if (entered) host_.on_accepted(cycle);
    if (arrived) host_.receive(arrival, cycle);
    if (received) hosts[0].receive(byte, cycle);
  }

 private:
  VerilatedContext context_;
  /// The context gets the plusargs ($value$plusargs) before the model's constructor runs.
  struct Arguments {
    Arguments(VerilatedContext& context, int argc, char** argv) {
      context.randReset(0);
      context.commandArgs(argc, argv);
    }
  } arguments_;
  Vgs_sim_tile model_;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> fst_;
#endif
};

}  // namespace
}  // namespace gossamer::sim

int main(int argc, char** argv) { return gossamer::sim::simulate<gossamer::sim::TileMachine>(argc, argv); }
