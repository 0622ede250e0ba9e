// SPDX-License-Identifier: Apache-2.0
/// Text that threads print: bytes that the simulator reports become lines, each with the thread that printed it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "board.h"

namespace gossamer::host {

class ThreadOutput {
 public:
  /// Writes the complete lines among the received bytes, and adds their number to `count` if that is given. False if no
  /// byte was received.
  bool print(Board& board, FILE* out, uint32_t* count);
  /// Prints until `wanted` lines are written or, if that is 0, until all threads have ended; then also lines without an
  /// end. `flush` runs before each wait.
  void dump(Board& board, const char* call, FILE* out, uint32_t wanted, const std::function<void()>& flush);

 private:
  void write_line(FILE* out, uint32_t thread);

  std::map<uint32_t, std::string> lines_;  ///< by thread: a line without its end so far
  uint32_t most_ = 0;                      ///< lines that `dump` is to print; 0: no limit
};

}  // namespace gossamer::host
