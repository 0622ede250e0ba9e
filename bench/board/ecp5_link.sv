// SPDX-License-Identifier: Apache-2.0

/// The MAC of a board's link, from the link's beats to the pins of a PHY.
module ecp5_link
  import gossamer_pkg::LinksDatapathBytes;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        mac_clk_i,
  input  logic        tx_clk90_i,
  input  logic        tx_valid_i,
  output logic        tx_ready_o,
  input  logic [8*LinksDatapathBytes-1:0] tx_data_i,
  input  logic [LinksDatapathBytes-1:0] tx_keep_i,
  input  logic        tx_last_i,
  output logic        rx_valid_o,
  output logic [8*LinksDatapathBytes-1:0] rx_data_o,
  output logic [LinksDatapathBytes-1:0] rx_keep_o,
  output logic        rx_last_o,
  output logic        rx_error_o,
  input  logic        rgmii_rxc_i,
  input  logic [3:0]  rgmii_rxd_i,
  input  logic        rgmii_rx_ctl_i,
  output logic        rgmii_txc_o,
  output logic [3:0]  rgmii_txd_o,
  output logic        rgmii_tx_ctl_o
);
  logic [7:0] tx, rx;
  logic tx_valid, tx_ready, tx_last, rx_valid, rx_ready, rx_last, rx_error, mac_rst_n, unused, unused_rst_n;
  gs_eth_pkg::counters_t unused_counters;
  logic unused_link, unused_duplex;
  gs_eth_pkg::speed_e unused_speed;
  assign unused = unused_rst_n ^ unused_link ^ unused_duplex ^ (^unused_counters) ^ (^unused_speed);
  gs_sync u_reset (
    .clk_i  (mac_clk_i),
    .rst_ni (1'b1),
    .data_i (rst_ni),
    .data_o (mac_rst_n)
  );
  gs_link_mac u_crossing (
    .clk_i,
    .rst_ni,
    .rst_no          (unused_rst_n),
    .tx_valid_i,
    .tx_ready_o,
    .tx_data_i,
    .tx_keep_i,
    .tx_last_i,
    .rx_valid_o,
    .rx_data_o,
    .rx_keep_o,
    .rx_last_o,
    .rx_error_o,
    .mac_clk_i,
    .tx_axis_tdata_o (tx),
    .tx_axis_tvalid_o(tx_valid),
    .tx_axis_tready_i(tx_ready),
    .tx_axis_tlast_o (tx_last),
    .rx_axis_tdata_i (rx),
    .rx_axis_tvalid_i(rx_valid),
    .rx_axis_tready_o(rx_ready),
    .rx_axis_tlast_i (rx_last),
    .rx_axis_tuser_i (rx_error)
  );
  gs_eth_mac_rgmii #(
    .MaxBytes(1518)
  ) u_mac (
    .clk_i           (mac_clk_i),
    .rst_ni          (mac_rst_n),
    .tx_clk_i        (mac_clk_i),
    .tx_clk90_i,
    .speed_i         (gs_eth_pkg::speed_e'(2)),
    .rx_axis_tdata_o (rx),
    .rx_axis_tvalid_o(rx_valid),
    .rx_axis_tready_i(rx_ready),
    .rx_axis_tlast_o (rx_last),
    .rx_axis_tuser_o (rx_error),
    .tx_axis_tdata_i (tx),
    .tx_axis_tvalid_i(tx_valid),
    .tx_axis_tready_o(tx_ready),
    .tx_axis_tlast_i (tx_last),
    .mac_i           ('0),
    .pause_i         (1'b0),
    .counters_o      (unused_counters),
    .link_o          (unused_link),
    .duplex_o        (unused_duplex),
    .speed_o         (unused_speed),
    .rgmii_rxc_i,
    .rgmii_rxd_i,
    .rgmii_rx_ctl_i,
    .rgmii_txc_o,
    .rgmii_txd_o,
    .rgmii_tx_ctl_o
  );
endmodule
