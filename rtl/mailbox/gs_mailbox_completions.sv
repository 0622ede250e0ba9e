// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Completions of requests, queued until they leave as responses and traps. As many requests may be in flight as there
/// are free entries. Threads that a release frees get their completions while no request has one.
module gs_mailbox_completions
  import gs_mailbox_pkg::*;
#(
  /// bits of a thread's number
  parameter int unsigned ThreadW  = 6,
  /// entries, a power of two
  parameter int unsigned Depth = 16
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// another request may be issued; a request was issued in the previous cycle, and will have a completion
  output logic               space_o,
  input  logic               issued_i,
  /// without in_valid_i, in_trap_i and in_data_i are 0
  input  logic               in_valid_i,
  input  logic               in_trap_i,
  input  logic [ThreadW-1:0] in_thread_i,
  input  logic [5:0]         in_cause_i,
  input  logic [31:0]        in_data_i,
  /// a thread that a release frees
  input  logic               free_valid_i,
  output logic               free_ready_o,
  input  logic [ThreadW-1:0] free_thread_i,
  input  logic [1:0]         free_result_i,
  output logic               rsp_valid_o,
  input  logic               rsp_ready_i,
  output mailbox_rsp_t       rsp_o,
  output logic               trap_valid_o,
  input  logic               trap_ready_i,
  output mailbox_trap_t      trap_o,
  /// a completion is here or outstanding
  output logic               busy_o
);
  localparam int unsigned SpaceW = $clog2(Depth + 1);

  typedef struct packed {
    logic               is_trap;
    logic [ThreadW-1:0] thread;
    logic [5:0]         cause;
    logic [31:0]        data;
  } completion_t;
  completion_t in, first, out_q;
  logic in_valid, first_valid, first_ready, in_ready, free, out_valid_q, popped_q, trapped_q;
  logic [SpaceW-1:0] space_q, count_unused;
  logic [1:0] reserved;

  assign free_ready_o = !in_valid_i && space_o;
  assign free         = free_valid_i && free_ready_o;
  assign in_valid     = in_valid_i || free;
  always_comb begin
    in = '{is_trap: in_trap_i, thread: in_thread_i, cause: in_cause_i, data: in_data_i};
    if (!in_valid_i) begin
      in.thread    = free_thread_i;
      in.data[1:0] = free_result_i;
    end
  end

  gs_fifo #(
    .data_t(completion_t),
    .Depth (Depth)
  ) u_completions (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_data_i  (in),
    .out_valid_o(first_valid),
    .out_ready_i(first_ready),
    .out_data_o (first),
    .count_o    (count_unused)
  );

  // The output register keeps the queue's RAM out of the path to the outputs. The trap receiver is ready late: its
  // ready is registered, for one cycle in which the trap is no longer offered.
  assign first_ready  = !out_valid_q || (out_q.is_trap ? trapped_q : rsp_ready_i);
  assign rsp_valid_o  = out_valid_q && !out_q.is_trap;
  assign rsp_o        = '{thread: 6'(out_q.thread), data: out_q.data};
  assign trap_valid_o = out_valid_q && out_q.is_trap && !trapped_q;
  assign trap_o       = '{thread: 6'(out_q.thread), cause: out_q.cause, addr: out_q.data};
  // Two entries are in reserve: for the request issued in the previous cycle, and for a thread freed in this cycle.
  assign space_o      = space_q > SpaceW'(2);
  assign reserved     = 2'(issued_i) + 2'(free);
  assign busy_o       = issued_i || space_q != SpaceW'(Depth) || out_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      popped_q    <= 1'b0;
      trapped_q   <= 1'b0;
      space_q     <= SpaceW'(Depth);
    end else begin
      if (first_ready) out_valid_q <= first_valid;
      popped_q  <= first_valid && first_ready;
      trapped_q <= trap_valid_o && trap_ready_i;
      space_q   <= space_q - SpaceW'(reserved) + SpaceW'(popped_q);
    end
    if (first_ready) out_q <= first;
  end

  `GS_ASSERT_NOW(inputs_are_zero_without_a_completion, in_valid_i || {in_trap_i, in_data_i} == '0)
  `GS_ASSERT_NOW(completions_find_a_free_entry, !in_valid || in_ready)
endmodule
