// SPDX-License-Identifier: Apache-2.0

/// A board as a role, with models of its memories and with virtual links; one clock of the board is two of the shell.
module board_top
  import gs_board_memory_pkg::*;
  import gs_board_pkg::StreamLanes;
  import gossamer_pkg::*;
#(
  parameter int unsigned Links = 2
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic [31:0] kernel_i,
  input  logic        stop_i,
  output logic        done_o,
  output logic [31:0] code_o,
  output logic [63:0] result_address_o,
  output logic [63:0] result_bytes_o,
  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [7:0]  s_axil_awaddr_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [3:0]  s_axil_wstrb_i,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  output logic [1:0]  s_axil_bresp_o,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  input  logic [7:0]  s_axil_araddr_i,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,
  output logic [31:0] s_axil_rdata_o,
  output logic [1:0]  s_axil_rresp_o,
  output logic [15:0] streams_o,
  output logic [7:0]  wanted_o,
  input  logic        s_axis_tvalid_i,
  output logic        s_axis_tready_o,
  input  logic [31:0] s_axis_tdata_i,
  input  logic [3:0]  s_axis_tkeep_i,
  input  logic        s_axis_tlast_i,
  input  logic [7:0]  s_axis_tdest_i,
  output logic        m_axis_tvalid_o,
  input  logic        m_axis_tready_i,
  output logic [31:0] m_axis_tdata_o,
  output logic [3:0]  m_axis_tkeep_o,
  output logic        m_axis_tlast_o,
  output logic [7:0]  m_axis_tdest_o,
  // Virtual links, as at gs_shell
  output logic [15:0] role_links_o,
  input  logic        link_valid_i,
  input  logic [7:0]  link_data_i,
  input  logic        link_last_i,
  input  logic        link_error_i,
  input  logic [1:0]  link_dest_i,
  output logic        link_valid_o,
  input  logic        link_ready_i,
  output logic [7:0]  link_data_o,
  output logic        link_last_o,
  output logic [1:0]  link_dest_o
);
  logic board_clk, board_q;
  // Between two edges of the shell's clock, so that none of the board's edges is at the same time.
  always_ff @(negedge clk_i) board_q <= !board_q;
  assign board_clk = board_q;

  logic     board_rst_n;
  logic     mem_req_valid[Memories], mem_req_ready[Memories], mem_rsp_valid[Memories], mem_rsp_ready[Memories];
  mem_req_t mem_req[Memories];
  mem_rsp_t mem_rsp[Memories];
  logic [Links-1:0] tx_valid, tx_ready, tx_last, rx_valid, rx_last, rx_error, unused_up;
  logic [8*LinksDatapathBytes-1:0] tx_data[Links], rx_data[Links];
  logic [LinksDatapathBytes-1:0]   tx_keep[Links], rx_keep[Links];

  logic [StreamLanes-1:0] unused_send_open_ready_o;
  logic [StreamLanes-1:0] unused_s_axis_tready_o;
  logic [StreamLanes-1:0] unused_recv_open_ready_o;
  logic [StreamLanes-1:0] unused_m_axis_tvalid_o;
  logic [StreamLanes-1:0][8*StreamWidthBytes-1:0] unused_m_axis_tdata_o;
  logic [StreamLanes-1:0][StreamWidthBytes-1:0] unused_m_axis_tkeep_o;
  logic [StreamLanes-1:0] unused_m_axis_tlast_o;

  gs_role_board #(
    .Links(Links)
  ) u_role (
    .clk_i, .rst_ni, .start_i, .kernel_i, .stop_i, .done_o, .code_o, .result_address_o, .result_bytes_o,
    .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_awaddr_i, .s_axil_wvalid_i, .s_axil_wready_o, .s_axil_wdata_i,
    .s_axil_wstrb_i, .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_bresp_o, .s_axil_arvalid_i, .s_axil_arready_o,
    .s_axil_araddr_i, .s_axil_rvalid_o, .s_axil_rready_i, .s_axil_rdata_o, .s_axil_rresp_o,
    .streams_o, .wanted_o, .s_axis_tvalid_i, .s_axis_tready_o, .s_axis_tdata_i, .s_axis_tkeep_i, .s_axis_tlast_i,
    .s_axis_tdest_i, .m_axis_tvalid_o, .m_axis_tready_i, .m_axis_tdata_o, .m_axis_tkeep_o, .m_axis_tlast_o,
    .m_axis_tdest_o,
    .board_clk_i    (board_clk),
    .board_rst_no   (board_rst_n),
    .mem_req_valid_o(mem_req_valid),
    .mem_req_ready_i(mem_req_ready),
    .mem_req_o      (mem_req),
    .mem_rsp_valid_i(mem_rsp_valid),
    .mem_rsp_ready_o(mem_rsp_ready),
    .mem_rsp_i      (mem_rsp),
    .kernel_send_open_valid_i('0),
    .kernel_send_open_ready_o(unused_send_open_ready_o),
    .kernel_send_open_i('0),
    .kernel_s_axis_tvalid_i('0),
    .kernel_s_axis_tready_o(unused_s_axis_tready_o),
    .kernel_s_axis_tdata_i('0),
    .kernel_recv_open_valid_i('0),
    .kernel_recv_open_ready_o(unused_recv_open_ready_o),
    .kernel_recv_open_i('0),
    .kernel_m_axis_tvalid_o(unused_m_axis_tvalid_o),
    .kernel_m_axis_tready_i('0),
    .kernel_m_axis_tdata_o(unused_m_axis_tdata_o),
    .kernel_m_axis_tkeep_o(unused_m_axis_tkeep_o),
    .kernel_m_axis_tlast_o(unused_m_axis_tlast_o),
    .kernel_collective_i('0),
    .kernel_collective_o(),
    .mac_tx_valid_o (tx_valid),
    .mac_tx_ready_i (tx_ready),
    .mac_tx_data_o  (tx_data),
    .mac_tx_keep_o  (tx_keep),
    .mac_tx_last_o  (tx_last),
    .mac_rx_valid_i (rx_valid),
    .mac_rx_data_i  (rx_data),
    .mac_rx_keep_i  (rx_keep),
    .mac_rx_last_i  (rx_last),
    .mac_rx_error_i (rx_error),
    .up_o           (unused_up)
  );

  gs_role_links #(
    .Links(Links)
  ) u_links (
    .clk_i, .role_links_o, .link_valid_i, .link_data_i, .link_last_i, .link_error_i, .link_dest_i,
    .link_valid_o, .link_ready_i, .link_data_o, .link_last_o, .link_dest_o,
    .board_clk_i   (board_clk),
    .board_rst_ni  (board_rst_n),
    .mac_tx_valid_i(tx_valid),
    .mac_tx_ready_o(tx_ready),
    .mac_tx_data_i (tx_data),
    .mac_tx_keep_i (tx_keep),
    .mac_tx_last_i (tx_last),
    .mac_rx_valid_o(rx_valid),
    .mac_rx_data_o (rx_data),
    .mac_rx_keep_o (rx_keep),
    .mac_rx_last_o (rx_last),
    .mac_rx_error_o(rx_error)
  );

  for (genvar p = 0; p < DramCount; p++) begin : gen_port
    localparam int unsigned First = p * PortMemories;
    gs_sim_memory_models #(
      .Srams    (PortSrams),
      .mem_req_t(mem_req_t),
      .mem_rsp_t(mem_rsp_t)
    ) u_models (
      .clk_i      (board_clk),
      .rst_ni     (board_rst_n),
      .req_valid_i(mem_req_valid[First:First+PortMemories-1]),
      .req_ready_o(mem_req_ready[First:First+PortMemories-1]),
      .req_i      (mem_req[First:First+PortMemories-1]),
      .rsp_valid_o(mem_rsp_valid[First:First+PortMemories-1]),
      .rsp_ready_i(mem_rsp_ready[First:First+PortMemories-1]),
      .rsp_o      (mem_rsp[First:First+PortMemories-1])
    );
  end
endmodule
