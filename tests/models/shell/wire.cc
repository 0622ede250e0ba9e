// SPDX-License-Identifier: Apache-2.0
/// The shell's RTL with its firmware on a wire that is exact to the cycle: frames with given gaps (those of the board
/// with 24 cycles for preamble, checksum and gap), a memory with given
/// latency and stalls. A configuration port accepts any image. The role is a model of message streams.
///
///   wire +firmware=FILE MAC KEY MEMORY_BYTES LATENCY STALLS SEED
///
/// STALLS of 16 cycles, the memory's address, data and response channels stall, each by itself. Commands, one a line:
///
///   frame GAP HEX   waits; it is followed by GAP idle cycles
///   run QUIET       sends the waiting frames, until the board has sent no byte for QUIET cycles. A line for each frame
///                   of the board, `out CYCLE HEX`, then `end FIRST LAST LOST PAUSED`: cycles of the first and the
///                   last byte of the frames, frames lost in the ring, cycles with pause_o
///                   Between them a line for each packet that the role gets, `in CYCLE STREAM HEX`
///   read AT BYTES   a line of HEX: memory
///   role STREAMS WANTED ECHO   streams of the role, a mask of those for which it accepts packets, and whether it sends
///                   each packet that it gets on the same stream
///   send STREAM HEX   a packet of the role, which waits for its ring (`-`: without bytes)
///   done            the kernel ends
///   ms CYCLES       of a millisecond; 125,000 before

#include <verilated.h>

#include <algorithm>
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
constexpr unsigned kOverhead = 24;

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

  void role(unsigned streams, unsigned wanted, bool echo) {
    top_.role_streams_i = static_cast<uint16_t>(streams);
    top_.stream_wanted_i = static_cast<uint8_t>(wanted);
    echo_ = echo;
  }
  void send(unsigned stream, std::vector<uint8_t> bytes) {
    packets_.push_back({static_cast<uint8_t>(stream), std::move(bytes)});
  }
  void done() { done_ = true; }
  void milliseconds(uint64_t cycles) { ms_cycles_ = cycles; }

  void read(uint64_t at, uint64_t bytes) { print_hex({memory_.data() + at, memory_.data() + at + bytes}); }

 private:
  bool flows() { return random_() % 16 >= stalls_; }

  void cycle() {
    receive();
    role_packets();
    top_.aw_ready_i = addresses_.size() < 4 && flows();
    top_.w_ready_i = words_.size() < 4 && flows();
    top_.b_valid_i = !answers_.empty() && answers_.front() <= cycles_ && flows();
    top_.ar_ready_i = reads_.size() < 8;
    top_.r_valid_i = !reads_.empty() && reads_.front().due <= cycles_;
    if (top_.r_valid_i) top_.r_data_i = memory_.read(reads_.front().address);
    top_.tx_ready_i = pause_ == 0;
    top_.ms_i = cycles_ % ms_cycles_ == 0;
    top_.config_grant_i = top_.config_request_o;
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

  void role_packets() {
    top_.stream_ready_i = flows();
    top_.role_done_i = done_;
    done_ = false;
    if (taken_) top_.stream_valid_i = 0;
    taken_ = false;
    // A word that waits is stable.
    if (packets_.empty() || (!top_.stream_valid_i && !flows())) return;
    const auto& packet = packets_.front();
    const size_t bytes = std::min<size_t>(packet.bytes.size() - packet_at_, 4);
    top_.stream_valid_i = 1;
    top_.stream_data_i = 0;
    for (size_t i = 0; i < bytes; i++) top_.stream_data_i |= uint32_t{packet.bytes[packet_at_ + i]} << (8 * i);
    top_.stream_bytes_i = static_cast<uint8_t>(bytes);
    top_.stream_last_i = packet_at_ + bytes == packet.bytes.size();
    top_.stream_dest_i = packet.stream;
  }

  void sample_packets() {
    if (top_.role_stop_o) {
      packets_.clear();
      inward_.clear();
      packet_at_ = 0;
      taken_ = true;
      return;
    }
    if (top_.stream_valid_i && top_.stream_ready_o) {
      active_ = cycles_;
      packet_at_ += top_.stream_bytes_i;
      taken_ = true;
      if (top_.stream_last_i) {
        packets_.pop_front();
        packet_at_ = 0;
      }
    }
    if (!top_.stream_valid_o || !top_.stream_ready_i) return;
    for (unsigned i = 0; i < top_.stream_bytes_o; i++)
      inward_.push_back(static_cast<uint8_t>(top_.stream_data_o >> (8 * i)));
    if (!top_.stream_last_o) return;
    active_ = cycles_;
    std::printf("in %llu %u ", static_cast<unsigned long long>(cycles_), unsigned{top_.stream_dest_o});
    if (inward_.empty()) std::printf("-");
    print_hex(inward_);
    if (echo_) packets_.push_back({top_.stream_dest_o, inward_});
    inward_.clear();
  }

  void sample() {
    sample_packets();
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
    const bool sends = top_.tx_valid_o && top_.tx_ready_i;
    if (pause_) pause_--;
    if (!sends) return;
    active_ = cycles_;
    sending_.push_back(top_.tx_data_o);
    if (!top_.tx_last_o) return;
    pause_ = kOverhead;
    std::printf("out %llu ", static_cast<unsigned long long>(cycles_));
    print_hex(sending_);
    sending_.clear();
  }

  struct Packet {
    uint8_t stream;
    std::vector<uint8_t> bytes;
  };
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
  uint64_t ms_cycles_ = 125'000;
  unsigned stalls_, gap_ = 0, pause_ = 0;
  size_t sent_ = 0;
  bool configured_ = false;
  std::mt19937_64 random_;
  std::deque<Frame> waiting_;
  std::deque<uint64_t> addresses_, answers_;
  std::deque<Word> words_;
  std::deque<Read> reads_;
  std::vector<uint8_t> sending_;
  std::deque<Packet> packets_;
  std::vector<uint8_t> inward_;
  size_t packet_at_ = 0;
  bool echo_ = false, done_ = false, taken_ = false;
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
    } else if (what == "role") {
      unsigned wanted = 0, echo = 0;
      words >> wanted >> echo;
      wire.role(static_cast<unsigned>(number), wanted, echo != 0);
    } else if (what == "send") {
      words >> hex;
      wire.send(static_cast<unsigned>(number), hex == "-" ? std::vector<uint8_t>{} : bytes_of(hex));
    } else if (what == "ms") {
      wire.milliseconds(number);
    } else if (what == "done") {
      wire.done();
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
