// SPDX-License-Identifier: Apache-2.0
#include <DebugLink.h>
#include <gossamer/device_config.h>

#include <string>
#include <vector>

#include "board.h"

using gossamer::host::Board;
using gossamer::host::reject_call;
using gossamer::host::ThreadLocation;

/// Destination of `put` on a board.
struct DebugLink::Dest {
  bool all = false;  ///< cores
  uint32_t core = 0;
  uint32_t thread = 0;
};

DebugLink::DebugLink(DebugLinkParams params) {
  if (params.numBoxesX != 1 || params.numBoxesY != 1) {
    const std::string there = std::to_string(Board::boards_x()) + " x " + std::to_string(Board::boards_y());
    reject_call("HostLink", std::to_string(params.numBoxesX) + " x " + std::to_string(params.numBoxesY) +
                            " boxes are requested, but all simulated boards are one box, of " + there +
                            (Board::boards_x() * Board::boards_y() == 1 ? " board" : " boards") +
                            "; request 1 x 1 boxes (HOSTLINK_BOXES_X, HOSTLINK_BOXES_Y), and use a larger --cluster");
  }
  board_ = Board::open();
  boxMeshXLen = meshXLen = static_cast<int>(Board::boards_x());
  boxMeshYLen = meshYLen = static_cast<int>(Board::boards_y());
  dest_ = std::make_unique<Dest[]>(Board::boards_x() * Board::boards_y());
}

DebugLink::~DebugLink() = default;

void DebugLink::setDest(uint32_t boardX, uint32_t boardY, uint32_t coreId, uint32_t threadId) {
  const char* call = "DebugLink::setDest";
  const Board::Lock lock(*board_);
  board_->address(call, boardX, boardY, coreId, threadId);
  dest_[board_->board(call, boardX, boardY)] = {false, coreId, threadId};
}

void DebugLink::setBroadcastDest(uint32_t boardX, uint32_t boardY, uint32_t threadId) {
  const char* call = "DebugLink::setBroadcastDest";
  const Board::Lock lock(*board_);
  board_->address(call, boardX, boardY, 0, threadId);
  dest_[board_->board(call, boardX, boardY)] = {true, 0, threadId};
}

void DebugLink::put(uint32_t boardX, uint32_t boardY, uint8_t byte) {
  const Board::Lock lock(*board_);
  const uint32_t board = board_->board("DebugLink::put", boardX, boardY);
  const Dest dest = dest_[board];
  const uint32_t first = board * TinselCoresPerBoard;
  std::vector<uint32_t> start;
  for (uint32_t core = first + dest.core; core < first + (dest.all ? TinselCoresPerBoard : dest.core + 1); ++core) {
    // The first thread of a prepared core starts when it receives a byte.
    if (dest.thread == 0 && board_->is_ready(core)) {
      start.push_back(core);
    } else {
      board_->sim().input(core * TinselThreadsPerCore + dest.thread, byte);
    }
  }
  if (!start.empty()) board_->go(start);
}

void DebugLink::get(uint32_t* boardX, uint32_t* boardY, uint32_t* coreId, uint32_t* threadId, uint8_t* byte) {
  const char* call = "DebugLink::get";
  const Board::Lock lock(*board_);
  auto& output = board_->sim().output;
  if (!board_->wait(call, gossamer::sim::kBytes, 0, [&] { return !output.empty(); })) board_->fail_deadlocked(call);
  const ThreadLocation location = Board::location(output.front().thread);
  *boardX = location.board % Board::boards_x();
  *boardY = location.board / Board::boards_x();
  *coreId = location.core;
  *threadId = location.thread;
  *byte = output.front().byte;
  output.pop_front();
}

bool DebugLink::canGet() {
  const Board::Lock lock(*board_);
  return board_->poll("DebugLink::canGet", gossamer::sim::kBytes, 0, [this] { return !board_->sim().output.empty(); });
}

int32_t DebugLink::getBoardTemp(uint32_t boardX, uint32_t boardY) {
  board_->board("DebugLink::getBoardTemp", boardX, boardY);
  return 25;
}

int32_t DebugLink::getBridgeTemp(uint32_t boxX, uint32_t boxY) {
  if (boxX || boxY) reject_call("DebugLink::getBridgeTemp", "there is one box, 0,0");
  return 25;
}
