// SPDX-License-Identifier: Apache-2.0
/// Packets of one flit between hosts and the control units of boards (control_op in config/constants/fabric.toml).
#pragma once

#include <cstring>

#include "flit.h"

namespace gossamer::sim {

/// A packet of one flit to a board's control unit, or from it.
struct ControlFlit {
  /// The contents of a flit, as one of the layouts control_*.
  template <typename Layout>
  static Layout read(const Flit& flit) {
    config::Words<128> payload;
    std::memcpy(payload.word, flit.words.data(), sizeof payload.word);
    return Layout::unpack(payload);
  }
  static config::ControlOp op(const Flit& flit) { return static_cast<config::ControlOp>(flit.words[0] & 0xF); }

  /// The flit to a board's control unit, of a job.
  template <typename Layout>
  static Flit to(unsigned board, const Layout& contents, unsigned job = 0) {
    using Address = config::AddressControl;
    Flit flit;
    const auto payload = contents.pack();
    std::memcpy(flit.words.data(), payload.word, sizeof payload.word);
    flit.dest() = static_cast<uint32_t>(config::Endpoint::Control) << Address::kKindLsb | board << Address::kBoardLsb;
    const auto side = [&](unsigned lsb, auto value) {
      flit.words[lsb / 32] |= static_cast<uint32_t>(value) << lsb % 32;
    };
    side(config::Flit::kKindLsb, config::FlitKind::Body);
    side(config::Flit::kLastLsb, 1);
    side(config::Flit::kVnetLsb, config::Vnet::Control);
    side(config::Flit::kJobLsb, job);
    return flit;
  }
  /// Whether a flit is such a packet, and to which board.
  static bool is_to_board(const Flit& flit) {
    return flit.endpoint() == config::Endpoint::Control && flit.is(config::FlitKind::Body) &&
           static_cast<config::Vnet>(flit.network()) == config::Vnet::Control;
  }
  static unsigned board(const Flit& flit) {
    using Address = config::AddressControl;
    return flit.dest() >> Address::kBoardLsb & ((1U << Address::kBoardBits) - 1);
  }
};

}  // namespace gossamer::sim
