// SPDX-License-Identifier: Apache-2.0

/// Combines two elements each cycle, integers or floats of `Bits` bits: sum, maximum or minimum. Every operation has
/// five pipeline registers. Of floats, NaN wins, and -0 is less than +0, so that the order of ranks does not matter.
module gs_stream_lane
  import gossamer_pkg::*;
#(
  /// 8, 16, 32 or 64; floats have 16 or more
  parameter int unsigned Bits   = 32,
  /// supported elements: signed integers, floats
  parameter bit          Ints   = 1,
  parameter bit          Floats = 1
) (
  input  logic            clk_i,
  input  logic            advance_i,
  input  logic            float_i,
  input  smi_op_e         op_i,
  input  logic [Bits-1:0] a_i,
  input  logic [Bits-1:0] b_i,
  output logic [Bits-1:0] out_o
);
  localparam int unsigned Stages = 5;
  localparam int unsigned ExpW = (Bits == 16) ? 5 : (Bits == 64) ? 11 : 8;
  // NaN fractions are greater than the fraction of infinity; the quiet NaN has the fraction's first bit set.
  localparam logic [Bits-2:0] Infinity = (Bits - 1)'({{ExpW{1'b1}}, {Bits{1'b0}}} >> (ExpW + 1));
  localparam logic [Bits-2:0] Nan = (Bits - 1)'({{ExpW + 1{1'b1}}, {Bits{1'b0}}} >> (ExpW + 2));

  if (Bits != 8 && Bits != 16 && Bits != 32 && Bits != 64) begin : gen_illegal_bits
    $fatal(1, "gs_stream_lane: Bits is %0d; it must be 8, 16, 32 or 64", Bits);
  end
  if (!(Ints || Floats) || (Floats && Bits == 8)) begin : gen_illegal_types
    $fatal(1, "gs_stream_lane: elements of %0d bits are integers (Ints %0d) or floats of 16 or more (Floats %0d)", Bits,
           Ints, Floats);
  end

  logic [Bits-1:0] sum, other;
  logic less, nan, real_numbers;
  assign real_numbers = Floats && (!Ints || float_i);
  always_comb begin
    less = (real_numbers && a_i[Bits-1] && b_i[Bits-1]) ? a_i[Bits-2:0] > b_i[Bits-2:0] : a_i[Bits-2:0] < b_i[Bits-2:0];
    if (a_i[Bits-1] != b_i[Bits-1]) less = a_i[Bits-1];
    nan   = real_numbers && (a_i[Bits-2:0] > Infinity || b_i[Bits-2:0] > Infinity);
    other = (less == (op_i == SmiOpMax)) ? b_i : a_i;
    if (op_i == SmiOpAdd) other = a_i + b_i;
    else if (nan) other = {1'b0, Nan};
  end
  if (Floats) begin : gen_floats
    gs_stream_fadd #(.Bits(Bits)) u_sum (
      .clk_i,
      .advance_i,
      .a_i,
      .b_i,
      .sum_o(sum)
    );
  end else begin : gen_no_floats
    assign sum = '0;
  end

  // Same latency as the adder
  logic [Stages-1:0] float_q;
  logic [Bits-1:0] other_q[Stages];
  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      float_q    <= {float_q[Stages-2:0], real_numbers && op_i == SmiOpAdd};
      other_q[0] <= other;
      for (int unsigned s = 1; s < Stages; s++) other_q[s] <= other_q[s-1];
    end
  end
  assign out_o = float_q[Stages-1] ? sum : other_q[Stages-1];
endmodule
