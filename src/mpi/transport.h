// SPDX-License-Identifier: Apache-2.0
/// What carries packets from rank to rank. Packets arrive once and unchanged, in any order.
//
// There are two: shared memory between processes of this machine (shared.c), and mailboxes of the overlay (mailbox.h).
#pragma once

#include "internal.h"

#ifdef __GOSSAMER_DEVICE__
#include "mailbox.h"
#else

/// This process joins its run: its rank, and how many there are. False: it was not started as a rank.
bool transport_join(int* rank, int* size);
/// Behind it nothing is there that an earlier run has left; a rank sends nothing before. What is shared is new here.
static inline void transport_start(void) {}
/// Room for a packet to a rank, or null if there is none now. What was given must be sent.
Packet* transport_begin(const Peer* peer);
void transport_send(const Peer* peer, Packet* packet, uint32_t bytes);
/// The same for what has to find its receive.
static inline void transport_send_message(const Peer* peer, Packet* packet, uint32_t bytes) {
  transport_send(peer, packet, bytes);
}
/// The next packet, or null; it stays until it is released.
const Packet* transport_receive(void);
void transport_release(const Packet* packet);
/// Sleeps until a packet is there, or for a moment if the caller wants to send. True: no rank can ever go on.
bool transport_wait(bool sending);
void transport_leave(void);
uint32_t transport_address(int rank);
static inline uint32_t transport_matcher(uint32_t address) { return address; }
/// Ends the run, or this rank where all ranks end.
_Noreturn void transport_end(int code);
_Noreturn void transport_stop(int code);
double transport_seconds(void);
/// Seconds from one value of it to the next.
double transport_tick(void);
#endif
