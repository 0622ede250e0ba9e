// SPDX-License-Identifier: Apache-2.0
/// Runs the program image.hex of the current folder on gs_rv32, with random delays of I/O and traffic on the RAM's
/// second port; writes a record for each instruction to the file `commits`.
///
///     harness key=value...
///
/// A program ends when it jumps to itself, traps, or writes its exit code to kExit. Other I/O addresses are a memory of
/// zeros; bytes written to kConsole are printed. Keys: seed; cycles: the limit; ready: percent of cycles in which a
/// waiting request is served; window: number of words at the RAM's end that the second port writes.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "Vrv32_top.h"
#include "verilated.h"

namespace {

constexpr uint32_t kConsole = 0xFFFFFFF0, kExit = 0xFFFFFFF4;
constexpr uint32_t kSelf = 0x0000006F;  // jal x0, 0
constexpr uint32_t kRamBytes = 0x20000;

struct Commit {
  uint8_t tid = 0;
  uint8_t reg = 255;  // 255: none
  uint8_t stored = 0;
  uint8_t zero = 0;
  uint32_t pc = 0, instr = 0, value = 0, address = 0, data = 0;
};
static_assert(sizeof(Commit) == 24);

uint32_t merge(uint32_t old, uint32_t data, unsigned strobe) {
  for (unsigned i = 0; i < 4; ++i) {
    if (strobe >> i & 1) old = (old & ~(0xFFu << 8 * i)) | (data & 0xFFu << 8 * i);
  }
  return old;
}

class Harness {
 public:
  Harness(int argc, char** argv) : ram_(kRamBytes / 4) {
    for (int i = 1; i < argc; ++i) {
      const char* equals = std::strchr(argv[i], '=');
      if (equals == nullptr) fail("argument without '='");
      options_[std::string(argv[i], static_cast<size_t>(equals - argv[i]))] = std::strtoull(equals + 1, nullptr, 0);
    }
    random_.seed(get("seed", 1));
    std::FILE* image = std::fopen("image.hex", "r");
    if (image == nullptr) fail("cannot read image.hex");
    unsigned word = 0;
    for (size_t at = 0;; ++at) {
      if (std::fscanf(image, " @%x", &word) == 1) at = word;
      if (at >= ram_.size() || std::fscanf(image, "%x", &word) != 1) break;
      ram_[at] = word;
    }
    std::fclose(image);
    commits_ = std::fopen("commits", "wb");
    if (commits_ == nullptr) fail("cannot write commits");
  }

  int run() {
    top_.rst_ni = 0;
    for (int i = 0; i < 4; ++i) tick();
    top_.rst_ni = 1;
    const uint64_t limit = get("cycles", 1'000'000);
    uint64_t cycles = 0;
    while (cycles < limit && !ended_ && !top_.trap_o) {
      tick();
      ++cycles;
    }
    if (top_.trap_o) {
      const uint32_t pc = top_.trap_pc_o;
      const uint64_t retired = retired_;
      for (int i = 0; i < 100; ++i) tick();
      if (!top_.trap_o || top_.trap_pc_o != pc || retired_ != retired || open_.stored != 0) fail("a trap ended");
      std::printf("trap pc=%#x\n", pc);
    } else if (!ended_) {
      std::printf("unfinished pc=%#x\n", top_.trap_pc_o);
    }
    std::fclose(commits_);
    std::printf("end cycles=%llu instructions=%llu requests=%llu checked=%llu\n", ull(cycles), ull(retired_),
                ull(requests_), ull(checked_));
    return 0;
  }

 private:
  [[noreturn]] static void fail(const char* why) {
    std::fprintf(stderr, "harness: %s\n", why);
    std::exit(2);
  }
  static unsigned long long ull(uint64_t value) { return value; }

  uint64_t get(const char* name, uint64_t otherwise) const {
    const auto found = options_.find(name);
    return found == options_.end() ? otherwise : found->second;
  }

  void store(uint32_t address, unsigned strobe, uint32_t data) {
    if (open_.stored != 0) fail("an instruction stores twice");
    const unsigned first = static_cast<unsigned>(__builtin_ctz(strobe));
    open_.stored = static_cast<uint8_t>(__builtin_popcount(strobe));
    open_.address = (address & ~3u) + first;
    open_.data = data >> 8 * first & (open_.stored == 4 ? ~0u : (1u << 8 * open_.stored) - 1);
  }

  void tick() {
    static const uint64_t ready = get("ready", 100), window = get("window", 0);
    top_.clk_i = 0;
    top_.io_ready_i = random_() % 100 < ready;
    top_.io_rdata_i = static_cast<uint32_t>(random_());
    top_.ram_en_i = top_.rst_ni && window != 0 && (random_() & 1) != 0;
    const bool inside = (random_() & 1) != 0;
    const auto words = static_cast<uint32_t>(ram_.size());
    top_.ram_strb_i = inside ? random_() & random_() & 15 : 0;
    top_.ram_addr_i = inside ? words - 1 - random_() % (window + (window == 0)) : words / 2 + random_() % (words / 2);
    top_.ram_wdata_i = static_cast<uint32_t>(random_());
    top_.eval();
    if (top_.io_valid_o && top_.io_ready_i) request();
    std::optional<uint32_t> expected;
    if (top_.rst_ni) expected = observe();
    top_.clk_i = 1;
    top_.eval();
    if (expected && top_.ram_rdata_o != *expected) fail("the second port reads another word than was written");
  }

  /// A request of the I/O port is served.
  void request() {
    ++requests_;
    const uint32_t address = top_.io_addr_o;
    uint32_t& word = io_[address & ~3u];
    if (!top_.io_write_o) {
      // Bytes that the program does not read are undefined.
      top_.io_rdata_i = merge(top_.io_rdata_i, word, top_.io_strb_o);
      top_.eval();
      return;
    }
    store(address, top_.io_strb_o, top_.io_wdata_o);
    word = merge(word, top_.io_wdata_o, top_.io_strb_o);
    if (address == kConsole) std::putchar(static_cast<int>(top_.io_wdata_o & 0xFF));
    if (address == kExit) {
      std::printf("exit %u\n", top_.io_wdata_o);
      ended_ = true;
    }
  }

  /// Notes what the next clock edge does; returns the word that the second port must read.
  std::optional<uint32_t> observe() {
    std::optional<uint32_t> expected;
    const uint32_t at = top_.store_addr_o / 4;
    if (top_.ram_en_i && top_.ram_strb_i == 0 && (top_.store_strb_o == 0 || at != top_.ram_addr_i)) {
      expected = ram_[top_.ram_addr_i];
      ++checked_;
    }
    if (top_.ram_en_i && top_.ram_strb_i != 0) {
      ram_[top_.ram_addr_i] = merge(ram_[top_.ram_addr_i], top_.ram_wdata_i, top_.ram_strb_i);
    }
    if (top_.store_strb_o != 0) {
      store(top_.store_addr_o, top_.store_strb_o, top_.store_data_o);
      ram_[at] = merge(ram_[at], top_.store_data_o, top_.store_strb_o);
    }
    if (top_.retire_o) {
      open_.pc = top_.retire_pc_o;
      open_.instr = top_.retire_instr_o;
      if (top_.write_o) {
        open_.reg = top_.write_reg_o;
        open_.value = top_.write_data_o;
      }
      std::fwrite(&open_, sizeof open_, 1, commits_);
      ended_ = ended_ || open_.instr == kSelf;
      open_ = Commit{};
      ++retired_;
    }
    return expected;
  }

  Vrv32_top top_;
  std::map<std::string, uint64_t> options_;
  std::mt19937_64 random_;
  std::vector<uint32_t> ram_;
  std::map<uint32_t, uint32_t> io_;
  std::FILE* commits_ = nullptr;
  Commit open_;
  bool ended_ = false;
  uint64_t retired_ = 0, requests_ = 0, checked_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return Harness(argc, argv).run();
}
