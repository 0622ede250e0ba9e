// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_rr_arbiter: an item comes from one input, unchanged, and what waits for the arbiter waits for at
/// most N-1 items of others.
module prove_streams (
  input logic            clk_i,
  input logic            rst_ni,
  input logic [2:0]      in_valid_i,
  input logic [2:0][2:0] in_data_i,
  input logic            out_ready_i
);
  logic [2:0]      merge_ready;
  logic            merge_valid;
  logic [2:0]      merge_data;
  logic [1:0]      merge_idx;

  // Any one input: a register without a first value that holds itself.
  logic [1:0] who_q;
  always_ff @(posedge clk_i) who_q <= who_q;
  `GS_ASSUME_NOW(it_is_one_of_them, who_q < 2'd3)

  // What the blocks want of their surroundings: what waits is stable.
  for (genvar i = 0; i < 3; i++) begin : gen_stable
    `GS_ASSUME_HOLD(an_item_waits_for_the_arbiter, in_valid_i[i], merge_ready[i], in_data_i[i])
  end

  int waited_q, pointer, distance;

  gs_rr_arbiter #(
    .N     (3),
    .data_t(logic [2:0])
  ) u_merge (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o (merge_ready),
    .in_data_i  ('{in_data_i[0], in_data_i[1], in_data_i[2]}),
    .out_valid_o(merge_valid),
    .out_ready_i,
    .out_data_o (merge_data),
    .out_idx_o  (merge_idx)
  );

  always_comb begin
    pointer = 0;
    for (int i = 2; i >= 0; i--) if (u_merge.u_arbiter.ahead_q[i]) pointer = i;
    distance = 32'(who_q) - pointer + ((32'(who_q) < pointer) ? 3 : 0);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !in_valid_i[who_q] || merge_ready[who_q]) waited_q <= 0;
    else if (merge_valid && out_ready_i) waited_q <= waited_q + 1;
  end

  `GS_ASSERT_NOW(an_item_is_at_the_output_if_one_is_there, merge_valid == (in_valid_i != '0))
  `GS_ASSERT_NOW(it_is_the_item_of_that_input, !merge_valid || merge_data == in_data_i[merge_idx])
  `GS_ASSERT_NOW(that_input_and_no_other_has_sent, !merge_valid || merge_ready == 3'(out_ready_i) << merge_idx)
  `GS_ASSERT_NOW(it_has_something, !merge_valid || in_valid_i[merge_idx])
  `GS_ASSERT_NOW(nobody_waits_for_more_than_all_others, waited_q >= 0 && waited_q < 3)
  `GS_ASSERT_NOW(the_pointer_comes_nearer, !in_valid_i[who_q] || waited_q + distance < 3)
  for (genvar i = 1; i < 3; i++) begin : gen_ahead
    `GS_ASSERT_NOW(all_behind_the_pointer_are_ahead, !u_merge.u_arbiter.ahead_q[i-1] || u_merge.u_arbiter.ahead_q[i])
  end

  `GS_COVER_NOW(an_item_waits_for_two_others, waited_q == 2 && merge_ready[who_q])
endmodule
