// SPDX-License-Identifier: Apache-2.0
/// Simulates many tiles on one thread: instances of one Verilator model, gs_sim_tile, evaluated together.
///
/// The tiles are independent of each other. Each gets the same requests, `stagger` cycles after the previous one, so
/// that they are not in step. Their outputs are only counted and hashed.
///
/// Arguments: FILE TILES STAGGER LIMIT SEPARATE. FILE has requests in the simulators' format (host/records.h): 'Q', 'N'
/// and the first 'R', which is the last one. The run ends when all threads of all tiles have ended, or LIMIT cycles
/// after the last tile's start. SEPARATE 1: each tile is evaluated separately, for a comparison. Prints a line for each
/// tile, `tile NUMBER cycles CYCLES ended THREADS sum SUM`: cycles from its start to the end of its last thread or of
/// the run, and a hash of its outputs and their cycles; then `speed CYCLES SECONDS`, in processor time, while all tiles
/// ran.
#include <ctime>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "Vgs_sim_tile.h"
#include "bus.h"
#include "network.h"

/// Evaluates each of the models; without `inputs` only the clock has changed. Defined together with the model's code.
void gs_eval_together(Vgs_sim_tile* const* models, unsigned count, bool inputs);

namespace gossamer::sim {
namespace {

using config::DebugCommand;
using config::DebugReport;

constexpr uint64_t kResetCycles = 16;
constexpr uint64_t kStartLimit = 10'000'000;  ///< cycles in which all tiles must have started

std::vector<Request> requests(const char* name) {
  std::FILE* file = std::fopen(name, "rb");
  if (!file) fatal("cannot read the requests");
  std::vector<Request> all;
  uint32_t head[2];
  while ((all.empty() || all.back().kind != 'R') && std::fread(head, sizeof head, 1, file) == 1) {
    Request request{static_cast<uint8_t>(head[0]), std::vector<uint8_t>(head[1])};
    if (std::fread(request.payload.data(), 1, head[1], file) != head[1]) fatal("the last request is truncated");
    if (request.kind == 'Q' || request.kind == 'N' || request.kind == 'R') all.push_back(std::move(request));
  }
  std::fclose(file);
  if (all.empty() || all.back().kind != 'R') fatal("the requests start no thread");
  return all;
}

/// One tile and its host.
class Tile {
 public:
  Tile(VerilatedContext& context, const std::string& name, const std::vector<Request>& requests, uint64_t begin)
      : requests_(requests), begin_(begin), model_(&context, name.c_str()) {
    model_.clk_i = 0;
    model_.rst_ni = 0;
    model_.dbg_in_valid_i = 0;
    model_.dbg_in_data_i = 0;
    model_.dbg_out_ready_i = 1;
    model_.net_in_valid_i = 0;
    model_.eval();
  }

  Vgs_sim_tile* model() { return &model_; }
  bool started() const { return started_; }
  bool ended() const { return started_ && ended_ == threads_; }
  uint64_t last() const { return last_; }

  /// The first half of a cycle, before the evaluation: drives the host's inputs.
  void low(uint64_t cycle) {
    if (cycle >= begin_ && !started_ && !waiting()) request(cycle);
    model_.clk_i = 0;
    model_.rst_ni = cycle >= kResetCycles;
    const bool sends = bus_.pending(), flit = network_.pending();
    model_.dbg_in_valid_i = sends;
    if (sends) model_.dbg_in_data_i = bus_.head();
    model_.net_in_valid_i = flit ? 1U << network_.head().network() : 0;
    if (flit) std::memcpy(&model_.net_in_i[0], network_.head().words.data(), sizeof(Flit));
  }

  /// The second half, before the evaluation: samples the tile's outputs at the clock's edge.
  void high(uint64_t cycle) {
    if (model_.dbg_in_valid_i && model_.dbg_in_ready_o) bus_.pop();
    if (model_.net_in_valid_i & model_.net_in_ready_o) network_.pop();
    if (model_.rst_ni) {
      if (model_.net_out_valid_o) receive(cycle);
      Report report;
      if (model_.dbg_out_valid_o) {
        add(cycle, model_.dbg_out_data_o);
        if (bus_.take(model_.dbg_out_data_o, report)) receive(cycle, report);
      }
    }
    model_.clk_i = 1;
  }

  void print(unsigned number, uint64_t cycle) const {
    std::printf("tile %u cycles %llu ended %u sum %016llx\n", number,
                static_cast<unsigned long long>((ended() ? last_ : cycle) - first_), ended_,
                static_cast<unsigned long long>(sum_));
  }

  void finish() { model_.final(); }

 private:
  bool waiting() const { return bus_.pending() || network_.pending() || replies_ || packets_; }

  void request(uint64_t cycle) {
    const Request& request = requests_[next_++];
    const uint8_t* bytes = request.payload.data();
    const size_t count = request.payload.size();
    if (request.kind == 'Q') {
      replies_ = request.word(0);
      bus_.send(bytes + 8, count - 8);
    } else if (request.kind == 'N') {
      packets_ = request.word(0);
      network_.send(bytes + 4, count - 4);
    } else {
      threads_ = request.word(0);
      bus_.command(DebugCommand::StartFirst);
      bus_.byte(static_cast<uint8_t>(threads_));
      started_ = true;
      first_ = cycle;
    }
  }

  void receive(uint64_t cycle) {
    Flit flit;
    std::memcpy(flit.words.data(), &model_.net_out_o[0], sizeof flit);
    for (const uint32_t word : flit.words) add(cycle, word);
    const std::vector<Flit> packet = network_.take(flit);
    if (packet.empty()) return;
    const Flit& head = packet.front();
    if (static_cast<config::FlitKind>(head.kind()) != config::FlitKind::Header) return;
    if (static_cast<config::LoadOp>(head.words[0] & 0xF) != config::LoadOp::Fault && packets_) --packets_;
  }

  void receive(uint64_t cycle, const Report& report) {
    switch (static_cast<DebugReport>(report.code)) {
      case DebugReport::Stopped:
      case DebugReport::Trap:
        ++ended_;
        last_ = cycle;
        return;
      case DebugReport::Counter:
      case DebugReport::State:
      case DebugReport::Identity:
      case DebugReport::Flushed:
      case DebugReport::Rejected:
      case DebugReport::Parked:
        if (replies_) --replies_;
        return;
      default: return;
    }
  }

  void add(uint64_t cycle, uint64_t word) {
    for (const uint64_t value : {cycle, word}) sum_ = (sum_ ^ value) * 0x0000'0100'0000'01B3 + (sum_ >> 40);
  }

  const std::vector<Request>& requests_;
  const uint64_t begin_;
  Vgs_sim_tile model_;
  Bus bus_;
  Network network_;
  size_t next_ = 0;
  uint64_t first_ = 0, last_ = 0, sum_ = 0xCBF2'9CE4'8422'2325;
  uint32_t replies_ = 0, packets_ = 0;
  unsigned threads_ = 0, ended_ = 0;
  bool started_ = false;
};

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void run(const char* file, unsigned count, uint64_t stagger, uint64_t limit, bool separate) {
  const std::vector<Request> all = requests(file);
  VerilatedContext context;
  context.randReset(0);
  std::vector<std::unique_ptr<Tile>> tiles;
  std::vector<Vgs_sim_tile*> models;
  for (unsigned i = 0; i < count; ++i) {
    tiles.push_back(std::make_unique<Tile>(context, "tile" + std::to_string(i), all, kResetCycles + stagger * i));
    models.push_back(tiles.back()->model());
  }
  const auto evaluate = [&](bool inputs) {
    if (separate) {
      for (Vgs_sim_tile* model : models) model->eval();
    } else {
      gs_eval_together(models.data(), count, inputs);
    }
  };
  uint64_t cycle = 0, started = 0, stop = kStartLimit, timed = 0;
  double since = 0.0, seconds = 0.0;
  bool running = true;
  for (; running && cycle < stop; ++cycle) {
    for (auto& tile : tiles) tile->low(cycle);
    evaluate(true);
    for (auto& tile : tiles) tile->high(cycle);
    evaluate(false);
    if (!started && tiles.back()->started()) {
      started = cycle;
      stop = cycle + limit;
      since = processor_seconds();
    }
    if (cycle % 256) continue;
    bool any = false, one = false;
    for (const auto& tile : tiles) (tile->ended() ? one : any) = true;
    running = any;
    if (one && started && !timed) {
      timed = cycle - started;
      seconds = processor_seconds() - since;
    }
  }
  if (!started) fatal("the tiles do not start");
  if (!timed) {
    timed = cycle - started;
    seconds = processor_seconds() - since;
  }
  for (unsigned i = 0; i < count; ++i) tiles[i]->print(i, cycle);
  std::printf("speed %llu %.6f\n", static_cast<unsigned long long>(timed), seconds);
  for (auto& tile : tiles) tile->finish();
}

}  // namespace
}  // namespace gossamer::sim

int main(int argc, char** argv) {
  if (argc != 6) gossamer::sim::fatal("FILE TILES STAGGER LIMIT SEPARATE");
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const auto tiles = static_cast<unsigned>(number(2));
  if (tiles < 1) gossamer::sim::fatal("no tiles");
  gossamer::sim::run(argv[1], tiles, number(3), number(4), number(5) != 0);
  return EXIT_SUCCESS;
}
