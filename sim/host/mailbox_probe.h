// SPDX-License-Identifier: Apache-2.0
/// Events at a tile's mailbox in a cycle, read from simulation-only signals of gs_sim_mailbox.
#pragma once

#include "flit.h"
#include "probe.h"

namespace gossamer::sim {

class MailboxProbe {
 public:
  /// Finds the mailboxes of `tiles` tiles in one context; false if their number differs. A model without mailboxes
  /// never reports events.
  static bool find(VerilatedContext& context, MailboxProbe* probes, unsigned tiles) {
    const auto found = Probe::scopes(context, "sim_send");
    if (found.empty()) return true;
    if (found.size() != tiles) return false;
    for (unsigned t = 0; t < tiles; ++t) {
      if (!probes[t].find(*found[t])) return false;
    }
    return true;
  }

  /// Bits that toggle with each event.
  struct Toggles {
    bool send = false, out = false, far = false, in = false, deal = false;
  };
  Toggles toggles() const {
    if (!send_) return {};
    return {*send_ != 0, *out_ != 0, *far_ != 0, *in_ != 0, *deal_ != 0};
  }

  uint8_t send_thread() const { return *send_thread_; }
  uint8_t send_route() const { return *send_route_; }
  uint8_t send_kind() const { return *send_kind_; }
  uint32_t send_dest() const { return *send_dest_; }
  uint64_t send_head() const { return *send_head_; }
  const Flit& out_flit() const { return *reinterpret_cast<const Flit*>(out_flit_); }
  const Flit& far_flit() const { return *reinterpret_cast<const Flit*>(far_flit_); }
  bool in_local() const { return *in_local_; }
  /// At the last flit of a packet: whether the mailbox dropped it.
  bool in_dropped() const { return *in_dropped_; }
  const Flit& in_flit() const { return *reinterpret_cast<const Flit*>(in_flit_); }
  uint64_t deal_mask() const { return *deal_mask_; }

 private:
  bool find(const VerilatedVarNameMap& vars) {
    return Probe::at(vars, "sim_send", send_) && Probe::at(vars, "sim_send_thread", send_thread_) &&
           Probe::at(vars, "sim_send_route", send_route_) && Probe::at(vars, "sim_send_kind", send_kind_) &&
           Probe::at(vars, "sim_send_dest", send_dest_) && Probe::at(vars, "sim_send_head", send_head_) &&
           Probe::at(vars, "sim_out", out_) && Probe::at(vars, "sim_out_flit", out_flit_) &&
           Probe::at(vars, "sim_far", far_) && Probe::at(vars, "sim_far_flit", far_flit_) &&
           Probe::at(vars, "sim_in", in_) && Probe::at(vars, "sim_in_local", in_local_) &&
           Probe::at(vars, "sim_in_dropped", in_dropped_) && Probe::at(vars, "sim_in_flit", in_flit_) &&
           Probe::at(vars, "sim_deal", deal_) && Probe::at(vars, "sim_deal_mask", deal_mask_);
  }

  const uint8_t *send_ = nullptr, *send_thread_ = nullptr, *send_route_ = nullptr, *send_kind_ = nullptr;
  const uint8_t *out_ = nullptr, *far_ = nullptr;
  const uint8_t *in_ = nullptr, *in_local_ = nullptr, *in_dropped_ = nullptr, *deal_ = nullptr;
  const uint32_t *send_dest_ = nullptr, *out_flit_ = nullptr, *far_flit_ = nullptr, *in_flit_ = nullptr;
  const uint64_t *send_head_ = nullptr, *deal_mask_ = nullptr;
};

}  // namespace gossamer::sim
