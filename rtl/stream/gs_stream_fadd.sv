// SPDX-License-Identifier: Apache-2.0

/// Adds two IEEE halves, singles or doubles each cycle: round to nearest, ties to even, with subnormals, five pipeline
/// registers. A NaN result is the quiet NaN with sign and payload 0 (single: 0x7fc00000).
///
///     compare, swap | align | add | normalize | round
///
/// The operand with the greater magnitude is not shifted. The other operand is shifted right with three extra bits; the
/// last of these collects all bits that are shifted out. The three bits determine every rounding.
module gs_stream_fadd #(
  /// 16, 32 or 64
  parameter int unsigned Bits = 32
) (
  input  logic            clk_i,
  /// advances all registers
  input  logic            advance_i,
  input  logic [Bits-1:0] a_i,
  input  logic [Bits-1:0] b_i,
  output logic [Bits-1:0] sum_o
);
  localparam int unsigned ExpW = (Bits == 16) ? 5 : (Bits == 64) ? 11 : 8;
  /// bits of the fraction including the leading one; the same with three extra bits
  localparam int unsigned Frac = Bits - ExpW;
  localparam int unsigned Mant = Frac + 3;
  localparam logic [Bits-2:0] Infinity = {{ExpW{1'b1}}, {Frac - 1{1'b0}}};
  localparam logic [Bits-1:0] Nan = {1'b0, {ExpW{1'b1}}, 1'b1, {Frac - 2{1'b0}}};
  typedef logic [Mant-1:0] mant_t;
  typedef logic [ExpW-1:0] exp_t;

  if (Bits != 16 && Bits != 32 && Bits != 64) begin : gen_illegal_bits
    $fatal(1, "gs_stream_fadd: Bits is %0d; it must be 16, 32 or 64", Bits);
  end

  // Properties that do not depend on the sum of the mantissas
  typedef struct packed {
    logic sign;
    logic nan;
    logic inf;
  } about_t;

  // ----------------------------------------------------- 1: compare, swap
  logic swaps, subtracts, a_inf, b_inf;
  logic [Bits-1:0] great, little;
  exp_t great_exp, little_exp;
  about_t about;
  always_comb begin
    swaps      = b_i[Bits-2:0] > a_i[Bits-2:0];
    great      = swaps ? b_i : a_i;
    little     = swaps ? a_i : b_i;
    subtracts  = a_i[Bits-1] ^ b_i[Bits-1];
    // The exponent of a subnormal is that of the smallest normal number.
    great_exp  = great[Bits-2-:ExpW] | exp_t'(great[Bits-2-:ExpW] == '0);
    little_exp = little[Bits-2-:ExpW] | exp_t'(little[Bits-2-:ExpW] == '0);
    a_inf      = a_i[Bits-2:0] == Infinity;
    b_inf      = b_i[Bits-2:0] == Infinity;
    about.sign = great[Bits-1];
    about.nan  = great[Bits-2:0] > Infinity || (a_inf && b_inf && subtracts);
    about.inf  = &great[Bits-2-:ExpW];
  end
  about_t about1_q, about2_q, about3_q, about4_q;
  logic subtracts1_q, subtracts2_q;
  exp_t exp1_q, exp2_q, exp3_q, distance1_q;
  logic [Frac-1:0] great1_q, great2_q, little1_q;

  logic unused;
  assign unused = little[Bits-1];

  // ------------------------------------------------------------- 2: align
  mant_t aligned;
  logic [2*Mant-1:0] shifted;
  always_comb begin
    shifted = {little1_q, 3'd0, {Mant{1'b0}}} >> (32'(distance1_q) > Mant ? Mant : 32'(distance1_q));
    aligned = shifted[2*Mant-1:Mant] | mant_t'(shifted[Mant-1:0] != '0);
  end

  // --------------------------------------------------------------- 3: add
  mant_t little2_q;
  logic [Mant:0] total3_q;
  logic zero3_q;
  logic [Mant:0] total;
  assign total = subtracts2_q ? {1'b0, great2_q, 3'd0} - {1'b0, little2_q} : {1'b0, great2_q, 3'd0} + {1'b0, little2_q};

  // --------------------------------------------------------- 4: normalize
  exp_t zeros, shift, exp;
  mant_t normal;
  always_comb begin
    zeros = exp_t'(Mant);
    for (int unsigned i = 0; i < Mant; i++) if (total3_q[i]) zeros = exp_t'(Mant - 1 - i);
    // The smallest exponent limits the shift.
    shift = zeros < exp3_q ? zeros : exp3_q - exp_t'(1);
    if (total3_q[Mant]) begin
      normal = total3_q[Mant:1] | mant_t'(total3_q[0]);
      exp    = exp3_q + exp_t'(1);
    end else begin
      normal = total3_q[Mant-1:0] << shift;
      exp    = normal[Mant-1] ? exp3_q - shift : '0;
    end
  end

  // ------------------------------------------------------------- 5: round
  // The leading bit is implied by the exponent.
  logic [Mant-2:0] normal4_q;
  exp_t exp4_q;
  logic [Bits-2:0] rounded;
  logic up;
  assign up = normal4_q[2] && (normal4_q[1:0] != '0 || normal4_q[3]);
  // A carry out of the fraction increments the exponent, and yields infinity beyond the greatest number.
  assign rounded = {exp4_q, normal4_q[Mant-2:3]} + (Bits - 1)'(up);

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      about1_q     <= about;
      subtracts1_q <= subtracts;
      exp1_q       <= great_exp;
      distance1_q  <= great_exp - little_exp;
      great1_q     <= {great[Bits-2-:ExpW] != '0, great[Frac-2:0]};
      little1_q    <= {little[Bits-2-:ExpW] != '0, little[Frac-2:0]};

      about2_q     <= about1_q;
      subtracts2_q <= subtracts1_q;
      exp2_q       <= exp1_q;
      great2_q     <= great1_q;
      little2_q    <= aligned;

      about3_q     <= about2_q;
      exp3_q       <= exp2_q;
      total3_q     <= total;
      // A sum that cancels is +0; two zeros of one sign keep it.
      zero3_q      <= subtracts2_q && total == '0;

      about4_q     <= '{sign: about3_q.sign && !zero3_q, nan: about3_q.nan, inf: about3_q.inf};
      exp4_q       <= exp;
      normal4_q    <= normal[Mant-2:0];

      if (about4_q.nan) sum_o <= Nan;
      else if (about4_q.inf || &exp4_q) sum_o <= {about4_q.sign, Infinity};
      else sum_o <= {about4_q.sign, rounded};
    end
  end
endmodule
