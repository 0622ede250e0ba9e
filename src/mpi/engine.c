// SPDX-License-Identifier: Apache-2.0
/// Matching by an engine in the tile's accelerator slot or at the board: the same functions as match.c.
//
// A receive is posted with its request's number, and the engine forwards the matching message with that number, so this
// file searches nothing. All packets of a pair take the same path through the request network, so they reach the engine
// in the order in which they were sent.

#include "engine.h"

#include <string.h>

#if MATCH_IN_HARDWARE

static RANK_LOCAL UnexpectedMessage probed;
static RANK_LOCAL UnexpectedMessage** take_result;  // where a matched probe stores its message
static RANK_LOCAL uint32_t engine_reply;            // kind of the engine's last reply to a probe or cancel, 0 before

/// Sends a request to the engine of this rank.
static void request_engine(uint32_t kind, uint32_t context, const Peer* peer, int tag, uint32_t handle) {
  gsmpi_engine_request(kind, context << 16, peer, tag, handle);
}

/// The same, and waits for the reply. Later packets stay in the mailbox, so the next transport_wait sees them.
static uint32_t request_and_wait(uint32_t kind, uint32_t context, const Peer* peer, int tag, uint32_t handle) {
  engine_reply = 0;
  request_engine(kind, context, peer, tag, handle);
  while (engine_reply == 0) {
    if (gsmpi_receive_one()) continue;
    gsmpi_send_pending();  // the engine may wait for the count of consumed packets
    transport_wait(gsmpi.work != NULL || gsmpi.credit_returns != NULL);
  }
  return engine_reply;
}

void gsmpi_engine_event(const Packet* packet) {
  const uint32_t kind = packet->word[0] & 0xFF;
  const int tag = (int)packet->word[1];
  const bool eager = kind == (GS_MATCH_PACKET_FOUND | kEager);
  switch (kind) {
    case GS_MATCH_PACKET_NEWS: return;  // it woke this thread, which probes again
    case GS_MATCH_PACKET_FULL_POSTS:
      gsmpi_abort_run(MPI_ERR_OTHER, "the match engine",
                      "no free entry for a receive with tag %d: the engine stores %d posted receives", tag,
                      GS_MATCH_RECEIVES);
    case GS_MATCH_PACKET_FULL_MESSAGES:
      gsmpi_abort_run(MPI_ERR_OTHER, "the match engine",
                      "no free entry for an unexpected message from rank %d of the world, "
                      "tag %d: the engine stores %d RTS messages",
                      (int)(packet->word[0] >> 16), tag, GS_MATCH_ANNOUNCED);
    case GS_MATCH_PACKET_BAD: gsmpi_abort_run(MPI_ERR_INTERN, "the match engine", "rejects this rank's request");
    default: engine_reply = kind;
  }
  if (kind & 0x80) return;
  probed.context = packet->word[3] >> 16;
  probed.bytes = eager ? packet->word[3] & 0xFFFF : packet->word[5];
  probed.tag = tag;
  probed.peer = &gsmpi.peers[packet->word[0] >> 16];
  if (!take_result) return;
  const uint32_t kept = eager ? probed.bytes : 0;
  UnexpectedMessage* unexpected = gsmpi_allocate(sizeof *unexpected + kept, "the message of a matched probe");
  *unexpected = probed;
  unexpected->announced = !eager;
  unexpected->remote_id = (uint16_t)packet->word[4];
  memcpy(unexpected->data, packet->word + 4, kept);
  *take_result = unexpected;
}

void gsmpi_engine_clear(void) {
  // Each boot seeds the engine's hash with another secret, derived from the cycle counter.
  Packet* packet = gsmpi_begin(&gsmpi.peers[gsmpi.rank]);
  uint32_t bits = tinselCycleCount() ^ (uint32_t)gsmpi.rank << 20;
  for (int word = 0; word < 4; ++word) {
    bits = (bits ^ bits >> 15) * 0x2C1B3C6Du + 0x9E3779B9u;
    packet->word[word] = bits ^ bits >> 13;
  }
  packet->word[0] = (packet->word[0] & 0xFFFF0000u) | GS_MATCH_PACKET_CLEAR;
  transport_send_message(&gsmpi.peers[gsmpi.rank], packet, 16);
  for (;;) {
    tinselWaitUntil(TINSEL_CAN_RECV);
    const Packet* cleared = transport_receive();
    const uint32_t kind = cleared->word[0] & 0xFF;
    transport_release(cleared);
    if (kind == GS_MATCH_PACKET_CLEARED) return;
  }
}

UnexpectedMessage* gsmpi_match_receive(Request* request) {
  request->queued = true;
  request_engine(GS_MATCH_PACKET_POST, request->context, request->peer, request->tag, request->id);
  return NULL;
}

const UnexpectedMessage* gsmpi_match_probe(uint32_t context, const Peer* peer, int tag, bool waits) {
  const uint32_t reply = request_and_wait(waits ? GS_MATCH_PACKET_WATCH : GS_MATCH_PACKET_PROBE, context, peer, tag, 0);
  return reply == GS_MATCH_PACKET_NONE ? NULL : &probed;
}

UnexpectedMessage* gsmpi_match_take(uint32_t context, const Peer* peer, int tag) {
  UnexpectedMessage* unexpected = NULL;
  take_result = &unexpected;
  request_and_wait(GS_MATCH_PACKET_TAKE, context, peer, tag, 0);
  take_result = NULL;
  return unexpected;
}

bool gsmpi_match_cancel(Request* request) {
  if (!request->queued) return false;
  if (request_and_wait(GS_MATCH_PACKET_CANCEL, 0, NULL, 0, request->id) != GS_MATCH_PACKET_CANCELLED) return false;
  request->queued = false;
  return true;
}

const UnexpectedMessage* gsmpi_match_unreceived(void) {
  for (uint32_t number = 0; number < 32 * gsmpi.context_words; ++number) {
    if (!(gsmpi.contexts[number / 32] >> number % 32 & 1)) continue;
    for (uint32_t context = 4 * number + 1; context < 4 * number + 4; context += 2) {
      const UnexpectedMessage* unexpected = gsmpi_match_probe(context, NULL, MPI_ANY_TAG, false);
      if (unexpected) return unexpected;
    }
  }
  return NULL;
}
#endif
