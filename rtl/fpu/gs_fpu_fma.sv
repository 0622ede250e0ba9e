// SPDX-License-Identifier: Apache-2.0

/// Fused multiply-add, and the operations derived from it: add, subtract, multiply, conversions, and the rounding of
/// quotients and roots. One operation starts each cycle; its result is valid 12 enabled cycles later.
///
///     1 unpack      operands, classes, exponent of the product (gs_fpu_unpack)
///     2 multiply    four partial products; distance of exponents; special cases
///     3 product     their sum (or a quotient); selects the term on top
///     4 align       one on top, other shifted right by 32           window: 50 bits, product's point right of bit 48
///     5 align       by 16, 8, 4; bits shifted out set sticky
///     6 add         by 2, 1; sum or difference
///     7 magnitude   negated if negative
///     8 - 11        normalize by 32 and 16, 8 and 4, 2 and 1, as far as the exponent allows; guard and sticky
///    12 round       one addition over exponent and mantissa
///       result      (after the register) special values
///
/// The term with the higher exponent, product or addend, is on top, unshifted. That exponent is never below the least
/// one, because the addend's never is. So subnormal results need no right shift, and cancellation can never need bits
/// that were shifted out. Float to integer adds a zero with the exponent of 2^31, which moves the integer's last bit to
/// bit 17 of the window.
module gs_fpu_fma
  import gs_fpu_pkg::*;
#(
  /// bits of the requester's core and thread number
  parameter int unsigned IdW = 6
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               en_i,
  input  logic               valid_i,
  input  logic [4:0]         op_i,
  input  logic [2:0]         rm_i,
  input  logic [IdW-1:0]     id_i,
  input  logic [31:0]        a_i,
  input  logic [31:0]        b_i,
  input  logic [31:0]        c_i,

  // A divide or root without a special result starts the iterating unit, with mantissas and exponent.
  output logic               slow_start_o,
  /// a divide or root is in the first stage
  output logic               slow_entering_o,
  output logic               slow_sqrt_o,
  output logic signed [9:0]  slow_exponent_o,
  output logic        [23:0] slow_a_o,
  output logic        [23:0] slow_b_o,
  // Its result re-enters for rounding in a cycle without valid_i; the quotient is taken two enabled cycles later.
  input  logic               slow_valid_i,
  input  logic signed [9:0]  slow_exponent_i,
  input  logic        [25:0] slow_q_i,
  input  logic               slow_sticky_i,
  output logic               slow_take_o,

  output logic               valid_o,
  output logic [IdW-1:0]     id_o,
  output logic [31:0]        data_o,
  output flags_t             flags_o
);
  /// Fields that accompany a value through all stages.
  typedef struct packed {
    logic [IdW-1:0] id;
    logic [2:0]     rm;
    logic           to_int;
    logic           to_unsigned;
  } tag_t;

  // ---- 1: unpack

  unpacked_t      s1;
  special_t       special2;
  logic           below_zero2;
  logic [IdW-1:0] s1_id_d, s1_id_q;
  logic [2:0]     s1_rm_d, s1_rm_q;
  logic [12:1]    valid_q;
  logic           valid1_d, valid2_d;

  // State of the divide or root in flight.
  logic [IdW-1:0] slow_id_q;
  logic [2:0]     slow_rm_q;
  logic           slow_sign_q;

  gs_fpu_unpack u_unpack (
    .clk_i,
    .en_i,
    .op_i,
    .a_i,
    .b_i,
    .c_i,
    .slow_valid_i,
    .slow_sign_i    (slow_sign_q),
    .slow_exponent_i,
    .value_o        (s1),
    .special_o      (special2),
    .below_zero_o   (below_zero2)
  );

  always_comb begin
    s1_id_d  = slow_valid_i ? slow_id_q : id_i;
    s1_rm_d  = slow_valid_i ? slow_rm_q : rm_i;
    valid1_d = valid_i || slow_valid_i;
  end

  // ---- 2: partial products, distance of exponents, special cases

  typedef struct packed {
    tag_t               tag;
    special_t           special;
    logic               quotient;
    logic               below_zero;   // conversion to unsigned of a negative number that may round to zero
    logic               sign_p;
    logic               sign_c;
    logic        [35:0] p_ll;
    logic        [23:0] p_lh;
    logic        [23:0] p_hl;
    logic        [11:0] p_hh;
    logic        [23:0] mc;
    logic               zero_p;
    logic        [9:0]  c_over_p;
    logic        [10:0] p_over_c;
    logic        [8:0]  ep;
    logic        [8:0]  ec;
  } s2_t;

  s2_t  s2_d, s2_q;
  logic special_any;

  always_comb begin
    s2_d.tag      = '{id: s1_id_q, rm: s1_rm_q, to_int: s1.to_int, to_unsigned: s1.to_unsigned};
    s2_d.quotient = s1.quotient;
    s2_d.sign_p   = s1.sign_p;
    s2_d.sign_c   = s1.sign_c;
    s2_d.mc       = s1.mc;
    s2_d.p_ll     = 36'(s1.ma[17:0]) * 36'(s1.mb[17:0]);
    s2_d.p_lh     = 24'(s1.ma[17:0]) * 24'(s1.mb[23:18]);
    s2_d.p_hl     = 24'(s1.ma[23:18]) * 24'(s1.mb[17:0]);
    s2_d.p_hh     = 12'(s1.ma[23:18]) * 12'(s1.mb[23:18]);
    s2_d.zero_p   = s1.class_a.zero || s1.class_b.zero;
    s2_d.c_over_p = {1'b0, s1.ec} - s1.ep;
    s2_d.p_over_c = {s1.ep[9], s1.ep} - {2'b0, s1.ec};
    s2_d.ep       = s1.ep[8:0];
    s2_d.ec       = s1.ec;

    s2_d.special    = special2;
    s2_d.below_zero = below_zero2;
    special_any = s2_d.special.nan || s2_d.special.inf || s2_d.special.zero;
    valid2_d    = valid_q[1] && (!s1.slow || special_any);
  end

  assign slow_entering_o = valid_q[1] && s1.slow;
  assign slow_start_o    = en_i && slow_entering_o && !special_any;
  assign slow_sqrt_o     = s1.sqrt;
  assign slow_exponent_o = s1.ep;
  assign slow_a_o        = s1.ma;
  assign slow_b_o        = s1.mb;

  // ---- 3: product, term on top

  typedef struct packed {
    tag_t        tag;
    special_t    special;
    logic        below_zero;
    logic        sign_x;       // of the term on top
    logic        subtract;
    logic        c_top;
    logic [47:0] p;
    logic [23:0] mc;
    logic [5:0]  distance;
    logic [8:0]  exponent;     // of bit 48 of the window
  } s3_t;

  s3_t                s3_d, s3_q;
  logic [9:0] distance;

  always_comb begin
    s3_d.tag        = s2_q.tag;
    s3_d.special    = s2_q.special;
    s3_d.below_zero = s2_q.below_zero;
    s3_d.mc         = s2_q.mc;
    // A product of zero has no meaningful exponent.
    s3_d.c_top      = s2_q.zero_p || s2_q.p_over_c[10];
    s3_d.sign_x     = s3_d.c_top ? s2_q.sign_c : s2_q.sign_p;
    s3_d.subtract   = s2_q.sign_p != s2_q.sign_c;
    s3_d.exponent   = s3_d.c_top ? s2_q.ec : s2_q.ep;
    distance        = s2_q.p_over_c[10] ? s2_q.c_over_p : s2_q.p_over_c[9:0];
    s3_d.distance   = (distance[9:6] != '0) ? 6'd63 : distance[5:0];
    s3_d.p          = {s2_q.p_hh, s2_q.p_ll}
                    + {5'b0, 25'(s2_q.p_lh) + 25'(s2_q.p_hl), 18'b0};
    if (s2_q.quotient) s3_d.p = {1'b0, slow_q_i, slow_sticky_i, 20'b0};
  end

  assign slow_take_o = en_i && valid_q[2] && s2_q.quotient;

  // ---- 4 to 6: align and add

  typedef struct packed {
    tag_t        tag;
    special_t    special;
    logic        below_zero;
    logic        sign_x;
    logic        subtract;
    logic [49:0] x;
    logic [49:0] y;
    logic        sticky;
    logic [4:0]  distance;
    logic [8:0]  above;        // exponent + 1: how far the sum may be shifted left
  } align_t;

  typedef struct packed {
    tag_t        tag;
    special_t    special;
    logic        below_zero;
    logic        sign;
    logic        subtract;
    logic [50:0] sum;
    logic        sticky;
    logic [8:0]  above;
    logic [5:0]  by;           // left shifts decided so far
  } sum_t;

  /// Headroom of the exponent for left shifts.
  typedef struct packed {
    logic        ample;        // more than the window's width
    logic [5:0]  left;
  } headroom_t;

  align_t      s4_d, s4_q, s5_d, s5_q;
  sum_t        s6_d, s6_q, s7_d, s7_q, s8_d, s8_q, s9_d, s9_q, s10_d, s10_q;
  headroom_t       headroom6_d, headroom6_q, headroom7_q, headroom8_d, headroom8_q, headroom9_d, headroom9_q;
  logic        negative6_d, negative6_q;
  logic [49:0] c_wide, p_wide, y4, y5, y5a, y5b, y6, y6a;
  logic        sticky5, sticky6;
  logic [51:0] sum6;

  always_comb begin
    c_wide = {1'b0, s3_q.mc, 25'b0};
    p_wide = {s3_q.p, 2'b0};
    y4     = s3_q.c_top ? p_wide : c_wide;

    s4_d.tag        = s3_q.tag;
    s4_d.special    = s3_q.special;
    s4_d.below_zero = s3_q.below_zero;
    s4_d.sign_x     = s3_q.sign_x;
    s4_d.subtract   = s3_q.subtract;
    s4_d.distance   = s3_q.distance[4:0];
    s4_d.x          = s3_q.c_top ? c_wide : p_wide;
    s4_d.y          = s3_q.distance[5] ? {32'b0, y4[49:32]} : y4;
    s4_d.sticky     = s3_q.distance[5] && y4[31:0] != '0;
    s4_d.above      = s3_q.exponent + 9'd1;
  end

  always_comb begin
    y5a     = s4_q.distance[4] ? {16'b0, s4_q.y[49:16]} : s4_q.y;
    y5b     = s4_q.distance[3] ? {8'b0, y5a[49:8]} : y5a;
    y5      = s4_q.distance[2] ? {4'b0, y5b[49:4]} : y5b;
    sticky5 = s4_q.sticky || (s4_q.distance[4] && s4_q.y[15:0] != '0) || (s4_q.distance[3] && y5a[7:0] != '0)
            || (s4_q.distance[2] && y5b[3:0] != '0);
    s5_d        = s4_q;
    s5_d.y      = y5;
    s5_d.sticky = sticky5;
  end

  always_comb begin
    y6a     = s5_q.distance[1] ? {2'b0, s5_q.y[49:2]} : s5_q.y;
    y6      = s5_q.distance[0] ? {1'b0, y6a[49:1]} : y6a;
    sticky6 = s5_q.sticky || (s5_q.distance[1] && s5_q.y[1:0] != '0) || (s5_q.distance[0] && y6a[0]);
    // Bits shifted out of the smaller term reduce the difference by a fraction of the last bit.
    sum6    = {2'b0, s5_q.x} + ({2'b0, y6} ^ {52{s5_q.subtract}}) + 52'(s5_q.subtract && !sticky6);

    s6_d.tag        = s5_q.tag;
    s6_d.special    = s5_q.special;
    s6_d.below_zero = s5_q.below_zero;
    s6_d.sign       = s5_q.sign_x;
    s6_d.subtract   = s5_q.subtract;
    s6_d.sum        = sum6[50:0];
    s6_d.sticky     = sticky6;
    s6_d.above      = s5_q.above;
    s6_d.by         = '0;
    negative6_d     = s5_q.subtract && sum6[51];
    // An integer is not shifted.
    headroom6_d.ample = !s5_q.tag.to_int && s5_q.above[8:6] != '0;
    headroom6_d.left  = s5_q.tag.to_int ? '0 : s5_q.above[5:0];
  end

  // ---- 7: magnitude. With a sticky bit, the complement is the magnitude minus a fraction of the last bit.

  always_comb begin
    s7_d      = s6_q;
    s7_d.sum  = (s6_q.sum ^ {51{negative6_q}}) + 51'(negative6_q && !s6_q.sticky);
    s7_d.sign = s6_q.sign ^ negative6_q;
  end

  // ---- 8 to 11: normalize. Each stage decides the next two shifts and performs the two of the stage before.
  // A shift by 2^k is performed if the sum has 2^k leading zeros and the exponent has the headroom. If a leading one
  // prevents a shift for which there was headroom, all later (smaller) shifts have headroom as well.

  logic [2:0]  none16;
  logic [2:0]  none4;
  logic [50:0] n8, n9, n10, n11;
  logic        ample8, ample9, ample10, none8_next, none9_next, none10_next;

  always_comb begin
    none16[0] = s7_q.sum[50:35] == '0;
    none16[1] = s7_q.sum[34:19] == '0;
    none16[2] = s7_q.sum[18:3] == '0;

    s8_d              = s7_q;
    s8_d.by[5]        = none16[0] && none16[1] && (headroom7_q.ample || headroom7_q.left[5]);
    ample8            = headroom7_q.ample || (headroom7_q.left[5] && !s8_d.by[5]);
    none8_next        = s8_d.by[5] ? none16[2] : none16[0];
    s8_d.by[4]        = none8_next && (ample8 || headroom7_q.left[4]);
    headroom8_d.left  = headroom7_q.left;
    headroom8_d.ample = ample8 || (headroom7_q.left[4] && !s8_d.by[4]);
  end

  always_comb begin
    n8                = s8_q.by[5] ? {s8_q.sum[18:0], 32'b0} : s8_q.sum;
    n9                = s8_q.by[4] ? {n8[34:0], 16'b0} : n8;
    none4[0]          = n9[50:47] == '0;
    none4[1]          = n9[46:43] == '0;
    none4[2]          = n9[42:39] == '0;
    s9_d              = s8_q;
    s9_d.sum          = n9;
    s9_d.by[3]        = none4[0] && none4[1] && (headroom8_q.ample || headroom8_q.left[3]);
    ample9            = headroom8_q.ample || (headroom8_q.left[3] && !s9_d.by[3]);
    none9_next        = s9_d.by[3] ? none4[2] : none4[0];
    s9_d.by[2]        = none9_next && (ample9 || headroom8_q.left[2]);
    headroom9_d.left  = headroom8_q.left;
    headroom9_d.ample = ample9 || (headroom8_q.left[2] && !s9_d.by[2]);
  end

  logic [50:0] n9a, n10a;

  always_comb begin
    n9a         = s9_q.by[3] ? {s9_q.sum[42:0], 8'b0} : s9_q.sum;
    n10         = s9_q.by[2] ? {n9a[46:0], 4'b0} : n9a;
    s10_d       = s9_q;
    s10_d.sum   = n10;
    s10_d.by[1] = n10[50:49] == '0 && (headroom9_q.ample || headroom9_q.left[1]);
    ample10     = headroom9_q.ample || (headroom9_q.left[1] && !s10_d.by[1]);
    none10_next = s10_d.by[1] ? !n10[48] : !n10[50];
    s10_d.by[0] = none10_next && (ample10 || headroom9_q.left[0]);
  end

  // ---- 11: last shift; inputs of the rounding decision

  typedef struct packed {
    tag_t        tag;
    special_t    special;
    logic        below_zero;
    logic        sign;
    logic        zero_sign;    // of an exact zero
    logic [31:0] value;        // exponent less one, and fraction; or an integer, complemented if negative
    logic        leading;      // a float's leading bit
    logic        nonzero;      // the mantissa is not zero
    logic        last;
    logic        guard;
    logic        sticky;
    logic        tiny;         // tiny unless rounding to 24 bits carries into the leading bit
    logic        ones;         // it carries if the bits after them round up
    logic        guard_tiny;
    logic        sticky_tiny;
  } s11_t;

  s11_t       s11_d, s11_q;
  logic [8:0] exponent11;
  logic       low16, low25;

  always_comb begin
    n10a       = s10_q.by[1] ? {s10_q.sum[48:0], 2'b0} : s10_q.sum;
    n11        = s10_q.by[0] ? {n10a[49:0], 1'b0} : n10a;
    exponent11 = s10_q.above - 9'(s10_q.by);
    low16      = n11[15:0] != '0 || s10_q.sticky;
    low25      = low16 || n11[24:16] != '0;

    s11_d.tag        = s10_q.tag;
    s11_d.special    = s10_q.special;
    s11_d.below_zero = s10_q.below_zero;
    s11_d.sign       = s10_q.sign;
    s11_d.zero_sign  = s10_q.subtract ? s10_q.tag.rm == RmDown : s10_q.sign;
    s11_d.nonzero    = n11[50:27] != '0;
    s11_d.tiny       = !n11[50];
    s11_d.ones       = &n11[49:26];
    s11_d.guard_tiny = n11[25];
    s11_d.sticky_tiny = low25;
    if (s10_q.tag.to_int) begin
      s11_d.value   = n11[48:17] ^ {32{s10_q.sign}};
      s11_d.leading = 1'b0;
      s11_d.last    = n11[17];
      s11_d.guard   = n11[16];
      s11_d.sticky  = low16;
    end else begin
      s11_d.value   = {exponent11, n11[49:27]};
      s11_d.leading = n11[50];
      s11_d.last    = n11[27];
      s11_d.guard   = n11[26];
      s11_d.sticky  = low25 || n11[25];
    end
  end

  // ---- 12: round

  typedef struct packed {
    tag_t        tag;
    special_t    special;
    logic        below_zero;
    logic        sign;
    logic [31:0] value;
    logic        zero;
    logic        up;
    logic        inexact;
    logic        underflow;
  } s12_t;

  s12_t s12_d, s12_q;
  logic up12, up_tiny;

  always_comb begin
    up12    = rounds_up(s11_q.tag.rm, s11_q.sign, s11_q.last, s11_q.guard, s11_q.sticky);
    up_tiny = s11_q.ones && rounds_up(s11_q.tag.rm, s11_q.sign, 1'b1, s11_q.guard_tiny, s11_q.sticky_tiny);

    s12_d.tag        = s11_q.tag;
    s12_d.special    = s11_q.special;
    s12_d.below_zero = s11_q.below_zero;
    s12_d.inexact    = s11_q.guard || s11_q.sticky;
    s12_d.zero       = !s11_q.nonzero && !s12_d.inexact && !s11_q.tag.to_int;
    s12_d.sign       = s12_d.zero ? s11_q.zero_sign : s11_q.sign;
    s12_d.up         = up12;
    s12_d.underflow  = s11_q.tiny && !up_tiny;
    s12_d.value      = s11_q.value + {8'b0, s11_q.leading, 23'b0}
                     + 32'(up12 ^ (s11_q.tag.to_int && s11_q.sign));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (en_i) valid_q <= {valid_q[11:2], valid2_d, valid1_d};
    if (en_i) begin
      s1_id_q     <= s1_id_d;
      s1_rm_q     <= s1_rm_d;
      s2_q        <= s2_d;
      s3_q        <= s3_d;
      s4_q        <= s4_d;
      s5_q        <= s5_d;
      s6_q        <= s6_d;
      s7_q        <= s7_d;
      headroom6_q <= headroom6_d;
      headroom7_q <= headroom6_q;
      headroom8_q <= headroom8_d;
      headroom9_q <= headroom9_d;
      negative6_q <= negative6_d;
      s8_q        <= s8_d;
      s9_q        <= s9_d;
      s10_q       <= s10_d;
      s11_q       <= s11_d;
      s12_q       <= s12_d;
    end
    if (slow_start_o) begin
      slow_id_q   <= s1_id_q;
      slow_rm_q   <= s1_rm_q;
      slow_sign_q <= s1.sign_p;
    end
  end

  // ---- result

  logic        overflow, to_inf, force_value, v_sign, v_exp, v_one, v_quiet, v_fraction;
  logic [30:0] forced;
  flags_t      flags;

  always_comb begin
    overflow = s12_q.value[31] || (&s12_q.value[30:23]);
    unique case (s12_q.tag.rm)
      RmDown:  to_inf = s12_q.sign;
      RmUp:    to_inf = !s12_q.sign;
      RmZero:  to_inf = 1'b0;
      default: to_inf = 1'b1;
    endcase

    flags       = '0;
    flags.nx    = s12_q.inexact;
    force_value = 1'b1;
    v_sign      = s12_q.sign;
    v_exp       = 1'b0;
    v_one       = 1'b0;
    v_quiet     = 1'b0;
    v_fraction  = 1'b0;
    if (s12_q.tag.to_int) begin
      if (s12_q.special.inf || s12_q.below_zero) begin
        // The largest or smallest integer.
        v_fraction = !s12_q.special.sign;
        v_sign     = s12_q.special.sign != s12_q.tag.to_unsigned;
        flags.nv   = s12_q.special.inf || s12_q.up;
        if (flags.nv) flags.nx = 1'b0;
      end else begin
        force_value = 1'b0;
        v_sign      = s12_q.value[31];
      end
      v_exp   = v_fraction;
      v_one   = v_fraction;
      v_quiet = v_fraction;
    end else if (s12_q.special.nan || s12_q.special.inf || s12_q.special.zero) begin
      v_sign   = s12_q.special.sign && !s12_q.special.nan;
      v_exp    = !s12_q.special.zero || s12_q.special.nan;
      v_one    = v_exp;
      v_quiet  = s12_q.special.nan;
      flags    = '0;
      flags.nv = s12_q.special.nv;
      flags.dz = s12_q.special.dz && !s12_q.special.nan;
    end else if (s12_q.zero) begin
      v_exp = 1'b0;
    end else if (overflow) begin
      v_exp      = 1'b1;
      v_one      = to_inf;
      v_quiet    = !to_inf;
      v_fraction = !to_inf;
      flags.of   = 1'b1;
      flags.nx   = 1'b1;
    end else begin
      force_value = 1'b0;
      flags.uf    = s12_q.underflow && s12_q.inexact;
    end
    forced = {{7{v_exp}}, v_one, v_quiet, {22{v_fraction}}};
  end

  assign valid_o = valid_q[12];
  assign id_o    = s12_q.tag.id;
  assign data_o  = {v_sign, force_value ? forced : s12_q.value[30:0]};
  assign flags_o = flags;
endmodule
