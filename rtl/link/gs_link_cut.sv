// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Cut between a link and its MAC: while the link is cut, outgoing and incoming frames are dropped.
///
/// A frame that has begun before a change of `cut_i` is completed as it has begun: a MAC never receives part of a
/// frame, and a beat that waits for the MAC stays valid.
module gs_link_cut (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic cut_i,
  // Outgoing beats: from the link, to the MAC
  input  logic tx_valid_i,
  output logic tx_ready_o,
  input  logic tx_last_i,
  output logic mac_tx_valid_o,
  input  logic mac_tx_ready_i,
  // Incoming beats: from the MAC, to the link
  input  logic mac_rx_valid_i,
  input  logic mac_rx_last_i,
  output logic rx_valid_o
);
  // A frame is passing; a frame is being dropped.
  logic tx_pass_q, tx_drop_q, rx_pass_q, rx_drop_q, tx_drop, rx_drop;
  assign tx_drop        = tx_drop_q || (cut_i && !tx_pass_q);
  assign rx_drop        = rx_drop_q || (cut_i && !rx_pass_q);
  assign mac_tx_valid_o = tx_valid_i && !tx_drop;
  assign tx_ready_o     = mac_tx_ready_i || tx_drop;
  assign rx_valid_o     = mac_rx_valid_i && !rx_drop;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tx_pass_q <= 1'b0;
      tx_drop_q <= 1'b0;
      rx_pass_q <= 1'b0;
      rx_drop_q <= 1'b0;
    end else begin
      if (tx_valid_i && tx_drop) tx_drop_q <= !tx_last_i;
      else if (tx_valid_i) tx_pass_q <= !(tx_last_i && mac_tx_ready_i);
      if (mac_rx_valid_i && rx_drop) rx_drop_q <= !mac_rx_last_i;
      else if (mac_rx_valid_i) rx_pass_q <= !mac_rx_last_i;
    end
  end

  `GS_ASSERT_HOLD(beats_that_wait_stay_valid, mac_tx_valid_o, mac_tx_ready_i, tx_last_i)
  `GS_ASSERT_NOW(a_frame_passes_or_is_dropped, !(tx_pass_q && tx_drop_q) && !(rx_pass_q && rx_drop_q))
endmodule
