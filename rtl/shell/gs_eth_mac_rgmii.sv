// SPDX-License-Identifier: Apache-2.0

/// Ethernet MAC with the pins of RGMII: gs_eth_mac and gs_eth_rgmii, whose parameters and ports these are.
module gs_eth_mac_rgmii #(
  /// longest frame in bytes, with FCS: 64 to 16383
  parameter int unsigned MaxBytes = 9018,
  /// primitives of Lattice's ECP5; for any device and for simulation otherwise
  parameter bit          Ecp5     = 1'b0,
  /// the PHY reports its speed between frames
  parameter bit          InBand   = 1'b1,
  /// delay of the received data on ECP5, in steps of about 25 ps, 0 to 127
  parameter int unsigned RxDelay  = 0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  tx_clk_i,
  input  logic                  tx_clk90_i,
  input  gs_eth_pkg::speed_e    speed_i,

  output logic [7:0]            rx_axis_tdata_o,
  output logic                  rx_axis_tvalid_o,
  input  logic                  rx_axis_tready_i,
  output logic                  rx_axis_tlast_o,
  output logic                  rx_axis_tuser_o,

  input  logic [7:0]            tx_axis_tdata_i,
  input  logic                  tx_axis_tvalid_i,
  output logic                  tx_axis_tready_o,
  input  logic                  tx_axis_tlast_i,

  input  logic [47:0]           mac_i,
  input  logic                  pause_i,

  output gs_eth_pkg::counters_t counters_o,
  /// state of the link, in `clk_i`
  output logic                  link_o,
  output logic                  duplex_o,
  output gs_eth_pkg::speed_e    speed_o,

  input  logic                  rgmii_rxc_i,
  input  logic [3:0]            rgmii_rxd_i,
  input  logic                  rgmii_rx_ctl_i,
  output logic                  rgmii_txc_o,
  output logic [3:0]            rgmii_txd_o,
  output logic                  rgmii_tx_ctl_o
);
  import gs_eth_pkg::*;

  logic       rx_clk, rx_nibble, rx_dv, rx_er, tx_ce, tx_nibble, tx_en, tx_er;
  logic [7:0] rxd, txd;
  logic       link, duplex;
  speed_e     speed;

  gs_eth_rgmii #(
    .Ecp5   (Ecp5),
    .InBand (InBand),
    .RxDelay(RxDelay)
  ) u_rgmii (
    .tx_clk_i,
    .tx_clk90_i,
    .speed_i,
    .gmii_rx_clk_o   (rx_clk),
    .gmii_rx_nibble_o(rx_nibble),
    .gmii_rxd_o      (rxd),
    .gmii_rx_dv_o    (rx_dv),
    .gmii_rx_er_o    (rx_er),
    .gmii_tx_ce_o    (tx_ce),
    .gmii_tx_nibble_o(tx_nibble),
    .gmii_txd_i      (txd),
    .gmii_tx_en_i    (tx_en),
    .gmii_tx_er_i    (tx_er),
    .link_o          (link),
    .duplex_o        (duplex),
    .speed_o         (speed),
    .rgmii_rxc_i,
    .rgmii_rxd_i,
    .rgmii_rx_ctl_i,
    .rgmii_txc_o,
    .rgmii_txd_o,
    .rgmii_tx_ctl_o
  );

  gs_eth_mac #(.MaxBytes(MaxBytes)) u_mac (
    .clk_i,
    .rst_ni,
    .rx_axis_tdata_o,
    .rx_axis_tvalid_o,
    .rx_axis_tready_i,
    .rx_axis_tlast_o,
    .rx_axis_tuser_o,
    .tx_axis_tdata_i,
    .tx_axis_tvalid_i,
    .tx_axis_tready_o,
    .tx_axis_tlast_i,
    .mac_i,
    .pause_i,
    .counters_o,
    .gmii_rx_clk_i   (rx_clk),
    .gmii_rx_ce_i    (1'b1),
    .gmii_rx_nibble_i(rx_nibble),
    .gmii_rxd_i      (rxd),
    .gmii_rx_dv_i    (rx_dv),
    .gmii_rx_er_i    (rx_er),
    .gmii_tx_clk_i   (tx_clk_i),
    .gmii_tx_ce_i    (tx_ce),
    .gmii_tx_nibble_i(tx_nibble),
    .gmii_txd_o      (txd),
    .gmii_tx_en_o    (tx_en),
    .gmii_tx_er_o    (tx_er)
  );

  // Bits of the state that change together may arrive in successive cycles.
  gs_sync #(.Width(4)) u_sync_link (
    .clk_i, .rst_ni, .data_i({duplex, speed, link}), .data_o({duplex_o, speed_o, link_o})
  );
endmodule
