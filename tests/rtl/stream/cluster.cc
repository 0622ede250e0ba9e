// SPDX-License-Identifier: Apache-2.0
// Simulates boards generated from programs as a cluster: a model for each board, wires between them, kernels that
// supply beats and accept messages with pauses. Standard input, in hexadecimal except numbers of boards and links:
//
//   boards N SEED LOSS           LOSS frames of 2^20 are lost on the wires, and as many are damaged
//   cable BOARD LINK BOARD LINK
//   write BOARD ADDRESS WORD     a register write of the host once the board is ready
//   up BOARD MASK                links that must come up
//   give BOARD STREAM BEAT ...
//   take BOARD STREAM COUNT      number of expected messages
//   fault                        the beats so far end in a fault: a board must report it, and everything is aborted.
//                                Later lines apply after the recovery
//   recover BOARD ADDRESS WORD   a register write of the host during the recovery
//   start CYCLE                  the cycle in which kernels start, once all has been configured
//   record BOARD FILE EVERY      the host records its board, with a sample every EVERY cycles
//
// Prints the messages of each stream, one word per message, `-` for one without data; then cycles, frames and lost
// frames, and the cycle of the last beat. Exit code 1 with a line that names missing messages.
//
// ports.h, generated from the top's interface, declares `Top` and `ports(Top &)`.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "verilated.h"

namespace {
/// A port of the model, of any width; Verilator's types are arrays of bytes, lowest first.
struct Pin {
  void *at = nullptr;
  size_t bytes = 0;
};
template <class T>
Pin pin(T &port) {
  return {&port, sizeof port};
}
struct Stream {
  bool gives;  // to the board
  CData *valid, *ready;
  Pin data, keep;
  CData *last;
};
struct Mac {
  CData *tx_valid, *tx_ready, *tx_last, *rx_valid, *rx_last, *rx_error;
  QData *tx_data, *rx_data;
  CData *tx_keep, *rx_keep;
};
struct Ports {
  std::map<std::string, Stream> streams;
  std::vector<Mac> macs;
};
}  // namespace

#include "ports.h"

namespace {
constexpr unsigned kFlight = 20;
constexpr uint64_t kBootLimit = 20'000, kQuiet = 100'000, kAfter = 2'000;

std::string hex(const std::vector<uint8_t> &bytes) {
  std::string found;
  char text[3];
  for (uint8_t byte : bytes) {
    std::snprintf(text, sizeof text, "%02x", byte);
    found += text;
  }
  return found.empty() ? "-" : found;
}

struct Kernel {
  std::string name;
  Stream stream;
  std::deque<std::vector<uint8_t>> beats;       // to supply
  std::deque<std::vector<uint8_t>> later;       // to supply after the fault
  std::vector<std::vector<uint8_t>> messages;   // received; the last one is incomplete
  size_t wanted = 0;
  unsigned busy = 16;  // active cycles of 16
  bool offers = false;
  uint64_t passed = 0, held = 0, awaited = 0;  // cycles: valid and ready, only valid, only ready
};

struct Word {
  uint64_t due, data;
  uint8_t keep;
  bool last, error;
};

struct Wire {
  unsigned from, from_link, to, to_link;
  std::deque<Word> flying;
  bool inside = false, lost = false, damaged = false;
};

struct Board {
  std::unique_ptr<Top> top;
  Ports ports;
  std::vector<std::pair<uint32_t, uint32_t>> writes, recovers;
  uint32_t up = 0;
  std::vector<Kernel> kernels;
  std::string file;  // of its recording
  uint64_t every = 0;
};

struct Cluster {
  VerilatedContext context;
  std::vector<Board> boards;
  std::vector<Wire> wires;
  std::mt19937_64 random;
  uint32_t loss = 0;
  uint64_t now = 0, moved = 0, frames = 0, lost = 0;
  bool kernels_run = false, faulty = false;
  uint64_t start = 0;

  bool chance(uint64_t of, uint64_t all) { return random() % all < of; }

  void drive(Kernel &kernel) {
    Stream &stream = kernel.stream;
    if (stream.gives) {
      if (!kernel.offers) kernel.offers = !kernel.beats.empty() && chance(kernel.busy, 16);
      *stream.valid = kernel.offers;
      if (kernel.offers && stream.data.at) {
        std::memset(stream.data.at, 0, stream.data.bytes);
        const auto &beat = kernel.beats.front();
        std::memcpy(stream.data.at, beat.data(), std::min(beat.size(), stream.data.bytes));
      }
    } else {
      *stream.ready = kernel.offers = chance(kernel.busy, 16);
    }
  }

  void sample(Kernel &kernel) {
    Stream &stream = kernel.stream;
    kernel.passed += *stream.valid && *stream.ready;
    kernel.held += *stream.valid && !*stream.ready;
    kernel.awaited += !*stream.valid && *stream.ready;
    if (!*stream.valid || !*stream.ready) return;
    moved = now;
    if (stream.gives) {
      kernel.beats.pop_front();
      kernel.offers = false;
      return;
    }
    if (kernel.messages.empty()) kernel.messages.emplace_back();
    if (stream.data.at) {
      uint64_t keep = 0;
      std::memcpy(&keep, stream.keep.at, stream.keep.bytes);
      const auto *bytes = static_cast<const uint8_t *>(stream.data.at);
      for (; keep & 1; keep >>= 1) kernel.messages.back().push_back(*bytes++);
      if (keep) {
        std::fprintf(stderr, "%s: tkeep has gaps\n", kernel.name.c_str());
        std::exit(1);
      }
    }
    if (!stream.last || *stream.last) kernel.messages.emplace_back();
  }

  void step() {
    for (Board &board : boards) {
      for (Mac &mac : board.ports.macs) *mac.rx_valid = 0, *mac.tx_ready = 1;
      if (kernels_run) {
        for (Kernel &kernel : board.kernels) drive(kernel);
      }
    }
    for (Wire &wire : wires) {
      if (wire.flying.empty() || wire.flying.front().due > now) continue;
      const Word word = wire.flying.front();
      wire.flying.pop_front();
      Mac &mac = boards[wire.to].ports.macs[wire.to_link];
      *mac.rx_valid = 1;
      *mac.rx_data = word.data, *mac.rx_keep = word.keep, *mac.rx_last = word.last, *mac.rx_error = word.error;
    }
    for (Board &board : boards) {
      board.top->aclk = 0;
      board.top->eval();
    }
    if (kernels_run) {
      for (Board &board : boards) {
        for (Kernel &kernel : board.kernels) sample(kernel);
      }
    }
    for (Wire &wire : wires) {
      Mac &mac = boards[wire.from].ports.macs[wire.from_link];
      if (!*mac.tx_valid) continue;
      if (!wire.inside) {
        wire.lost = chance(loss, 1 << 20);
        wire.damaged = !wire.lost && chance(loss, 1 << 20);
        frames++, lost += wire.lost || wire.damaged;
      }
      wire.inside = !*mac.tx_last;
      if (wire.lost) continue;
      const bool ends = *mac.tx_last;
      const uint64_t flip = wire.damaged && ends ? uint64_t{1} << random() % 8 : 0;
      wire.flying.push_back({now + kFlight, *mac.tx_data ^ flip, *mac.tx_keep, ends, wire.damaged && ends});
    }
    for (Board &board : boards) {
      board.top->aclk = 1;
      board.top->eval();
    }
    now++;
    context.timeInc(1);
  }

  void write(Board &board, uint32_t address, uint32_t word) {
    Top &top = *board.top;
    top.s_axil_awaddr = address, top.s_axil_wdata = word, top.s_axil_wstrb = 15;
    top.s_axil_awvalid = top.s_axil_wvalid = top.s_axil_bready = 1;
    step();
    top.s_axil_awvalid = top.s_axil_wvalid = 0;
    for (unsigned waits = 0; !top.s_axil_bvalid; waits++) {
      if (waits == 100) fail("a register access is not answered");
      step();
    }
    if (top.s_axil_bresp) fail("a register access is rejected");
    step();
  }

  uint32_t read(Board &board, uint32_t address) {
    Top &top = *board.top;
    top.s_axil_araddr = address;
    top.s_axil_arvalid = top.s_axil_rready = 1;
    step();
    top.s_axil_arvalid = 0;
    for (unsigned waits = 0; !top.s_axil_rvalid; waits++) {
      if (waits == 100) fail("a register access is not answered");
      step();
    }
    const uint32_t word = top.s_axil_rdata;
    step();
    return word;
  }

  [[noreturn]] void fail(const char *what) {
    std::fprintf(stderr, "cycle %llu: %s\n", static_cast<unsigned long long>(now), what);
    for (size_t at = 0; at < boards.size(); at++) {
      for (const Kernel &kernel : boards[at].kernels) {
        const size_t have = kernel.messages.empty() ? 0 : kernel.messages.size() - 1;
        if (!kernel.beats.empty() || have < kernel.wanted) {
          std::fprintf(stderr, "  board %zu, %s: %zu of %zu messages, %zu beats left\n", at, kernel.name.c_str(), have,
                       kernel.wanted, kernel.beats.size());
        }
      }
    }
    std::exit(1);
  }

  void boot() {
    for (Board &board : boards) board.top->aresetn = 0;
    for (unsigned cycle = 0; cycle < 8; cycle++) step();
    for (Board &board : boards) board.top->aresetn = 1;
    for (Board &board : boards) {
      while (!(read(board, 8) & 1)) {
        if (now > kBootLimit) fail("a board is not ready");
      }
      for (const auto &[address, word] : board.writes) write(board, address, word);
    }
    for (Board &board : boards) {
      while (read(board, 8) >> 16 != board.up) {
        if (now > 2 * kBootLimit) fail("links do not come up");
      }
    }
  }

  bool complete() const {
    for (const Board &board : boards) {
      for (const Kernel &kernel : board.kernels) {
        if (!kernel.beats.empty() || (kernel.wanted && kernel.messages.size() <= kernel.wanted)) return false;
      }
    }
    return true;
  }

  /// Runs until a fault is reported, aborts everything at that point, and recovers.
  void break_off() {
    kernels_run = true;
    const uint64_t end = now + kBootLimit;
    for (bool told = false; !told;) {
      for (unsigned cycle = 0; cycle < 200; cycle++) step();
      for (Board &board : boards) told |= (read(board, 8) & 2) != 0;
      if (now > end) fail("no fault is reported");
    }
    stop();
    for (Board &board : boards) {
      for (Kernel &kernel : board.kernels) {
        kernel.beats = std::move(kernel.later);
        kernel.messages.clear();
        kernel.offers = false;
      }
    }
    for (Board &board : boards) {
      for (const auto &[address, word] : board.recovers) write(board, address, word);
    }
    // Elements in flight arrive at ports that no longer accept them.
    for (unsigned cycle = 0; cycle < kAfter; cycle++) step();
    for (Board &board : boards) {
      while (read(board, 8) & 2) {
        for (uint32_t word = 0; word < 6; word++) read(board, 0x40 + 4 * word);
      }
      write(board, 0x0C, 1);
    }
  }

  void stop() {
    kernels_run = false;
    for (Board &board : boards) {
      for (Kernel &kernel : board.kernels) *(kernel.stream.gives ? kernel.stream.valid : kernel.stream.ready) = 0;
    }
  }

  /// The hosts that record their boards.
  class Recorders {
   public:
    explicit Recorders(Cluster &all) {
      for (Board &board : all.boards) {
        if (board.file.empty()) continue;
        hosts_.push_back(std::make_unique<Host>(Host{&all, &board, {}, nullptr, {}, 0}));
        Host &host = *hosts_.back();
        host.bus = {[](void *context, uint32_t address, uint32_t word) {
                      auto *one = static_cast<Host *>(context);
                      one->all->write(*one->board, address, word);
                    },
                    [](void *context, uint32_t address) {
                      auto *one = static_cast<Host *>(context);
                      return one->all->read(*one->board, address);
                    },
                    &host};
        host.file = std::fopen(board.file.c_str(), "w");
        const unsigned number = static_cast<unsigned>(&board - all.boards.data());
        std::vector<unsigned> ranks;
        for (unsigned slot = 0; slot < design().slots; slot++) ranks.push_back(number * design().slots + slot);
        const std::string name = "b" + std::to_string(number);
        if (!host.file || gossamer_smi_record_begin(&host.recorder, &host.bus, &design(), host.file, name.c_str(), 250,
                                                    ranks.data())) {
          all.fail("a recording cannot begin");
        }
      }
    }
    ~Recorders() {
      for (auto &host : hosts_) std::fclose(host->file);
    }
    void sample() {
      for (auto &host : hosts_) {
        if (host->all->now < host->due) continue;
        host->due = host->all->now + host->board->every;
        if (gossamer_smi_record_sample(&host->recorder)) host->all->fail("a report, or no sample");
      }
    }
    void end() {
      for (auto &host : hosts_) {
        if (gossamer_smi_record_end(&host->recorder)) host->all->fail("a recording cannot end");
      }
    }

   private:
    struct Host {
      Cluster *all;
      Board *board;
      gossamer_smi_bus bus;
      std::FILE *file;
      gossamer_smi_recorder recorder;
      uint64_t due;
    };
    std::vector<std::unique_ptr<Host>> hosts_;
  };

  uint64_t last = 0;

  void run() {
    boot();
    if (faulty) break_off();
    Recorders recorders(*this);
    if (start && now > start) fail("the start is too early");
    while (now < start) step();
    kernels_run = true;
    moved = now;
    while (!complete()) {
      step();
      recorders.sample();
      if (now - moved > kQuiet) fail("no progress");
    }
    // Surplus messages are detected as well.
    for (uint64_t end = now + kAfter; now < end;) step();
    last = moved;
    stop();
    recorders.end();
    for (Board &board : boards) {
      if (read(board, 8) & 0b11110) fail("a board reports a fault");
    }
  }

  Kernel &kernel(unsigned board, const std::string &name) {
    for (Kernel &one : boards[board].kernels) {
      if (one.name == name) return one;
    }
    Kernel one{name, boards[board].ports.streams.at(name), {}, {}, {}, 0, 16, false, 0, 0, 0};
    if (chance(1, 3)) one.busy = 5;
    boards[board].kernels.push_back(std::move(one));
    return boards[board].kernels.back();
  }
};

std::vector<uint8_t> bytes_of(const std::string &text) {
  std::vector<uint8_t> found;
  for (size_t end = text.size(); end > 0; end -= std::min<size_t>(2, end)) {
    const size_t begin = end >= 2 ? end - 2 : 0;
    found.push_back(static_cast<uint8_t>(std::stoul(text.substr(begin, end - begin), nullptr, 16)));
  }
  return found;
}
}  // namespace

int main() {
  Cluster all;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string kind, name;
    unsigned board = 0, link = 0, other = 0, other_link = 0;
    words >> kind;
    if (kind == "boards") {
      unsigned count = 0;
      uint64_t seed = 0;
      words >> count >> seed >> all.loss;
      all.random.seed(seed);
      all.boards.resize(count);
      for (unsigned at = 0; at < count; at++) {
        Board &one = all.boards[at];
        one.top = std::make_unique<Top>(&all.context, ("b" + std::to_string(at)).c_str());
        one.ports = ports(*one.top);
      }
    } else if (kind == "cable") {
      words >> board >> link >> other >> other_link;
      all.wires.push_back({board, link, other, other_link, {}});
      all.wires.push_back({other, other_link, board, link, {}});
    } else if (kind == "fault") {
      all.faulty = true;
    } else if (kind == "write" || kind == "recover") {
      uint32_t address = 0, word = 0;
      words >> board >> std::hex >> address >> word;
      Board &one = all.boards.at(board);
      (kind == "write" ? one.writes : one.recovers).emplace_back(address, word);
    } else if (kind == "start") {
      words >> all.start;
    } else if (kind == "record") {
      words >> board >> name;
      all.boards.at(board).file = name;
      words >> all.boards.at(board).every;
    } else if (kind == "up") {
      words >> board >> std::hex >> all.boards[board].up;
    } else if (kind == "give") {
      words >> board >> name;
      Kernel &one = all.kernel(board, name);
      for (std::string beat; words >> beat;) (all.faulty ? one.later : one.beats).push_back(bytes_of(beat));
    } else if (kind == "take") {
      words >> board >> name;
      words >> all.kernel(board, name).wanted;
    } else {
      std::fprintf(stderr, "%s: unknown keyword\n", kind.c_str());
      return 2;
    }
  }
  all.run();
  for (size_t at = 0; at < all.boards.size(); at++) {
    for (Kernel &one : all.boards[at].kernels) {
      if (one.stream.gives) continue;
      std::printf("%zu %s", at, one.name.c_str());
      // The last message is never closed: it must be empty.
      for (size_t number = 0; number < one.messages.size(); number++) {
        if (number + 1 < one.messages.size() || !one.messages[number].empty()) {
          std::printf(" %s", hex(one.messages[number]).c_str());
        }
      }
      std::printf("\n");
    }
  }
  for (size_t at = 0; at < all.boards.size(); at++) {
    for (const Kernel &one : all.boards[at].kernels) {
      std::printf("counted %zu %s %llu %llu %llu\n", at, one.name.c_str(), static_cast<unsigned long long>(one.passed),
                  static_cast<unsigned long long>(one.held), static_cast<unsigned long long>(one.awaited));
    }
  }
  std::printf("cycles %llu frames %llu lost %llu last %llu\n", static_cast<unsigned long long>(all.now),
              static_cast<unsigned long long>(all.frames), static_cast<unsigned long long>(all.lost),
              static_cast<unsigned long long>(all.last));
  return 0;
}
