// SPDX-License-Identifier: Apache-2.0
/// Packets between threads of the overlay: a packet is a message of the mailbox.
//
// Ranks are spread over boards and threads as the command says when it compiles: GSMPI_SIZE ranks, GSMPI_PER_BOARD on
// a board, GSMPI_STRIDE threads from one to the next.
#pragma once

#include <tinsel.h>

/// What the host is told when a rank ends the run: this and an exit code.
#define GSMPI_ENDS 0x4D504900u

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
  if (slot == NULL) __builtin_unreachable();  // so that nobody asks again
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

/// The address of the engine of a thread's tile has the thread as its port.
static inline uint32_t transport_matcher(uint32_t address) { return GS_ADDRESS_ACCELERATOR | address; }

static inline const Packet* transport_receive(void) { return tinselCanRecv() ? (const Packet*)tinselRecv() : NULL; }

static inline void transport_release(const Packet* packet) { tinselFree((volatile void*)packet); }

static inline void transport_drop(void) {
  for (const Packet* packet; (packet = transport_receive()) != NULL;) transport_release(packet);
}

/// The hardware's barrier: every thread that runs is here, and no message is on its way. What came before is dropped.
static inline void transport_quiet(void) {
  do transport_drop();
  while (tinselIdle(0) == 0);
}

/// Nobody leaves before all have come, so what is dropped was left by an earlier program. The engine is empty before
/// its thread is in the second barrier, and no rank sends before that: a message that comes early is not lost.
static inline void transport_start(void) {
  transport_quiet();
#if MATCH_IN_HARDWARE
  gsmpi_engine_clear();
  transport_quiet();
#endif
}

/// The hardware finds out that nobody can go on: all threads wait for messages, and none is on its way.
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

/// After the barrier of the end nothing is on its way to this rank but its own thread's end.
static inline void transport_leave(void) {}

static inline double transport_seconds(void) {
  const uint32_t high = tinselCycleCountU(), low = tinselCycleCount(), again = tinselCycleCountU();
  const uint64_t cycles = (uint64_t)again << 32 | (again == high ? low : tinselCycleCount());
  return (double)cycles / GS_CLOCK_HZ;
}

static inline double transport_tick(void) { return 1.0 / GS_CLOCK_HZ; }
