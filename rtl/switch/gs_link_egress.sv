// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// From an egress of the switch to a link: credits there, readiness here; flits by channel there, whole packets here.
///
///     egress =>[ buffers, a channel ]=> link
///
/// A packet begins when its channel is ready and none is under way. Channels take turns, a packet each.
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
  // To the link. At most one bit of valid is set; readiness does not depend on it.
  output channels_t tx_valid_o,
  input  channels_t tx_ready_i,
  output flit_t     tx_flit_o
);
  channels_t some, waits, chosen, goes;
  channel_t chosen_at, now_at, now_at_q;
  logic busy_q;
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

  // What may begin: chosen from registers, since readiness comes late.
  assign waits = some & tx_ready_i;
  gs_arbiter #(.N(SwitchChannels)) u_next (
    .clk_i,
    .rst_ni,
    .req_i    (waits),
    .gnt_o    (chosen),
    .idx_o    (chosen_at),
    .advance_i(!busy_q)
  );
  assign now_at = busy_q ? now_at_q : chosen_at;

  always_comb begin
    tx_valid_o = '0;
    if (busy_q) tx_valid_o[now_at_q] = some[now_at_q];
    else tx_valid_o = chosen;
    goes = tx_valid_o & tx_ready_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else if (goes != '0) begin
      busy_q <= !tx_flit_o.last;
    end
    if (!busy_q) now_at_q <= chosen_at;
  end

  `GS_ASSERT_NOW(a_flit_is_offered_in_one_channel, (tx_valid_o & (tx_valid_o - channels_t'(1))) == '0)
endmodule
