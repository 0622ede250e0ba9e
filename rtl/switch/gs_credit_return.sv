// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Returns credits to a sender for a buffer that is larger than the sender's window.
///
/// A credit is returned as soon as the buffer has space for all items that the sender could still send, so the buffer
/// may hold more than a window. The pulse is registered.
module gs_credit_return #(
  /// slots of the buffer, and initial credits of the sender
  parameter int unsigned Depth  = 64,
  parameter int unsigned Window = 8
) (
  input  logic clk_i,
  input  logic rst_ni,
  /// an item enters; an item leaves
  input  logic enters_i,
  input  logic leaves_i,
  /// 0: another resource that the items need is short
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
  logic returns;

  assign returns = owed_q != '0 && used_q <= CountW'(Depth - Window) && allow_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q   <= '0;
      owed_q   <= '0;
      credit_o <= 1'b0;
    end else begin
      used_q   <= used_q + CountW'(enters_i) - CountW'(leaves_i);
      owed_q   <= owed_q + OwedW'(enters_i) - OwedW'(returns);
      credit_o <= returns;
    end
  end

  `GS_ASSERT_NOW(buffer_does_not_overflow, !enters_i || used_q != CountW'(Depth))
  `GS_ASSERT_NOW(sender_respects_its_credits, !enters_i || owed_q != OwedW'(Window))
  `GS_ASSERT_NOW(empty_buffer_is_never_popped, !leaves_i || used_q != '0)
endmodule
