// SPDX-License-Identifier: Apache-2.0
/// A host program's session with the simulator (host/src/simulator.cc): requests in addition to those of records.h.
///
///   'V'  nothing: begins the session; each byte of a thread is reported when it arrives (Byte), instead of lines. With
///        a byte 1, the session is that of guests: threads report lines, and neither traps nor deadlocks end a wait
///   'M'  flits: queues messages that enter the network
///   'U'  thread[32], bytes: input of a thread, which may read it at once
///   'B'  tile[32], threads[32], mask[64]: starts the threads of the mask; `threads` threads take part in total
///   'W'  Wait: time passes until a wanted event occurs; answered by Woken
///   'E'  nothing: ends the session, with its trace and waves; answered by Woken
///   'G'  {board[32], threads[32]} each: starts the first threads of these boards, none of whose threads run; all
///        boards know their tiles before the first thread starts. Answered by Done
///   'A'  boards[32]: answered by Active, and Done
/// Only 'W' and the requests to loaders and debug buses let time pass. A wait ends in exactly the cycle of its event,
/// for any number of workers, so the same program sees the same cycles.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "activity.h"
#include "network.h"
#include "records.h"
#include "sync.h"
#include "tile_host.h"
#include "wait.h"

namespace gossamer::sim {

/// `Simulation` is the class of simulation.h.
template <typename Simulation>
class Session {
 public:
  explicit Session(Simulation& sim) : sim_(sim) {}

  /// Handles a session request; false if the request is of another kind.
  bool serve(const Request& request) {
    const uint8_t* bytes = request.payload.data();
    const size_t count = request.payload.size();
    switch (request.kind) {
      case 'V':
        guests_ = count && bytes[0];
        begin();
        return true;
      case 'G': start_boards(request); return true;
      case 'A': report_active(request); return true;
      case 'M': sim_.machine_.send(bytes, count, 0); return true;
      case 'U': {
        const uint32_t thread = request.word(0);
        if (!sim_.serves(sim_.tile(thread / kThreads))) return true;
        sim_.hosts_[thread / kThreads].feed(thread % kThreads, bytes + 4, count - 4);
        return true;
      }
      case 'B':
        sim_.machine_.begin(sim_.cycle_);
        start(sim_.tile(request.word(0)));
        if (!sim_.serves(request.word(0))) return true;
        sim_.hosts_[request.word(0)].start_more(request.long_word(8), request.word(4), sim_.cycle_);
        return true;
      case 'W': {
        Wait wait;
        if (count != sizeof wait) fatal("a wait request is truncated");
        std::memcpy(&wait, bytes, sizeof wait);
        answer(waves_ ? go<true>(wait) : go<false>(wait));
        return true;
      }
      case 'E':
        if (!sim_.trace_.close(sim_.cycle_)) fatal("the trace could not be written completely");
#if VM_TRACE
        sim_.machine_.flush_waves();
#endif
        answer(Woke::AllEnded);
        return true;
      default: return false;
    }
  }

  /// Whether a wait is in progress; then left() decides when the simulation stops.
  bool waits() const { return waits_; }

  /// Remaining work of a worker's share of the machine: never 0; kLeave once the wanted event has occurred.
  uint32_t left(unsigned worker, unsigned workers) const {
    bool there = network_woke(worker, workers);
    sim_.each_served(worker, workers, [&](unsigned t) {
      const auto& host = sim_.hosts_[t];
      there |= !guests_ && host.traps() != marks_[t].traps;
      there |= wait_.wanted & kBytes && host.reported() != marks_[t].reported;
    });
    return there ? 1 | WorkerBarrier::kLeave : 1;
  }

 private:
  static constexpr uint64_t kPollPatience = 1 << 23;  ///< cycles of polling in a deadlock

  struct Mark {
    uint64_t reported = 0, traps = 0;
  };

  /// Threads of a tile are about to be started.
  void start(unsigned t) {
    constexpr unsigned kTiles = Simulation::kTilesOfBoard;
    if (!sim_.hosts_[t].running()) sim_.machine_.expect(t / kTiles, uint64_t{1} << t % kTiles, true);
  }

  void start_boards(const Request& request) {
    constexpr unsigned kTiles = Simulation::kTilesOfBoard;
    sim_.machine_.begin(sim_.cycle_);
    const auto each = [&](auto what) {
      for (size_t at = 0; at + 8 <= request.payload.size(); at += 8) {
        const uint32_t board = request.word(at);
        if (board >= sim_.tiles_ / kTiles) fatal("no such board");
        what(board, std::min(request.word(at + 4), kTiles * kThreads));
      }
    };
    each([&](uint32_t board, uint32_t threads) {
      const uint32_t tiles = (threads + kThreads - 1) / kThreads;
      sim_.machine_.expect(board, tiles < 64 ? (uint64_t{1} << tiles) - 1 : ~uint64_t{0}, false);
    });
    if (!sim_.settle("a board accepts no more packets", "a board does not answer")) return;
    each([&](uint32_t board, uint32_t threads) {
      for (uint32_t t = 0; t * kThreads < threads; ++t) {
        const uint32_t mine = std::min(threads - t * kThreads, kThreads);
        sim_.hosts_[board * kTiles + t].start_more(mine < 64 ? (uint64_t{1} << mine) - 1 : ~uint64_t{0}, threads,
                                                   sim_.cycle_);
      }
    });
    sim_.own_.put(Kind::Done, sim_.cycle_, 0, nullptr, 0);
  }

  void report_active(const Request& request) {
    constexpr uint32_t kTiles = Simulation::kTilesOfBoard;
    std::vector<bool> asked(sim_.tiles_ / kTiles);
    Active head;
    for (size_t at = 0; at + 4 <= request.payload.size(); at += 4) {
      const uint32_t board = request.word(at);
      if (board >= asked.size()) fatal("no such board");
      asked[board] = true;
      for (uint32_t t = board * kTiles; t < (board + 1) * kTiles; ++t) {
        head.issued += sim_.probes_[t].issued();
        head.progress = std::max(head.progress, sim_.hosts_[t].progress());
      }
    }
    std::vector<ActiveThread> active = sim_.active_threads();
    std::erase_if(active, [&](const ActiveThread& one) { return !asked[one.thread / (kTiles * kThreads)]; });
    head.count = static_cast<uint32_t>(active.size());
    head.waiting = sim_.all_wait([&](unsigned thread) { return asked[thread / (kTiles * kThreads)]; });
    std::vector<uint8_t> payload(sizeof head + active.size() * sizeof(ActiveThread));
    std::memcpy(payload.data(), &head, sizeof head);
    if (!active.empty()) std::memcpy(payload.data() + sizeof head, active.data(), active.size() * sizeof(ActiveThread));
    sim_.own_.put(Kind::Active, sim_.cycle_, 0, payload.data(), payload.size());
    sim_.own_.put(Kind::Done, sim_.cycle_, 0, nullptr, 0);
  }

  void begin() {
    if (!guests_) {
      for (auto& host : sim_.hosts_) host.report_bytes();
    }
    issued_first_ = sim_.issued();
    activity_.begin(sim_.ranks_, sim_.cycle_, issued_first_);
    sim_.watch_begin();
    marks_.resize(sim_.tiles_);
    waves_ = sim_.options_.waves != nullptr;
#if VM_TRACE
    if (waves_ && !sim_.machine_.open_waves(sim_.options_.waves, sim_.options_.tile % sim_.tiles_)) {
      fatal("cannot write waves");
    }
#endif
    sim_.own_.put(Kind::Done, sim_.cycle_, 0, nullptr, 0);
  }

  /// Whether a host in a worker's part of the machine has its wanted event. With several hosts, each needs its
  /// messages.
  bool network_woke(unsigned worker, unsigned workers) const {
    bool there = false;
    sim_.machine_.each_host(worker, workers, [&](const auto& host) {
      const uint64_t messages = host.ear().messages();
      const bool sends = &host == &sim_.machine_.host();
      there |= !guests_ && host.ear().faults() != 0;
      there |= wait_.wanted & kSpace && sends && host.queued() <= wait_.space;
      if (!(wait_.wanted & kMessages)) return;
      if (sim_.hosts_in_all() == 1) {
        there |= messages >= wait_.messages;
      } else {
        for (const auto& [ear, before] : received_) there |= ear == &host.ear() && messages != before;
      }
    });
    return there;
  }

  uint64_t messages() const {
    uint64_t sum = 0;
    sim_.machine_.each_host(0, 1, [&](const auto& host) { sum += host.ear().messages(); });
    return sim_.ranks_.sum(sum);
  }

  bool trapped() const {
    if (guests_) return false;
    uint64_t traps = 0;
    sim_.machine_.each_host(0, 1, [&](const auto& host) { traps += host.ear().faults(); });
    for (const auto& host : sim_.hosts_) traps += host.traps();
    return sim_.ranks_.any(traps) != 0;
  }

  /// Records the present state, so that earlier events end no wait.
  void mark() {
    for (unsigned t = 0; t < sim_.tiles_; ++t) marks_[t] = {sim_.hosts_[t].reported(), sim_.hosts_[t].traps()};
    received_.clear();
    sim_.machine_.each_host(0, 1, [&](const auto& host) { received_.push_back({&host.ear(), host.ear().messages()}); });
  }

  uint64_t reported() const {
    uint64_t sum = 0;
    for (const auto& host : sim_.hosts_) sum += host.reported();
    return sim_.ranks_.sum(sum);
  }

  /// Flits that wait to enter the network; among several ranks, one has them.
  uint64_t queued() const { return sim_.ranks_.sum(sim_.machine_.host().queued()); }

  /// Whether the awaited event has occurred.
  bool woke() const {
    return trapped() || (wait_.wanted & kBytes && reported() >= wait_.bytes) ||
           (wait_.wanted & kMessages && messages() >= wait_.messages) ||
           (wait_.wanted & kSpace && queued() <= wait_.space);
  }

  template <bool kWaves>
  Woke go(const Wait& wait) {
    return sim_.trace_.is_open() ? go<kWaves, true>(wait) : go<kWaves, false>(wait);
  }

  template <bool kWaves, bool kTrace>
  Woke go(const Wait& wait) {
    constexpr uint64_t kWatchdogStride = Simulation::kWatchdogStride;
    wait_ = wait;
    const uint64_t over = wait.cycles ? sim_.cycle_ + wait.cycles : ~uint64_t{0};
    const uint64_t limit = wait.limit ? wait.limit : ~uint64_t{0};
    auto shown = std::chrono::steady_clock::now();
    for (;;) {
      if (woke()) return trapped() ? Woke::Trap : Woke::Event;
      if (sim_.cycle_ >= limit) return Woke::Limit;
      if (sim_.cycle_ >= over) return Woke::Over;
      mark();
      waits_ = true;
      const uint64_t next_check = (sim_.cycle_ / kWatchdogStride + 1) * kWatchdogStride;
      sim_.template batch<true, kWaves, kTrace>(std::min({over, limit, next_check}));
      waits_ = false;
      if (sim_.cycle_ % kWatchdogStride) continue;
      if constexpr (kTrace) sim_.trace_.collect();
      sim_.watch("runs");
      if (const Woke why = check(); why != Woke::Event) return why;
      if (sim_.is_time(shown)) {
        const uint64_t done = activity_.issued() - issued_first_;
        sim_.own_.put(Kind::Progress, sim_.cycle_, 0, &done, sizeof done);
        sim_.write();
      }
    }
  }

  /// Called in certain cycles: Event if an event is still possible, else why the run cannot continue.
  Woke check() {
    for (auto& host : sim_.hosts_) host.stop_querying(sim_.cycle_);
    if (guests_) return sim_.stop_requested() ? Woke::Stopped : Woke::Event;
    const Activity::IdleCycles idle = sim_.idle_cycles(activity_);
    const uint64_t quiescence = sim_.machine_.quiescence();
    bool running = false;
    for (const auto& host : sim_.hosts_) running |= host.unfinished() != 0;
    running = sim_.ranks_.any(running) != 0;
    if (idle.all >= quiescence && (!running || sim_.all_wait())) {
      // A polling host may still resolve the deadlock.
      if (!wait_.poll || idle.all >= kPollPatience) return running ? Woke::Deadlock : Woke::AllEnded;
    } else if (wait_.watchdog && idle.work >= std::max(wait_.watchdog + sim_.machine_.slack(), quiescence)) {
      return Woke::Stuck;
    }
    return sim_.stop_requested() ? Woke::Stopped : Woke::Event;
  }

  void answer(Woke reason) {
    std::vector<ActiveThread> active;
    if (reason != Woke::Event && reason != Woke::Over) active = sim_.active_threads();
    if (reason == Woke::Deadlock || reason == Woke::Stuck) sim_.report_queues();
    const Woken head{reason, static_cast<uint32_t>(active.size()), queued(), sim_.issued() - issued_first_};
    std::vector<uint8_t> payload(sizeof head + active.size() * sizeof(ActiveThread));
    std::memcpy(payload.data(), &head, sizeof head);
    if (!active.empty()) std::memcpy(payload.data() + sizeof head, active.data(), active.size() * sizeof(ActiveThread));
    sim_.own_.put(Kind::Woken, sim_.cycle_, 0, payload.data(), payload.size());
  }

  Simulation& sim_;
  Wait wait_;
  std::vector<Mark> marks_;
  std::vector<std::pair<const HostReceiver*, uint64_t>> received_;
  uint64_t issued_first_ = 0;
  Activity activity_;
  bool waits_ = false;
  bool waves_ = false;
  bool guests_ = false;
};

}  // namespace gossamer::sim
