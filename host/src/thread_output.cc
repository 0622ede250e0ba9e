// SPDX-License-Identifier: Apache-2.0
#include "thread_output.h"

namespace gossamer::host {

namespace {

constexpr size_t kLongestLine = 1024;

}  // namespace

bool ThreadOutput::print(Board& board, FILE* out, uint32_t* count) {
  auto& received = board.sim().output;
  if (received.empty()) return false;
  // Stops after the line that completes the count.
  while (!received.empty()) {
    const auto byte = received.front();
    received.pop_front();
    std::string& line = lines_[byte.thread];
    if (byte.byte != '\n') line.push_back(static_cast<char>(byte.byte));
    if (byte.byte != '\n' && line.size() < kLongestLine) continue;
    write_line(out, byte.thread);
    if (count) ++*count;
    if (count && most_ && *count >= most_) break;
  }
  return true;
}

void ThreadOutput::write_line(FILE* out, uint32_t thread) {
  const ThreadLocation location = Board::location(thread);
  std::string& line = lines_[thread];
  std::fprintf(out, "%u:%u:%u:%u: %s\n", location.board % Board::boards_x(), location.board / Board::boards_x(),
               location.core, location.thread, line.c_str());
  line.clear();
}

void ThreadOutput::dump(Board& board, const char* call, FILE* out, uint32_t wanted,
                        const std::function<void()>& flush) {
  uint32_t count = 0;
  most_ = wanted;
  while (!wanted || count < wanted) {
    flush();
    if (print(board, out, &count)) continue;
    std::fflush(out);
    if (board.wait(call, sim::kBytes, 0, [&] { return !board.sim().output.empty(); })) continue;
    if (wanted) board.fail_deadlocked(call);
    for (const auto& [thread, line] : std::map<uint32_t, std::string>(lines_)) {
      if (!line.empty()) write_line(out, thread);
    }
    break;
  }
  most_ = 0;
  std::fflush(out);
}

}  // namespace gossamer::host
