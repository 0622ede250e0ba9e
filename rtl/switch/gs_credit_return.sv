// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Gives a sender its credits back for a buffer that is larger than the sender's window.
///
/// A credit goes back as soon as there is room for all that the sender could still send, so that more than a window may
/// be in the buffer. The pulse is registered.
module gs_credit_return #(
  /// places of the buffer, and credits that the sender begins with
  parameter int unsigned Depth  = 64,
  parameter int unsigned Window = 8
) (
  input  logic clk_i,
  input  logic rst_ni,
  /// an item comes; an item goes
  input  logic takes_i,
  input  logic leaves_i,
  /// 0: what else the buffer needs is short
  input  logic allow_i,
  output logic credit_o
);
  localparam int unsigned CountW = $clog2(Depth + 1);
  localparam int unsigned OwedW = $clog2(Window + 1);

  if (Depth < Window) begin : gen_illegal_depth
    $fatal(1, "gs_credit_return: Depth is %0d; it must be at least Window (%0d)", Depth, Window);
  end

  logic [CountW-1:0] used_q;
  logic [OwedW-1:0] owed_q;
  logic gives;

  assign gives = owed_q != '0 && used_q <= CountW'(Depth - Window) && allow_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q   <= '0;
      owed_q   <= '0;
      credit_o <= 1'b0;
    end else begin
      used_q   <= used_q + CountW'(takes_i) - CountW'(leaves_i);
      owed_q   <= owed_q + OwedW'(takes_i) - OwedW'(gives);
      credit_o <= gives;
    end
  end

  `GS_ASSERT_NOW(the_buffer_does_not_overflow, !takes_i || used_q != CountW'(Depth))
  `GS_ASSERT_NOW(the_sender_keeps_to_its_credits, !takes_i || owed_q != OwedW'(Window))
  `GS_ASSERT_NOW(only_what_came_leaves, !leaves_i || used_q != '0)
endmodule
