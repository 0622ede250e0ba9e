// SPDX-License-Identifier: Apache-2.0
/// Runs programs on one core; the harness emulates memory and control unit.
///
///     harness IMAGE COMMITS key=value...
///     harness WORDS - verdicts=1: injects each word into thread 0, and prints which are illegal
///
/// IMAGE: words of the instruction memory. COMMITS: receives a record for each instruction of each thread.
/// A thread is done when it jumps to itself, has trapped, or writes thread_stop. The harness prints a line per event.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "Vcore_top.h"
#include "verilated.h"

namespace {

constexpr unsigned kThreadId = 0xCC3, kStop = 0x814, kDebugValue = 0x816, kCycle = 0xC00,
                   kInstret = 0xC02, kInstretHigh = 0xC82;
constexpr uint32_t kSelf = 0x0000006F;  // jal x0, 0
constexpr unsigned kParked = 5;  // of gs_core_trace
constexpr uint32_t kMemory = 0x40000000, kShare = 0x10000;

struct Commit {
  uint8_t tid = 0;
  uint8_t reg = 255;  // 255: none
  uint8_t stored = 0;
  uint8_t zero = 0;
  uint32_t pc = 0, instr = 0, value = 0, address = 0, data = 0;
};
static_assert(sizeof(Commit) == 24);

class Harness {
 public:
  Harness(int argc, char** argv) {
    for (int i = 3; i < argc; ++i) {
      const char* equals = std::strchr(argv[i], '=');
      if (equals == nullptr) fail("argument without '='");
      options_[std::string(argv[i], static_cast<size_t>(equals - argv[i]))] = std::strtoull(equals + 1, nullptr, 0);
    }
    random_.seed(get("seed", 1));
    threads_ = static_cast<unsigned>(get("threads", 16));
    memory_.assign(threads_, std::vector<uint8_t>(kShare));
    open_.resize(threads_);
    done_.assign(threads_, false);
    commits_.resize(threads_);
    load(argv[1]);
    if (get("verdicts", 0)) return;
    out_ = std::fopen(argv[2], "wb");
    if (out_ == nullptr) fail("cannot write the commits");
  }

  int run() {
    top_.rst_ni = 0;
    for (int i = 0; i < 4; ++i) tick();
    top_.rst_ni = 1;
    if (get("verdicts", 0)) return verdicts();
    for (size_t i = 0; i < image_.size(); ++i) {
      top_.iwr_valid_i = 1;
      top_.iwr_addr_i = static_cast<uint32_t>(i);
      top_.iwr_data_i = image_[i];
      tick();
    }
    top_.iwr_valid_i = 0;
    live_ = true;
    for (unsigned t = 0; t < threads_; ++t) {
      ask(Op::Start, t);
      while (!operate()) tick();
    }
    const uint64_t warm = get("warm", 0), limit = get("cycles", 1'000'000), fixed = get("fixed", 0);
    uint64_t issued = 0, counted = 0, cycles = 0;
    while (cycles < limit && (fixed != 0 || left() != 0)) {
      control(cycles);
      tick();
      ++cycles;
      if (cycles > warm) {
        issued += top_.issue_o;
        counted += top_.counted_o;
      }
    }
    for (unsigned t = 0; t < threads_; ++t) {
      close(t);
      if (fixed == 0 && !done_[t]) {
        std::printf("unfinished tid=%u state=%u\n", t, static_cast<unsigned>(top_.state_o[t]));
      }
    }
    for (int i = 0; i < 64; ++i) tick();
    for (unsigned t = 0; t < threads_; ++t) std::fwrite(commits_[t].data(), sizeof(Commit), commits_[t].size(), out_);
    std::fclose(out_);
    std::printf("end cycles=%llu issued=%llu counted=%llu parks=%llu injections=%llu rejections=%llu\n",
                ull(cycles - warm),
                ull(issued), ull(counted), ull(parks_), ull(injections_), ull(rejections_));
    return 0;
  }

 private:
  struct Answer {
    uint64_t when;
    uint8_t tid;
    uint32_t data;
  };
  struct Count {
    uint8_t tid;
    bool high;
  };

  [[noreturn]] static void fail(const char* why) {
    std::fprintf(stderr, "harness: %s\n", why);
    std::exit(2);
  }
  static unsigned long long ull(uint64_t value) { return value; }

  uint64_t get(const char* name, uint64_t otherwise) const {
    const auto found = options_.find(name);
    return found == options_.end() ? otherwise : found->second;
  }
  bool chance(uint64_t percent) { return random_() % 100 < percent; }

  unsigned left() const {
    unsigned count = 0;
    for (bool done : done_) count += !done;
    return count;
  }

  void load(const char* path) {
    FILE* in = std::fopen(path, "rb");
    if (in == nullptr) fail("cannot read the image");
    uint32_t word;
    while (std::fread(&word, 4, 1, in) == 1) image_.push_back(word);
    std::fclose(in);
  }

  /// A commit is complete when the thread's next one begins.
  void close(unsigned tid) {
    if (open_[tid]) {
      if (get("quiet", 0) == 0) commits_[tid].push_back(*open_[tid]);
      open_[tid].reset();
    }
  }

  void tick() {
    // Inputs of the tile side for this cycle.
    top_.x_ready_i = chance(get("ready", 100));
    top_.f_stall_i = chance(get("fstall", 0));
    top_.rsp_valid_i = 0;
    size_t pick = answers_.size();
    for (size_t i = 0; i < answers_.size(); ++i) {
      if (answers_[i].when <= now_) {
        pick = i;
        break;
      }
    }
    if (pick != answers_.size()) {
      top_.rsp_valid_i = 1;
      top_.rsp_tid_i = answers_[pick].tid;
      top_.rsp_data_i = answers_[pick].data;
    }
    top_.instret_ask_i = !counts_.empty();
    if (!counts_.empty()) {
      top_.instret_tid_i = counts_.front().tid;
      top_.instret_high_i = counts_.front().high;
    }
    top_.clk_i = 0;
    top_.eval();
    taken_ = top_.ctl_valid_i && top_.ctl_ready_o;
    allowed_ = top_.ctl_allowed_o;
    if (top_.rst_ni) {
      if (top_.rsp_valid_i && top_.rsp_ready_o) answers_.erase(answers_.begin() + static_cast<long>(pick));
      observe();
      if (!counts_.empty() && top_.instret_valid_o) {
        answer(counts_.front().tid, top_.instret_o);
        counts_.pop_front();
      }
      if (top_.x_valid_o && top_.x_ready_i) request();
    }
    top_.clk_i = 1;
    top_.eval();
    ++now_;
  }

  /// Records the instructions that the core has finished up to this cycle.
  void observe() {
    if (!live_) return;
    if (top_.write_o && open_[top_.write_tid_o]) {
      Commit& commit = *open_[top_.write_tid_o];
      if (commit.reg != 255) std::printf("twice tid=%u pc=%#x\n", commit.tid, commit.pc);
      commit.reg = top_.write_reg_o;
      commit.value = top_.write_data_o;
    }
    if (top_.retire_o) {
      const unsigned tid = top_.retire_tid_o;
      close(tid);
      Commit commit;
      commit.tid = static_cast<uint8_t>(tid);
      commit.pc = top_.retire_pc_o;
      commit.instr = top_.retire_instr_o;
      if (!done_[tid] && !injected_[tid]) open_[tid] = commit;
      injected_[tid] = false;
      if (commit.instr == kSelf) done_[tid] = true;
    }
  }

  void request() {
    const unsigned tid = top_.x_tid_o, funct3 = top_.x_funct3_o;
    const uint32_t address = top_.x_addr_o, data = top_.x_data_o;
    uint32_t value = 0;
    if (top_.x_op_o == 3 && quiet_) {
      last_trap_ = static_cast<int>(address >> 26);
      last_value_ = data;
      return;
    }
    if (top_.x_op_o == 3) {
      std::printf("trap tid=%u cause=%u pc=%#x tval=%#x\n", tid, address >> 26, address & 0x3FFFFFF, data);
      close(tid);
      done_[tid] = true;
      return;
    }
    if (top_.x_op_o == 2) {
      const unsigned number = address & 0xFFF;
      if (number == kThreadId) value = tid;
      if (number == kCycle) value = static_cast<uint32_t>(now_);
      if (number == kInstret || number == kInstretHigh) {
        counts_.push_back({static_cast<uint8_t>(tid), number == kInstretHigh});
        return;
      }
      if (get("csrs", 0)) std::printf("csr tid=%u number=%#x how=%u data=%#x\n", tid, number, funct3, data);
      if (number == kStop && !quiet_) {
        done_[tid] = true;
        return;
      }
      if (number == kDebugValue && get("csrs", 0)) std::printf("debug tid=%u value=%#x\n", tid, data);
    } else {
      const uint32_t offset = address - kMemory - tid * kShare;
      const unsigned size = 1U << (funct3 & 3);
      if (offset >= kShare || offset % size != 0) {
        if (!quiet_) std::printf("outside tid=%u address=%#x\n", tid, address);
        done_[tid] = true;
        return;
      }
      uint8_t* bytes = memory_[tid].data() + offset;
      if (top_.x_op_o == 1) {
        std::memcpy(bytes, &data, size);
        if (open_[tid]) {
          open_[tid]->stored = static_cast<uint8_t>(size);
          open_[tid]->address = address;
          open_[tid]->data = size == 4 ? data : data & ((1U << (8 * size)) - 1);
        }
      } else {
        std::memcpy(&value, bytes, size);
        if (funct3 == 0) value = static_cast<uint32_t>(static_cast<int8_t>(value));
        if (funct3 == 1) value = static_cast<uint32_t>(static_cast<int16_t>(value));
      }
    }
    answer(tid, value);
  }

  /// Sends a response after a random delay.
  void answer(unsigned tid, uint32_t value) {
    const uint64_t least = get("least", 1), most = get("most", 20);
    answers_.push_back({now_ + least + random_() % (most - least + 1), static_cast<uint8_t>(tid), value});
  }

  /// One letter for each word: i illegal, p parked again, other letters for other traps.
  int verdicts() {
    quiet_ = true;
    // Only a trapped or parked thread accepts instructions.
    wait(Op::Trap, 0);
    for (uint32_t word : image_) {
      // frm holds a legal rounding mode, which instructions may use.
      for (uint32_t instr : {0x00205073U, word}) {
        last_trap_ = -1;
        wait(Op::Inject, 0, instr);
        // From now on the trace shows that the thread is not parked.
        for (int i = 0; i < 8; ++i) tick();
        for (int wait = 0; !parked(0) && last_trap_ < 0 && !done_[0]; tick()) {
          if (++wait > 2000) fail("an instruction neither ended nor trapped");
        }
        if (instr == word && last_trap_ == 2 && last_value_ != word) fail("the trap value is not the instruction");
        if (!parked(0)) wait(Op::Trap, 0);
        done_[0] = false;
        for (int i = 0; i < 16; ++i) tick();
      }
      std::putchar(last_trap_ < 0 ? 'p' : last_trap_ == 2 ? 'i' : 'a' + last_trap_ % 8);
    }
    std::putchar('\n');
    return 0;
  }

  // ---- Operations on threads ----

  /// As in gs_thread_pkg.
  enum class Op : uint8_t { Clear, End, Trap, Start, Inject, Halt, Resume, ReportParked };
  struct Operation {
    Op op;
    unsigned tid;
    uint32_t instr;
    /// The operation must be rejected.
    bool wrong;
  };

  void ask(Op op, unsigned tid, uint32_t instr = 0, bool wrong = false) {
    operations_.push_back({op, tid, instr, wrong});
  }

  void wait(Op op, unsigned tid, uint32_t instr = 0) {
    ask(op, tid, instr);
    while (!operate()) tick();
  }

  bool parked(unsigned tid) const { return top_.state_o[tid] == kParked; }

  /// Offers the first operation. True if all are done.
  bool operate() {
    if (taken_) {
      const Operation& done = operations_.front();
      if (allowed_ == done.wrong) {
        std::printf("%s tid=%u op=%u\n", allowed_ ? "allowed" : "rejected", done.tid, static_cast<unsigned>(done.op));
      }
      if (done.op == Op::Inject && allowed_) {
        injecting_ = 8;
        ++injections_;
      }
      rejections_ += !allowed_;
      operations_.pop_front();
      taken_ = false;
    }
    top_.ctl_valid_i = !operations_.empty();
    if (operations_.empty()) return true;
    top_.ctl_op_i = static_cast<uint8_t>(operations_.front().op);
    top_.ctl_tid_i = static_cast<uint8_t>(operations_.front().tid);
    top_.ctl_instr_i = operations_.front().instr;
    return false;
  }

  /// Random debugging: halts threads for a while, and injects an instruction without effect into some of them. Also
  /// starts running threads, and injects into threads that are not parked: both must be rejected.
  void control(uint64_t cycle) {
    if (!operate()) return;
    const uint64_t percent = get("halts", 0);
    if (percent == 0) return;
    if (injecting_ > 0) {
      --injecting_;
      for (unsigned t = 0; t < threads_; ++t) parkedCycles_[t] = 0;
      return;
    }
    if (chance(get("wrong", 0))) {
      const unsigned t = random_() % threads_;
      if (chance(50)) {
        ask(Op::Start, t, 0, true);
      } else if (halted_[t] == 0) {
        ask(Op::Inject, t, 0x00138393, true);  // addi x7, x7, 1
      }
      return;
    }
    for (unsigned t = 0; t < threads_; ++t) {
      // The thread's last register write is done by then.
      parkedCycles_[t] = parked(t) ? parkedCycles_[t] + 1 : 0;
      const bool settled = parkedCycles_[t] > 8;
      if (halted_[t] == 0) {
        if (!done_[t] && random_() % 1000 < percent) {
          halted_[t] = cycle + 1 + random_() % 300;
          ask(Op::Halt, t);
        }
      } else if (settled && chance(2)) {
        // csrrw x0, debug_value, x5 (or another register) and addi x0, x7, 1: neither changes the thread.
        const uint32_t show = 0x81601073 | static_cast<uint32_t>(get("show", 5)) << 15;
        ask(Op::Inject, t, get("show", 0) || chance(50) ? show : 0x00138013);
        injected_[t] = true;
        close(t);
        ++parks_;
        return;
      } else if (cycle >= halted_[t] && settled && !injected_[t]) {
        halted_[t] = 0;
        ask(Op::Resume, t);
        ++parks_;
      }
    }
  }

  std::map<std::string, uint64_t> options_;
  std::mt19937_64 random_;
  unsigned threads_ = 16;
  uint64_t now_ = 0, parks_ = 0, injections_ = 0, rejections_ = 0;
  bool taken_ = false, allowed_ = false, live_ = false;
  std::deque<Operation> operations_;
  bool quiet_ = false;
  int injecting_ = 0, last_trap_ = -1;
  uint32_t last_value_ = 0;
  std::map<unsigned, unsigned> parkedCycles_;
  std::map<unsigned, uint64_t> halted_;
  std::map<unsigned, bool> injected_;
  std::vector<uint32_t> image_;
  std::vector<std::vector<uint8_t>> memory_;
  std::vector<std::optional<Commit>> open_;
  std::vector<std::vector<Commit>> commits_;
  std::vector<bool> done_;
  std::deque<Answer> answers_;
  std::deque<Count> counts_;
  FILE* out_ = nullptr;
  Vcore_top top_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: harness IMAGE COMMITS key=value...\n");
    return 2;
  }
  Verilated::commandArgs(1, argv);
  Harness harness(argc, argv);
  return harness.run();
}
