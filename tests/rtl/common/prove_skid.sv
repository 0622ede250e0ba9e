// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_skid: it holds two items, and any watched item leaves in order and unchanged.
module prove_skid (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       in_valid_i,
  input logic [2:0] in_data_i,
  input logic       out_ready_i,
  /// watch the item that enters in this cycle
  input logic       watch_i
);
  logic       in_ready, out_valid;
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

  logic [1:0] unused_inside;
  logic       watching, second;
  logic [2:0] item;

  prove_two_slot_queue #(
    .Width(3)
  ) u_pair (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_i (in_ready),
    .in_item_i  (in_data_i),
    .out_valid_i(out_valid),
    .pop_i      (out_valid && out_ready_i),
    .out_item_i (out_data),
    .watch_i,
    .inside_o   (unused_inside),
    .watching_o (watching),
    .second_o   (second),
    .item_o     (item)
  );

  // Invariant for the induction.
  `GS_ASSERT_NOW(second_item_is_in_the_spare_register, !watching || !second || u_skid.spare_data_q == item)
endmodule
