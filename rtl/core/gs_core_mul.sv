// SPDX-License-Identifier: Apache-2.0

/// Multiplier and shifter: a shift is a product with a power of two, to the left its low half, to the right (by 32
/// less the distance) its high half. Four 18x18 products, one register deep everywhere: DSP blocks are slow.
///
///     C5 one-hot parts -> C6 multiplier -> C7 products -> C8 middle sum -> C9 sum -> C10 low, high
module gs_core_mul (
  input  logic        clk_i,
  // C5: distance of a shift, and its direction
  input  logic        c5_shift_i,
  input  logic [4:0]  c5_distance_i,
  input  logic        c5_right_i,
  // C6: operands, and what to do; there is something to do
  input  logic        c6_uses_i,
  input  logic [31:0] c6_a_i,
  input  logic        c6_a_signed_i,
  input  logic [31:0] c6_b_i,
  input  logic        c6_b_signed_i,
  input  logic        c6_shift_i,
  // C9: whether the low or the high half is the result
  input  logic        c9_low_i,
  input  logic        c9_high_i,
  // C10: 0 if it is not the result
  output logic [31:0] c10_low_o,
  output logic [31:0] c10_high_o
);
  // The distance in two one-hot parts: 8 for its low bits, 4 for its high ones, and one for 32.
  logic [7:0] c5_fine, c6_fine_q;
  logic [3:0] c5_coarse, c6_coarse_q;
  logic [4:0] left;
  logic c5_whole, c6_whole_q;

  always_comb begin
    left      = c5_right_i ? -c5_distance_i : c5_distance_i;
    c5_whole  = c5_right_i && c5_distance_i == '0;
    c5_fine   = 8'd1 << left[2:0];
    c5_coarse = c5_whole ? 4'd0 : 4'd1 << left[4:3];
  end

  logic [32:0] c6_mask;
  logic [33:0] c7_b_q;
  logic [32:0] c7_a_q;

  always_comb begin
    c6_mask = {c6_whole_q, {4{c6_fine_q}} & {{8{c6_coarse_q[3]}}, {8{c6_coarse_q[2]}}, {8{c6_coarse_q[1]}},
                                             {8{c6_coarse_q[0]}}}};
  end

  logic signed [17:0] a_low, a_high, b_low, b_high;
  logic signed [35:0] c8_ll_q, c8_lh_q, c8_hl_q, c8_hh_q;
  logic signed [35:0] c9_middle_q;
  logic [63:0] c9_outer_q;
  logic c7_uses_q, c8_uses_q;
  logic [31:0] c10_low_q, c10_high_q;

  assign a_low  = {1'b0, c7_a_q[16:0]};
  assign a_high = {{2{c7_a_q[32]}}, c7_a_q[32:17]};
  assign b_low  = {1'b0, c7_b_q[16:0]};
  assign b_high = {c7_b_q[33], c7_b_q[33:17]};

  always_ff @(posedge clk_i) begin
    if (c5_shift_i) begin
      c6_fine_q   <= c5_fine;
      c6_coarse_q <= c5_coarse;
      c6_whole_q  <= c5_whole;
    end
    c7_uses_q <= c6_uses_i;
    c8_uses_q <= c7_uses_q;
    if (c6_uses_i) begin
      c7_a_q <= {c6_a_signed_i && c6_a_i[31], c6_a_i};
      c7_b_q <= c6_shift_i ? {1'b0, c6_mask} : {{2{c6_b_signed_i && c6_b_i[31]}}, c6_b_i};
    end
    if (c7_uses_q) begin
      c8_ll_q <= a_low * b_low;
      c8_lh_q <= a_low * b_high;
      c8_hl_q <= a_high * b_low;
      c8_hh_q <= a_high * b_high;
    end
    if (c8_uses_q) begin
      c9_middle_q <= c8_lh_q + c8_hl_q;
      c9_outer_q  <= {c8_hh_q[29:0], c8_ll_q[33:0]};
    end
    {c10_high_q, c10_low_q} <= '0;
    if (c9_low_i || c9_high_i) begin
      automatic logic [63:0] sum = {c9_outer_q[63:17] + {{11{c9_middle_q[35]}}, c9_middle_q}, c9_outer_q[16:0]};
      if (c9_low_i) c10_low_q <= sum[31:0];
      if (c9_high_i) c10_high_q <= sum[63:32];
    end
  end

  assign c10_low_o  = c10_low_q;
  assign c10_high_o = c10_high_q;

  // Of the outer products these bits only repeat the sign.
  logic [7:0] unused_high;
  assign unused_high = {c8_hh_q[35:30], c8_ll_q[35:34]};
endmodule
