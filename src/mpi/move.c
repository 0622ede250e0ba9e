// SPDX-License-Identifier: Apache-2.0
/// Long messages by the DMA engine of the tile: whole lines of the receiver's memory are written past its cache.
//
// Both sides empty their caches first: the sender so that the DMA engine reads what it wrote, the receiver so that no line
// of its buffer is written back over what comes, or read from the cache behind it. The receive is not complete before
// all has come, and a program may not touch its buffer until then. Lines that the buffer shares with other variables
// are not moved: the receiver may write to those variables meanwhile.

#include "transport.h"

#if MOVES_IN_HARDWARE

typedef struct Parts {
  uint32_t head, middle, tail;  // bytes
} Parts;

static Parts parts_of(const Request* request) {
  const uint32_t most = (0u - request->place) % TinselBytesPerLine;
  Parts parts;
  parts.head = most < request->wanted ? most : request->wanted;
  parts.middle = (request->wanted - parts.head) & ~(uint32_t)(TinselBytesPerLine - 1);
  parts.tail = request->wanted - parts.head - parts.middle;
  return parts;
}

/// Memory that a DMA engine reaches: DRAM and SRAM, not the mailbox's scratchpad.
static bool reached(uint32_t address) { return address >= 0x10000000u; }

uint32_t gsmpi_move_place(const Request* request) {
  const uint32_t place = (uint32_t)(uintptr_t)request->data;
  if (!reached(place) || request->wanted <= kDataBytes) return 0;
  tinselCacheFlush();
  return place;
}

void gsmpi_move_begin(Request* request, uint32_t place) {
  request->place = place;
  request->next = NULL;
  if (place == 0 || !reached((uint32_t)(uintptr_t)request->data) || parts_of(request).middle == 0) {
    gsmpi_add_work(request, kSendData);
  } else if (gsmpi.move) {
    gsmpi.last_move->next = request;
    gsmpi.last_move = request;
  } else {
    gsmpi.move = gsmpi.last_move = request;
    gsmpi_add_work(request, kSendMove);
  }
}

void gsmpi_move_send(Request* request, Packet* packet) {
  const Parts parts = parts_of(request);
  if (request->moved < parts.head) {
    gsmpi_send_data(request, packet, 0, parts.head);
    request->moved = parts.head;
  } else if (request->moved < parts.head + parts.tail) {
    gsmpi_send_data(request, packet, parts.head + parts.middle, parts.tail);
    request->moved = parts.head + parts.tail;
  } else {
    tinselCacheFlush();
    packet->word[0] = GS_MATCH_PACKET_MOVE;
    packet->word[1] = request->peer->address;
    packet->word[2] = (uint32_t)request->their_id << 16 | request->id;
    packet->word[3] = parts.middle;
    packet->word[4] = (uint32_t)(uintptr_t)request->data + parts.head;
    packet->word[5] = request->place + parts.head;
    packet->word[6] = packet->word[7] = 0;
    transport_send_message(&gsmpi.peers[gsmpi.rank], packet, 32);
    request->work = kNoWork;
  }
}

void gsmpi_move_says(const Packet* packet) {
  const uint32_t word = packet->word[0], bytes = packet->word[3];
  Request* request = gsmpi.requests[packet->word[2] & 0xFFFF];
  if (word >> 8 & 0xF)
    gsmpi_die(MPI_ERR_INTERN, "the DMA engine", "refuses %u bytes for address 0x%x of rank %d: reason %u",
              (unsigned)bytes, (unsigned)request->place, request->peer->rank, (unsigned)(word >> 8 & 0xF));
  if ((word & 0xFF) == GS_MATCH_PACKET_LANDED) {
    request->moved += bytes;
    if (request->moved == request->wanted) gsmpi_complete(request);
    return;
  }
  gsmpi.move = request->next;
  gsmpi_complete(request);
  if (gsmpi.move) gsmpi_add_work(gsmpi.move, kSendMove);
}
#endif
