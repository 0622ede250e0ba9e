/* SPDX-License-Identifier: Apache-2.0 */
/* What a host writes to a board that `./gossamer smi generate` has made, before kernels begin: its routes, where ranks
 * are, trees of collectives, bindings. Plain C; reads and writes of 32-bit registers are the caller's (AXI4-Lite).
 * The registers: docs/hardware/stream-top.md. */
#ifndef GOSSAMER_SMI_BOARD_H
#define GOSSAMER_SMI_BOARD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A design, as its generated header states it. */
struct gossamer_smi_design {
  uint32_t number; /* of the design: a board that answers with another one is another */
  unsigned stride; /* numbers of streaming ports that a rank takes */
  unsigned ports, links, slots, edges, ranks;
};

/* The registers of a board. */
struct gossamer_smi_bus {
  void (*write)(void* context, uint32_t address, uint32_t word);
  uint32_t (*read)(void* context, uint32_t address);
  void* context;
};

enum gossamer_smi_register {
  GOSSAMER_SMI_IDENTITY = 0x00,
  GOSSAMER_SMI_DESIGN = 0x04,
  GOSSAMER_SMI_STATUS = 0x08,
  GOSSAMER_SMI_CLEAR = 0x0C,
  GOSSAMER_SMI_BOARD = 0x10,
  GOSSAMER_SMI_ROUTE = 0x14,
  GOSSAMER_SMI_RANK = 0x18,
  GOSSAMER_SMI_OWN = 0x1C,
  GOSSAMER_SMI_EDGE = 0x20,
  GOSSAMER_SMI_TREE = 0x24,
  GOSSAMER_SMI_WAY = 0x28,
  GOSSAMER_SMI_BIND_EDGES = 0x2C,
  GOSSAMER_SMI_DEST = 0x30,
  GOSSAMER_SMI_BIND = 0x34,
  GOSSAMER_SMI_REPORT = 0x40
};

/* Bits of the status; links that are up from bit 16. */
enum gossamer_smi_status {
  GOSSAMER_SMI_READY = 1,    /* the routing table has been cleared: write it now */
  GOSSAMER_SMI_REPORTED = 2, /* a port stands still, and its report can be read */
  GOSSAMER_SMI_FAULT = 4,    /* a rank without a place, or a collective that its block cannot do */
  GOSSAMER_SMI_REFUSED = 8,  /* a packet was refused */
  GOSSAMER_SMI_NOBODY = 16   /* a packet was for nobody */
};

/* Where a rank is: its board in the cluster, and which of that board's ranks it is. */
struct gossamer_smi_place {
  unsigned board, slot;
};

static inline void gossamer_smi_write_(const struct gossamer_smi_bus* bus, uint32_t address, uint32_t word) {
  bus->write(bus->context, address, word);
}

/* Whether the board is of this design and can be written to. */
static inline int gossamer_smi_ready(const struct gossamer_smi_bus* bus, const struct gossamer_smi_design* design) {
  return bus->read(bus->context, GOSSAMER_SMI_IDENTITY) == 0x47535331u &&
         bus->read(bus->context, GOSSAMER_SMI_DESIGN) == design->number &&
         (bus->read(bus->context, GOSSAMER_SMI_STATUS) & GOSSAMER_SMI_READY) != 0;
}

/* This board's number in the cluster, and the job of its packets (0 to 31). */
static inline void gossamer_smi_board(const struct gossamer_smi_bus* bus, unsigned board, unsigned job) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_BOARD, UINT32_C(8) << 17 | (uint32_t)job << 12 | board);
}

/* Packets to a board leave by a link, in one of its virtual channels; ./gossamer routes says which. */
static inline void gossamer_smi_route(const struct gossamer_smi_bus* bus, unsigned board, unsigned link,
                                      unsigned channel) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_ROUTE, (uint32_t)board << 8 | 1u << 7 | channel << 5 | (1 + link));
}

/* Where a rank is; of all ranks, on every board. */
static inline void gossamer_smi_rank(const struct gossamer_smi_bus* bus, unsigned rank,
                                     struct gossamer_smi_place place) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_RANK, (uint32_t)place.board << 11 | place.slot << 8 | rank);
}

/* Which rank a slot of this board is. */
static inline void gossamer_smi_own(const struct gossamer_smi_bus* bus, unsigned slot, unsigned rank) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_OWN, (uint32_t)rank << 8 | slot);
}

/* An edge of a slot's collectives leads to an edge of another rank, wherever that is. */
static inline void gossamer_smi_edge(const struct gossamer_smi_bus* bus, unsigned slot, unsigned edge, unsigned rank,
                                     struct gossamer_smi_place place, unsigned far_edge) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_EDGE,
                      (uint32_t)far_edge << 29 | (uint32_t)rank << 21 | (uint32_t)place.board << 9 | place.slot << 6 |
                          edge << 3 | slot);
}

/* A slot's place in the tree of a root: `parent` is an edge, or negative for the root itself; `children` a mask of
 * edges. Allreduce and barrier take the last tree that was written. */
static inline void gossamer_smi_tree(const struct gossamer_smi_bus* bus, unsigned slot, unsigned root, int parent,
                                     unsigned children) {
  const uint32_t up = parent < 0 ? 8u : (uint32_t)parent;
  gossamer_smi_write_(bus, GOSSAMER_SMI_TREE, (up << 8 | children) << 11 | (uint32_t)root << 3 | slot);
}

/* For scatter, gather and allgather: a slot reaches a rank by this edge (itself: by any). */
static inline void gossamer_smi_way(const struct gossamer_smi_bus* bus, unsigned slot, unsigned rank, unsigned edge) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_WAY, (uint32_t)(8 | edge) << 11 | (uint32_t)rank << 3 | slot);
}

/* Binds the edges of slots (a mask), when edges and `own` are written and before collectives are opened; all ranks of
 * a tree together. */
static inline void gossamer_smi_bind_edges(const struct gossamer_smi_bus* bus, unsigned slots) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND_EDGES, slots);
}

/* What follows a report: ends whatever collectives of these slots (a mask) have open, and binds their edges anew. All
 * ranks of a tree do so, with the same account: 1 to 31, another one than before, so that nothing counts that is under
 * way. Kernels begin when all have. */
static inline void gossamer_smi_recover_edges(const struct gossamer_smi_bus* bus, unsigned slots, unsigned account) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_CLEAR, (uint32_t)slots << 8);
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND_EDGES, (uint32_t)account << 11 | slots);
}

/* Address of the port of a channel: `index` is its _INDEX in the header of any board of the design. */
static inline uint32_t gossamer_smi_address(const struct gossamer_smi_design* design, struct gossamer_smi_place place,
                                            unsigned index) {
  return UINT32_C(2) << 29 | (uint32_t)place.board << 14 | (place.slot * design->stride + index);
}

/* Standing credits between the sending half of a port of this board, and the receiving half at `address`, which has a
 * buffer of `depth` flits; the receiver's board calls gossamer_smi_eager_receive. Without them each message asks. */
static inline void gossamer_smi_eager_send(const struct gossamer_smi_bus* bus, unsigned port, uint32_t address,
                                           unsigned depth, unsigned account) {
  uint32_t log = 0;
  while (depth >> (log + 1)) ++log;
  gossamer_smi_write_(bus, GOSSAMER_SMI_DEST, address);
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND, log << 24 | (uint32_t)account << 11 | 1u << 10 | port);
}

/* The other end: `rank` sends, from the port at `address`. */
static inline void gossamer_smi_eager_receive(const struct gossamer_smi_bus* bus, unsigned port, uint32_t address,
                                              unsigned rank, unsigned account) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_DEST, address);
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND,
                      (uint32_t)rank << 16 | (uint32_t)account << 11 | 1u << 10 | 1u << 8 | port);
}

/* Both halves of a port ask for credits, and give up what they have open: after a report, or instead of standing
 * credits. All ranks that use a port of this number do so, with the same account: another one than before (0 after
 * reset), so that nothing counts that is under way. */
static inline void gossamer_smi_ask(const struct gossamer_smi_bus* bus, unsigned port, unsigned account) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND, (uint32_t)account << 11 | port);
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND, (uint32_t)account << 11 | 1u << 8 | port);
}

#ifdef __cplusplus
}
#endif

#endif
