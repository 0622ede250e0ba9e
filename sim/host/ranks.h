// SPDX-License-Identifier: Apache-2.0
/// Processes, maybe of many machines, that simulate one cluster together: each has some of the boards, and all run the
/// same loop. What decides how it goes on is the same in all of them, because it is reduced over all.
///
/// Rank 0 speaks to the host: its requests go to all, and the records of all come out of it. Without a library there is
/// one rank, and nothing here does anything.
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
  /// `library` is ranks/ranks_mpi.cc, built for some MPI.
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
  /// The bits that any rank has.
  uint64_t any(uint64_t bits) const { return reduced(bits, kGsOr); }

  /// What rank 0 says.
  void share(void* bytes, size_t count) const {
    if (many() && count) table_->share(bytes, count);
  }
  bool share(bool value) const {
    share(&value, sizeof value);
    return value;
  }

  using Take = std::function<void(unsigned rank, const uint8_t* bytes, size_t count)>;
  /// Hands rank 0 what each other rank has.
  void gather(const std::vector<uint8_t>& bytes, Take take) const {
    if (!many()) return;
    table_->gather(bytes.data(), bytes.size(), &take,
                   [](void* context, int rank, const uint8_t* data, uint64_t count) {
                     (*static_cast<Take*>(context))(static_cast<unsigned>(rank), data, count);
                   });
  }
  /// Appends what the other ranks have to what rank 0 has, in the order of the ranks.
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
