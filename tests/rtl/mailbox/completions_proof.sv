// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_mailbox_completions: each request that goes while there is room finds its place when its outcome comes,
/// two cycles behind, and so does each thread that is freed meanwhile; no place is lost. Requests, frees and takers are
/// free.
module completions_proof
  import gs_mailbox_pkg::*;
#(
  localparam int unsigned Outcomes = 4
) (
  input logic clk_i,
  input logic rst_ni,
  input logic go_i,
  input logic trap_i,
  input logic free_i,
  input logic rsp_ready_i,
  input logic trap_ready_i
);
  logic room, take_q, later_q, in_q, free_ready, rsp_valid, trap_valid, busy;
  mailbox_rsp_t unused_rsp;
  mailbox_trap_t unused_trap;

  gs_mailbox_completions #(
    .ThreadW (2),
    .Outcomes(Outcomes)
  ) u_completions (
    .clk_i,
    .rst_ni,
    .room_o       (room),
    .take_i       (take_q),
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
      take_q  <= 1'b0;
      later_q <= 1'b0;
      in_q    <= 1'b0;
    end else begin
      take_q  <= go_i && room;
      later_q <= take_q;
      in_q    <= later_q;
    end
  end

  logic unused;
  assign unused = ^{unused_rsp, unused_trap, free_ready};

  `GS_ASSERT_NOW(each_place_is_free_or_taken_once,
                 32'(u_completions.room_q) + 32'(later_q) + 32'(in_q) + 32'(u_completions.count_unused)
                     + 32'(u_completions.popped_q) == Outcomes)
  `GS_ASSERT_NOW(who_has_gone_has_a_place, !take_q || u_completions.room_q != '0)
  `GS_ASSERT_NOW(what_is_here_is_told, busy || !(take_q || later_q || in_q || rsp_valid || trap_valid))
  `GS_COVER_NOW(all_places_are_taken, u_completions.room_q == '0)
  `GS_COVER_NOW(a_thread_is_freed_beside_a_request, free_i && free_ready && take_q)
endmodule
