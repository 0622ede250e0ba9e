// SPDX-License-Identifier: Apache-2.0
/// Processes, possibly on several machines, that simulate one cluster together: each has some of the boards, and all
/// run the same loop. Every value that controls the loop is reduced over all ranks, so they take the same decisions.
///
/// Rank 0 communicates with the host: it broadcasts requests to all ranks, and writes the records of all. Without a
/// library there is one rank, and these functions do nothing.
#pragma once

#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "gossamer/distributed/transport.h"
#include "records.h"

namespace gossamer::sim {

class Ranks {
 public:
  /// `library` is src/distributed/mpi, built for the installed MPI.
  explicit Ranks(const char* library) {
    if (!library) return;
    void* code = ::dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!code) fatal(::dlerror());
    const auto join = reinterpret_cast<decltype(&gs_ranks_join)>(::dlsym(code, "gs_ranks_join"));
    const auto problem = reinterpret_cast<decltype(&gs_ranks_problem)>(::dlsym(code, "gs_ranks_problem"));
    if (!join || !problem) fatal(::dlerror());
    table_ = join();
    if (!table_) {
      std::fprintf(stderr, "gossamer: error: %s\n", problem());
      std::_Exit(2);  // wrong input, not a failure of the simulation
    }
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() {
    if (table_) table_->leave();
  }

  bool many() const { return table_ && table_->count > 1; }
  unsigned number() const { return table_ ? static_cast<unsigned>(table_->rank) : 0; }
  unsigned count() const { return table_ ? static_cast<unsigned>(table_->count) : 1; }
  bool first() const { return number() == 0; }

  uint64_t sum(uint64_t value) const { return reduced(value, kSum); }
  uint64_t max(uint64_t value) const { return reduced(value, kMax); }
  /// OR of the bits of all ranks.
  uint64_t any(uint64_t bits) const { return reduced(bits, kOr); }

  /// Broadcasts rank 0's bytes.
  void share(void* bytes, size_t count) const {
    if (many() && count) table_->broadcast(0, bytes, count);
  }
  bool share(bool value) const {
    share(&value, sizeof value);
    return value;
  }

  using Take = std::function<void(unsigned rank, const uint8_t* bytes, size_t count)>;
  /// Passes the bytes of each other rank to rank 0.
  void gather(const std::vector<uint8_t>& bytes, const Take& take) const {
    if (!many()) return;
    if (!first()) {
      const uint64_t request = table_->send(0, kGather, bytes.data(), bytes.size());
      wait([&] { return table_->sent(request); });
      return;
    }
    for (int rank = 1; rank < table_->count; ++rank) {
      const std::vector<uint8_t> its = receive(rank, kGather);
      take(static_cast<unsigned>(rank), its.data(), its.size());
    }
  }
  /// Appends the other ranks' elements to those of rank 0, in rank order.
  template <typename T>
  void append(std::vector<T>& values) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!many()) return;
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    gather(bytes, [&](unsigned, const uint8_t* its, size_t count) {
      const size_t before = values.size();
      values.resize(before + count / sizeof(T));
      if (count) std::memcpy(static_cast<void*>(values.data() + before), its, count);
    });
  }

  /// Exchanges data with each rank r whose `most[r]` is above 0: sends `sizes[r]` bytes, receives at most `most[r]`,
  /// and stores the received number in `sizes[r]`.
  void swap(const uint8_t* const* out, uint8_t* const* in, uint64_t* sizes, const uint64_t* most) const {
    std::vector<uint64_t> requests;
    for (unsigned r = 0; r < count(); ++r) {
      if (r != number() && most[r]) {
        requests.push_back(table_->send(static_cast<int>(r), kSwap, out[r], sizes[r]));
      }
    }
    for (unsigned r = 0; r < count(); ++r) {
      if (r == number() || !most[r]) continue;
      wait([&] { return table_->probe(static_cast<int>(r), kSwap, &sizes[r]); });
      if (sizes[r] > most[r]) fatal("another rank sends more words than its wires have");
      table_->receive(in[r], sizes[r]);
    }
    for (const uint64_t request : requests) wait([&] { return table_->sent(request); });
  }

 private:
  enum Tag : int { kGather = 1, kSwap = 2 };
  enum How : int64_t { kSum = 0, kMax = 2, kOr = 3 };  ///< gossamer::Reduce

  /// Waits without spinning for long: there may be more ranks than processors, and rank 0 may wait for the host.
  template <typename Done>
  static void wait(Done&& done) {
    constexpr int kSpins = 200, kYields = 20'000;
    for (int tries = 0; !done(); ++tries) {
      const timespec nap{0, 50'000};
      if (tries > kYields) {
        ::nanosleep(&nap, nullptr);
      } else if (tries > kSpins) {
        ::sched_yield();
      }
    }
  }

  std::vector<uint8_t> receive(int from, Tag tag) const {
    uint64_t size = 0;
    wait([&] { return table_->probe(from, tag, &size); });
    std::vector<uint8_t> bytes(size);
    table_->receive(bytes.data(), size);
    return bytes;
  }

  /// Sums wrap; a maximum is below 2^63.
  uint64_t reduced(uint64_t value, How how) const {
    if (!many()) return value;
    gs_reduced_word word{how, static_cast<int64_t>(value)};
    table_->reduce(&word, 1);
    wait([&] { return table_->reduced(); });
    return static_cast<uint64_t>(word.word);
  }

  const gs_ranks* table_ = nullptr;
};

}  // namespace gossamer::sim
