// SPDX-License-Identifier: Apache-2.0
/// Communication of the `distributed` engine, on the functions of transport.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gossamer/aggregates.h"
#include "gossamer/distributed/transport.h"
#include "gossamer/distributed/waiting.h"

namespace gossamer::distributed {

using Bytes = std::vector<uint8_t>;

enum Tag : int { kRound = 1, kExchange = 2, kGather = 3, kRows = 4, kAsyncEven = 5, kAsyncOdd = 6 };

/// The ranks of a job. There may be more ranks than processors (waiting.h). One thread of a rank calls the methods.
class Ranks {
 public:
  explicit Ranks(const gs_ranks* table, Waiting waiting = Waiting()) : table_(*table), waiting_(waiting) {}

  unsigned rank() const { return static_cast<unsigned>(table_.rank); }
  unsigned count() const { return static_cast<unsigned>(table_.count); }
  const gs_ranks& table() const { return table_; }

  template <typename F>
  void waitFor(F&& done) const {
    waiting_.until(done);
  }
  /// Between two polls of a wait that began at `begun`.
  void pause(Waiting::Clock::time_point begun) const { waiting_.pause(begun); }

  /// Sends out[r] to each rank r, and returns what each rank has sent to this one. All ranks call it.
  std::vector<Bytes> exchange(const std::vector<Bytes>& out) const {
    std::vector<Bytes> in(count());
    std::vector<uint64_t> requests;
    for (unsigned k = 1; k < count(); ++k) {
      const unsigned to = (rank() + k) % count();
      requests.push_back(table_.send(static_cast<int>(to), kExchange, out[to].data(), out[to].size()));
    }
    in[rank()] = out[rank()];
    for (unsigned k = 1; k < count(); ++k) {
      const unsigned from = (rank() + count() - k) % count();
      uint64_t size = 0;
      waitFor([&] { return table_.probe(static_cast<int>(from), kExchange, &size); });
      in[from].resize(size);
      table_.receive(in[from].data(), size);
    }
    for (const uint64_t request : requests) waitFor([&] { return table_.sent(request); });
    return in;
  }

  /// Passes the bytes of all ranks to `take(rank, bytes, size)` of rank 0, in the order of the ranks. All ranks call
  /// it.
  template <typename Take>
  void gather(const void* bytes, uint64_t size, Take&& take) const {
    if (rank() != 0) {
      const uint64_t request = table_.send(0, kGather, bytes, size);
      waitFor([&] { return table_.sent(request); });
      return;
    }
    take(0u, static_cast<const uint8_t*>(bytes), size);
    Bytes got;
    for (unsigned from = 1; from < count(); ++from) {
      uint64_t its = 0;
      waitFor([&] { return table_.probe(static_cast<int>(from), kGather, &its); });
      got.resize(its);
      table_.receive(got.data(), its);
      take(from, static_cast<const uint8_t*>(got.data()), its);
    }
  }

  void broadcast(unsigned from, void* bytes, uint64_t size) const {
    if (count() > 1 && size) table_.broadcast(static_cast<int>(from), bytes, size);
  }

  /// Reduces words over all ranks, and waits for the result.
  void reduce(std::vector<gs_reduced_word>& words) const {
    table_.reduce(words.data(), words.size());
    waitFor([&] { return table_.reduced(); });
  }
  uint64_t sum(uint64_t mine) const {
    std::vector<gs_reduced_word> word = {{static_cast<int64_t>(Reduce::sum), static_cast<int64_t>(mine)}};
    reduce(word);
    return static_cast<uint64_t>(word[0].word);
  }

 private:
  const gs_ranks& table_;
  mutable Waiting waiting_;
};

template <typename T>
void append(Bytes& to, const T* from, size_t count) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(from);
  to.insert(to.end(), bytes, bytes + count * sizeof(T));
}

template <typename T>
std::vector<T> elements(const Bytes& from) {
  std::vector<T> to(from.size() / sizeof(T));
  std::copy(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(to.size() * sizeof(T)),
            reinterpret_cast<uint8_t*>(to.data()));
  return to;
}

}  // namespace gossamer::distributed
