// SPDX-License-Identifier: Apache-2.0

/// Types that the floating-point unit and its cores share: operations, rounding modes, flags.
package gs_fpu_pkg;

  /// An operation. FMV is not one of them: the core moves bits itself.
  typedef enum logic [4:0] {
    OpAdd   = 5'd0,   // a + b
    OpSub   = 5'd1,   // a - b
    OpMul   = 5'd2,   // a * b
    OpMadd  = 5'd3,   // a * b + c
    OpMsub  = 5'd4,   // a * b - c
    OpNmsub = 5'd5,   // -(a * b) + c
    OpNmadd = 5'd6,   // -(a * b) - c
    OpDiv   = 5'd7,   // a / b
    OpSqrt  = 5'd8,   // square root of a
    OpSgnj  = 5'd9,   // a with the sign of b
    OpSgnjn = 5'd10,  // a with the opposite sign of b
    OpSgnjx = 5'd11,  // a, its sign changed if b is negative
    OpMin   = 5'd12,
    OpMax   = 5'd13,
    OpEq    = 5'd14,
    OpLt    = 5'd15,
    OpLe    = 5'd16,
    OpClass = 5'd17,
    OpCvtWS  = 5'd18,  // float to signed word
    OpCvtWuS = 5'd19,  // float to unsigned word
    OpCvtSW  = 5'd20,  // signed word to float
    OpCvtSWu = 5'd21   // unsigned word to float
  } op_e;

  /// RISC-V's static rounding modes.
  typedef enum logic [2:0] {
    RmNearestEven = 3'd0,
    RmZero        = 3'd1,
    RmDown        = 3'd2,
    RmUp          = 3'd3,
    RmNearestAway = 3'd4
  } rm_e;

  /// Accrued exceptions, in the order of RISC-V's fflags.
  typedef struct packed {
    logic nv;  // invalid operation
    logic dz;  // division by zero
    logic of;  // overflow
    logic uf;  // underflow: tiny after rounding, and inexact
    logic nx;  // inexact
  } flags_t;

  /// Class of an operand, as far as special cases need it.
  typedef struct packed {
    logic zero;
    logic inf;
    logic nan;
    logic snan;
  } class_t;

  /// An operand that is none of the above.
  localparam class_t ClassPlain = '0;

  /// Class of a number without its sign.
  function automatic class_t classify(logic [30:0] value);
    logic ones, none, whole;
    ones  = &value[30:23];
    none  = value[30:23] == '0;
    whole = value[22:0] == '0;
    return '{zero: none && whole, inf: ones && whole, nan: ones && !whole, snan: ones && !whole && !value[22]};
  endfunction

  /// A result other than that of the arithmetic. For conversions to integers `inf` is the saturated value.
  typedef struct packed {
    logic nan;
    logic inf;
    logic zero;
    logic sign;
    logic nv;
    logic dz;
  } special_t;

  /// An operation as product and addend. A mantissa's leading one, if it has one, is bit 23.
  typedef struct packed {
    logic               to_int;
    logic               to_unsigned;
    logic               slow;        // divide or root, not yet computed
    logic               sqrt;
    logic               quotient;    // divide or root, computed
    logic               sign_p;
    logic               sign_c;
    logic        [23:0] ma;
    logic        [23:0] mb;
    logic        [23:0] mc;
    logic signed [9:0]  ep;          // biased exponents
    logic        [8:0]  ec;
    class_t             class_a;
    class_t             class_b;
  } unpacked_t;

  /// The operation iterates in the divide and root unit.
  function automatic logic is_slow(logic [4:0] op);
    return op == OpDiv || op == OpSqrt;
  endfunction

  /// The operation needs no arithmetic: it uses the short path.
  function automatic logic is_short(logic [4:0] op);
    return op >= OpSgnj && op <= OpClass;
  endfunction

  /// Whether a magnitude is rounded up, from its last bit, the guard bit after it, and the sticky bit of the rest.
  function automatic logic rounds_up(logic [2:0] rm, logic sign, logic last, logic guard, logic sticky);
    unique case (rm)
      RmNearestEven: return guard && (last || sticky);
      RmDown:        return sign && (guard || sticky);
      RmUp:          return !sign && (guard || sticky);
      RmNearestAway: return guard;
      default:       return 1'b0;
    endcase
  endfunction

endpackage
