// SPDX-License-Identifier: Apache-2.0
/// Message queues between a host and its graph, here or on boards. Part of pgraph.h.
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

/// The checks that are common to runs on boards and on this machine.
inline void checkSend(bool over, bool closed, uint32_t vertex) {
  // The host's own mistake first: its detection must not depend on whether the run happens to be over.
  if (closed) throw Error("send: the host has closed its end; send before close() or wait()");
  if (over)
    throw Error("send: the run is over, so there is no receiver for the message to vertex " + std::to_string(vertex));
}

inline void checkVertex(const std::string& what, uint32_t vertex, size_t count) {
  if (vertex < count) return;
  throw Error(what + ": there is no vertex " + std::to_string(vertex) + "; the graph has " + std::to_string(count));
}

inline void checkPin(unsigned pin) {
  if (pin < MaxPins) return;
  throw Error("addEdge: pin " + std::to_string(pin) + " is above the last, " + std::to_string(MaxPins - 1));
}

/// Two queues, between the host's thread and the engine's.
template <typename M>
class HostQueues final : public HostEnd {
 public:
  // The engine's side.
  void fromVertex(const void* message) override {
    const std::lock_guard lock(mutex_);
    toHost_.push_back(*static_cast<const M*>(message));
    host_.notify_one();
  }
  bool toVertex(uint32_t& vertex, void* message) override {
    if (!pending_.load(std::memory_order_acquire)) return false;
    const std::lock_guard lock(mutex_);
    if (toGraph_.empty()) {
      pending_.store(false, std::memory_order_relaxed);
      return false;
    }
    vertex = toGraph_.front().first;
    *static_cast<M*>(message) = toGraph_.front().second;
    toGraph_.pop_front();
    return true;
  }
  bool waitIdle() override {
    std::unique_lock lock(mutex_);
    engine_.wait(lock, [&] { return !toGraph_.empty() || closed_ || (waiting_ && toHost_.empty()); });
    return !toGraph_.empty();
  }
  /// Prepares for another part of the run. Messages from vertices remain queued.
  void reopen() {
    const std::lock_guard lock(mutex_);
    closed_ = over_ = lost_ = false;
    toGraph_.clear();
  }
  void over() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    lost_ = !toGraph_.empty();
    host_.notify_all();
  }

  // The host's side.
  void send(uint32_t vertex, const M& message) {
    const std::lock_guard lock(mutex_);
    checkSend(over_, closed_, vertex);
    toGraph_.emplace_back(vertex, message);
    pending_.store(true, std::memory_order_release);
    engine_.notify_one();
  }
  std::optional<M> recv() {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    engine_.notify_one();
    host_.wait(lock, [&] { return !toHost_.empty() || over_; });
    waiting_ = false;
    if (toHost_.empty()) return std::nullopt;
    M message = toHost_.front();
    toHost_.pop_front();
    return message;
  }
  /// Whether recv() would return at once. Otherwise the host counts as waiting for a moment, so that a run whose host
  /// only polls makes progress.
  bool canRecv() {
    std::unique_lock lock(mutex_);
    if (!toHost_.empty() || over_) return true;
    waiting_ = true;
    engine_.notify_one();
    const bool ready = host_.wait_for(lock, std::chrono::milliseconds(1), [&] { return !toHost_.empty() || over_; });
    waiting_ = false;
    return ready;
  }
  /// Whether the run ended before a message of the host was delivered.
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
  std::deque<M> toHost_;
  std::deque<std::pair<uint32_t, M>> toGraph_;
  std::atomic<bool> pending_{false};
  bool waiting_ = false;
  bool closed_ = false;
  bool over_ = false;
  bool lost_ = false;
};

#ifdef GOSSAMER_BOARDS
using Boards = host::Job;
#else
/// A program that was not compiled for boards.
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
