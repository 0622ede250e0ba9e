// SPDX-License-Identifier: Apache-2.0
/// Runs programs on boards behind Ethernet shells for the engine `board`: it handles the requests of a simulator
/// (sim/host/records.h), but sends packets to boards, whose time does not wait for the host.
///
/// The first request is
///   'O'  text, a line for each fact: "port NAME", "role FILE", "type NUMBER", "hosts BOARD...", "board MAC KEY...",
///        "link BOARD LINK PEER LINK IDENTITY"; opens the boards; answered by Done, or by Failed
/// Differences from a simulator:
///   - Cycles are those of the first host's board, whose flits carry them. Between two flits the time is not known.
///   - 'P' pauses the host, not the boards.
///   - There are no signals to look into. A run is in a deadlock if twice in a row all tiles report the same counters
///     and all boards report that no packet is in flight. The states of threads that have not ended are those that
///     the tiles report; they are unknown if a tile does not answer.
///   - 'Y' and 'T' have no effect.
/// It also handles the requests of a host program (sim/host/session.h), between which the boards run on.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "board_group.h"
#include "machine/packets.h"
#include "network.h"
#include "records.h"
#include "tile_host.h"
#include "wait.h"

namespace gossamer::machine {
namespace {

using sim::Flit;
using sim::Kind;
using sim::Reason;
using sim::Request;
using sim::Wait;
using sim::Woke;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr unsigned kBoardTiles = config::derived::tiles;
constexpr uint32_t kEachTile = ~uint32_t{0};
constexpr uint8_t kUnknown = 0xFF;          ///< the activity of a thread that has not ended
constexpr milliseconds kPatience{20'000};   ///< within which a board must accept data or answer
constexpr milliseconds kInspection{2'000};  ///< within which tiles must report the states of their threads
constexpr milliseconds kSampleEvery{100};
constexpr milliseconds kProgressEvery{250};
/// Cycles without any change after which a run is in a deadlock. A DMA engine may work for long between two of them.
constexpr uint64_t kQuiescence = 1 << 17;
constexpr int kWaitMs = 2;

/// A value that differs between two samples of the boards if anything has happened between them.
struct Sample {
  bool complete = false;
  uint64_t cycle = 0, happened = 0, in_flight = 0, instructions = 0;
  bool same(const Sample& other) const {
    return complete && other.complete && !in_flight && !other.in_flight && happened == other.happened;
  }
};

/// When a thread has last done something, as far as samples show.
class Work {
 public:
  explicit Work(const Sample& first) : instructions_(first.instructions), cycle_(first.cycle) {}

  /// The cycles up to a sample without an instruction and without output.
  uint64_t idle(const Sample& next, const std::vector<sim::TileHost>& tiles) {
    uint64_t bytes = 0;
    for (const auto& one : tiles) bytes += one.reported();
    if (next.instructions != instructions_ || bytes != bytes_) {
      instructions_ = next.instructions;
      bytes_ = bytes;
      cycle_ = next.cycle;
    }
    return next.cycle - cycle_;
  }

 private:
  uint64_t instructions_, cycle_, bytes_ = 0;
};

class BoardSession {
 public:
  explicit BoardSession(std::FILE* out) : out_(out) {}

  /// Handles requests until the end of the input. Throws BoardError.
  void serve() {
    Request request;
    while (next(request)) {
      if (!group_ && request.kind != 'O') throw BoardError("the first request does not open the boards");
      handle(request);
      write();
    }
  }

  void fail(const std::string& why) {
    own_.put(Kind::Failed, cycle_, 0, why.data(), why.size());
    write();
  }

 private:
  void handle(const Request& request) {
    const uint8_t* bytes = request.payload.data();
    const size_t count = request.payload.size();
    switch (request.kind) {
      case 'O':
        open(std::string(bytes, bytes + count));
        done();
        break;
      case 'S':
        tile(request.word(0)).send(bytes + 4, count - 4, 0);
        settle("a board accepts no more bytes for a debug bus", nullptr);
        done();
        break;
      case 'Q': {
        const uint32_t to = request.word(4);
        for (uint32_t t = 0; t < tiles_.size(); ++t) {
          if (to == kEachTile || to == t) tiles_[t].send(bytes + 8, count - 8, request.word(0));
        }
        if (to != kEachTile) tile(to);
        settle("a board accepts no more bytes for a debug bus", "a tile does not answer on the debug bus");
        done();
        break;
      }
      case 'N':
        ports_[0]->send(bytes + 4, count - 4, request.word(0));
        settle("a board accepts no more flits from the network", "a board does not answer");
        done();
        break;
      case 'I': {
        const uint32_t thread = request.word(0);
        tile(thread / sim::kThreads).input(thread % sim::kThreads, bytes + 4, count - 4);
        break;
      }
      case 'R': run(request); break;
      case 'P': pause_ = request.long_word(0); break;
      case 'C': resume(); break;
      case 'T': done(); break;
      case 'V': begin(); break;
      case 'M': ports_[0]->send(bytes, count, 0); break;
      case 'U': {
        const uint32_t thread = request.word(0);
        tile(thread / sim::kThreads).feed(thread % sim::kThreads, bytes + 4, count - 4);
        break;
      }
      case 'B': {
        const uint32_t t = request.word(0);
        if (!tile(t).running()) ports_[0]->expect(t / kBoardTiles, uint64_t{1} << t % kBoardTiles, true);
        tile(t).start_more(request.long_word(8), request.word(4), cycle_);
        break;
      }
      case 'W': {
        Wait wait;
        if (count != sizeof wait) throw BoardError("a wait request is truncated");
        std::memcpy(&wait, bytes, sizeof wait);
        answer(await(wait));
        break;
      }
      case 'E': answer(Woke::AllEnded); break;
      case 'Y':
      case 'X': break;  // 'X' has arrived after the end of its run
      default: throw BoardError("a request of an unknown kind");
    }
  }

  void done() { own_.put(Kind::Done, cycle_, 0, nullptr, 0); }

  void open(const std::string& text) {
    GroupOptions options;
    std::vector<unsigned> hosts;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const size_t space = line.find(' ');
      const std::string what = line.substr(0, space), value = line.substr(space + 1);
      std::istringstream words(value);
      if (what == "port") {
        options.port = value;
      } else if (what == "role") {
        options.role = value;
      } else if (what == "kernels") {
        words >> options.kernels;
      } else if (what == "type") {
        words >> options.board_type;
      } else if (what == "hosts") {
        for (unsigned board; words >> board;) hosts.push_back(board);
      } else if (what == "board") {
        options.boards.push_back(board_of(words));
      } else if (what == "link") {
        GroupOptions::Link link;
        words >> link.from >> link.from_link >> link.to >> link.to_link >> link.identity;
        options.links.push_back(link);
      } else {
        throw BoardError(line + ": is no fact about boards");
      }
    }
    if (hosts.empty() || *std::max_element(hosts.begin(), hosts.end()) >= options.boards.size()) {
      throw BoardError("a host is at no board");
    }
    group_ = std::make_unique<BoardGroup>(options);
    const auto count = static_cast<unsigned>(group_->boards()) * kBoardTiles;
    tiles_.reserve(count);
    for (unsigned t = 0; t < count; ++t) tiles_.emplace_back(t * sim::kThreads);
    for (unsigned h = 0; h < hosts.size(); ++h) ports_.push_back(std::make_unique<sim::HostPort>(h));
    host_boards_ = hosts;
    ports_[0]->drive(tiles_.data(), kBoardTiles, count);
    for (auto& port : ports_) sources_.push_back(&port->ear().records());
    for (auto& one : tiles_) sources_.push_back(&one.records());
  }

  static GroupOptions::Board board_of(std::istringstream& words) {
    GroupOptions::Board board;
    std::string mac, digits;
    words >> mac;
    const auto address = shell::Mac::parse(mac);
    if (!address) throw BoardError(mac + ": is no Ethernet address");
    board.mac = *address;
    while (words >> digits) {
      shell::Key key;
      if (digits.size() != 2 * key.size()) throw BoardError("board " + mac + ": its key has another length");
      for (size_t i = 0; i < key.size(); ++i) {
        key[i] = static_cast<uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
      }
      board.keys.push_back(key);
    }
    return board;
  }

  sim::TileHost& tile(uint32_t number) {
    if (number >= tiles_.size()) throw BoardError("a request for a tile that does not exist");
    return tiles_[number];
  }

  // ---- Time ----

  /// Sends what is queued, waits at most `timeout_ms` for packets, and handles those that have arrived.
  void advance(int timeout_ms) {
    flush();
    group_->step(timeout_ms);
    for (unsigned h = 0; h < ports_.size(); ++h) {
      group_->receive(host_boards_[h], [&](const Flit& flit, uint64_t cycle) { receive(h, flit, cycle); });
    }
    flush();
  }

  void flush() {
    ports_[0]->pump(cycle_);
    for (unsigned h = 0; h < ports_.size(); ++h) group_->send(host_boards_[h], *ports_[h], cycle_);
  }

  void receive(unsigned host, const Flit& flit, uint64_t cycle) {
    if (!host) cycle_ = cycle;
    arrived_ = Clock::now();
    if (starts_) {
      first_ = cycle_;
      starts_ = false;
    }
    if (asked_ && flit.is(config::FlitKind::Header) && sim::ControlFlit::op(flit) == config::ControlOp::Answer) {
      const auto answer = sim::ControlFlit::read<config::ControlAnswer>(flit);
      if (answer.asked == config::ControlOp::Read && answer.board == asked_->board && answer.unit == kBoardUnit &&
          answer.counter == static_cast<unsigned>(asked_->counter)) {
        asked_->value = answer.value;
        asked_->answered = true;
        return;
      }
    }
    ports_[host]->receive(flit, cycle_);
  }

  uint32_t exchanging() const {
    uint32_t sum = group_->pending();
    for (const auto& port : ports_) sum += port->exchanging();
    return sum;
  }

  /// Waits until the boards have accepted all data and answered. Throws BoardError after a time without any progress.
  void settle(const char* not_accepted, const char* not_answered) {
    arrived_ = Clock::now();
    for (advance(0); exchanging(); advance(kWaitMs)) {
      if (Clock::now() - arrived_ < kPatience) continue;
      bool sends = group_->pending();
      for (const auto& port : ports_) sends |= port->pending();
      throw BoardError(sends || !not_answered ? not_accepted : not_answered);
    }
  }

  /// A counter of a board; nothing if the board does not answer in time.
  std::optional<uint64_t> counter(unsigned board, config::BoardCounter which) {
    const Flit flit = read_counter(board, kBoardUnit, static_cast<unsigned>(which));
    asked_ = Asked{board, which, 0, false};
    ports_[0]->send(reinterpret_cast<const uint8_t*>(flit.words.data()), sizeof flit, 0);
    for (const auto end = Clock::now() + kPatience; !asked_->answered && Clock::now() < end;) advance(kWaitMs);
    const Asked asked = *asked_;
    asked_.reset();
    if (!asked.answered) return std::nullopt;
    return asked.value;
  }

  /// The present state of all boards. It is incomplete if something does not answer.
  Sample sample() {
    Sample sample;
    for (unsigned b = 0; b < group_->boards(); ++b) {
      const auto flying = counter(b, config::BoardCounter::InFlight),
                 entered = counter(b, config::BoardCounter::Entered);
      if (!flying || !entered) return sample;
      sample.in_flight |= *flying;
      sample.happened += *entered;
    }
    for (auto& one : tiles_) {
      if (!one.samples_left()) one.sample();
    }
    const auto left = [&] {
      return std::any_of(tiles_.begin(), tiles_.end(), [](const auto& one) { return one.samples_left() != 0; });
    };
    for (const auto end = Clock::now() + kPatience; left() && Clock::now() < end;) advance(kWaitMs);
    if (left()) return sample;
    for (const auto& one : tiles_) {
      for (unsigned i = 0; i < sim::kCounters; ++i) {
        const auto which = static_cast<config::DebugCounter>(i);
        const uint64_t value = one.counters()[i];
        if (which != config::DebugCounter::Cycles && which != config::DebugCounter::Idle) sample.happened += value;
        if (which == config::DebugCounter::Instructions) sample.instructions += value;
      }
    }
    sample.cycle = cycle_;
    sample.complete = true;
    return sample;
  }

  // ---- Running ----

  void run(const Request& request) {
    constexpr uint32_t kOfBoard = kBoardTiles * sim::kThreads;
    constexpr size_t kHead = 24;
    std::vector<uint32_t> threads(group_->boards());
    for (uint32_t b = 0, left = request.word(0); b < threads.size(); ++b) {
      threads[b] = std::min(left, kOfBoard);
      left -= threads[b];
      if (request.payload.size() > kHead) threads[b] = std::min(request.word(kHead + 4 * b), kOfBoard);
    }
    // All boards know the tiles of the run before a thread starts at one of them.
    for (unsigned b = 0; b < threads.size(); ++b) {
      const unsigned count = (threads[b] + sim::kThreads - 1) / sim::kThreads;
      ports_[0]->expect(b, count < 64 ? (uint64_t{1} << count) - 1 : ~uint64_t{0}, false);
    }
    settle("a board accepts no more packets", "a board does not answer");
    before_ = sample();
    if (!before_.complete) throw BoardError("a board does not answer");
    for (unsigned t = 0; t < tiles_.size(); ++t) {
      const uint32_t its = threads[t / kBoardTiles], before = t % kBoardTiles * sim::kThreads;
      const uint32_t mine = its > before ? std::min(its - before, sim::kThreads) : 0;
      tiles_[t].start(mine, its, kBoardTiles > 1, cycle_);
    }
    // The first packet that arrives returns a credit of a start, in about the cycle of that start.
    starts_ = true;
    first_ = cycle_;
    const uint64_t most = request.long_word(8);
    end_ = most && most < ~uint64_t{0} - cycle_ ? most : ~uint64_t{0};
    watchdog_ = request.long_word(16);
    resume();
  }

  /// Continues a run to its end or its next pause.
  void resume() {
    const Reason reason = go();
    pause_ = ~uint64_t{0};
    if (reason == Reason::Paused) {
      own_.put(Kind::Paused, cycle_, 0, nullptr, 0);
    } else {
      ended(reason);
    }
  }

  bool runs() const {
    return std::any_of(tiles_.begin(), tiles_.end(), [](const auto& one) { return one.unfinished() != 0; });
  }

  Reason go() {
    Sample seen = before_;
    Work work(before_);
    auto sampled = Clock::now(), shown = Clock::now();
    advance(0);
    for (; runs(); advance(kWaitMs)) {
      write();
      for (auto& one : tiles_) one.stop_querying(cycle_);
      if (!starts_ && cycle_ - first_ >= end_) return Reason::MostCycles;
      if (!starts_ && cycle_ - first_ >= pause_) return Reason::Paused;
      if (Request::stop_requested()) return Reason::Stopped;
      const auto now = Clock::now();
      if (now - sampled < kSampleEvery) continue;
      const Sample next = sample();
      if (!runs()) break;
      if (!next.complete) return Reason::Stuck;
      sampled = Clock::now();
      // A deadlock is the better answer if both limits have passed, unless the watchdog's was the first.
      const bool overdue = work.idle(next, tiles_) >= watchdog_ && watchdog_;
      if (overdue && watchdog_ < kQuiescence) return Reason::Stuck;
      if (!next.same(seen)) {
        seen = next;
      } else if (next.cycle - seen.cycle >= kQuiescence) {
        return Reason::Deadlock;
      }
      if (overdue) return Reason::Stuck;
      if (now - shown >= kProgressEvery) {
        shown = now;
        const uint64_t instructions = next.instructions - before_.instructions;
        own_.put(Kind::Progress, cycle_, 0, &instructions, sizeof instructions);
      }
    }
    return Reason::AllEnded;
  }

  void ended(Reason reason) {
    uint64_t last = cycle_;
    uint64_t instructions = 0;
    if (reason == Reason::AllEnded) {
      last = 0;
      for (const auto& one : tiles_) last = std::max(last, one.progress());
      instructions = drain();
    }
    for (auto& one : tiles_) one.finish(cycle_);
    const auto active = active_threads();
    struct {
      uint32_t reason, count;
      uint64_t first, last, issued;
    } const head{static_cast<uint32_t>(reason), static_cast<uint32_t>(active.size()), first_, last, instructions};
    put(Kind::End, head, active);
  }

  /// The threads that have started and not ended.
  std::vector<sim::ActiveThread> active_threads() {
    for (auto& one : tiles_) {
      if (!one.inspections_left()) one.inspect();
    }
    const auto left = [&] {
      return std::any_of(tiles_.begin(), tiles_.end(), [](const auto& one) { return one.inspections_left() != 0; });
    };
    for (const auto end = Clock::now() + kInspection; left() && Clock::now() < end;) advance(kWaitMs);
    std::vector<sim::ActiveThread> active;
    for (unsigned t = 0; t < tiles_.size(); ++t) {
      for (uint64_t left = tiles_[t].running(); left; left &= left - 1) {
        sim::ActiveThread one;
        one.thread = t * sim::kThreads + static_cast<unsigned>(std::countr_zero(left));
        one.doing = kUnknown;
        tiles_[t].inspected(static_cast<unsigned>(std::countr_zero(left)), one);
        active.push_back(one);
      }
    }
    return active;
  }

  template <typename Head>
  void put(Kind kind, const Head& head, const std::vector<sim::ActiveThread>& active) {
    std::vector<uint8_t> payload(sizeof head + active.size() * sizeof(sim::ActiveThread));
    std::memcpy(payload.data(), &head, sizeof head);
    if (!active.empty()) {
      std::memcpy(payload.data() + sizeof head, active.data(), active.size() * sizeof(sim::ActiveThread));
    }
    own_.put(kind, cycle_, 0, payload.data(), payload.size());
  }

  /// Messages that threads have sent to a host before they ended may still be in flight: waits until none is. Returns
  /// the instructions of the run.
  uint64_t drain() {
    Sample seen = sample();
    for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
      const Sample next = sample();
      if (!next.complete) break;
      if (next.same(seen)) {
        // The answers have passed all earlier flits of the first host's board alone.
        if (ports_.size() > 1) advance(kWaitMs);
        return next.instructions - before_.instructions;
      }
      seen = next;
    }
    throw BoardError("packets are in flight for a long time after the last thread has ended");
  }

  // ---- A host program ----

  void begin() {
    for (auto& one : tiles_) one.report_bytes();
    before_ = sample();
    if (!before_.complete) throw BoardError("a board does not answer");
    instructions_ = 0;
    done();
  }

  bool trapped() const {
    uint64_t sum = 0;
    for (const auto& port : ports_) sum += port->ear().faults();
    for (const auto& one : tiles_) sum += one.traps();
    return sum != 0;
  }

  uint64_t queued() const { return ports_[0]->queued() + group_->pending(); }

  /// Whether a wanted event has occurred.
  bool woke(const Wait& wait) const {
    uint64_t messages = 0, bytes = 0;
    for (const auto& port : ports_) messages += port->ear().messages();
    for (const auto& one : tiles_) bytes += one.reported();
    return trapped() || (wait.wanted & sim::kBytes && bytes >= wait.bytes) ||
           (wait.wanted & sim::kMessages && messages >= wait.messages) ||
           (wait.wanted & sim::kSpace && queued() <= wait.space);
  }

  Woke await(const Wait& wait) {
    Sample seen;
    auto sampled = Clock::now(), shown = Clock::now();
    const uint64_t over = wait.cycles ? cycle_ + wait.cycles : ~uint64_t{0};
    const uint64_t limit = wait.limit ? wait.limit : ~uint64_t{0};
    advance(0);
    for (;; advance(kWaitMs)) {
      for (auto& one : tiles_) one.stop_querying(cycle_);
      if (woke(wait)) return trapped() ? Woke::Trap : Woke::Event;
      if (cycle_ >= limit) return Woke::Limit;
      if (cycle_ >= over) return Woke::Over;
      if (Request::stop_requested()) return Woke::Stopped;
      // Without packets, only an answer shows the time.
      if (wait.cycles && !counter(host_boards_[0], config::BoardCounter::Entered)) return Woke::Stuck;
      const auto now = Clock::now();
      if (now - sampled < kSampleEvery) continue;
      const Sample next = sample();
      sampled = Clock::now();
      if (!next.complete) return Woke::Stuck;
      instructions_ = next.instructions - before_.instructions;
      if (!next.same(seen)) {
        seen = next;
      } else if (!woke(wait) && !wait.poll) {
        if (!runs()) return Woke::AllEnded;
        if (next.cycle - seen.cycle >= kQuiescence) return Woke::Deadlock;
      }
      if (now - shown < kProgressEvery) continue;
      shown = now;
      own_.put(Kind::Progress, cycle_, 0, &instructions_, sizeof instructions_);
      write();
    }
  }

  void answer(Woke reason) {
    std::vector<sim::ActiveThread> active;
    if (reason != Woke::Event && reason != Woke::Over) active = active_threads();
    put(Kind::Woken, sim::Woken{reason, static_cast<uint32_t>(active.size()), queued(), instructions_}, active);
  }

  // ---- The engine ----

  /// Waits for the next request, and handles frames meanwhile; false at the end of the input.
  bool next(Request& request) {
    for (;;) {
      pollfd in{STDIN_FILENO, POLLIN, 0};
      if (::poll(&in, 1, group_ ? kWaitMs : -1) > 0) return Request::read(request);
      if (group_) {
        advance(0);
        write();
      }
    }
  }

  void write() {
    std::vector<sim::Records*> all = sources_;
    all.push_back(&own_);
    sim::Records::write(all, out_);
    std::fflush(out_);
  }

  /// A counter of a board that is being read.
  struct Asked {
    unsigned board;
    config::BoardCounter counter;
    uint64_t value;
    bool answered;
  };

  std::FILE* out_;
  std::unique_ptr<BoardGroup> group_;
  std::vector<sim::TileHost> tiles_;
  std::vector<std::unique_ptr<sim::HostPort>> ports_;  ///< by host
  std::vector<unsigned> host_boards_;
  sim::Records own_;
  std::vector<sim::Records*> sources_;
  std::optional<Asked> asked_;
  Clock::time_point arrived_;     ///< when the last flit has arrived
  Sample before_;                 ///< at the begin of the run, or of the host program's session
  uint64_t instructions_ = 0;     ///< since then, as of the last sample of a host program's wait
  uint64_t cycle_ = 0;            ///< of the first host's board, as of its last flit
  bool starts_ = false;           ///< no flit has arrived since the start
  uint64_t first_ = 0, end_ = 0;  ///< begin of the run, and its limit of cycles
  uint64_t watchdog_ = 0;         ///< cycles without an instruction or output after which it ends; 0: none
  uint64_t pause_ = ~uint64_t{0};
};

}  // namespace
}  // namespace gossamer::machine

int main() {
  using namespace gossamer::machine;
  // The engine handles Ctrl-C, and ends this program by the end of its input.
  ::signal(SIGINT, SIG_IGN);
  std::setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
  const auto session = std::make_unique<BoardSession>(stdout);
  try {
    session->serve();
  } catch (const std::exception& error) {
    session->fail(error.what());
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
