// SPDX-License-Identifier: Apache-2.0
/// The subset of tinsel.h that is meaningful for devices on the engine cpu: addresses and counters. There are no
/// mailboxes, so the functions for messages are missing.
#pragma once

#include <config.h>
#include <gossamer/device.h>
#include <io.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif

extern "C" {
/// Address of the device's thread.
uint32_t gossamer_device_thread(void);
/// Cycles of the configuration's clock while the counter runs, derived from this machine's clock.
uint64_t gossamer_device_cycles(void);
/// A command to that counter: GS_PERF_*.
void gossamer_device_count(int command);
/// Heap of this thread.
void* gossamer_device_heap(void);
}

INLINE uint32_t tinselId(void) { return gossamer_device_thread(); }
INLINE uint32_t tinselToAddr(uint32_t boardX, uint32_t boardY, uint32_t tileX, uint32_t tileY, uint32_t coreId,
                             uint32_t threadId) {
  return (boardY * GS_BOARDS_WIDTH + boardX) << GS_ADDRESS_BOARD_LSB | tileY << GS_ADDRESS_TILE_Y_LSB |
         tileX << GS_ADDRESS_TILE_X_LSB | coreId << TinselLogThreadsPerCore | threadId;
}
INLINE void tinselFromAddr(uint32_t addr, uint32_t* boardX, uint32_t* boardY, uint32_t* tileX, uint32_t* tileY,
                           uint32_t* coreId, uint32_t* threadId) {
  const uint32_t thread = addr & ((1u << GS_ADDRESS_THREAD_BITS) - 1);
  const uint32_t board = (addr >> GS_ADDRESS_BOARD_LSB) & ((1u << GS_ADDRESS_BOARD_BITS) - 1);
  *boardX = board % GS_BOARDS_WIDTH;
  *boardY = board / GS_BOARDS_WIDTH;
  *tileX = (addr >> GS_ADDRESS_TILE_X_LSB) & ((1u << GS_ADDRESS_TILE_X_BITS) - 1);
  *tileY = (addr >> GS_ADDRESS_TILE_Y_LSB) & ((1u << GS_ADDRESS_TILE_Y_BITS) - 1);
  *coreId = thread >> TinselLogThreadsPerCore;
  *threadId = thread & (TinselThreadsPerCore - 1);
}
INLINE uint32_t tinselAccId(uint32_t boardX, uint32_t boardY, uint32_t tileX, uint32_t tileY) {
  return GS_ADDRESS_ACCELERATOR | tinselToAddr(boardX, boardY, tileX, tileY, 0, 0);
}
INLINE uint32_t tinselBridgeId(uint32_t x, uint32_t y) {
  return GS_ADDRESS_HOST | (y * TinselBoxMeshXLen + x) << GS_ADDRESS_HOST_LSB;
}
INLINE uint32_t tinselHostId(void) { return GS_ADDRESS_HOST; }
INLINE uint32_t tinselMyBridgeId(void) { return GS_ADDRESS_HOST; }
INLINE uint32_t tinselUseRoutingKey(void) { return GS_ADDRESS_KEY; }

INLINE void* tinselHeapBase(void) { return gossamer_device_heap(); }
INLINE void* tinselHeapBaseSRAM(void) { return gossamer_device_heap(); }
// The heaps of other threads have the boards' addresses, where this machine has no memory.
INLINE uint32_t tinselHeapBaseGeneric(uint32_t id) { return gossamerHeapBase(gossamerNumber(id)); }
INLINE uint32_t tinselHeapBaseSRAMGeneric(uint32_t id) { return gossamerHeapBaseSRAM(gossamerNumber(id)); }
INLINE void tinselCacheFlush(void) {}
INLINE void tinselFlushLine(uint32_t, uint32_t) {}
INLINE void tinselEmit(uint32_t) {}
INLINE uint32_t tinselUartTryPut(uint8_t x) { return gossamer_device_putchar(x), 1; }
INLINE uint32_t tinselUartTryGet(void) { return 0; }

// There are no counters of caches and cores; only time is available.
INLINE void tinselPerfCountReset(void) { gossamer_device_count(GS_PERF_CLEAR); }
INLINE void tinselPerfCountStart(void) { gossamer_device_count(GS_PERF_START); }
INLINE void tinselPerfCountStop(void) { gossamer_device_count(GS_PERF_STOP); }
INLINE uint32_t tinselMissCount(void) { return 0; }
INLINE uint32_t tinselHitCount(void) { return 0; }
INLINE uint32_t tinselWritebackCount(void) { return 0; }
INLINE uint32_t tinselCPUIdleCount(void) { return 0; }
INLINE uint32_t tinselCPUIdleCountU(void) { return 0; }
INLINE uint32_t tinselCycleCount(void) { return static_cast<uint32_t>(gossamer_device_cycles()); }
INLINE uint32_t tinselCycleCountU(void) { return static_cast<uint32_t>(gossamer_device_cycles() >> 32); }
INLINE uint32_t tinselProgRouterSent(void) { return 0; }
INLINE uint32_t tinselProgRouterSentInterBoard(void) { return 0; }
