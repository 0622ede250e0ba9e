// SPDX-License-Identifier: Apache-2.0
/// A simulated board whose shell is the RTL (rtl/shell/gs_shell.sv with its firmware), on a port. Its role is a shared
/// object, as that of shell_twin; memory and configuration port are models.
///
///   shell_rtl +firmware=FILE --port NAME --mac MAC --key HEX [--serial N] [--type N] [--memory BYTES]
///             [--image-max BYTES] [--boot N] [--seed N] [--key-file FILE] [--latency CYCLES] [--pause MS]
///             [--local-config ROLE] [--local-hold 1] [--config-max BYTES]
///
/// With --key-file, the board has a store of keys, as shell_twin has. With --local-config, the local port configures
/// the board with the role file ROLE at the start, as the loader of a flash does, and again at SIGUSR1; with
/// --local-hold, it sends the last word at SIGUSR2. With --config-max, the configuration port rejects an image after so
/// many bytes.
///
/// Milliseconds are those of this machine's clock, so that timers of the shell agree with those of a host. A cycle is
/// one byte on the wire (1 Gb/s at 125 MHz). With --pause, the board pauses for so long after each 2,000 cycles:
/// it is then as slow to a host as one that is simulated on a busy machine.

#include <signal.h>
#include <verilated.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "Vgs_sim_shell.h"
#include "board_memory.h"
#include "board_options.h"
#include "role_host.h"
#include "shell/blake2s.h"
#include "shell/port.h"

namespace gossamer::shell {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kImageBase = 0x0400'0000, kMemory = uint64_t{1} << 29;
constexpr unsigned kGap = 24;            // cycles between frames: checksum, gap, preamble
constexpr uint16_t kLinks = 4;           // of gs_shell
constexpr unsigned kMsCycles = 2000;     // the fewest cycles of a millisecond
constexpr uint64_t kQuietCycles = 2000;  // without activity: the simulation waits for frames and time

volatile sig_atomic_t local_requested = 0, local_released = 0;

/// The local port: it sends a role file to the configuration port of the board.
class LocalPort {
 public:
  /// PortError if the file cannot be read or is empty.
  LocalPort(const std::string& path, bool hold) : path_(path), hold_(hold) {
    if (path.empty()) return;
    std::ifstream file(path, std::ios::binary);
    file_.assign(std::istreambuf_iterator<char>(file), {});
    if (file_.empty()) throw PortError("--local-config " + path + ": cannot be read, or is empty");
    std::vector<uint8_t> manifest;
    constexpr size_t kBlock = size_t{1} << shell_block_bytes_log2;
    for (size_t at = 0; at < file_.size(); at += kBlock) {
      const auto hash = blake2s(std::span(file_).subspan(at, std::min(kBlock, file_.size() - at)));
      manifest.insert(manifest.end(), hash.begin(), hash.begin() + shell_block_hash_bytes);
    }
    const auto root = blake2s(manifest);
    for (unsigned i = 0; i < 16; i++) root_[3 - i / 4] |= uint32_t{root[i]} << (24 - 8 * (i % 4));
    local_requested = 1;
    struct sigaction action{};
    action.sa_handler = [](int) { local_requested = 1; };
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_handler = [](int) { local_released = 1; };
    sigaction(SIGUSR2, &action, nullptr);
  }

  void drive(Vgs_sim_shell& top) {
    if (local_requested && !busy_ && !file_.empty()) {
      local_requested = 0;
      busy_ = true;
      at_ = 0;
      local_released = !hold_;
    }
    top.local_request_i = busy_;
    if (!busy_) return;
    const size_t bytes = std::min<size_t>(4, file_.size() - at_);
    top.local_valid_i = bytes && (local_released || at_ + bytes < file_.size());
    top.local_data_i = 0;
    for (size_t i = 0; i < bytes; i++) top.local_data_i |= uint32_t{file_[at_ + i]} << (8 * i);
    top.local_bytes_i = static_cast<uint8_t>(bytes);
    top.local_last_i = at_ + bytes == file_.size();
    for (unsigned i = 0; i < 4; i++) top.local_role_i[i] = root_[i];
  }

  /// At the end of a cycle.
  void sample(const Vgs_sim_shell& top) {
    if (top.local_valid_i && top.local_ready_o) at_ += top.local_bytes_i;
    if (!top.local_done_o) return;
    busy_ = false;
    if (top.local_error_o) std::fprintf(stderr, "shell_rtl: %s: is no role for this board\n", path_.c_str());
  }

  bool busy() const { return busy_; }

 private:
  std::string path_;
  std::vector<uint8_t> file_;
  bool hold_;
  size_t at_ = 0;
  bool busy_ = false;
  uint32_t root_[4] = {};
};

class RtlBoard {
 public:
  RtlBoard(const BoardOptions& options, Port& port, VerilatedContext& context, const MoreOptions& more)
      : port_(port),
        top_(&context),
        context_(context),
        latency_(static_cast<unsigned>(more.number("--latency", 20))),
        pause_(more.number("--pause", 0)),
        key_file_(options.key_file),
        config_max_(more.number("--config-max", ~uint64_t{0})),
        local_(more.text("--local-config"), more.number("--local-hold", 0) != 0),
        memory_(kMemory),
        role_(memory_.data(), options.memory_bytes, options.board_type, port.mtu() - (shell_frame_header_bytes - 14)),
        random_(options.seed ? options.seed : uint64_t{std::random_device{}()} << 32 | std::random_device{}()) {
    if (options.memory_bytes > kImageBase)
      throw PortError("--memory: the shell's RTL has at most " + std::to_string(kImageBase) + " bytes");
    top_.mac_i = options.mac.number();
    for (unsigned i = 0; i < 8; i++) top_.key_i[7 - i] = static_cast<uint32_t>(get(options.key, 4 * i, 4));
    top_.next_key_valid_i = options.next_key.has_value();
    for (unsigned i = 0; options.next_key && i < 8; i++)
      top_.next_key_i[7 - i] = static_cast<uint32_t>(get(*options.next_key, 4 * i, 4));
    top_.store_ready_i = 1;
    top_.vendor_i = options.vendor;
    top_.product_i = options.product;
    top_.board_type_i = options.board_type;
    top_.serial_i = options.serial;
    top_.boot_i = options.boot;
    top_.memory_bytes_i = static_cast<uint32_t>(options.memory_bytes);
    top_.image_max_i = static_cast<uint32_t>(std::min<uint64_t>(options.image_max, uint64_t{2048} << 16));
    top_.mtu_i = static_cast<uint16_t>(port.mtu());
    for (unsigned i = 0; i < 9; i++) {
      // A port of nine times 16 bits, in words of 32.
      auto& word = top_.types_i[i / 2];
      word = (word & ~(0xFFFFU << (16 * (i % 2)))) | uint32_t{options.types.of[i]} << (16 * (i % 2));
    }
    top_.entropy_i = random_();
    top_.tx_ready_i = 1;
    top_.aw_ready_i = 1;
    top_.w_ready_i = 1;
    top_.config_ready_i = 1;
    top_.stream_ready_i = 1;
    top_.rst_ni = 0;
    for (unsigned i = 0; i < 20; i++) cycle();
    top_.rst_ni = 1;
  }
  ~RtlBoard() {
    top_.final();
    if (std::getenv("SHELL_RTL_COUNTS"))
      std::fprintf(stderr, "shell_rtl: at %x, %llu cycles, %llu frames lost in the ring\n", top_.pc_o,
                   static_cast<unsigned long long>(cycles_), static_cast<unsigned long long>(overruns_));
    if (const char* path = std::getenv("SHELL_RTL_PROFILE"))
      if (FILE* file = std::fopen(path, "w")) {
        for (size_t i = 0; i < profile_.size(); i++)
          if (profile_[i]) std::fprintf(file, "%zx %llu\n", 4 * i, static_cast<unsigned long long>(profile_[i]));
        std::fclose(file);
      }
  }

  void run(const std::function<bool()>& stop) {
    auto ticked = Clock::now();
    while (!stop()) {
      const bool quiet = cycles_ - active_ > kQuietCycles;
      for (unsigned burst = 0; burst < 64 && waiting_.size() < 32; burst++) {
        const auto frame = port_.next(quiet && burst == 0 ? 1 : 0);
        if (frame.empty()) break;
        waiting_.emplace_back(frame.begin(), frame.end());
        active_ = cycles_;
      }
      // On a slow machine, the board's milliseconds are longer than this machine's, so that it has time for its work.
      if (const auto now = Clock::now(); now - ticked >= milliseconds(1)) {
        ticked = now;
        tick_ = true;
      }
      for (unsigned i = 0; i < kMsCycles; i++) cycle();
      std::this_thread::sleep_for(pause_);
      if (top_.watchdog_o) throw PortError("the shell's processor has stopped");
    }
  }

  uint64_t cycles() const { return cycles_; }

 private:
  void cycle() {
    receive();
    memory();
    role();
    configure();
    local_.drive(top_);
    top_.store_done_i = store_done_;
    store_done_ = false;
    top_.ms_i = tick_;
    tick_ = false;
    top_.clk_i = 0;
    top_.eval();
    context_.timeInc(1);
    // What the outputs offer in this cycle is taken at its end.
    sample();
    top_.clk_i = 1;
    top_.eval();
    context_.timeInc(1);
    cycles_++;
    if (busy_) profile_[top_.pc_o / 4 % profile_.size()]++;
  }

  void receive() {
    top_.rx_valid_i = 0;
    busy_ = !waiting_.empty();
    if (gap_) {
      gap_--;
      return;
    }
    // The link's peer pauses between frames, as switches do.
    if (waiting_.empty() || !top_.rst_ni || (sent_ == 0 && top_.pause_o)) return;
    const auto& frame = waiting_.front();
    top_.rx_valid_i = 1;
    top_.rx_data_i = frame[sent_];
    top_.rx_last_i = ++sent_ == frame.size();
    top_.rx_error_i = 0;
    active_ = cycles_;
    if (!top_.rx_last_i) return;
    waiting_.pop_front();
    sent_ = 0;
    gap_ = kGap;
  }

  void memory() {
    top_.b_valid_i = 0;
    if (!answers_.empty() && answers_.front() <= cycles_) {
      answers_.pop_front();
      top_.b_valid_i = 1;
    }
    top_.ar_ready_i = reads_.size() < 8;
    top_.r_valid_i = 0;
    if (!reads_.empty() && reads_.front().due <= cycles_) {
      top_.r_valid_i = 1;
      top_.r_data_i = memory_.read(reads_.front().address);
    }
  }

  void sample() {
    if (top_.aw_valid_o) addresses_.push_back(top_.aw_addr_o);
    if (top_.w_valid_o) words_.push_back({top_.w_data_o, static_cast<uint8_t>(top_.w_strb_o)});
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
    if (top_.tx_valid_o) {
      frame_.push_back(top_.tx_data_o);
      active_ = cycles_;
      if (top_.tx_last_o) {
        port_.send(frame_);
        frame_.clear();
      }
    }
    if (top_.config_valid_o && top_.config_ready_i) {
      for (unsigned i = 0; i < top_.config_bytes_o; i++)
        image_.push_back(static_cast<uint8_t>(top_.config_data_o >> (8 * i)));
      active_ = cycles_;
      whole_ = top_.config_last_o;
    }
    if (top_.role_start_o && role_.loaded()) role_.start(top_.role_kernel_o);
    if (top_.stream_valid_o) {
      for (unsigned i = 0; i < top_.stream_bytes_o; i++)
        inward_.push_back(static_cast<uint8_t>(top_.stream_data_o >> (8 * i)));
      active_ = cycles_;
      if (top_.stream_last_o) {
        role_.deliver(top_.stream_dest_o, inward_);
        inward_.clear();
        wanted_ = 0;  // until the role's queues are looked at again
      }
    }
    if (top_.stream_valid_i && top_.stream_ready_o) {
      outward_at_ += top_.stream_bytes_i;
      if (top_.stream_last_i) {
        role_.outward_retire(top_.stream_dest_i, 1);
        sending_ = false;
      }
    }
    if (top_.link_valid_i && top_.link_ready_o) ++link_at_;
    if (top_.link_valid_o) {
      auto& frame = link_in_[top_.link_dest_o];
      if (!top_.link_error_o) frame.push_back(top_.link_data_o);
      if (top_.link_last_o) {
        if (!top_.link_error_o) role_.link_pass(top_.link_dest_o, frame);
        frame.clear();
      }
      active_ = cycles_;
    }
    if (top_.register_valid_o && top_.register_ready_i && top_.register_write_o)
      role_.register_at(top_.register_address_o) = top_.register_data_o;
    local_.sample(top_);
    if (top_.store_valid_o) {
      for (unsigned i = 0; i < 4; i++) stored_.push_back(static_cast<uint8_t>(top_.store_data_o >> (8 * i)));
      if (top_.store_last_o) store();
    }
    if (top_.rx_valid_i || top_.register_valid_o || top_.config_request_o || !reads_.empty()) active_ = cycles_;
    if (top_.overrun_o) overruns_++;
  }

  void role() {
    top_.register_ready_i = top_.register_valid_o && role_.loaded();
    if (role_.loaded()) top_.register_data_i = role_.register_at(top_.register_address_o);
    if (top_.role_stop_o && role_.running()) {
      role_.stop();
      for (auto& frame : link_in_) frame.clear();
      link_out_.clear();
      link_at_ = 0;
      sending_ = false;
      inward_.clear();
    }
    top_.role_idle_i = !role_.running();
    top_.role_streams_i = role_.streams();
    top_.role_done_i = 0;
    top_.stream_valid_i = 0;
    top_.stream_wanted_i = 0;
    top_.role_links_i = role_.links();
    top_.link_valid_i = 0;
    if (!role_.running()) return;
    links();
    // The kernel runs on this machine's clock: it is asked now and then, which is often for a kernel.
    if (cycles_ % 64 == 0 || sending_) {
      wanted_ = 0;
      for (uint16_t s = 0; s < role_.streams() && s < 8; s++)
        if (role_.inward_room(s)) wanted_ |= static_cast<uint8_t>(1U << s);
      for (uint16_t s = 0; s < role_.streams() && !sending_; s++)
        if (role_.outward_held(s)) {
          outward_ = role_.outward(s, 0);
          outward_at_ = 0;
          outward_stream_ = s;
          sending_ = true;
        }
      if (const auto outcome = role_.ended(); outcome && !sending_) {
        top_.role_done_i = 1;
        top_.role_code_i = static_cast<uint32_t>(outcome->code);
        top_.role_result_address_i = outcome->result.address;
        top_.role_result_bytes_i = outcome->result.bytes;
      }
    }
    top_.stream_wanted_i = wanted_;
    if (!sending_) return;
    const size_t left = outward_.size() - outward_at_;
    const unsigned bytes = static_cast<unsigned>(std::min<size_t>(left, 4));
    top_.stream_valid_i = 1;
    top_.stream_data_i = 0;
    for (unsigned i = 0; i < bytes; i++) top_.stream_data_i |= uint32_t{outward_[outward_at_ + i]} << (8 * i);
    top_.stream_bytes_i = static_cast<uint8_t>(bytes);
    top_.stream_last_i = left <= 4;
    top_.stream_dest_i = static_cast<uint8_t>(outward_stream_);
    active_ = cycles_;
  }

  /// Offers the next byte of the frames that the role sends on its links.
  void links() {
    if (link_at_ == link_out_.size()) {
      link_out_.clear();
      link_at_ = 0;
      if (cycles_ % 16) return;
      for (uint16_t i = 0; i < kLinks && link_out_.empty(); i++) {
        link_from_ = static_cast<uint16_t>((link_from_ + 1) % kLinks);
        if (link_from_ < role_.links()) link_out_ = role_.link_next(link_from_);
      }
      if (link_out_.empty()) return;
    }
    top_.link_valid_i = 1;
    top_.link_data_i = link_out_[link_at_];
    top_.link_last_i = link_at_ + 1 == link_out_.size();
    top_.link_dest_i = static_cast<uint8_t>(link_from_);
    active_ = cycles_;
  }

  void store() {
    const bool one = stored_.size() == shell_key_bytes, two = stored_.size() == 2 * shell_key_bytes;
    top_.store_failed_i =
        !((one || two) && write_keys(key_file_, stored_.data(), two ? stored_.data() + shell_key_bytes : nullptr));
    store_done_ = true;
    stored_.clear();
  }

  void configure() {
    top_.config_done_i = 0;
    top_.config_error_i = 0;
    if (!top_.config_request_o) {
      image_.clear();
      whole_ = rejected_ = false;
    }
    top_.config_grant_i = top_.config_request_o;
    if (!top_.config_request_o || rejected_) return;
    if (image_.size() > config_max_) {
      rejected_ = true;
      top_.config_done_i = top_.config_error_i = 1;
      return;
    }
    if (!whole_) return;
    whole_ = false;
    top_.config_done_i = 1;
    top_.config_error_i = !role_.load(image_);
  }

  using Clock = std::chrono::steady_clock;
  struct Read {
    uint64_t due;
    uint32_t address;
    unsigned left;
  };
  struct Word {
    uint64_t data;
    uint8_t strobes;
  };

  Port& port_;
  Vgs_sim_shell top_;
  VerilatedContext& context_;
  unsigned latency_;
  milliseconds pause_;
  std::string key_file_;
  uint64_t config_max_;
  LocalPort local_;
  BoardMemory memory_;
  RoleHost role_;
  std::mt19937_64 random_;
  uint64_t cycles_ = 0, active_ = 0, overruns_ = 0;
  bool tick_ = false, busy_ = false;
  std::vector<uint64_t> profile_ = std::vector<uint64_t>(1 << 14);  // cycles by instruction, while frames arrive
  std::deque<std::vector<uint8_t>> waiting_;
  size_t sent_ = 0;
  unsigned gap_ = 0;
  std::vector<uint8_t> frame_, image_, inward_, outward_, stored_;
  bool whole_ = false, rejected_ = false, sending_ = false, store_done_ = false;
  size_t outward_at_ = 0;
  uint16_t outward_stream_ = 0;
  std::vector<uint8_t> link_in_[kLinks], link_out_;  // frames that come in; the one that goes out
  size_t link_at_ = 0;
  uint16_t link_from_ = 0;
  uint8_t wanted_ = 0;
  std::deque<uint32_t> addresses_;
  std::deque<Word> words_;
  std::deque<uint64_t> answers_;
  std::deque<Read> reads_;
};

}  // namespace
}  // namespace gossamer::shell

int main(int count, char** words) {
  using namespace gossamer::shell;
  VerilatedContext context;
  context.commandArgs(count, words);
  return board_main("shell_rtl", count, words, [&](const BoardOptions& options, Port& port, const auto& more) {
    RtlBoard board(options, port, context, more);
    board.run(stopped);
  });
}
