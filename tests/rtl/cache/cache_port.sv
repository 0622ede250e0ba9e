// SPDX-License-Identifier: Apache-2.0
`include "gs_cache_types.svh"
`include "gs_mem_types.svh"

/// A cache with its ports packed into two words, so that a test accesses each only once a cycle.
module cache_port #(
  parameter int unsigned Threads       = 16,
  parameter int unsigned Ways          = 4,
  parameter int unsigned SetsPerThread = 2,
  parameter int unsigned LineBytes     = 32,
  parameter int unsigned PortBytes     = 32,
  parameter int unsigned Inflight      = 4
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [1023:0] in_i,
  output logic [1023:0] out_o
);
  localparam int unsigned ThreadW = $clog2(Threads);
  `GS_CACHE_TYPES(ThreadW, 32)
  `GS_MEM_TYPES(PortBytes, ThreadW, 32)

  logic req_valid, req_ready, rsp_valid, rsp_ready, mreq_valid, mreq_ready, mrsp_valid, mrsp_ready;
  logic hit, miss, writeback;
  logic [ThreadW-1:0] event_thread, writeback_thread, id, thread;
  logic [31:0] addr, data;
  logic [2:0] funct3;
  logic [1:0] op;
  logic space, ack, last;
  logic [8*PortBytes-1:0] beat;
  cache_rsp_t rsp;
  mem_req_t mreq;

  // From the low end: the test packs in the same order.
  assign {beat, id, last, ack, mrsp_valid, mreq_ready, rsp_ready, data, addr, space, thread, funct3, op, req_valid} =
    ($bits({
      beat, id, last, ack, mrsp_valid, mreq_ready, rsp_ready, data, addr, space, thread, funct3, op,
      req_valid
    }))'(in_i);
  assign out_o = 1024'({
    mreq.data, mreq.addr, mreq.id, mreq.space, mreq.last, mreq.write, mreq_valid, mrsp_ready,
    writeback_thread, writeback, event_thread, miss, hit, rsp.data, rsp.thread, rsp_valid, req_ready
  });

  gs_cache #(
    .Threads      (Threads),
    .Ways         (Ways),
    .SetsPerThread(SetsPerThread),
    .LineBytes    (LineBytes),
    .PortBytes    (PortBytes),
    .Inflight     (Inflight),
    .AddrW        (32),
    .cache_req_t  (cache_req_t),
    .cache_rsp_t  (cache_rsp_t),
    .mem_req_t    (mem_req_t),
    .mem_rsp_t    (mem_rsp_t)
  ) u_cache (
    .clk_i,
    .rst_ni,
    .req_valid_i       (req_valid),
    .req_ready_o       (req_ready),
    .req_i             ('{
      op: gs_cache_pkg::cache_op_e'(op), funct3: funct3, thread: thread, space: space, addr: addr, data: data
    }),
    .rsp_valid_o       (rsp_valid),
    .rsp_ready_i       (rsp_ready),
    .rsp_o             (rsp),
    .mem_req_valid_o   (mreq_valid),
    .mem_req_ready_i   (mreq_ready),
    .mem_req_o         (mreq),
    .mem_rsp_valid_i   (mrsp_valid),
    .mem_rsp_ready_o   (mrsp_ready),
    .mem_rsp_i         ('{ack: ack, last: last, id: id, data: beat}),
    .event_hit_o       (hit),
    .event_miss_o      (miss),
    .event_thread_o    (event_thread),
    .event_writeback_o (writeback),
    .writeback_thread_o(writeback_thread)
  );
endmodule
