// SPDX-License-Identifier: Apache-2.0
/// A role in SystemVerilog as a role file of simulated boards: a Verilator model with the interface of
/// include/gossamer/role.h, so that it runs on software boards and on boards whose shell is the RTL.
///
/// The top has kernel control and registers (AXI4-Lite); memory (AXI4 with 64 bits, incrementing bursts of whole
/// beats), as rtl/role/gs_role_ptrans.sv has it, message streams (AXI4-Stream with 32 bits), as
/// rtl/role/gs_role_echo.sv has them, or both. It may have virtual links, as rtl/role/gs_role_links.sv has them: a
/// frame arrives at a byte a cycle. The memory is that of the board: a read is answered after one cycle, a beat in each
/// cycle, and an access outside of it with an error. A packet of the role for the host waits for a free slot, and the
/// model stalls; one for no stream, or longer than a frame, is dropped. Each run begins with a reset. Then
/// the registers that are not 0 are written, and after the run all are read back, so that the host sees those that the
/// role has changed; registers that answer with an error keep their value.
///
/// GS_ROLE_TOP is the class of the model, GS_ROLE_HEADER its header, GS_ROLE_NAME the name of the top.

#include <verilated.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include GS_ROLE_HEADER
#include "gossamer/role.h"

namespace {

template <class T>
concept RoleTop = requires(T& top) {
  top.clk_i, top.rst_ni, top.start_i, top.kernel_i, top.stop_i;
  top.done_o, top.code_o, top.result_address_o, top.result_bytes_o;
  top.s_axil_awvalid_i, top.s_axil_awready_o, top.s_axil_awaddr_i;
  top.s_axil_wvalid_i, top.s_axil_wready_o, top.s_axil_wdata_i, top.s_axil_wstrb_i;
  top.s_axil_bvalid_o, top.s_axil_bready_i, top.s_axil_bresp_o;
  top.s_axil_arvalid_i, top.s_axil_arready_o, top.s_axil_araddr_i;
  top.s_axil_rvalid_o, top.s_axil_rready_i, top.s_axil_rdata_o, top.s_axil_rresp_o;
};
template <class T>
concept MemoryTop = requires(T& top) {
  top.m_axi_awvalid_o, top.m_axi_awready_i, top.m_axi_awaddr_o, top.m_axi_awlen_o;
  top.m_axi_awsize_o, top.m_axi_awburst_o;
  top.m_axi_wvalid_o, top.m_axi_wready_i, top.m_axi_wdata_o, top.m_axi_wstrb_o, top.m_axi_wlast_o;
  top.m_axi_bvalid_i, top.m_axi_bready_o, top.m_axi_bresp_i;
  top.m_axi_arvalid_o, top.m_axi_arready_i, top.m_axi_araddr_o, top.m_axi_arlen_o;
  top.m_axi_arsize_o, top.m_axi_arburst_o;
  top.m_axi_rvalid_i, top.m_axi_rready_o, top.m_axi_rdata_i, top.m_axi_rresp_i, top.m_axi_rlast_i;
};
template <class T>
concept StreamTop = requires(T& top) {
  top.streams_o, top.wanted_o;
  top.s_axis_tvalid_i, top.s_axis_tready_o, top.s_axis_tdata_i, top.s_axis_tkeep_i, top.s_axis_tlast_i;
  top.s_axis_tdest_i;
  top.m_axis_tvalid_o, top.m_axis_tready_i, top.m_axis_tdata_o, top.m_axis_tkeep_o, top.m_axis_tlast_o;
  top.m_axis_tdest_o;
};
template <class T>
concept LinkTop = requires(T& top) {
  top.role_links_o, top.link_valid_i, top.link_data_i, top.link_last_i, top.link_error_i, top.link_dest_i;
  top.link_valid_o, top.link_ready_i, top.link_data_o, top.link_last_o, top.link_dest_o;
};
static_assert(RoleTop<GS_ROLE_TOP> && (MemoryTop<GS_ROLE_TOP> || StreamTop<GS_ROLE_TOP>),
              "the top of the role lacks a port of rtl/role/gs_role_ptrans.sv");

constexpr unsigned kBeat = 8, kBeatSize = 3, kIncrementing = 1, kSlaveError = 2, kDecodeError = 3;
constexpr unsigned kBursts = 16;           // accepted and not answered
constexpr unsigned kAskStopped = 1024;     // cycles from one look at the shell's wish to stop to the next
constexpr unsigned kStopCycles = 1 << 20;  // in which a role must end after that; otherwise it is reset, as on a board
constexpr unsigned kRegisterCycles = 4096;
constexpr unsigned kAskPacket = 16;  // cycles from one look for a packet of the host to the next
constexpr size_t kLongestPacket = 1 << 14;
constexpr uint32_t kLinks = 4;
constexpr uint64_t kSilence = 3000;      // cycles; a link sends a frame at least every 512, and reports 6,000
constexpr unsigned kPeerPatience = 500;  // milliseconds in which a slow peer is waited for
constexpr int kStopped = 4;

template <class Top>
class Simulation {
 public:
  explicit Simulation(const gs_role_shell* shell)
      : shell_(shell), context_(std::make_unique<VerilatedContext>()), top_(context_.get()) {
    for (unsigned i = 0; i < 8; i++) cycle();
    top_.rst_ni = 1;
    cycle();
  }
  ~Simulation() { top_.final(); }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  int run(uint32_t kernel, gs_role_result* result) {
    for (uint32_t i = 0; i < GS_ROLE_REGISTERS; i++)
      if (const uint32_t value = shell_->registers[i]) write_register(4 * i, value);
    top_.start_i = 1;
    top_.kernel_i = kernel;
    running_ = true;
    uint64_t cycles = 0, stop_at = 0;
    do {
      cycle();
      cycles++;
      top_.start_i = 0;
      top_.stop_i = 0;
      if (!stop_at && cycles % kAskStopped == 0 && shell_->stopped(shell_->shell)) {
        top_.stop_i = 1;
        stop_at = cycles;
      }
      if ((stop_at && cycles - stop_at > kStopCycles) || stopped_) return kStopped;
    } while (!top_.done_o);
    running_ = false;
    const int code = static_cast<int>(top_.code_o);
    result->address = top_.result_address_o;
    result->bytes = top_.result_bytes_o;
    result->cycles = cycles;
    cycle();
    for (uint32_t i = 0; i < GS_ROLE_REGISTERS; i++) {
      uint32_t value = 0;
      if (read_register(4 * i, value)) const_cast<volatile uint32_t*>(shell_->registers)[i] = value;
    }
    return code;
  }

  /// Message streams of the role.
  uint32_t streams() {
    if constexpr (StreamTop<Top>) return top_.streams_o;
    return 0;
  }

  /// Virtual links of the role.
  uint32_t links() {
    if constexpr (LinkTop<Top>) return std::min<uint32_t>(top_.role_links_o, kLinks);
    return 0;
  }

 private:
  struct Burst {
    uint64_t address;
    unsigned left;  // beats after this one
    bool error;
  };

  void cycle() {
    if constexpr (MemoryTop<Top>) memory();
    if constexpr (StreamTop<Top>) packets();
    if constexpr (LinkTop<Top>) link_frames();
    top_.clk_i = 0;
    top_.eval();
    // Transfers of this cycle.
    if constexpr (MemoryTop<Top>) transfer();
    if constexpr (StreamTop<Top>) transfer_packets();
    if constexpr (LinkTop<Top>) transfer_links();
    top_.clk_i = 1;
    top_.eval();
    context_->timeInc(1);
    cycles_++;
  }

  void memory() {
    top_.m_axi_arready_i = reads_.size() < kBursts;
    top_.m_axi_awready_i = writes_.size() < kBursts;
    top_.m_axi_rvalid_i = !reads_.empty();
    if (!reads_.empty()) {
      const Burst& read = reads_.front();
      uint64_t data = 0;
      if (inside(read)) std::memcpy(&data, shell_->memory + read.address, kBeat);
      top_.m_axi_rdata_i = data;
      top_.m_axi_rlast_i = read.left == 0;
      top_.m_axi_rresp_i = response(read);
    }
    top_.m_axi_wready_i = !writes_.empty();
    top_.m_axi_bvalid_i = !answers_.empty();
    if (!answers_.empty()) top_.m_axi_bresp_i = answers_.front();
  }

  void transfer() {
    if (top_.m_axi_rvalid_i && top_.m_axi_rready_o) next(reads_);
    if (top_.m_axi_bvalid_i && top_.m_axi_bready_o) answers_.pop_front();
    if (top_.m_axi_wvalid_o && top_.m_axi_wready_i) write(top_.m_axi_wdata_o, top_.m_axi_wstrb_o);
    if (top_.m_axi_arvalid_o && top_.m_axi_arready_i)
      reads_.push_back(burst(top_.m_axi_araddr_o, top_.m_axi_arlen_o, top_.m_axi_arsize_o, top_.m_axi_arburst_o));
    if (top_.m_axi_awvalid_o && top_.m_axi_awready_i)
      writes_.push_back(burst(top_.m_axi_awaddr_o, top_.m_axi_awlen_o, top_.m_axi_awsize_o, top_.m_axi_awburst_o));
  }

  // Packets to the role, and from it.
  void packets() {
    if (!shell_ || !running_) return;
    if (!sending_ && cycles_ % kAskPacket == 0)
      for (uint32_t s = 0; s < streams() && !sending_; s++) {
        const uint32_t stream = (next_stream_ + s) % streams();
        if (!(top_.wanted_o >> stream & 1)) continue;
        in_.resize(kLongestPacket);
        const long bytes = shell_->receive(shell_->shell, stream, in_.data(), in_.size(), 0);
        if (bytes < 0) continue;
        in_.resize(static_cast<size_t>(bytes));
        sending_ = true;
        in_at_ = 0;
        next_stream_ = (stream + 1) % streams();
        top_.s_axis_tdest_i = static_cast<uint8_t>(stream);
      }
    top_.m_axis_tready_i = 1;
    top_.s_axis_tvalid_i = sending_;
    if (!sending_) return;
    const size_t bytes = std::min<size_t>(in_.size() - in_at_, 4);
    uint32_t word = 0;
    if (bytes) std::memcpy(&word, in_.data() + in_at_, bytes);
    top_.s_axis_tdata_i = word;
    top_.s_axis_tkeep_i = static_cast<uint8_t>((1U << bytes) - 1);
    top_.s_axis_tlast_i = in_at_ + bytes == in_.size();
  }

  void transfer_packets() {
    if (top_.s_axis_tvalid_i && top_.s_axis_tready_o) {
      in_at_ += 4;
      if (top_.s_axis_tlast_i) sending_ = false;
    }
    if (!top_.m_axis_tvalid_o || !top_.m_axis_tready_i) return;
    const uint32_t word = top_.m_axis_tdata_o;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&word);
    out_.insert(out_.end(), bytes, bytes + std::popcount(unsigned{top_.m_axis_tkeep_o}));
    if (!top_.m_axis_tlast_o) return;
    // A failure is either a packet that no stream takes, or the end of the run.
    if (shell_->send(shell_->shell, top_.m_axis_tdest_o, out_.data(), out_.size()) && shell_->stopped(shell_->shell))
      stopped_ = true;
    out_.clear();
  }

  // Frames to the role's links, and from them.
  void link_frames() {
    top_.link_ready_i = 1;
    top_.link_valid_i = 0;
    top_.link_error_i = 0;
    if (!shell_ || !running_) return;
    if (link_at_ == link_in_.size()) {
      // After a frame, the next one is looked for at once.
      if (link_in_.empty() && cycles_ % kAskPacket) return;
      receive_frame(0);
      if (link_in_.empty()) wait_for_peers();
      if (link_in_.empty()) return;
    }
    top_.link_valid_i = 1;
    top_.link_data_i = link_in_[link_at_++];
    top_.link_last_i = link_at_ == link_in_.size();
  }

  void receive_frame(int timeout_ms) {
    link_in_.resize(kLongestPacket);
    uint32_t link = 0;
    const long bytes = shell_->link_receive(shell_->shell, &link, link_in_.data(), link_in_.size(), timeout_ms);
    link_in_.resize(bytes > 0 && link < links() ? std::min(static_cast<size_t>(bytes), link_in_.size()) : 0);
    link_at_ = 0;
    if (link_in_.empty()) return;
    heard_[link] = cycles_;
    known_[link] = true;
    top_.link_dest_i = static_cast<uint8_t>(link);
  }

  /// The model stalls while a peer that has sent frames before is silent, so that no link reports the silence of a peer
  /// that the operating system has not scheduled. A peer that stays silent is given up until it is heard again.
  void wait_for_peers() {
    const auto silent = [this](unsigned link) { return known_[link] && cycles_ - heard_[link] > kSilence; };
    if (!silent(0) && !silent(1) && !silent(2) && !silent(3)) return;
    for (unsigned waited = 0; waited < kPeerPatience && link_in_.empty() && !shell_->stopped(shell_->shell); waited++)
      receive_frame(1);
    if (!link_in_.empty()) return;
    for (unsigned link = 0; link < kLinks; link++) known_[link] = known_[link] && !silent(link);
  }

  void transfer_links() {
    if (!top_.link_valid_o || !shell_) return;
    link_out_.push_back(top_.link_data_o);
    if (!top_.link_last_o) return;
    shell_->link_send(shell_->shell, top_.link_dest_o, link_out_.data(), link_out_.size());
    link_out_.clear();
  }

  static Burst burst(uint64_t address, unsigned length, unsigned size, unsigned kind) {
    return {address, length, size != kBeatSize || kind != kIncrementing || address % kBeat != 0};
  }
  bool inside(const Burst& one) const {
    return !one.error && one.address <= shell_->memory_bytes && shell_->memory_bytes - one.address >= kBeat;
  }
  unsigned response(const Burst& one) const { return one.error ? kSlaveError : inside(one) ? 0 : kDecodeError; }

  static void next(std::deque<Burst>& bursts) {
    Burst& one = bursts.front();
    one.address += kBeat;
    if (one.left-- == 0) bursts.pop_front();
  }

  void write(uint64_t data, unsigned strobes) {
    const Burst& one = writes_.front();
    worst_ = std::max(worst_, response(one));
    for (unsigned i = 0; i < kBeat && inside(one); i++)
      if (strobes >> i & 1) shell_->memory[one.address + i] = static_cast<uint8_t>(data >> (8 * i));
    if (one.left == 0) answers_.push_back(static_cast<uint8_t>(std::exchange(worst_, 0)));
    next(writes_);
  }

  void write_register(uint32_t address, uint32_t value) {
    top_.s_axil_awvalid_i = top_.s_axil_wvalid_i = top_.s_axil_bready_i = 1;
    top_.s_axil_awaddr_i = address & 0xFF;
    top_.s_axil_wdata_i = value;
    top_.s_axil_wstrb_i = 15;
    bool answered = false;
    for (unsigned i = 0; i < kRegisterCycles && !answered; i++) {
      settle();
      const bool address_taken = top_.s_axil_awready_o, data_taken = top_.s_axil_wready_o;
      answered = top_.s_axil_bvalid_o;
      cycle();
      if (address_taken) top_.s_axil_awvalid_i = 0;
      if (data_taken) top_.s_axil_wvalid_i = 0;
    }
    top_.s_axil_awvalid_i = top_.s_axil_wvalid_i = top_.s_axil_bready_i = 0;
  }

  bool read_register(uint32_t address, uint32_t& value) {
    top_.s_axil_arvalid_i = top_.s_axil_rready_i = 1;
    top_.s_axil_araddr_i = address & 0xFF;
    bool answered = false, good = false;
    for (unsigned i = 0; i < kRegisterCycles && !answered; i++) {
      settle();
      const bool taken = top_.s_axil_arready_o;
      answered = top_.s_axil_rvalid_o;
      if (answered) {
        value = top_.s_axil_rdata_o;
        good = top_.s_axil_rresp_o == 0;
      }
      cycle();
      if (taken) top_.s_axil_arvalid_i = 0;
    }
    top_.s_axil_arvalid_i = top_.s_axil_rready_i = 0;
    return good;
  }

  /// The outputs of this cycle.
  void settle() {
    top_.clk_i = 0;
    top_.eval();
  }

  const gs_role_shell* shell_;
  std::unique_ptr<VerilatedContext> context_;
  Top top_;
  uint64_t cycles_ = 0;
  bool running_ = false, sending_ = false, stopped_ = false;
  std::vector<uint8_t> in_, out_;  // the packet to the role, that of the role so far
  size_t in_at_ = 0;
  uint32_t next_stream_ = 0;
  std::vector<uint8_t> link_in_, link_out_;  // the frame to a link of the role, that of the role so far
  size_t link_at_ = 0;
  uint64_t heard_[kLinks] = {};  // the cycle of the last frame of each link's peer, which has sent some
  bool known_[kLinks] = {};
  std::deque<Burst> reads_, writes_;
  std::deque<uint8_t> answers_;  // of written bursts
  unsigned worst_ = 0;           // response of the burst that is written
};

int run(const gs_role_shell* shell, uint32_t kernel, gs_role_result* result) {
  return Simulation<GS_ROLE_TOP>(shell).run(kernel, result);
}

uint32_t streams() { return Simulation<GS_ROLE_TOP>(nullptr).streams(); }
uint32_t links() { return Simulation<GS_ROLE_TOP>(nullptr).links(); }

}  // namespace

extern "C" __attribute__((visibility("default")))
const gs_role gs_role_entry = {GS_ROLE_VERSION, 1, GS_ROLE_NAME, streams(), run, links()};
