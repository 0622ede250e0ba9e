// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Idle detection for a tile that is alone: releases the threads when all of them wait in idle and every message that
/// was sent has been received.
///
/// All fields of the status are of one cycle, so one look is enough: threads that wait send nothing, and with as many
/// messages received as sent there is none that could wake a thread.
///
///     Watch --idle, sent = received--> release --> Leave --not idle--> Watch
module gs_idle_single
  import gs_idle_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  /// the tile's, its accelerator's messages included
  input  idle_status_t idle_i,
  /// 1: no release, as when no thread has been started
  input  logic         hold_i,
  output logic         release_o,
  output logic         agreed_o
);
  // Between a release and the first status that knows of it.
  logic leave_q, leave_d, release_q, release_d, agreed_q;

  assign release_o = release_q;
  assign agreed_o  = agreed_q;

  always_comb begin
    release_d = idle_i.idle && idle_i.sent == idle_i.received && !hold_i && !leave_q;
    leave_d   = release_d || (leave_q && (release_q || idle_i.idle));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      leave_q   <= 1'b0;
      release_q <= 1'b0;
    end else begin
      leave_q   <= leave_d;
      release_q <= release_d;
    end
    agreed_q <= idle_i.vote;
  end

  logic unused_epoch;
  assign unused_epoch = &{1'b0, idle_i.epoch};

  `GS_ASSERT_NOW(a_release_is_not_repeated, !release_q || leave_q)
endmodule
