// SPDX-License-Identifier: Apache-2.0

/// The Ethernet MAC with the names that cocotbext-eth and cocotbext-axi look for, and enables of the nibbles.
module eth_top #(
  parameter int unsigned MaxBytes = 9018,
  parameter int unsigned RxDepthLog2 = 5,
  parameter logic [15:0] PauseQuanta = 16'd100
) (
  input  logic        clk,
  input  logic        rst_n,
  output logic [7:0]  rx_axis_tdata,
  output logic        rx_axis_tvalid,
  input  logic        rx_axis_tready,
  output logic        rx_axis_tlast,
  output logic        rx_axis_tuser,
  input  logic [7:0]  tx_axis_tdata,
  input  logic        tx_axis_tvalid,
  output logic        tx_axis_tready,
  input  logic        tx_axis_tlast,
  output logic [31:0] rx_good,
  output logic [31:0] rx_crc_error,
  output logic [31:0] rx_code_error,
  output logic [31:0] rx_too_short,
  output logic [31:0] rx_too_long,
  output logic [31:0] rx_overrun,
  output logic [31:0] tx_good,
  output logic [31:0] tx_too_long,
  output logic [31:0] rx_pause_frames,
  input  logic [47:0] mac,
  input  logic        pause,
  /// nibbles in place of bytes, one every so many cycles less one
  input  logic        nibble,
  input  logic [5:0]  rx_pause,
  input  logic [5:0]  tx_pause,
  input  logic        rx_clk,
  output logic        rx_ce,
  input  logic [7:0]  rxd,
  input  logic        rx_dv,
  input  logic        rx_er,
  input  logic        tx_clk,
  output logic        tx_ce,
  output logic [7:0]  txd,
  output logic        tx_en,
  output logic        tx_er
);
  logic [5:0] rx_cycle_q, tx_cycle_q;
  assign rx_ce = rx_cycle_q >= rx_pause;
  assign tx_ce = tx_cycle_q >= tx_pause;
  always_ff @(posedge rx_clk) rx_cycle_q <= rx_ce ? '0 : rx_cycle_q + 1'b1;
  always_ff @(posedge tx_clk) tx_cycle_q <= tx_ce ? '0 : tx_cycle_q + 1'b1;

  gs_eth_pkg::counters_t counters;
  assign {rx_good, rx_crc_error, rx_code_error, rx_too_short, rx_too_long, rx_overrun, tx_good, tx_too_long,
          rx_pause_frames} = counters;

  gs_eth_mac #(
    .MaxBytes   (MaxBytes),
    .RxDepthLog2(RxDepthLog2),
    .PauseQuanta(PauseQuanta)
  ) u_mac (
    .clk_i           (clk),
    .rst_ni          (rst_n),
    .rx_axis_tdata_o (rx_axis_tdata),
    .rx_axis_tvalid_o(rx_axis_tvalid),
    .rx_axis_tready_i(rx_axis_tready),
    .rx_axis_tlast_o (rx_axis_tlast),
    .rx_axis_tuser_o (rx_axis_tuser),
    .tx_axis_tdata_i (tx_axis_tdata),
    .tx_axis_tvalid_i(tx_axis_tvalid),
    .tx_axis_tready_o(tx_axis_tready),
    .tx_axis_tlast_i (tx_axis_tlast),
    .mac_i           (mac),
    .pause_i         (pause),
    .counters_o      (counters),
    .gmii_rx_clk_i   (rx_clk),
    .gmii_rx_ce_i    (rx_ce),
    .gmii_rx_nibble_i(nibble),
    .gmii_rxd_i      (rxd),
    .gmii_rx_dv_i    (rx_dv),
    .gmii_rx_er_i    (rx_er),
    .gmii_tx_clk_i   (tx_clk),
    .gmii_tx_ce_i    (tx_ce),
    .gmii_tx_nibble_i(nibble),
    .gmii_txd_o      (txd),
    .gmii_tx_en_o    (tx_en),
    .gmii_tx_er_o    (tx_er)
  );
endmodule
