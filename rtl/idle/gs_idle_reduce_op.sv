// SPDX-License-Identifier: Apache-2.0

/// One of two streams of words, chunk by chunk: their sum, lesser, greater, or bitwise or.
///
/// A word is 64 / Chunk chunks in consecutive cycles: sums and ors from the lowest on, least and greatest, signed, from
/// the highest on. What is behind the first chunk is kept in three bits: the carry, and which of both is chosen.
module gs_idle_reduce_op #(
  /// bits of a chunk; divides 64
  parameter int unsigned Chunk = 8
) (
  input  logic             clk_i,
  /// there is a chunk; it is the first of its word
  input  logic             valid_i,
  input  logic             first_i,
  input  logic [1:0]       op_i,
  /// 0: there is no such stream, the other is passed on
  input  logic             a_present_i,
  input  logic             b_present_i,
  input  logic [Chunk-1:0] a_i,
  input  logic [Chunk-1:0] b_i,
  output logic [Chunk-1:0] out_o
);
  logic carry_q, carry, chosen_q, chosen, from_a_q, from_a, less, wants_less;
  logic [Chunk-1:0] sum;
  logic [Chunk-1:0] sign;

  assign sign         = Chunk'(first_i) << (Chunk - 1);
  assign {carry, sum} = (Chunk + 1)'(a_i) + (Chunk + 1)'(b_i) + (Chunk + 1)'(carry_q && !first_i);
  assign less         = (a_i ^ sign) < (b_i ^ sign);
  assign wants_less   = op_i == gossamer_pkg::ReduceOpMin;
  assign chosen       = chosen_q && !first_i;
  assign from_a       = chosen ? from_a_q : less == wants_less;

  always_comb begin
    unique case (op_i)
      gossamer_pkg::ReduceOpSum: out_o = sum;
      gossamer_pkg::ReduceOpOr:  out_o = a_i | b_i;
      default:                   out_o = from_a ? a_i : b_i;
    endcase
    if (!a_present_i) out_o = b_i;
    if (!b_present_i) out_o = a_i;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      carry_q  <= carry;
      chosen_q <= chosen || a_i != b_i;
      from_a_q <= from_a;
    end
  end
endmodule
