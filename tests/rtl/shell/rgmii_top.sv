// SPDX-License-Identifier: Apache-2.0

/// The Ethernet MAC with RGMII, with the names that the models look for, and the status that a PHY sends between
/// frames.
module rgmii_top (
  input  logic       clk,
  input  logic       rst_n,
  input  logic       clk125,
  input  logic       clk125_90,
  output logic [7:0] rx_axis_tdata,
  output logic       rx_axis_tvalid,
  input  logic       rx_axis_tready,
  output logic       rx_axis_tlast,
  output logic       rx_axis_tuser,
  input  logic [7:0] tx_axis_tdata,
  input  logic       tx_axis_tvalid,
  output logic       tx_axis_tready,
  input  logic       tx_axis_tlast,
  output logic       link,
  output logic       duplex,
  output logic [1:0] speed,
  output logic [31:0] rx_good,
  output logic [31:0] rx_bad,
  /// duplex, speed, link
  input  logic [3:0] status,
  input  logic       rx_clk,
  input  logic [3:0] rxd,
  input  logic       rx_ctl,
  output logic       tx_clk,
  output logic [3:0] txd,
  output logic       tx_ctl
);
  gs_eth_pkg::counters_t counters;
  assign rx_good = counters.rx_good;
  assign rx_bad  = counters.rx_crc_error + counters.rx_code_error + counters.rx_too_short + counters.rx_too_long
                   + counters.rx_overrun;

  gs_eth_mac_rgmii u_mac (
    .clk_i           (clk),
    .rst_ni          (rst_n),
    .tx_clk_i        (clk125),
    .tx_clk90_i      (clk125_90),
    .speed_i         (gs_eth_pkg::Speed1000),
    .rx_axis_tdata_o (rx_axis_tdata),
    .rx_axis_tvalid_o(rx_axis_tvalid),
    .rx_axis_tready_i(rx_axis_tready),
    .rx_axis_tlast_o (rx_axis_tlast),
    .rx_axis_tuser_o (rx_axis_tuser),
    .tx_axis_tdata_i (tx_axis_tdata),
    .tx_axis_tvalid_i(tx_axis_tvalid),
    .tx_axis_tready_o(tx_axis_tready),
    .tx_axis_tlast_i (tx_axis_tlast),
    .mac_i           (48'h02_0000_0000_01),
    .pause_i         (1'b0),
    .counters_o      (counters),
    .link_o          (link),
    .duplex_o        (duplex),
    .speed_o         (speed),
    .rgmii_rxc_i     (rx_clk),
    .rgmii_rxd_i     (rx_ctl ? rxd : status),
    .rgmii_rx_ctl_i  (rx_ctl),
    .rgmii_txc_o     (tx_clk),
    .rgmii_txd_o     (txd),
    .rgmii_tx_ctl_o  (tx_ctl)
  );
endmodule
