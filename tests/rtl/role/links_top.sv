// SPDX-License-Identifier: Apache-2.0

/// gs_role_links between a shell and a board that has a clock of its own.
module links_top #(
  parameter int unsigned Links = 2,
  parameter int unsigned Bytes = 8,
  parameter int unsigned Depth = 512
) (
  input  logic                 clk_i,
  output logic [15:0]          role_links_o,
  input  logic                 link_valid_i,
  input  logic [7:0]           link_data_i,
  input  logic                 link_last_i,
  input  logic                 link_error_i,
  input  logic [1:0]           link_dest_i,
  output logic                 link_valid_o,
  input  logic                 link_ready_i,
  output logic [7:0]           link_data_o,
  output logic                 link_last_o,
  output logic [1:0]           link_dest_o,
  input  logic                 board_clk_i,
  input  logic                 board_rst_ni,
  input  logic [Links-1:0]     tx_valid_i,
  output logic [Links-1:0]     tx_ready_o,
  input  logic [Links-1:0][8*Bytes-1:0] tx_data_i,
  input  logic [Links-1:0][Bytes-1:0]   tx_keep_i,
  input  logic [Links-1:0]     tx_last_i,
  output logic [Links-1:0]     rx_valid_o,
  output logic [Links-1:0][8*Bytes-1:0] rx_data_o,
  output logic [Links-1:0][Bytes-1:0]   rx_keep_o,
  output logic [Links-1:0]     rx_last_o,
  output logic [Links-1:0]     rx_error_o
);
  logic [8*Bytes-1:0] tx_data[Links], rx_data[Links];
  logic [Bytes-1:0]   tx_keep[Links], rx_keep[Links];
  for (genvar l = 0; l < Links; l++) begin : gen_link
    assign tx_data[l]   = tx_data_i[l];
    assign tx_keep[l]   = tx_keep_i[l];
    assign rx_data_o[l] = rx_data[l];
    assign rx_keep_o[l] = rx_keep[l];
  end
  gs_role_links #(
    .Links(Links),
    .Bytes(Bytes),
    .Depth(Depth)
  ) u_links (
    .clk_i, .role_links_o, .link_valid_i, .link_data_i, .link_last_i, .link_error_i, .link_dest_i,
    .link_valid_o, .link_ready_i, .link_data_o, .link_last_o, .link_dest_o, .board_clk_i, .board_rst_ni,
    .mac_tx_valid_i(tx_valid_i),
    .mac_tx_ready_o(tx_ready_o),
    .mac_tx_data_i (tx_data),
    .mac_tx_keep_i (tx_keep),
    .mac_tx_last_i (tx_last_i),
    .mac_rx_valid_o(rx_valid_o),
    .mac_rx_data_o (rx_data),
    .mac_rx_keep_o (rx_keep),
    .mac_rx_last_o (rx_last_o),
    .mac_rx_error_o(rx_error_o)
  );
endmodule
