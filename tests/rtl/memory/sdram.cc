// SPDX-License-Identifier: Apache-2.0
// sdram SEED REQUESTS: random lines through gs_sdram to a model of an SDR SDRAM that knows only its pins: commands,
// bursts that a later command cuts, byte masks, CAS latency. Every command goes to the checker of the memory's rules.
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

#include "Vsdram_top.h"
#include "check.h"
#include "gs_dram_checker.h"
#include "verilated.h"

namespace {

using gossamer::sim::DramChecker;
using gossamer::sim::DramCommand;
using gossamer::sim::DramConfig;

constexpr unsigned kLine = LINE_BYTES, kBurst = BURST, kCl = CL, kFlight = FLIGHT, kBank = BANK_BYTES;
constexpr unsigned kPowerUp = 600, kRow = 1024, kBanks = 4, kRefi = 450;
constexpr std::uint32_t kBytes = 0x80'0000;

DramConfig rules() {
  DramConfig config;
  config.doubleRate = false;
  config.bytes = kBytes;
  config.busBytes = 4;
  config.burstLength = kBurst;
  config.banks = kBanks;
  config.rowBytes = kRow;
  config.cl = kCl;
  config.cwl = 0;
  config.rcd = config.rp = 3;
  config.ras = 6;
  config.rrd = 2;
  config.faw = 8;
  config.wr = 2;
  config.wtr = config.rtp = 1;
  config.rfc = 9;
  config.refi = kRefi;
  return config;
}

/// The memory at its pins. A clock sees the pins of the cycle before it.
class Sdram {
 public:
  Sdram() : checker_(rules()) {}
  void clock(Vsdram_top& top, std::uint64_t now) {
    const unsigned command = top.ras_no << 2 | top.cas_no << 1 | top.we_no;
    CHECK(!driving_ || !top.dq_oe_o, "both sides drive the bus");
    driving_ = false;
    drive_.push_back({});
    switch (command) {
      case 0: {  // mode
        CHECK(top.a_o == (kCl << 4 | __builtin_ctz(kBurst)), "mode register %#x", top.a_o);
        CHECK(refreshes_ >= 2 && charged_, "the mode is set after %u refreshes", refreshes_);
        ready_ = now;
        set_ = true;
        break;
      }
      case 1: {
        refreshes_++;
        for (const auto& bank : bank_) CHECK(bank.row < 0, "a refresh while a row is open");
        if (set_) see(now, {DramCommand::kRefresh});
        else CHECK(charged_, "a refresh before the first precharge");
        break;
      }
      case 2: {
        CHECK(now >= kPowerUp, "a command in cycle %llu", static_cast<unsigned long long>(now));
        const bool all = top.a_o >> 10 & 1;
        CHECK(all || set_, "before its mode is set all banks are precharged");
        charged_ |= all;
        for (unsigned b = 0; b < kBanks; ++b) {
          if (!all && b != top.ba_o) continue;
          bank_[b].row = -1;
          // A burst of this bank ends after the latency.
          if (left_ && !writes_ && burst_bank_ == b) cut(kCl);
          if (left_ && writes_ && burst_bank_ == b) left_ = 0;
        }
        if (set_) see(now, {all ? DramCommand::kPrechargeAll : DramCommand::kPrecharge, top.ba_o});
        break;
      }
      case 3:
        CHECK(set_ && now >= ready_ + 2, "a row is opened too soon after the mode was set");
        see(now, {DramCommand::kActivate, top.ba_o, top.a_o});
        bank_[top.ba_o].row = top.a_o;
        break;
      case 4:
      case 5: {
        CHECK(!(top.a_o >> 10 & 1), "the row would be closed after the burst");
        see(now, {command == 4 ? DramCommand::kWrite : DramCommand::kRead, top.ba_o, 0, 4ull * (top.a_o & 1023)});
        if (left_ && !writes_) cut(kCl);
        writes_ = command == 4;
        left_ = kBurst;
        burst_bank_ = top.ba_o;
        at_ = (static_cast<std::uint64_t>(bank_[top.ba_o].row) * kBanks + top.ba_o) * (kRow / 4) + (top.a_o & 255);
        accesses++;
        break;
      }
      case 7: break;
      default: CHECK(false, "a command %u", command);
    }
    // One word of the running burst
    if (left_) {
      if (writes_) {
        CHECK(top.dq_oe_o, "no data are driven for a write");
        std::uint32_t& word = words_[at_];
        for (unsigned b = 0; b < 4; ++b) {
          if (top.dqm_o >> b & 1) continue;
          word = (word & ~(255u << 8 * b)) | (top.dq_o & 255u << 8 * b);
        }
      } else {
        const auto found = words_.find(at_);
        drive_[drive_.size() - 1] = {true, found == words_.end() ? 0 : found->second};
      }
      at_++;
      left_--;
    }
    // Masks of reads take effect after two clocks.
    mask_ = mask_ << 4 | top.dqm_o;
    // The word whose latency has passed is on the bus until the next clock.
    bus_ = 0xdead'beef ^ static_cast<std::uint32_t>(now);
    if (drive_.size() >= kCl) {
      const Driven word = drive_[drive_.size() - kCl];
      if (word.valid) {
        driving_ = true;
        CHECK((mask_ >> 4 & 15) == 0, "a word is masked");
        bus_ = word.word;
      }
    }
    if (drive_.size() > 8) drive_.pop_front();
    wire_.push_back(bus_);
    while (wire_.size() > kFlight) wire_.pop_front();
    if (!checker_.violations().empty()) CHECK(false, "%s", checker_.violations()[0].c_str());
  }
  /// The data bus at the controller's pins.
  std::uint32_t bus() const { return wire_.empty() ? 0 : wire_.front(); }
  std::uint64_t accesses = 0;
  std::uint64_t refreshes() const { return refreshes_; }

 private:
  struct Driven {
    bool valid = false;
    std::uint32_t word = 0;
  };
  struct Bank {
    int row = -1;
  };
  void see(std::uint64_t now, const DramCommand& command) {
    // The checker's time begins when the memory is set up.
    checker_.observe(now - ready_, command);
  }
  /// Words of a burst are lost from `latency` clocks after a command on.
  void cut(unsigned) { CHECK(left_ == 0, "a command cuts a burst of which %u words are left", left_); }

  DramChecker checker_;
  std::array<Bank, kBanks> bank_;
  std::map<std::uint64_t, std::uint32_t> words_;
  std::deque<Driven> drive_;
  std::deque<std::uint32_t> wire_;
  std::uint64_t ready_ = 0, at_ = 0;
  std::uint32_t bus_ = 0, mask_ = 0;
  unsigned left_ = 0, burst_bank_ = 0, refreshes_ = 0;
  bool writes_ = false, set_ = false, charged_ = false, driving_ = false;
};

struct Request {
  bool write = false;
  std::uint8_t id = 0;
  std::uint32_t address = 0;
  std::array<std::uint8_t, kLine> data{};
  std::array<bool, kLine> mask{};
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = std::strtoull(argv[1], nullptr, 0), requests = std::strtoull(argv[2], nullptr, 0);
  CHECK(argc == 3, "sdram SEED REQUESTS");
  std::mt19937_64 random(seed);
  auto top = std::make_unique<Vsdram_top>();
  Sdram sdram;
  std::map<std::uint32_t, std::uint8_t> memory;
  std::deque<Request> reads;
  std::deque<std::uint8_t> acks;
  std::map<std::uint32_t, unsigned> unread;  // lines that will be read
  Request sends;
  bool sending = false;
  unsigned beat = 0, got = 0;
  std::uint64_t sent = 0, answered = 0, words = 0, busy = 0;
  std::uint64_t now = 0, idle = 0;
  // Phases: pressure on requests and responses, locality, share of writes, in percent
  struct Phase {
    unsigned offer, take, near, writes;
  };
  const std::vector<Phase> phases = {{100, 100, 100, 50}, {100, 100, 0, 0}, {30, 100, 50, 50}, {100, 20, 50, 30},
                                     {100, 100, 100, 0}, {100, 100, 0, 100}, {100, 100, 95, 10}, {5, 50, 50, 50}};
  std::uint32_t cursor = 0;
  top->rst_ni = 0;
  // Writes are acknowledged before they are done.
  for (unsigned after = 0; after < 400; ++now) {
    if (answered == requests) after++;
    const Phase& phase = phases[sent * phases.size() / (requests + 1)];
    if (now == 8) top->rst_ni = 1;
    if (!sending && sent < requests && random() % 100 < phase.offer) {
      sending = true;
      beat = 0;
      sends.write = random() % 100 < phase.writes;
      sends.id = static_cast<std::uint8_t>(random());
      cursor = (random() % 100 < phase.near ? cursor + kLine : static_cast<std::uint32_t>(random())) % kBytes;
      // Two regions of a few lines are written and read again and again.
      sends.address = (random() % 8 == 0 ? static_cast<std::uint32_t>(random() % 64) * kLine : cursor) / kLine * kLine;
      const bool whole = random() % 2;
      for (unsigned i = 0; i < kLine; ++i) {
        sends.data[i] = static_cast<std::uint8_t>(random());
        sends.mask[i] = whole || random() % 2;
      }
    }
    top->req_valid_i = sending;
    if (sending) {
      const unsigned last = sends.write ? kLine / 4 - 1 : 0;
      top->req_write_i = sends.write;
      top->req_last_i = beat == last;
      top->req_id_i = sends.id;
      top->req_addr_i = sends.address;
      top->req_data_i = 0;
      top->req_strb_i = 0;
      for (unsigned b = 0; b < 4; ++b) {
        top->req_data_i |= static_cast<std::uint32_t>(sends.data[4 * beat + b]) << 8 * b;
        top->req_strb_i |= sends.mask[4 * beat + b] << b;
      }
    }
    top->rsp_ready_i = random() % 100 < phase.take;
    top->dq_i = sdram.bus();
    top->clk_i = 0;
    top->eval();
    if (sending && top->rst_ni && top->req_ready_o) {
      if (!top->req_last_i) {
        beat++;
      } else {
        sending = false;
        sent++;
        if (sends.write) {
          for (unsigned i = 0; i < kLine; ++i) {
            if (sends.mask[i]) memory[sends.address + i] = sends.data[i];
          }
          acks.push_back(sends.id);
        } else {
          for (unsigned i = 0; i < kLine; ++i) {
            const auto found = memory.find(sends.address + i);
            sends.data[i] = found == memory.end() ? 0 : found->second;
          }
          reads.push_back(sends);
        }
      }
    }
    if (top->rst_ni && top->rsp_valid_o && top->rsp_ready_i) {
      idle = 0;
      if (top->rsp_ack_o) {
        CHECK(got == 0, "an acknowledgement within a line");
        CHECK(!acks.empty() && acks.front() == top->rsp_id_o, "an acknowledgement for %u", top->rsp_id_o);
        CHECK(top->rsp_last_o, "an acknowledgement has one beat");
        acks.pop_front();
        answered++;
      } else {
        CHECK(!reads.empty() && reads.front().id == top->rsp_id_o, "a line for %u", top->rsp_id_o);
        const Request& read = reads.front();
        for (unsigned b = 0; b < 4; ++b) {
          const unsigned byte = top->rsp_data_o >> 8 * b & 255;
          const unsigned wanted = read.data[4 * got + b];
          CHECK(byte == wanted, "byte %u of line %#x is %02x, not %02x", 4 * got + b, read.address, byte, wanted);
        }
        words++;
        got++;
        CHECK(top->rsp_last_o == (got == kLine / 4), "the last beat of a line");
        if (got == kLine / 4) {
          got = 0;
          reads.pop_front();
          answered++;
        }
      }
    }
    CHECK(++idle < 40'000, "no response for %llu cycles", static_cast<unsigned long long>(idle));
    top->clk_i = 1;
    // The memory sees the pins of the cycle before this edge.
    if (top->rst_ni) sdram.clock(*top, now);
    top->eval();
    busy++;
  }
  const auto refreshes = static_cast<unsigned long long>(sdram.refreshes());
  CHECK(refreshes + 8 >= busy / kRefi - 2, "%llu refreshes", refreshes);
  std::printf("{\"cycles\": %llu, \"accesses\": %llu}\n", static_cast<unsigned long long>(busy),
              static_cast<unsigned long long>(sdram.accesses));
  return 0;
}
