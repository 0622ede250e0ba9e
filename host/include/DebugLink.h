// SPDX-License-Identifier: Apache-2.0
/// Bytes to and from threads: output of tinselUartTryPut, putchar and printf, input of tinselUartTryGet. The interface
/// is that of Tinsel 0.8.3.
#pragma once

#include <config.h>
#include <stdint.h>

#include <memory>

namespace gossamer::host {
class Board;
}

struct DebugLinkParams {
  uint32_t numBoxesX = 1;
  uint32_t numBoxesY = 1;
  bool useExtraSendSlot = false;    ///< ignored
  int max_connection_attempts = 5;  ///< ignored
};

class DebugLink {
 public:
  explicit DebugLink(DebugLinkParams params);
  ~DebugLink();
  DebugLink(const DebugLink&) = delete;
  DebugLink& operator=(const DebugLink&) = delete;

  /// Boards in a row of a box, and rows.
  int boxMeshXLen;
  int boxMeshYLen;
  /// Boards in a row, and rows.
  int meshXLen;
  int meshYLen;

  /// Selects a thread of a board, or the same thread of each of its cores, as destination of `put`.
  void setDest(uint32_t boardX, uint32_t boardY, uint32_t coreId, uint32_t threadId);
  void setBroadcastDest(uint32_t boardX, uint32_t boardY, uint32_t threadId);
  /// Sends a byte to the selected thread or threads of a board.
  void put(uint32_t boardX, uint32_t boardY, uint8_t byte);
  /// Waits for a byte from any thread.
  void get(uint32_t* boardX, uint32_t* boardY, uint32_t* coreId, uint32_t* threadId, uint8_t* byte);
  /// Whether a byte has arrived; lets a little time pass if not.
  bool canGet();

  /// Degrees Celsius. A simulated board is always at 25.
  int32_t getBoardTemp(uint32_t boardX, uint32_t boardY);
  int32_t getBridgeTemp(uint32_t boxX, uint32_t boxY);

 private:
  struct Dest;

  std::shared_ptr<gossamer::host::Board> board_;
  std::unique_ptr<Dest[]> dest_;
};
