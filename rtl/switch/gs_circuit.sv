// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The circuit that holds an output. A stream that is sent as a circuit acquires each output on its path with the first
/// of its packets and releases it with the last. Between them no packet of another input leaves in its channel.
///
///     packets granted --> held, holder, channel --> other inputs that may not be granted
///
/// A holder that sends no packet for `Idle` cycles loses the output, and acquires it again with its next packet. So a
/// stream that waits for its kernel or for credits does not block others forever, and no cycle of waiting streams
/// lasts.
module gs_circuit #(
  /// inputs; channels of the output
  parameter  int unsigned N        = 4,
  parameter  int unsigned Channels = 1,
  /// cycles without a packet after which the holder loses the output, a power of two
  parameter  int unsigned Idle     = 256,
  localparam int unsigned InW      = (N > 1) ? $clog2(N) : 1,
  localparam int unsigned ChannelW = (Channels > 1) ? $clog2(Channels) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // A granted packet: its input and channel, whether it belongs to a circuit, and whether more packets follow
  input  logic                grant_i,
  input  logic [InW-1:0]      from_i,
  input  logic [ChannelW-1:0] at_i,
  input  logic                circuit_i,
  input  logic                more_i,
  // State from the next cycle on
  output logic                held_o,
  output logic [InW-1:0]      holder_o,
  output logic [ChannelW-1:0] at_o
);
  localparam int unsigned IdleW = $clog2(Idle);
  logic held_q, held, acquires;
  logic [InW-1:0] holder_q;
  logic [ChannelW-1:0] at_q;
  logic [IdleW-1:0] idle_q;

  if (Idle < 2 || Idle != 1 << IdleW) begin : gen_illegal_idle
    $fatal(1, "gs_circuit: Idle is %0d; it must be a power of two, and at least 2", Idle);
  end

  // Of two circuits in different channels of an output, the earlier one holds it.
  assign held = grant_i && held_q && from_i == holder_q && at_i == at_q;
  assign acquires = grant_i && circuit_i && (held || !held_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= 1'b0;
    else if (acquires) held_q <= more_i;
    else if (idle_q == '1) held_q <= 1'b0;
    idle_q <= (held || acquires) ? '0 : idle_q + IdleW'(1);
    if (acquires) begin
      holder_q <= from_i;
      at_q     <= at_i;
    end
  end
  assign held_o = held_q;
  assign holder_o = holder_q;
  assign at_o = at_q;

  `GS_ASSERT_NOW(only_the_holder_sends_in_the_held_channel, !grant_i || !held_q || at_i != at_q || from_i == holder_q)
endmodule
