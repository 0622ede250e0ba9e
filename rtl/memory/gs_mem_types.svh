// SPDX-License-Identifier: Apache-2.0
// Payloads of the two streams between caches and memories, in beats of a port's width.
//
//   `GS_MEM_TYPES(PortBytes, IdW, AddrW) declares mem_req_t and mem_rsp_t.
//
// Request: a fill is one beat (write = 0, last = 1). A write-back is one beat for each PortBytes of the line, the last
// with last = 1; its beats are never interleaved with other requests. `addr` is the line's first byte in every beat.
// Response: a fill's beats in order, never interleaved with others, the last with last = 1; or, for each write-back,
// one beat with ack = 1: every request that this memory receives from then on accesses the new line. Until then no
// requester may request the line that is being written back: the caches ensure this.
`ifndef GS_MEM_TYPES_SVH
`define GS_MEM_TYPES_SVH

`define GS_MEM_TYPES(PORT_BYTES, ID_W, ADDR_W) \
  typedef struct packed { \
    logic                      write; \
    logic                      last; \
    logic                      space; \
    logic [(ID_W)-1:0]         id; \
    logic [(ADDR_W)-1:0]       addr; \
    logic [8*(PORT_BYTES)-1:0] data; \
  } mem_req_t; \
  typedef struct packed { \
    logic                      ack; \
    logic                      last; \
    logic [(ID_W)-1:0]         id; \
    logic [8*(PORT_BYTES)-1:0] data; \
  } mem_rsp_t;

`endif
