// SPDX-License-Identifier: Apache-2.0
// Payloads of a cache's request and response streams.
//
//   `GS_CACHE_TYPES(ThreadW, AddrW) declares cache_req_t and cache_rsp_t.
//
// `addr` is a physical byte address in `space` (gs_mem_pkg::space_e). `data` is unshifted, in both directions:
// the cache aligns and extends by `funct3`, RISC-V's encoding of a load or store.
// CacheFlushLine: funct3[0] = 0 selects the line of `addr`; funct3[0] = 1 selects a line by its index in the thread's
// partition: addr = set number * LineBytes + way.
`ifndef GS_CACHE_TYPES_SVH
`define GS_CACHE_TYPES_SVH

`define GS_CACHE_TYPES(THREAD_W, ADDR_W) \
  typedef struct packed { \
    gs_cache_pkg::cache_op_e op; \
    logic [2:0]              funct3; \
    logic [(THREAD_W)-1:0]   thread; \
    logic                    space; \
    logic [(ADDR_W)-1:0]     addr; \
    logic [31:0]             data; \
  } cache_req_t; \
  typedef struct packed { \
    logic [(THREAD_W)-1:0]   thread; \
    logic [31:0]             data; \
  } cache_rsp_t;

`endif
