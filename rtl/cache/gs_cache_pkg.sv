// SPDX-License-Identifier: Apache-2.0

/// What a cache and its users share.
package gs_cache_pkg;
  /// what a request asks for
  typedef enum logic [1:0] {
    CacheLoad      = 2'd0,
    CacheStore     = 2'd1,
    /// writes one line back if it is dirty, and drops it
    CacheFlushLine = 2'd2,
    /// the same with every line of the thread's partition
    CacheFlushAll  = 2'd3
  } cache_op_e;

  /// a request's payload for 64 threads and 32 bits of address; see gs_cache_types.svh
  typedef struct packed {
    cache_op_e   op;
    logic [2:0]  funct3;
    logic [5:0]  thread;
    logic        space;
    logic [31:0] addr;
    logic [31:0] data;
  } cache_req_t;
  /// and a response's
  typedef struct packed {
    logic [5:0]  thread;
    logic [31:0] data;
  } cache_rsp_t;
endpackage
