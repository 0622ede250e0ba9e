// SPDX-License-Identifier: Apache-2.0
/// The transport between threads of the overlay: a packet is a mailbox message.
//
// Compile-time parameters place the ranks on boards and threads: GSMPI_SIZE ranks in total, GSMPI_PER_BOARD on each
// board, on every GSMPI_STRIDE-th thread.
#pragma once

#include <stdio.h>
#include <tinsel.h>

/// Word that a rank emits to the host when it ends the run, ORed with an exit code.
#define GSMPI_ENDS 0x4D504900u
/// Characters that enclose text for stderr; python/gossamer/cli/mpi.py has the same.
#define GSMPI_STDERR_BEGIN 0x0E
#define GSMPI_STDERR_END 0x0F

static inline bool transport_join(int* rank, int* size) {
  *rank = (int)(gossamerBoard() * GSMPI_PER_BOARD + gossamerThread() / GSMPI_STRIDE);
  *size = GSMPI_SIZE;
  gsmpi.slot = (Packet*)tinselSendSlot();
  return true;
}

static inline uint32_t transport_address(int rank) {
  return gossamerAddressOn((uint32_t)rank / GSMPI_PER_BOARD, (uint32_t)rank % GSMPI_PER_BOARD * GSMPI_STRIDE);
}

static inline Packet* transport_begin(const Peer* peer) {
  (void)peer;
  if (unlikely(!tinselCanSend())) return NULL;
  Packet* slot = gsmpi.slot;
  if (slot == NULL) __builtin_unreachable();  // saves the callers' null checks
  return slot;
}

static inline void transport_send_to(uint32_t address, Packet* packet, uint32_t bytes) {
  GS_CSR_WRITE(GS_CSR_SEND_LENGTH, (bytes - 1) / GS_FLIT_BYTES);
  GS_CSR_WRITE(GS_CSR_SEND_SLOT, (uintptr_t)packet);
  GS_CSR_WRITE(GS_CSR_SEND_DEST, address);
}

static inline void transport_send(const Peer* peer, Packet* packet, uint32_t bytes) {
  transport_send_to(peer->address, packet, bytes);
}

static inline void transport_send_message(const Peer* peer, Packet* packet, uint32_t bytes) {
  transport_send_to(MATCH_IN_HARDWARE ? peer->matcher : peer->address, packet, bytes);
}

/// Address of a thread's match engine: the accelerator of its tile, with the thread as port; or the engine at its
/// board, whose ranks are the parts of threads' addresses below the board.
static inline uint32_t transport_matcher(uint32_t address) {
#if GS_MATCH_ON_BOARD
  return gossamerMatcher(address);
#else
  return GS_ADDRESS_ACCELERATOR | address;
#endif
}

static inline const Packet* transport_receive(void) { return tinselCanRecv() ? (const Packet*)tinselRecv() : NULL; }

static inline void transport_release(const Packet* packet) { tinselFree((volatile void*)packet); }

static inline void transport_discard(void) {
  for (const Packet* packet; (packet = transport_receive()) != NULL;) transport_release(packet);
}

/// Hardware barrier: all running threads have arrived and no message is in flight. Discards what was received before.
static inline void transport_quiesce(void) {
  do transport_discard();
  while (tinselIdle(0) == 0);
}

/// No thread leaves the first barrier before all have arrived, so it discards only packets of an earlier program. Each
/// thread clears its engine before it enters the second barrier, and no rank sends before that: no early message is
/// lost.
static inline void transport_start(void) {
  transport_quiesce();
#if MATCH_IN_HARDWARE
  gsmpi_engine_clear();
  transport_quiesce();
#endif
}

/// The hardware detects deadlock: all threads wait for messages, and none is in flight.
static inline bool transport_wait(bool sending) {
  if (!sending) return tinselIdle(0) != 0;
  tinselWaitUntil((TinselWakeupCond)(TINSEL_CAN_SEND | TINSEL_CAN_RECV));
  return false;
}

_Noreturn static inline void transport_end(int code) {
  tinselEmit(GSMPI_ENDS | (uint32_t)(code & 0xFF));
  _exit(code);
}

_Noreturn static inline void transport_stop(int code) { _exit(code); }

/// After the final barrier nothing is in flight to this rank.
static inline void transport_leave(void) {}

static inline double transport_seconds(void) {
  const uint32_t high = tinselCycleCountU(), low = tinselCycleCount(), again = tinselCycleCountU();
  const uint64_t cycles = (uint64_t)again << 32 | (again == high ? low : tinselCycleCount());
  return (double)cycles / GS_CLOCK_HZ;
}

/// Name of the machine that simulates the board, in the source with the program's arguments; followed by the board.
extern const char gsmpi_host[];
static inline void transport_host(char* name, size_t size) {
  if (GSMPI_SIZE > GSMPI_PER_BOARD)
    snprintf(name, size, "%s-board%u", gsmpi_host, (unsigned)gossamerBoard());
  else
    snprintf(name, size, "%s", gsmpi_host);
}

/// Selects stdout (1) or stderr (2) for the text that follows.
void gossamer_select_stream(int number);

static inline double transport_tick(void) { return 1.0 / GS_CLOCK_HZ; }
