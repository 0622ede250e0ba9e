// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Status of a multicast router for the idle detection of one job: whether it holds a message, and its counts.
module gs_multicast_idle
  import gs_idle_pkg::*;
  import gossamer_pkg::*;
#(
  /// virtual channels of the router
  parameter int unsigned Vcs = 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic     [4:0]     job_i,
  /// one cycle: the job restarts; the router holds no message of it
  input  logic               clear_i,
  // From the router, by virtual channel
  input  logic     [Vcs-1:0] entered_i,
  input  job_tag_t [Vcs-1:0] entered_tag_i,
  input  logic     [Vcs-1:0] sent_i,
  input  job_tag_t [Vcs-1:0] sent_tag_i,
  input  logic     [Vcs-1:0] received_i,
  input  job_tag_t [Vcs-1:0] received_tag_i,
  output idle_status_t       status_o
);
  // A router holds at most as many messages as flits.
  localparam int unsigned InsideW = $clog2(Vcs * (RouterBufferFlits + 2 * gs_multicast_pkg::MaxPayloadFlits) + 1);
  logic [InsideW-1:0] inside_q, inside_d;
  logic [31:0] sent_q, received_q;
  logic [$clog2(Vcs+1)-1:0] enters, sends, receives;

  always_comb begin
    enters   = '0;
    sends    = '0;
    receives = '0;
    for (int unsigned v = 0; v < Vcs; v++) begin
      enters   += ($clog2(Vcs + 1))'(entered_i[v] && entered_tag_i[v].job == job_i);
      sends    += ($clog2(Vcs + 1))'(sent_i[v] && sent_tag_i[v].job == job_i);
      receives += ($clog2(Vcs + 1))'(received_i[v] && received_tag_i[v].job == job_i);
    end
    inside_d = inside_q + InsideW'(enters) - InsideW'(receives);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      inside_q   <= '0;
      sent_q     <= '0;
      received_q <= '0;
    end else begin
      inside_q   <= inside_d;
      sent_q     <= sent_q + 32'(sends);
      received_q <= received_q + 32'(receives);
    end
  end

  // A router has no threads: it votes for everything, and is in every epoch.
  assign status_o = '{idle: inside_q == '0, vote: 1'b1, sent: sent_q, received: received_q, default: '0};

  logic unused;
  always_comb begin
    unused = 1'b0;
    for (int unsigned v = 0; v < Vcs; v++) begin
      unused ^= ^{entered_tag_i[v].epoch, sent_tag_i[v].epoch, received_tag_i[v].epoch};
    end
  end

  `GS_ASSERT_NOW(only_messages_inside_are_consumed, inside_q + InsideW'(enters) >= InsideW'(receives))
endmodule
