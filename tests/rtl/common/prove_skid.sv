// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_skid: two items fit, and any item that is watched comes out in its turn and unchanged.
module prove_skid (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       in_valid_i,
  input logic [2:0] in_data_i,
  input logic       out_ready_i,
  /// watch the item that comes now
  input logic       watch_i
);
  logic       in_ready, out_valid, push, pop;
  logic [2:0] out_data;

  gs_skid #(
    .data_t(logic [2:0])
  ) u_skid (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_data_i,
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_data_o (out_data)
  );

  assign push = in_valid_i && in_ready;
  assign pop  = out_valid && out_ready_i;

  logic [1:0] inside_q;
  logic       watching_q, second_q;
  logic [2:0] item_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q   <= '0;
      watching_q <= 1'b0;
    end else begin
      inside_q <= inside_q + 2'(push) - 2'(pop);
      if (watching_q && pop) begin
        second_q <= 1'b0;
        if (!second_q) watching_q <= 1'b0;
      end
      if (!watching_q && watch_i && push) begin
        watching_q <= 1'b1;
        item_q     <= in_data_i;
        second_q   <= inside_q != 2'(pop);
      end
    end
  end

  `GS_ASSERT_NOW(there_is_room_for_two, in_ready == (inside_q < 2'd2))
  `GS_ASSERT_NOW(what_is_inside_is_at_the_output, out_valid == (inside_q != 2'd0))
  `GS_ASSERT_NOW(the_item_comes_out_as_it_went_in, !watching_q || second_q || (out_valid && out_data == item_q))
  `GS_ASSERT_NOW(the_item_stands_behind_another, !watching_q || !second_q || inside_q == 2'd2)
  // What induction needs to know of the inside.
  `GS_ASSERT_NOW(there_are_two_at_most, inside_q <= 2'd2)
  `GS_ASSERT_NOW(the_second_item_is_kept, !watching_q || !second_q || u_skid.spare_data_q == item_q)
endmodule
