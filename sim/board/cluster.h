// SPDX-License-Identifier: Apache-2.0
/// A simulated cluster: boards, and the wires between them; or a single board.
///
/// A word that leaves a board's transceiver arrives at the other end one flight time later. So boards need to
/// synchronize only once per flight time: a worker simulates each of its boards for a whole flight time, then all
/// workers meet at a barrier. A wire is a ring buffer of words by cycle: one board writes words that arrive a flight
/// time later, the other reads words written before the last barrier. The result depends neither on the order of the
/// boards nor on the assignment to workers. The workers of a single board share its tiles; the first also simulates the
/// uncore.
///
/// With several ranks (ranks.h), each has consecutive boards. Ranks exchange the words of the wires between them at the
/// barrier, through the same ring buffers. A rank has only the models of its own boards.
///
/// Options, each with a value:
///   --boards COUNT
///   --host BOARD                    a host at that board's switch, the first of them number 0
///   --wire FROM,LINK,TO,LINK,CUT    one direction of a cable. It is cut CUT cycles after the begin of the first
///                                   run, from the start if -2, never if -1
///   --flight CYCLES                 of all wires; default `links.flight_cycles`
///   --loss FRAMES, --damage FRAMES  of 2^20, on all wires
///   --seed NUMBER                   of loss and damage
///   --kernels FILE                  kernels of another process use the streaming ports (shared_kernels.h)
#pragma once

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "linked_board.h"
#include "activity.h"
#include "guest_ports.h"
#include "models.h"
#include "network.h"
#include "ranks.h"
#include "router_trace.h"
#include "watch.h"

namespace gossamer::sim {

using ClusterBoard = LinkedBoard<HostPort, BoardModels<Vgs_sim_uncore>>;

/// The machine.
class Cluster {
 public:
  static constexpr unsigned kBoardTiles = ClusterBoard::kTiles;
  static constexpr uint64_t kWatchdogStride = 1024;

  Cluster(int argc, char** argv, const Ranks& ranks) : ranks_(ranks) {
    // Each model keeps its arguments, so it does not get the options of the whole cluster.
    std::vector<char*> models(argv, argv + 1);
    std::copy_if(argv + 1, argv + argc, std::back_inserter(models), [](const char* word) { return *word == '+'; });
    uint32_t loss = 0, damage = 0, seed = 1;
    each_option(argc, argv, [&](const std::string& option, const char* value) {
      const auto number = static_cast<uint32_t>(std::strtoul(value, nullptr, 10));
      if (option == "--loss") loss = number;
      if (option == "--damage") damage = number;
      if (option == "--seed") seed = number;
      if (option == "--flight") flight_ = number;
      if (option == "--kernels") {
        auto* memory = SharedKernels::map(value);
        if (!memory) fatal("the memory shared with kernels cannot be mapped");
        kernels_ = std::make_unique<GuestPorts>(memory);
      }
      if (option != "--boards") return;
      boards_.resize(number);
      others_.assign(number, std::vector<uint32_t>(ClusterBoard::kLinks, RouterAddress::kNowhere));
      first_ = static_cast<unsigned>(uint64_t{number} * ranks.number() / ranks.count());
      last_ = static_cast<unsigned>(uint64_t{number} * (ranks.number() + 1) / ranks.count());
      for (unsigned b = first_; b < last_; ++b) {
        boards_[b] = std::make_unique<ClusterBoard>(static_cast<int>(models.size()), models.data(), b);
      }
      host_at_.assign(number, nullptr);
    });
    to_.resize(ranks.count());
    from_.resize(ranks.count());
    each_option(argc, argv, [&](const std::string& option, const char* value) {
      if (option == "--wire") wire(value, loss, damage, seed);
      if (option != "--host") return;
      const auto number = static_cast<unsigned>(hosts_.size());
      hosts_.push_back(std::make_unique<HostPort>(number));
      const unsigned at = board(std::strtoul(value, nullptr, 10));
      if (number == 0) sender_ = at;
      if (!own(at)) return;
      host_at_[at] = hosts_.back().get();
      boards_[at]->host(host_at_[at]);
    });
    if (boards_.empty() || hosts_.empty() || !flight_) fatal("a cluster needs boards, a host and a flight time");
    if (first_ == last_) fatal("there are more ranks than boards");
    if (kernels_ && (ranks.many() || boards_.size() > SharedKernels::kMostBoards)) fatal("too many boards for kernels");
  }

  /// The workers of a single board share its tiles, and synchronize in every cycle. Kernels need all boards in the same
  /// cycle.
  uint64_t stride() const { return single() || kernels_ ? 1 : flight_; }
  // In-flight words that are no packets are answers or credits: one flight time. If they are lost, the waiting ends
  // keep requesting, which takes another flight time in each direction. Tiles that clear their tables after reset look
  // idle for up to 14,000 cycles.
  uint64_t quiescence() const { return (1 << 14) + 4 * flight_; }
  uint64_t drain() const { return 4096 + 4 * flight_; }
  /// Twice up and down a tree of all boards.
  uint64_t slack() const { return 4 * flight_ * boards_.size(); }
  Traffic traffic() {
    Traffic traffic;
    for (unsigned b = first_; b < last_; ++b) boards_[b]->add(traffic);
    return traffic;
  }

  unsigned tiles() const { return static_cast<unsigned>(boards_.size()) * kBoardTiles; }
  unsigned most_workers() const { return single() ? kBoardTiles : last_ - first_; }
  unsigned hosts() const { return static_cast<unsigned>(hosts_.size()); }
  /// Whether this rank simulates a tile.
  bool has(unsigned tile) const { return own(tile / kBoardTiles); }
  bool ready() {
    for (unsigned b = first_; b < last_; ++b) {
      if (!boards_[b]->ready()) return false;
    }
    return true;
  }
  bool find(Probe* probes) {
    for (unsigned b = first_; b < last_; ++b) {
      if (!boards_[b]->models().find(probes + b * kBoardTiles) || !boards_[b]->find_links()) return false;
    }
    return true;
  }
  void links(std::vector<LinkSums>& all) {
    for (unsigned b = first_; b < last_; ++b) boards_[b]->links(b, all);
  }
  void queues(std::vector<OccupiedQueue>& all) {
    for (unsigned b = first_; b < last_; ++b) boards_[b]->queues(b, all);
  }
  const uint64_t* flits(unsigned tile) const {
    return boards_[tile / kBoardTiles]->models().flits(tile % kBoardTiles);
  }
  uint64_t skipped(unsigned tile) const {
    return boards_[tile / kBoardTiles]->models().skipped(tile % kBoardTiles);
  }
  void begin(uint64_t cycle) {
    if (begun_) return;
    begun_ = true;
    for (unsigned b = first_; b < last_; ++b) boards_[b]->begin(cycle);
  }

#if VM_TRACE
  bool open_waves(const char* path, unsigned tile) {
    return boards_[tile / kBoardTiles]->models().open_waves(path, tile % kBoardTiles);
  }
  void flush_waves() {
    for (unsigned b = first_; b < last_; ++b) boards_[b]->models().flush_waves();
  }
#endif

  /// Worker w of k simulates every kth board, or of a single board every kth tile.
  template <typename What>
  void each_tile(unsigned worker, unsigned workers, What what) const {
    if (single()) {
      for (unsigned t = worker; t < kBoardTiles; t += workers) what(t);
      return;
    }
    for (unsigned b = first_ + worker; b < last_; b += workers) {
      for (unsigned t = 0; t < kBoardTiles; ++t) what(b * kBoardTiles + t);
    }
  }

  void send(const uint8_t* bytes, size_t count, uint32_t replies) {
    if (sends()) hosts_[0]->send(bytes, count, replies);
  }
  /// Whether this rank, and of it worker w of k, simulates the board of the host that drives the debug buses.
  bool serves(unsigned worker, unsigned workers) const { return sends() && (sender_ - first_) % workers == worker; }
  void drive(TileHost* tiles) {
    if (sends()) hosts_[0]->drive(tiles, kBoardTiles, this->tiles());
  }
  void expect(unsigned board, uint64_t tiles, bool add) {
    if (sends()) hosts_[0]->expect(board, tiles, add);
  }
  void pump(uint64_t cycle) {
    if (sends()) hosts_[0]->pump(cycle);
  }
  bool pending() const {
    for (const auto& host : hosts_) {
      if (host->pending()) return true;
    }
    return false;
  }
  uint32_t exchanging(unsigned worker, unsigned workers) const {
    uint32_t sum = 0;
    for (unsigned b = first_ + worker; b < last_; b += workers) {
      if (host_at_[b]) sum += host_at_[b]->exchanging();
    }
    return sum;
  }
  uint64_t progress() {
    uint64_t last = 0;
    for (auto& host : hosts_) last = std::max(last, host->ear().progress());
    return last;
  }
  /// The host that sends.
  const HostPort& host() const { return *hosts_[0]; }
  /// Calls `what` for each host at one of a worker's boards.
  template <typename What>
  void each_host(unsigned worker, unsigned workers, What what) const {
    for (unsigned b = first_ + worker; b < last_; b += workers) {
      if (host_at_[b]) what(static_cast<const HostPort&>(*host_at_[b]));
    }
  }
  void sources(std::vector<Records*>& all) {
    for (auto& host : hosts_) all.push_back(&host->ear().records());
  }

  // ---- For the trace; only with one rank ----

  std::vector<unsigned> host_boards() const {
    std::vector<unsigned> all(hosts_.size());
    for (unsigned b = 0; b < host_at_.size(); ++b) {
      for (unsigned h = 0; h < hosts_.size(); ++h) {
        if (host_at_[b] == hosts_[h].get()) all[h] = b;
      }
    }
    return all;
  }
  void trace_host(unsigned host, HostTrace* trace) { hosts_[host]->ear().trace(trace); }
  /// A RouterTrace for each board; false if their signals are not as expected.
  bool routers(std::vector<RouterTrace>& all) {
    for (unsigned b = 0; b < boards_.size(); ++b) {
      // Routers receive from exits of the mesh, from links, and from the host's port.
      std::vector<uint32_t> router_addresses(config::router::mesh_ports, RouterAddress::tiles(b));
      for (unsigned l = 0; l < ClusterBoard::kLinks; ++l) router_addresses.push_back(RouterAddress::link(b, l));
      router_addresses.push_back(RouterAddress::host(b));
      std::vector<RouterProbe> probes;
      if (!RouterProbe::find(boards_[b]->models().rest_context(), probes) || probes.size() != router_addresses.size()) {
        return false;
      }
      all.emplace_back(std::move(probes), std::move(router_addresses), others_[b]);
    }
    return true;
  }

  /// Evaluates a few boards together: their models share code and the processor's branch-prediction state.
  template <bool kWaves>
  void go(unsigned worker, unsigned workers, uint64_t cycle, uint64_t end, bool reset, TileHost*) {
    if (single()) {
      for (; cycle < end; ++cycle) step_share<kWaves>(worker, workers, cycle, reset);
      return;
    }
    unsigned some[kTogether];
    unsigned count = 0;
    // Ranks synchronize at least once a flight time.
    for (uint64_t until; cycle < end; cycle = until) {
      until = ranks_.many() ? std::min(end, (cycle / flight_ + 1) * flight_) : end;
      for (unsigned b = first_ + worker; b < last_; b += workers) {
        some[count++] = b;
        if (count < kTogether && b + workers < last_) continue;
        for (uint64_t c = cycle; c < until; ++c) step<kWaves>(some, count, c, reset);
        count = 0;
      }
      if (ranks_.many()) exchange(cycle, until);
    }
  }

 private:
  static constexpr unsigned kTogether = 4;

  template <bool kWaves>
  void step(const unsigned* some, unsigned count, uint64_t cycle, bool reset) {
    ClusterBoard::Models::TileModel* tiles[kTogether * kBoardTiles];
    Vgs_sim_uncore* rests[kTogether];
    unsigned awake = 0;
    for (unsigned i = 0; i < count; ++i) {
      rests[i] = &boards_[some[i]]->models().rest();
      awake += boards_[some[i]]->low_tiles(0, 1, cycle, reset, tiles + awake);
      boards_[some[i]]->low_rest(cycle, reset);
      if (kernels_) kernels_->drive_board(some[i], *rests[i]);
    }
    evaluate_together(tiles, awake, true);
    evaluate_together(rests, count, true);
#if VM_TRACE
    if constexpr (kWaves) {
      for (unsigned i = 0; i < count; ++i) boards_[some[i]]->models().dump_waves(cycle * 2);
    }
#endif
    for (unsigned t = 0; t < awake; ++t) tiles[t]->clk_i = 1;
    for (unsigned i = 0; i < count; ++i) {
      if (kernels_) kernels_->sample_board(some[i], *rests[i]);
      rests[i]->clk_i = 1;
    }
    evaluate_together(tiles, awake, false);
    evaluate_together(rests, count, false);
#if VM_TRACE
    if constexpr (kWaves) {
      for (unsigned i = 0; i < count; ++i) boards_[some[i]]->models().dump_waves(cycle * 2 + 1);
    }
#endif
    for (unsigned i = 0; i < count; ++i) {
      boards_[some[i]]->high_tiles(0, 1, cycle);
      boards_[some[i]]->high_rest(cycle);
    }
  }

  /// One cycle of one worker's share of a single board.
  template <bool kWaves>
  void step_share(unsigned worker, unsigned workers, uint64_t cycle, bool reset) {
    ClusterBoard& board = *boards_[0];
    ClusterBoard::Models::TileModel* tiles[kBoardTiles];
    Vgs_sim_uncore* const rest = &board.models().rest();
    const unsigned awake = board.low_tiles(worker, workers, cycle, reset, tiles);
    if (!worker) board.low_rest(cycle, reset);
    if (!worker && kernels_) kernels_->drive_board(0, *rest);
    evaluate_together(tiles, awake, true);
    if (!worker) evaluate_together(&rest, 1, true);
#if VM_TRACE
    if constexpr (kWaves) board.models().dump_waves(cycle * 2);
#endif
    for (unsigned t = 0; t < awake; ++t) tiles[t]->clk_i = 1;
    if (!worker && kernels_) kernels_->sample_board(0, *rest);
    if (!worker) rest->clk_i = 1;
    evaluate_together(tiles, awake, false);
    if (!worker) evaluate_together(&rest, 1, false);
#if VM_TRACE
    if constexpr (kWaves) board.models().dump_waves(cycle * 2 + 1);
#endif
    board.high_tiles(worker, workers, cycle);
    if (!worker) board.high_rest(cycle);
  }

  template <typename What>
  static void each_option(int argc, char** argv, What what) {
    for (int i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) what(argv[i], argv[i + 1]);
  }

  unsigned board(unsigned long number) const {
    if (number >= boards_.size()) fatal("no such board");
    return static_cast<unsigned>(number);
  }

  void wire(const char* text, uint32_t loss, uint32_t damage, uint32_t seed) {
    unsigned from, link, to, its;
    long long cut;
    if (std::sscanf(text, "%u,%u,%u,%u,%lld", &from, &link, &to, &its, &cut) != 5 || link >= ClusterBoard::kLinks ||
        its >= ClusterBoard::kLinks) {
      fatal("a wire is FROM,LINK,TO,LINK,CUT");
    }
    wires_.push_back(std::make_unique<Wire>(flight_));
    Wire* wire = wires_.back().get();
    if (own(board(from))) {
      boards_[from]->plug(link, wire, cut);
      boards_[from]->faults(link, loss, damage, scatter(seed * 0x10001U + from * 8 + link));
    }
    if (own(board(to))) boards_[to]->plug(its, static_cast<const Wire*>(wire));
    others_[from][link] = RouterAddress::link(to, its);
    if (own(from) == own(to)) return;
    (own(from) ? to_[rank_of(to)] : from_[rank_of(from)]).push_back(wire);
  }

  bool single() const { return boards_.size() == 1; }
  bool sends() const { return own(sender_); }
  /// Whether this rank simulates a board.
  bool own(unsigned board) const { return board >= first_ && board < last_; }
  unsigned rank_of(unsigned board) const {
    unsigned rank = 0;
    while (boards_.size() * (rank + 1) / ranks_.count() <= board) ++rank;
    return rank;
  }

  /// A word on a wire between two ranks.
  struct Parcel {
    uint32_t wire = 0;   ///< index among the wires between these ranks, in command-line order
    uint32_t after = 0;  ///< cycles after the first exchanged one
    Wire::Word word;
  };

  /// Sends other ranks the words of the cycles from `begin` to `end`, and stores their words in the wires from them.
  void exchange(uint64_t begin, uint64_t end) {
    const size_t count = ranks_.count();
    std::vector<std::vector<Parcel>> out(count), in(count);
    std::vector<const uint8_t*> outs(count);
    std::vector<uint8_t*> ins(count);
    std::vector<uint64_t> sizes(count), most(count);
    for (size_t r = 0; r < count; ++r) {
      for (uint32_t w = 0; w < to_[r].size(); ++w) {
        for (uint64_t c = begin; c < end; ++c) {
          const Wire::Word& word = to_[r][w]->in(c);
          if (word.valid) out[r].push_back({w, static_cast<uint32_t>(c - begin), word});
        }
      }
      // A cable has two directions, so a rank receives from each rank that it sends to.
      in[r].resize(from_[r].size() * (end - begin));
      outs[r] = reinterpret_cast<const uint8_t*>(out[r].data());
      ins[r] = reinterpret_cast<uint8_t*>(in[r].data());
      sizes[r] = out[r].size() * sizeof(Parcel);
      most[r] = in[r].size() * sizeof(Parcel);
    }
    ranks_.swap(outs.data(), ins.data(), sizes.data(), most.data());
    for (size_t r = 0; r < count; ++r) {
      for (Wire* wire : from_[r]) {
        for (uint64_t c = begin; c < end; ++c) wire->in(c).valid = 0;
      }
      for (size_t i = 0; most[r] && i < sizes[r] / sizeof(Parcel); ++i) {
        from_[r].at(in[r][i].wire)->in(begin + in[r][i].after) = in[r][i].word;
      }
    }
  }

  /// Hash that separates consecutive numbers.
  static uint32_t scatter(uint32_t value) {
    for (unsigned i = 0; i < 3; ++i) value = (value ^ value >> 16) * 0x045D'9F3BU;
    return value ^ value >> 16;
  }

  const Ranks& ranks_;
  uint64_t flight_ = config::links::flight_cycles;
  unsigned first_ = 0, last_ = 0;  ///< boards of this rank
  unsigned sender_ = 0;            ///< the board of the host that sends
  std::vector<std::vector<Wire*>> to_, from_;  ///< wires to and from boards of each other rank
  std::vector<std::unique_ptr<ClusterBoard>> boards_;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::vector<uint32_t>> others_;  ///< by board and link: the router at the remote end
  std::vector<std::unique_ptr<HostPort>> hosts_;
  std::vector<HostPort*> host_at_;  ///< by board
  std::unique_ptr<GuestPorts> kernels_;
  bool begun_ = false;
};

}  // namespace gossamer::sim
