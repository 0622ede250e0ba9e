// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Idle detection for a tile that is alone: releases the threads when all wait in idle and no message is under way.
///
/// Who sends and receives besides the mailbox (an accelerator, a host) pulses here as well. A message
/// counts as sent before it counts as received; the difference is what is under way.
/// The condition must hold for some cycles on end, longer than it takes a pulse to come here.
///
///     Watch --all wait, none under way--> Settle --4 cycles of it--> release --> Leave --not all wait--> Watch
module gs_idle_single #(
  /// who sends and receives, 1 or more
  parameter int unsigned Sources = 1,
  /// bits of the count of messages under way
  parameter int unsigned CountW  = 16
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// the mailbox's: all threads wait, and all of them voted yes
  input  logic               idle_all_i,
  input  logic               idle_votes_i,
  /// something else may still send: an accelerator at work, threads about to be started
  input  logic               busy_i,
  /// pulses: a message was sent; one was received, or dropped
  input  logic [Sources-1:0] sent_i,
  input  logic [Sources-1:0] received_i,
  input  logic [Sources-1:0] dropped_i,
  output logic               release_o,
  output logic               agreed_o
);
  typedef enum logic [1:0] {
    Watch,
    Settle,
    Leave
  } idle_state_e;

  localparam logic [1:0] SettleCycles = 2'd3;

  idle_state_e state_q, state_d;
  logic [1:0] settle_q, settle_d;
  logic [CountW-1:0] under_way_q, under_way_d;
  logic release_q, release_d, agreed_q, still;

  assign release_o = release_q;
  assign agreed_o  = agreed_q;
  assign still     = idle_all_i && !busy_i && under_way_q == '0 && (sent_i | received_i | dropped_i) == '0;

  always_comb begin
    under_way_d = under_way_q;
    for (int unsigned i = 0; i < Sources; i++) begin
      under_way_d = under_way_d + CountW'(sent_i[i]) - CountW'(received_i[i]) - CountW'(dropped_i[i]);
    end
    state_d   = state_q;
    settle_d  = SettleCycles;
    release_d = 1'b0;
    unique case (state_q)
      Watch: if (still) state_d = Settle;
      Settle: begin
        settle_d = settle_q - 2'd1;
        if (!still) begin
          state_d = Watch;
        end else if (settle_q == '0) begin
          state_d   = Leave;
          release_d = 1'b1;
        end
      end
      default: if (!release_q && !idle_all_i) state_d = Watch;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= Watch;
      settle_q    <= SettleCycles;
      under_way_q <= '0;
      release_q   <= 1'b0;
      agreed_q    <= 1'b0;
    end else begin
      state_q     <= state_d;
      settle_q    <= settle_d;
      under_way_q <= under_way_d;
      release_q   <= release_d;
      agreed_q    <= idle_votes_i;
    end
  end

  `GS_ASSERT_NOW(nobody_is_released_while_a_message_is_under_way, !release_q || under_way_q == '0)
endmodule
