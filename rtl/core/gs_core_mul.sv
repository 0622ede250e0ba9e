// SPDX-License-Identifier: Apache-2.0

/// Multiplier and shifter: a shift is a product with a power of two. A shift to the left is the product's low half; a
/// shift to the right multiplies by 2^(32 - distance) and is the high half. Four 18x18 products, with a register after
/// each step, because DSP blocks are slow.
///
///     Operand: one-hot fields --> Exec: multiplier --> Resolve: products --> Send: middle sum --> Join: sum
///                                                                                         --> Write: low, high
module gs_core_mul (
  input  logic        clk_i,
  // Operand: distance of a shift, and its direction
  input  logic        operand_shift_i,
  input  logic [4:0]  operand_distance_i,
  input  logic        operand_right_i,
  // Exec: the multiplier is used; operands and mode
  input  logic        exec_uses_i,
  input  logic [31:0] exec_a_i,
  input  logic        exec_a_signed_i,
  input  logic [31:0] exec_b_i,
  input  logic        exec_b_signed_i,
  input  logic        exec_shift_i,
  // Join: whether the low or the high half is the result
  input  logic        join_low_i,
  input  logic        join_high_i,
  // Write: 0 if it is not the result
  output logic [31:0] write_low_o,
  output logic [31:0] write_high_o
);
  // The distance in two one-hot fields, 8 bits for its low bits and 4 for its high ones, and one bit for 32.
  logic [7:0] operand_fine, exec_fine_q;
  logic [3:0] operand_coarse, exec_coarse_q;
  logic [4:0] left;
  logic operand_whole, exec_whole_q;

  always_comb begin
    left           = operand_right_i ? -operand_distance_i : operand_distance_i;
    operand_whole  = operand_right_i && operand_distance_i == '0;
    operand_fine   = 8'd1 << left[2:0];
    operand_coarse = operand_whole ? 4'd0 : 4'd1 << left[4:3];
  end

  logic [32:0] exec_mask;
  logic [33:0] resolve_b_q;
  logic [32:0] resolve_a_q;

  always_comb begin
    exec_mask = {exec_whole_q, {4{exec_fine_q}} & {{8{exec_coarse_q[3]}}, {8{exec_coarse_q[2]}},
                                                   {8{exec_coarse_q[1]}}, {8{exec_coarse_q[0]}}}};
  end

  logic signed [17:0] a_low, a_high, b_low, b_high;
  logic signed [35:0] send_ll_q, send_lh_q, send_hl_q, send_hh_q;
  logic signed [35:0] join_middle_q;
  logic [63:0] join_outer_q;
  logic resolve_uses_q, send_uses_q;
  logic [31:0] write_low_q, write_high_q;

  assign a_low  = {1'b0, resolve_a_q[16:0]};
  assign a_high = {{2{resolve_a_q[32]}}, resolve_a_q[32:17]};
  assign b_low  = {1'b0, resolve_b_q[16:0]};
  assign b_high = {resolve_b_q[33], resolve_b_q[33:17]};

  always_ff @(posedge clk_i) begin
    if (operand_shift_i) begin
      exec_fine_q   <= operand_fine;
      exec_coarse_q <= operand_coarse;
      exec_whole_q  <= operand_whole;
    end
    resolve_uses_q <= exec_uses_i;
    send_uses_q    <= resolve_uses_q;
    if (exec_uses_i) begin
      resolve_a_q <= {exec_a_signed_i && exec_a_i[31], exec_a_i};
      resolve_b_q <= exec_shift_i ? {1'b0, exec_mask} : {{2{exec_b_signed_i && exec_b_i[31]}}, exec_b_i};
    end
    if (resolve_uses_q) begin
      send_ll_q <= a_low * b_low;
      send_lh_q <= a_low * b_high;
      send_hl_q <= a_high * b_low;
      send_hh_q <= a_high * b_high;
    end
    if (send_uses_q) begin
      join_middle_q <= send_lh_q + send_hl_q;
      join_outer_q  <= {send_hh_q[29:0], send_ll_q[33:0]};
    end
    {write_high_q, write_low_q} <= '0;
    if (join_low_i || join_high_i) begin
      automatic logic [63:0] sum = {join_outer_q[63:17] + {{11{join_middle_q[35]}}, join_middle_q}, join_outer_q[16:0]};
      if (join_low_i) write_low_q <= sum[31:0];
      if (join_high_i) write_high_q <= sum[63:32];
    end
  end

  assign write_low_o  = write_low_q;
  assign write_high_o = write_high_q;

  // These bits of the outer products only repeat the sign.
  logic [7:0] unused_high;
  assign unused_high = {send_hh_q[35:30], send_ll_q[35:34]};
endmodule
