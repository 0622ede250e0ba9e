// SPDX-License-Identifier: Apache-2.0

/// The crossings between a board's clock and those around it: message streams of the shell, and the MAC of a link.
module crossings_top
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
#(
  parameter  int unsigned Bytes = 8,
  localparam int unsigned FlitW = $bits(flit_t)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             stop_i,
  output logic             idle_o,
  output logic             malformed_o,
  output logic [Vnets-1:0] wanted_o,
  input  logic             s_valid_i,
  output logic             s_ready_o,
  input  logic [31:0]      s_data_i,
  input  logic [3:0]       s_keep_i,
  input  logic             s_last_i,
  input  logic [7:0]       s_dest_i,
  output logic             m_valid_o,
  input  logic             m_ready_i,
  output logic [31:0]      m_data_o,
  output logic [3:0]       m_keep_o,
  output logic             m_last_o,
  output logic [7:0]       m_dest_o,
  output logic             in_reset_o,
  input  logic             board_clk_i,
  output logic             board_rst_no,
  output logic [Vnets-1:0] host_in_valid_o,
  input  logic [Vnets-1:0] host_in_ready_i,
  output logic [FlitW-1:0] host_in_o,
  input  logic [Vnets-1:0] host_out_valid_i,
  output logic [Vnets-1:0] host_out_ready_o,
  input  logic [FlitW-1:0] host_out_i,
  // Link
  input  logic               link_rst_ni,
  output logic               link_rst_no,
  input  logic               tx_valid_i,
  output logic               tx_ready_o,
  input  logic [8*Bytes-1:0] tx_data_i,
  input  logic [Bytes-1:0]   tx_keep_i,
  input  logic               tx_last_i,
  output logic               rx_valid_o,
  output logic [8*Bytes-1:0] rx_data_o,
  output logic [Bytes-1:0]   rx_keep_o,
  output logic               rx_last_o,
  output logic               rx_error_o,
  input  logic               mac_clk_i,
  output logic [7:0]         mac_tx_data_o,
  output logic               mac_tx_valid_o,
  input  logic               mac_tx_ready_i,
  output logic               mac_tx_last_o,
  input  logic [7:0]         mac_rx_data_i,
  input  logic               mac_rx_valid_i,
  output logic               mac_rx_ready_o,
  input  logic               mac_rx_last_i,
  input  logic               mac_rx_error_i
);
  flit_t flit;
  assign host_in_o = flit;
  gs_board_host_stream #(
    .InFlits (6),
    .OutFlits(5),
    .Linger  (24)
  ) u_host (
    .clk_i,
    .rst_ni,
    .stop_i,
    .idle_o,
    .malformed_o,
    .wanted_o,
    .s_axis_tvalid_i(s_valid_i),
    .s_axis_tready_o(s_ready_o),
    .s_axis_tdata_i (s_data_i),
    .s_axis_tkeep_i (s_keep_i),
    .s_axis_tlast_i (s_last_i),
    .s_axis_tdest_i (s_dest_i),
    .m_axis_tvalid_o(m_valid_o),
    .m_axis_tready_i(m_ready_i),
    .m_axis_tdata_o (m_data_o),
    .m_axis_tkeep_o (m_keep_o),
    .m_axis_tlast_o (m_last_o),
    .m_axis_tdest_o (m_dest_o),
    .board_clk_i,
    .board_rst_no,
    .in_reset_o,
    .host_in_valid_o,
    .host_in_ready_i,
    .host_in_o      (flit),
    .host_out_valid_i,
    .host_out_ready_o,
    .host_out_i     (flit_t'(host_out_i))
  );
  gs_link_mac #(
    .Bytes(Bytes)
  ) u_link (
    .clk_i           (board_clk_i),
    .rst_ni          (link_rst_ni),
    .rst_no          (link_rst_no),
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
    .tx_axis_tdata_o (mac_tx_data_o),
    .tx_axis_tvalid_o(mac_tx_valid_o),
    .tx_axis_tready_i(mac_tx_ready_i),
    .tx_axis_tlast_o (mac_tx_last_o),
    .rx_axis_tdata_i (mac_rx_data_i),
    .rx_axis_tvalid_i(mac_rx_valid_i),
    .rx_axis_tready_o(mac_rx_ready_o),
    .rx_axis_tlast_i (mac_rx_last_i),
    .rx_axis_tuser_i (mac_rx_error_i)
  );
endmodule
