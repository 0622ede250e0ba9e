// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Divide and square root of mantissas, two bits a cycle, one operation at a time.
///
/// Both use the same recurrence, r' = 2 (r - s) if that is not negative, else 2 r. The subtrahend s is the divisor, or
/// for a root twice the root so far with the candidate bit appended:
///
///     bit      27 26 25 . 24 ..................... 0
///     r         integer   fraction                 a mantissa's leading one starts at bit 25 (a root's perhaps at 26)
///     s         divisor's leading one at 25, or 2 * q + bit
///     q               q . fraction                     26 bits; `sticky_o` represents the bits after them
///
/// The second bit of a cycle is tried for both outcomes of the first in parallel. Subnormal operands are normalized
/// first, one bit a cycle. A result waits until it is taken.
module gs_fpu_divsqrt (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               start_i,
  input  logic               sqrt_i,
  /// biased exponent of the quotient; for a root, of its square, plus 127
  input  logic signed [9:0]  exponent_i,
  input  logic        [23:0] a_i,
  /// divisor; 1.0 for a root
  input  logic        [23:0] b_i,
  output logic               busy_o,
  /// a result is available, or will be in the next cycle
  output logic               soon_o,
  output logic               done_o,
  output logic signed [9:0]  exponent_o,
  output logic        [25:0] q_o,
  output logic               sticky_o,
  /// takes the result and frees the unit
  input  logic               take_i
);
  typedef enum logic [1:0] {Idle, Normalize, Iterate, Done} state_e;

  state_e             state_q, state_d;
  logic               sqrt_q;
  logic signed [9:0]  exp_q, exp_d;
  logic        [27:0] r_q, r_d;
  logic        [23:0] d_q, d_d;
  logic        [25:0] q_q, q_d, first, second, second_next;
  logic        [12:0] pair_q, pair_d;                  // the next pair of bits
  logic        [25:0] first_next;
  logic        [27:0] s_q, s_after_0_q, s_after_1_q;
  logic        [27:0] rest, rest_after_0, rest_after_1;  // within -2^27 and 2^27: bit 27 is the sign
  logic               a_low, b_low, fits, fits_second;

  assign a_low      = !r_q[25];
  assign b_low      = !d_q[23];

  always_comb begin
    for (int unsigned i = 0; i < 13; i++) begin
      first[2*i+:2]  = {pair_q[i], 1'b0};
      second[2*i+:2] = {1'b0, pair_q[i]};
      first_next[2*i+:2] = {pair_d[i], 1'b0};
      second_next[2*i+:2] = {1'b0, pair_d[i]};
    end
  end

  assign rest         = r_q - s_q;
  assign rest_after_0 = {r_q[26:0], 1'b0} - s_after_0_q;
  assign rest_after_1 = {rest[26:0], 1'b0} - s_after_1_q;
  assign fits         = !rest[27];
  assign fits_second  = fits ? !rest_after_1[27] : !rest_after_0[27];

  always_comb begin
    state_d = state_q;
    exp_d   = exp_q;
    d_d     = d_q;
    q_d     = q_q;
    pair_d  = pair_q;
    r_d     = r_q;
    unique case (state_q)
      Idle: begin
        exp_d  = exponent_i;
        r_d    = {2'b0, a_i, 2'b0};
        d_d    = b_i;
        q_d    = '0;
        pair_d = 13'h1000;
        if (start_i) state_d = Normalize;
      end
      Normalize: begin
        exp_d = exp_q + (b_low ? (a_low ? 10'sd0 : 10'sd1) : (a_low ? -10'sd1 : 10'sd0));
        if (a_low) r_d = {r_q[26:0], 1'b0};
        if (b_low) d_d = {d_q[22:0], 1'b0};
        if (!a_low && !b_low) begin
          // A root halves the exponent: an odd one moves a bit to the mantissa.
          if (sqrt_q && exp_q[0]) r_d = {r_q[26:0], 1'b0};
          state_d = Iterate;
        end
      end
      Iterate: begin
        pair_d = {1'b0, pair_q[12:1]};
        q_d    = q_q | (first & {26{fits}}) | (second & {26{fits_second}});
        unique case ({fits, fits_second})
          2'b11:   r_d = {rest_after_1[26:0], 1'b0};
          2'b10:   r_d = {rest[25:0], 2'b0};
          2'b01:   r_d = {rest_after_0[26:0], 1'b0};
          default: r_d = {r_q[25:0], 2'b0};
        endcase
        if (pair_q[0]) state_d = Done;
      end
      default: if (take_i) state_d = Idle;
    endcase
  end

  // The status outputs have registers of their own, because other modules decide by them late in a cycle.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      busy_o  <= 1'b0;
      soon_o  <= 1'b0;
      done_o  <= 1'b0;
    end else begin
      state_q <= state_d;
      busy_o  <= state_d != Idle;
      soon_o  <= state_d == Done || (state_d == Iterate && pair_d[0]);
      done_o  <= state_d == Done;
    end
    if (state_q == Idle) sqrt_q <= sqrt_i;
    exp_q  <= exp_d;
    r_q    <= r_d;
    d_q    <= d_d;
    q_q    <= q_d;
    pair_q <= pair_d;
    // The next subtrahends are precomputed: two subtractions in series fill the cycle.
    s_q         <= sqrt_q ? {1'b0, q_d, 1'b0} | {2'b0, first_next} : {2'b0, d_d, 2'b0};
    s_after_0_q <= sqrt_q ? {1'b0, q_d, 1'b0} | {2'b0, second_next} : {2'b0, d_d, 2'b0};
    s_after_1_q <= sqrt_q ? {1'b0, q_d | first_next, 1'b0} | {2'b0, second_next} : {2'b0, d_d, 2'b0};
  end

  assign exponent_o = sqrt_q ? {1'b0, exp_q[9:1]} : exp_q;
  assign q_o        = q_q;
  assign sticky_o   = r_q != '0;

  `GS_ASSERT_NOW(start_only_while_idle, !start_i || state_q == Idle)
  `GS_ASSERT_NOW(take_only_when_done, !take_i || state_q == Done)
  `GS_ASSERT_NOW(status_registers_match_the_state,
                 busy_o == (state_q != Idle) && done_o == (state_q == Done)
                 && soon_o == (done_o || (state_q == Iterate && pair_q[0])))
endmodule
