// SPDX-License-Identifier: Apache-2.0
/// Processes, possibly on several machines, that simulate one cluster together: each has some of the boards, and all
/// run the same loop. Every value that controls the loop is reduced over all ranks, so they take the same decisions.
///
/// Rank 0 communicates with the host: it broadcasts requests to all ranks, and writes the records of all. Without a
/// library there is one rank, and these functions do nothing.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "../ranks/ranks_mpi.h"
#include "records.h"

namespace gossamer::sim {

class Ranks {
 public:
  /// `library` is ranks/ranks_mpi.cc, built for the installed MPI.
  explicit Ranks(const char* library) {
    if (!library) return;
    void* code = ::dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!code) fatal(::dlerror());
    const auto join = reinterpret_cast<const GsRanks* (*)()>(::dlsym(code, "gs_ranks_join"));
    table_ = join ? join() : nullptr;
    if (!table_) fatal("MPI does not start");
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() {
    if (table_) table_->leave();
  }

  bool many() const { return table_ && table_->count > 1; }
  unsigned number() const { return table_ ? static_cast<unsigned>(table_->number) : 0; }
  unsigned count() const { return table_ ? static_cast<unsigned>(table_->count) : 1; }
  bool first() const { return number() == 0; }

  uint64_t sum(uint64_t value) const { return reduced(value, kGsSum); }
  uint64_t max(uint64_t value) const { return reduced(value, kGsMax); }
  /// OR of the bits of all ranks.
  uint64_t any(uint64_t bits) const { return reduced(bits, kGsOr); }

  /// Broadcasts rank 0's bytes.
  void share(void* bytes, size_t count) const {
    if (many() && count) table_->share(bytes, count);
  }
  bool share(bool value) const {
    share(&value, sizeof value);
    return value;
  }

  using Take = std::function<void(unsigned rank, const uint8_t* bytes, size_t count)>;
  /// Passes the bytes of each other rank to rank 0.
  void gather(const std::vector<uint8_t>& bytes, Take take) const {
    if (!many()) return;
    table_->gather(bytes.data(), bytes.size(), &take,
                   [](void* context, int rank, const uint8_t* data, uint64_t count) {
                     (*static_cast<Take*>(context))(static_cast<unsigned>(rank), data, count);
                   });
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

  void swap(const uint8_t* const* out, uint8_t* const* in, uint64_t* sizes, const uint64_t* most) const {
    table_->swap(out, in, sizes, most);
  }

 private:
  uint64_t reduced(uint64_t value, GsReduce how) const {
    if (many()) table_->reduce(&value, 1, how);
    return value;
  }

  const GsRanks* table_ = nullptr;
};

}  // namespace gossamer::sim
