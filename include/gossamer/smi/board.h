/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration of a board that `./gossamer smi generate` has made. Before its kernels start, the host writes routes,
 * locations of ranks, trees of collectives and bindings. Plain C; the caller provides reads and writes of 32-bit
 * registers (AXI4-Lite). The registers: docs/hardware/stream-top.md. */
#ifndef GOSSAMER_SMI_BOARD_H
#define GOSSAMER_SMI_BOARD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A design; the values are in its generated header. */
struct gossamer_smi_design {
  uint32_t number; /* identifies the design; the board returns it, too */
  unsigned stride; /* streaming-port numbers per rank */
  unsigned ports, links, slots, edges, ranks;
  unsigned counters;          /* 1: generated with --counters */
  const char* name;           /* of the board's top */
  const char* const* streams; /* what each streaming port is, as JSON */
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
  GOSSAMER_SMI_NEXT_EDGE = 0x28,
  GOSSAMER_SMI_BIND_EDGES = 0x2C,
  GOSSAMER_SMI_DEST = 0x30,
  GOSSAMER_SMI_BIND = 0x34,
  GOSSAMER_SMI_COUNT_PORT = 0x38,
  GOSSAMER_SMI_REPORT = 0x40,
  GOSSAMER_SMI_COUNTS = 0x60
};

/* Bits of the status register; from bit 16 on, one bit for each link that is up. */
enum gossamer_smi_status {
  GOSSAMER_SMI_READY = 1,      /* the routing table has been cleared: write it now */
  GOSSAMER_SMI_REPORTED = 2,   /* a port has stopped, and its report can be read */
  GOSSAMER_SMI_FAULT = 4,      /* a rank without a location, or a collective that its block does not support */
  GOSSAMER_SMI_REJECTED = 8,   /* a port rejected a packet */
  GOSSAMER_SMI_UNROUTABLE = 16 /* a packet had no route or no receiver */
};

/* Location of a rank: its board in the cluster, and its slot on that board. */
struct gossamer_smi_location {
  unsigned board, slot;
};

static inline void gossamer_smi_write_(const struct gossamer_smi_bus* bus, uint32_t address, uint32_t word) {
  bus->write(bus->context, address, word);
}

/* Whether the board has this design and can be configured. */
static inline int gossamer_smi_ready(const struct gossamer_smi_bus* bus, const struct gossamer_smi_design* design) {
  return bus->read(bus->context, GOSSAMER_SMI_IDENTITY) == 0x47535331u &&
         bus->read(bus->context, GOSSAMER_SMI_DESIGN) == design->number &&
         (bus->read(bus->context, GOSSAMER_SMI_STATUS) & GOSSAMER_SMI_READY) != 0;
}

/* This board's number in the cluster, and the job of its packets (0 to 31). */
static inline void gossamer_smi_board(const struct gossamer_smi_bus* bus, unsigned board, unsigned job) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_BOARD, UINT32_C(8) << 17 | (uint32_t)job << 12 | board);
}

/* Route of packets to a board: an outgoing link and its virtual channel; ./gossamer routes prints them. */
static inline void gossamer_smi_route(const struct gossamer_smi_bus* bus, unsigned board, unsigned link,
                                      unsigned channel) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_ROUTE, (uint32_t)board << 8 | 1u << 7 | channel << 5 | (1 + link));
}

/* Location of a rank. Every board needs the locations of all ranks. */
static inline void gossamer_smi_rank(const struct gossamer_smi_bus* bus, unsigned rank,
                                     struct gossamer_smi_location place) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_RANK, (uint32_t)place.board << 11 | place.slot << 8 | rank);
}

/* The rank in a slot of this board. */
static inline void gossamer_smi_own(const struct gossamer_smi_bus* bus, unsigned slot, unsigned rank) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_OWN, (uint32_t)rank << 8 | slot);
}

/* Connects an edge of a slot's collectives to an edge of another rank, on any board. */
static inline void gossamer_smi_edge(const struct gossamer_smi_bus* bus, unsigned slot, unsigned edge, unsigned rank,
                                     struct gossamer_smi_location place, unsigned far_edge) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_EDGE,
                      (uint32_t)far_edge << 29 | (uint32_t)rank << 21 | (uint32_t)place.board << 9 | place.slot << 6 |
                          edge << 3 | slot);
}

/* A slot's position in the tree of a root: `parent` is an edge, or negative at the root itself; `children` a mask of
 * edges. Allreduce and barrier use the tree that was written last. */
static inline void gossamer_smi_tree(const struct gossamer_smi_bus* bus, unsigned slot, unsigned root, int parent,
                                     unsigned children) {
  const uint32_t up = parent < 0 ? 8u : (uint32_t)parent;
  gossamer_smi_write_(bus, GOSSAMER_SMI_TREE, (up << 8 | children) << 11 | (uint32_t)root << 3 | slot);
}

/* For scatter, gather and allgather: the edge towards a rank (towards the slot's own rank: any edge). */
static inline void gossamer_smi_next_edge(const struct gossamer_smi_bus* bus, unsigned slot, unsigned rank,
                                          unsigned edge) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_NEXT_EDGE, (uint32_t)(8 | edge) << 11 | (uint32_t)rank << 3 | slot);
}

/* Binds the edges of slots (a mask). Call it after edges and `own` are written and before collectives are opened, for
 * all ranks of a tree together. */
static inline void gossamer_smi_bind_edges(const struct gossamer_smi_bus* bus, unsigned slots) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND_EDGES, slots);
}

/* Recovery after a report: ends all open collectives of these slots (a mask), and binds their edges again. All ranks of
 * a tree must do so with the same account, 1 to 31 and different from the previous one, so that packets still in flight
 * are ignored. Kernels may start when all ranks have done so. */
static inline void gossamer_smi_recover_edges(const struct gossamer_smi_bus* bus, unsigned slots, unsigned account) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_CLEAR, (uint32_t)slots << 8);
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND_EDGES, (uint32_t)account << 11 | slots);
}

/* Address of a channel's port. `index` is its _INDEX in the header of any board of the design. */
static inline uint32_t gossamer_smi_address(const struct gossamer_smi_design* design,
                                            struct gossamer_smi_location place, unsigned index) {
  return UINT32_C(2) << 29 | (uint32_t)place.board << 14 | (place.slot * design->stride + index);
}

/* Grants permanent credits to the sending half of a port of this board, for the receiving half at `address` with its
 * buffer of `depth` flits. The receiver's board calls gossamer_smi_eager_receive. Without permanent credits, the sender
 * requests credits for each message. */
static inline void gossamer_smi_eager_send(const struct gossamer_smi_bus* bus, unsigned port, uint32_t address,
                                           unsigned depth, unsigned account) {
  uint32_t log = 0;
  while (depth >> (log + 1)) ++log;
  gossamer_smi_write_(bus, GOSSAMER_SMI_DEST, address);
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND, log << 24 | (uint32_t)account << 11 | 1u << 10 | port);
}

/* The receiving end: `rank` sends, from the port at `address`. */
static inline void gossamer_smi_eager_receive(const struct gossamer_smi_bus* bus, unsigned port, uint32_t address,
                                              unsigned rank, unsigned account) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_DEST, address);
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND,
                      (uint32_t)rank << 16 | (uint32_t)account << 11 | 1u << 10 | 1u << 8 | port);
}

/* Both halves of a port request credits on demand, and abandon their open channels: after a report, or to replace
 * permanent credits. All ranks that use this port number must do so with the same account, different from the previous
 * one (0 after reset), so that packets still in flight are ignored. */
static inline void gossamer_smi_on_demand(const struct gossamer_smi_bus* bus, unsigned port, unsigned account) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND, (uint32_t)account << 11 | port);
  gossamer_smi_write_(bus, GOSSAMER_SMI_BIND, (uint32_t)account << 11 | 1u << 8 | port);
}

/* Clears the status bits FAULT, REJECTED and UNROUTABLE. A condition that still holds sets its bit again. */
static inline void gossamer_smi_clear_status(const struct gossamer_smi_bus* bus) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_CLEAR, 1);
}

/* Ends all open collectives of these slots (a mask), without binding their edges; gossamer_smi_recover_edges does both.
 */
static inline void gossamer_smi_clear_collectives(const struct gossamer_smi_bus* bus, unsigned slots) {
  gossamer_smi_write_(bus, GOSSAMER_SMI_CLEAR, (uint32_t)slots << 8);
}

/* Faults of reports. */
enum gossamer_smi_fault {
  GOSSAMER_SMI_FAULT_ELEMENT = 1,   /* the ends have opened the channel with different types */
  GOSSAMER_SMI_FAULT_COUNT = 2,     /* with different counts */
  GOSSAMER_SMI_FAULT_PEER = 3,      /* another peer than the bound one, or a rank that does not exist */
  GOSSAMER_SMI_FAULT_COLLECTIVE = 4 /* the ends are in different collectives */
};

/* Why a port has stopped. Of fault PEER the counts are the requested and the bound peer: addresses at a sender, ranks
 * at a receiver. */
struct gossamer_smi_report {
  unsigned rank, port;            /* this rank; number of the streaming port: slot * stride + index (+ edge) */
  unsigned peer, fault;           /* the other rank; enum gossamer_smi_fault */
  unsigned my_type, their_type;   /* types of elements, as in the RTL's package */
  uint32_t my_count, their_count; /* elements */
  uint32_t my_tag, their_tag;     /* collectives: 0 of channels */
};

/* Reads the first report and removes it; returns 0 if no report waits. Only one caller may read reports at a time. */
static inline int gossamer_smi_read_report(const struct gossamer_smi_bus* bus, struct gossamer_smi_report* report) {
  uint32_t words[6];
  unsigned at;
  if ((bus->read(bus->context, GOSSAMER_SMI_STATUS) & GOSSAMER_SMI_REPORTED) == 0) return 0;
  for (at = 0; at < 6; ++at) words[at] = bus->read(bus->context, GOSSAMER_SMI_REPORT + 4 * at);
  report->port = words[0] & 0xFF;
  report->rank = words[0] >> 16 & 0xFF;
  report->peer = words[1] & 0xFF;
  report->fault = words[1] >> 10 & 7;
  report->their_type = words[1] >> 13 & 7;
  report->my_type = words[1] >> 16 & 7;
  report->my_count = words[2];
  report->their_count = words[3];
  report->my_tag = words[4];
  report->their_tag = words[5];
  return 1;
}

/* Counters of a streaming port of a board that was generated with --counters. They count from reset on and wrap around
 * at 2^32; all are of one cycle. */
struct gossamer_smi_counts {
  uint32_t cycle;
  uint32_t packets_sent, packets_received; /* with elements */
  uint32_t beats_sent, beats_received;     /* words that passed between kernel and port */
  uint32_t stalled;                        /* cycles: the kernel offers a beat that the port does not accept */
  uint32_t empty;                          /* cycles: the kernel accepts a beat and the port has none */
  uint32_t full;                           /* cycles: the port has a beat that the kernel does not accept */
};

/* Reads the counters of a port, by its position among the board's ports. Only one caller may read counters at a time.
 */
static inline struct gossamer_smi_counts gossamer_smi_read_counts(const struct gossamer_smi_bus* bus, unsigned port) {
  struct gossamer_smi_counts found;
  uint32_t words[8];
  unsigned at;
  gossamer_smi_write_(bus, GOSSAMER_SMI_COUNT_PORT, port);
  for (at = 0; at < 8; ++at) words[at] = bus->read(bus->context, GOSSAMER_SMI_COUNTS + 4 * at);
  found.cycle = words[0];
  found.packets_sent = words[1];
  found.packets_received = words[2];
  found.beats_sent = words[3];
  found.beats_received = words[4];
  found.stalled = words[5];
  found.empty = words[6];
  found.full = words[7];
  return found;
}

#ifdef __cplusplus
}
#endif

#endif
