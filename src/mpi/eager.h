// SPDX-License-Identifier: Apache-2.0
/// The packet of an eager message, made in place: part of MPI_Isend, which is to be short.
#pragma once

#include <string.h>

#include "transport.h"

/// A packet of an eager message; `flow` is that of its peer, which has credit.
static inline __attribute__((always_inline)) void gsmpi_send_eager(Peer* peer, Packet* packet, uint32_t context,
                                                                   int tag, const void* data, uint32_t bytes) {
  const uint32_t flow = peer->flow;
  peer->flow = (flow & ~0xFF00u) + 0xFFFF;  // a credit less, the next number, nothing owed
  packet->word[0] = gsmpi.mine | (flow & 0xFF00);
  packet->word[1] = (uint32_t)tag;
  packet->word[2] = context | (flow & 0xFFFF0000u);
  packet->word[3] = bytes;
  if (likely((((uintptr_t)data | bytes) & 3) == 0)) {
    const uint32_t* from = data;
    uint32_t* to = packet->word + 4;
    for (const uint32_t* end = from + bytes / 4; from != end;) *to++ = *from++;
  } else {
    memcpy(packet->word + 4, data, bytes);
  }
  transport_send(peer, packet, 16 + bytes);
}
