// SPDX-License-Identifier: Apache-2.0

/// The caches of a tile, and the path to memory that bypasses them.
///
/// Loader and accelerator bypass the caches and share the memory stream of the first cache; the top bit of an id
/// distinguishes their accesses from the cache's. A flush of the host enters the cache between two requests, with the
/// thread's number; this module consumes its response.
module gs_tile_memory
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// 1: there is an accelerator
  parameter bit Accelerator = 1'b0
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // Requests and responses of each cache
  input  logic      [TileCaches-1:0] req_valid_i,
  output logic      [TileCaches-1:0] req_ready_o,
  input  to_cache_t                  req_i[TileCaches],
  output logic      [TileCaches-1:0] ans_valid_o,
  input  logic      [TileCaches-1:0] ans_ready_i,
  output answer_t                    ans_o[TileCaches],
  // The host flushes this thread's partition of its cache; the thread has no request in flight
  input  logic                       flush_valid_i,
  input  logic      [ThreadW-1:0]    flush_thread_i,
  output logic                       flush_done_o,
  // Accesses that bypass the caches: 0 loader, 1 accelerator. They share the first memory port; their responses are
  // always accepted
  input  logic      [1:0]            direct_valid_i,
  output logic      [1:0]            direct_ready_o,
  input  mem_req_t                   direct_i[2],
  output logic      [1:0]            direct_rsp_valid_o,
  // Memory, a stream for each cache
  output logic      [TileCaches-1:0] mem_req_valid_o,
  input  logic      [TileCaches-1:0] mem_req_ready_i,
  output mem_req_t  [TileCaches-1:0] mem_req_o,
  input  logic      [TileCaches-1:0] mem_rsp_valid_i,
  output logic      [TileCaches-1:0] mem_rsp_ready_o,
  input  mem_rsp_t  [TileCaches-1:0] mem_rsp_i,
  // Events, for the counters
  output logic      [TileCaches-1:0] hit_o,
  output logic      [TileCaches-1:0] miss_o,
  output logic      [TileCaches-1:0] writeback_o
);
  logic [TileCaches-1:0] flush_done;

  for (genvar c = 0; c < TileCaches; c++) begin : gen_cache
    cache_req_t creq;
    cache_rsp_t crsp;
    logic [CacheThreadW-1:0] unused_event_thread, unused_writeback_thread;

    gs_tile_cache_pkg::mem_req_t cache_mreq;
    gs_tile_cache_pkg::mem_rsp_t cache_mrsp;
    logic cache_mreq_valid, cache_mreq_ready, cache_mrsp_valid, cache_mrsp_ready, rsp_valid, rsp_ready;
    mem_req_t own;

    // The flush uses the cache's request port, and then waits for its response.
    logic flush_q, waits_q, flush_mine, req_ready;
    assign flush_mine     = flush_valid_i && 32'(flush_thread_i) / CacheThreads == 32'(c);
    assign req_ready_o[c] = req_ready && !flush_q;
    assign flush_done[c]  = rsp_valid && waits_q && crsp.thread == flush_thread_i[CacheThreadW-1:0];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) {flush_q, waits_q} <= '0;
      else begin
        // A waiting request has priority, so that it stays stable.
        if (flush_q) flush_q <= !req_ready;
        else flush_q <= flush_mine && !waits_q && (!req_valid_i[c] || req_ready);
        waits_q <= (flush_q && req_ready) || (waits_q && !flush_done[c]);
      end
    end

    assign creq = '{
      op: flush_q || (req_i[c].flush && req_i[c].flush_all) ? gs_cache_pkg::CacheFlushAll
        : req_i[c].flush ? gs_cache_pkg::CacheFlushLine
        : req_i[c].store ? gs_cache_pkg::CacheStore : gs_cache_pkg::CacheLoad,
      // A flush selects a line by its index in the partition.
      funct3: req_i[c].flush ? 3'b001 : req_i[c].funct3,
      thread: flush_q ? flush_thread_i[CacheThreadW-1:0] : req_i[c].thread,
      space: req_i[c].space, addr: req_i[c].addr, data: req_i[c].data
    };

    gs_cache #(
      .Threads      (CacheThreads),
      .Ways         (CacheWays),
      .SetsPerThread(SetsPerThread),
      .LineBytes    (CacheLineBytes),
      .PortBytes    (DramPortBytes),
      .Inflight     (CacheInflight),
      .AddrW        (32),
      .cache_req_t  (cache_req_t),
      .cache_rsp_t  (cache_rsp_t),
      .mem_req_t    (gs_tile_cache_pkg::mem_req_t),
      .mem_rsp_t    (gs_tile_cache_pkg::mem_rsp_t)
    ) u_cache (
      .clk_i,
      .rst_ni,
      .req_valid_i       (req_valid_i[c] || flush_q),
      .req_ready_o       (req_ready),
      .req_i             (creq),
      .rsp_valid_o       (rsp_valid),
      .rsp_ready_i       (rsp_ready),
      .rsp_o             (crsp),
      .mem_req_valid_o   (cache_mreq_valid),
      .mem_req_ready_i   (cache_mreq_ready),
      .mem_req_o         (cache_mreq),
      .mem_rsp_valid_i   (cache_mrsp_valid),
      .mem_rsp_ready_o   (cache_mrsp_ready),
      .mem_rsp_i         (cache_mrsp),
      .event_hit_o       (hit_o[c]),
      .event_miss_o      (miss_o[c]),
      .event_thread_o    (unused_event_thread),
      .event_writeback_o (writeback_o[c]),
      .writeback_thread_o(unused_writeback_thread)
    );
    assign ans_o[c] = '{
      thread: ThreadW'(c * CacheThreads) | ThreadW'(crsp.thread), data: crsp.data, flags: '0
    };
    assign ans_valid_o[c] = rsp_valid && !flush_done[c];
    assign rsp_ready      = ans_ready_i[c] || flush_done[c];

    // The cache's memory stream; the first cache shares its stream with the accesses that bypass the caches.
    assign own = '{write: cache_mreq.write, last: cache_mreq.last, space: cache_mreq.space, id: MemIdW'(cache_mreq.id),
                   addr: cache_mreq.addr, data: cache_mreq.data};
    assign cache_mrsp = '{ack: mem_rsp_i[c].ack, last: mem_rsp_i[c].last, id: mem_rsp_i[c].id[CacheThreadW-1:0],
                          data: mem_rsp_i[c].data};
    if (c == 0) begin : gen_shared
      localparam int unsigned N = Accelerator ? 3 : 2;
      logic [N-1:0] valid, ready, last;
      mem_req_t all[N];
      logic direct_rsp;
      assign direct_rsp          = mem_rsp_i[c].id[MemIdW-1];
      assign cache_mrsp_valid    = mem_rsp_valid_i[c] && !direct_rsp;
      assign mem_rsp_ready_o[c]  = direct_rsp || cache_mrsp_ready;
      assign direct_rsp_valid_o[0] = mem_rsp_valid_i[c] && direct_rsp && !mem_rsp_i[c].id[4];
      assign direct_rsp_valid_o[1] = mem_rsp_valid_i[c] && direct_rsp && mem_rsp_i[c].id[4];
      assign cache_mreq_ready    = ready[0];
      assign all[0]              = own;
      assign all[1]              = direct_i[0];
      if (Accelerator) begin : gen_three
        assign all[2]       = direct_i[1];
        assign valid        = {direct_valid_i, cache_mreq_valid};
        assign direct_ready_o = ready[2:1];
      end else begin : gen_two
        assign valid        = {direct_valid_i[0], cache_mreq_valid};
        assign direct_ready_o = {1'b0, ready[1]};
        logic unused_direct;
        assign unused_direct = ^{direct_valid_i[1], direct_i[1]};
      end
      for (genvar i = 0; i < N; i++) begin : gen_last
        assign last[i] = all[i].last;
      end
      gs_mem_arbiter #(
        .N     (N),
        .data_t(mem_req_t)
      ) u_memory (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid),
        .in_ready_o (ready),
        .in_last_i  (last),
        .in_data_i  (all),
        .out_valid_o(mem_req_valid_o[c]),
        .out_ready_i(mem_req_ready_i[c]),
        .out_data_o (mem_req_o[c])
      );
    end else begin : gen_own
      assign mem_req_valid_o[c] = cache_mreq_valid;
      assign cache_mreq_ready   = mem_req_ready_i[c];
      assign mem_req_o[c]       = own;
      assign cache_mrsp_valid   = mem_rsp_valid_i[c];
      assign mem_rsp_ready_o[c] = cache_mrsp_ready;
    end
  end

  assign flush_done_o = flush_done != '0;
endmodule
