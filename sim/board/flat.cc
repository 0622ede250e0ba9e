// SPDX-License-Identifier: Apache-2.0
/// Simulates one board as one model, gs_sim_board: slower to build and to run than cluster.cc, and its reference.
#include "Vgs_sim_board.h"
#include "machine.h"
#include "simulation.h"

namespace gossamer::sim {
namespace {

/// It synchronizes, times out and drains like a Cluster (cluster.h), and takes the same options.
class FlatBoard : public OneModel<FlatBoard, config::derived::tiles, HostPort> {
 public:
  static constexpr uint64_t kWatchdogStride = 1024;

  FlatBoard(int argc, char** argv) : arguments_(context_, argc, argv), model_(&context_, "") {
    for (int i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
      if (!std::strcmp(argv[i], "--flight")) flight_ = std::strtoul(argv[i + 1], nullptr, 10);
    }
    if (!flight_) fatal("a board needs a flight time");
    model_.clk_i = 0;
    model_.rst_ni = 0;
    model_.eval();
  }
  ~FlatBoard() { model_.final(); }

  uint64_t quiescence() const { return (1 << 14) + 4 * flight_; }
  uint64_t drain() const { return 4096 + 4 * flight_; }
  uint64_t slack() const { return 4 * flight_; }
  unsigned hosts() const { return 1; }
  void drive(TileHost* tiles) { host_.drive(tiles, kTiles, kTiles); }
  void expect(unsigned board, uint64_t tiles, bool add) { host_.expect(board, tiles, add); }
  void pump(uint64_t cycle) { host_.pump(cycle); }
  bool ready() const { return model_.ready_o; }

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
  void step(uint64_t cycle, bool reset, TileHost*) {
    model_.clk_i = 0;
    model_.rst_ni = !reset;
    const unsigned lane = reset ? kNetworks : host_.choose(model_.host_in_ready_o);
    model_.host_in_valid_i = lane < kNetworks ? static_cast<CData>(1U << lane) : 0;
    if (lane < kNetworks) std::memcpy(&model_.host_in_i[0], host_.head(lane).words.data(), sizeof(Flit));
    const bool arrived = model_.host_out_valid_o && !reset;
    Flit flit;
    if (arrived) std::memcpy(flit.words.data(), &model_.host_out_o[0], sizeof(Flit));
    model_.eval();
    model_.clk_i = 1;
    model_.eval();
    ++cycle;
    if (lane < kNetworks) host_.on_accepted(lane, cycle);
    if (arrived) host_.receive(flit, cycle);
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
  uint64_t flight_ = config::links::flight_cycles;
};

}  // namespace
}  // namespace gossamer::sim

int main(int argc, char** argv) { return gossamer::sim::simulate<gossamer::sim::FlatBoard>(argc, argv); }
