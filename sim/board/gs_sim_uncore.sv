// SPDX-License-Identifier: Apache-2.0

/// Simulation top: gs_board without its tiles (gs_board_uncore), and its surroundings. gs_sim_mesh_tile is a tile.
///
/// All ports are registered, except the host's: there an incoming flit is valid only if it is accepted, and outgoing
/// flits are always accepted.
module gs_sim_uncore
  import gs_board_memory_pkg::Memories;
  import gs_board_pkg::CollectiveLanes;
  import gs_board_pkg::StreamLanes;
  import gs_board_pkg::collective_in_t;
  import gs_board_pkg::collective_out_t;
  import gs_noc_pkg::Vnets;
  import gs_stream_pkg::send_open_t;
  import gs_stream_pkg::recv_open_t;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// simulated links, 1 to 8
  parameter int unsigned Links = 4,
  /// jobs in which a board can take part
  parameter int unsigned Jobs  = 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic     [11:0]           board_i,
  /// the tables are cleared
  output logic                      ready_o,
  // Memory, one stream per cache
  input  logic                      mem_req_valid_i[Tiles*TileCaches],
  output logic                      mem_req_ready_o[Tiles*TileCaches],
  input  mem_req_t                  mem_req_i[Tiles*TileCaches],
  output logic                      mem_rsp_valid_o[Tiles*TileCaches],
  input  logic                      mem_rsp_ready_i[Tiles*TileCaches],
  output mem_rsp_t                  mem_rsp_o[Tiles*TileCaches],
  // Links of the mesh's exits
  input  logic          [Vnets-1:0] mesh_in_valid_i[RouterMeshPorts],
  input  flit_t                     mesh_in_i[RouterMeshPorts],
  output logic          [Vnets-1:0] mesh_in_credit_o[RouterMeshPorts],
  output logic          [Vnets-1:0] mesh_out_valid_o[RouterMeshPorts],
  output flit_t                     mesh_out_o[RouterMeshPorts],
  input  logic          [Vnets-1:0] mesh_out_credit_i[RouterMeshPorts],
  // The host at the switch's local port
  input  logic          [Vnets-1:0] host_in_valid_i,
  output logic          [Vnets-1:0] host_in_ready_o,
  input  flit_t                     host_in_i,
  output logic          [Vnets-1:0] host_out_valid_o,
  output flit_t                     host_out_o,
  // Debug buses of the tiles
  output logic                      dbg_in_valid_o[Tiles],
  output logic     [7:0]            dbg_in_data_o,
  input  logic                      dbg_in_ready_i[Tiles],
  input  logic                      dbg_out_valid_i[Tiles],
  input  logic     [7:0]            dbg_out_data_i[Tiles],
  output logic                      dbg_out_ready_o[Tiles],
  // Idle detection
  input  gs_idle_pkg::idle_status_t idle_i[Tiles],
  input  logic                      started_i[Tiles],
  output gs_idle_pkg::idle_command_t idle_command_o[Tiles],
  // Settings of the tiles: job, host of their reports, cluster
  output logic     [4:0]            job_o[Tiles],
  output logic     [31:0]           host_o[Tiles],
  output gs_address_pkg::cluster_t  cluster_o,
  // Kernels of the streaming ports: channels to a rank and from a rank, and elements. A board's rank is its number.
  input  logic                      send_valid_i[StreamLanes],
  output logic                      send_ready_o[StreamLanes],
  input  logic     [2:0]            send_element_i[StreamLanes],
  input  logic     [7:0]            send_rank_i[StreamLanes],
  input  logic     [31:0]           send_count_i[StreamLanes],
  input  logic                      s_valid_i[StreamLanes],
  output logic                      s_ready_o[StreamLanes],
  input  logic     [63:0]           s_data_i[StreamLanes],
  input  logic                      recv_valid_i[StreamLanes],
  output logic                      recv_ready_o[StreamLanes],
  input  logic     [2:0]            recv_element_i[StreamLanes],
  input  logic     [7:0]            recv_rank_i[StreamLanes],
  input  logic     [31:0]           recv_count_i[StreamLanes],
  output logic                      m_valid_o[StreamLanes],
  input  logic                      m_ready_i[StreamLanes],
  output logic     [63:0]           m_data_o[StreamLanes],
  // Kernels of the blocks of collectives: collectives, elements that kernels supply, results that they receive
  input  logic                      open_valid_i[CollectiveLanes],
  output logic                      open_ready_o[CollectiveLanes],
  input  logic     [2:0]            open_kind_i[CollectiveLanes],
  input  logic     [2:0]            open_element_i[CollectiveLanes],
  input  logic     [1:0]            open_op_i[CollectiveLanes],
  input  logic     [7:0]            open_root_i[CollectiveLanes],
  input  logic     [31:0]           open_count_i[CollectiveLanes],
  input  logic                      give_valid_i[CollectiveLanes],
  output logic                      give_ready_o[CollectiveLanes],
  input  logic     [63:0]           give_data_i[CollectiveLanes],
  output logic                      take_valid_o[CollectiveLanes],
  input  logic                      take_ready_i[CollectiveLanes],
  output logic     [63:0]           take_data_o[CollectiveLanes],
  // Wires: probabilities of loss and damage in units of 2^-20, outgoing wires that are cut, seeds of random numbers
  input  logic     [20:0]           loss_i[Links],
  input  logic     [20:0]           damage_i[Links],
  input  logic                      cut_i[Links],
  input  logic     [31:0]           seed_i[Links],
  output logic                      tx_valid_o[Links],
  output logic     [63:0]           tx_data_o[Links],
  output logic     [7:0]            tx_keep_o[Links],
  output logic                      tx_last_o[Links],
  output logic                      tx_error_o[Links],
  input  logic                      rx_valid_i[Links],
  input  logic     [63:0]           rx_data_i[Links],
  input  logic     [7:0]            rx_keep_i[Links],
  input  logic                      rx_last_i[Links],
  input  logic                      rx_error_i[Links],
  output logic                      up_o[Links],
  /// frames that outgoing wires have lost or damaged
  output logic     [31:0]           lost_o[Links],
  /// no packet is in the switch
  output logic                      empty_o
);
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
    .loss_i,
    .damage_i,
    .cut_i,
    .seed_i,
    .tx_valid_o,
    .tx_data_o,
    .tx_keep_o,
    .tx_last_o,
    .tx_error_o,
    .rx_valid_i,
    .rx_data_i,
    .rx_keep_i,
    .rx_last_i,
    .rx_error_i,
    .up_o,
    .lost_o
  );

  logic [StreamLanes-1:0] send_valid, send_ready, s_valid, s_ready, recv_valid, recv_ready, m_valid, m_ready;
  send_open_t [StreamLanes-1:0] send_open;
  recv_open_t [StreamLanes-1:0] recv_open;
  logic [StreamLanes-1:0][8*StreamWidthBytes-1:0] s_data, m_data;
  for (genvar p = 0; p < StreamLanes; p++) begin : gen_kernel
    assign {send_valid[p], s_valid[p], recv_valid[p], m_ready[p]} =
        {send_valid_i[p], s_valid_i[p], recv_valid_i[p], m_ready_i[p]};
    assign {send_ready_o[p], s_ready_o[p], recv_ready_o[p], m_valid_o[p]} =
        {send_ready[p], s_ready[p], recv_ready[p], m_valid[p]};
    // Kernels send to the port of the same number.
    assign send_open[p] = '{
      rank:    send_rank_i[p],
      element: smi_type_e'(send_element_i[p]),
      own:     8'(board_i),
      dest:    {EndpointStream, 3'd0, 12'(send_rank_i[p]), 6'd0, 8'(p)},
      count:   send_count_i[p]
    };
    assign recv_open[p] = '{
      element: smi_type_e'(recv_element_i[p]), own: 8'(board_i), source: recv_rank_i[p], count: recv_count_i[p]
    };
    assign s_data[p]   = (8 * StreamWidthBytes)'(s_data_i[p]);
    assign m_data_o[p] = 64'(m_data[p]);
  end

  collective_in_t [CollectiveLanes-1:0] collective_in;
  collective_out_t [CollectiveLanes-1:0] collective_out;
  for (genvar b = 0; b < CollectiveLanes; b++) begin : gen_collective
    gs_stream_pkg::collective_open_t open;
    assign open = '{
      kind:    smi_collective_e'(open_kind_i[b]),
      element: smi_type_e'(open_element_i[b]),
      op:      smi_op_e'(open_op_i[b]),
      own:     8'(board_i),
      root:    open_root_i[b],
      count:   open_count_i[b]
    };
    assign collective_in[b] = '{
      open_valid: open_valid_i[b],
      open:       open,
      give_valid: give_valid_i[b],
      give:       (8 * StreamWidthBytes)'(give_data_i[b]),
      take_ready: take_ready_i[b]
    };
    assign open_ready_o[b] = collective_out[b].open_ready;
    assign give_ready_o[b] = collective_out[b].give_ready;
    assign take_valid_o[b] = collective_out[b].take_valid;
    assign take_data_o[b]  = 64'(collective_out[b].take);
    logic unused;
    assign unused = ^{collective_out[b].keep, collective_out[b].last};
  end

  // Read by the simulator's observers.
  gs_link_pkg::counters_t sim_links[Links]  /*verilator public_flat_rd*/;

  gs_board_uncore #(
    .Links(Links),
    .Jobs (Jobs)
  ) u_uncore (
    .clk_i,
    .rst_ni,
    .board_i,
    .ready_o,
    .cache_req_valid_i(mem_req_valid_i),
    .cache_req_ready_o(mem_req_ready_o),
    .cache_req_i      (mem_req_i),
    .cache_rsp_valid_o(mem_rsp_valid_o),
    .cache_rsp_ready_i(mem_rsp_ready_i),
    .cache_rsp_o      (mem_rsp_o),
    .mem_req_valid_o  (mem_req_valid),
    .mem_req_ready_i  (mem_req_ready),
    .mem_req_o        (mem_req),
    .mem_rsp_valid_i  (mem_rsp_valid),
    .mem_rsp_ready_o  (mem_rsp_ready),
    .mem_rsp_i        (mem_rsp),
    .mesh_in_valid_i,
    .mesh_in_i,
    .mesh_in_credit_o,
    .mesh_out_valid_o,
    .mesh_out_o,
    .mesh_out_credit_i,
    .host_in_valid_i,
    .host_in_ready_o,
    .host_in_i,
    .host_out_valid_o,
    .host_out_ready_i ('1),
    .host_out_o,
    .dbg_in_valid_o,
    .dbg_in_data_o,
    .dbg_in_ready_i,
    .dbg_out_valid_i,
    .dbg_out_data_i,
    .dbg_out_ready_o,
    .idle_i,
    .started_i,
    .idle_command_o,
    .job_o,
    .host_o,
    .cluster_o,
    .send_open_valid_i(send_valid),
    .send_open_ready_o(send_ready),
    .send_open_i      (send_open),
    .s_axis_tvalid_i  (s_valid),
    .s_axis_tready_o  (s_ready),
    .s_axis_tdata_i   (s_data),
    .recv_open_valid_i(recv_valid),
    .recv_open_ready_o(recv_ready),
    .recv_open_i      (recv_open),
    .m_axis_tvalid_o  (m_valid),
    .m_axis_tready_i  (m_ready),
    .m_axis_tdata_o   (m_data),
    .m_axis_tkeep_o   (),
    .m_axis_tlast_o   (),
    .collective_i     (collective_in),
    .collective_o     (collective_out),
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
    .empty_o
  );
endmodule
