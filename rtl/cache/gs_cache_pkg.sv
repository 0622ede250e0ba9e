// SPDX-License-Identifier: Apache-2.0

/// Types that a cache and its requesters share.
package gs_cache_pkg;
  /// a request's operation
  typedef enum logic [1:0] {
    CacheLoad      = 2'd0,
    CacheStore     = 2'd1,
    /// writes one line back if it is dirty, and invalidates it
    CacheFlushLine = 2'd2,
    /// the same for every line of the thread's partition
    CacheFlushAll  = 2'd3
  } cache_op_e;

  /// payload of a request for 64 threads and 32 address bits; see gs_cache_types.svh
  typedef struct packed {
    cache_op_e   op;
    logic [2:0]  funct3;
    logic [5:0]  thread;
    logic        space;
    logic [31:0] addr;
    logic [31:0] data;
  } cache_req_t;
  /// payload of a response
  typedef struct packed {
    logic [5:0]  thread;
    logic [31:0] data;
  } cache_rsp_t;
endpackage
