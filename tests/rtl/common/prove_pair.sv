// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// What the proofs of queues of two places have in common: two items fit, and any item that is watched comes out in
/// its turn and unchanged. What induction needs to know of the inside is theirs to add.
module prove_pair #(
  /// bits of an item
  parameter int unsigned Width = 3
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // The queue's ports
  input  logic             in_valid_i,
  input  logic             in_ready_i,
  input  logic [Width-1:0] in_item_i,
  input  logic             out_valid_i,
  input  logic             pop_i,
  input  logic [Width-1:0] out_item_i,
  /// watch the item that comes now
  input  logic             watch_i,
  /// items that are inside
  output logic [1:0]       inside_o,
  /// an item is watched, and stands behind another; the item
  output logic             watching_o,
  output logic             second_o,
  output logic [Width-1:0] item_o
);
  logic push;
  assign push = in_valid_i && in_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_o   <= '0;
      watching_o <= 1'b0;
    end else begin
      inside_o <= inside_o + 2'(push) - 2'(pop_i);
      if (watching_o && pop_i) begin
        second_o <= 1'b0;
        if (!second_o) watching_o <= 1'b0;
      end
      if (!watching_o && watch_i && push) begin
        watching_o <= 1'b1;
        item_o     <= in_item_i;
        second_o   <= inside_o != 2'(pop_i);
      end
    end
  end

  `GS_ASSERT_NOW(there_is_room_for_two, in_ready_i == (inside_o < 2'd2))
  `GS_ASSERT_NOW(what_is_inside_is_at_the_output, out_valid_i == (inside_o != 2'd0))
  `GS_ASSERT_NOW(the_item_comes_out_as_it_went_in,
      !watching_o || second_o || (out_valid_i && out_item_i == item_o))
  `GS_ASSERT_NOW(the_item_stands_behind_another, !watching_o || !second_o || inside_o == 2'd2)
  `GS_ASSERT_NOW(there_are_two_at_most, inside_o <= 2'd2)

  `GS_COVER_NOW(both_places_are_taken, inside_o == 2'd2 && !in_ready_i)
  `GS_COVER_NOW(the_item_is_behind_another, watching_o && second_o && pop_i)
  `GS_COVER_NOW(the_item_comes_out, watching_o && !second_o && pop_i)
endmodule
