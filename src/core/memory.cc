// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace gossamer {

namespace {
constexpr size_t hugePage = size_t{2} << 20;
constexpr size_t hugeFrom = size_t{1} << 20;

size_t roundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
}  // namespace

void* allocateBytes(size_t bytes) {
  if (bytes < hugeFrom) {
    const size_t whole = roundUp(bytes ? bytes : 1, 64);
    void* memory = std::aligned_alloc(64, whole);
    if (!memory) throw std::bad_alloc();
    return std::memset(memory, 0, whole);
  }
  // Maps one huge page more and trims the mapping to the alignment: the kernel then
  // backs it with huge pages from the first touch.
  const size_t whole = roundUp(bytes, hugePage);
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
  } else {
    munmap(memory, roundUp(bytes, hugePage));
  }
}

}  // namespace gossamer
