// SPDX-License-Identifier: Apache-2.0
/// The fast path of an eager send, inlined into MPI_Send and MPI_Isend.
#pragma once

#include <string.h>

#include "transport.h"

/// Sends an eager message to a peer that has credit. `number` is the peer's next sequence number; `context` is shifted
/// to its field of a packet.
static inline __attribute__((always_inline)) void gsmpi_send_eager(Peer* peer, Packet* packet, uint32_t number,
                                                                   uint32_t context, int tag, const void* data,
                                                                   uint32_t bytes, bool whole_words) {
  peer->sent = number + 1;
  packet->word[0] = peer->first;
  peer->first = gsmpi.mine;  // this packet returns all owed credits
  packet->word[1] = (uint32_t)tag;
  packet->word[2] = number;
  packet->word[3] = bytes | context;
  if (whole_words) {
    const uint32_t* from = data;
    uint32_t* to = packet->word + 4;
    if (bytes) {
      to[0] = from[0];
      for (uint32_t at = 1; unlikely(at < bytes / 4); ++at) to[at] = from[at];
    }
  } else {
    memcpy(packet->word + 4, data, bytes);
  }
  transport_send_message(peer, packet, 16 + bytes);
}
