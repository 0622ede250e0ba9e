// SPDX-License-Identifier: Apache-2.0
/// Debug buses of a cluster's tiles, in packets of a host's port (control_debug, control_report), and the packets that
/// name the tiles of a run (control_begin).
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "control_flit.h"
#include "tile_host.h"

namespace gossamer::sim {

/// A functor `send`, given to the members, sends a flit to a control unit.
class DebugPort {
 public:
  /// `tiles` are the `count` tiles of all boards, board by board.
  DebugPort(TileHost* tiles, unsigned board_tiles, unsigned count)
      : tiles_(tiles), board_tiles_(board_tiles), flying_(count) {}

  /// Remaining work: bytes, credits and answers that are outstanding.
  uint32_t exchanging() const {
    uint32_t sum = begins_;
    for (unsigned t = 0; t < flying_.size(); ++t) sum += flying_[t] + tiles_[t].exchanging();
    return sum;
  }

  /// Notes the job slot that a packet sets.
  void on_send(const Flit& flit) {
    if (!ControlFlit::is_to_board(flit) || ControlFlit::op(flit) != config::ControlOp::Job) return;
    const auto job = ControlFlit::read<config::ControlJob>(flit);
    slots_[{ControlFlit::board(flit), job.place}] = job.tiles;
  }

  /// Names the tiles of a board whose threads are about to be started to their jobs' slots: with `add` in addition to
  /// tiles that were named before, else at the begin of a run.
  template <typename Send>
  void expect(unsigned board, uint64_t tiles, bool add, Send send) {
    for (const auto& [at, mask] : slots_) {
      if (at.first != board || (add && !(mask & tiles))) continue;
      config::ControlBegin begin;
      begin.tiles = mask & tiles;
      begin.add = add;
      begin.place = static_cast<uint8_t>(at.second);
      begin.op_code = config::ControlOp::Begin;
      send(ControlFlit::to(board, begin));
      ++begins_;
    }
  }

  /// Sends what the windows allow.
  template <typename Send>
  void pump(uint64_t cycle, Send send) {
    for (unsigned t = 0; t < flying_.size(); ++t) pump(t, cycle, send);
  }

  /// Handles a packet that has arrived, and sends what it permits; false if the packet is for somebody else.
  template <typename Send>
  bool take(const std::vector<Flit>& packet, uint64_t cycle, Send send) {
    const Flit& flit = packet.front();
    if (!flit.is(config::FlitKind::Header)) return false;
    if (ControlFlit::op(flit) == config::ControlOp::Answer) {
      const auto answer = ControlFlit::read<config::ControlAnswer>(flit);
      if (answer.asked != config::ControlOp::Begin) return false;
      if (answer.rejection != config::Rejection{}) fatal("a board rejects the begin of a run");
      if (begins_) --begins_;
      return true;
    }
    if (ControlFlit::op(flit) != config::ControlOp::Report) return false;
    const auto report = ControlFlit::read<config::ControlReport>(flit);
    const unsigned t = report.board * board_tiles_ + report.tile;
    if (report.tile >= board_tiles_ || t >= flying_.size() || report.credits > flying_[t] || report.count > kBytes) {
      fatal("a report of a board is invalid");
    }
    flying_[t] -= report.credits;
    tiles_[t].on_progress(cycle);
    for (unsigned i = 0; i < report.count; ++i) {
      tiles_[t].receive(static_cast<uint8_t>(report.bytes.get(8 * i, 8)), cycle);
    }
    pump(t, cycle, send);
    return true;
  }

 private:
  static constexpr unsigned kBytes = config::debug_packet_bytes, kWindow = config::debug_window;

  template <typename Send>
  void pump(unsigned t, uint64_t cycle, Send send) {
    Bus& bus = tiles_[t].bus();
    while (bus.pending() && flying_[t] < kWindow) {
      config::ControlDebug debug;
      for (debug.count = 0; debug.count < kBytes && bus.pending(); ++debug.count, bus.pop()) {
        debug.bytes.put(8 * debug.count, 8, bus.head());
      }
      debug.tile = static_cast<uint8_t>(t % board_tiles_);
      debug.op_code = config::ControlOp::Debug;
      send(ControlFlit::to(t / board_tiles_, debug));
      ++flying_[t];
      tiles_[t].on_progress(cycle);
    }
  }

  TileHost* tiles_;
  const unsigned board_tiles_;
  std::vector<unsigned> flying_;  ///< by tile: packets whose credit has not returned
  uint32_t begins_ = 0;           ///< control_begin without an answer yet
  std::map<std::pair<unsigned, unsigned>, uint64_t> slots_;  ///< tiles of a job, by board and slot
};

}  // namespace gossamer::sim
