// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Common part of the proofs of queues with two slots: the queue holds two items, and any watched item leaves in order
/// and unchanged. Each proof adds the invariants of its queue for the induction.
module prove_two_slot_queue #(
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
  /// watch the item that enters in this cycle
  input  logic             watch_i,
  /// items in the queue
  output logic [1:0]       inside_o,
  /// an item is watched; it is the second one; its value
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

  `GS_ASSERT_NOW(ready_while_fewer_than_two_items, in_ready_i == (inside_o < 2'd2))
  `GS_ASSERT_NOW(valid_while_not_empty, out_valid_i == (inside_o != 2'd0))
  `GS_ASSERT_NOW(watched_item_leaves_unchanged,
      !watching_o || second_o || (out_valid_i && out_item_i == item_o))
  `GS_ASSERT_NOW(second_item_implies_two_items, !watching_o || !second_o || inside_o == 2'd2)
  `GS_ASSERT_NOW(at_most_two_items, inside_o <= 2'd2)

  `GS_COVER_NOW(queue_is_full, inside_o == 2'd2 && !in_ready_i)
  `GS_COVER_NOW(watched_item_is_second, watching_o && second_o && pop_i)
  `GS_COVER_NOW(watched_item_leaves, watching_o && !second_o && pop_i)
endmodule
