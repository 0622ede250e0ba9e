// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_rr_arbiter: an output item is that of one input, unchanged, and an input waits for at most N-1 items of
/// other inputs.
module prove_rr_arbiter (
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

  // Any one input: a register without an initial value that keeps its value.
  logic [1:0] who_q;
  always_ff @(posedge clk_i) who_q <= who_q;
  `GS_ASSUME_NOW(watched_index_is_legal, who_q < 2'd3)

  // The block's requirement on its environment: a waiting item is stable.
  for (genvar i = 0; i < 3; i++) begin : gen_stable
    `GS_ASSUME_HOLD(input_is_stable_while_it_waits, in_valid_i[i], merge_ready[i], in_data_i[i])
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

  `GS_ASSERT_NOW(output_is_valid_if_any_input_is, merge_valid == (in_valid_i != '0))
  `GS_ASSERT_NOW(output_item_is_that_of_the_granted_input, !merge_valid || merge_data == in_data_i[merge_idx])
  `GS_ASSERT_NOW(only_the_granted_input_is_ready, !merge_valid || merge_ready == 3'(out_ready_i) << merge_idx)
  `GS_ASSERT_NOW(granted_input_is_valid, !merge_valid || in_valid_i[merge_idx])
  `GS_ASSERT_NOW(input_waits_for_at_most_all_others, waited_q >= 0 && waited_q < 3)
  `GS_ASSERT_NOW(pointer_approaches_a_waiting_input, !in_valid_i[who_q] || waited_q + distance < 3)
  for (genvar i = 1; i < 3; i++) begin : gen_ahead
    `GS_ASSERT_NOW(ahead_is_a_suffix_of_the_inputs, !u_merge.u_arbiter.ahead_q[i-1] || u_merge.u_arbiter.ahead_q[i])
  end

  `GS_COVER_NOW(input_waits_for_two_others, waited_q == 2 && merge_ready[who_q])
endmodule
