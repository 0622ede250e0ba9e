// SPDX-License-Identifier: Apache-2.0

/// Stops a block's clock in simulation while the block is idle, so that it costs the simulator no time.
///
/// The gate does not change the block's behaviour: while the clock is stopped, a clock edge would change no state.
/// `busy_i` must be 1 in every cycle in which an input requests work or a state will change without one, except in the
/// Linger cycles after it, in which the clock still runs and pipelines drain. It must be stable at the falling edge of
/// the clock.
/// Hardware gets the ungated clock. So does Verilator with GS_NO_CLOCK_GATES, for a test that compares the two.
///
///     clk_i   __/~~\__/~~\__/~~\__/~~\__/~~\__
///     busy_i  ______/~~~~~\___________________
///     clk_o   ________/~~\__/~~\__/~~\________   (Linger 1: one edge more)
module gs_clock_gate #(
  /// cycles that the clock runs after busy_i, 1 or more
  parameter int unsigned Linger = 15
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic busy_i,
  output logic clk_o
);
`ifdef VERILATOR
`ifndef GS_NO_CLOCK_GATES
`define GS_CLOCK_GATES
`endif
`endif

`ifdef GS_CLOCK_GATES
  localparam int unsigned LeftW = $clog2(Linger + 1);
  logic [LeftW-1:0] left_q;
  logic open_q;

  // Decided while the clock is low: the gate must not change while it is high.
  always_ff @(negedge clk_i) begin
    open_q <= busy_i || left_q != '0 || !rst_ni;
    if (busy_i || !rst_ni) left_q <= LeftW'(Linger);
    else if (left_q != '0) left_q <= left_q - LeftW'(1);
  end

  assign clk_o = clk_i && open_q;
`else
  assign clk_o = clk_i;
  logic unused;
  assign unused = ^{rst_ni, busy_i} && Linger == 0;
`endif
endmodule
