// SPDX-License-Identifier: Apache-2.0
`include "gs_cache_types.svh"
`include "gs_mem_types.svh"

/// The memory benchmark: all threads of a board increment their own arrays, through the real caches.
/// Cores are gs_mem_bench_core; caches, crossbar and scheduler are the design's.
module gs_mem_bench
  import gossamer_pkg::*;
#(
  parameter int unsigned LineBytes = CacheLineBytes,
  parameter int unsigned Sets      = SetsPerThread,
  parameter int unsigned Lines     = 64,
  /// 0 DRAM, 1 SRAM
  parameter bit          Space     = 1'b0,
  parameter bit          Scheduler = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// passes over every array
  input  int unsigned passes_i,
  /// totals over the board: lines fetched, lines written back, instructions
  output logic [63:0] fills_o,
  output logic [63:0] writebacks_o,
  output logic [63:0] instructions_o,
  output logic        all_done_o,
  output logic        any_done_o
);
  localparam int unsigned ThreadW = $clog2(ThreadsPerCache);
  localparam int unsigned PortThreads = CachesPerDram * ThreadsPerCache;
  localparam logic [31:0] Base = Space ? 32'd0 : 32'(DramBytes / 2);
  `GS_CACHE_TYPES(ThreadW, 32)
  `GS_MEM_TYPES(DramPortBytes, ThreadW, 32)

  logic     [DramCount-1:0][CachesPerDram-1:0] taken;
  mem_rsp_t [DramCount-1:0][CachesPerDram-1:0] responses;
  logic [DramCount-1:0][CachesPerDram-1:0][CoresPerCache-1:0] issue, done;

  for (genvar p = 0; p < DramCount; p++) begin : gen_port
    logic     [CachesPerDram-1:0] req_valid, req_ready, rsp_valid, rsp_ready;
    mem_req_t [CachesPerDram-1:0] req;
    mem_rsp_t [CachesPerDram-1:0] rsp;

    gs_sim_memory #(
      .PortCaches (CachesPerDram),
      .LineBytes  (LineBytes),
      .Scheduler  (Scheduler),
      .cache_req_t(mem_req_t),
      .cache_rsp_t(mem_rsp_t)
    ) u_memory (
      .clk_i, .rst_ni,
      .req_valid_i(req_valid), .req_ready_o(req_ready), .req_i(req),
      .rsp_valid_o(rsp_valid), .rsp_ready_i(rsp_ready), .rsp_o(rsp)
    );

    for (genvar c = 0; c < CachesPerDram; c++) begin : gen_cache
      logic       [CoresPerCache-1:0] x_valid, x_ready;
      cache_req_t x[CoresPerCache];
      logic       creq_valid, creq_ready, crsp_valid;
      cache_req_t creq;
      cache_rsp_t crsp;
      logic       unused_hit, unused_miss, unused_writeback;
      logic [ThreadW-1:0] unused_thread, unused_writeback_thread;
      logic [((CoresPerCache > 1) ? $clog2(CoresPerCache) : 1)-1:0] unused_idx;

      for (genvar k = 0; k < CoresPerCache; k++) begin : gen_core
        gs_mem_bench_core #(
          .Threads    (ThreadsPerCore),
          .FirstLocal (k * ThreadsPerCore),
          .FirstGlobal(c * ThreadsPerCache + k * ThreadsPerCore),
          .AllThreads (PortThreads),
          .Stages     (CorePipelineStages),
          .LineBytes  (LineBytes),
          .Lines      (Lines),
          .Space      (Space),
          .Base       (Base),
          .cache_req_t(cache_req_t),
          .cache_rsp_t(cache_rsp_t)
        ) u_core (
          .clk_i, .rst_ni, .passes_i,
          .req_valid_o(x_valid[k]), .req_ready_i(x_ready[k]), .req_o(x[k]),
          .rsp_valid_i(crsp_valid && 32'(crsp.thread) / ThreadsPerCore == k),
          .rsp_i      (crsp),
          .issue_o    (issue[p][c][k]),
          .done_o     (done[p][c][k])
        );
      end

      gs_rr_arbiter #(.N(CoresPerCache), .data_t(cache_req_t)) u_arbiter (
        .clk_i, .rst_ni,
        .in_valid_i (x_valid), .in_ready_o (x_ready), .in_data_i (x),
        .out_valid_o(creq_valid), .out_ready_i(creq_ready), .out_data_o(creq), .out_idx_o(unused_idx)
      );

      gs_cache #(
        .Threads      (ThreadsPerCache),
        .Ways         (CacheWays),
        .SetsPerThread(Sets),
        .LineBytes    (LineBytes),
        .PortBytes    (DramPortBytes),
        .Inflight     (CacheInflight),
        .cache_req_t  (cache_req_t),
        .cache_rsp_t  (cache_rsp_t),
        .mem_req_t    (mem_req_t),
        .mem_rsp_t    (mem_rsp_t)
      ) u_cache (
        .clk_i, .rst_ni,
        .req_valid_i(creq_valid), .req_ready_o(creq_ready), .req_i(creq),
        .rsp_valid_o(crsp_valid), .rsp_ready_i(1'b1), .rsp_o(crsp),
        .mem_req_valid_o(req_valid[c]), .mem_req_ready_i(req_ready[c]), .mem_req_o(req[c]),
        .mem_rsp_valid_i(rsp_valid[c]), .mem_rsp_ready_o(rsp_ready[c]), .mem_rsp_i(rsp[c]),
        .event_hit_o(unused_hit), .event_miss_o(unused_miss), .event_thread_o(unused_thread),
        .event_writeback_o(unused_writeback), .writeback_thread_o(unused_writeback_thread)
      );

      assign taken[p][c] = rsp_valid[c] && rsp_ready[c];
      assign responses[p][c]  = rsp[c];
    end
  end

  gs_mem_totals #(
    .Caches   (DramCount * CachesPerDram),
    .Cores    (DramCount * CachesPerDram * CoresPerCache),
    .mem_rsp_t(mem_rsp_t)
  ) u_totals (
    .clk_i, .rst_ni,
    .rsp_taken_i(taken), .rsp_i(responses), .issue_i(issue),
    .fills_o, .writebacks_o, .instructions_o
  );
  assign all_done_o = done == '1;
  assign any_done_o = done != '0;
endmodule
