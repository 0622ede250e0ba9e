// SPDX-License-Identifier: Apache-2.0
/// Messages: sends, receives, the handler of received packets, and the queue of pending work.

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
  if (gsmpi.request_count == kMostRequests) return NULL;
  if (gsmpi.request_count == gsmpi.request_capacity) {
    const uint32_t capacity = gsmpi.request_capacity ? 2 * gsmpi.request_capacity : 32;
    Request** larger = gsmpi_allocate(capacity * sizeof *larger, call);
    if (gsmpi.request_count) memcpy(larger, gsmpi.requests, gsmpi.request_count * sizeof *larger);
    gsmpi_release(gsmpi.requests);
    gsmpi.requests = larger;
    gsmpi.request_capacity = capacity;
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
  gsmpi_release_type(request->type);
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

// ---------------------------------------------------------------------- pending work

void gsmpi_add_work(Request* request, Work work) {
  request->work = (uint8_t)work;
  request->next_work = NULL;
  if (gsmpi.work)
    gsmpi.last_work->next_work = request;
  else
    gsmpi.work = request;
  gsmpi.last_work = request;
}

static void return_credit(Peer* peer) {
  if (peer->returning_credit) return;
  peer->returning_credit = true;
  peer->next = gsmpi.credit_returns;
  gsmpi.credit_returns = peer;
}

/// An eager message of a peer has matched: its credit returns with the next packet to the peer, or in its own.
static void add_owed_credit(Peer* peer) {
  peer->first += 0x100;
  if ((peer->first & 0xFF00) >= kCredits / 2 * 0x100 && !gsmpi.finalizing) return_credit(peer);
}

#if MATCH_IN_HARDWARE
/// Counts a consumed packet of the engine. The next request, or a separate packet, reports the count.
static void count_engine_packet(void) {
  gsmpi.engine.first += 0x100;
  if (gsmpi.engine.first >= GS_MATCH_WINDOW / 2 * 0x100) return_credit(&gsmpi.engine);
}
#endif

/// Word 0 of a packet; it returns all owed credits.
static uint32_t first_word(Peer* peer, Kind kind) {
  const uint32_t word = peer->first - kEager + (uint32_t)kind;
  peer->first = gsmpi.mine;
  return word;
}

void gsmpi_send_data(const Request* request, Packet* packet, uint32_t at, uint32_t bytes) {
  packet->word[0] = kData | (uint32_t)request->remote_id << 16;
#if DMA_IN_HARDWARE
  packet->word[0] |= bytes << 8;
#endif
  packet->word[1] = at;
  memcpy(packet->word + 2, request->data + at, bytes);
  transport_send(request->peer, packet, 8 + bytes);
}

/// Sends the next packet of a request's work; false if the transport has no free buffer.
static bool do_work(Request* request) {
  Peer* peer = request->peer;
  Packet* packet = transport_begin(peer);
  if (!packet) return false;
  if (request->work == kSendCts) {
    packet->word[0] = first_word(peer, kCts);
    packet->word[1] = request->remote_id;
    packet->word[2] = request->wanted;
    packet->word[3] = request->id;
#if DMA_IN_HARDWARE
    packet->word[4] = gsmpi_dma_target(request);
    transport_send(peer, packet, 20);
#else
    transport_send(peer, packet, 16);
#endif
    request->work = kNoWork;
    if (request->wanted == 0) gsmpi_complete(request);
    return true;
  }
#if DMA_IN_HARDWARE
  if (request->work == kSendDma) {
    gsmpi_dma_send(request, packet);
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

/// Sends pending work as far as the transport has free buffers. A peer without free buffers delays only its own work.
__attribute__((noinline)) void gsmpi_send_pending(void) {
  for (Peer** at = &gsmpi.credit_returns; unlikely(*at != NULL);) {
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
    peer->returning_credit = false;
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

// ---------------------------------------------------------------------- received packets

static void record_match(Request* request, const Peer* peer, int tag, uint32_t bytes) {
  request->status.MPI_SOURCE = gsmpi_source(request->comm, peer);
  request->status.MPI_TAG = tag;
  request->status.MPI_ERROR = bytes > request->bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  request->wanted = bytes > request->bytes ? request->bytes : bytes;
  request->message_bytes = bytes;
  request->peer = (Peer*)peer;
}

/// Completes a receive with an eager message.
static void deliver(Request* request, const Peer* peer, int tag, uint32_t bytes, const void* data) {
  record_match(request, peer, tag, bytes);
  memcpy(request->data, data, request->wanted);
  request->moved = request->wanted;
  gsmpi_complete(request);
}

/// Answers an RTS with a CTS that names the receive.
static void clear_to_send(Request* request, const Peer* peer, int tag, uint32_t bytes, uint16_t remote_id) {
  record_match(request, peer, tag, bytes);
  request->moved = 0;
  request->remote_id = remote_id;
  gsmpi_add_work(request, kSendCts);
}

/// Delivers an eager message or an RTS to its receive.
static void deliver_packet(Request* request, const Packet* packet, Peer* peer) {
  const int tag = (int)packet->word[1];
  if ((packet->word[0] & 0xFF) == kEager) {
    add_owed_credit(peer);
    deliver(request, peer, tag, packet->word[3] & 0xFFFF, packet->word + 4);
  } else {
    clear_to_send(request, peer, tag, packet->word[5], (uint16_t)packet->word[4]);
  }
}

#if !MATCH_IN_HARDWARE
/// Handles the next message of a pair in order: matches it, or stores it as unexpected.
static void accept(const Packet* packet, Peer* peer) {
  const bool eager = (packet->word[0] & 0xFF) == kEager;
  const uint32_t context = packet->word[3] >> 16, bytes = eager ? packet->word[3] & 0xFFFF : packet->word[5];
  const int tag = (int)packet->word[1];
  Request* request = gsmpi_match_message(context, peer, tag);
  if (request) return deliver_packet(request, packet, peer);
  if (gsmpi.unexpected_count == STORE_LIMIT)
    gsmpi_abort_run(MPI_ERR_OTHER, "the queue of unexpected messages",
                    "it is full with %d messages; the last is from rank %d of the world, tag %d", STORE_LIMIT,
                    peer->rank, tag);
  const uint32_t kept = eager ? bytes : 0;
  UnexpectedMessage* unexpected = gsmpi_allocate(sizeof *unexpected + kept, "the queue of unexpected messages");
  unexpected->context = context;
  unexpected->bytes = bytes;
  unexpected->tag = tag;
  unexpected->peer = peer;
  unexpected->announced = !eager;
  unexpected->remote_id = (uint16_t)packet->word[4];
  memcpy(unexpected->data, packet->word + 4, kept);
  gsmpi_match_keep(unexpected);
}

/// Handles the stored packets of a peer that are now in order.
static void accept_out_of_order(Peer* peer) {
  for (OutOfOrderPacket** at = &gsmpi.out_of_order; *at;) {
    OutOfOrderPacket* out_of_order = *at;
    const Packet* packet = &out_of_order->packet;
    if (packet->word[0] >> 16 != peer->rank || (uint16_t)packet->word[2] != peer->expected) {
      at = &out_of_order->next;
      continue;
    }
    *at = out_of_order->next;
    ++peer->expected;
    accept(packet, peer);
    gsmpi_release(out_of_order);
    at = &gsmpi.out_of_order;
  }
}
#endif

static void handle_packet(const Packet* packet) {
  const uint32_t word = packet->word[0];
  const uint32_t kind = word & 0xFF;
  if (kind == kData) {
    Request* request = gsmpi.requests[word >> 16];
    const uint32_t at = packet->word[1];
#if DMA_IN_HARDWARE
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
#if DMA_IN_HARDWARE
  if (kind == GS_MATCH_PACKET_MOVED || kind == GS_MATCH_PACKET_LANDED) return gsmpi_dma_event(packet);
#endif
#if MATCH_IN_HARDWARE
  if (unlikely(kind >= GS_MATCH_PACKET_FOUND)) {
    count_engine_packet();
    return gsmpi_engine_event(packet);
  }
#endif
  Peer* peer = &gsmpi.peers[word >> 16];
  peer->limit += word >> 8 & 0xFF;
  if (kind == kCts) {
    Request* request = gsmpi.requests[packet->word[1]];
    request->wanted = packet->word[2];
    request->remote_id = (uint16_t)packet->word[3];
    request->moved = 0;
    if (request->wanted == 0)
      gsmpi_complete(request);
    else
#if DMA_IN_HARDWARE
      gsmpi_dma_begin(request, packet->word[4]);
#else
      gsmpi_add_work(request, kSendData);
#endif
  } else if (kind != kCredit) {
#if MATCH_IN_HARDWARE
    Request* request = gsmpi.requests[packet->word[2] & 0xFFFF];
    request->queued = false;
    count_engine_packet();
    deliver_packet(request, packet, peer);
#else
    if (unlikely((uint16_t)packet->word[2] != peer->expected)) {
      OutOfOrderPacket* out_of_order = gsmpi_allocate(sizeof *out_of_order, "a message received out of order");
      out_of_order->packet = *packet;
      out_of_order->next = gsmpi.out_of_order;
      gsmpi.out_of_order = out_of_order;
      return;
    }
    ++peer->expected;
    accept(packet, peer);
    if (unlikely(gsmpi.out_of_order != NULL)) accept_out_of_order(peer);
#endif
  }
}

/// Handles a packet that is not the eager message for which MPI_Recv waits.
static __attribute__((noinline)) void handle_and_release(const Packet* packet) {
  handle_packet(packet);
  transport_release(packet);
}

static inline bool receive_one(void) {
  const Packet* packet = transport_receive();
  if (!packet) return false;
  handle_packet(packet);
  transport_release(packet);
  return true;
}

bool gsmpi_receive_one(void) { return receive_one(); }

static void drain(void) {
  while (receive_one()) {
  }
}

void gsmpi_progress(void) {
  do {
    drain();
    gsmpi_send_pending();
  } while (gsmpi_run_tasks());
}

void gsmpi_sleep(const char* call, const Request* request) {
  gsmpi.call = call;
  gsmpi.waits_for = request;
  if (unlikely(transport_wait(gsmpi.work != NULL || gsmpi.credit_returns != NULL))) gsmpi_deadlock();
}

void gsmpi_wait_for(const Request* request, const char* call) {
  if (unlikely(gsmpi.task != NULL)) return gsmpi.task->wait(request);
  for (;;) {
    gsmpi_progress();
    if (request->done) return;
    gsmpi_sleep(call, request);
  }
}

#if MATCH_IN_HARDWARE
/// Whether a packet is an eager message for MPI_Recv's request and fits its buffer: then the bytes are copied directly
/// from the packet to the buffer, and the request needs no further check.
static inline __attribute__((always_inline)) bool is_eager_for(const Packet* packet, const Request* request,
                                                               uint32_t bytes) {
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

static inline __attribute__((always_inline)) void fill_status(MPI_Status* status, int source, int tag, uint32_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  status->gsmpi_bytes = (int)bytes;
  status->gsmpi_cancelled = 0;
}

int gsmpi_receive_fast(Comm* comm, Peer* peer, void* buffer, uint32_t bytes, int source, int tag, MPI_Status* status) {
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
  gsmpi_engine_request(GS_MATCH_PACKET_POST, comm->context_high, peer, tag, request->id);
#else
  gsmpi_post_receive(request);
#endif
  for (;;) {
    const Packet* packet = transport_receive();
    if (packet == NULL) {
      if (unlikely(gsmpi.work != NULL || gsmpi.credit_returns != NULL)) gsmpi_send_pending();
      if (request->done) break;
      if (gsmpi_run_tasks()) continue;
      if (likely(!transport_wait(gsmpi.work != NULL || gsmpi.credit_returns != NULL))) continue;
      gsmpi.call = "MPI_Recv";
      gsmpi.waits_for = request;
      gsmpi_deadlock();
    }
#if MATCH_IN_HARDWARE
    if (likely(is_eager_for(packet, request, bytes))) {
      const uint32_t word = packet->word[0], bytes_received = packet->word[3] & 0xFFFF;
      Peer* from = &gsmpi.peers[word >> 16];
      from->limit += word >> 8 & 0xFF;
      add_owed_credit(from);
      gsmpi.engine.first += 0x100;  // the next receive reports it
      copy(buffer, packet->word + 4, bytes_received);
      fill_status(status, gsmpi_source(comm, from), (int)packet->word[1], bytes_received);
      transport_release(packet);
      if (unlikely(gsmpi.work != NULL || gsmpi.credit_returns != NULL)) gsmpi_send_pending();
      return MPI_SUCCESS;
    }
#endif
    handle_and_release(packet);
  }
  fill_status(status, request->status.MPI_SOURCE, request->status.MPI_TAG, request->moved);
  if (likely(request->status.MPI_ERROR == MPI_SUCCESS)) return MPI_SUCCESS;
  return gsmpi_truncated(request, "MPI_Recv");
}

void gsmpi_flush(void) {
  while (gsmpi_progress(), gsmpi.work != NULL || gsmpi.credit_returns != NULL || gsmpi_dma_active())
    transport_wait(gsmpi.work != NULL || gsmpi.credit_returns != NULL);
}

// ---------------------------------------------------------------------- sends and receives

Packet* gsmpi_begin(const Peer* peer) {
  Packet* packet;
  while ((packet = transport_begin(peer)) == NULL) {
    drain();
    if ((packet = transport_begin(peer)) != NULL) break;
    transport_wait(true);
  }
  return packet;
}

/// Sets `data`: the buffer itself, or a packed copy.
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
  Packet* packet = gsmpi_begin(peer);  // packets handled meanwhile may return credit
  if (!request->synchronous && request->bytes <= kEagerBytes && peer->sent != peer->limit) {
    gsmpi_send_eager(peer, packet, peer->sent, request->context << 16, request->tag, request->data, request->bytes,
                     false);
    gsmpi_complete(request);
  } else {
    ++peer->limit;  // an RTS needs no credit
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

/// Delivers a stored message to its receive and frees it.
static void deliver_unexpected(Request* request, UnexpectedMessage* unexpected) {
  if (unexpected->announced) {
    clear_to_send(request, unexpected->peer, unexpected->tag, unexpected->bytes, unexpected->remote_id);
  } else {
    add_owed_credit(unexpected->peer);
    deliver(request, unexpected->peer, unexpected->tag, unexpected->bytes, unexpected->data);
  }
  gsmpi_release(unexpected);
}

void gsmpi_start_receive(Request* request, const char* call) {
  find_data(request, call);
  gsmpi_post_receive(request);
  gsmpi_progress();
}

void gsmpi_post_receive(Request* request) {
  request->done = false;
  request->moved = 0;
  UnexpectedMessage* unexpected = gsmpi_match_receive(request);
  if (unexpected) deliver_unexpected(request, unexpected);
}

void gsmpi_start_matched(Request* request, UnexpectedMessage* unexpected, const char* call) {
  find_data(request, call);
  request->done = false;
  deliver_unexpected(request, unexpected);
  gsmpi_progress();
}
