// SPDX-License-Identifier: Apache-2.0
/// The device API of Tinsel 0.8.3, with the names of the papers, on the registers of Gossamer's core.
//
// A call accesses one or two registers (CSRs); a multicast accesses four because of its mask. Where paper and code
// differ, both names work:
//
//   tinselAlloc(addr)   the papers' name of tinselFree(addr)
//   tinselSetLen(n)     n is the number of flits, as in the papers. With GOSSAMER_COMPAT defined before
//                       this header it is flits less one, as in the code of Tinsel 0.8.3.
//   tinselCycleCount()  cycles since reset. With GOSSAMER_COMPAT it is a counter of the core, which commands clear,
//                       start and stop as the other counters.
//
// A thread's loads, stores and messages take effect in program order. Data that one thread writes to DRAM or SRAM is
// visible to another thread only after the writer has flushed the line, and if the reader's cache holds no older copy:
// threads share the scratchpad and messages, not memory.
#pragma once

#include <gossamer/device.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef GOSSAMER_STDIO_H
#define GOSSAMER_KEEP_PUTS
#endif
#include <io.h>
#undef GOSSAMER_KEEP_PUTS

#ifdef __cplusplus
extern "C" {
#endif

/// Events for tinselWaitUntil; combine them to wait for the first.
typedef enum TinselWakeupCond {
  TINSEL_CAN_SEND = 1,
  TINSEL_CAN_RECV = 2,
} TinselWakeupCond;

// ------------------------------------------------------------------------------ addresses

/// Address of this thread.
INLINE uint32_t tinselId(void) { return GS_CSR_READ(GS_CSR_THREAD_ID); }

// The fields kind, board, tile and thread of an address are adjacent, each with as many bits as the configuration
// needs: tinselId() + 1 is the next thread, across the border of a tile.

/// Address of a thread. Boards are numbered row by row without gaps.
INLINE uint32_t tinselToAddr(uint32_t boardX, uint32_t boardY, uint32_t tileX, uint32_t tileY,
                             uint32_t coreId, uint32_t threadId) {
  uint32_t board = gsBoardOnWire(boardY * GS_BOARDS_WIDTH + boardX);
  return board << GS_ADDRESS_BOARD_LSB | tileY << GS_ADDRESS_TILE_Y_LSB |
         tileX << GS_ADDRESS_TILE_X_LSB | coreId << TinselLogThreadsPerCore | threadId;
}

/// The fields of a thread's address.
INLINE void tinselFromAddr(uint32_t addr, uint32_t* boardX, uint32_t* boardY, uint32_t* tileX,
                           uint32_t* tileY, uint32_t* coreId, uint32_t* threadId) {
  uint32_t thread = addr & ((1u << GS_ADDRESS_THREAD_BITS) - 1);
  uint32_t board = gsBoardInJob((addr >> GS_ADDRESS_BOARD_LSB) & ((1u << GS_ADDRESS_BOARD_BITS) - 1));
  *boardX = board % GS_BOARDS_WIDTH;
  *boardY = board / GS_BOARDS_WIDTH;
  *tileX = (addr >> GS_ADDRESS_TILE_X_LSB) & ((1u << GS_ADDRESS_TILE_X_BITS) - 1);
  *tileY = (addr >> GS_ADDRESS_TILE_Y_LSB) & ((1u << GS_ADDRESS_TILE_Y_BITS) - 1);
  *coreId = thread >> TinselLogThreadsPerCore;
  *threadId = thread & (TinselThreadsPerCore - 1);
}

/// Address of the accelerator of a tile.
INLINE uint32_t tinselAccId(uint32_t boardX, uint32_t boardY, uint32_t tileX, uint32_t tileY) {
  return GS_ADDRESS_ACCELERATOR | tinselToAddr(boardX, boardY, tileX, tileY, 0, 0);
}

/// Address of the host of this job.
INLINE uint32_t tinselHostId(void) { return GS_CSR_READ(GS_CSR_HOST_ID); }

/// Address of the host at the bridge of a box; boxes are numbered row by row, TinselBoxMeshXLen per row.
INLINE uint32_t tinselBridgeId(uint32_t x, uint32_t y) {
  return GS_ADDRESS_HOST | (y * TinselBoxMeshXLen + x) << GS_ADDRESS_HOST_LSB;
}

/// Address of the host at this thread's bridge.
INLINE uint32_t tinselMyBridgeId(void) { return tinselHostId(); }

/// Address of the board's multicast router, for external senders; a thread calls tinselKeySend.
INLINE uint32_t tinselUseRoutingKey(void) { return GS_ADDRESS_KEY; }

// ------------------------------------------------------------------------------ messages

/// The nth of the thread's TinselMsgSlotsPerThread message slots. The thread owns the first two; the hardware initially
/// owns the others and stores incoming messages in them.
INLINE volatile void* tinselSlot(uint32_t n) {
  uint32_t thread = tinselId() & ((1u << GS_ADDRESS_THREAD_BITS) - 1);
  uint32_t slot = (thread << GS_LOG_SLOTS_PER_THREAD) + n;
  return (volatile void*)(uintptr_t)(GS_SCRATCHPAD_BASE + (slot << GS_LOG_SLOT_BYTES));
}

/// A send slot of this thread.
INLINE volatile void* tinselSendSlot(void) { return tinselSlot(0); }

/// A second send slot.
INLINE volatile void* tinselSendSlotExtra(void) { return tinselSlot(1); }

/// Sets the length of subsequent messages of this thread, in flits (GOSSAMER_COMPAT: flits minus one).
INLINE void tinselSetLen(int n) {
#ifdef GOSSAMER_COMPAT
  GS_CSR_WRITE(GS_CSR_SEND_LENGTH, n);
#else
  GS_CSR_WRITE(GS_CSR_SEND_LENGTH, n - 1);
#endif
}

/// 1 if a message may be sent, else 0.
INLINE int tinselCanSend(void) { return (int)GS_CSR_READ(GS_CSR_CAN_SEND); }

/// 1 if a message is waiting, else 0.
INLINE int tinselCanRecv(void) { return (int)GS_CSR_READ(GS_CSR_CAN_RECEIVE); }

/// Sends the message in the slot `addr` to a thread or host. Only while tinselCanSend(); the slot may be
/// written again when tinselCanSend() is 1 again.
INLINE void tinselSend(int dest, volatile void* addr) {
  GS_CSR_WRITE(GS_CSR_SEND_SLOT, (uintptr_t)addr);
  GS_CSR_WRITE(GS_CSR_SEND_DEST, dest);
}

/// The mailbox address for tinselMulticast: a thread's address without the thread, or tinselId() >>
/// TinselLogThreadsPerMailbox.
INLINE uint32_t tinselMailbox(uint32_t address) { return address >> GS_ADDRESS_THREAD_BITS; }

/// Sends the message to the threads of a mailbox that are in the mask.
INLINE void tinselMulticast(uint32_t mboxDest, uint32_t destMaskHigh, uint32_t destMaskLow,
                            volatile void* addr) {
  GS_CSR_WRITE(GS_CSR_SEND_MASK_HIGH, destMaskHigh);
  GS_CSR_WRITE(GS_CSR_SEND_MASK_LOW, destMaskLow);
  GS_CSR_WRITE(GS_CSR_SEND_SLOT, (uintptr_t)addr);
  GS_CSR_WRITE(GS_CSR_SEND_TILE, GS_ADDRESS_TILE | mboxDest << GS_ADDRESS_THREAD_BITS);
}

/// Sends the message through the board's multicast router, to all receivers of the key in its tables.
INLINE void tinselKeySend(int key, volatile void* addr) {
  GS_CSR_WRITE(GS_CSR_SEND_SLOT, (uintptr_t)addr);
  GS_CSR_WRITE(GS_CSR_SEND_KEY, key);
}

/// The slot of the next message, which this thread owns until it frees it. Only while tinselCanRecv().
INLINE volatile void* tinselRecv(void) {
  return (volatile void*)(uintptr_t)GS_CSR_READ(GS_CSR_RECEIVE);
}

/// Returns a slot to the hardware, for another incoming message.
INLINE void tinselFree(volatile void* addr) { GS_CSR_WRITE(GS_CSR_RELEASE, (uintptr_t)addr); }

/// The papers' name of tinselFree; has no effect on a slot that the hardware already owns.
INLINE void tinselAlloc(volatile void* addr) { tinselFree(addr); }

/// Sleeps until one of the events occurs, without using issue slots.
INLINE void tinselWaitUntil(TinselWakeupCond cond) { GS_CSR_WRITE(GS_CSR_WAIT, cond); }

/// Sleeps until a message arrives (0), or until all threads sleep here and no message is in flight (1); if moreover all
/// votes were nonzero, returns 2.
INLINE int tinselIdle(int vote) { return (int)GS_CSR_SWAP(GS_CSR_IDLE, vote != 0); }

// ------------------------------------------------------------------------------ memory and programs

/// First address of a thread's partition of the DRAM, by the thread's address; GOSSAMER_HEAP_BYTES are its heap.
INLINE uint32_t tinselHeapBaseGeneric(uint32_t id) { return gossamerHeapBase(gossamerNumber(id)); }

/// First address of this thread's heap.
INLINE void* tinselHeapBase(void) { return (void*)(uintptr_t)tinselHeapBaseGeneric(tinselId()); }

/// First address of a thread's share of the SRAM; of its heap in DRAM where there is no SRAM.
INLINE uint32_t tinselHeapBaseSRAMGeneric(uint32_t id) {
  return gossamerHeapBaseSRAM(gossamerNumber(id));
}

/// First address of this thread's share of the SRAM.
INLINE void* tinselHeapBaseSRAM(void) { return (void*)(uintptr_t)tinselHeapBaseSRAMGeneric(tinselId()); }

/// Writes back and drops all that this thread has in the cache; done when it returns.
INLINE void tinselCacheFlush(void) { GS_CSR_WRITE(GS_CSR_CACHE_FLUSH, GS_CACHE_FLUSH_ALL); }

/// Writes back and drops one line of this thread's part of the cache: way `way` of its set `lineNum`, below
/// TinselDCacheSetsPerThread.
INLINE void tinselFlushLine(uint32_t lineNum, uint32_t way) {
  GS_CSR_WRITE(GS_CSR_CACHE_FLUSH, lineNum * TinselBytesPerLine + way);
}

/// Writes a word of instruction memory; `addr` in bytes.
INLINE void tinselWriteInstr(uint32_t addr, uint32_t word) {
  GS_CSR_WRITE(GS_CSR_INSTR_ADDRESS, addr);
  GS_CSR_WRITE(GS_CSR_INSTR_WRITE, word);
}

/// Starts a thread of this core, by its number in the core.
INLINE void tinselCreateThread(uint32_t id) { GS_CSR_WRITE(GS_CSR_THREAD_START, id); }

/// Ends this thread; its exit code is 0.
INLINE void tinselKillThread(void) { GS_CSR_WRITE(GS_CSR_THREAD_STOP, 0); }

// ------------------------------------------------------------------------------ debug output

/// Writes a word to the simulator's log.
INLINE void tinselEmit(uint32_t x) { GS_CSR_WRITE(GS_CSR_EMIT, x); }

/// Writes a byte to the debug channel; nonzero if it was accepted.
INLINE uint32_t tinselUartTryPut(uint8_t x) { return GS_CSR_SWAP(GS_CSR_UART_PUT, x); }

/// A byte from the debug channel with bit 8 set, or 0.
INLINE uint32_t tinselUartTryGet(void) { return GS_CSR_READ(GS_CSR_UART_GET); }

// ------------------------------------------------------------------------------ counters

// A command acts on the counters of the thread's core, and on those of its cache. All count only after a start, except
// the cycles, which count until the first stop.

/// Clears the counters of this thread's core.
INLINE void tinselPerfCountReset(void) { GS_CSR_WRITE(GS_CSR_PERF_CONTROL, GS_PERF_CLEAR); }
/// Starts them.
INLINE void tinselPerfCountStart(void) { GS_CSR_WRITE(GS_CSR_PERF_CONTROL, GS_PERF_START); }
/// Stops them.
INLINE void tinselPerfCountStop(void) { GS_CSR_WRITE(GS_CSR_PERF_CONTROL, GS_PERF_STOP); }

/// Cache misses.
INLINE uint32_t tinselMissCount(void) { return GS_CSR_READ(GS_CSR_PERF_MISSES); }
/// Cache hits.
INLINE uint32_t tinselHitCount(void) { return GS_CSR_READ(GS_CSR_PERF_HITS); }
/// Lines written back.
INLINE uint32_t tinselWritebackCount(void) { return GS_CSR_READ(GS_CSR_PERF_WRITEBACKS); }
/// Cycles in which this core issued nothing, low word.
INLINE uint32_t tinselCPUIdleCount(void) { return GS_CSR_READ(GS_CSR_PERF_IDLE); }
/// The same, high word.
INLINE uint32_t tinselCPUIdleCountU(void) { return GS_CSR_READ(GS_CSR_PERF_IDLE_HIGH); }
#ifdef GOSSAMER_COMPAT
/// Cycles of this core, low word: a counter as the others, as in the code of Tinsel 0.8.3.
INLINE uint32_t tinselCycleCount(void) { return GS_CSR_READ(GS_CSR_PERF_CYCLES); }
/// The same, high word.
INLINE uint32_t tinselCycleCountU(void) { return GS_CSR_READ(GS_CSR_PERF_CYCLES_HIGH); }
#else
/// Cycles since reset, low word; the commands have no effect on them.
INLINE uint32_t tinselCycleCount(void) { return GS_CSR_READ(GS_CSR_CYCLE); }
/// The same, high word.
INLINE uint32_t tinselCycleCountU(void) { return GS_CSR_READ(GS_CSR_CYCLE_HIGH); }
#endif
/// Instructions that this thread has completed, low word; only differences are meaningful.
INLINE uint32_t tinselInstrCount(void) { return GS_CSR_READ(GS_CSR_INSTRET); }
/// The same, high word.
INLINE uint32_t tinselInstrCountU(void) { return GS_CSR_READ(GS_CSR_INSTRET_HIGH); }
/// Messages that this board's multicast router sent.
INLINE uint32_t tinselProgRouterSent(void) { return GS_CSR_READ(GS_CSR_PERF_ROUTED); }
/// Messages that it sent to other boards.
INLINE uint32_t tinselProgRouterSentInterBoard(void) { return GS_CSR_READ(GS_CSR_PERF_ROUTED_OFF); }

#ifdef __cplusplus
}  // extern "C"

/// Both events.
constexpr TinselWakeupCond operator|(TinselWakeupCond a, TinselWakeupCond b) {
  return static_cast<TinselWakeupCond>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
#endif
