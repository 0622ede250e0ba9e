// SPDX-License-Identifier: Apache-2.0
/// Matching in software: a queue of posted receives and a queue of unexpected messages.
//
// A message matches the first suitable receive in posting order; a receive matches the first suitable message in
// arrival order. Messages of a pair are handled in the order in which they were sent, so this is MPI's matching order.

#include "internal.h"

#if !MATCH_IN_HARDWARE

static RANK_LOCAL Request* receives;
static RANK_LOCAL Request** last_receive;
static RANK_LOCAL UnexpectedMessage* unexpected_messages;
static RANK_LOCAL UnexpectedMessage** last_unexpected;

static bool fits(const Request* request, uint32_t context, const Peer* peer, int tag) {
  return request->context == context && (request->peer == NULL || request->peer == peer) &&
         (request->tag == MPI_ANY_TAG || request->tag == tag);
}

Request* gsmpi_match_message(uint32_t context, const Peer* peer, int tag) {
  for (Request** at = &receives; *at; at = &(*at)->next) {
    Request* request = *at;
    if (!fits(request, context, peer, tag)) continue;
    *at = request->next;
    if (last_receive == &request->next) last_receive = at;
    request->queued = false;
    return request;
  }
  return NULL;
}

UnexpectedMessage* gsmpi_match_take(uint32_t context, const Peer* peer, int tag) {
  const Request wanted = {.context = context, .peer = (Peer*)peer, .tag = tag};
  for (UnexpectedMessage** at = &unexpected_messages; *at; at = &(*at)->next) {
    UnexpectedMessage* unexpected = *at;
    if (!fits(&wanted, unexpected->context, unexpected->peer, unexpected->tag)) continue;
    *at = unexpected->next;
    if (last_unexpected == &unexpected->next) last_unexpected = at;
    --gsmpi.unexpected_count;
    return unexpected;
  }
  return NULL;
}

UnexpectedMessage* gsmpi_match_receive(Request* request) {
  UnexpectedMessage* unexpected = gsmpi_match_take(request->context, request->peer, request->tag);
  if (unexpected) return unexpected;
  request->next = NULL;
  request->queued = true;
  *(receives ? last_receive : &receives) = request;
  last_receive = &request->next;
  return NULL;
}

void gsmpi_match_keep(UnexpectedMessage* unexpected) {
  unexpected->next = NULL;
  *(unexpected_messages ? last_unexpected : &unexpected_messages) = unexpected;
  last_unexpected = &unexpected->next;
  ++gsmpi.unexpected_count;
}

const UnexpectedMessage* gsmpi_match_probe(uint32_t context, const Peer* peer, int tag, bool waits) {
  (void)waits;
  for (const UnexpectedMessage* unexpected = unexpected_messages; unexpected; unexpected = unexpected->next)
    if (unexpected->context == context && (peer == NULL || peer == unexpected->peer) &&
        (tag == MPI_ANY_TAG || tag == unexpected->tag))
      return unexpected;
  return NULL;
}

bool gsmpi_match_cancel(Request* request) {
  if (!request->queued) return false;
  for (Request** at = &receives; *at; at = &(*at)->next) {
    if (*at != request) continue;
    *at = request->next;
    if (last_receive == &request->next) last_receive = at;
    request->queued = false;
    return true;
  }
  return false;
}

const UnexpectedMessage* gsmpi_match_unreceived(void) {
  for (const UnexpectedMessage* unexpected = unexpected_messages; unexpected; unexpected = unexpected->next)
    if (unexpected->context & 1) return unexpected;
  return NULL;
}
#endif
