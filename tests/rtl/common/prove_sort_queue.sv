// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_sort_queue: two items fit, and any item that is watched is shown in its turn, unchanged, to the one
/// receiver that it is for.
module prove_sort_queue (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       in_valid_i,
  input logic [1:0] in_to_i,
  input logic [2:0] in_data_i,
  input logic [2:0] out_ready_i,
  /// watch the item that comes now
  input logic       watch_i
);
  logic       in_ready, push, pop;
  logic [2:0] in_to, out_valid, out_data;

  // One of three.
  assign in_to = (in_to_i == 2'd3) ? 3'b001 : 3'b001 << in_to_i;

  gs_sort_queue #(
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

  assign push = in_valid_i && in_ready;
  assign pop  = (out_valid & out_ready_i) != '0;

  logic [1:0] inside_q;
  logic       watching_q, second_q;
  logic [2:0] item_q, to_q;

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
        to_q       <= in_to;
        second_q   <= inside_q != 2'(pop);
      end
    end
  end

  `GS_ASSERT_NOW(there_is_room_for_two, in_ready == (inside_q < 2'd2))
  `GS_ASSERT_NOW(what_is_inside_is_at_the_output, (out_valid != '0) == (inside_q != 2'd0))
  `GS_ASSERT_NOW(one_receiver_is_told, (out_valid & (out_valid - 3'd1)) == '0)
  `GS_ASSERT_NOW(the_item_comes_out_as_it_went_in,
      !watching_q || second_q || (out_valid == to_q && out_data == item_q))
  // What induction needs to know of the inside.
  logic here, there;
  assign here  = u_queue.take_q;
  assign there = !u_queue.take_q;
  `GS_ASSERT_NOW(there_are_two_at_most, inside_q <= 2'd2)
  `GS_ASSERT_NOW(the_item_is_inside, !watching_q || inside_q != 2'd0)
  `GS_ASSERT_NOW(the_item_stands_behind_another, !watching_q || !second_q || inside_q == 2'd2)
  `GS_ASSERT_NOW(the_first_place_is_full, (u_queue.to_q[here] != '0) == (inside_q != 2'd0))
  `GS_ASSERT_NOW(the_second_place_is_full, (u_queue.to_q[there] != '0) == (inside_q == 2'd2))
  `GS_ASSERT_NOW(each_is_for_one, (u_queue.to_q[there] & (u_queue.to_q[there] - 3'd1)) == '0)
  `GS_ASSERT_NOW(pointers_are_as_far_apart_as_items, u_queue.put_q == (u_queue.take_q ^ inside_q[0]))
  `GS_ASSERT_NOW(the_second_item_is_kept, !watching_q || !second_q
      || (u_queue.to_q[there] == to_q && u_queue.u_items.mem[there] == item_q))
endmodule
