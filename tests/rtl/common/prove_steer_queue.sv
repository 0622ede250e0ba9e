// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_steer_queue: it holds two items, and any watched item is offered in order, unchanged, and only to its
/// receiver.
module prove_steer_queue (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       in_valid_i,
  input logic [1:0] in_to_i,
  input logic [2:0] in_data_i,
  input logic [2:0] out_ready_i,
  /// watch the item that enters in this cycle
  input logic       watch_i
);
  logic       in_ready;
  logic [2:0] in_to, out_valid, out_data;

  // One of three receivers.
  assign in_to = (in_to_i == 2'd3) ? 3'b001 : 3'b001 << in_to_i;

  gs_steer_queue #(
    .N     (3),
    .data_t(logic [2:0])
  ) u_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (in_ready),
    .in_to_i    (in_to),
    .in_data_i,
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_data_o (out_data)
  );

  // An item is the payload and its receiver.
  logic [1:0] held;
  logic       watching, second;
  logic [2:0] item, to;

  prove_two_slot_queue #(
    .Width(6)
  ) u_pair (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_i (in_ready),
    .in_item_i  ({in_to, in_data_i}),
    .out_valid_i(out_valid != '0),
    .pop_i      ((out_valid & out_ready_i) != '0),
    .out_item_i ({out_valid, out_data}),
    .watch_i,
    .inside_o   (held),
    .watching_o (watching),
    .second_o   (second),
    .item_o     ({to, item})
  );

  `GS_ASSERT_NOW(at_most_one_receiver_is_valid, (out_valid & (out_valid - 3'd1)) == '0)
  // Invariants for the induction.
  logic there;
  assign there = !u_queue.take_q;
  `GS_ASSERT_NOW(first_slot_is_used_if_not_empty, (u_queue.first_q != '0) == (held != 2'd0))
  `GS_ASSERT_NOW(second_slot_is_used_if_full, u_queue.full_q == (held == 2'd2))
  `GS_ASSERT_NOW(second_item_has_one_receiver, !u_queue.full_q || $onehot(u_queue.second_q))
  `GS_ASSERT_NOW(pointer_distance_equals_item_count, u_queue.put_q == (u_queue.take_q ^ held[0]))
  `GS_ASSERT_NOW(second_item_is_stored, !watching || !second
      || (u_queue.second_q == to && (there ? u_queue.odd_q : u_queue.even_q) == item))

  `GS_COVER_NOW(items_for_different_receivers, held == 2'd2 && u_queue.first_q != u_queue.second_q)
endmodule
