// SPDX-License-Identifier: Apache-2.0
/// A request to the match engine of the tile, inlined into MPI_Recv.
#pragma once

#include "transport.h"

#if MATCH_IN_HARDWARE

/// `context` is shifted to its field of a packet. A null peer means any source.
static inline __attribute__((always_inline)) void gsmpi_engine_request(uint32_t kind, uint32_t context,
                                                                       const Peer* peer, int tag, uint32_t handle) {
  const Peer* self = &gsmpi.peers[gsmpi.rank];
  Packet* packet = transport_begin(self);
  if (unlikely(packet == NULL)) packet = gsmpi_begin(self);
  if (likely(peer != NULL))
    kind |= (uint32_t)peer->rank << 16;
  else
    handle |= 1u << 31;
  if (unlikely(tag == MPI_ANY_TAG)) handle |= 1u << 30;
  packet->word[0] = kind | gsmpi.engine.first;
  gsmpi.engine.first = 0;
  packet->word[1] = (uint32_t)tag;
  packet->word[2] = handle;
  packet->word[3] = context;
  transport_send_message(self, packet, 16);
}
#endif
