// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Divider: one bit a cycle, on magnitudes. The core passes the dividend as a magnitude and the divisor with its sign,
/// and applies the result's sign afterwards. A division by 0 returns all ones as the quotient and the dividend as the
/// remainder, as the ISA requires.
module gs_core_div #(
  /// bits of a thread's number
  parameter int unsigned TidW = 4
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            valid_i,
  output logic            ready_o,
  input  logic [TidW-1:0] tid_i,
  input  logic [31:0]     dividend_i,
  input  logic [31:0]     divisor_i,
  /// the divisor is negative: divide by its magnitude
  input  logic            negative_i,
  input  logic            remainder_i,
  // Result: stable until take_i; data_o is valid in the second cycle after that, and 0 in all others.
  output logic            done_o,
  output logic [TidW-1:0] tid_o,
  input  logic            take_i,
  output logic [31:0]     data_o
);
  logic busy_q, done_q, remainder_q, show_q, carry_in_q;
  logic [4:0] left_q;
  logic [TidW-1:0] tid_q;
  logic [31:0] quotient_q, rest_q, minus_q, data_q;
  logic [34:0] trial;
  logic start;

  assign start   = valid_i && ready_o;
  assign ready_o = !busy_q && !show_q;
  assign done_o  = done_q;
  assign tid_o   = tid_q;
  assign data_o  = data_q;

  // The shifted remainder minus the divisor's magnitude; the top bit is 1 if the difference is not negative.
  always_comb begin
    trial = 'x;
    if (busy_q) trial = {1'b0, rest_q, quotient_q[31], 1'b1} + {1'b0, 1'b1, minus_q, carry_in_q};
  end

  logic unused_top;
  assign unused_top = trial[33] ^ trial[0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_q <= 1'b0;
      show_q <= 1'b0;
    end else begin
      show_q <= take_i;
      if (start) busy_q <= 1'b1;
      else if (take_i) busy_q <= 1'b0;
      if (take_i) done_q <= 1'b0;
      else if (busy_q && left_q == '0) done_q <= 1'b1;
    end
    if (start) begin
      tid_q       <= tid_i;
      remainder_q <= remainder_i;
      carry_in_q  <= !negative_i;
      minus_q     <= divisor_i ^ {32{!negative_i}};
    end
    data_q <= show_q ? (remainder_q ? rest_q : quotient_q) : '0;
    if (start) begin
      left_q     <= 5'd31;
      quotient_q <= dividend_i;
      rest_q     <= '0;
    end else if (busy_q && !done_q) begin
      left_q     <= left_q - 5'd1;
      quotient_q <= {quotient_q[30:0], trial[34]};
      rest_q     <= trial[34] ? trial[32:1] : {rest_q[30:0], quotient_q[31]};
    end
  end

  `GS_ASSERT_NOW(take_only_when_done, !take_i || done_q)
endmodule
