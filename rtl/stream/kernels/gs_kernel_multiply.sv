// SPDX-License-Identifier: Apache-2.0

/// Multiplies two IEEE singles each cycle, round to nearest; the latency is 12 cycles. It instantiates the FMA unit of
/// the cores; synthesis removes all other logic of that unit.
module gs_kernel_multiply
  import gs_fpu_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic        valid_o,
  output logic [31:0] data_o
);
  logic unused_start, unused_here, unused_sqrt, unused_take;
  logic signed [9:0] unused_exponent;
  logic [23:0] unused_a, unused_b;
  logic unused_id;
  flags_t unused_flags;
  gs_fpu_fma #(
    .IdW(1)
  ) u_fma (
    .clk_i,
    .rst_ni,
    .en_i           (1'b1),
    .valid_i,
    .op_i           (OpMul),
    .rm_i           (3'd0),
    .id_i           (1'b0),
    .a_i,
    .b_i,
    .c_i            ('0),
    .slow_start_o   (unused_start),
    .slow_entering_o    (unused_here),
    .slow_sqrt_o    (unused_sqrt),
    .slow_exponent_o(unused_exponent),
    .slow_a_o       (unused_a),
    .slow_b_o       (unused_b),
    .slow_valid_i   (1'b0),
    .slow_exponent_i('0),
    .slow_q_i       ('0),
    .slow_sticky_i  (1'b0),
    .slow_take_o    (unused_take),
    .valid_o,
    .id_o           (unused_id),
    .data_o,
    .flags_o        (unused_flags)
  );
endmodule
