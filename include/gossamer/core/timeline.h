// SPDX-License-Identifier: Apache-2.0
/// What the threads of a run do over time: work, waits, steps, rounds of messages, buffers between ranks.
///
/// A run records it only where RunOptions::timeline is set. Memory is bounded: a list that is full doubles the time
/// below which it merges adjacent items, and merges those that it has. A merged item keeps the number of its parts and
/// the sum of their lengths, so sums over time stay exact to the resolution.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gossamer/abi.h"

namespace gossamer {

class Timeline {
 public:
  using Item = gs_timeline_item;
  /// The peer of a merged item whose parts have different peers, and of an item without a peer.
  static constexpr uint32_t noPeer = ~uint32_t{0};

  /// Nanoseconds of a monotonic clock, which all processes of a machine share.
  static uint64_t now() { return at(std::chrono::steady_clock::now()); }
  static uint64_t at(std::chrono::steady_clock::time_point time) {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
  }

  /// A run of that many threads begins. Only the first thread may call any function but worked().
  void begin(unsigned threads);
  void end() { end_ = now(); }

  /// A thread of the pool, other than the first, has executed its part of a task since `from`.
  void worked(unsigned thread, uint64_t from) {
    if (thread < work_.size()) work_[thread].add({from, now(), 0, 0, 0, GS_TIMELINE_WORK, thread, noPeer, 1});
  }
  /// The first thread has waited since `from`: for other threads, or for other ranks.
  void waited(uint32_t kind, uint64_t from) { work_[0].add({from, now(), 0, 0, 0, kind, 0, noPeer, 1}); }
  /// The network was idle: step `number` has ended.
  void stepped(uint64_t number);
  /// A round of messages since `from`; `messages` were delivered in it.
  void round(uint64_t from, uint64_t messages);
  /// A buffer of messages has left for another rank (GS_TIMELINE_SEND), or has arrived.
  void moved(uint32_t kind, unsigned peer, uint64_t bytes);

  /// All items, by list and time. Called once the run has ended.
  const std::vector<Item>& items();
  uint64_t beginTime() const { return begin_; }
  uint64_t endTime() const { return end_; }

 private:
  /// Items of one kind, or of one thread, in the order of time. On its own cache lines, because a thread writes it.
  struct alignas(128) List {
    static constexpr size_t most = 8192;
    void add(Item item) {
      item.busy = item.end - item.begin;
      if (items.empty() || !merges(items.back(), item)) {
        items.push_back(item);
        if (items.size() > most) coarsen();
      }
    }
    bool merges(Item& to, const Item& from) const;
    void coarsen();
    std::vector<Item> items;
    uint64_t resolution = 0;  // ns; items that together are shorter are one
  };

  std::vector<List> work_;  // by thread: work, and of the first its waits
  List steps_, rounds_, sends_, receives_;
  std::vector<uint64_t> numbers_[2];  // by peer: buffers so far, sent and received
  std::vector<Item> all_;
  uint64_t begin_ = 0, end_ = 0, stepped_ = 0, roundCount_ = 0;
};

/// The timeline of the C interface, or null.
Timeline* timelineOf(gs_timeline* timeline);

}  // namespace gossamer
