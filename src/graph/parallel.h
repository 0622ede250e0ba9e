// SPDX-License-Identifier: Apache-2.0
/// Loops over threads for the graph part: short-lived threads, since each loop
/// runs for milliseconds at least and a pool would be state to look after.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "graph/stop.h"

namespace gossamer::graph {

/// How many threads `asked` means: 0 is one a core.
inline unsigned thread_count(int asked) {
  if (asked > 0) return static_cast<unsigned>(asked);
  const unsigned cores = std::thread::hardware_concurrency();
  return cores ? cores : 1;
}

/// Calls body(thread) on `threads` threads; the first exception is thrown on.
template <class Body>
void on_threads(unsigned threads, Body&& body) {
  if (threads <= 1) {
    body(0u);
    return;
  }
  std::exception_ptr failure;
  std::mutex mutex;
  auto guarded = [&](unsigned thread) {
    try {
      body(thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(threads - 1);
  for (unsigned thread = 1; thread < threads; ++thread) {
    try {
      others.emplace_back(guarded, thread);
    } catch (...) {
      // No more threads to be had: this one does the share as well.
      guarded(thread);
    }
  }
  guarded(0);
  for (auto& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

/// Calls body(begin, end) over [0, count) in pieces of `piece`, handed out in order; a signal ends it between two.
template <class Body>
void in_pieces(unsigned threads, std::uint64_t count, std::uint64_t piece, Body&& body) {
  if (piece == 0) piece = 1;
  const std::uint64_t pieces = (count + piece - 1) / piece;
  if (threads > pieces) threads = static_cast<unsigned>(pieces ? pieces : 1);
  std::atomic<std::uint64_t> next{0};
  const Stop stop;
  on_threads(threads, [&](unsigned) {
    for (;;) {
      stop.look();
      const std::uint64_t mine = next.fetch_add(1, std::memory_order_relaxed);
      if (mine >= pieces) return;
      const std::uint64_t begin = mine * piece;
      body(begin, begin + piece < count ? begin + piece : count);
    }
  });
}

}  // namespace gossamer::graph
