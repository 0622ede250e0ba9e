// SPDX-License-Identifier: Apache-2.0

/// Stage 1 of the arithmetic pipeline: converts every operation to a product and an addend, and finds special cases.
///
///     a + b            a * 1.0 + b
///     a * b            a * b + 0
///     integer          its high 24 bits * 1.0 + its low 8 bits
///     float to integer a * 1.0 + 0 with the exponent of 2^31
///     quotient         quotient * 1.0 + 0 (the quotient itself enters as the product)
///
/// The special cases are found after the register, in stage 2.
module gs_fpu_unpack
  import gs_fpu_pkg::*;
(
  input  logic              clk_i,
  input  logic              en_i,
  input  logic [4:0]        op_i,
  input  logic [31:0]       a_i,
  input  logic [31:0]       b_i,
  input  logic [31:0]       c_i,
  /// a quotient or root enters instead of an operation, with this sign and exponent
  input  logic              slow_valid_i,
  input  logic              slow_sign_i,
  input  logic signed [9:0] slow_exponent_i,
  output unpacked_t         value_o,
  output special_t          special_o,
  /// conversion to unsigned of a negative number that may round to zero
  output logic              below_zero_o
);
  unpacked_t s1_d, s1_q;
  logic      inf_c_d, inf_c_q, nan_c_d, nan_c_q, snan_c_d, snan_c_q;
  logic      whole_d, whole_q;   // the fraction of a is zero

  // ---- stage 1

  logic        is_add, is_sub, is_mul, is_fused, is_div, is_sqrt, to_int, from_int, has_b;
  logic        int_neg;
  logic [7:0]  exp_a, exp_b, exp_c, exp_bb;
  logic [9:0]  exp_term, exp_offset;
  logic [30:0] addend;
  logic        sign_b;

  always_comb begin
    is_add   = op_i == OpAdd;
    is_sub   = op_i == OpSub;
    is_mul   = op_i == OpMul;
    is_fused = op_i == OpMadd || op_i == OpMsub || op_i == OpNmsub || op_i == OpNmadd;
    is_div   = op_i == OpDiv;
    is_sqrt  = op_i == OpSqrt;
    to_int   = op_i == OpCvtWS || op_i == OpCvtWuS;
    from_int = op_i == OpCvtSW || op_i == OpCvtSWu;
    has_b    = is_mul || is_fused || is_div;
    int_neg  = op_i == OpCvtSW && a_i[31];

    // A subnormal has the exponent of the smallest normal number, without the leading one.
    exp_a  = {a_i[30:24], a_i[23] || a_i[30:23] == '0};
    exp_b  = {b_i[30:24], b_i[23] || b_i[30:23] == '0};
    addend = is_fused ? c_i[30:0] : b_i[30:0];
    exp_c  = {addend[30:24], addend[23] || addend[30:23] == '0};

    s1_d.to_int      = to_int;
    s1_d.to_unsigned = op_i == OpCvtWuS;
    s1_d.slow        = is_div || is_sqrt;
    s1_d.sqrt        = is_sqrt;
    s1_d.quotient    = 1'b0;
    whole_d          = a_i[22:0] == '0;

    s1_d.ma = {a_i[30:23] != '0, a_i[22:0]};
    if (from_int) s1_d.ma = a_i[31:8] ^ {24{int_neg}};
    s1_d.mb = has_b ? {b_i[30:23] != '0, b_i[22:0]} : 24'h80_0000;
    s1_d.mc = {addend[30:23] != '0, addend[22:0]};
    if (from_int) s1_d.mc = 24'({1'b0, a_i[7:0] ^ {8{int_neg}}} + 9'(int_neg));
    else if (!is_add && !is_sub && !is_fused) s1_d.mc = '0;

    s1_d.ec = 9'd1;
    if (is_add || is_sub || is_fused) s1_d.ec = {1'b0, exp_c};
    else if (from_int) s1_d.ec = 9'd150;  // 2^0 at the last bit
    else if (to_int) s1_d.ec = 9'd158;    // 2^31 at the first bit

    // Biased exponent: a + b - 127, a - b + 127, or a + 127, which a root halves.
    exp_bb     = has_b ? exp_b : 8'd127;
    exp_term   = is_div ? {2'b0, ~exp_bb} : {2'b0, exp_bb};
    exp_offset = is_div ? 10'd896 : (is_sqrt ? 10'd0 : 10'd897);
    s1_d.ep    = signed'({2'b0, from_int ? 8'd158 : exp_a} + exp_term + exp_offset);

    sign_b      = has_b && b_i[31];
    s1_d.sign_p = from_int ? int_neg : a_i[31] ^ sign_b ^ (op_i == OpNmsub || op_i == OpNmadd);
    s1_d.sign_c = s1_d.sign_p;
    if (is_add || is_sub) s1_d.sign_c = b_i[31] ^ is_sub;
    else if (is_fused) s1_d.sign_c = c_i[31] ^ (op_i == OpMsub || op_i == OpNmadd);

    s1_d.class_a = from_int ? ClassPlain : classify(a_i[30:0]);
    s1_d.class_b = has_b ? classify(b_i[30:0]) : ClassPlain;
    {inf_c_d, nan_c_d, snan_c_d} = (is_add || is_sub || is_fused) ? 3'(classify(addend)) : '0;

    if (slow_valid_i) begin
      s1_d.to_int   = 1'b0;
      s1_d.slow     = 1'b0;
      s1_d.quotient = 1'b1;
      s1_d.sign_p   = slow_sign_i;
      s1_d.sign_c   = slow_sign_i;
      s1_d.mc       = '0;
      s1_d.ep       = slow_exponent_i;
      s1_d.ec       = 9'd1;
      s1_d.class_a  = ClassPlain;
      s1_d.class_b  = ClassPlain;
      {inf_c_d, nan_c_d, snan_c_d} = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      s1_q     <= s1_d;
      inf_c_q  <= inf_c_d;
      nan_c_q  <= nan_c_d;
      snan_c_q <= snan_c_d;
      whole_q  <= whole_d;
    end
  end

  assign value_o = s1_q;

  // ---- stage 2: special cases

  logic zero_times_inf, inf_p, int_big, int_signed;

  always_comb begin
    special_o      = '0;
    below_zero_o   = 1'b0;
    int_signed     = !s1_q.to_unsigned;
    zero_times_inf = (s1_q.class_a.zero && s1_q.class_b.inf) || (s1_q.class_a.inf && s1_q.class_b.zero);
    inf_p          = (s1_q.class_a.inf && !s1_q.class_b.nan) || (s1_q.class_b.inf && !s1_q.class_a.nan);
    // From 2^31 on only an unsigned result, or -2^31 itself, is in range.
    int_big = s1_q.class_a.inf || s1_q.class_a.nan || s1_q.ep > 10'sd158;
    if (s1_q.ep == 10'sd158 && int_signed && !(s1_q.sign_p && whole_q)) int_big = 1'b1;

    special_o.nv   = s1_q.class_a.snan || s1_q.class_b.snan || snan_c_q;
    special_o.nan  = s1_q.class_a.nan || s1_q.class_b.nan || nan_c_q;
    special_o.sign = s1_q.sign_p;
    if (s1_q.to_int) begin
      if (s1_q.class_a.nan) special_o.sign = 1'b0;
      below_zero_o   = !int_signed && s1_q.sign_p && !s1_q.class_a.nan;
      special_o.inf  = int_big || (below_zero_o && s1_q.ep >= 10'sd127);
      special_o.nan  = 1'b0;
      special_o.nv   = special_o.inf;
    end else if (s1_q.slow && s1_q.sqrt) begin
      if (s1_q.sign_p && !s1_q.class_a.zero && !s1_q.class_a.nan) special_o.nv = 1'b1;
      special_o.inf  = s1_q.class_a.inf;
      special_o.zero = s1_q.class_a.zero;
    end else if (s1_q.slow) begin
      if (s1_q.class_a.zero && s1_q.class_b.zero) special_o.nv = 1'b1;
      if (s1_q.class_a.inf && s1_q.class_b.inf) special_o.nv = 1'b1;
      special_o.inf  = s1_q.class_a.inf || s1_q.class_b.zero;
      special_o.zero = s1_q.class_a.zero || s1_q.class_b.inf;
      special_o.dz   = s1_q.class_b.zero && !s1_q.class_a.zero && !s1_q.class_a.inf && !s1_q.class_a.nan;
    end else begin
      // Infinity times zero is invalid even if a quiet NaN is added to it.
      if (zero_times_inf || (inf_p && inf_c_q && s1_q.sign_p != s1_q.sign_c)) special_o.nv = 1'b1;
      special_o.inf  = inf_p || inf_c_q;
      special_o.sign = inf_p ? s1_q.sign_p : s1_q.sign_c;
    end
    if (special_o.nv && !s1_q.to_int) special_o.nan = 1'b1;
  end
endmodule
