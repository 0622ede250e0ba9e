// SPDX-License-Identifier: Apache-2.0
// Emulates the caches upstream of crossbar and scheduler, and downstream an AXI4 memory that checks the protocol and
// two SRAMs, all with random behaviour within the rules. Threads compare their reads with their writes.
// Arguments: seed requests
#include <verilated.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "Vmemory_top.h"

namespace {

constexpr int kCaches = 4, kThreads = 16, kSrams = 2;
constexpr std::uint64_t kLine = 64, kPort = 16, kBeats = kLine / kPort, kBase = 0x10000000;

using Beat = std::array<std::uint8_t, kPort>;
using Line = std::array<std::uint8_t, kLine>;

std::mt19937_64 rng;
std::uint64_t cycle = 0;

bool chance(double probability) {
  return static_cast<double>(rng() >> 11) < probability * 9007199254740992.0;
}

[[noreturn]] void fail(const std::string& what) {
  std::printf("cycle %llu: %s\n", static_cast<unsigned long long>(cycle), what.c_str());
  std::exit(1);
}

void need(bool ok, const char* what) {
  if (!ok) fail(what);
}

template <typename Wide>
Beat fromWide(const Wide& wide) {
  Beat beat;
  for (std::size_t i = 0; i < kPort; i++) beat[i] = static_cast<std::uint8_t>(wide[i / 4] >> (8 * (i % 4)));
  return beat;
}

template <typename Wide>
void toWide(Wide& wide, const Beat& beat) {
  for (std::size_t i = 0; i < kPort / 4; i++) wide[i] = 0;
  for (std::size_t i = 0; i < kPort; i++) wide[i / 4] |= static_cast<std::uint32_t>(beat[i]) << (8 * (i % 4));
}

/// Parameters of a phase.
struct Mood {
  const char* name;
  double ask, takeAnswer, ready, answer;   // chances in a cycle
  int reach;                               // lines of a thread
  double sram;                             // share of requests to SRAM
  bool hotspot = false;                    // all threads but the last keep one row of one bank busy
  bool steps = false;                      // threads traverse interleaved lines in step
  double writes = 0.5;                     // share of requests that write
  bool crowd = false;                      // all threads but the last access rows of one bank, see Crowd
  double address = 1.0;                    // AXI's address channels: chance of ready, as a share of `ready`
};

/// Banks and rows according to the scheduler's parameters in memory_top; rows with equal low bits are a group.
constexpr std::uint64_t kBanks = 8, kBankBytes = 256, kRowBytes = 1024, kGroups = 4;

std::uint64_t bankOf(std::uint64_t at) {
  std::uint64_t bank = at / kBankBytes % kBanks;
  for (std::uint64_t fold = at / kRowBytes / kBanks; fold; fold /= kBanks) bank ^= fold % kBanks;
  return bank;
}

/// A crowd keeps groups of a bank busy, so that their queues are full and never empty; the last thread of each cache
/// accesses a group of the same bank that the crowd does not use. In each phase the crowd uses another bank and omits
/// another group; it fills all other groups, in two banks, or a single one.
struct Crowd {
  std::uint64_t bank, alone;
  bool single;

  static Crowd now() {
    const std::uint64_t phase = cycle / 256;
    return {phase % kBanks, phase / kBanks % kGroups, phase / kBanks / kGroups % 2 != 0};
  }

  /// A line that only this thread uses.
  std::uint64_t address(std::uint64_t number, bool last) const {
    std::uint64_t group = alone, in = bank;
    if (!last && single) group = (alone + 1) % kGroups;
    if (!last && !single) group = (alone + 1 + rng() % (kGroups - 1)) % kGroups, in = bank ^ (rng() % 4 == 0 ? 5 : 0);
    // 16 lines of a row for 16 threads, far from the addresses of other phases.
    const std::uint64_t row = 0xc00 + group + kGroups * (number / 16);
    const std::uint64_t there = row * kRowBytes * kBanks + number % 4 * kLine + number / 4 % 4 * kBankBytes * kBanks;
    return there ^ (bankOf(there) ^ in) * kBankBytes;
  }
};

/// A burst in transfer to a memory.
struct Burst {
  std::uint64_t address = 0;
  std::vector<Beat> beats;
};

/// Initial contents of a line, which depend on its address, so that the wrong line is detected.
Line untouched(bool space, std::uint64_t address) {
  Line line;
  std::uint64_t state = address * 2 + space;
  for (auto& byte : line) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  return line;
}

/// Contents by line, for the memories' side.
class Contents {
 public:
  /// Contents of the DRAM, or of one of the SRAMs, which are interleaved by line.
  explicit Contents(int sram = -1) : sram_(sram) {}
  Line& at(std::uint64_t address) {
    const auto found = lines_.find(address);
    if (found != lines_.end()) return found->second;
    const std::uint64_t whole = sram_ < 0 ? address : address * kSrams + static_cast<std::uint64_t>(sram_) * kLine;
    return lines_[address] = untouched(sram_ >= 0, whole);
  }

 private:
  int sram_;
  std::map<std::uint64_t, Line> lines_;
};

/// The AXI4 memory. It executes reads and writes at random times: AXI guarantees no order between them.
class AxiMemory {
 public:
  explicit AxiMemory(Vmemory_top& top) : t(top) {}

  /// Samples the handshakes of the next edge.
  void look(const Mood& mood) {
    stable("AW", aw_, t.awvalid_o, t.awready_i, {t.awaddr_o, t.awlen_o, t.awsize_o, t.awburst_o, t.awid_o});
    const Beat wdata = fromWide(t.wdata_o);
    std::vector<std::uint64_t> w(wdata.begin(), wdata.end());
    w.push_back(t.wlast_o), w.push_back(t.wstrb_o);
    stable("W", w_, t.wvalid_o, t.wready_i, w);
    stable("AR", ar_, t.arvalid_o, t.arready_i, {t.araddr_o, t.arlen_o, t.arsize_o, t.arburst_o, t.arid_o});
    if (t.awvalid_o && t.awready_i) {
      address(t.awaddr_o, t.awlen_o, t.awsize_o, t.awburst_o, t.awid_o);
      writes_.push_back(t.awaddr_o - kBase);
      order(true, t.awaddr_o - kBase);
    }
    if (t.wvalid_o && t.wready_i) {
      need(t.wstrb_o == 0xffff, "AXI: a strobe is missing");
      data_.push_back(wdata);
      inBurst_++;
      need((inBurst_ == kBeats) == (t.wlast_o != 0), "AXI: WLAST is not where the burst ends");
      if (t.wlast_o) inBurst_ = 0, whole_++;
    }
    if (t.arvalid_o && t.arready_i) {
      address(t.araddr_o, t.arlen_o, t.arsize_o, t.arburst_o, t.arid_o);
      reads_.push_back(t.araddr_o - kBase);
      order(false, t.araddr_o - kBase);
    }
    const bool error = (t.bvalid_i && t.bready_o && t.bresp_i >= 2) || (t.rvalid_i && t.rready_o && t.rresp_i >= 2);
    need(error == (t.error_o != 0), "AXI: an error is reported at the wrong time");
    if (t.bvalid_i && t.bready_o) b_ = false;
    if (t.rvalid_i && t.rready_o) r_.pop_front(), rShown_ = false;
    need(writes_.size() <= 16 && reads_.size() <= 16, "AXI: more bursts open than it may have");
    // A write is executed at any time after its last beat, a read at any time; each kind in order.
    if (!b_ && !writes_.empty() && whole_ > 0 && chance(mood.answer / 2)) {
      Line& line = contents.at(writes_.front());
      for (std::size_t i = 0; i < kBeats; i++) {
        std::copy(data_.front().begin(), data_.front().end(), line.begin() + static_cast<std::ptrdiff_t>(i * kPort));
        data_.pop_front();
      }
      writes_.pop_front();
      whole_--;
      b_ = true;
    }
    if (r_.size() < 2 && !reads_.empty() && chance(mood.answer)) {
      const Line& line = contents.at(reads_.front());
      for (std::size_t i = 0; i < kBeats; i++) {
        Beat beat;
        std::copy_n(line.begin() + static_cast<std::ptrdiff_t>(i * kPort), kPort, beat.begin());
        r_.push_back(beat);
      }
      reads_.pop_front();
    }
  }

  /// Sets the inputs for the next cycle.
  void drive(const Mood& mood) {
    t.awready_i = chance(mood.ready * mood.address);
    t.wready_i = chance(mood.ready);
    t.arready_i = chance(mood.ready * mood.address);
    bWaits_ = t.bvalid_i && b_, rWaits_ = rShown_;
    t.bvalid_i = b_;
    t.bid_i = t.rid_i = 5;
    // A waiting response does not change; without valid it is ignored.
    if (!bWaits_) t.bresp_i = chance(0.8) ? 0 : rng() % 4;
    if (!rWaits_) t.rresp_i = chance(0.8) ? 0 : rng() % 4;
    rShown_ = !r_.empty() && (rShown_ || chance(0.9));
    t.rvalid_i = rShown_;
    if (rShown_) {
      toWide(t.rdata_i, r_.front());
      t.rlast_i = r_.size() % kBeats == 1;
    }
  }

  bool quiet() const { return writes_.empty() && reads_.empty() && data_.empty() && r_.empty() && !b_; }

  Contents contents;
  // Order of the requests: number of direction changes, and number of row changes of a bank.
  std::uint64_t directionChanges = 0, rowChanges = 0, served = 0;
  // Consecutive requests of one direction: maximum, and minimum of reads.
  std::uint64_t longestRun = 0, shortestReads = ~0ull;
  // Number of requests to a bank that one of the previous five requests used
  std::uint64_t soonAgain = 0;

 private:
  struct Seen {
    bool waited = false;
    std::vector<std::uint64_t> payload;
  };
  void stable(const char* channel, Seen& seen, bool valid, bool ready, std::vector<std::uint64_t> payload) {
    const std::string what = std::string("AXI: ") + channel + " changed while it waited";
    if (seen.waited) need(valid && payload == seen.payload, what.c_str());
    seen.waited = valid && !ready;
    seen.payload = std::move(payload);
  }
  static void address(std::uint64_t at, int len, int size, int burst, int id) {
    need(at % kLine == 0 && at >= kBase, "AXI: address is not a line's");
    need(len == static_cast<int>(kBeats) - 1 && size == 4 && burst == 1 && id == 5, "AXI: not the burst of a line");
    need(at / 4096 == (at + kLine - 1) / 4096, "AXI: a burst crosses 4 KB");
  }
  void order(bool write, std::uint64_t at) {
    const std::uint64_t row = at / kRowBytes / kBanks, bank = bankOf(at);
    served++;
    soonAgain += std::count(lastBanks_.begin(), lastBanks_.end(), bank) > 0;
    std::rotate(lastBanks_.begin(), lastBanks_.begin() + 1, lastBanks_.end());
    lastBanks_.back() = bank;
    if (write != lastWrite_) {
      // The run before the first direction change began in another phase.
      if (directionChanges > 0) longestRun = std::max(longestRun, run_);
      if (directionChanges > 0 && !lastWrite_) shortestReads = std::min(shortestReads, run_);
      run_ = 0, directionChanges++;
    }
    run_++;
    lastWrite_ = write;
    rowChanges += row_[bank] != row;
    row_[bank] = row;
  }

  Vmemory_top& t;
  Seen aw_, w_, ar_;
  std::deque<std::uint64_t> writes_, reads_;
  std::deque<Beat> data_, r_;
  std::uint64_t inBurst_ = 0, whole_ = 0, run_ = 0;
  bool b_ = false, rShown_ = false, lastWrite_ = false, bWaits_ = false, rWaits_ = false;
  std::map<std::uint64_t, std::uint64_t> row_;
  std::array<std::uint64_t, 5> lastBanks_{kBanks, kBanks, kBanks, kBanks, kBanks};
};

/// An SRAM at the plain stream; it responds in any order, without interleaving bursts.
class StreamMemory {
 public:
  StreamMemory(Vmemory_top& top, int index) : contents(index), t(top), n(index) {}

  void look(const Mood& mood) {
    if (t.sreq_valid_o[n] && t.sreq_ready_i[n]) {
      if (t.sreq_write_o[n]) {
        partial_.address = t.sreq_addr_o[n];
        partial_.beats.push_back(fromWide(t.sreq_data_o[n]));
        need((partial_.beats.size() == kBeats) == (t.sreq_last_o[n] != 0), "stream: a write has not all its beats");
      } else {
        need(partial_.beats.empty() && t.sreq_last_o[n], "stream: bursts are mixed");
      }
      if (t.sreq_last_o[n]) {
        jobs_.push_back({t.sreq_write_o[n] != 0, t.sreq_id_o[n], t.sreq_addr_o[n], std::move(partial_.beats)});
        partial_ = {};
      }
    }
    if (t.srsp_valid_i[n] && t.srsp_ready_o[n]) out_.pop_front(), shown_ = false;
    if (out_.empty() && !jobs_.empty() && chance(mood.answer)) {
      const auto at = jobs_.begin() + static_cast<std::ptrdiff_t>(rng() % jobs_.size());
      const Job job = *at;
      jobs_.erase(at);
      Line& line = contents.at(job.address);
      for (std::size_t i = 0; i < kBeats; i++) {
        const auto target = line.begin() + static_cast<std::ptrdiff_t>(i * kPort);
        if (job.write) {
          std::copy(job.beats[i].begin(), job.beats[i].end(), target);
        } else {
          Out out{false, i == kBeats - 1, job.id, {}};
          std::copy_n(target, kPort, out.data.begin());
          out_.push_back(out);
        }
      }
      if (job.write) out_.push_back({true, true, job.id, {}});
    }
  }

  void drive(const Mood& mood) {
    t.sreq_ready_i[n] = jobs_.size() < 16 && chance(mood.ready);
    shown_ = !out_.empty() && (shown_ || chance(0.9));
    t.srsp_valid_i[n] = shown_;
    if (!shown_) return;
    t.srsp_ack_i[n] = out_.front().ack;
    t.srsp_last_i[n] = out_.front().last;
    t.srsp_id_i[n] = out_.front().id;
    toWide(t.srsp_data_i[n], out_.front().data);
  }

  bool quiet() const { return jobs_.empty() && out_.empty(); }
  Contents contents;

 private:
  struct Job {
    bool write;
    std::uint8_t id;
    std::uint64_t address;
    std::vector<Beat> beats;
  };
  struct Out {
    bool ack, last;
    std::uint8_t id;
    Beat data;
  };
  Vmemory_top& t;
  int n;
  Burst partial_;
  std::deque<Job> jobs_;
  std::deque<Out> out_;
  bool shown_ = false;
};

/// A cache: each thread has at most one outstanding fill and one write-back, never of the same line.
class Cache {
 public:
  Cache(Vmemory_top& top, int index) : t(top), n(index) {}

  void look() {
    if (t.req_valid_i[n] && t.req_ready_o[n]) {
      accepted += out_.front().last;
      out_.pop_front();
      shown_ = false;
    }
    if (!(t.rsp_valid_o[n] && t.rsp_ready_i[n])) return;
    Thread& thread = threads_[t.rsp_id_o[n]];
    if (t.rsp_ack_o[n]) {
      need(thread.writing, "an acknowledgement without a write");
      need(t.rsp_last_o[n], "an acknowledgement is one beat");
      thread.writing = false;
      longest = std::max(longest, cycle - thread.writeAsked);
      done++;
      return;
    }
    need(thread.reading, "data without a read");
    if (in_ < 0) in_ = t.rsp_id_o[n];
    need(in_ == t.rsp_id_o[n], "answers are mixed");
    const Beat beat = fromWide(t.rsp_data_o[n]);
    std::copy(beat.begin(), beat.end(), thread.got.begin() + static_cast<std::ptrdiff_t>(beats_ * kPort));
    beats_++;
    need((beats_ == kBeats) == (t.rsp_last_o[n] != 0), "an answer has not all its beats");
    if (beats_ < kBeats) return;
    need(thread.got == flat(thread.readSpace, thread.readLine), "a thread read what it never wrote");
    thread.reading = false;
    beats_ = 0, in_ = -1;
    longest = std::max(longest, cycle - thread.readAsked);
    done++;
  }

  void drive(const Mood& mood, bool more) {
    if (more && out_.size() < 8 && chance(mood.ask)) ask(mood);
    // A burst may pause between its beats. A waiting beat does not change.
    shown_ = !out_.empty() && (shown_ || mood.ask == 1.0 || chance(0.8));
    t.req_valid_i[n] = shown_;
    if (!out_.empty()) {
      const Out& out = out_.front();
      t.req_write_i[n] = out.write;
      t.req_last_i[n] = out.last;
      t.req_space_i[n] = out.space;
      t.req_id_i[n] = out.id;
      t.req_addr_i[n] = static_cast<std::uint32_t>(out.address);
      toWide(t.req_data_i[n], out.data);
    }
    t.rsp_ready_i[n] = chance(mood.takeAnswer);
  }

  bool quiet() const {
    return out_.empty() && std::none_of(threads_.begin(), threads_.end(),
                                        [](const Thread& thread) { return thread.reading || thread.writing; });
  }
  std::uint64_t longest = 0, done = 0, accepted = 0;

 private:
  struct Thread {
    bool reading = false, writing = false;
    std::uint64_t readLine = 0, writeLine = 0, readAsked = 0, writeAsked = 0;
    bool readSpace = false, writeSpace = false;
    std::uint64_t read = 0, wrote = 0;  // lines, for those that go in steps
    Line got{};
  };
  struct Out {
    bool write, last, space;
    std::uint8_t id;
    std::uint64_t address;
    Beat data;
  };

  void ask(const Mood& mood) {
    const int id = static_cast<int>(rng() % kThreads);
    Thread& thread = threads_[static_cast<std::size_t>(id)];
    bool write = chance(mood.writes);
    // A line is written back some steps after its read, as in a cache.
    if (mood.steps) write = thread.read > thread.wrote + 8 && !thread.writing;
    if (write ? thread.writing : thread.reading) return;
    if (mood.steps && !write) {
      std::uint64_t last = thread.read;
      for (const Thread& other : threads_) last = std::min(last, other.read);
      if (thread.read > last + 1) return;
    }
    const bool space = chance(mood.sram);
    const auto number = static_cast<std::uint64_t>(n * kThreads + id);
    std::uint64_t line = rng() % static_cast<std::uint64_t>(mood.reach) * (kCaches * kThreads) + number;
    if (mood.hotspot && !space) {
      // One thread has a bank and row of its own; the others access the first 256 bytes of row 0.
      if (id == kThreads - 1) {
        line = 64 * 1024 + number;
      } else if (number < 4) {
        line = number;
      } else {
        return;
      }
    }
    if (mood.steps) line = (write ? thread.wrote : thread.read) * (kCaches * kThreads) + number;
    std::uint64_t address = line * kLine;
    if (mood.crowd) address = Crowd::now().address(number, id == kThreads - 1);
    // Some lines differ from others in one high address bit, which depends on the thread.
    if (mood.sram > 0 && chance(0.3)) address ^= std::uint64_t{1} << (22 + (id + n) % 10);
    if (write) {
      if (thread.reading && thread.readLine == address && thread.readSpace == space) return;
      Line& data = flat(space, address);
      for (auto& byte : data) byte = static_cast<std::uint8_t>(rng());
      for (std::size_t i = 0; i < kBeats; i++) {
        Out out{true, i == kBeats - 1, space, static_cast<std::uint8_t>(id), address, {}};
        std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(i * kPort), kPort, out.data.begin());
        out_.push_back(out);
      }
      thread.wrote++;
      thread.writing = true, thread.writeLine = address, thread.writeSpace = space, thread.writeAsked = cycle;
    } else {
      if (thread.writing && thread.writeLine == address && thread.writeSpace == space) return;
      out_.push_back({false, true, space, static_cast<std::uint8_t>(id), address, {}});
      thread.read++;
      thread.reading = true, thread.readLine = address, thread.readSpace = space, thread.readAsked = cycle;
    }
  }

  Line& flat(bool space, std::uint64_t address) {
    const auto found = flat_.find({space, address});
    return found != flat_.end() ? found->second : flat_[{space, address}] = untouched(space, address);
  }

  Vmemory_top& t;
  int n;
  std::array<Thread, kThreads> threads_;
  std::map<std::pair<bool, std::uint64_t>, Line> flat_;
  std::deque<Out> out_;
  std::size_t beats_ = 0;
  int in_ = -1;
  bool shown_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  rng.seed(std::strtoull(argv[1], nullptr, 0));
  const std::uint64_t requests = std::strtoull(argv[2], nullptr, 0);
  VerilatedContext context;
  // State without reset is initialized randomly.
  context.randReset(2);
  context.randSeed(static_cast<int>(rng() % 0x7fffffff) + 1);
  Vmemory_top top(&context);
  AxiMemory axi(top);
  StreamMemory srams[kSrams] = {{top, 0}, {top, 1}};
  Cache caches[kCaches] = {{top, 0}, {top, 1}, {top, 2}, {top, 3}};
  const auto clock = [&] {
    top.clk_i = 0;
    top.eval();
    context.timeInc(1);
    top.clk_i = 1;
    top.eval();
    context.timeInc(1);
    cycle++;
  };
  top.clk_i = 0;
  top.rst_ni = 0;
  for (int i = 0; i < 4; i++) clock();
  top.rst_ni = 1;
  const Mood moods[] = {
      {"mixed", 0.3, 0.8, 0.7, 0.5, 40, 0.4},
      {"slow memory", 0.9, 1.0, 0.3, 0.05, 200, 0.2},
      {"slow caches", 0.9, 0.15, 1.0, 1.0, 5, 0.5},
      {"all out", 1.0, 1.0, 1.0, 1.0, 400, 0.0},
      {"in step", 1.0, 1.0, 1.0, 1.0, 1, 0.0, false, true},
      {"hotspot", 1.0, 1.0, 1.0, 1.0, 1, 0.0, true},
      {"few writes", 1.0, 1.0, 1.0, 1.0, 400, 0.0, false, false, 0.005},
      {"crowd", 1.0, 1.0, 1.0, 1.0, 1, 0.0, false, false, 0.5, true},
      {"slow addresses", 0.9, 1.0, 1.0, 1.0, 200, 0.0, false, false, 0.5, false, 0.1},
  };
  const auto step = [&](const Mood& mood, bool more) {
    // Inputs change after the edge; the transfers of the next edge are sampled after they have settled.
    for (Cache& cache : caches) cache.drive(mood, more);
    for (StreamMemory& sram : srams) sram.drive(mood);
    axi.drive(mood);
    top.clk_i = 0;
    top.eval();
    context.timeInc(1);
    for (Cache& cache : caches) cache.look();
    for (StreamMemory& sram : srams) sram.look(mood);
    axi.look(mood);
    top.clk_i = 1;
    top.eval();
    context.timeInc(1);
    cycle++;
  };
  for (const Mood& mood : moods) {
    axi.directionChanges = axi.rowChanges = axi.served = axi.longestRun = axi.soonAgain = 0;
    axi.shortestReads = ~0ull;
    // All phases of the crowd
    const std::uint64_t goal = mood.crowd ? std::max<std::uint64_t>(requests, 5000) : requests;
    for (Cache& cache : caches) cache.longest = cache.done = 0;
    const std::uint64_t begin = cycle;
    std::uint64_t done = 0, measured = 0, longestRun = 0, reads = 0;
    while (true) {
      done = 0;
      bool quiet = axi.quiet() && srams[0].quiet() && srams[1].quiet();
      for (Cache& cache : caches) done += cache.done, quiet = quiet && cache.quiet();
      if (done >= goal && measured == 0) measured = cycle, longestRun = axi.longestRun, reads = axi.shortestReads;
      if (done >= goal && quiet) break;
      if (cycle - begin > goal * 300 + 20000) fail(std::string(mood.name) + ": no progress");
      step(mood, done < goal);
    }
    std::uint64_t longest = 0;
    for (Cache& cache : caches) longest = std::max(longest, cache.longest);
    const double served = static_cast<double>(axi.served);
    std::printf("{\"mood\": \"%s\", \"requests\": %llu, \"cycles\": %llu, \"longest\": %llu, "
                "\"direction_changes\": %.4f, \"rows\": %.4f, \"run\": %llu, \"reads\": %llu, \"soon\": %.4f}\n",
                mood.name, static_cast<unsigned long long>(done), static_cast<unsigned long long>(cycle - begin),
                static_cast<unsigned long long>(longest), static_cast<double>(axi.directionChanges) / served,
                static_cast<double>(axi.rowChanges) / served, static_cast<unsigned long long>(longestRun),
                static_cast<unsigned long long>(reads), static_cast<double>(axi.soonAgain) / served);
  }
  // A memory that accepts no request: counts the writes that are queued upstream of it.
  const Mood blocked{"blocked", 1.0, 1.0, 0.0, 1.0, 400, 0.0, false, false, 1.0};
  for (Cache& cache : caches) cache.accepted = 0;
  for (int i = 0; i < 2000; i++) step(blocked, true);
  std::uint64_t queuedWrites = 0;
  for (Cache& cache : caches) queuedWrites += cache.accepted;
  std::printf("{\"mood\": \"blocked\", \"queued_writes\": %llu}\n", static_cast<unsigned long long>(queuedWrites));
  top.final();
  return 0;
}
