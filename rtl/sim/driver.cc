// SPDX-License-Identifier: Apache-2.0
/// Simulates one tile: the program beside the Verilator model of gs_sim_tile.
///
/// It is a child of the `rtl` engine and talks with it in requests on standard input and records on standard output.
/// All that must not depend on the speed of the host happens here, cycle by cycle: bytes to and from the debug bus,
/// lines put together, traps asked for their place, the watchdog. Time stands still between requests, so the same
/// requests give the same cycles. It ends when its standard input does.
///
/// Arguments: --waves FILE, --trace FILE, --least CYCLES (shortest wait in the trace), then +NAME=VALUE for the model.
///
/// A request is {kind[8], 0[24], length[32]} and its payload, low bytes first:
///   'S'  bytes: send them over the debug bus; answered by Done when the tile has taken all
///   'Q'  count[32], bytes: the same, then wait for that many replies; each comes as a Reply, then Done
///   'N'  replies[32], flits (network.h): send them into the tile's network, wait for so many replies of its loader;
///        each comes as a Packet, then Done
///   'I'  thread[32], bytes: input of a thread, given to it as it reads
///   'Y'  symbols for the trace: {begin[32], end[32], length[32], name} each, in the order of their begins
///   'R'  threads[32], 0[32], most cycles[64], watchdog[64]: start that many threads, run to the end; answered by End
///   'X'  while it runs: stop
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "Vgs_sim_tile.h"
#include "bus.h"
#include "network.h"
#include "probe.h"
#include "trace.h"
#if VM_TRACE
#include <verilated_fst_c.h>
#endif

namespace gossamer::sim {
namespace {

using config::DebugCommand;
using config::DebugReport;

constexpr unsigned kThreads = config::derived::threads_per_tile;
constexpr unsigned kThreadsPerCore = config::core::threads_per_core;
static_assert(kThreads <= 64, "a tile has at most 64 threads");

constexpr size_t kLongestLine = 1024;
constexpr uint64_t kResetCycles = 16;
constexpr uint64_t kPatience = 1'000'000;  ///< cycles in which the tile must take a byte or answer
constexpr uint64_t kLook = 4096;           ///< cycles between looks at the watchdog; a power of two
constexpr uint64_t kListen = 1 << 14;      ///< cycles between looks at the host; a power of two
/// Cycles without an instruction after which nothing can be on its way any more inside of one tile.
constexpr uint64_t kQuiet = 1 << 14;
constexpr uint64_t kAskPc = 10'000;  ///< cycles in which a trapped thread must say where it was
constexpr uint32_t kUnknownPc = 0xFFFF'FFFF;
constexpr auto kTell = std::chrono::milliseconds(250);  ///< between records of progress

enum class Kind : uint8_t {
  Line = 1,      ///< text of a thread without its end of line; flag 1: more of the line follows
  Emit = 2,      ///< word[32]
  Stopped = 3,   ///< code[32]
  Trap = 4,      ///< cause[32], pc[32], value[32]
  Reply = 5,     ///< a report as it came
  Done = 6,      ///< nothing
  End = 7,       ///< reason[32], count[32], first cycle[64], instructions[64], then a Still each
  Failed = 8,    ///< text
  Progress = 9,  ///< instructions[64]
  Packet = 10,   ///< the flits of a packet to the host (network.h)
};

enum class Reason : uint32_t { AllEnded = 0, MostCycles = 1, Deadlock = 2, Stuck = 3, Stopped = 4 };

/// A thread that has not ended.
struct Still {
  uint8_t thread = 0;
  uint8_t doing = 0;
  uint8_t asked = 0;
  uint8_t spare = 0;
  uint32_t pc = 0;
  uint32_t address = 0;
  uint32_t data = 0;
};

/// A trap whose place is being asked for.
struct Trapped {
  bool pending = false;
  uint32_t cause = 0;
  uint32_t value = 0;
  uint64_t since = 0;
};

struct Request {
  uint8_t kind = 0;
  std::vector<uint8_t> payload;

  uint32_t word(size_t at) const {
    uint32_t value = 0;
    std::memcpy(&value, payload.data() + at, sizeof value);
    return value;
  }
};

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "simulator: %s\n", why);
  std::exit(EXIT_FAILURE);
}

class Simulation {
 public:
  Simulation(std::FILE* out, const char* waves, const char* trace, unsigned least, int argc, char** argv)
      : out_(out), waves_(waves), arguments_(context_, argc, argv), model_(&context_, "") {
    model_.clk_i = 0;
    model_.rst_ni = 0;
    model_.dbg_in_valid_i = 0;
    model_.dbg_in_data_i = 0;
    model_.dbg_out_ready_i = 1;
    model_.net_in_valid_i = 0;
#if VM_TRACE
    if (waves_) context_.traceEverOn(true);
#else
    if (waves_) give_up("built without waves");
#endif
    for (uint64_t i = 0; i < kResetCycles; ++i) cycle<false>();
    model_.rst_ni = 1;
    if (!probe_.find(context_, kThreadsPerCore) || probe_.cores() * kThreadsPerCore != kThreads) {
      give_up("the cores' signals for simulation are not as expected");
    }
    if (trace && !trace_.open(trace, kThreads, kThreadsPerCore, least)) give_up("cannot write the trace");
  }

  ~Simulation() {
    model_.final();
#if VM_TRACE
    if (fst_) fst_->close();
#endif
  }

  /// Answers requests until there are no more.
  void serve() {
    Request request;
    while (read(request)) {
      switch (request.kind) {
        case 'S':
          bus_.send(request.payload.data(), request.payload.size());
          if (!drain()) return;
          put(Kind::Done, 0, nullptr, 0);
          break;
        case 'Q':
          replies_ = request.word(0);
          bus_.send(request.payload.data() + 4, request.payload.size() - 4);
          if (!drain() || !hear()) return;
          put(Kind::Done, 0, nullptr, 0);
          break;
        case 'N':
          packets_ = request.word(0);
          network_.send(request.payload.data() + 4, request.payload.size() - 4);
          if (!enter() || !collect()) return;
          put(Kind::Done, 0, nullptr, 0);
          break;
        case 'I': {
          auto& input = threads_[request.word(0) % kThreads].input;
          input.insert(input.end(), request.payload.begin() + 4, request.payload.end());
          break;
        }
        case 'Y': trace_.symbols(symbols(request)); break;
        case 'R': {
          uint64_t most = 0, watchdog = 0;
          std::memcpy(&most, request.payload.data() + 8, 8);
          std::memcpy(&watchdog, request.payload.data() + 16, 8);
          run(request.word(0), most, watchdog);
          break;
        }
        case 'X': break;  // came after the end of the run that it was for
        default: give_up("a request of an unknown kind");
      }
      std::fflush(out_);
    }
  }

 private:
  struct Thread {
    std::string line;
    std::deque<uint8_t> input;
    Trapped trap;
  };

  // ---- Time ----

  /// One cycle. What the tile shows before the edge is settled, because no input depends on an output.
  template <bool kWaves>
  void cycle() {
    model_.clk_i = 0;
    const bool sends = bus_.pending() && model_.rst_ni;
    model_.dbg_in_valid_i = sends;
    if (sends) model_.dbg_in_data_i = bus_.head();
    const bool flit = network_.pending() && model_.rst_ni;
    model_.net_in_valid_i = flit ? 1U << network_.head().network() : 0;
    if (flit) std::memcpy(&model_.net_in_i[0], network_.head().words.data(), sizeof(Flit));
    model_.eval();
    const bool taken = sends && model_.dbg_in_ready_o;
    const bool entered = model_.net_in_valid_i & model_.net_in_ready_o;
    const bool heard = model_.dbg_out_valid_o;
    const bool arrived = model_.net_out_valid_o && model_.rst_ni;
    Flit arrival;
    if (arrived) std::memcpy(arrival.words.data(), &model_.net_out_o[0], sizeof arrival);
    const uint8_t byte = model_.dbg_out_data_o;
#if VM_TRACE
    if constexpr (kWaves) fst_->dump(cycle_ * 2);
#endif
    model_.clk_i = 1;
    model_.eval();
#if VM_TRACE
    if constexpr (kWaves) fst_->dump(cycle_ * 2 + 1);
#endif
    ++cycle_;
    if (taken) bus_.pop();
    if (entered) network_.pop();
    if (arrived) {
      if (const auto packet = network_.take(arrival); !packet.empty()) handle(packet);
    }
    if (heard && model_.rst_ni) {
      Report report;
      if (bus_.take(byte, report)) handle(report);
    }
  }

  /// Goes on until the tile has taken all bytes. False if it does not.
  bool drain() {
    uint64_t until = cycle_ + kPatience;
    while (bus_.pending()) {
      const size_t left = bus_.left();
      cycle<false>();
      if (bus_.left() != left) until = cycle_ + kPatience;
      if (cycle_ >= until) return fail("the tile takes no more bytes from the debug bus");
    }
    return true;
  }

  /// Goes on until all replies have come. False if they do not.
  bool hear() {
    for (const uint64_t until = cycle_ + kPatience; replies_;) {
      cycle<false>();
      if (cycle_ >= until) return fail("the tile does not answer on the debug bus");
    }
    return true;
  }

  /// Goes on until the tile has taken all flits. False if it does not.
  bool enter() {
    uint64_t until = cycle_ + kPatience;
    while (network_.pending()) {
      const size_t left = network_.left();
      cycle<false>();
      if (network_.left() != left) until = cycle_ + kPatience;
      if (cycle_ >= until) return fail("the tile takes no more flits from the network");
    }
    return true;
  }

  /// Goes on until all replies of the loader have come. False if they do not.
  bool collect() {
    uint64_t until = cycle_ + kPatience;
    while (packets_) {
      const uint32_t left = packets_;
      cycle<false>();
      if (packets_ != left) until = cycle_ + kPatience;
      if (cycle_ >= until) return fail("the tile's loader does not answer");
    }
    return true;
  }

  // ---- Running ----

  void run(unsigned threads, uint64_t most, uint64_t watchdog) {
    running_ = threads >= 64 ? ~uint64_t{0} : (uint64_t{1} << threads) - 1;
    first_ = cycle_;
    issued_first_ = probe_.issued();
    bus_.command(DebugCommand::StartFirst);
    bus_.byte(static_cast<uint8_t>(threads));
    for (unsigned t = 0; t < kThreads; ++t) feed(t);
#if VM_TRACE
    if (waves_ && !fst_) {
      fst_ = std::make_unique<VerilatedFstC>();
      model_.trace(fst_.get(), 99);
      fst_->open(waves_);
    }
#endif
    const uint64_t end = most && most < ~uint64_t{0} - cycle_ ? cycle_ + most : ~uint64_t{0};
    Reason reason;
    if (waves_) {
      reason = trace_.is_open() ? go<true, true>(end, watchdog) : go<true, false>(end, watchdog);
    } else {
      reason = trace_.is_open() ? go<false, true>(end, watchdog) : go<false, false>(end, watchdog);
    }
    ended(reason);
  }

  template <bool kWaves, bool kTrace>
  Reason go(uint64_t end, uint64_t watchdog) {
    progress_ = cycle_;
    uint64_t issued = probe_.issued();
    auto told = std::chrono::steady_clock::now();
    while (running_ || asking_) {
      cycle<kWaves>();
      if constexpr (kTrace) trace_.sample(probe_, cycle_);
      if (cycle_ >= end) return Reason::MostCycles;
      if (cycle_ % kLook) continue;
      if (asking_) stop_asking();
      const uint64_t now = probe_.issued();
      if (now != issued) {
        issued = now;
        progress_ = cycle_;
      }
      if (cycle_ - progress_ >= kQuiet && all_wait()) return Reason::Deadlock;
      if (watchdog && cycle_ - progress_ >= watchdog) return Reason::Stuck;
      if (cycle_ % kListen) continue;
      if (told_to_stop()) return Reason::Stopped;
      std::fflush(out_);
      if (const auto time = std::chrono::steady_clock::now(); time - told >= kTell) {
        told = time;
        const uint64_t done = now - issued_first_;
        put(Kind::Progress, 0, &done, sizeof done);
      }
    }
    return Reason::AllEnded;
  }

  /// Whether everybody who runs waits for a message, for room to send one, or for idleness.
  bool all_wait() const {
    for (uint64_t left = running_; left; left &= left - 1) {
      const State state = probe_.state(static_cast<unsigned>(std::countr_zero(left)));
      const auto csr = static_cast<config::Csr>(state.address);
      if (state.doing != Doing::Request || state.asked != Asked::Csr) return false;
      if (csr != config::Csr::Wait && csr != config::Csr::Idle) return false;
    }
    return running_ != 0;
  }

  void ended(Reason reason) {
    for (unsigned t = 0; t < kThreads; ++t) flush(t);
    if (!trace_.close(cycle_)) give_up("the trace could not be written whole");
#if VM_TRACE
    if (fst_) fst_->flush();
#endif
    std::vector<Still> still;
    for (uint64_t left = running_; left; left &= left - 1) {
      const auto thread = static_cast<unsigned>(std::countr_zero(left));
      const State state = probe_.state(thread);
      still.push_back({static_cast<uint8_t>(thread), static_cast<uint8_t>(state.doing),
                       static_cast<uint8_t>(state.asked), 0, state.pc, state.address, state.data});
    }
    struct {
      uint32_t reason, count;
      uint64_t first, issued;
    } const head{static_cast<uint32_t>(reason), static_cast<uint32_t>(still.size()), first_,
                 probe_.issued() - issued_first_};
    std::vector<uint8_t> payload(sizeof head + still.size() * sizeof(Still));
    std::memcpy(payload.data(), &head, sizeof head);
    if (!still.empty()) std::memcpy(payload.data() + sizeof head, still.data(), still.size() * sizeof(Still));
    put(Kind::End, 0, payload.data(), payload.size());
  }

  // ---- What the tile says ----

  void handle(const std::vector<Flit>& packet) {
    progress_ = cycle_;
    put(Kind::Packet, 0, packet.data(), packet.size() * sizeof(Flit));
    // Of a header the operation stands in the lowest bits.
    const Flit& head = packet.front();
    if (static_cast<config::FlitKind>(head.kind()) != config::FlitKind::Header) return;
    if (static_cast<config::LoadOp>(head.words[0] & 0xF) != config::LoadOp::Fault && packets_) --packets_;
  }

  void handle(const Report& report) {
    progress_ = cycle_;
    const unsigned thread = report.argument[0] % kThreads;
    Thread& its = threads_[thread];
    switch (static_cast<DebugReport>(report.code)) {
      case DebugReport::Uart: character(thread, static_cast<char>(report.argument[1])); return;
      case DebugReport::Taken:
        if (!its.input.empty()) its.input.pop_front();
        feed(thread);
        return;
      case DebugReport::Started: running_ |= uint64_t{1} << thread; return;
      case DebugReport::Stopped: {
        flush(thread);
        running_ &= ~(uint64_t{1} << thread);
        const uint32_t code = report.word(1);
        trace_.end(thread, "ends", cycle_);
        put(Kind::Stopped, thread, &code, sizeof code);
        return;
      }
      case DebugReport::Emit: {
        const uint32_t word = report.word(1);
        put(Kind::Emit, thread, &word, sizeof word);
        return;
      }
      case DebugReport::Trap: {
        flush(thread);
        running_ &= ~(uint64_t{1} << thread);
        trace_.end(thread, "trap", cycle_);
        its.trap = {true, report.argument[1], report.word(6), cycle_};
        ++asking_;
        if (report.word(2) == kUnknownPc) {
          ask_pc(thread);
        } else {
          trapped(thread, report.word(2));
        }
        return;
      }
      case DebugReport::DebugValue:
        // The program counter stood at the instruction behind the one that trapped.
        if (its.trap.pending) {
          trapped(thread, report.word(1) - 4);
          return;
        }
        [[fallthrough]];
      case DebugReport::Data:
      case DebugReport::Counter:
      case DebugReport::Identity:
      case DebugReport::Flushed:
      case DebugReport::Refused:
      case DebugReport::Parked: {
        uint8_t bytes[16] = {report.code};
        std::memcpy(bytes + 1, report.argument, report.bytes);
        put(Kind::Reply, 0, bytes, report.bytes + 1);
        if (replies_) --replies_;
        return;
      }
    }
    give_up("the tile sent a packet of an unknown kind over the debug bus");
  }

  void character(unsigned thread, char c) {
    std::string& line = threads_[thread].line;
    if (c == '\n') {
      put(Kind::Line, thread, line.data(), line.size());
      line.clear();
      return;
    }
    line.push_back(c);
    if (line.size() == kLongestLine) {
      put(Kind::Line, thread, line.data(), line.size(), 1);
      line.clear();
    }
  }

  /// The rest of a line that its thread never ended.
  void flush(unsigned thread) {
    std::string& line = threads_[thread].line;
    if (!line.empty()) put(Kind::Line, thread, line.data(), line.size());
    line.clear();
  }

  /// The next byte of a thread's input, if the tile may have it.
  void feed(unsigned thread) {
    const auto& input = threads_[thread].input;
    if (input.empty()) return;
    bus_.command(DebugCommand::Uart);
    bus_.byte(static_cast<uint8_t>(thread));
    bus_.byte(input.front());
  }

  /// Has a trapped thread say where it is: auipc t0, 0; csrw debug_value, t0.
  void ask_pc(unsigned thread) {
    constexpr uint32_t kWhere = 0x0000'0297;
    constexpr uint32_t kTellIt = (static_cast<uint32_t>(config::Csr::DebugValue) << 20) | 0x0002'9073;
    for (const uint32_t instruction : {kWhere, kTellIt}) {
      bus_.command(DebugCommand::Inject);
      bus_.byte(static_cast<uint8_t>(thread));
      bus_.word(instruction);
    }
  }

  void trapped(unsigned thread, uint32_t pc) {
    Trapped& trap = threads_[thread].trap;
    const uint32_t words[] = {trap.cause, pc, trap.value};
    trap.pending = false;
    --asking_;
    put(Kind::Trap, thread, words, sizeof words);
  }

  void stop_asking() {
    for (unsigned t = 0; t < kThreads; ++t) {
      if (threads_[t].trap.pending && cycle_ - threads_[t].trap.since > kAskPc) trapped(t, kUnknownPc);
    }
  }

  // ---- The host ----

  void put(Kind kind, unsigned thread, const void* payload, size_t bytes, uint16_t flags = 0) {
    struct {
      uint8_t kind, thread;
      uint16_t flags;
      uint32_t bytes;
      uint64_t cycle;
    } const head{static_cast<uint8_t>(kind), static_cast<uint8_t>(thread), flags, static_cast<uint32_t>(bytes),
                 cycle_};
    std::fwrite(&head, sizeof head, 1, out_);
    if (bytes) std::fwrite(payload, 1, bytes, out_);
  }

  bool fail(const char* why) {
    put(Kind::Failed, 0, why, std::strlen(why));
    std::fflush(out_);
    return false;
  }

  static bool fill(void* to, size_t bytes) {
    auto* at = static_cast<uint8_t*>(to);
    while (bytes) {
      const ssize_t got = ::read(STDIN_FILENO, at, bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

  static bool read(Request& request) {
    uint32_t head[2];
    if (!fill(head, sizeof head)) return false;
    request.kind = static_cast<uint8_t>(head[0]);
    request.payload.assign(head[1], 0);
    return fill(request.payload.data(), head[1]);
  }

  /// Whether the host has asked for a stop, or has gone.
  static bool told_to_stop() {
    pollfd in{STDIN_FILENO, POLLIN, 0};
    if (::poll(&in, 1, 0) <= 0) return false;
    Request request;
    return !read(request) || request.kind == 'X';
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
  const char* waves_;
  VerilatedContext context_;
  /// What the model may ask for ($value$plusargs) stands in the context before the model is made.
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
  Bus bus_;
  Network network_;
  Probe probe_;
  Trace trace_;
  Thread threads_[kThreads];
  uint64_t cycle_ = 0;
  uint64_t first_ = 0;          ///< cycle in which the run began
  uint64_t issued_first_ = 0;   ///< instructions before it
  uint64_t progress_ = 0;       ///< last cycle in which anything was heard or issued
  uint64_t running_ = 0;        ///< threads that have started and not ended
  unsigned asking_ = 0;         ///< trapped threads that have not yet said where
  uint32_t replies_ = 0;        ///< replies that the host still waits for
  uint32_t packets_ = 0;        ///< replies of the loader that it waits for
};

}  // namespace
}  // namespace gossamer::sim

int main(int argc, char** argv) {
  // Ctrl-C goes to the host, who tells us; and without a host there is nothing to do.
  ::signal(SIGINT, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* waves = nullptr;
  const char* trace = nullptr;
  unsigned least = 0;
  for (int i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    const std::string option = argv[i];
    if (option == "--waves") waves = argv[i + 1];
    if (option == "--trace") trace = argv[i + 1];
    if (option == "--least") least = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
  }
  // What the model prints (assertions, $display) must not get between the records.
  std::FILE* records = ::fdopen(::dup(STDOUT_FILENO), "wb");
  if (!records || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return EXIT_FAILURE;
  std::setvbuf(records, nullptr, _IOFBF, 1 << 16);
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);
  gossamer::sim::Simulation(records, waves, trace, least, argc, argv).serve();
  return std::fclose(records) ? EXIT_FAILURE : EXIT_SUCCESS;
}
