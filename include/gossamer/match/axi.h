/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the match engine gs_match_axi, and functions that use them. docs/hardware/match.md describes them. */
#ifndef GOSSAMER_MATCH_AXI_H
#define GOSSAMER_MATCH_AXI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  GS_MATCH_IDENTITY = 0x00,
  GS_MATCH_CONTROL = 0x04,
  GS_MATCH_STATUS = 0x08,
  GS_MATCH_POSTS = 0x0C,
  GS_MATCH_MESSAGES = 0x10,
  GS_MATCH_SEED = 0x20,
  GS_MATCH_COMMAND = 0x30,
  GS_MATCH_COMPLETION = 0x40,
  GS_MATCH_COUNTERS = 0x50
};
enum { GS_MATCH_WINDOW = 1 };                                                  /* of GS_MATCH_CONTROL */
enum { GS_MATCH_CAN_SEND = 1, GS_MATCH_HAS_DONE = 2, GS_MATCH_UNDER_WAY = 4 }; /* of GS_MATCH_STATUS */
enum { GS_MATCH_RANKS = 1024 };                                                /* ranks that a request can name */
#define GS_MATCH_IS_ONE 0x47534D31u

enum gs_match_op {
  GS_MATCH_POST,
  GS_MATCH_ARRIVE,
  GS_MATCH_CANCEL,
  GS_MATCH_PROBE,
  GS_MATCH_TAKE,
  GS_MATCH_COUNT, /* the counter of `rank` that `tag` names; the result's partner is the count */
  GS_MATCH_CLEAR  /* drops all receives and messages of all ranks; resets all counters */
};
enum gs_match_counter { GS_MATCH_DELIVERED, GS_MATCH_UNEXPECTED, GS_MATCH_WAITED, GS_MATCH_REJECTED };
/* GS_MATCH_STRAY is not a status of the engine: the completion belongs to another request, so another program uses
 * the window. */
enum gs_match_status { GS_MATCH_MATCHED, GS_MATCH_WAITING, GS_MATCH_NONE, GS_MATCH_FULL, GS_MATCH_BAD, GS_MATCH_STRAY };

/* Access to the registers, in mapped memory or in a simulation. Offsets are in bytes. */
struct gs_match_bus {
  void* context;
  uint32_t (*read)(void* context, uint32_t offset);
  void (*write)(void* context, uint32_t offset, uint32_t value);
};

struct gs_match_request {
  enum gs_match_op op;
  int any_source, any_tag, rendezvous;
  uint16_t rank; /* below GS_MATCH_RANKS */
  uint8_t length;
  uint16_t communicator, source;
  uint32_t tag, handle;
  int now; /* post, arrive: GS_MATCH_FULL, instead of waiting, if there is no match */
};

struct gs_match_result {
  enum gs_match_op op;
  enum gs_match_status status;
  int rendezvous;
  uint8_t length;
  uint16_t source;
  uint32_t tag, handle, partner;
};

/* Opens the window; call it before any request. Returns 0, or -1 if there is no match engine at this address, or its
 * streams have requests in flight. Completions that a killed program has not read are dropped. Receives and messages
 * that it left waiting stay until GS_MATCH_CLEAR: GS_MATCH_POSTS and GS_MATCH_MESSAGES count them. */
static inline int gs_match_open(const struct gs_match_bus* bus, const uint32_t seed[4]) {
  uint32_t status;
  int i;
  if (bus->read(bus->context, GS_MATCH_IDENTITY) != GS_MATCH_IS_ONE) return -1;
  while ((status = bus->read(bus->context, GS_MATCH_STATUS)) & GS_MATCH_UNDER_WAY) {
    if (!(bus->read(bus->context, GS_MATCH_CONTROL) & GS_MATCH_WINDOW)) return -1;
    if (status & GS_MATCH_HAS_DONE) (void)bus->read(bus->context, GS_MATCH_COMPLETION + 12u);
  }
  for (i = 0; i < 4; ++i) bus->write(bus->context, GS_MATCH_SEED + 4u * (uint32_t)i, seed[i]);
  bus->write(bus->context, GS_MATCH_CONTROL, GS_MATCH_WINDOW);
  if (bus->read(bus->context, GS_MATCH_CONTROL) != GS_MATCH_WINDOW) return -1;
  return 0;
}

/* Sends one request and returns its completion. A rank beyond the request field is GS_MATCH_BAD; nothing is sent. */
static inline struct gs_match_result gs_match_do(const struct gs_match_bus* bus, const struct gs_match_request* what) {
  struct gs_match_result result;
  uint32_t word[4];
  int i;
  if (what->rank >= GS_MATCH_RANKS) {
    result.op = what->op;
    result.status = GS_MATCH_BAD;
    result.rendezvous = what->rendezvous != 0;
    result.length = what->length;
    result.source = what->source;
    result.tag = what->tag;
    result.handle = what->handle;
    result.partner = 0;
    return result;
  }
  word[0] = what->handle;
  word[1] = what->tag;
  word[2] = (uint32_t)what->communicator << 16 | what->source;
  word[3] = (uint32_t)(what->now != 0) << 24 | (uint32_t)what->op << 21 | (uint32_t)(what->any_source != 0) << 20 |
            (uint32_t)(what->any_tag != 0) << 19 | (uint32_t)(what->rendezvous != 0) << 18 | (uint32_t)what->rank << 8 |
            what->length;
  while (!(bus->read(bus->context, GS_MATCH_STATUS) & GS_MATCH_CAN_SEND)) {
  }
  for (i = 0; i < 4; ++i) bus->write(bus->context, GS_MATCH_COMMAND + 4u * (uint32_t)i, word[i]);
  while (!(bus->read(bus->context, GS_MATCH_STATUS) & GS_MATCH_HAS_DONE)) {
  }
  for (i = 0; i < 4; ++i) word[i] = bus->read(bus->context, GS_MATCH_COMPLETION + 4u * (uint32_t)i);
  result.partner = word[0];
  result.handle = word[1];
  result.tag = word[2];
  result.source = (uint16_t)word[3];
  result.length = (uint8_t)(word[3] >> 16);
  result.rendezvous = (int)(word[3] >> 24 & 1);
  result.status = (enum gs_match_status)(word[3] >> 25 & 7);
  result.op = (enum gs_match_op)(word[3] >> 28 & 7);
  if (result.handle != what->handle || result.op != what->op) result.status = GS_MATCH_STRAY;
  return result;
}

#ifdef __cplusplus
}
#endif
#endif
