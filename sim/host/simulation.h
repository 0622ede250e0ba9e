// SPDX-License-Identifier: Apache-2.0
/// The simulator that the `rtl` engine controls (records.h), around a machine: a tile, a board, or a cluster.
///
/// Everything that must not depend on the speed of the host is handled cycle by cycle: bytes of debug buses, assembly
/// of lines, program counters of traps, the watchdog. Time stops between requests, so the same requests yield the same
/// cycles. The simulator ends at the end of its standard input.
///
/// A machine distributes its models over workers, threads of this process that advance together (sync.h). It provides
///   kBoardTiles, kLook                             tiles of a board; cycles between checks of the watchdog
///   stride(), quiescence(), drain(), slack()       cycles, see below
///   traffic()                                      of its links (activity.h)
///   Machine(argc, argv)                            models, in reset
///   tiles(), most_workers(), ready()               ready: its tables are initialized
///   bool find(Probe* probes)                       signals of each tile's cores, after reset
///   bool open_waves(path, tile), flush_waves()     if built with waves
///   begin(cycle)                                   a run begins
///   serves(worker, workers)                        whether this worker handles the host's end of all debug buses
///   drive(hosts), pump(cycle)                      debug buses in packets (debug_port.h): who receives; sends
///   expect(board, tiles, add)                      threads of these tiles are about to be started
///   each_tile(worker, workers, what)               what(tile) for each of a worker's tiles
///   send(bytes, count, replies), pending(), exchanging(worker, workers), progress(), sources(all)
///                                                  the host's end of the network (network.h)
///   go<kWaves>(worker, workers, cycle, end, reset, hosts)
///   host_boards(), trace_host(host, trace)         board of each host; enables its trace (host_trace.h)
///   routers(all)                                   only with multicast routers: one RouterTrace per board
///   has(tile)                                      only if its boards may be distributed over ranks (ranks.h)
/// `go` simulates cycles of one worker's models up to the next multiple of the stride, at which all workers
/// synchronize. Only there completion is checked, so the number of workers has no effect. After `quiescence` cycles
/// without activity, nothing can be in flight any more; after its last thread has ended, a run continues until there
/// was no activity for `drain` cycles. Timeouts are extended by `slack` cycles, the time of a packet through the
/// machine.
#pragma once

#include <signal.h>
#include <sys/prctl.h>

#include <chrono>
#include <memory>
#include <string>

#include "activity.h"
#include "network.h"
#include "options.h"
#include "probe.h"
#include "queue_probe.h"
#include "ranks.h"
#include "session.h"
#include "sync.h"
#include "tile_host.h"
#include "trace.h"
#include "watch.h"

namespace gossamer::sim {

template <typename Machine>
class Simulation {
 public:
  Simulation(std::FILE* out, const Options& options, const Ranks& ranks, int argc, char** argv)
      : out_(out),
        options_(options),
        ranks_(ranks),
        machine_(made(ranks, argc, argv)),
        tiles_(machine_.tiles()),
        probes_(tiles_),
        all_(probes_.data(), tiles_, kThreads),
        watch_(tiles_) {
    hosts_.reserve(tiles_);
    for (unsigned t = 0; t < tiles_; ++t) hosts_.emplace_back(t * kThreads);
    machine_.drive(hosts_.data());
    machine_.sources(sources_);
    for (TileHost& host : hosts_) sources_.push_back(&host.records());
    sources_.push_back(&own_);
    if (ranks_.many() && (options.waves || options.trace)) fatal("several ranks cannot write waves or traces");
    // One thread writes waves, and trace events of a tile and of its host; with several ranks, each has one worker.
    const unsigned wanted = options.waves || options.trace || ranks_.many() ? 1 : options.workers;
    const unsigned workers = std::min(std::max(wanted, 1U), machine_.most_workers());
    barrier_ = std::make_unique<WorkerBarrier>(workers);
    throttle_ = WorkerThrottle(workers);
#if !VM_TRACE
    if (options.waves) fatal("built without waves");
#endif
    const auto go_to = [&](uint64_t end, bool reset) {
      machine_.template go<false>(0, 1, cycle_, end, reset, hosts_.data());
      cycle_ = end;
    };
    go_to(kResetCycles, true);
    // From here on, workers synchronize at multiples of the stride.
    do {
      if (cycle_ > kPatience) fatal("a board does not come out of reset");
      go_to(next(cycle_), false);
    } while (ranks_.any(!machine_.ready()));
    if (!machine_.find(probes_.data())) fatal("there are no cores");
    each_own([this](unsigned t) {
      if (probes_[t].cores() * kThreadsPerCore != kThreads) {
        fatal("the cores' signals for simulation are not as expected");
      }
    });
    if (options.trace) open_trace();
    if (options.status && ranks_.first()) watch_.open(options.status, options.about);
    watch("loads");
  }

  /// Handles requests until the end of the input.
  void serve() {
    Request request;
    while (read(request)) {
      const uint8_t* bytes = request.payload.data();
      const size_t count = request.payload.size();
      switch (request.kind) {
        case 'S':
          if (serves(tile(request.word(0)))) hosts_[request.word(0)].send(bytes + 4, count - 4, 0);
          if (!exchange("the tile accepts no more bytes from the debug bus", "")) return;
          break;
        case 'Q':
          query(request.word(4), bytes + 8, count - 8, request.word(0));
          if (!exchange("the tile accepts no more bytes from the debug bus",
                        "the tile does not answer on the debug bus")) {
            return;
          }
          break;
        case 'N':
          machine_.send(bytes + 4, count - 4, request.word(0));
          if (!exchange("the tile accepts no more flits from the network", "the tile's loader does not answer")) return;
          break;
        case 'I': {
          const uint32_t thread = request.word(0);
          if (!serves(tile(thread / kThreads))) break;
          hosts_[thread / kThreads].input(thread % kThreads, bytes + 4, count - 4);
          break;
        }
        case 'Y': trace_.symbols(symbols(request)); break;
        case 'R':
          if (!run(threads_of(request), request.long_word(8), request.long_word(16))) return;
          break;
        case 'P': pause_ = request.long_word(0); break;
        case 'C': resume(); break;
        case 'T':
          report_watched(cycle_);
          own_.put(Kind::Done, cycle_, 0, nullptr, 0);
          break;
        case 'X': break;  // arrived after the end of its run
        default:
          if (!session_.serve(request)) fatal("a request of an unknown kind");
      }
      write();
    }
  }

 private:
  friend class Session<Simulation>;
  static constexpr unsigned kTilesOfBoard = Machine::kBoardTiles;
  static constexpr uint64_t kResetCycles = 16;
  static constexpr uint32_t kEachTile = ~uint32_t{0};
  static constexpr uint64_t kPatience = 1'000'000;  ///< cycles within which a tile must accept data or answer
  /// Cycles between checks of the watchdog; a power of two.
  static constexpr uint64_t kWatchdogStride = Machine::kWatchdogStride;
  static constexpr uint64_t kPollStride = 1 << 14;      ///< cycles between polls of the host; a power of two
  static constexpr auto kProgressInterval = std::chrono::milliseconds(250);  ///< between records of progress

  static Machine made(const Ranks& ranks, int argc, char** argv) {
    if constexpr (std::is_constructible_v<Machine, int, char**, const Ranks&>) {
      return Machine(argc, argv, ranks);
    } else {
      return Machine(argc, argv);
    }
  }

  /// Whether this rank simulates a tile.
  bool has(unsigned t) const {
    if constexpr (requires { machine_.has(t); }) return machine_.has(t);
    return true;
  }
  template <typename What>
  void each_own(What what) const {
    machine_.each_tile(0, 1, what);
  }
  /// Whether this rank handles the host's end of the debug buses, which are those of all tiles.
  bool serves(unsigned) const { return machine_.serves(0, 1); }
  template <typename What>
  void each_served(unsigned worker, unsigned workers, What what) const {
    if (!machine_.serves(worker, workers)) return;
    for (unsigned t = 0; t < tiles_; ++t) what(t);
  }

  void open_trace() {
    mailboxes_.resize(tiles_);
    each_context([this](unsigned first, unsigned count) {
      if (!MailboxProbe::find(*probes_[first].context(), &mailboxes_[first], count)) {
        fatal("the mailboxes' signals for simulation are not as expected");
      }
    });
    Trace::Shape shape;
    shape.boards = tiles_ / Machine::kBoardTiles;
    shape.tiles = Machine::kBoardTiles;
    shape.width = mesh_width();
    shape.threads = kThreads;
    shape.threads_per_core = kThreadsPerCore;
    shape.hosts = machine_.host_boards();
    std::vector<RouterTrace> routers;
    if constexpr (requires { machine_.routers(routers); }) {
      if (!machine_.routers(routers)) fatal("the multicast routers' signals for simulation are not as expected");
    }
    if (!trace_.open(options_.trace, shape, options_.least, options_.trace_bytes, probes_.data(), mailboxes_.data(),
                     std::move(routers))) {
      fatal("cannot write the trace");
    }
    for (unsigned t = 0; t < tiles_; ++t) hosts_[t].trace(&trace_.tile(t));
    for (unsigned h = 0; h < shape.hosts.size(); ++h) machine_.trace_host(h, &trace_.host(h));
  }

  // ---- Time ----

  /// Remaining work of a worker's tiles and of its part of the network.
  template <bool kRuns>
  uint32_t left(unsigned worker, unsigned workers) {
    if (kRuns && session_.waits()) return session_.left(worker, workers);
    uint32_t sum = kRuns ? 0 : machine_.exchanging(worker, workers);
    each_served(worker, workers, [&](unsigned t) { sum += kRuns ? hosts_[t].unfinished() : hosts_[t].exchanging(); });
    return sum;
  }

  /// Simulates while work is left, at most to cycle `end`. False if no work is left.
  template <bool kRuns, bool kWaves, bool kTrace>
  bool advance(uint64_t end) {
    bool more = ranks_.any(left<kRuns>(0, 1)) != 0;
    while (more && cycle_ < end) more = batch<kRuns, kWaves, kTrace>(end);
    return more;
  }

  /// The same with the best number of workers at present; may stop before `end`.
  template <bool kRuns, bool kWaves, bool kTrace>
  bool batch(uint64_t end) {
    const WorkerThrottle::Plan plan = throttle_.plan(end - cycle_);
    const uint64_t begin = cycle_;
    end = std::min(end, next(begin + plan.cycles - 1));
    machine_.pump(begin);
    uint64_t at = begin;
    bool more = true;
    const auto run = [&](unsigned worker) {
      uint64_t cycle = begin, seen = begin;
      uint32_t left_over = 1;
      while (cycle < end && left_over && !(left_over & WorkerBarrier::kLeave)) {
        const uint64_t until = std::min(end, next(cycle));
        if constexpr (kTrace) {
          while (cycle < until) {
            machine_.template go<kWaves>(worker, plan.workers, cycle, cycle + 1, false, hosts_.data());
            ++cycle;
            machine_.each_tile(worker, plan.workers, [&](unsigned t) { trace_.sample(t, cycle); });
          }
        } else {
          machine_.template go<kWaves>(worker, plan.workers, cycle, until, false, hosts_.data());
          cycle = until;
        }
        auto mine = static_cast<uint32_t>(ranks_.any(left<kRuns>(worker, plan.workers)));
        if (kRuns && !drains_ && cycle / Watch::kEvery != seen / Watch::kEvery) {
          machine_.each_tile(worker, plan.workers, [this, cycle](unsigned t) {
            watch_.sample(t, probes_[t], probes_[t].active(), sums(t), cycle - first_);
          });
          seen = cycle;
        }
        if (plan.workers > 1) {
          if (!worker && throttle_.too_slow(cycle - begin)) mine |= WorkerBarrier::kLeave;
          mine = barrier_->arrive(worker, mine);
        }
        left_over = mine;
      }
      if (worker) return;
      at = cycle;
      more = (left_over & ~WorkerBarrier::kLeave) != 0;
    };
    if (plan.workers > 1) {
      barrier_->work(run);
    } else {
      run(0);
    }
    cycle_ = at;
    throttle_.accepted(at - begin);
    return more;
  }

  /// The first multiple of the stride after a cycle.
  uint64_t next(uint64_t cycle) const { return (cycle / machine_.stride() + 1) * machine_.stride(); }

  /// Sends packets to one tile or to all; each must send `replies` replies.
  void query(uint32_t to, const uint8_t* bytes, size_t count, uint32_t replies) {
    if (to == kEachTile) {
      each_served(0, 1, [&](unsigned t) { hosts_[t].send(bytes, count, replies); });
    } else if (serves(tile(to))) {
      hosts_[to].send(bytes, count, replies);
    }
  }

  /// Handles a request: settles, and reports that it is done. False after a timeout.
  bool exchange(const char* not_accepted, const char* not_answered) {
    if (!settle(not_accepted, not_answered)) return false;
    own_.put(Kind::Done, cycle_, 0, nullptr, 0);
    return true;
  }

  /// Simulates until the tiles have accepted all data and answered. False after a timeout.
  bool settle(const char* not_accepted, const char* not_answered) {
    bool waits = true;
    for (uint64_t since = cycle_; waits;) {
      if (trace_.begun()) {
        waits = advance<false, false, true>(cycle_ + kWatchdogStride);
        trace_.collect();
      } else {
        waits = advance<false, false, false>(cycle_ + kWatchdogStride);
      }
      watch("loads");
      since = std::max(since, progress());
      if (!waits || cycle_ - since < kPatience + machine_.slack()) continue;
      bool sends = machine_.pending();
      for (TileHost& host : hosts_) sends |= host.bus().pending();
      return fail(ranks_.any(sends) || !*not_answered ? not_accepted : not_answered);
    }
    return true;
  }

  uint64_t progress() {
    uint64_t last = machine_.progress();
    for (const TileHost& host : hosts_) last = std::max(last, host.progress());
    return ranks_.max(last);
  }
  uint64_t issued() const { return ranks_.sum(all_.issued()); }
  Activity::IdleCycles idle_cycles(Activity& activity) {
    return activity.idle_cycles(ranks_, cycle_, issued(), progress(), machine_.traffic());
  }

  // ---- Running ----

  /// Number of threads that a run starts on each board.
  std::vector<uint32_t> threads_of(const Request& request) const {
    constexpr uint32_t kOfBoard = Machine::kBoardTiles * kThreads;
    constexpr size_t kHead = 24;
    std::vector<uint32_t> all(tiles_ / Machine::kBoardTiles);
    for (uint32_t b = 0, left = request.word(0); b < all.size(); ++b) {
      all[b] = std::min(left, kOfBoard);
      left -= all[b];
      if (request.payload.size() > kHead) all[b] = std::min(request.word(kHead + 4 * b), kOfBoard);
    }
    return all;
  }

  bool run(const std::vector<uint32_t>& threads, uint64_t most, uint64_t watchdog) {
    // All boards know the tiles of the run before a thread starts at one of them.
    for (unsigned b = 0; b < threads.size(); ++b) {
      const unsigned count = (threads[b] + kThreads - 1) / kThreads;
      machine_.expect(b, count < 64 ? (uint64_t{1} << count) - 1 : ~uint64_t{0}, false);
    }
    if (!settle("a board accepts no more packets", "a board does not answer")) return false;
    issued_first_ = issued();
    activity_.begin(ranks_, cycle_, issued_first_);
    machine_.begin(cycle_);
    watch_begin();
    each_served(0, 1, [&](unsigned t) {
      // Threads of a board that take part, and those of its tiles before this one.
      const uint32_t its = threads[t / Machine::kBoardTiles];
      const uint32_t before = t % Machine::kBoardTiles * kThreads;
      const uint32_t mine = its > before ? std::min(its - before, kThreads) : 0;
      hosts_[t].start(mine, its, Machine::kBoardTiles > 1, cycle_);
    });
#if VM_TRACE
    if (options_.waves && !machine_.open_waves(options_.waves, options_.tile % tiles_)) fatal("cannot write waves");
#endif
    end_ = most && most < ~uint64_t{0} - cycle_ ? cycle_ + most : ~uint64_t{0};
    watchdog_ = watchdog;
    resume();
    return true;
  }

  /// Continues a run to its end or its next pause.
  void resume() {
    const uint64_t pause = pause_ < ~uint64_t{0} - first_ ? first_ + pause_ : ~uint64_t{0};
    Reason reason;
    if (options_.waves) {
      reason = trace_.is_open() ? go<true, true>(pause) : go<true, false>(pause);
    } else {
      reason = trace_.is_open() ? go<false, true>(pause) : go<false, false>(pause);
    }
    pause_ = ~uint64_t{0};
    if (reason == Reason::Paused) {
      own_.put(Kind::Paused, cycle_, 0, nullptr, 0);
    } else {
      ended(reason);
    }
  }

  template <bool kWaves, bool kTrace>
  Reason go(uint64_t pause) {
    auto reported = std::chrono::steady_clock::now();
    for (bool more = true; more;) {
      more = advance<true, kWaves, kTrace>(std::min({end_, pause, (cycle_ / kWatchdogStride + 1) * kWatchdogStride}));
      if constexpr (kTrace) trace_.collect();
      if (cycle_ >= end_) return Reason::MostCycles;
      if (!more) break;
      if (cycle_ >= pause) return Reason::Paused;
      watch("runs");
      for (TileHost& host : hosts_) host.stop_querying(cycle_);
      const Activity::IdleCycles idle = idle_cycles(activity_);
      if (idle.all >= machine_.quiescence() && all_wait()) return Reason::Deadlock;
      if (watchdog_ && idle.work >= watchdog_ + machine_.slack()) return Reason::Stuck;
      if (cycle_ % kPollStride) continue;
      if (stop_requested()) return Reason::Stopped;
      if (is_time(reported)) {
        const uint64_t done = activity_.issued() - issued_first_;
        own_.put(Kind::Progress, cycle_, 0, &done, sizeof done);
      }
      write();
    }
    return Reason::AllEnded;
  }

  /// Calls `what` for each thread that has started and not ended.
  template <typename What>
  void each_running(What what) const {
    for (unsigned t = 0; t < tiles_; ++t) {
      // The rank of the host knows, the rank of the tile asks.
      const uint64_t running = ranks_.sum(serves(t) ? hosts_[t].running() : 0);
      for (uint64_t left = has(t) ? running : 0; left; left &= left - 1) {
        what(t * kThreads + static_cast<unsigned>(std::countr_zero(left)));
      }
    }
  }

  /// Whether all running threads wait for a message, for space to send one, or in the idle barrier; of those for which
  /// `counts` returns true.
  template <typename Counts>
  bool all_wait(Counts counts) const {
    bool all = true, any = false;
    each_running([&](unsigned thread) {
      if (!counts(thread)) return;
      const State state = all_.state(thread);
      const auto csr = static_cast<config::Csr>(state.address);
      any = true;
      all &= state.doing == Doing::Request && state.request == RequestKind::Csr &&
             (csr == config::Csr::Wait || csr == config::Csr::Idle);
    });
    return ranks_.any((all ? 0U : 2U) | (any ? 1U : 0U)) == 1;
  }
  bool all_wait() const {
    return all_wait([](unsigned) { return true; });
  }

  /// Whether the host has requested a stop, or has closed the connection.
  bool stop_requested() const { return ranks_.share(ranks_.first() && Request::stop_requested()); }

  /// Whether kProgressInterval has passed since a time, which is then set to the present.
  bool is_time(std::chrono::steady_clock::time_point& since) const {
    const auto now = std::chrono::steady_clock::now();
    if (!ranks_.share(now - since >= kProgressInterval)) return false;
    since = now;
    return true;
  }

  void ended(Reason reason) {
    uint64_t last = cycle_;
    if (reason == Reason::AllEnded) {
      // Workers may have synchronized some cycles after the last end of a thread.
      last = 0;
      for (const TileHost& host : hosts_) last = std::max(last, host.progress());
      last = std::min(ranks_.max(last), cycle_);
      drain();
    }
    for (TileHost& host : hosts_) host.finish(cycle_);
    if (!trace_.close(cycle_)) fatal("the trace could not be written completely");
#if VM_TRACE
    machine_.flush_waves();
#endif
    const std::vector<ActiveThread> active = active_threads();
    struct {
      uint32_t reason, count;
      uint64_t first, last, issued;
    } const head{static_cast<uint32_t>(reason), static_cast<uint32_t>(active.size()), first_, last,
                 issued() - issued_first_};
    report_watched(last);
    if (reason == Reason::Deadlock || reason == Reason::Stuck) report_queues();
    std::vector<uint8_t> payload(sizeof head + active.size() * sizeof(ActiveThread));
    std::memcpy(payload.data(), &head, sizeof head);
    if (!active.empty()) std::memcpy(payload.data() + sizeof head, active.data(), active.size() * sizeof(ActiveThread));
    own_.put(Kind::End, cycle_, 0, payload.data(), payload.size());
  }

  // ---- Statistics ----

  void watch_begin() {
    first_ = cycle_;
    trace_.begin();
    watch_.begin([this](unsigned t) { return sums(t); });
  }

  /// At the end: reports the sums of the cycles up to `last`, and what the trace does not show.
  void report_watched(uint64_t last) {
    const std::string seen = watched("ended", last), text = trace_.left_out();
    own_.put(Kind::Watch, cycle_, 0, seen.data(), seen.size());
    if (!text.empty()) own_.put(Kind::Note, cycle_, 0, text.data(), text.size());
  }

  std::string watched(const char* state, uint64_t last) {
    std::vector<LinkSums> links;
    if constexpr (requires { machine_.links(links); }) machine_.links(links);
    ranks_.append(links);
    std::vector<Watch::Tile> others(ranks_.many() ? tiles_ : 0);
    watch_others(others);
    return watch_.json(state, first_, last, Machine::kBoardTiles, mesh_width(), links,
                       [&](unsigned t) { return has(t) ? sums(t) : others[t]; });
  }

  /// Sends the statistics of the other ranks' tiles to rank 0.
  void watch_others(std::vector<Watch::Tile>& others) {
    struct One {
      unsigned tile;
      Watch::Tile sums;
      ThreadSamples samples;
    };
    std::vector<One> all;
    if (!ranks_.first()) {
      each_own([&](unsigned t) { all.push_back({t, watch_.since(t, sums(t)), watch_.samples(t)}); });
    }
    ranks_.append(all);
    if (!ranks_.first()) return;
    for (const One& one : all) {
      others[one.tile] = one.sums;
      watch_.samples(one.tile) = one.samples;
    }
  }

  Watch::Tile sums(unsigned t) {
    Watch::Tile tile;
    if (!has(t)) return tile;
    tile.started = static_cast<unsigned>(std::popcount(probes_[t].active()));
    tile.issued = probes_[t].issued();
    if constexpr (requires { machine_.flits(t); }) {
      tile.mesh = true;
      std::copy_n(machine_.flits(t), tile.flits.size(), tile.flits.begin());
    }
    if constexpr (requires { machine_.skipped(t); }) tile.skipped = machine_.skipped(t);
    return tile;
  }

  /// Writes the status file, if it is due and enabled.
  void watch(const char* state) {
    if (!options_.status || !is_time(watched_)) return;
    const std::string text = watched(state, cycle_);
    if (watch_.is_open()) watch_.write(text);
  }

  static constexpr unsigned mesh_width() { return Machine::kBoardTiles > 1 ? config::mesh::width : 1; }

  /// Messages that threads have sent to a host before they ended may still be in flight.
  void drain() {
    const uint64_t quiescence = machine_.drain();
    drains_ = true;
    while (quiescence && idle_cycles(activity_).all < quiescence) {
      // No work is left, so each batch ends at the next synchronization.
      batch<true, false, false>(cycle_ + quiescence);
    }
    drains_ = false;
  }

  /// The threads that have started and not ended.
  std::vector<ActiveThread> active_threads() const {
    std::vector<ActiveThread> active;
    each_running([&](unsigned thread) {
      const State state = all_.state(thread);
      active.push_back({thread, static_cast<uint8_t>(state.doing), static_cast<uint8_t>(state.request), 0, state.pc,
                       state.address, state.data});
    });
    ranks_.append(active);
    return active;
  }

  /// Reports the queues that are not empty.
  void report_queues() {
    std::vector<OccupiedQueue> held, boards;
    each_context([&](unsigned first, unsigned count) {
      if (has(first)) QueueProbe::tiles(*probes_[first].context(), first, count, held);
    });
    if constexpr (requires { machine_.queues(boards); }) machine_.queues(boards);
    ranks_.append(held);
    ranks_.append(boards);
    held.insert(held.end(), boards.begin(), boards.end());
    own_.put(Kind::Queues, cycle_, 0, held.data(), held.size() * sizeof(OccupiedQueue));
  }

  /// Calls `what` with the first tile of each context and its number of tiles.
  template <typename What>
  void each_context(What what) const {
    for (unsigned t = 0, count = 0; t < tiles_; t += count) {
      for (count = 1; t + count < tiles_ && probes_[t + count].context() == probes_[t].context();) ++count;
      what(t, count);
    }
  }

  // ---- The host ----

  unsigned hosts_in_all() const {
    if constexpr (requires { machine_.hosts(); }) return machine_.hosts();
    return 1;
  }

  unsigned tile(uint32_t number) const {
    if (number >= tiles_) fatal("a request for a tile that does not exist");
    return number;
  }

  /// Reads the next request and broadcasts it to all ranks; false at the end of the input.
  bool read(Request& request) const {
    struct {
      uint64_t more = 0, kind = 0, bytes = 0;
    } head;
    if (ranks_.first() && Request::read(request)) head = {1, request.kind, request.payload.size()};
    ranks_.share(&head, sizeof head);
    request.kind = static_cast<uint8_t>(head.kind);
    request.payload.resize(head.bytes);
    ranks_.share(request.payload.data(), head.bytes);
    return head.more != 0;
  }

  /// Writes all new records.
  void write() {
    std::vector<uint8_t> bytes;
    if (!ranks_.first()) {
      own_.clear();
      for (uint32_t i = 0; i < sources_.size(); ++i) sources_[i]->pack(i, bytes);
    }
    ranks_.gather(bytes, [this](unsigned, const uint8_t* its, size_t count) { Records::unpack(sources_, its, count); });
    if (!ranks_.first()) return;
    Records::write(sources_, out_);
    std::fflush(out_);
  }

  bool fail(const char* why) {
    own_.put(Kind::Failed, cycle_, 0, why, std::strlen(why));
    write();
    return false;
  }

  static std::vector<Symbol> symbols(const Request& request) {
    std::vector<Symbol> all;
    for (size_t at = 0; at + 12 <= request.payload.size();) {
      const uint32_t begin = request.word(at), end = request.word(at + 4), length = request.word(at + 8);
      const auto* name = reinterpret_cast<const char*>(request.payload.data() + at + 12);
      all.push_back({begin, end, std::string(name, length)});
      at += 12 + length;
    }
    return all;
  }

  std::FILE* out_;  ///< records go here
  const Options options_;
  const Ranks& ranks_;
  Machine machine_;
  const unsigned tiles_;
  std::unique_ptr<WorkerBarrier> barrier_;
  WorkerThrottle throttle_{1};
  std::vector<TileHost> hosts_;
  Records own_;
  std::vector<Records*> sources_;
  std::vector<Probe> probes_;
  std::vector<MailboxProbe> mailboxes_;
  Probes all_;
  Trace trace_;
  Watch watch_;
  std::chrono::steady_clock::time_point watched_;
  Session<Simulation> session_{*this};
  uint64_t cycle_ = 0;
  uint64_t first_ = 0;         ///< cycle in which the run began
  uint64_t issued_first_ = 0;  ///< instructions before it
  uint64_t end_ = 0, watchdog_ = 0;  ///< its limit of cycles, and its watchdog
  uint64_t pause_ = ~uint64_t{0};    ///< cycles from its begin to the next pause
  bool drains_ = false;              ///< its threads have ended; threads are not sampled any more
  Activity activity_;
};

/// The `main` of a simulator.
template <typename Machine>
int simulate(int argc, char** argv) {
  const Options options = Options::of(argc, argv);
  // The host handles Ctrl-C and sends a request; without a host the simulator ends anyway.
  ::signal(SIGINT, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Ranks ranks(options.ranks);
  if (options.socket && ranks.first()) connect_host(options.socket);
  // Output of the models (assertions, $display) must not mix with the records.
  std::FILE* records = ::fdopen(::dup(STDOUT_FILENO), "wb");
  if (!records || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return EXIT_FAILURE;
  std::setvbuf(records, nullptr, _IOFBF, 1 << 16);
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);
  // On the heap: a board's is large.
  std::make_unique<Simulation<Machine>>(records, options, ranks, argc, argv)->serve();
  return std::fclose(records) ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace gossamer::sim
