// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_mailbox_completions: each request that is issued while there is space finds a free entry when its
/// completion arrives, two cycles later, and so does each thread that is freed meanwhile; no entry is lost. Requests,
/// freed threads and receivers are arbitrary.
module completions_proof
  import gs_mailbox_pkg::*;
#(
  localparam int unsigned Depth = 4
) (
  input logic clk_i,
  input logic rst_ni,
  input logic go_i,
  input logic trap_i,
  input logic free_i,
  input logic rsp_ready_i,
  input logic trap_ready_i
);
  logic space, issued_q, later_q, in_q, free_ready, rsp_valid, trap_valid, busy;
  mailbox_rsp_t unused_rsp;
  mailbox_trap_t unused_trap;

  gs_mailbox_completions #(
    .ThreadW(2),
    .Depth  (Depth)
  ) u_completions (
    .clk_i,
    .rst_ni,
    .space_o      (space),
    .issued_i     (issued_q),
    .in_valid_i   (in_q),
    .in_trap_i    (in_q && trap_i),
    .in_thread_i  ('0),
    .in_cause_i   ('0),
    .in_data_i    ('0),
    .free_valid_i (free_i),
    .free_ready_o (free_ready),
    .free_thread_i('0),
    .free_result_i('0),
    .rsp_valid_o  (rsp_valid),
    .rsp_ready_i,
    .rsp_o        (unused_rsp),
    .trap_valid_o (trap_valid),
    .trap_ready_i,
    .trap_o       (unused_trap),
    .busy_o       (busy)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      issued_q <= 1'b0;
      later_q  <= 1'b0;
      in_q     <= 1'b0;
    end else begin
      issued_q <= go_i && space;
      later_q  <= issued_q;
      in_q     <= later_q;
    end
  end

  logic unused;
  assign unused = ^{unused_rsp, unused_trap, free_ready};

  `GS_ASSERT_NOW(every_entry_is_accounted_for_once,
                 32'(u_completions.space_q) + 32'(later_q) + 32'(in_q) + 32'(u_completions.count_unused)
                     + 32'(u_completions.popped_q) == Depth)
  `GS_ASSERT_NOW(issued_requests_have_an_entry, !issued_q || u_completions.space_q != '0)
  `GS_ASSERT_NOW(busy_while_completions_are_pending, busy || !(issued_q || later_q || in_q || rsp_valid || trap_valid))
  `GS_COVER_NOW(all_entries_are_reserved, u_completions.space_q == '0)
  `GS_COVER_NOW(thread_is_freed_while_a_request_is_issued, free_i && free_ready && issued_q)
endmodule
