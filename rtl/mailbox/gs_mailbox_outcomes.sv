// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Outcomes of requests, on their way out as responses and traps; as many are under way as have room here.
module gs_mailbox_outcomes
  import gs_mailbox_pkg::*;
#(
  /// bits of a thread's number
  parameter int unsigned ThreadW  = 6,
  /// outcomes that have room, a power of two
  parameter int unsigned Outcomes = 16
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// another request may go; one did that has an outcome
  output logic               room_o,
  input  logic               take_i,
  input  logic               in_valid_i,
  input  logic               in_trap_i,
  input  logic [ThreadW-1:0] in_thread_i,
  input  logic [5:0]         in_cause_i,
  input  logic [31:0]        in_data_i,
  output logic               rsp_valid_o,
  input  logic               rsp_ready_i,
  output mailbox_rsp_t       rsp_o,
  output logic               trap_valid_o,
  input  logic               trap_ready_i,
  output mailbox_trap_t      trap_o,
  /// an outcome is here or to come
  output logic               busy_o
);
  localparam int unsigned RoomW = $clog2(Outcomes + 1);

  typedef struct packed {
    logic               is_trap;
    logic [ThreadW-1:0] thread;
    logic [5:0]         cause;
    logic [31:0]        data;
  } outcome_t;
  outcome_t in, first, out_q;
  logic first_valid, first_ready, in_ready, out_valid_q, popped_q;
  logic [RoomW-1:0] room_q, count_unused;

  assign in = '{is_trap: in_trap_i, thread: in_thread_i, cause: in_cause_i, data: in_data_i};

  gs_fifo #(
    .data_t(outcome_t),
    .Depth (Outcomes)
  ) u_outcomes (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_data_i  (in),
    .out_valid_o(first_valid),
    .out_ready_i(first_ready),
    .out_data_o (first),
    .count_o    (count_unused)
  );

  // The queue's RAM is not to be in front of what comes behind the mailbox.
  assign first_ready  = !out_valid_q || (out_q.is_trap ? trap_ready_i : rsp_ready_i);
  assign rsp_valid_o  = out_valid_q && !out_q.is_trap;
  assign rsp_o        = '{thread: 6'(out_q.thread), data: out_q.data};
  assign trap_valid_o = out_valid_q && out_q.is_trap;
  assign trap_o       = '{thread: 6'(out_q.thread), cause: out_q.cause, addr: out_q.data};
  assign room_o       = room_q != '0;
  assign busy_o       = room_q != RoomW'(Outcomes) || out_valid_q || popped_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      popped_q    <= 1'b0;
      room_q      <= RoomW'(Outcomes);
    end else begin
      if (first_ready) out_valid_q <= first_valid;
      popped_q <= first_valid && first_ready;
      if (take_i != popped_q) room_q <= room_q + (take_i ? '1 : RoomW'(1));
    end
    if (first_ready) out_q <= first;
  end

  `GS_ASSERT_NOW(outcomes_have_room, !in_valid_i || in_ready)
endmodule
