// SPDX-License-Identifier: Apache-2.0

/// The Ethernet shell with its MAC on a board without memory, role, configuration port and store of keys, with the
/// names that the model of the PHY looks for, and the status that a PHY sends between frames.
module shell_eth_top #(
  parameter string Firmware = ""
) (
  input  logic         clk,
  input  logic         rst_n,
  input  logic         clk125,
  input  logic         clk125_90,
  input  logic [47:0]  mac,
  input  logic [255:0] key,
  input  logic [63:0]  entropy,
  output logic         watchdog,
  /// a byte from the shell to the MAC
  output logic         shell_tx,
  output logic [31:0]  rx_good,
  output logic [31:0]  tx_good,
  input  logic         rx_clk,
  input  logic [3:0]   rxd,
  input  logic         rx_ctl,
  output logic         tx_clk,
  output logic [3:0]   txd,
  output logic         tx_ctl
);
  gs_eth_pkg::counters_t counters;
  assign rx_good = counters.rx_good;
  assign tx_good = counters.tx_good;
  assign shell_tx = u_shell.tx_valid;

  // In reset until it was reset: inputs begin with random values.
  logic begun_q;
  initial begun_q = 1'b0;
  always @(posedge clk) if (!rst_n) begun_q <= 1'b1;

  // Link up, full duplex, 1000 Mb/s.
  localparam logic [3:0] Status = 4'b1101;

  gs_shell_eth #(
    .Firmware(Firmware)
  ) u_shell (
    .clk_i                (clk),
    .rst_ni               (rst_n && begun_q),
    .tx_clk_i             (clk125),
    .tx_clk90_i           (clk125_90),
    .mac_i                (mac),
    .key_i                (key),
    .next_key_i           ('0),
    .next_key_valid_i     (1'b0),
    .vendor_i             (16'h1234),
    .product_i            (16'd1),
    .board_type_i         (32'd1),
    .serial_i             (64'd1),
    .boot_i               (32'd1),
    .memory_bytes_i       (32'h0400_0000),
    .image_max_i          (32'h0400_0000),
    .types_i              ({
      16'h88B6, 16'h88B5, 16'h80CB, 16'h80CC, 16'h80DB, 16'h80DD, 16'h80AB, 16'h80AA, 16'h80EF
    }),
    .entropy_i            (entropy),
    .rgmii_rxc_i          (rx_clk),
    .rgmii_rxd_i          (rx_ctl ? rxd : Status),
    .rgmii_rx_ctl_i       (rx_ctl),
    .rgmii_txc_o          (tx_clk),
    .rgmii_txd_o          (txd),
    .rgmii_tx_ctl_o       (tx_ctl),
    .speed_i              (gs_eth_pkg::Speed1000),
    .link_o               (),
    .duplex_o             (),
    .speed_o              (),
    .counters_o           (counters),
    .aw_valid_o           (),
    .aw_ready_i           (1'b1),
    .aw_addr_o            (),
    .w_valid_o            (),
    .w_ready_i            (1'b1),
    .w_data_o             (),
    .w_strb_o             (),
    .b_valid_i            (1'b0),
    .b_error_i            (1'b0),
    .ar_valid_o           (),
    .ar_ready_i           (1'b1),
    .ar_addr_o            (),
    .ar_len_o             (),
    .r_valid_i            (1'b0),
    .r_ready_o            (),
    .r_data_i             ('0),
    .r_error_i            (1'b0),
    .config_request_o     (),
    .config_grant_i       (1'b0),
    .config_valid_o       (),
    .config_ready_i       (1'b0),
    .config_data_o        (),
    .config_bytes_o       (),
    .config_last_o        (),
    .config_done_i        (1'b0),
    .config_error_i       (1'b0),
    .store_valid_o        (),
    .store_ready_i        (1'b1),
    .store_data_o         (),
    .store_last_o         (),
    .store_done_i         (1'b1),
    .store_failed_i       (1'b1),
    .local_busy_i         (1'b0),
    .local_done_i         (1'b0),
    .local_error_i        (1'b0),
    .local_role_i         ('0),
    .role_stop_o          (),
    .role_idle_i          (1'b1),
    .role_links_i         ('0),
    .link_valid_o         (),
    .link_data_o          (),
    .link_last_o          (),
    .link_error_o         (),
    .link_dest_o          (),
    .link_valid_i         (1'b0),
    .link_ready_o         (),
    .link_data_i          ('0),
    .link_last_i          (1'b0),
    .link_dest_i          ('0),
    .role_start_o         (),
    .role_kernel_o        (),
    .role_done_i          (1'b0),
    .role_code_i          ('0),
    .role_result_address_i('0),
    .role_result_bytes_i  ('0),
    .role_streams_i       ('0),
    .register_valid_o     (),
    .register_write_o     (),
    .register_address_o   (),
    .register_data_o      (),
    .register_ready_i     (1'b0),
    .register_data_i      ('0),
    .stream_valid_o       (),
    .stream_ready_i       (1'b0),
    .stream_data_o        (),
    .stream_bytes_o       (),
    .stream_last_o        (),
    .stream_dest_o        (),
    .stream_wanted_i      ('0),
    .stream_valid_i       (1'b0),
    .stream_ready_o       (),
    .stream_data_i        ('0),
    .stream_bytes_i       ('0),
    .stream_last_i        (1'b0),
    .stream_dest_i        ('0),
    .watchdog_o           (watchdog),
    .pause_o              (),
    .overrun_o            ()
  );
endmodule
