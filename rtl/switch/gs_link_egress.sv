// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// From an egress of the switch to a link: converts credits to ready, and single flits to whole packets by channel.
///
///     egress =>[ buffers, one per channel ]=> link
///
/// Channels are served round-robin, one packet each. But a channel that is not ready in the middle of a packet does not
/// block the others, whose flits are sent meanwhile. Otherwise channels would wait for each other, which the deadlock
/// check of the routes excludes.
module gs_link_egress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// flits that a channel can hold: the egress's initial credits; a power of two
  parameter int unsigned Window = 8
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  // From the switch
  input  channels_t in_valid_i,
  input  flit_t     in_i,
  output channels_t in_credit_o,
  /// the buffers hold no flit
  output logic      empty_o,
  // To the link. At most one bit of valid is set; ready does not depend on it.
  output channels_t tx_valid_o,
  input  channels_t tx_ready_i,
  output flit_t     tx_flit_o
);
  channels_t filled, sendable, chosen, send;
  channel_t chosen_at, send_at, last_at_q;
  logic inside_q, stays;
  flit_t flit;

  gs_channel_buffer #(.Window(Window)) u_buffer (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_i,
    .in_credit_o,
    .some_o(filled),
    .at_i  (send_at),
    .flit_o(flit),
    .pop_i (send != '0)
  );

  // A key names a link; at the other end of the link the key belongs to that board itself.
  always_comb begin
    tx_flit_o = flit;
    if (flit.dest[31:29] == EndpointKey) tx_flit_o.dest = {EndpointKey, 29'd0};
  end

  // The packet in flight continues if its channel is ready; else another channel is chosen.
  assign sendable = filled & tx_ready_i;
  assign stays    = inside_q && sendable[last_at_q];
  gs_arbiter #(.N(SwitchChannels)) u_next (
    .clk_i,
    .rst_ni,
    .req_i    (sendable),
    .gnt_o    (chosen),
    .idx_o    (chosen_at),
    .advance_i(!stays)
  );
  assign send_at = stays ? last_at_q : chosen_at;

  always_comb begin
    send = chosen;
    if (stays) send = channels_t'(1) << last_at_q;
  end
  assign tx_valid_o = send;
  assign empty_o    = filled == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (send != '0) inside_q <= !tx_flit_o.last;
    if (send != '0) last_at_q <= send_at;
  end

  `GS_ASSERT_NOW(a_flit_is_sent_whenever_a_channel_is_ready, (filled & tx_ready_i) == '0 || tx_valid_o != '0)
  `GS_ASSERT_NOW(at_most_one_channel_sends, (tx_valid_o & (tx_valid_o - channels_t'(1))) == '0)
endmodule
