// SPDX-License-Identifier: Apache-2.0
/// The host's end of one tile: its debug bus, and its threads' output, input and states.
///
/// Everything is handled in the simulated cycle in which the tile reports it, independent of the speed of the host.
#pragma once

#include <array>
#include <bit>
#include <deque>
#include <string>

#include "bus.h"
#include "records.h"
#include "state.h"

namespace gossamer::sim {

constexpr unsigned kThreads = config::derived::threads_per_tile;
constexpr unsigned kCounters = static_cast<unsigned>(config::DebugCounter::Refused) + 1;
constexpr unsigned kThreadsPerCore = config::core::threads_per_core;
static_assert(kThreads <= 64, "a tile has at most 64 threads");

/// Receives the ends of a tile's threads when the tile reports them.
class ThreadEnds {
 public:
  virtual void end(unsigned thread, bool trap, uint64_t cycle) = 0;

 protected:
  ~ThreadEnds() = default;
};

class alignas(128) TileHost {
 public:
  /// `first` is the number of the tile's first thread.
  explicit TileHost(uint32_t first) : first_(first) {}

  Bus& bus() { return bus_; }
  Records& records() { return records_; }
  void trace(ThreadEnds* trace) { trace_ = trace; }
  /// Reports each byte of a thread when it arrives, instead of lines.
  void report_bytes() { bytes_ = true; }

  /// Mask of threads that have started and not ended.
  uint64_t running() const { return running_; }
  /// Number of trapped threads whose program counter is not known yet.
  unsigned pending_pcs() const { return pending_pcs_; }
  /// The last cycle in which a byte was received or accepted.
  uint64_t progress() const { return progress_; }
  /// Bytes that threads have output, since reset; and traps.
  uint64_t reported() const { return reported_; }
  uint64_t traps() const { return traps_; }
  /// Remaining work of the last request to the tile.
  uint32_t exchanging() const { return static_cast<uint32_t>(bus_.left()) + replies_; }
  /// How much is left of a run.
  uint32_t unfinished() const { return static_cast<uint32_t>(std::popcount(running_)) + pending_pcs_; }

  void send(const uint8_t* bytes, size_t count, uint32_t replies) {
    bus_.send(bytes, count);
    replies_ = replies;
  }

  void input(unsigned thread, const uint8_t* bytes, size_t count) {
    auto& input = threads_[thread].input;
    input.insert(input.end(), bytes, bytes + count);
  }

  /// Starts threads 0 to `threads` - 1, of `all` that take part; with `report_count` the tile receives that number.
  void start(unsigned threads, uint32_t all, bool report_count, uint64_t cycle) {
    progress_ = cycle;
    running_ = threads >= 64 ? ~uint64_t{0} : (uint64_t{1} << threads) - 1;
    if (!threads) return;
    if (report_count) {
      bus_.command(config::DebugCommand::SetThreads);
      bus_.word(all);
    }
    bus_.command(config::DebugCommand::StartFirst);
    bus_.byte(static_cast<uint8_t>(threads));
    for (unsigned t = 0; t < kThreads; ++t) feed(t);
  }

  /// Adds input, which its thread may read at once.
  void feed(unsigned thread, const uint8_t* bytes, size_t count) {
    input(thread, bytes, count);
    feed(thread);
  }

  /// Starts the threads of a mask, in addition to running ones. `all` threads take part in total.
  void start_more(uint64_t mask, uint32_t all, uint64_t cycle) {
    progress_ = cycle;
    if (!mask) return;
    running_ |= mask;
    bus_.command(config::DebugCommand::SetThreads);
    bus_.word(all);
    if ((mask & (mask + 1)) == 0) {
      bus_.command(config::DebugCommand::StartFirst);
      bus_.byte(static_cast<uint8_t>(std::popcount(mask)));
      return;
    }
    for (; mask; mask &= mask - 1) {
      bus_.command(config::DebugCommand::Start);
      bus_.byte(static_cast<uint8_t>(std::countr_zero(mask)));
    }
  }

  /// Reads all counters of the tile for the program that drives it: their reports are stored, and are no records.
  void sample() {
    for (unsigned i = 0; i < kCounters; ++i) {
      bus_.command(DebugCommand::ReadCounter);
      bus_.byte(static_cast<uint8_t>(i));
    }
    samples_left_ += kCounters;
  }
  /// Reports of counters that are outstanding.
  unsigned samples_left() const { return samples_left_; }
  /// The counters of the last sample.
  const std::array<uint64_t, kCounters>& counters() const { return counters_; }

  /// Requests the states of all running threads for the program that drives the tile, as sample() does counters.
  void inspect() {
    inspected_ = 0;
    for (uint64_t left = running_; left; left &= left - 1) {
      bus_.command(DebugCommand::Inspect);
      bus_.byte(static_cast<uint8_t>(std::countr_zero(left)));
      ++inspections_left_;
    }
  }
  /// States that are outstanding.
  unsigned inspections_left() const { return inspections_left_; }
  /// The state of a thread as of the last inspection; false if none has arrived.
  bool inspected(unsigned thread, ActiveThread& state) const {
    if (!(inspected_ >> thread & 1)) return false;
    state = states_[thread];
    state.thread = first_ + thread;
    return true;
  }

  /// Ends a run: reports the unfinished lines of threads.
  void finish(uint64_t cycle) {
    for (unsigned t = 0; t < kThreads; ++t) flush(t, cycle);
  }

  /// The tile has accepted a byte.
  void on_accepted(uint64_t cycle) {
    bus_.pop();
    progress_ = cycle;
  }

  /// Bytes have been sent, or accepted, or received.
  void on_progress(uint64_t cycle) { progress_ = cycle; }

  /// The tile has sent a byte.
  void receive(uint8_t byte, uint64_t cycle) {
    Report report;
    if (bus_.take(byte, report)) handle(report, cycle);
  }

  /// Reports traps without a program counter if their threads do not respond.
  void stop_querying(uint64_t cycle) {
    if (!pending_pcs_) return;
    for (unsigned t = 0; t < kThreads; ++t) {
      const Trapped& trap = threads_[t].trap;
      // They are queried one after the other.
      if (trap.pending && cycle - std::max(trap.since, trap_reported_) > kAskPc) trapped(t, kUnknownPc, cycle);
    }
  }

 private:
  using DebugCommand = config::DebugCommand;
  using DebugReport = config::DebugReport;

  static constexpr size_t kLongestLine = 1024;
  /// Cycles within which a trapped thread must report its program counter, from its trap or from the last such report.
  /// The mailbox takes less time after a reset until it serves requests, for which those of a core may wait.
  static constexpr uint64_t kAskPc = 30'000;
  static constexpr uint32_t kUnknownPc = 0xFFFF'FFFF;

  /// A trap whose program counter is being queried.
  struct Trapped {
    bool pending = false;
    uint32_t cause = 0;
    uint32_t value = 0;
    uint64_t since = 0;
  };
  struct Thread {
    std::string line;
    std::deque<uint8_t> input;
    bool offered = false;  ///< the tile was offered its first byte
    Trapped trap;
  };

  void put(Kind kind, uint64_t cycle, unsigned thread, const void* payload, size_t bytes, uint8_t flags = 0) {
    records_.put(kind, cycle, first_ + thread, payload, bytes, flags);
  }

  void handle(const Report& report, uint64_t cycle) {
    progress_ = cycle;
    const unsigned thread = report.argument[0] % kThreads;
    Thread& its = threads_[thread];
    switch (static_cast<DebugReport>(report.code)) {
      case DebugReport::Uart: character(thread, static_cast<char>(report.argument[1]), cycle); return;
      case DebugReport::Taken:
        if (!its.input.empty()) its.input.pop_front();
        its.offered = false;
        feed(thread);
        return;
      case DebugReport::Started: running_ |= uint64_t{1} << thread; return;
      case DebugReport::Stopped: {
        flush(thread, cycle);
        running_ &= ~(uint64_t{1} << thread);
        const uint32_t code = report.word(1);
        if (trace_) trace_->end(thread, false, cycle);
        put(Kind::Stopped, cycle, thread, &code, sizeof code);
        return;
      }
      case DebugReport::Emit: {
        const uint32_t word = report.word(1);
        put(Kind::Emit, cycle, thread, &word, sizeof word);
        return;
      }
      case DebugReport::Trap: {
        flush(thread, cycle);
        running_ &= ~(uint64_t{1} << thread);
        if (trace_) trace_->end(thread, true, cycle);
        its.trap = {true, report.argument[1], report.word(6), cycle};
        ++pending_pcs_;
        if (report.word(2) == kUnknownPc) {
          query_pc(thread);
        } else {
          trapped(thread, report.word(2), cycle);
        }
        return;
      }
      case DebugReport::DebugValue:
        // The program counter was at the instruction after the trapping one.
        if (its.trap.pending) {
          trapped(thread, report.word(1) - 4, cycle);
          return;
        }
        [[fallthrough]];
      case DebugReport::Counter:
        if (samples_left_) {
          --samples_left_;
          if (report.argument[0] < kCounters) {
            counters_[report.argument[0]] = report.word(1) | uint64_t{report.word(5)} << 32;
          }
          return;
        }
        [[fallthrough]];
      case DebugReport::State:
        if (inspections_left_ && static_cast<DebugReport>(report.code) == DebugReport::State) {
          --inspections_left_;
          inspected_ |= uint64_t{1} << thread;
          states_[thread] = state_of(report);
          return;
        }
        [[fallthrough]];
      case DebugReport::Identity:
      case DebugReport::Flushed:
      case DebugReport::Rejected:
      case DebugReport::Parked: {
        uint8_t bytes[16] = {report.code};
        std::memcpy(bytes + 1, report.argument, report.bytes);
        put(Kind::Reply, cycle, 0, bytes, report.bytes + 1);
        if (replies_) --replies_;
        return;
      }
    }
    fatal("the tile sent a packet of an unknown kind over the debug bus");
  }

  /// The state in a report, as a simulator reports it.
  static ActiveThread state_of(const Report& report) {
    constexpr uint32_t kCsrBits = 12;
    config::Words<config::ThreadView::kBits> bits{};
    bits.put(0, config::ThreadView::kBits, report.argument[7]);
    const auto view = config::ThreadView::unpack(bits);
    const uint32_t address = report.word(1);
    const bool csr = view.request == config::ThreadRequest::Csr;
    ActiveThread state;
    state.pc = uint32_t{report.argument[5]} << 2 | uint32_t{report.argument[6]} << 10;
    if (!view.active) {
      state.doing = static_cast<uint8_t>(Doing::Parked);
    } else if (!view.waits) {
      state.doing = static_cast<uint8_t>(Doing::Runs);
    } else {
      // A request does not jump. A divide that issues again has itself as its next instruction, so it gets the pc of
      // the one before it.
      state.pc -= 4;
      switch (view.request) {
        case config::ThreadRequest::Float: state.doing = static_cast<uint8_t>(Doing::Float); break;
        case config::ThreadRequest::Divide: state.doing = static_cast<uint8_t>(Doing::Divide); break;
        default:
          state.doing = static_cast<uint8_t>(Doing::Request);
          state.request = static_cast<uint8_t>(view.request);
          state.address = csr ? address & ((1U << kCsrBits) - 1) : address;
          state.data = csr ? address >> kCsrBits & 3 : 0;
      }
    }
    return state;
  }

  void character(unsigned thread, char c, uint64_t cycle) {
    if (bytes_) {
      ++reported_;
      put(Kind::Byte, cycle, thread, &c, 1);
      return;
    }
    std::string& line = threads_[thread].line;
    if (c == '\n') {
      put(Kind::Line, cycle, thread, line.data(), line.size());
      line.clear();
      return;
    }
    line.push_back(c);
    if (line.size() == kLongestLine) {
      put(Kind::Line, cycle, thread, line.data(), line.size(), 1);
      line.clear();
    }
  }

  /// Reports a line that its thread has not ended.
  void flush(unsigned thread, uint64_t cycle) {
    std::string& line = threads_[thread].line;
    if (!line.empty()) put(Kind::Line, cycle, thread, line.data(), line.size());
    line.clear();
  }

  /// Sends the next byte of a thread's input, if the tile may receive it.
  void feed(unsigned thread) {
    Thread& its = threads_[thread];
    if (its.offered || its.input.empty()) return;
    its.offered = true;
    bus_.command(DebugCommand::Uart);
    bus_.byte(static_cast<uint8_t>(thread));
    bus_.byte(its.input.front());
  }

  /// Makes a trapped thread report its program counter: auipc t0, 0; csrw debug_value, t0.
  void query_pc(unsigned thread) {
    constexpr uint32_t kWhere = 0x0000'0297;
    constexpr uint32_t kTellIt = (static_cast<uint32_t>(config::Csr::DebugValue) << 20) | 0x0002'9073;
    for (const uint32_t instruction : {kWhere, kTellIt}) {
      bus_.command(DebugCommand::Inject);
      bus_.byte(static_cast<uint8_t>(thread));
      bus_.word(instruction);
    }
  }

  void trapped(unsigned thread, uint32_t pc, uint64_t cycle) {
    Trapped& trap = threads_[thread].trap;
    const uint32_t words[] = {trap.cause, pc, trap.value};
    trap.pending = false;
    --pending_pcs_;
    ++traps_;
    trap_reported_ = cycle;
    put(Kind::Trap, cycle, thread, words, sizeof words);
  }

  const uint32_t first_;
  Bus bus_;
  Records records_;
  ThreadEnds* trace_ = nullptr;
  Thread threads_[kThreads];
  uint64_t running_ = 0;
  uint64_t progress_ = 0;
  uint64_t reported_ = 0, traps_ = 0, trap_reported_ = 0;
  bool bytes_ = false;
  unsigned pending_pcs_ = 0;
  uint32_t replies_ = 0;
  unsigned samples_left_ = 0, inspections_left_ = 0;
  uint64_t inspected_ = 0;
  std::array<ActiveThread, kThreads> states_{};
  std::array<uint64_t, kCounters> counters_{};
};

}  // namespace gossamer::sim
