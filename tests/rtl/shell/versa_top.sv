// SPDX-License-Identifier: Apache-2.0

/// Lattice's ECP5-5G Versa board as an echo of all good frames up to 1518 bytes, for the constraints.
module versa_top (
  input  logic       clk100_i,
  output logic       phy_rst_no,
  input  logic       rgmii_rxc_i,
  input  logic [3:0] rgmii_rxd_i,
  input  logic       rgmii_rx_ctl_i,
  output logic       rgmii_txc_o,
  output logic [3:0] rgmii_txd_o,
  output logic       rgmii_tx_ctl_o
);
  // 125 MHz, and the same 90 degrees later: 5 of 4 periods of the oscillator; 1/8 of a phase is 200 ps of the VCO.
  logic clk, clk90, locked;
  (* FREQUENCY_PIN_CLKI = "100", FREQUENCY_PIN_CLKOP = "125", FREQUENCY_PIN_CLKOS = "125" *)
  EHXPLLL #(
    .CLKI_DIV     (4),
    .CLKFB_DIV    (5),
    .CLKOP_ENABLE ("ENABLED"),
    .CLKOP_DIV    (5),
    .CLKOP_CPHASE (4),
    .CLKOS_ENABLE ("ENABLED"),
    .CLKOS_DIV    (5),
    .CLKOS_CPHASE (5),
    .CLKOS_FPHASE (2),
    .FEEDBK_PATH  ("CLKOP")
  ) u_pll (
    .CLKI (clk100_i),
    .CLKFB(clk),
    .CLKOP(clk),
    .CLKOS(clk90),
    .RST  (1'b0),
    .LOCK (locked)
  );

  logic [15:0] wait_q = '0;
  always_ff @(posedge clk) if (!locked) wait_q <= '0; else if (!wait_q[15]) wait_q <= wait_q + 1'b1;
  assign phy_rst_no = wait_q[15];

  logic [7:0] data;
  logic       valid, ready, last;
  gs_eth_mac_rgmii #(
    .MaxBytes(1518),
    .Ecp5    (1'b1),
    .RxDelay (80)
  ) u_mac (
    .clk_i           (clk),
    .rst_ni          (wait_q[15]),
    .tx_clk_i        (clk),
    .tx_clk90_i      (clk90),
    .speed_i         (gs_eth_pkg::Speed1000),
    .rx_axis_tdata_o (data),
    .rx_axis_tvalid_o(valid),
    .rx_axis_tready_i(ready),
    .rx_axis_tlast_o (last),
    .rx_axis_tuser_o (),
    .tx_axis_tdata_i (data),
    .tx_axis_tvalid_i(valid),
    .tx_axis_tready_o(ready),
    .tx_axis_tlast_i (last),
    .mac_i           (48'h02_0000_0000_01),
    .pause_i         (1'b0),
    .counters_o      (),
    .link_o          (),
    .duplex_o        (),
    .speed_o         (),
    .rgmii_rxc_i,
    .rgmii_rxd_i,
    .rgmii_rx_ctl_i,
    .rgmii_txc_o,
    .rgmii_txd_o,
    .rgmii_tx_ctl_o
  );
endmodule

(* blackbox *)
module EHXPLLL #(
  parameter int CLKI_DIV = 1,
  parameter int CLKFB_DIV = 1,
  parameter CLKOP_ENABLE = "ENABLED",
  parameter int CLKOP_DIV = 8,
  parameter int CLKOP_CPHASE = 0,
  parameter CLKOS_ENABLE = "DISABLED",
  parameter int CLKOS_DIV = 8,
  parameter int CLKOS_CPHASE = 0,
  parameter int CLKOS_FPHASE = 0,
  parameter FEEDBK_PATH = "CLKOP"
) (
  input  logic CLKI,
  input  logic CLKFB,
  input  logic RST,
  output logic CLKOP,
  output logic CLKOS,
  output logic LOCK
);
endmodule
