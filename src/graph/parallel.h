// SPDX-License-Identifier: Apache-2.0
/// Parallel loops for the graph part. They use short-lived threads, since each loop
/// runs for milliseconds at least and a pool would be state to manage.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "gossamer/core/cpus.h"
#include "graph/stop.h"

namespace gossamer::graph {

/// The number of threads for a request; 0 requests the default.
inline unsigned thread_count(int asked) {
  if (asked > 0) return static_cast<unsigned>(asked);
  return defaultThreads();
}

/// Calls body(thread) on `threads` threads; rethrows the first exception.
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
      // The system allows no more threads: this one does the share as well.
      guarded(thread);
    }
  }
  guarded(0);
  for (auto& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

/// The number of items that all threads have read: vertices, edges, bytes. Shows on any machine whether more threads do
/// more work, which elapsed time on a few processors cannot.
inline std::atomic<std::uint64_t> work{0};
inline void count_work(std::uint64_t looks) { work.fetch_add(looks, std::memory_order_relaxed); }

/// Calls body(begin, end) over [0, count) in pieces of `piece`, started in order; a signal stops it between pieces.
template <class Body>
void in_pieces(unsigned threads, std::uint64_t count, std::uint64_t piece, Body&& body) {
  if (piece == 0) piece = 1;
  const std::uint64_t pieces = (count + piece - 1) / piece;
  if (threads > pieces) threads = static_cast<unsigned>(pieces ? pieces : 1);
  std::atomic<std::uint64_t> next{0};
  const Stop stop;
  count_work(count);
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

/// Computes offsets from counts: on entry offsets[v + 1] is the count of row v; on return offsets[0] is 0.
inline void sum_up(unsigned threads, std::uint64_t* offsets, std::uint64_t rows) {
  constexpr std::uint64_t piece = 65536;
  std::vector<std::uint64_t> sums((rows + piece - 1) / piece + 1, 0);
  in_pieces(threads, rows, piece, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t sum = 0;
    for (std::uint64_t v = begin; v < end; ++v) sum += offsets[v + 1];
    sums[begin / piece + 1] = sum;
  });
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  offsets[0] = 0;
  in_pieces(threads, rows, piece, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t sum = sums[begin / piece];
    for (std::uint64_t v = begin; v < end; ++v) offsets[v + 1] = sum += offsets[v + 1];
  });
}

}  // namespace gossamer::graph
