// SPDX-License-Identifier: Apache-2.0

/// Reduces two streams of words to one, chunk by chunk: sum, minimum, maximum, or bitwise or.
///
/// A word is 64 / Chunk chunks in consecutive cycles: for sum and or the lowest first, for minimum and maximum (signed)
/// the highest first. Three bits are kept between chunks: the carry, whether the choice is made, and the chosen
/// stream.
module gs_idle_reduce_op #(
  /// bits of a chunk; divides 64
  parameter int unsigned Chunk = 8
) (
  input  logic             clk_i,
  /// a chunk is valid; it is the first of its word
  input  logic             valid_i,
  input  logic             first_i,
  input  logic [1:0]       op_i,
  /// 0: this stream does not exist, the other is passed on
  input  logic             a_present_i,
  input  logic             b_present_i,
  input  logic [Chunk-1:0] a_i,
  input  logic [Chunk-1:0] b_i,
  output logic [Chunk-1:0] out_o
);
  logic carry_q, carry, decided_q, decided, chose_a_q, chose_a, less, wants_less;
  logic [Chunk-1:0] sum;
  logic [Chunk-1:0] sign;

  assign sign         = Chunk'(first_i) << (Chunk - 1);
  assign {carry, sum} = (Chunk + 1)'(a_i) + (Chunk + 1)'(b_i) + (Chunk + 1)'(carry_q && !first_i);
  assign less         = (a_i ^ sign) < (b_i ^ sign);
  assign wants_less   = op_i == gossamer_pkg::ReduceOpMin;
  assign decided       = decided_q && !first_i;
  assign chose_a       = decided ? chose_a_q : less == wants_less;

  always_comb begin
    unique case (op_i)
      gossamer_pkg::ReduceOpSum: out_o = sum;
      gossamer_pkg::ReduceOpOr:  out_o = a_i | b_i;
      default:                   out_o = chose_a ? a_i : b_i;
    endcase
    if (!a_present_i) out_o = b_i;
    if (!b_present_i) out_o = a_i;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      carry_q   <= carry;
      decided_q <= decided || a_i != b_i;
      chose_a_q <= chose_a;
    end
  end
endmodule
