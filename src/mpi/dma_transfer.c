// SPDX-License-Identifier: Apache-2.0
/// Long messages by the tile's DMA engine, which writes whole lines of the receiver's memory and bypasses its cache.
//
// Both sides flush their caches first: the sender so that the DMA engine reads current data, the receiver so that no
// line of its buffer is written back over the received data or read from a stale copy. The receive completes only when
// all data has arrived, and a program must not touch the buffer before that. The DMA engine does not write lines that
// the buffer shares with other variables, since the receiver may write those variables meanwhile.

#include "transport.h"

#if DMA_IN_HARDWARE

typedef struct DmaSplit {
  uint32_t head, middle, tail;  // bytes
} DmaSplit;

static DmaSplit split_of(const Request* request) {
  const uint32_t most = (0u - request->remote_address) % TinselBytesPerLine;
  DmaSplit split;
  split.head = most < request->wanted ? most : request->wanted;
  split.middle = (request->wanted - split.head) & ~(uint32_t)(TinselBytesPerLine - 1);
  split.tail = request->wanted - split.head - split.middle;
  return split;
}

/// Memory that a DMA engine can address: DRAM and SRAM, not the mailbox's scratchpad.
static bool dma_reaches(uint32_t address) { return address >= 0x10000000u; }

uint32_t gsmpi_dma_target(const Request* request) {
  const uint32_t address = (uint32_t)(uintptr_t)request->data;
  if (!dma_reaches(address) || request->wanted <= kDataBytes) return 0;
  tinselCacheFlush();
  return address;
}

void gsmpi_dma_begin(Request* request, uint32_t remote_address) {
  request->remote_address = remote_address;
  request->next = NULL;
  if (remote_address == 0 || !dma_reaches((uint32_t)(uintptr_t)request->data) || split_of(request).middle == 0) {
    gsmpi_add_work(request, kSendData);
  } else if (gsmpi.dma_send) {
    gsmpi.last_dma_send->next = request;
    gsmpi.last_dma_send = request;
  } else {
    gsmpi.dma_send = gsmpi.last_dma_send = request;
    gsmpi_add_work(request, kSendDma);
  }
}

void gsmpi_dma_send(Request* request, Packet* packet) {
  const DmaSplit split = split_of(request);
  if (request->moved < split.head) {
    gsmpi_send_data(request, packet, 0, split.head);
    request->moved = split.head;
  } else if (request->moved < split.head + split.tail) {
    gsmpi_send_data(request, packet, split.head + split.middle, split.tail);
    request->moved = split.head + split.tail;
  } else {
    tinselCacheFlush();
    packet->word[0] = GS_MATCH_PACKET_MOVE;
    packet->word[1] = request->peer->address;
    packet->word[2] = (uint32_t)request->remote_id << 16 | request->id;
    packet->word[3] = split.middle;
    packet->word[4] = (uint32_t)(uintptr_t)request->data + split.head;
    packet->word[5] = request->remote_address + split.head;
    packet->word[6] = packet->word[7] = 0;
    transport_send_message(&gsmpi.peers[gsmpi.rank], packet, 32);
    request->work = kNoWork;
  }
}

void gsmpi_dma_event(const Packet* packet) {
  const uint32_t word = packet->word[0], bytes = packet->word[3];
  Request* request = gsmpi.requests[packet->word[2] & 0xFFFF];
  if (word >> 8 & 0xF)
    gsmpi_abort_run(MPI_ERR_INTERN, "the DMA engine", "rejects %u bytes for address 0x%x of rank %d: reason %u",
                    (unsigned)bytes, (unsigned)request->remote_address, request->peer->rank,
                    (unsigned)(word >> 8 & 0xF));
  if ((word & 0xFF) == GS_MATCH_PACKET_LANDED) {
    request->moved += bytes;
    if (request->moved == request->wanted) gsmpi_complete(request);
    return;
  }
  gsmpi.dma_send = request->next;
  gsmpi_complete(request);
  if (gsmpi.dma_send) gsmpi_add_work(gsmpi.dma_send, kSendDma);
}
#endif
