// SPDX-License-Identifier: Apache-2.0
#include <HostLink.h>
#include <gossamer/device_config.h>
#include <gossamer/host/job.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "board.h"

namespace gossamer::host {
namespace {

// Keys and bits of device/include/gossamer/hosted.h.
constexpr uint32_t kAsked = 1, kWrongPin = 3, kWrongEdge = 5;
constexpr uint32_t kToVertex = 0x80000000, kStop = 0xFFFFFFFE, kAnswer = 0xFFFFFFFF;
constexpr uint32_t kSpoke = 1, kClosed = 2;
constexpr uint32_t kGate = 0;  ///< address of the first thread
constexpr uint32_t kFlitBytes = config::mailbox::flit_bytes;

constexpr unsigned kStopPolls = 4000;  ///< within which an aborted run must end

/// The unfinished run; there is at most one.
const Job* running = nullptr;

using Words = std::array<uint32_t, kMessageBytes / 4>;

}  // namespace

struct Job::Link {
  std::shared_ptr<Board> board = Board::open();
  HostLink host;

  void send(uint32_t thread, Words& words, size_t bytes) {
    host.send(thread, static_cast<uint32_t>((bytes + kFlitBytes - 1) / kFlitBytes), words.data());
  }
};

Job::Job(Vertices graph, const void* states) : graph_(std::move(graph)) {
  if (running) throw std::runtime_error("start: the boards still run another graph; take its messages to the end");
  graph_.map();
  link_ = std::make_unique<Link>();
  begin(states);
}

void Job::go(Vertices graph, const void* states) {
  if (running) throw std::runtime_error("go: the boards still run another graph; take its messages to the end");
  graph_ = std::move(graph);
  graph_.map();
  asked_ = spoke_ = closed_ = over_ = false;
  begin(states);
}

void Job::begin(const void* states) {
  const std::string folder = std::getenv("GOSSAMER_POLITE");
  link_->host.boot((folder + "/code.v").c_str(), (folder + "/data.v").c_str());
  graph_.write(states);
  address_by_key();
  link_->host.go();
  running = this;
}

Job::~Job() {
  if (running == this && !over_) stop();
  if (running == this && over_) running = nullptr;
}

void Job::stop() {
  Words words{};
  words[0] = kStop;
  for (uint32_t y = 0; y < Board::boards_y(); ++y) {
    for (uint32_t x = 0; x < Board::boards_x(); ++x) {
      for (uint32_t thread = 0; thread < TinselThreadsPerBoard; ++thread) {
        link_->send(link_->host.toAddr(x, y, thread / TinselThreadsPerCore, thread % TinselThreadsPerCore), words, 4);
      }
    }
  }
  const Board::Lock lock(*link_->board);
  Simulator& simulator = link_->board->sim();
  for (unsigned polls = 0; !over_ && polls < kStopPolls; ++polls) {
    simulator.messages.clear();
    const Woke woke = simulator.wait("the end of a Job", sim::kMessages, 0, kPoll, false, 1);
    over_ = woke == Woke::AllEnded;
    if (woke == Woke::Deadlock) return;
  }
  simulator.messages.clear();
}

void Job::send(uint32_t vertex, const void* message) {
  Words words{};
  words[0] = kToVertex | graph_.locals[vertex] * std::max<uint32_t>(2, graph_.stateBytes);
  std::memcpy(&words[1], message, graph_.messageBytes);
  spoke_ = true;
  link_->send(graph_.threads[vertex], words, 4 + graph_.messageBytes);
}

void Job::take() {
  const Board::Lock lock(*link_->board);
  auto& messages = link_->board->sim().messages;
  for (; !messages.empty(); messages.pop_front()) {
    Words words;
    std::memcpy(words.data(), messages.front().data(), sizeof words);
    if (words[0] == kAsked) {
      asked_ = true;
    } else if (words[0] == kWrongPin || words[0] == kWrongEdge) {
      uint32_t vertex = 0;
      while (graph_.threads[vertex] != words[3] || graph_.locals[vertex] != words[2]) ++vertex;
      const bool pin = words[0] == kWrongPin;
      const auto& rows = graph_.pins.at(0).offsets;
      const uint64_t count = pin ? graph_.pins.size() : rows[vertex + 1] - rows[vertex];
      throw std::runtime_error("vertex " + std::to_string(vertex) + " sends " + (pin ? "on pin " : "along its edge ") +
                               std::to_string(words[1]) + (pin ? ", but the graph has " : ", but it has ") +
                               std::to_string(count) + (pin ? " pin" : " edge") + (count == 1 ? "" : "s"));
    } else {
      const auto* payload = reinterpret_cast<const uint8_t*>(&words[1]);
      up_.emplace_back(payload, payload + graph_.messageBytes);
    }
  }
}

void Job::answer() {
  if (!asked_) return;
  Words words{};
  words[0] = kAnswer;
  words[1] = (spoke_ ? kSpoke : 0) | (closed_ ? kClosed : 0);
  asked_ = spoke_ = false;
  link_->send(kGate, words, 8);
}

/// Lets time pass until a message arrives or the run is over, at most `cycles` if that is not 0. Returns whether more
/// may arrive.
bool Job::wait(uint64_t cycles) {
  {
    const Board::Lock lock(*link_->board);
    Simulator& simulator = link_->board->sim();
    if (!simulator.messages.empty()) return true;
    const Woke woke = simulator.wait("Job::recv", sim::kMessages, 0, cycles, false, 1);
    if (woke == Woke::Deadlock) simulator.died("Job::recv", "deadlock");
    if (woke != Woke::AllEnded || !simulator.messages.empty()) return true;
    over_ = true;
    running = nullptr;
  }
  const bool limited = std::getenv("GOSSAMER_MAX_STEPS") != nullptr;
  if (limited && graph_.gaveUp()) link_->board->sim().died("Job::recv", "max-steps");
  return false;
}

bool Job::recv(void* message) {
  for (take(); up_.empty() && !over_; take()) {
    answer();
    wait(0);
  }
  if (up_.empty()) return false;
  std::memcpy(message, up_.front().data(), graph_.messageBytes);
  up_.pop_front();
  return true;
}

bool Job::canRecv() {
  take();
  if (up_.empty() && !over_) {
    answer();
    wait(kPoll);
    take();
  }
  return !up_.empty() || over_;
}

Vertices::Results Job::results(void* states) const {
  Vertices::Results found = graph_.read(states);
  link_->board->sim().note("retired " + std::to_string(found.retired));
  return found;
}

void Job::finish() {
  close();
  for (take(); !over_; take()) {
    answer();
    wait(0);
  }
}

}  // namespace gossamer::host
