// SPDX-License-Identifier: Apache-2.0

/// GMII to the pins of RGMII 2.0, at 10, 100 and 1000 Mb/s.
///
/// The PHY reports the state of its link between frames (in-band status): speed and duplex follow it. A PHY without it
/// needs `InBand` 0 and `speed_i`. The receiver's clock is that of the PHY, which delays it by 2 ns; `RxDelay` delays
/// the data as the device's clock network does the clock. The transmitter has a clock of 125 MHz at every speed.
/// `tx_clk90_i` is the same clock 2 ns (90 degrees) later; or it is `tx_clk_i`, if the PHY delays TXC. There is no
/// reset: all states settle on their own.
///
///     tx_clk_i      _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
///     TXD, 1000     X lo|hi X lo|hi X
///     TXC, 1000     _/~\_/~\_/~\_          90 degrees later
///     TXD, 100      X       nibble      X          five cycles; at 10 Mb/s fifty
///     TXC, 100      ____/~~~~~~~~~\_______         rises after one, falls after 3.5 cycles
module gs_eth_rgmii #(
  /// primitives of Lattice's ECP5; for any device and for simulation otherwise
  parameter bit          Ecp5    = 1'b0,
  /// the PHY reports its speed between frames
  parameter bit          InBand  = 1'b1,
  /// delay of the received data on ECP5, in steps of about 25 ps, 0 to 127
  parameter int unsigned RxDelay = 0
) (
  input  logic               tx_clk_i,
  input  logic               tx_clk90_i,
  /// speed without in-band status; in any clock, constant while frames are in flight
  input  gs_eth_pkg::speed_e speed_i,

  /// GMII
  output logic               gmii_rx_clk_o,
  output logic               gmii_rx_nibble_o,
  output logic [7:0]         gmii_rxd_o,
  output logic               gmii_rx_dv_o,
  output logic               gmii_rx_er_o,
  output logic               gmii_tx_ce_o,
  output logic               gmii_tx_nibble_o,
  input  logic [7:0]         gmii_txd_i,
  input  logic               gmii_tx_en_i,
  input  logic               gmii_tx_er_i,

  /// state of the link, in `tx_clk_i`; without in-band status, `link_o` and `duplex_o` are 1
  output logic               link_o,
  output logic               duplex_o,
  output gs_eth_pkg::speed_e speed_o,

  /// pins
  input  logic               rgmii_rxc_i,
  input  logic [3:0]         rgmii_rxd_i,
  input  logic               rgmii_rx_ctl_i,
  output logic               rgmii_txc_o,
  output logic [3:0]         rgmii_txd_o,
  output logic               rgmii_tx_ctl_o
);
  import gs_eth_pkg::*;

  // Reception
  logic [3:0] rxd_first, rxd_second;
  logic       ctl_first, ctl_second;
  assign gmii_rx_clk_o = rgmii_rxc_i;
  for (genvar i = 0; i < 4; i++) begin : gen_rxd
    gs_eth_ddr_in #(
      .Ecp5 (Ecp5),
      .Delay(RxDelay)
    ) u_ddr (
      .clk_i   (rgmii_rxc_i),
      .pin_i   (rgmii_rxd_i[i]),
      .first_o (rxd_first[i]),
      .second_o(rxd_second[i])
    );
  end
  gs_eth_ddr_in #(
    .Ecp5 (Ecp5),
    .Delay(RxDelay)
  ) u_rx_ctl (
    .clk_i   (rgmii_rxc_i),
    .pin_i   (rgmii_rx_ctl_i),
    .first_o (ctl_first),
    .second_o(ctl_second)
  );
  assign gmii_rxd_o   = {rxd_second, rxd_first};
  assign gmii_rx_dv_o = ctl_first;
  assign gmii_rx_er_o = ctl_first ^ ctl_second;

  // State of the link, in the receiver's clock and then in the transmitter's: duplex, speed, link. It is taken when two
  // successive samples agree, since its bits do not change together.
  typedef struct packed {
    logic   duplex;
    speed_e speed;
    logic   link;
  } status_t;
  status_t status_q, status_tx_q;
  logic [3:0] seen, seen_q, sync, sync_q;
  assign seen = InBand ? rxd_first : {1'b1, speed_i, 1'b1};
  always_ff @(posedge rgmii_rxc_i) begin
    if (!ctl_first && !ctl_second) begin
      seen_q <= seen;
      if (seen == seen_q && seen[2:1] != 2'b11) status_q <= status_t'(seen);
    end
    gmii_rx_nibble_o <= status_q.speed != Speed1000;
  end
  gs_sync #(.Width(4)) u_sync_status (.clk_i(tx_clk_i), .rst_ni(1'b1), .data_i(status_q), .data_o(sync));
  always_ff @(posedge tx_clk_i) begin
    sync_q <= sync;
    if (sync_q == sync) status_tx_q <= status_t'(sync);
  end
  assign link_o           = status_tx_q.link;
  assign duplex_o         = status_tx_q.duplex;
  assign speed_o          = status_tx_q.speed;

  // Transmission: cycle of a nibble, and the two halves of TXC in it.
  logic [5:0] cycle_q, last;
  logic       txc_first, txc_second, txc_first_q, txc_second_q;
  assign last             = speed_o == Speed1000 ? 6'd0 : speed_o == Speed100 ? 6'd4 : 6'd49;
  assign gmii_tx_ce_o     = cycle_q >= last;
  assign gmii_tx_nibble_o = speed_o != Speed1000;
  always_ff @(posedge tx_clk_i) cycle_q <= gmii_tx_ce_o ? '0 : cycle_q + 1'b1;
  always_comb begin
    unique case (speed_o)
      Speed1000: {txc_first, txc_second} = 2'b10;
      Speed100: begin
        txc_first  = cycle_q >= 1 && cycle_q <= 3;
        txc_second = cycle_q >= 1 && cycle_q <= 2;
      end
      default: begin
        txc_first  = cycle_q >= 13 && cycle_q <= 37;
        txc_second = cycle_q >= 12 && cycle_q <= 36;
      end
    endcase
  end
  // At the falling edge, so that the pattern reaches a clock that is 2 ns later in time.
  always_ff @(negedge tx_clk_i) {txc_first_q, txc_second_q} <= {txc_first, txc_second};
  gs_eth_ddr_out #(.Ecp5(Ecp5)) u_txc (
    .clk_i(tx_clk90_i), .first_i(txc_first_q), .second_i(txc_second_q), .pin_o(rgmii_txc_o)
  );
  for (genvar i = 0; i < 4; i++) begin : gen_txd
    gs_eth_ddr_out #(.Ecp5(Ecp5)) u_ddr (
      .clk_i   (tx_clk_i),
      .first_i (gmii_txd_i[i]),
      .second_i(gmii_tx_nibble_o ? gmii_txd_i[i] : gmii_txd_i[i+4]),
      .pin_o   (rgmii_txd_o[i])
    );
  end
  gs_eth_ddr_out #(.Ecp5(Ecp5)) u_tx_ctl (
    .clk_i(tx_clk_i), .first_i(gmii_tx_en_i), .second_i(gmii_tx_en_i ^ gmii_tx_er_i), .pin_o(rgmii_tx_ctl_o)
  );
endmodule
