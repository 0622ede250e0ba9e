// SPDX-License-Identifier: Apache-2.0

/// Simulation top: a whole board in one model, gs_board, and its surroundings. It is the reference of the split
/// simulator (cluster.h), whose models are gs_sim_mesh_tile and gs_sim_uncore: both must agree in every cycle.
module gs_sim_board
  import gs_board_memory_pkg::Memories;
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
#(
  /// simulated links, 1 to 8
  parameter int unsigned Links = 2,
  /// jobs in which the board can take part
  parameter int unsigned Jobs  = 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  /// the tables are cleared
  output logic                      ready_o,
  // The host at the switch's local port
  input  logic          [Vnets-1:0] host_in_valid_i,
  output logic          [Vnets-1:0] host_in_ready_o,
  input  flit_t                     host_in_i,
  output logic          [Vnets-1:0] host_out_valid_o,
  output flit_t                     host_out_o
);
  // No cable is connected.
  logic        zero[Links], tx_valid[Links], tx_last[Links], tx_error[Links], up_link[Links];
  logic [20:0] never[Links];
  logic [31:0] lost[Links], seed[Links];
  logic [63:0] tx_data[Links], rx_data[Links];
  logic [7:0]  tx_keep[Links], rx_keep[Links];
  for (genvar l = 0; l < Links; l++) begin : gen_link
    assign {zero[l], never[l], seed[l], rx_data[l], rx_keep[l]} = '0;
    logic unused;
    assign unused = ^{tx_valid[l], tx_last[l], tx_error[l], tx_data[l], tx_keep[l], up_link[l], lost[l], sim_links[l]};
  end
  logic unused_empty;

  logic          mem_req_valid[Memories], mem_req_ready[Memories], mem_rsp_valid[Memories], mem_rsp_ready[Memories];
  gs_board_memory_pkg::mem_req_t mem_req[Memories];
  gs_board_memory_pkg::mem_rsp_t mem_rsp[Memories];
  logic [Links-1:0] mac_tx_valid, mac_tx_ready, mac_tx_last, mac_rx_valid, mac_rx_last, mac_rx_error, up;
  logic [8*LinksDatapathBytes-1:0] mac_tx_data[Links], mac_rx_data[Links];
  logic [LinksDatapathBytes-1:0] mac_tx_keep[Links], mac_rx_keep[Links];

  gs_sim_surroundings #(
    .Links(Links)
  ) u_surroundings (
    .clk_i,
    .rst_ni,
    .mem_req_valid_i(mem_req_valid),
    .mem_req_ready_o(mem_req_ready),
    .mem_req_i      (mem_req),
    .mem_rsp_valid_o(mem_rsp_valid),
    .mem_rsp_ready_i(mem_rsp_ready),
    .mem_rsp_o      (mem_rsp),
    .mac_tx_valid_i (mac_tx_valid),
    .mac_tx_ready_o (mac_tx_ready),
    .mac_tx_data_i  (mac_tx_data),
    .mac_tx_keep_i  (mac_tx_keep),
    .mac_tx_last_i  (mac_tx_last),
    .mac_rx_valid_o (mac_rx_valid),
    .mac_rx_data_o  (mac_rx_data),
    .mac_rx_keep_o  (mac_rx_keep),
    .mac_rx_last_o  (mac_rx_last),
    .mac_rx_error_o (mac_rx_error),
    .up_i           (up),
    .loss_i         (never),
    .damage_i       (never),
    .cut_i          (zero),
    .seed_i         (seed),
    .tx_valid_o     (tx_valid),
    .tx_data_o      (tx_data),
    .tx_keep_o      (tx_keep),
    .tx_last_o      (tx_last),
    .tx_error_o     (tx_error),
    .rx_valid_i     (zero),
    .rx_data_i      (rx_data),
    .rx_keep_i      (rx_keep),
    .rx_last_i      (zero),
    .rx_error_i     (zero),
    .up_o           (up_link),
    .lost_o         (lost)
  );

  gs_link_pkg::counters_t sim_links[Links];

  gs_board #(
    .Links      (Links),
    .Jobs       (Jobs),
    .Accelerator(1'b1)
  ) u_board (
    .clk_i,
    .rst_ni,
    .board_i          ('0),
    .ready_o,
    .mem_req_valid_o  (mem_req_valid),
    .mem_req_ready_i  (mem_req_ready),
    .mem_req_o        (mem_req),
    .mem_rsp_valid_i  (mem_rsp_valid),
    .mem_rsp_ready_o  (mem_rsp_ready),
    .mem_rsp_i        (mem_rsp),
    .host_in_valid_i,
    .host_in_ready_o,
    .host_in_i,
    .host_out_valid_o,
    .host_out_ready_i ('1),
    .host_out_o,
    .send_open_valid_i('0),
    .send_open_ready_o(),
    .send_open_i      ('0),
    .s_axis_tvalid_i  ('0),
    .s_axis_tready_o  (),
    .s_axis_tdata_i   ('0),
    .recv_open_valid_i('0),
    .recv_open_ready_o(),
    .recv_open_i      ('0),
    .m_axis_tvalid_o  (),
    .m_axis_tready_i  ('0),
    .m_axis_tdata_o   (),
    .m_axis_tkeep_o   (),
    .m_axis_tlast_o   (),
    .collective_i     ('0),
    .collective_o     (),
    .mac_tx_valid_o   (mac_tx_valid),
    .mac_tx_ready_i   (mac_tx_ready),
    .mac_tx_data_o    (mac_tx_data),
    .mac_tx_keep_o    (mac_tx_keep),
    .mac_tx_last_o    (mac_tx_last),
    .mac_rx_valid_i   (mac_rx_valid),
    .mac_rx_data_i    (mac_rx_data),
    .mac_rx_keep_i    (mac_rx_keep),
    .mac_rx_last_i    (mac_rx_last),
    .mac_rx_error_i   (mac_rx_error),
    .up_o             (up),
    .counters_o       (sim_links),
    .empty_o          (unused_empty)
  );
endmodule
