// SPDX-License-Identifier: Apache-2.0
/// Matching in software: a list of receives that wait, and a list of messages that came early, both in their order.
//
// A message goes to the first receive in the order of posting that it fits; a receive takes the first message in the
// order of arrival that it fits. Messages of a pair arrive in the order in which they were sent, so that is MPI's rule.

#include "internal.h"

#if !MATCH_IN_HARDWARE

static RANK_LOCAL Request* receives;
static RANK_LOCAL Request** last_receive;
static RANK_LOCAL Early* earlies;
static RANK_LOCAL Early** last_early;

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

Early* gsmpi_match_take(uint32_t context, const Peer* peer, int tag) {
  const Request wanted = {.context = context, .peer = (Peer*)peer, .tag = tag};
  for (Early** at = &earlies; *at; at = &(*at)->next) {
    Early* early = *at;
    if (!fits(&wanted, early->context, early->peer, early->tag)) continue;
    *at = early->next;
    if (last_early == &early->next) last_early = at;
    --gsmpi.early_count;
    return early;
  }
  return NULL;
}

Early* gsmpi_match_receive(Request* request) {
  Early* early = gsmpi_match_take(request->context, request->peer, request->tag);
  if (early) return early;
  request->next = NULL;
  request->queued = true;
  *(receives ? last_receive : &receives) = request;
  last_receive = &request->next;
  return NULL;
}

void gsmpi_match_keep(Early* early) {
  early->next = NULL;
  *(earlies ? last_early : &earlies) = early;
  last_early = &early->next;
  ++gsmpi.early_count;
}

const Early* gsmpi_match_probe(uint32_t context, const Peer* peer, int tag, bool waits) {
  (void)waits;
  for (const Early* early = earlies; early; early = early->next)
    if (early->context == context && (peer == NULL || peer == early->peer) && (tag == MPI_ANY_TAG || tag == early->tag))
      return early;
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

const Early* gsmpi_match_left(void) {
  for (const Early* early = earlies; early; early = early->next)
    if (early->context & 1) return early;
  return NULL;
}
#endif
