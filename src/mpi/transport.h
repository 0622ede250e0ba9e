// SPDX-License-Identifier: Apache-2.0
/// The transport: carries packets from rank to rank. Packets arrive once and unchanged, in any order.
//
// Two implementations: shared memory between processes of this machine (shared.c), and mailboxes of the overlay
// (mailbox.h).
#pragma once

#include "internal.h"

#ifdef __GOSSAMER_DEVICE__
#include "mailbox.h"
#else

/// Joins this process to its run; sets its rank and the number of ranks. False: it was not started as a rank.
bool transport_join(int* rank, int* size);
/// Discards packets of an earlier run. A rank sends nothing before this returns. Shared memory is new in each run.
static inline void transport_start(void) {}
/// A packet buffer for a peer, or null if none is free. The caller must send the returned buffer.
Packet* transport_begin(const Peer* peer);
void transport_send(const Peer* peer, Packet* packet, uint32_t bytes);
/// The same for a packet that must be matched with a receive.
static inline void transport_send_message(const Peer* peer, Packet* packet, uint32_t bytes) {
  transport_send(peer, packet, bytes);
}
/// The next received packet, or null. It stays valid until it is released.
const Packet* transport_receive(void);
void transport_release(const Packet* packet);
/// Sleeps until a packet arrives, or briefly if the caller wants to send. True: the run is deadlocked.
bool transport_wait(bool sending);
void transport_leave(void);
uint32_t transport_address(int rank);
static inline uint32_t transport_matcher(uint32_t address) { return address; }
/// Ends the run; transport_stop ends this rank where all ranks end.
_Noreturn void transport_end(int code);
_Noreturn void transport_stop(int code);
/// Prints a message of the library about a call of the program, given by its return address, or null.
void transport_print(const void* caller, const char* text);
/// Name of this machine.
void transport_host(char* name, size_t size);
double transport_seconds(void);
/// Resolution of transport_seconds.
double transport_tick(void);
#endif
