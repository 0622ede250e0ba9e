// SPDX-License-Identifier: Apache-2.0
/// Messages: what is sent, what becomes of packets that come, and the work that they leave behind.

#include <string.h>

#include "eager.h"
#include "engine.h"

RANK_LOCAL Rank gsmpi;

// ---------------------------------------------------------------------- requests

Request* gsmpi_new_request(const char* call) {
  Request* request = gsmpi.free_requests;
  if (likely(request != NULL)) {
    gsmpi.free_requests = request->next;
    const uint16_t id = request->id;
    memset(request, 0, sizeof *request);
    request->id = id;
    request->used = true;
    return request;
  }
  if (gsmpi.request_count == kMostRequests)
    gsmpi_die(MPI_ERR_OTHER, call, "%d requests are open, which is the most; wait for some", kMostRequests);
  if (gsmpi.request_count == gsmpi.request_room) {
    const uint32_t room = gsmpi.request_room ? 2 * gsmpi.request_room : 32;
    Request** larger = gsmpi_allocate(room * sizeof *larger, call);
    if (gsmpi.request_count) memcpy(larger, gsmpi.requests, gsmpi.request_count * sizeof *larger);
    gsmpi_release(gsmpi.requests);
    gsmpi.requests = larger;
    gsmpi.request_room = room;
  }
  request = gsmpi_allocate(sizeof *request, call);
  memset(request, 0, sizeof *request);
  request->id = (uint16_t)gsmpi.request_count;
  request->used = true;
  gsmpi.requests[gsmpi.request_count++] = request;
  return request;
}

void gsmpi_free_request(Request* request) {
  if (request->copied) gsmpi_release(request->data);
  request->used = false;
  request->next = gsmpi.free_requests;
  gsmpi.free_requests = request;
}

void gsmpi_complete(Request* request) {
  request->done = true;
  if (request->receives) {
    if (request->copied) gsmpi_unpack(request->data, request->moved, request->count, request->type, request->buffer);
    request->status.gsmpi_bytes = (int)request->moved;
  }
  if (request->freed) gsmpi_free_request(request);
}

// ---------------------------------------------------------------------- work that waits to be sent

void gsmpi_add_work(Request* request, Work work) {
  request->work = (uint8_t)work;
  request->next_work = NULL;
  if (gsmpi.work)
    gsmpi.last_work->next_work = request;
  else
    gsmpi.work = request;
  gsmpi.last_work = request;
}

static void repay(Peer* peer) {
  if (peer->repaying) return;
  peer->repaying = true;
  peer->next = gsmpi.repay;
  gsmpi.repay = peer;
}

/// A message of a peer has found its receive: the peer gets its credit back, with the next packet or by itself.
static void owe(Peer* peer) {
  peer->first += 0x100;
  if ((peer->first & 0xFF00) >= kCredits / 2 * 0x100 && !gsmpi.finalizing) repay(peer);
}

#if MATCH_IN_HARDWARE
/// A packet of the engine was taken; it hears of that with the next request, or by itself.
static void took(void) {
  gsmpi.engine.first += 0x100;
  if (gsmpi.engine.first >= GS_MATCH_WINDOW / 2 * 0x100) repay(&gsmpi.engine);
}
#endif

/// Word 0 of a packet that carries credit.
static uint32_t first_word(Peer* peer, Kind kind) {
  const uint32_t word = peer->first - kEager + (uint32_t)kind;
  peer->first = gsmpi.mine;
  return word;
}

void gsmpi_send_data(const Request* request, Packet* packet, uint32_t at, uint32_t bytes) {
  packet->word[0] = kData | (uint32_t)request->their_id << 16;
#if MOVES_IN_HARDWARE
  packet->word[0] |= bytes << 8;
#endif
  packet->word[1] = at;
  memcpy(packet->word + 2, request->data + at, bytes);
  transport_send(request->peer, packet, 8 + bytes);
}

/// Sends a packet of a request's work; false if there is no room for it now.
static bool do_work(Request* request) {
  Peer* peer = request->peer;
  Packet* packet = transport_begin(peer);
  if (!packet) return false;
  if (request->work == kSendClear) {
    packet->word[0] = first_word(peer, kCts);
    packet->word[1] = request->their_id;
    packet->word[2] = request->wanted;
    packet->word[3] = request->id;
#if MOVES_IN_HARDWARE
    packet->word[4] = gsmpi_move_place(request);
    transport_send(peer, packet, 20);
#else
    transport_send(peer, packet, 16);
#endif
    request->work = kNoWork;
    if (request->wanted == 0) gsmpi_complete(request);
    return true;
  }
#if MOVES_IN_HARDWARE
  if (request->work == kSendMove) {
    gsmpi_move_send(request, packet);
    return true;
  }
#endif
  const uint32_t left = request->wanted - request->moved;
  const uint32_t now = left < kDataBytes ? left : kDataBytes;
  gsmpi_send_data(request, packet, request->moved, now);
  request->moved += now;
  if (request->moved == request->wanted) {
    request->work = kNoWork;
    gsmpi_complete(request);
  }
  return true;
}

/// Sends what waits, as far as there is room. A peer without room holds up nobody but itself.
__attribute__((noinline)) void gsmpi_send_pending(void) {
  for (Peer** at = &gsmpi.repay; unlikely(*at != NULL);) {
    Peer* peer = *at;
    if (peer->first & 0xFF00) {
      Packet* packet = transport_begin(peer);
      if (!packet) {
        at = &peer->next;
        continue;
      }
#if MATCH_IN_HARDWARE
      if (peer == &gsmpi.engine) {
        packet->word[0] = GS_MATCH_PACKET_TAKEN | peer->first;
        peer->first = 0;
      } else
#endif
        packet->word[0] = first_word(peer, kCredit);
      transport_send(peer, packet, 4);
    }
    *at = peer->next;
    peer->repaying = false;
  }
  Request* stuck = NULL;
  while (gsmpi.work && gsmpi.work != stuck) {
    Request* request = gsmpi.work;
    gsmpi.work = request->next_work;
    const uint16_t before = request->work;
    if (do_work(request)) {
      stuck = NULL;
      if (request->work == before && request->work != kNoWork) gsmpi_add_work(request, before);
    } else {
      if (!stuck) stuck = request;
      gsmpi_add_work(request, before);
    }
  }
}

// ---------------------------------------------------------------------- what comes

static void take(Request* request, const Peer* peer, int tag, uint32_t bytes) {
  request->status.MPI_SOURCE = gsmpi_source(request->comm, peer);
  request->status.MPI_TAG = tag;
  request->status.MPI_ERROR = bytes > request->bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  request->wanted = bytes > request->bytes ? request->bytes : bytes;
  request->came = bytes;
  request->peer = (Peer*)peer;
}

/// A whole message for a receive.
static void deliver(Request* request, const Peer* peer, int tag, uint32_t bytes, const void* data) {
  take(request, peer, tag, bytes);
  memcpy(request->data, data, request->wanted);
  request->moved = request->wanted;
  gsmpi_complete(request);
}

/// A message that was announced: its sender hears that it may come, and where to.
static void clear(Request* request, const Peer* peer, int tag, uint32_t bytes, uint16_t their_id) {
  take(request, peer, tag, bytes);
  request->moved = 0;
  request->their_id = their_id;
  gsmpi_add_work(request, kSendClear);
}

/// A message for a receive.
static void give(Request* request, const Packet* packet, Peer* peer) {
  const int tag = (int)packet->word[1];
  if ((packet->word[0] & 0xFF) == kEager) {
    owe(peer);
    deliver(request, peer, tag, packet->word[3] & 0xFFFF, packet->word + 4);
  } else {
    clear(request, peer, tag, packet->word[5], (uint16_t)packet->word[4]);
  }
}

#if !MATCH_IN_HARDWARE
/// A message in its turn: to its receive, or kept until there is one.
static void accept(const Packet* packet, Peer* peer) {
  const bool eager = (packet->word[0] & 0xFF) == kEager;
  const uint32_t context = packet->word[3] >> 16, bytes = eager ? packet->word[3] & 0xFFFF : packet->word[5];
  const int tag = (int)packet->word[1];
  Request* request = gsmpi_match_message(context, peer, tag);
  if (request) return give(request, packet, peer);
  if (gsmpi.early_count == STORE_LIMIT)
    gsmpi_die(MPI_ERR_OTHER, "the store of messages without a receive",
              "%d messages are in it, which is the most; the last is from rank %d of the world, tag %d", STORE_LIMIT,
              peer->rank, tag);
  const uint32_t kept = eager ? bytes : 0;
  Early* early = gsmpi_allocate(sizeof *early + kept, "the store of messages without a receive");
  early->context = context;
  early->bytes = bytes;
  early->tag = tag;
  early->peer = peer;
  early->announced = !eager;
  early->their_id = (uint16_t)packet->word[4];
  memcpy(early->data, packet->word + 4, kept);
  gsmpi_match_keep(early);
}

/// Messages that came before their turn, and whose turn it is now.
static void accept_ahead(Peer* peer) {
  for (Ahead** at = &gsmpi.ahead; *at;) {
    Ahead* ahead = *at;
    const Packet* packet = &ahead->packet;
    if (packet->word[0] >> 16 != peer->rank || (uint16_t)packet->word[2] != peer->expected) {
      at = &ahead->next;
      continue;
    }
    *at = ahead->next;
    ++peer->expected;
    accept(packet, peer);
    gsmpi_release(ahead);
    at = &gsmpi.ahead;
  }
}
#endif

static void arrive(const Packet* packet) {
  const uint32_t word = packet->word[0];
  const uint32_t kind = word & 0xFF;
  if (kind == kData) {
    Request* request = gsmpi.requests[word >> 16];
    const uint32_t at = packet->word[1];
#if MOVES_IN_HARDWARE
    const uint32_t now = word >> 8 & 0xFF;
#else
    const uint32_t left = request->wanted - at;
    const uint32_t now = left < kDataBytes ? left : kDataBytes;
#endif
    memcpy(request->data + at, packet->word + 2, now);
    request->moved += now;
    if (request->moved == request->wanted) gsmpi_complete(request);
    return;
  }
#if MOVES_IN_HARDWARE
  if (kind == GS_MATCH_PACKET_MOVED || kind == GS_MATCH_PACKET_LANDED) return gsmpi_move_says(packet);
#endif
#if MATCH_IN_HARDWARE
  if (unlikely(kind >= GS_MATCH_PACKET_FOUND)) {
    took();
    return gsmpi_engine_says(packet);
  }
#endif
  Peer* peer = &gsmpi.peers[word >> 16];
  peer->limit += word >> 8 & 0xFF;
  if (kind == kCts) {
    Request* request = gsmpi.requests[packet->word[1]];
    request->wanted = packet->word[2];
    request->their_id = (uint16_t)packet->word[3];
    request->moved = 0;
    if (request->wanted == 0)
      gsmpi_complete(request);
    else
#if MOVES_IN_HARDWARE
      gsmpi_move_begin(request, packet->word[4]);
#else
      gsmpi_add_work(request, kSendData);
#endif
  } else if (kind != kCredit) {
#if MATCH_IN_HARDWARE
    Request* request = gsmpi.requests[packet->word[2] & 0xFFFF];
    request->queued = false;
    took();
    give(request, packet, peer);
#else
    if (unlikely((uint16_t)packet->word[2] != peer->expected)) {
      Ahead* ahead = gsmpi_allocate(sizeof *ahead, "a message that came before its turn");
      ahead->packet = *packet;
      ahead->next = gsmpi.ahead;
      gsmpi.ahead = ahead;
      return;
    }
    ++peer->expected;
    accept(packet, peer);
    if (unlikely(gsmpi.ahead != NULL)) accept_ahead(peer);
#endif
  }
}

/// A packet of MPI_Recv that is not what it waits for.
static __attribute__((noinline)) void take_in(const Packet* packet) {
  arrive(packet);
  transport_release(packet);
}

static inline bool take_one(void) {
  const Packet* packet = transport_receive();
  if (!packet) return false;
  arrive(packet);
  transport_release(packet);
  return true;
}

bool gsmpi_take_one(void) { return take_one(); }

static void drain(void) {
  while (take_one()) {
  }
}

void gsmpi_progress(void) {
  drain();
  gsmpi_send_pending();
}

void gsmpi_sleep(const char* call, const Request* request) {
  gsmpi.call = call;
  gsmpi.waits_for = request;
  if (unlikely(transport_wait(gsmpi.work != NULL || gsmpi.repay != NULL))) gsmpi_deadlock();
}

void gsmpi_wait_for(const Request* request, const char* call) {
  for (;;) {
    gsmpi_progress();
    if (request->done) return;
    gsmpi_sleep(call, request);
  }
}

#if MATCH_IN_HARDWARE
/// An eager message for the receive of MPI_Recv that fits into it: its bytes go to their place from the packet, and
/// the request is not asked again.
static inline __attribute__((always_inline)) bool is_for(const Packet* packet, const Request* request, uint32_t bytes) {
  return (packet->word[0] & 0xFF) == kEager && (uint16_t)packet->word[2] == request->id &&
         (packet->word[3] & 0xFFFF) <= bytes;
}

static inline __attribute__((always_inline)) void copy(void* to, const uint32_t* from, uint32_t bytes) {
  if (unlikely(((uintptr_t)to | bytes) & 3)) {
    memcpy(to, from, bytes);
  } else if (bytes) {
    uint32_t* words = to;
    words[0] = from[0];
    for (uint32_t at = 1; unlikely(at < bytes / 4); ++at) words[at] = from[at];
  }
}
#endif

static inline __attribute__((always_inline)) void tell(MPI_Status* status, int source, int tag, uint32_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  status->gsmpi_bytes = (int)bytes;
  status->gsmpi_cancelled = 0;
}

int gsmpi_receive_short(Comm* comm, Peer* peer, void* buffer, uint32_t bytes, int source, int tag, MPI_Status* status) {
  Request* request = gsmpi.receiving;
  request->comm = comm;
  request->peer = peer;
  request->buffer = request->data = buffer;
  request->bytes = bytes;
  request->context = comm->context;
  request->tag = tag;
  request->source = source;
#if MATCH_IN_HARDWARE
  request->done = false;
  gsmpi_ask(GS_MATCH_PACKET_POST, comm->context_high, peer, tag, request->id);
#else
  gsmpi_post_receive(request);
#endif
  for (;;) {
    const Packet* packet = transport_receive();
    if (packet == NULL) {
      if (unlikely(gsmpi.work != NULL || gsmpi.repay != NULL)) gsmpi_send_pending();
      if (request->done) break;
      if (likely(!transport_wait(gsmpi.work != NULL || gsmpi.repay != NULL))) continue;
      gsmpi.call = "MPI_Recv";
      gsmpi.waits_for = request;
      gsmpi_deadlock();
    }
#if MATCH_IN_HARDWARE
    if (likely(is_for(packet, request, bytes))) {
      const uint32_t word = packet->word[0], came = packet->word[3] & 0xFFFF;
      Peer* from = &gsmpi.peers[word >> 16];
      from->limit += word >> 8 & 0xFF;
      owe(from);
      gsmpi.engine.first += 0x100;  // the next receive says so
      copy(buffer, packet->word + 4, came);
      tell(status, gsmpi_source(comm, from), (int)packet->word[1], came);
      transport_release(packet);
      if (unlikely(gsmpi.work != NULL || gsmpi.repay != NULL)) gsmpi_send_pending();
      return MPI_SUCCESS;
    }
#endif
    take_in(packet);
  }
  tell(status, request->status.MPI_SOURCE, request->status.MPI_TAG, request->moved);
  if (likely(request->status.MPI_ERROR == MPI_SUCCESS)) return MPI_SUCCESS;
  return gsmpi_truncated(request, "MPI_Recv");
}

void gsmpi_flush(void) {
  while (gsmpi_progress(), gsmpi.work != NULL || gsmpi.repay != NULL || gsmpi_moving())
    transport_wait(gsmpi.work != NULL || gsmpi.repay != NULL);
}

// ---------------------------------------------------------------------- what is sent and received

Packet* gsmpi_begin(const Peer* peer) {
  Packet* packet;
  while ((packet = transport_begin(peer)) == NULL) {
    drain();
    if ((packet = transport_begin(peer)) != NULL) break;
    transport_wait(true);
  }
  return packet;
}

/// The bytes of a buffer of a request, in a row.
static void find_data(Request* request, const char* call) {
  if (likely(gsmpi_contiguous(request->type))) {
    request->data = (char*)request->buffer + gsmpi_lower(request->type);
  } else {
    if (!request->copied) request->data = gsmpi_allocate(request->bytes, call);
    request->copied = true;
    if (!request->receives) gsmpi_pack(request->buffer, request->count, request->type, request->data);
  }
}

void gsmpi_start_send(Request* request, const char* call) {
  Peer* peer = request->peer;
  find_data(request, call);
  request->moved = 0;
  request->done = false;
  drain();
  Packet* packet = gsmpi_begin(peer);  // taking in messages there may bring credit
  if (!request->synchronous && request->bytes <= kEagerBytes && peer->sent != peer->limit) {
    gsmpi_send_eager(peer, packet, peer->sent, request->context << 16, request->tag, request->data, request->bytes,
                     false);
    gsmpi_complete(request);
  } else {
    ++peer->limit;  // what is announced needs no credit
    packet->word[0] = first_word(peer, kRts);
    packet->word[1] = (uint32_t)request->tag;
    packet->word[2] = peer->sent++;
    packet->word[3] = request->context << 16;
    packet->word[4] = request->id;
    packet->word[5] = request->bytes;
    transport_send_message(peer, packet, 24);
  }
  gsmpi_send_pending();
}

/// A message that came before its receive, and is no longer kept.
static void give_early(Request* request, Early* early) {
  if (early->announced) {
    clear(request, early->peer, early->tag, early->bytes, early->their_id);
  } else {
    owe(early->peer);
    deliver(request, early->peer, early->tag, early->bytes, early->data);
  }
  gsmpi_release(early);
}

void gsmpi_start_receive(Request* request, const char* call) {
  find_data(request, call);
  gsmpi_post_receive(request);
  gsmpi_progress();
}

void gsmpi_post_receive(Request* request) {
  request->done = false;
  request->moved = 0;
  Early* early = gsmpi_match_receive(request);
  if (early) give_early(request, early);
}

void gsmpi_start_taken(Request* request, Early* early, const char* call) {
  find_data(request, call);
  request->done = false;
  give_early(request, early);
  gsmpi_progress();
}
