// SPDX-License-Identifier: Apache-2.0

/// Adds two streams of IEEE singles, one element per cycle: the last step of GESUMMV, where one operand is received
/// from another rank.
///
///     left --+
///            + --> y
///     right -+
module gs_kernel_axpy (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        left_valid_i,
  output logic        left_ready_o,
  input  logic [31:0] left_i,
  input  logic        right_valid_i,
  output logic        right_ready_o,
  input  logic [31:0] right_i,
  output logic        y_valid_o,
  input  logic        y_ready_i,
  output logic [31:0] y_o
);
  localparam int unsigned Add = 5;
  logic [Add-1:0] valid_q;
  logic advance, both;
  assign both          = left_valid_i && right_valid_i;
  assign advance       = !y_valid_o || y_ready_i;
  assign left_ready_o  = advance && right_valid_i;
  assign right_ready_o = advance && left_valid_i;
  assign y_valid_o     = valid_q[Add-1];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (advance) valid_q <= {valid_q[Add-2:0], both};
  end
  gs_stream_fadd u_add (
    .clk_i,
    .advance_i(advance),
    .a_i      (left_i),
    .b_i      (right_i),
    .sum_o    (y_o)
  );
endmodule
