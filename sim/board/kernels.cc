// SPDX-License-Identifier: Apache-2.0
/// A simulated cluster whose streaming ports are used by kernels of the SMI emulator (src/smi/rtl/fabric.h), as a
/// library that the emulator loads. Boards are those of every simulation, without models of their tiles, which run
/// nothing. One library serves all programs: routes, jobs and bindings are set by packets of the host.
///
/// Kernels and boards synchronize in every cycle, so all boards are simulated by one thread.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernel_ports.h"
#include "linked_board.h"
#include "machine/machine.h"
#include "network.h"
#include "uncore_models.h"

namespace gossamer::sim {
namespace {

constexpr uint64_t kReset = 16, kReady = 1'000'000, kUp = 100'000, kAnswer = 1'000'000, kSettle = 2'000;
constexpr unsigned kTogether = 4;  ///< boards that are evaluated together
constexpr uint64_t kFlight = config::links::flight_cycles;
/// Cycles without activity after which nothing can move any more: a port sends its elements after `Linger` cycles, a
/// link waits for an acknowledgement for one flight in each direction, and repeats a request for it.
constexpr uint64_t kQuiescence = 4096 + 4 * kFlight;

/// The host that configures the boards. All packets to it are from control units, and have one flit.
class ConfiguringHost : public HostPort {
 public:
  void receive(const Flit& flit, uint64_t cycle) { arrived_.push_back({flit, cycle}); }
  bool next(Flit& flit, uint64_t& cycle) {
    if (arrived_.empty()) return false;
    std::tie(flit, cycle) = arrived_.front();
    arrived_.pop_front();
    return true;
  }

 private:
  std::deque<std::pair<Flit, uint64_t>> arrived_;
};

using Board = LinkedBoard<ConfiguringHost, UncoreModels<Vgs_sim_uncore>>;

/// All boards, and the kernels' side of their ports. The machine library configures them: its requests are packets, and
/// time passes until their answers arrive.
class Boards : private machine::Transport, private machine::Listener {
 public:
  /// Returns why it cannot start; empty if it has started.
  std::string start(const char* script) {
    std::istringstream lines(script);
    std::string plan;
    std::vector<machine::RegisterWrite> writes;
    for (std::string line, word; std::getline(lines, line);) {
      std::istringstream in(line);
      in >> word;
      if (word == "boards") {
        unsigned count = 0;
        in >> count;
        make(count);
      } else if (word == "wire") {
        unsigned from = 0, link = 0, to = 0, its = 0;
        in >> from >> link >> to >> its;
        wires_.push_back(std::make_unique<Wire>(kFlight));
        boards_.at(from)->plug(link, wires_.back().get(), Board::kNever);
        boards_.at(to)->plug(its, static_cast<const Wire*>(wires_.back().get()));
        plugs_.push_back({from, link});
      } else if (word == "loss") {
        uint32_t share = 0, seed = 0;
        in >> share >> seed;
        for (const auto& [board, link] : plugs_) {
          boards_[board]->faults(link, share, share, (seed * 0x10001U + board * 8 + link) * 0x045D'9F3BU);
        }
      } else if (word == "barrier") {
        in >> barrier_;
      } else if (word == "host") {
        unsigned at = 0;
        in >> at;
        boards_.at(at)->host(&host_);
        reset();
      } else if (word == "plan") {
        std::string fact;
        std::getline(in >> std::ws, fact);
        plan += fact + "\n";
      } else if (word == "register") {
        machine::RegisterWrite& one = writes.emplace_back();
        in >> one.board >> one.job >> one.address >> one.value;
      }
      if (!error_.empty()) return error_;
    }
    try {
      std::istringstream facts(plan);
      machine::Machine boards(*this, machine::Plan::read(facts, "the plan"), *this);
      boards.configure();
      boards.write_registers(writes);
    } catch (const machine::Error& error) {
      return error.what();
    }
    for (uint64_t end = now_ + kSettle; now_ < end;) step(false);
    return "";
  }

  Kernels& kernels(int rank) { return kernels_[static_cast<size_t>(rank)]; }

  /// GsFabric::cycle.
  bool cycle(bool active) {
    const bool moved = step(false);
    if (moved || active) moved_ = now_;
    return now_ - moved_ < kQuiescence;
  }

  /// GsFabric::links.
  const GsLink* links(int* count) {
    links_.clear();
    for (unsigned b = 0; b < boards_.size(); ++b) {
      boards_[b]->each_link([&](unsigned link, bool up, const EData* counters) {
        GsLink& one = links_.emplace_back(GsLink{static_cast<int>(b), static_cast<int>(link), up, {}});
        // The last field of counters_t is in the first word.
        std::reverse_copy(counters, counters + std::size(one.counters), one.counters);
      });
    }
    *count = static_cast<int>(links_.size());
    return links_.data();
  }

  /// The board of the first event of an error; -1: none.
  int faulty() {
    // Events that arrive while kernels run
    Flit flit;
    for (uint64_t cycle = 0; host_.next(flit, cycle);) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(&flit);
      const machine::Received received = machine::decode(bytes, sizeof flit, cycle);
      if (const auto* event = std::get_if<machine::Event>(&received)) on_event(*event);
    }
    return faulty_;
  }

 private:
  // ---- Transport ----

  void request(char, std::initializer_list<machine::Bytes> payload) override {
    // Packets, and the number of their answers
    const machine::Bytes* part = payload.begin();
    std::memcpy(&answers_, part->data, sizeof answers_);
    ++part;
    host_.send(static_cast<const uint8_t*>(part->data), part->count, 0);
  }
  machine::Record receive() override {
    uint64_t cycle = 0;
    for (const uint64_t end = now_ + kAnswer; !host_.next(last_, cycle);) {
      if (!answers_ && !host_.pending()) return {Kind::Done, 0, 0, now_, nullptr, 0};
      if (now_ == end) throw machine::Error(machine::Error::Kind::Died, "a board does not answer");
      step(false);
    }
    if (answers_ && ControlFlit::op(last_) == config::ControlOp::Answer) --answers_;
    return {Kind::Packet, 0, 0, cycle, reinterpret_cast<const uint8_t*>(&last_), sizeof last_};
  }
  void flush() override {}

  // ---- Listener ----

  void on_record(const machine::Record&) override {}
  void on_message(const machine::Message&) override {}
  void on_fault(const machine::Fault&) override {}
  void on_event(const machine::Event& event) override {
    if (event.what != config::BoardEvent::LinkUp && faulty_ < 0) faulty_ = static_cast<int>(event.board);
  }

  // ---- Simulation ----

  void make(unsigned count) {
    char name[] = "boards";
    char* arguments[] = {name, nullptr};
    for (unsigned b = 0; b < count; ++b) {
      boards_.push_back(std::make_unique<Board>(1, arguments, b));
      if (!boards_.back()->find_links()) error_ = "the links have no counters";
    }
    kernels_.assign(count, {});
  }

  void reset() {
    for (uint64_t end = now_ + kReset; now_ < end;) step(true);
    const auto ready = [this] {
      return std::all_of(boards_.begin(), boards_.end(), [](const auto& board) { return board->ready(); });
    };
    const auto up = [this] {
      return std::all_of(plugs_.begin(), plugs_.end(), [this](const auto& plug) {
        return boards_[plug.first]->models().rest().up_o[plug.second] != 0;
      });
    };
    if (!run(kReady, ready))
      error_ = "a board does not become ready";
    else if (!run(kUp, up))
      error_ = "the links of the boards do not come up";
  }

  /// Clocks the boards until a condition holds; false after that many cycles.
  template <typename Done>
  bool run(uint64_t cycles, Done done) {
    for (const uint64_t end = now_ + cycles; !done();) {
      if (now_ == end) return false;
      step(false);
    }
    return true;
  }

  /// One cycle of all boards. Whether anything moved or is in flight, as far as ports and links show.
  bool step(bool reset) {
    bool moved = host_.pending();
    Vgs_sim_uncore* rests[kTogether];
    for (size_t first = 0; first < boards_.size(); first += kTogether) {
      const auto count = static_cast<unsigned>(std::min<size_t>(kTogether, boards_.size() - first));
      for (unsigned i = 0; i < count; ++i) {
        Board& board = *boards_[first + i];
        rests[i] = &board.models().rest();
        board.low_rest(now_, reset);
        drive(kernels_[first + i], *rests[i], barrier_);
      }
      evaluate_together(rests, count, true);
      for (unsigned i = 0; i < count; ++i) {
        moved |= sample(kernels_[first + i], *rests[i], barrier_);
        rests[i]->clk_i = 1;
      }
      evaluate_together(rests, count, false);
      for (unsigned i = 0; i < count; ++i) {
        boards_[first + i]->high_rest(now_);
        moved |= !rests[i]->empty_o;
      }
    }
    ++now_;
    return moved || flying();
  }

  /// Whether a packet is on a link, or was since the last call.
  bool flying() {
    Traffic traffic;
    for (const auto& board : boards_) board->add(traffic);
    const bool moved = traffic.flying || traffic.received != received_;
    received_ = traffic.received;
    return moved;
  }

  uint64_t now_ = 0, moved_ = 0;
  uint32_t received_ = 0;
  ConfiguringHost host_;
  uint32_t answers_ = 0;  ///< that a request waits for
  Flit last_{};
  int faulty_ = -1;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::unique_ptr<Board>> boards_;
  std::vector<std::pair<unsigned, unsigned>> plugs_;  ///< board and link of each wire's begin
  std::vector<Kernels> kernels_;                      ///< by board
  unsigned barrier_ = kStreamBlocks;                  ///< the block of the barrier; kStreamBlocks: none
  std::vector<GsLink> links_;
  std::string error_;
};

/// Lives until the process ends.
Boards& all() {
  static Boards* const made = new Boards;
  return *made;
}

const GsFabric fabric{
    [](int rank, int port) { return &all().kernels(rank).ports[port]; },
    [](int rank, int block) { return &all().kernels(rank).blocks[block]; },
    [](int rank) { return &all().kernels(rank).barrier; },
    [](bool active) { return all().cycle(active); },
    [] { return all().faulty(); },
    [](int* count) { return all().links(count); },
};

}  // namespace
}  // namespace gossamer::sim

const GsFabric* gs_fabric_make(const char* script) {
  const std::string error = gossamer::sim::all().start(script);
  if (error.empty()) return &gossamer::sim::fabric;
  std::fprintf(stderr, "boards: %s\n", error.c_str());
  return nullptr;
}
