// SPDX-License-Identifier: Apache-2.0

/// A board without its tiles: the path to its memories, the reader of multicast records, and the fabric.
///
///     caches of the tiles <=> gs_board_memory <=> DRAMs and SRAMs
///                                  ^ records
///     exits of the mesh   <=> gs_board_fabric <=> links, host
///
/// All outputs to tiles are registered, and a simulator may evaluate the tiles and this block separately.
module gs_board_uncore
  import gs_board_memory_pkg::Memories;
  import gs_board_pkg::CollectiveLanes;
  import gs_board_pkg::StreamLanes;
  import gs_board_pkg::collective_in_t;
  import gs_board_pkg::collective_out_t;
  import gs_multicast_pkg::*;
  import gs_noc_pkg::Vnets;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// links, 1 to 8
  parameter  int unsigned Links     = 4,
  /// job slots, 1 to 16
  parameter  int unsigned Jobs      = 1,
  /// 1: multicast routers at exits, links and host
  parameter  bit          Multicast = 1'b1,
  /// sizes of the links
  parameter  gs_link_pkg::shape_t Shape = gs_link_pkg::DefaultShape,
  localparam int unsigned TagW      = $clog2(RouterMeshPorts + Links + 1) + 4 + 1 + SwitchVcBits
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic     [11:0]           board_i,
  /// the tables are cleared
  output logic                      ready_o,
  // Caches of the tiles, tile by tile
  input  logic                      cache_req_valid_i[Tiles*TileCaches],
  output logic                      cache_req_ready_o[Tiles*TileCaches],
  input  mem_req_t                  cache_req_i[Tiles*TileCaches],
  output logic                      cache_rsp_valid_o[Tiles*TileCaches],
  input  logic                      cache_rsp_ready_i[Tiles*TileCaches],
  output mem_rsp_t                  cache_rsp_o[Tiles*TileCaches],
  // Memories
  output logic                      mem_req_valid_o[Memories],
  input  logic                      mem_req_ready_i[Memories],
  output gs_board_memory_pkg::mem_req_t mem_req_o[Memories],
  input  logic                      mem_rsp_valid_i[Memories],
  output logic                      mem_rsp_ready_o[Memories],
  input  gs_board_memory_pkg::mem_rsp_t mem_rsp_i[Memories],
  // Exits of the mesh
  input  logic          [Vnets-1:0] mesh_in_valid_i[RouterMeshPorts],
  input  flit_t                     mesh_in_i[RouterMeshPorts],
  output logic          [Vnets-1:0] mesh_in_credit_o[RouterMeshPorts],
  output logic          [Vnets-1:0] mesh_out_valid_o[RouterMeshPorts],
  output flit_t                     mesh_out_o[RouterMeshPorts],
  input  logic          [Vnets-1:0] mesh_out_credit_i[RouterMeshPorts],
  // Host, as at gs_board_fabric
  input  logic          [Vnets-1:0] host_in_valid_i,
  output logic          [Vnets-1:0] host_in_ready_o,
  input  flit_t                     host_in_i,
  output logic          [Vnets-1:0] host_out_valid_o,
  input  logic          [Vnets-1:0] host_out_ready_i,
  output flit_t                     host_out_o,
  // Debug buses of the tiles
  output logic                      dbg_in_valid_o[Tiles],
  output logic     [7:0]            dbg_in_data_o,
  input  logic                      dbg_in_ready_i[Tiles],
  input  logic                      dbg_out_valid_i[Tiles],
  input  logic     [7:0]            dbg_out_data_i[Tiles],
  output logic                      dbg_out_ready_o[Tiles],
  // Idle detection: the tiles' states; they have a started thread
  input  gs_idle_pkg::idle_status_t idle_i[Tiles],
  input  logic                      started_i[Tiles],
  output gs_idle_pkg::idle_command_t idle_command_o[Tiles],
  // Settings of the tiles: job, host of their reports, cluster
  output logic     [4:0]            job_o[Tiles],
  output logic     [31:0]           host_o[Tiles],
  output gs_address_pkg::cluster_t  cluster_o,
  // Kernels of the streaming ports, as in gs_stream_endpoint; without streaming ports inputs are unused
  input  logic [StreamLanes-1:0]    send_open_valid_i,
  output logic [StreamLanes-1:0]    send_open_ready_o,
  input  gs_stream_pkg::send_open_t [StreamLanes-1:0] send_open_i,
  input  logic [StreamLanes-1:0]    s_axis_tvalid_i,
  output logic [StreamLanes-1:0]    s_axis_tready_o,
  input  logic [StreamLanes-1:0][8*StreamWidthBytes-1:0] s_axis_tdata_i,
  input  logic [StreamLanes-1:0]    recv_open_valid_i,
  output logic [StreamLanes-1:0]    recv_open_ready_o,
  input  gs_stream_pkg::recv_open_t [StreamLanes-1:0] recv_open_i,
  output logic [StreamLanes-1:0]    m_axis_tvalid_o,
  input  logic [StreamLanes-1:0]    m_axis_tready_i,
  output logic [StreamLanes-1:0][8*StreamWidthBytes-1:0] m_axis_tdata_o,
  output logic [StreamLanes-1:0][StreamWidthBytes-1:0] m_axis_tkeep_o,
  output logic [StreamLanes-1:0]    m_axis_tlast_o,
  // Kernels of the blocks of collectives
  input  collective_in_t  [CollectiveLanes-1:0] collective_i,
  output collective_out_t [CollectiveLanes-1:0] collective_o,
  // MACs of the links: beats of links.datapath_bytes bytes, the first byte in the low bits
  output logic     [Links-1:0]      mac_tx_valid_o,
  input  logic     [Links-1:0]      mac_tx_ready_i,
  output logic [8*LinksDatapathBytes-1:0] mac_tx_data_o[Links],
  output logic [LinksDatapathBytes-1:0] mac_tx_keep_o[Links],
  output logic     [Links-1:0]      mac_tx_last_o,
  input  logic     [Links-1:0]      mac_rx_valid_i,
  input  logic [8*LinksDatapathBytes-1:0] mac_rx_data_i[Links],
  input  logic [LinksDatapathBytes-1:0] mac_rx_keep_i[Links],
  input  logic     [Links-1:0]      mac_rx_last_i,
  input  logic     [Links-1:0]      mac_rx_error_i,
  output logic     [Links-1:0]      up_o,
  // For observation: counters of the links; no packet is in the switch
  output gs_link_pkg::counters_t    counters_o[Links],
  output logic                      empty_o
);
  // ---------------------------------------------------------------- memory
  logic     record_valid, record_ready, answer_valid, answer_ready;
  mem_req_t record;
  mem_rsp_t answer;
  logic     read_valid, read_ready, beat_valid, beat_ready;
  logic [BeatAddrW-1:0] read_beat;
  logic [TagW-1:0] read_tag, beat_tag;
  beat_t beat;

  gs_board_memory #(.Records(Multicast)) u_memory (
    .clk_i,
    .rst_ni,
    .cache_req_valid_i,
    .cache_req_ready_o,
    .cache_req_i,
    .cache_rsp_valid_o,
    .cache_rsp_ready_i,
    .cache_rsp_o,
    .record_req_valid_i(record_valid),
    .record_req_ready_o(record_ready),
    .record_req_i      (record),
    .record_rsp_valid_o(answer_valid),
    .record_rsp_ready_i(answer_ready),
    .record_rsp_o      (answer),
    .mem_req_valid_o,
    .mem_req_ready_i,
    .mem_req_o,
    .mem_rsp_valid_i,
    .mem_rsp_ready_o,
    .mem_rsp_i
  );

  if (Multicast) begin : gen_records
    gs_board_records #(.TagW(TagW)) u_records (
      .clk_i,
      .rst_ni,
      .req_valid_i(read_valid),
      .req_ready_o(read_ready),
      .req_beat_i (read_beat),
      .req_tag_i  (read_tag),
      .rsp_valid_o(beat_valid),
      .rsp_ready_i(beat_ready),
      .rsp_tag_o  (beat_tag),
      .rsp_o      (beat),
      .mem_valid_o(record_valid),
      .mem_ready_i(record_ready),
      .mem_req_o  (record),
      .mem_valid_i(answer_valid),
      .mem_ready_o(answer_ready),
      .mem_rsp_i  (answer)
    );
  end else begin : gen_no_records
    assign {read_ready, beat_valid, beat_tag, beat} = '0;
    assign {record_valid, record, answer_ready}     = '0;
    logic unused;
    assign unused = ^{read_valid, read_beat, read_tag, beat_ready, record_ready, answer_valid, answer};
  end

  // ----------------------------------------------------------------- tiles
  gs_idle_pkg::idle_status_t  [Tiles-1:0] status;
  gs_idle_pkg::idle_command_t [Tiles-1:0] command;
  logic [Tiles-1:0] started, debug_in_valid, debug_in_ready, debug_out_valid, debug_out_ready;
  logic [Tiles-1:0][4:0] job;
  logic [Tiles-1:0][31:0] host;

  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    assign status[t]          = idle_i[t];
    assign started[t]         = started_i[t];
    assign idle_command_o[t]  = command[t];
    assign job_o[t]           = job[t];
    assign host_o[t]          = host[t];
    assign dbg_in_valid_o[t]  = debug_in_valid[t];
    assign debug_in_ready[t]  = dbg_in_ready_i[t];
    assign debug_out_valid[t] = dbg_out_valid_i[t];
    assign dbg_out_ready_o[t] = debug_out_ready[t];
  end

  // --------------------------------------------------------------- fabric
  gs_board_fabric #(
    .Links    (Links),
    .Jobs     (Jobs),
    .Multicast(Multicast),
    .Shape    (Shape)
  ) u_fabric (
    .clk_i,
    .rst_ni,
    .board_i,
    .ready_o,
    .status_i         (status),
    .started_i        (started),
    .debug_in_valid_o (debug_in_valid),
    .debug_in_data_o  (dbg_in_data_o),
    .debug_in_ready_i (debug_in_ready),
    .debug_out_valid_i(debug_out_valid),
    .debug_out_data_i (dbg_out_data_i),
    .debug_out_ready_o(debug_out_ready),
    .command_o        (command),
    .job_o            (job),
    .host_o           (host),
    .cluster_o,
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
    .host_out_ready_i,
    .host_out_o,
    .send_open_valid_i,
    .send_open_ready_o,
    .send_open_i,
    .s_axis_tvalid_i,
    .s_axis_tready_o,
    .s_axis_tdata_i,
    .recv_open_valid_i,
    .recv_open_ready_o,
    .recv_open_i,
    .m_axis_tvalid_o,
    .m_axis_tready_i,
    .m_axis_tdata_o,
    .m_axis_tkeep_o,
    .m_axis_tlast_o,
    .collective_i,
    .collective_o,
    .mac_tx_valid_o,
    .mac_tx_ready_i,
    .mac_tx_data_o,
    .mac_tx_keep_o,
    .mac_tx_last_o,
    .mac_rx_valid_i,
    .mac_rx_data_i,
    .mac_rx_keep_i,
    .mac_rx_last_i,
    .mac_rx_error_i,
    .up_o,
    .counters_o,
    .req_valid_o      (read_valid),
    .req_ready_i      (read_ready),
    .req_beat_o       (read_beat),
    .req_tag_o        (read_tag),
    .rsp_valid_i      (beat_valid),
    .rsp_ready_o      (beat_ready),
    .rsp_tag_i        (beat_tag),
    .rsp_i            (beat),
    .empty_o
  );
endmodule
