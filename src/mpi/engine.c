// SPDX-License-Identifier: Apache-2.0
/// Matching by the engine in the tile's accelerator slot: the same calls as match.c.
//
// A receive is posted with its request's number; the message comes back with that number when it has matched, so
// nothing is looked for here. Packets of a pair reach the engine in the order in which they were sent, as all of them
// take one way through the network of requests.

#include "engine.h"

#include <string.h>

#if MATCH_IN_HARDWARE

static RANK_LOCAL Early probed;
static RANK_LOCAL Early** taken;    // where a matched probe wants its message
static RANK_LOCAL uint32_t answer;  // what the engine said last to a probe or cancel, 0 before

/// Asks the engine of this tile.
static void ask(uint32_t kind, uint32_t context, const Peer* peer, int tag, uint32_t handle) {
  gsmpi_ask(kind, context << 16, peer, tag, handle);
}

/// The same, and waits for the answer. What is behind the answer stays in the mailbox, so who sleeps next sees it.
static uint32_t ask_and_wait(uint32_t kind, uint32_t context, const Peer* peer, int tag, uint32_t handle) {
  answer = 0;
  ask(kind, context, peer, tag, handle);
  while (answer == 0) {
    if (gsmpi_take_one()) continue;
    gsmpi_send_pending();  // the engine may wait to hear of packets that were taken
    transport_wait(gsmpi.work != NULL || gsmpi.repay != NULL);
  }
  return answer;
}

void gsmpi_engine_says(const Packet* packet) {
  const uint32_t kind = packet->word[0] & 0xFF;
  const int tag = (int)packet->word[1];
  const bool eager = kind == (GS_MATCH_PACKET_FOUND | kEager);
  switch (kind) {
    case GS_MATCH_PACKET_NEWS: return;  // it has woken who looks again
    case GS_MATCH_PACKET_FULL_POSTS:
      gsmpi_die(MPI_ERR_OTHER, "the match engine",
                "no room for a receive with tag %d: the tile keeps %d receives that wait", tag, GS_MATCH_RECEIVES);
    case GS_MATCH_PACKET_FULL_MESSAGES:
      gsmpi_die(MPI_ERR_OTHER, "the match engine",
                "no room for a message without a receive, from rank %d of the world, "
                "tag %d: the tile keeps %d that are announced",
                (int)(packet->word[0] >> 16), tag, GS_MATCH_ANNOUNCED);
    case GS_MATCH_PACKET_BAD: gsmpi_die(MPI_ERR_INTERN, "the match engine", "refuses what this rank asked for");
    default: answer = kind;
  }
  if (kind & 0x80) return;
  probed.context = packet->word[3] >> 16;
  probed.bytes = eager ? packet->word[3] & 0xFFFF : packet->word[5];
  probed.tag = tag;
  probed.peer = &gsmpi.peers[packet->word[0] >> 16];
  if (!taken) return;
  const uint32_t kept = eager ? probed.bytes : 0;
  Early* early = gsmpi_allocate(sizeof *early + kept, "the message of a matched probe");
  *early = probed;
  early->announced = !eager;
  early->their_id = (uint16_t)packet->word[4];
  memcpy(early->data, packet->word + 4, kept);
  *taken = early;
}

void gsmpi_engine_clear(void) {
  // The engine's hash gets another secret in each boot: what the counter of cycles makes of it.
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
    const Packet* answer = transport_receive();
    const uint32_t kind = answer->word[0] & 0xFF;
    transport_release(answer);
    if (kind == GS_MATCH_PACKET_CLEARED) return;
  }
}

Early* gsmpi_match_receive(Request* request) {
  request->queued = true;
  ask(GS_MATCH_PACKET_POST, request->context, request->peer, request->tag, request->id);
  return NULL;
}

const Early* gsmpi_match_probe(uint32_t context, const Peer* peer, int tag, bool waits) {
  const uint32_t said = ask_and_wait(waits ? GS_MATCH_PACKET_WATCH : GS_MATCH_PACKET_PROBE, context, peer, tag, 0);
  return said == GS_MATCH_PACKET_NONE ? NULL : &probed;
}

Early* gsmpi_match_take(uint32_t context, const Peer* peer, int tag) {
  Early* early = NULL;
  taken = &early;
  ask_and_wait(GS_MATCH_PACKET_TAKE, context, peer, tag, 0);
  taken = NULL;
  return early;
}

bool gsmpi_match_cancel(Request* request) {
  if (!request->queued) return false;
  if (ask_and_wait(GS_MATCH_PACKET_CANCEL, 0, NULL, 0, request->id) != GS_MATCH_PACKET_CANCELLED) return false;
  request->queued = false;
  return true;
}

const Early* gsmpi_match_left(void) {
  for (uint32_t number = 0; number < kContexts; ++number) {
    if (!(gsmpi.contexts[number / 32] >> number % 32 & 1)) continue;
    const Early* early = gsmpi_match_probe(2 * number + 1, NULL, MPI_ANY_TAG, false);
    if (early) return early;
  }
  return NULL;
}
#endif
