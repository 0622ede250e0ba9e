// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace gossamer {

namespace {
constexpr size_t hugePage = size_t{2} << 20;
constexpr size_t hugeFrom = size_t{1} << 20;

size_t roundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/// Huge pages that were given back, for the next run in this process: a fresh one
/// costs several times what zeroing does, on a virtual machine ten times and more.
class Spare {
 public:
  Spare() { blocks_.reserve(mostBytes / hugePage); }

  /// Never destroyed: what lives as long as the process may still give memory back.
  static Spare& instance() {
    static Spare* const spare = new Spare;
    return *spare;
  }

  void* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (Block& block : blocks_) {
      if (block.bytes != bytes) continue;
      void* memory = block.memory;
      block = blocks_.back();
      blocks_.pop_back();
      total_ -= bytes;
      return memory;
    }
    return nullptr;
  }

  bool keep(void* memory, size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (total_ + bytes > mostBytes) return false;
    blocks_.push_back({memory, bytes});
    total_ += bytes;
    return true;
  }

 private:
  static constexpr size_t mostBytes = size_t{32} << 20;
  struct Block {
    void* memory;
    size_t bytes;
  };
  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t total_ = 0;
};
}  // namespace

void* allocateBytes(size_t bytes) {
  if (bytes < hugeFrom) {
    const size_t whole = roundUp(bytes ? bytes : 1, 64);
    void* memory = std::aligned_alloc(64, whole);
    if (!memory) throw std::bad_alloc();
    return std::memset(memory, 0, whole);
  }
  // A mapping larger by a page, cut to the alignment: the kernel then backs it
  // with huge pages from the first touch.
  const size_t whole = roundUp(bytes, hugePage);
  if (void* spare = Spare::instance().take(whole)) return std::memset(spare, 0, whole);
  void* raw = mmap(nullptr, whole + hugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  const auto start = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t aligned = roundUp(start, hugePage);
  if (aligned > start) munmap(raw, aligned - start);
  const uintptr_t end = start + whole + hugePage;
  if (end > aligned + whole) munmap(reinterpret_cast<void*>(aligned + whole), end - aligned - whole);
  void* memory = reinterpret_cast<void*>(aligned);
  madvise(memory, whole, MADV_HUGEPAGE);
  return memory;
}

void releaseBytes(void* memory, size_t bytes) noexcept {
  if (bytes < hugeFrom) {
    std::free(memory);
  } else if (const size_t whole = roundUp(bytes, hugePage); !Spare::instance().keep(memory, whole)) {
    munmap(memory, whole);
  }
}

}  // namespace gossamer
