// SPDX-License-Identifier: Apache-2.0
/// Device functions in addition to tinsel.h: registers, addresses and numbers of threads.
#pragma once

#include <gossamer/device_config.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Always inlined functions.
#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif

/// Reads a register; `csr` is a constant, GS_CSR_*. "memory" prevents reordering with loads and stores.
#define GS_CSR_READ(csr)                                                            \
  ({                                                                                \
    uint32_t gs_value_;                                                             \
    __asm__ volatile("csrr %0, %1" : "=r"(gs_value_) : "i"(csr) : "memory");        \
    gs_value_;                                                                      \
  })

/// Writes a register.
#define GS_CSR_WRITE(csr, value) \
  __asm__ volatile("csrw %0, %z1" : : "i"(csr), "rJ"((uint32_t)(value)) : "memory")

/// Writes a register and returns its answer, in one access.
#define GS_CSR_SWAP(csr, value)                                                             \
  ({                                                                                        \
    uint32_t gs_value_;                                                                     \
    __asm__ volatile("csrrw %0, %1, %z2"                                                    \
                     : "=r"(gs_value_)                                                      \
                     : "i"(csr), "rJ"((uint32_t)(value))                                    \
                     : "memory");                                                           \
    gs_value_;                                                                              \
  })

/// Number of the thread with this address on its board, from 0: tile by tile, row by row.
INLINE uint32_t gossamerNumber(uint32_t address) {
#if GS_MESH_WIDTH == 1 << GS_ADDRESS_TILE_X_BITS
  return address & ((1u << GS_ADDRESS_BOARD_LSB) - 1);
#else
  uint32_t thread = address & ((1u << GS_ADDRESS_THREAD_BITS) - 1);
  uint32_t x = (address >> GS_ADDRESS_TILE_X_LSB) & ((1u << GS_ADDRESS_TILE_X_BITS) - 1);
  uint32_t y = (address >> GS_ADDRESS_TILE_Y_LSB) & ((1u << GS_ADDRESS_TILE_Y_BITS) - 1);
  return ((y * GS_MESH_WIDTH + x) << GS_LOG_THREADS_PER_TILE) + thread;
#endif
}

/// This thread's number on its board.
INLINE uint32_t gossamerThread(void) { return gossamerNumber(GS_CSR_READ(GS_CSR_THREAD_ID)); }

/// Threads of the board that take part in this run, numbered from 0.
INLINE uint32_t gossamerThreads(void) { return GS_CSR_READ(GS_CSR_THREADS); }

/// Address of the thread with this number on the caller's board.
INLINE uint32_t gossamerAddress(uint32_t number) {
  uint32_t mine = GS_CSR_READ(GS_CSR_THREAD_ID);
  uint32_t board = mine >> GS_ADDRESS_BOARD_LSB << GS_ADDRESS_BOARD_LSB;
#if GS_MESH_WIDTH == 1 << GS_ADDRESS_TILE_X_BITS
  return board | number;
#else
  uint32_t tile = number >> GS_LOG_THREADS_PER_TILE;
  uint32_t thread = number & (GS_THREADS_PER_TILE - 1);
  uint32_t y = tile / GS_MESH_WIDTH;
  uint32_t x = tile % GS_MESH_WIDTH;
  return board | y << GS_ADDRESS_TILE_Y_LSB | x << GS_ADDRESS_TILE_X_LSB | thread;
#endif
}

/// Boards of the cluster, or of the job if it has only some of them; numbered from 0.
#define GOSSAMER_BOARDS (GS_BOARDS_WIDTH * GS_BOARDS_HEIGHT)

// A job with some of the cluster's boards numbers them from 0; addresses contain the cluster's numbers. All other
// numbers belong to other jobs, or to no board.
#if defined(GS_BOARD_NUMBERS)
static const uint16_t gsBoardNumbers[GOSSAMER_BOARDS] = GS_BOARD_NUMBERS;
INLINE uint32_t gsBoardOnWire(uint32_t board) {
  return board < GOSSAMER_BOARDS ? gsBoardNumbers[board] : (1u << GS_ADDRESS_BOARD_BITS) - 1;
}
INLINE uint32_t gsBoardInJob(uint32_t number) {
  uint32_t board = 0;
  while (board < GOSSAMER_BOARDS && gsBoardNumbers[board] != number) ++board;
  return board;
}
#elif defined(GS_BOARD_FIRST)
INLINE uint32_t gsBoardOnWire(uint32_t board) { return board + GS_BOARD_FIRST; }
INLINE uint32_t gsBoardInJob(uint32_t number) { return number - GS_BOARD_FIRST; }
#else
INLINE uint32_t gsBoardOnWire(uint32_t board) { return board; }
INLINE uint32_t gsBoardInJob(uint32_t number) { return number; }
#endif

/// This thread's board.
INLINE uint32_t gossamerBoard(void) {
  uint32_t mine = GS_CSR_READ(GS_CSR_THREAD_ID) >> GS_ADDRESS_BOARD_LSB;
  return gsBoardInJob(mine & ((1u << GS_ADDRESS_BOARD_BITS) - 1));
}

/// Address of the thread with this number on a board.
INLINE uint32_t gossamerAddressOn(uint32_t board, uint32_t number) {
  uint32_t here = gossamerAddress(number) & ((1u << GS_ADDRESS_BOARD_LSB) - 1);
  return gsBoardOnWire(board) << GS_ADDRESS_BOARD_LSB | here;
}

#if !GS_MATCH_ON_BOARD
__attribute__((unavailable("the configuration has no match engine at the board; set match.on_board to 1 or more")))
#endif
/// Address of the match engine at the board that serves the thread with this address.
INLINE uint32_t gossamerMatcher(uint32_t address) {
  uint32_t rank = address & ((1u << GS_ADDRESS_BOARD_LSB) - 1);
  return GS_ADDRESS_MATCH | address >> GS_ADDRESS_BOARD_LSB << GS_ADDRESS_MATCH_BOARD_LSB | rank;
}

/// First address of the heap of the thread with this number: its partition, interleaved by line.
INLINE uint32_t gossamerHeapBase(uint32_t number) {
  return GS_PARTITION_BASE + ((number % GS_THREADS_PER_DRAM) << GS_LOG_PARTITION_BYTES);
}

/// Size of that heap, up to the guard below the stack; it decreases with the size of the thread-local variables. The
/// linker determines it, so it is not a preprocessor constant.
#define GOSSAMER_HEAP_BYTES ((uint32_t)(uintptr_t)__gossamer_heap_bytes)
extern char __gossamer_heap_bytes[] __attribute__((weak));  // weak: it may be 0

/// First address of that thread's share of the SRAM; of its heap in DRAM if there is no SRAM.
INLINE uint32_t gossamerHeapBaseSRAM(uint32_t number) {
#if GS_SRAM_THREAD_BYTES == 0
  return gossamerHeapBase(number);
#else
  return GS_SRAM_BASE + (number % GS_THREADS_PER_DRAM) * GS_SRAM_THREAD_BYTES;
#endif
}

/// Ends this thread with an exit code; 0 means success.
__attribute__((noreturn)) void _exit(int code);

#ifdef __cplusplus
}  // extern "C"
#endif
