// SPDX-License-Identifier: Apache-2.0

/// Operations without arithmetic: sign injection, minimum and maximum, comparisons, classification.
///
/// Two stages: the first compares operands, the second selects the result and has no output register.
module gs_fpu_noncomp
  import gs_fpu_pkg::*;
#(
  /// bits of the requester's core and thread number
  parameter int unsigned IdW = 6
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           en_i,
  input  logic           valid_i,
  input  logic [4:0]     op_i,
  input  logic [IdW-1:0] id_i,
  input  logic [31:0]    a_i,
  input  logic [31:0]    b_i,
  output logic           valid_o,
  output logic [IdW-1:0] id_o,
  output logic [31:0]    data_o,
  /// the only exception that such an operation raises
  output logic           invalid_o
);
  typedef struct packed {
    logic [4:0]     op;
    logic [IdW-1:0] id;
    logic [31:0]    a;
    logic [31:0]    b;
    class_t         class_a;
    class_t         class_b;
    logic           subnormal_a;
    logic           less;        // of the magnitudes
    logic           same;        // all bits are the same
  } stage_t;

  stage_t s1_d, s1_q;
  logic   valid_q;

  always_comb begin
    s1_d.op          = op_i;
    s1_d.id          = id_i;
    s1_d.a           = a_i;
    s1_d.b           = b_i;
    s1_d.class_a     = classify(a_i[30:0]);
    s1_d.class_b     = classify(b_i[30:0]);
    s1_d.subnormal_a = a_i[30:23] == '0 && a_i[22:0] != '0;
    s1_d.less        = a_i[30:0] < b_i[30:0];
    s1_d.same        = a_i == b_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (en_i) valid_q <= valid_i;
    if (en_i) s1_q <= s1_d;
  end

  logic       sign_a, sign_b, any_nan, any_snan, both_zero;
  logic       below;   // a < b in the order in which -0 precedes +0
  logic       equal, truth, take_a, take_b, take_class, take_truth, take_nan, sign;
  logic [9:0] class_mask;

  always_comb begin
    sign_a    = s1_q.a[31];
    sign_b    = s1_q.b[31];
    any_nan   = s1_q.class_a.nan || s1_q.class_b.nan;
    any_snan  = s1_q.class_a.snan || s1_q.class_b.snan;
    both_zero = s1_q.class_a.zero && s1_q.class_b.zero;
    equal     = s1_q.same || both_zero;
    if (sign_a != sign_b) below = sign_a;
    else below = sign_a ? !s1_q.less && !s1_q.same : s1_q.less;

    class_mask    = '0;
    class_mask[0] = s1_q.class_a.inf && sign_a;
    class_mask[2] = s1_q.subnormal_a && sign_a;
    class_mask[3] = s1_q.class_a.zero && sign_a;
    class_mask[4] = s1_q.class_a.zero && !sign_a;
    class_mask[5] = s1_q.subnormal_a && !sign_a;
    class_mask[7] = s1_q.class_a.inf && !sign_a;
    class_mask[8] = s1_q.class_a.snan;
    class_mask[9] = s1_q.class_a.nan && !s1_q.class_a.snan;
    class_mask[1] = !(s1_q.class_a.inf || s1_q.subnormal_a || s1_q.class_a.zero || s1_q.class_a.nan) && sign_a;
    class_mask[6] = !(s1_q.class_a.inf || s1_q.subnormal_a || s1_q.class_a.zero || s1_q.class_a.nan) && !sign_a;

    take_a     = 1'b0;
    take_b     = 1'b0;
    take_class = 1'b0;
    take_truth = 1'b0;
    take_nan   = 1'b0;
    truth      = 1'b0;
    sign       = 1'b0;
    invalid_o  = 1'b0;
    unique case (s1_q.op)
      OpSgnj: begin
        take_a = 1'b1;
        sign   = sign_b;
      end
      OpSgnjn: begin
        take_a = 1'b1;
        sign   = !sign_b;
      end
      OpSgnjx: begin
        take_a = 1'b1;
        sign   = sign_a ^ sign_b;
      end
      OpMin, OpMax: begin
        take_nan  = s1_q.class_a.nan && s1_q.class_b.nan;
        take_a    = !s1_q.class_a.nan && (s1_q.class_b.nan || below == (s1_q.op == OpMin));
        take_b    = !take_a && !take_nan;
        sign      = take_a ? sign_a : take_b && sign_b;
        invalid_o = any_snan;
      end
      OpEq: begin
        take_truth = 1'b1;
        truth      = !any_nan && equal;
        invalid_o  = any_snan;
      end
      OpLt: begin
        take_truth = 1'b1;
        truth      = !any_nan && below && !equal;
        invalid_o  = any_nan;
      end
      OpLe: begin
        take_truth = 1'b1;
        truth      = !any_nan && (below || equal);
        invalid_o  = any_nan;
      end
      default: take_class = 1'b1;
    endcase

    data_o       = ({32{take_a}} & s1_q.a) | ({32{take_b}} & s1_q.b);
    data_o[31]   = sign;
    data_o[30:22] |= {9{take_nan}};
    data_o[9:0]  |= {10{take_class}} & class_mask;
    data_o[0]    |= take_truth && truth;
  end

  assign valid_o = valid_q;
  assign id_o    = s1_q.id;
endmodule
