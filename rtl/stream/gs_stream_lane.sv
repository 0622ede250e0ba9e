// SPDX-License-Identifier: Apache-2.0

/// Joins two elements of 32 bits each cycle, int or float: sum, greatest or least. Five registers, whatever the
/// operation. Of floats, NaN wins, and -0 is less than +0, so that the order of ranks does not matter.
module gs_stream_lane
  import gossamer_pkg::*;
(
  input  logic        clk_i,
  input  logic        advance_i,
  input  logic        float_i,
  input  smi_op_e     op_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] out_o
);
  localparam int unsigned Stages = 5;
  localparam logic [30:0] Infinity = {8'hFF, 23'd0};

  logic [31:0] sum, other;
  logic less, nan;
  always_comb begin
    less = (float_i && a_i[31] && b_i[31]) ? a_i[30:0] > b_i[30:0] : a_i[30:0] < b_i[30:0];
    if (a_i[31] != b_i[31]) less = a_i[31];
    nan   = float_i && (a_i[30:0] > Infinity || b_i[30:0] > Infinity);
    other = (less == (op_i == SmiOpMax)) ? b_i : a_i;
    if (op_i == SmiOpAdd) other = a_i + b_i;
    else if (nan) other = 32'h7FC0_0000;
  end
  gs_stream_fadd u_sum (
    .clk_i,
    .advance_i,
    .a_i,
    .b_i,
    .sum_o(sum)
  );

  // In step with the adder.
  logic [Stages-1:0] float_q;
  logic [31:0] other_q[Stages];
  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      float_q    <= {float_q[Stages-2:0], float_i && op_i == SmiOpAdd};
      other_q[0] <= other;
      for (int unsigned s = 1; s < Stages; s++) other_q[s] <= other_q[s-1];
    end
  end
  assign out_o = float_q[Stages-1] ? sum : other_q[Stages-1];
endmodule
