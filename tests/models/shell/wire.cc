// SPDX-License-Identifier: Apache-2.0
/// The shell's RTL with its firmware on a wire that is exact to the cycle: frames with given gaps, a memory with given
/// latency and stalls. A configuration port accepts any image; no role is connected.
///
///   wire +firmware=FILE MAC KEY MEMORY_BYTES LATENCY STALLS SEED
///
/// STALLS of 16 cycles, the memory's address, data and response channels stall, each by itself. Commands, one a line:
///
///   frame GAP HEX   waits; it is followed by GAP idle cycles
///   run QUIET       sends the waiting frames, until the board has sent no byte for QUIET cycles. A line for each frame
///                   of the board, `out CYCLE HEX`, then `end FIRST LAST LOST PAUSED`: cycles of the first and the
///                   last byte of the frames, frames lost in the ring, cycles with pause_o
///   read AT BYTES   a line of HEX: memory

#include <verilated.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "Vgs_sim_shell.h"
#include "board_memory.h"

namespace {

constexpr uint64_t kMemory = uint64_t{1} << 29;
constexpr unsigned kMsCycles = 125'000;

std::vector<uint8_t> bytes_of(const std::string& hex) {
  std::vector<uint8_t> bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); i++)
    bytes[i] = static_cast<uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

void print_hex(const std::vector<uint8_t>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  std::printf("%s\n", text.c_str());
}

struct Frame {
  unsigned gap;
  std::vector<uint8_t> bytes;
};

class Wire {
 public:
  Wire(VerilatedContext& context, const std::vector<std::string>& words)
      : context_(context),
        top_(&context),
        memory_(kMemory),
        latency_(std::stoul(words.at(3))),
        stalls_(static_cast<unsigned>(std::stoul(words.at(4)))),
        random_(std::stoul(words.at(5))) {
    top_.mac_i = std::stoull(words.at(0), nullptr, 16);
    const auto key = bytes_of(words.at(1));
    for (unsigned i = 0; i < 32; i++) top_.key_i[7 - i / 4] |= uint32_t{key.at(i)} << (24 - 8 * (i % 4));
    top_.memory_bytes_i = static_cast<uint32_t>(std::stoul(words.at(2)));
    top_.image_max_i = 1 << 20;
    top_.mtu_i = 1500;
    // The numbers of SAF's Table I and of docs/hardware/shell.md.
    constexpr uint16_t kTypes[] = {0x80EF, 0x80AA, 0x80AB, 0x80DD, 0x80DB, 0x80CC, 0x80CB, 0x88B5, 0x88B6};
    for (unsigned i = 0; i < 9; i++) top_.types_i[i / 2] |= uint32_t{kTypes[i]} << (16 * (i % 2));
    top_.entropy_i = random_();
    top_.tx_ready_i = 1;
    top_.config_grant_i = 1;
    top_.config_ready_i = 1;
    top_.role_idle_i = 1;
    for (unsigned i = 0; i < 20; i++) cycle();
    top_.rst_ni = 1;
  }
  ~Wire() { top_.final(); }

  void add(Frame frame) { waiting_.push_back(std::move(frame)); }

  void run(uint64_t quiet) {
    first_ = last_ = lost_ = paused_ = 0;
    active_ = cycles_;
    while (!waiting_.empty() || cycles_ - active_ < quiet) cycle();
    std::printf("end %llu %llu %llu %llu\n", static_cast<unsigned long long>(first_),
                static_cast<unsigned long long>(last_), static_cast<unsigned long long>(lost_),
                static_cast<unsigned long long>(paused_));
  }

  void read(uint64_t at, uint64_t bytes) { print_hex({memory_.data() + at, memory_.data() + at + bytes}); }

 private:
  bool flows() { return random_() % 16 >= stalls_; }

  void cycle() {
    receive();
    top_.aw_ready_i = addresses_.size() < 4 && flows();
    top_.w_ready_i = words_.size() < 4 && flows();
    top_.b_valid_i = !answers_.empty() && answers_.front() <= cycles_ && flows();
    top_.ar_ready_i = reads_.size() < 8;
    top_.r_valid_i = !reads_.empty() && reads_.front().due <= cycles_;
    if (top_.r_valid_i) top_.r_data_i = memory_.read(reads_.front().address);
    top_.ms_i = cycles_ % kMsCycles == 0;
    top_.config_done_i = configured_;
    configured_ = false;
    top_.clk_i = 0;
    top_.eval();
    sample();
    top_.clk_i = 1;
    top_.eval();
    context_.timeInc(1);
    cycles_++;
    if (context_.gotFinish()) std::exit(1);
  }

  void receive() {
    top_.rx_valid_i = 0;
    if (gap_) {
      gap_--;
      return;
    }
    if (waiting_.empty()) return;
    const auto& frame = waiting_.front();
    if (!first_) first_ = cycles_;
    last_ = active_ = cycles_;
    top_.rx_valid_i = 1;
    top_.rx_data_i = frame.bytes[sent_++];
    top_.rx_last_i = sent_ == frame.bytes.size();
    if (!top_.rx_last_i) return;
    gap_ = frame.gap;
    sent_ = 0;
    waiting_.pop_front();
  }

  void sample() {
    if (top_.b_valid_i) answers_.pop_front();
    if (top_.aw_valid_o && top_.aw_ready_i) addresses_.push_back(top_.aw_addr_o);
    if (top_.w_valid_o && top_.w_ready_i) words_.push_back({top_.w_data_o, static_cast<uint8_t>(top_.w_strb_o)});
    while (!addresses_.empty() && !words_.empty()) {
      memory_.write(addresses_.front(), words_.front().data, words_.front().strobes);
      addresses_.pop_front();
      words_.pop_front();
      answers_.push_back(cycles_ + latency_);
    }
    if (top_.r_valid_i && top_.r_ready_o) {
      auto& read = reads_.front();
      read.address += 8;
      if (read.left-- == 0) reads_.pop_front();
    }
    if (top_.ar_valid_o && top_.ar_ready_i) reads_.push_back({cycles_ + latency_, top_.ar_addr_o, top_.ar_len_o});
    if (top_.config_valid_o && top_.config_ready_i && top_.config_last_o) configured_ = true;
    lost_ += top_.overrun_o;
    paused_ += top_.pause_o;
    if (!top_.tx_valid_o) return;
    active_ = cycles_;
    sending_.push_back(top_.tx_data_o);
    if (!top_.tx_last_o) return;
    std::printf("out %llu ", static_cast<unsigned long long>(cycles_));
    print_hex(sending_);
    sending_.clear();
  }

  struct Word {
    uint64_t data;
    uint8_t strobes;
  };
  struct Read {
    uint64_t due, address;
    unsigned left;
  };

  VerilatedContext& context_;
  Vgs_sim_shell top_;
  gossamer::shell::BoardMemory memory_;
  uint64_t latency_, cycles_ = 1, active_ = 0, first_ = 0, last_ = 0, lost_ = 0, paused_ = 0;
  unsigned stalls_, gap_ = 0;
  size_t sent_ = 0;
  bool configured_ = false;
  std::mt19937_64 random_;
  std::deque<Frame> waiting_;
  std::deque<uint64_t> addresses_, answers_;
  std::deque<Word> words_;
  std::deque<Read> reads_;
  std::vector<uint8_t> sending_;
};

}  // namespace

int main(int count, char** given) {
  VerilatedContext context;
  context.commandArgs(count, given);
  Wire wire(context, {given + 2, given + count});
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string what, hex;
    uint64_t number = 0, bytes = 0;
    words >> what >> number;
    if (what == "frame") {
      words >> hex;
      wire.add({static_cast<unsigned>(number), bytes_of(hex)});
    } else if (what == "run") {
      wire.run(number);
    } else if (what == "read") {
      words >> bytes;
      wire.read(number, bytes);
    } else {
      std::fprintf(stderr, "wire: unknown command %s\n", what.c_str());
      return 2;
    }
    std::fflush(stdout);
  }
  return 0;
}
