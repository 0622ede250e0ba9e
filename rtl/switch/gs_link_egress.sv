// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// From an egress of the switch to a link: credits there, readiness here; flits by channel there, whole packets here.
///
///     egress =>[ buffers, a channel ]=> link
///
/// Channels take turns, a packet each; but a channel that is not ready in the middle of a packet holds up no other,
/// whose flits go meanwhile. Otherwise channels would wait for each other, and what makes routes safe would not hold.
module gs_link_egress
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// flits that a channel holds: the credits that the egress begins with; a power of two
  parameter int unsigned Window = 8
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  // From the switch
  input  channels_t in_valid_i,
  input  flit_t     in_i,
  output channels_t in_credit_o,
  /// no flit is inside
  output logic      empty_o,
  // To the link. At most one bit of valid is set; readiness does not depend on it.
  output channels_t tx_valid_o,
  input  channels_t tx_ready_i,
  output flit_t     tx_flit_o
);
  channels_t some, waits, chosen, goes;
  channel_t chosen_at, now_at, last_at_q;
  logic inside_q, stays;
  flit_t flit;

  gs_channel_buffer #(.Window(Window)) u_buffer (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_i,
    .in_credit_o,
    .some_o(some),
    .at_i  (now_at),
    .flit_o(flit),
    .pop_i (goes != '0)
  );

  // The link that a key names is this one: at its other end the key is the board's own.
  always_comb begin
    tx_flit_o = flit;
    if (flit.dest[31:29] == EndpointKey) tx_flit_o.dest = {EndpointKey, 29'd0};
  end

  // The packet under way goes on if it can; else it is another channel's turn.
  assign waits = some & tx_ready_i;
  assign stays = inside_q && waits[last_at_q];
  gs_arbiter #(.N(SwitchChannels)) u_next (
    .clk_i,
    .rst_ni,
    .req_i    (waits),
    .gnt_o    (chosen),
    .idx_o    (chosen_at),
    .advance_i(!stays)
  );
  assign now_at = stays ? last_at_q : chosen_at;

  always_comb begin
    goes = chosen;
    if (stays) goes = channels_t'(1) << last_at_q;
  end
  assign tx_valid_o = goes;
  assign empty_o    = some == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (goes != '0) inside_q <= !tx_flit_o.last;
    if (goes != '0) last_at_q <= now_at;
  end

  `GS_ASSERT_NOW(a_channel_that_waits_holds_up_no_other, (some & tx_ready_i) == '0 || tx_valid_o != '0)
  `GS_ASSERT_NOW(a_flit_is_offered_in_one_channel, (tx_valid_o & (tx_valid_o - channels_t'(1))) == '0)
endmodule
