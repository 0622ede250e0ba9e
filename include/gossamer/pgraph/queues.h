// SPDX-License-Identifier: Apache-2.0
/// What carries messages between a host and its graph, here or on boards. A part of pgraph.h.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gossamer/engine.h"
#include "gossamer/pgraph/config.h"
#ifdef GOSSAMER_BOARDS  // compiled for the engine rtl
#include <gossamer/host/job.h>
#endif

namespace gossamer {

namespace detail {

/// What is the same of a run on boards as of one on this machine.
inline void checkSend(bool over, bool closed, uint32_t vertex) {
  // The host's own mistake first: whether the run is over by then is a matter of time.
  if (closed) throw Error("send: the host has closed its end; send before close() or wait()");
  if (over) throw Error("send: the run is over, nothing hears the message to vertex " + std::to_string(vertex));
}

inline void checkVertex(const std::string& what, uint32_t vertex, size_t count) {
  if (vertex < count) return;
  throw Error(what + ": there is no vertex " + std::to_string(vertex) + "; the graph has " + std::to_string(count));
}

inline void checkPin(unsigned pin) {
  if (pin < MaxPins) return;
  throw Error("addEdge: pin " + std::to_string(pin) + " is above the last, " + std::to_string(MaxPins - 1));
}

/// Two queues between the host's thread and the engine's.
template <typename M>
class HostQueues final : public HostEnd {
 public:
  // The engine's side.
  void fromVertex(const void* message) override {
    const std::lock_guard lock(mutex_);
    up_.push_back(*static_cast<const M*>(message));
    host_.notify_one();
  }
  bool toVertex(uint32_t& vertex, void* message) override {
    if (!said_.load(std::memory_order_acquire)) return false;
    const std::lock_guard lock(mutex_);
    if (down_.empty()) {
      said_.store(false, std::memory_order_relaxed);
      return false;
    }
    vertex = down_.front().first;
    *static_cast<M*>(message) = down_.front().second;
    down_.pop_front();
    return true;
  }
  bool waitIdle() override {
    std::unique_lock lock(mutex_);
    engine_.wait(lock, [&] { return !down_.empty() || closed_ || (waiting_ && up_.empty()); });
    return !down_.empty();
  }
  /// For another part of the run. Messages from vertices stay where they are.
  void reopen() {
    const std::lock_guard lock(mutex_);
    closed_ = over_ = lost_ = false;
    down_.clear();
  }
  void over() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    lost_ = !down_.empty();
    host_.notify_all();
  }

  // The host's side.
  void send(uint32_t vertex, const M& message) {
    const std::lock_guard lock(mutex_);
    checkSend(over_, closed_, vertex);
    down_.emplace_back(vertex, message);
    said_.store(true, std::memory_order_release);
    engine_.notify_one();
  }
  std::optional<M> recv() {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    engine_.notify_one();
    host_.wait(lock, [&] { return !up_.empty() || over_; });
    waiting_ = false;
    if (up_.empty()) return std::nullopt;
    M message = up_.front();
    up_.pop_front();
    return message;
  }
  /// Whether recv() would not wait. If it would, the host counts as waiting for a moment: a run whose host only polls
  /// goes on, too.
  bool canRecv() {
    std::unique_lock lock(mutex_);
    if (!up_.empty() || over_) return true;
    waiting_ = true;
    engine_.notify_one();
    const bool came = host_.wait_for(lock, std::chrono::milliseconds(1), [&] { return !up_.empty() || over_; });
    waiting_ = false;
    return came;
  }
  /// Whether a message was sent that came behind the end, when it was on its way already.
  bool lost() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lost_, false);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    engine_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable engine_;
  std::condition_variable host_;
  std::deque<M> up_;
  std::deque<std::pair<uint32_t, M>> down_;
  std::atomic<bool> said_{false};
  bool waiting_ = false;
  bool closed_ = false;
  bool over_ = false;
  bool lost_ = false;
};

#ifdef GOSSAMER_BOARDS
using Boards = host::Job;
#else
/// There are none.
struct Boards {
  struct Results {
    uint64_t steps, sends, deliveries, hostMessages;
    std::vector<int64_t> aggregates;
  };
  bool over() const { return false; }
  bool closed() const { return false; }
  void send(uint32_t, const void*) {}
  bool recv(void*) { return false; }
  bool canRecv() { return false; }
  void close() {}
  void finish() {}
  bool lost() const { return false; }
  template <typename Graph>
  void go(Graph&&, const void*) {}
  Results results(void*) const { return {}; }
};
#endif

}  // namespace detail

}  // namespace gossamer
