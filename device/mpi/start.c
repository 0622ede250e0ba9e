// SPDX-License-Identifier: Apache-2.0
/// Entry point of a thread that is a rank, and its heap. The rest of the library is in src/mpi.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/mpi/transport.h"

/// The program's own main, renamed when it is compiled for the overlay.
int gsmpi_main(int argc, char** argv);
/// The arguments after -- on the command line: the program's name first, a null pointer last.
extern const char* const gsmpi_arguments[];
extern const int gsmpi_argument_count;

/// Ends a rank. A rank that ends without MPI_Finalize ends the run.
static int end_rank(const char* where, int code) {
  gsmpi.caller = NULL;
  if (gsmpi.ready && !gsmpi.finalized)
    gsmpi_abort_run(MPI_ERR_OTHER, where, "ends with code %d without MPI_Finalize", code);
  return code;
}

_Noreturn void exit(int code) { _exit(end_rank("exit", code)); }

int main(void) {
  int rank, size;
  transport_join(&rank, &size);
  const uint32_t thread = gossamerThread();
  if (thread % GSMPI_STRIDE || thread / GSMPI_STRIDE >= GSMPI_PER_BOARD || rank >= size) return 0;
  return end_rank("main", gsmpi_main(gsmpi_argument_count, (char**)gsmpi_arguments));
}

// ---------------------------------------------------------------------- heap of this thread

// Blocks of up to a page have sizes of powers of two, with one free list per size. Larger blocks are not rounded up;
// they share one free list, and malloc takes the smallest block that is large enough.

enum { kMinLog = 5, kPageLog = 12, kHeaderBytes = 8 };

typedef struct HeapBlock {
  uint32_t size;       // log2 of its bytes, or the bytes if they exceed a page
  struct HeapBlock* next;  // of a free block; an allocated block's memory starts here
} HeapBlock;

static _Thread_local HeapBlock* free_blocks[kPageLog + 1];
static _Thread_local HeapBlock* large_blocks;
static _Thread_local uint32_t used;

/// Allocates memory that was never used.
static HeapBlock* allocate_new(uint32_t bytes, uint32_t size) {
  if (bytes > GOSSAMER_HEAP_BYTES - used) return NULL;
  HeapBlock* block = (HeapBlock*)((char*)tinselHeapBase() + used);
  used += bytes;
  block->size = size;
  return block;
}

/// Takes the smallest free large block of at least `bytes` and at most `most`.
static HeapBlock* take_large(uint32_t bytes, uint32_t most) {
  HeapBlock** best = NULL;
  for (HeapBlock** at = &large_blocks; *at; at = &(*at)->next)
    if ((*at)->size >= bytes && (*at)->size <= most && (!best || (*at)->size < (*best)->size)) best = at;
  if (!best) return NULL;
  HeapBlock* block = *best;
  *best = block->next;
  return block;
}

void* malloc(size_t bytes) {
  if (bytes > GOSSAMER_HEAP_BYTES - kHeaderBytes) return NULL;
  const uint32_t all = ((uint32_t)bytes + kHeaderBytes + 15) & ~15u;
  HeapBlock* block;
  if (all > 1u << kPageLog) {
    // Wastes at most half of a block, unless there is no other.
    block = take_large(all, 2 * all);
    if (!block) block = allocate_new(all, all);
    if (!block) block = take_large(all, ~0u);
  } else {
    uint32_t log = kMinLog;
    while ((1u << log) < all) ++log;
    block = free_blocks[log];
    if (block)
      free_blocks[log] = block->next;
    else
      block = allocate_new(1u << log, log);
  }
  return block ? (char*)block + kHeaderBytes : NULL;
}

void free(void* memory) {
  if (!memory) return;
  HeapBlock* block = (HeapBlock*)((char*)memory - kHeaderBytes);
  HeapBlock** list = block->size > kPageLog ? &large_blocks : &free_blocks[block->size];
  block->next = *list;
  *list = block;
}

void* realloc(void* memory, size_t bytes) {
  if (!memory) return malloc(bytes);
  const HeapBlock* block = (const HeapBlock*)((char*)memory - kHeaderBytes);
  const size_t capacity = (block->size > kPageLog ? block->size : 1u << block->size) - kHeaderBytes;
  if (bytes <= capacity) return memory;
  void* larger = malloc(bytes);
  if (!larger) return NULL;
  memcpy(larger, memory, capacity);
  free(memory);
  return larger;
}

void* calloc(size_t count, size_t size) {
  if (size && count > UINT32_MAX / size) return NULL;
  void* memory = malloc(count * size);
  return memory ? memset(memory, 0, count * size) : NULL;
}

void* gsmpi_allocate(size_t bytes, const char* call) {
  void* memory = malloc(bytes);
  if (!memory)
    gsmpi_abort_run(MPI_ERR_NO_MEM, call, "out of memory: cannot allocate %u bytes, %u of %u are used", (unsigned)bytes,
              (unsigned)used, (unsigned)GOSSAMER_HEAP_BYTES);
  return memory;
}

void* gsmpi_try_allocate(size_t bytes) { return malloc(bytes); }

void gsmpi_release(void* memory) { free(memory); }
