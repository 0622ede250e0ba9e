// SPDX-License-Identifier: Apache-2.0

/// A board: tiles in a mesh, the path to its memories, and the fabric with links, control unit and host port.
///
///     gs_mesh_tile x Tiles <=> gs_board_uncore <=> DRAMs and SRAMs, links, host
///
/// It is complete without its memory controllers and the MACs of its links. After reset it knows only its number; all
/// settings arrive in packets to its control unit (gs_board_fabric). A single board is a cluster of one.
module gs_board
  import gs_board_memory_pkg::Memories;
  import gs_board_pkg::CollectiveLanes;
  import gs_board_pkg::StreamLanes;
  import gs_board_pkg::collective_in_t;
  import gs_board_pkg::collective_out_t;
  import gs_noc_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// links, 1 to 8
  parameter int unsigned Links       = 4,
  /// job slots, 1 to 16
  parameter int unsigned Jobs        = 1,
  /// 1: multicast routers at exits, links and host
  parameter bit          Multicast   = 1'b1,
  /// 1: the accelerator slots contain the example accelerator
  parameter bit          Accelerator = 1'b0,
  /// sizes of the links
  parameter gs_link_pkg::shape_t Shape = gs_link_pkg::DefaultShape
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic     [11:0]           board_i,
  /// the tables are cleared
  output logic                      ready_o,
  // Memories
  output logic                      mem_req_valid_o[Memories],
  input  logic                      mem_req_ready_i[Memories],
  output gs_board_memory_pkg::mem_req_t mem_req_o[Memories],
  input  logic                      mem_rsp_valid_i[Memories],
  output logic                      mem_rsp_ready_o[Memories],
  input  gs_board_memory_pkg::mem_rsp_t mem_rsp_i[Memories],
  // Host, as at gs_board_fabric
  input  logic          [Vnets-1:0] host_in_valid_i,
  output logic          [Vnets-1:0] host_in_ready_o,
  input  flit_t                     host_in_i,
  output logic          [Vnets-1:0] host_out_valid_o,
  input  logic          [Vnets-1:0] host_out_ready_i,
  output flit_t                     host_out_o,
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
  // Directions as indices
  localparam int unsigned N = 32'(North), S = 32'(South), E = 32'(East), W = 32'(West);

  logic     req_valid[Tiles*TileCaches], req_ready[Tiles*TileCaches];
  logic     rsp_valid[Tiles*TileCaches], rsp_ready[Tiles*TileCaches];
  mem_req_t req[Tiles*TileCaches];
  mem_rsp_t rsp[Tiles*TileCaches];
  gs_idle_pkg::idle_status_t idle[Tiles];
  gs_idle_pkg::idle_command_t command[Tiles];
  logic     started[Tiles];
  logic     debug_in_valid[Tiles], debug_in_ready[Tiles], debug_out_valid[Tiles], debug_out_ready[Tiles];
  logic     [7:0]  debug_in_data, debug_out_data[Tiles];
  logic     [4:0]  job[Tiles];
  logic     [31:0] host[Tiles];
  gs_address_pkg::cluster_t cluster;
  // Links by tile and direction, as outputs; credits by the tile whose input returns them
  logic  [Local-1:0][Vnets-1:0] out_valid[Tiles], in_valid[Tiles], in_credit[Tiles], out_credit[Tiles];
  flit_t [Local-1:0]            out[Tiles], in[Tiles];
  logic [Vnets-1:0] rim_in_valid[RouterMeshPorts], rim_in_credit[RouterMeshPorts];
  logic [Vnets-1:0] rim_out_valid[RouterMeshPorts], rim_out_credit[RouterMeshPorts];
  flit_t            rim_in[RouterMeshPorts], rim_out[RouterMeshPorts];

  // The exit in a column, RouterMeshPorts if the column has none.
  function automatic int unsigned exit_at(int unsigned column);
    for (int unsigned e = 0; e < RouterMeshPorts; e++) if (exit_column(e) == column) return e;
    return RouterMeshPorts;
  endfunction

  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    localparam int unsigned X = t % MeshWidth;
    localparam int unsigned Y = t / MeshWidth;
    logic     [TileCaches-1:0] tile_req_valid, tile_req_ready, tile_rsp_valid, tile_rsp_ready;
    mem_req_t [TileCaches-1:0] tile_req;
    mem_rsp_t [TileCaches-1:0] tile_rsp;

    for (genvar c = 0; c < TileCaches; c++) begin : gen_cache
      localparam int unsigned Cache = t * TileCaches + c;
      assign req_valid[Cache]  = tile_req_valid[c];
      assign req[Cache]        = tile_req[c];
      assign tile_req_ready[c] = req_ready[Cache];
      assign tile_rsp_valid[c] = rsp_valid[Cache];
      assign tile_rsp[c]       = rsp[Cache];
      assign rsp_ready[Cache]  = tile_rsp_ready[c];
    end

    gs_mesh_tile #(
      .Accelerator(Accelerator)
    ) u_tile (
      .clk_i,
      .rst_ni,
      .board_i,
      .tile_y_i         (4'(Y)),
      .tile_x_i         (4'(X)),
      .host_i           (host[t]),
      .job_i            ({job[t], 2'd0}),
      .cluster_i        (cluster),
      .dbg_in_valid_i   (debug_in_valid[t]),
      .dbg_in_data_i    (debug_in_data),
      .dbg_in_ready_o   (debug_in_ready[t]),
      .dbg_out_valid_o  (debug_out_valid[t]),
      .dbg_out_data_o   (debug_out_data[t]),
      .dbg_out_ready_i  (debug_out_ready[t]),
      .mem_req_valid_o  (tile_req_valid),
      .mem_req_ready_i  (tile_req_ready),
      .mem_req_o        (tile_req),
      .mem_rsp_valid_i  (tile_rsp_valid),
      .mem_rsp_ready_o  (tile_rsp_ready),
      .mem_rsp_i        (tile_rsp),
      .mesh_in_valid_i  (in_valid[t]),
      .mesh_in_i        (in[t]),
      .mesh_in_credit_o (in_credit[t]),
      .mesh_out_valid_o (out_valid[t]),
      .mesh_out_o       (out[t]),
      .mesh_out_credit_i(out_credit[t]),
      .idle_o           (idle[t]),
      .started_o        (started[t]),
      .idle_command_i   (command[t])
    );

    // Neighbours; inputs without a neighbour are idle. Exits are connected below.
    if (Y < MeshHeight - 1) begin : gen_north
      assign in_valid[t][N]   = out_valid[t+MeshWidth][S];
      assign in[t][N]         = out[t+MeshWidth][S];
      assign out_credit[t][N] = in_credit[t+MeshWidth][S];
    end else begin : gen_rim
      localparam int unsigned Exit = exit_at(X);
      if (Exit < RouterMeshPorts) begin : gen_exit
        assign in_valid[t][N]   = rim_in_valid[Exit];
        assign in[t][N]         = rim_in[Exit];
        assign out_credit[t][N] = rim_out_credit[Exit];
        assign rim_out_valid[Exit]  = out_valid[t][N];
        assign rim_out[Exit]        = out[t][N];
        assign rim_in_credit[Exit]  = in_credit[t][N];
      end else begin : gen_wall
        assign {in_valid[t][N], in[t][N], out_credit[t][N]} = '0;
        logic unused;
        assign unused = ^{out_valid[t][N], out[t][N], in_credit[t][N]};
      end
    end
    if (Y > 0) begin : gen_south
      assign in_valid[t][S]   = out_valid[t-MeshWidth][N];
      assign in[t][S]         = out[t-MeshWidth][N];
      assign out_credit[t][S] = in_credit[t-MeshWidth][N];
    end else begin : gen_wall_south
      assign {in_valid[t][S], in[t][S], out_credit[t][S]} = '0;
      logic unused;
      assign unused = ^{out_valid[t][S], out[t][S], in_credit[t][S]};
    end
    if (X < MeshWidth - 1) begin : gen_east
      assign in_valid[t][E]   = out_valid[t+1][W];
      assign in[t][E]         = out[t+1][W];
      assign out_credit[t][E] = in_credit[t+1][W];
    end else begin : gen_wall_east
      assign {in_valid[t][E], in[t][E], out_credit[t][E]} = '0;
      logic unused;
      assign unused = ^{out_valid[t][E], out[t][E], in_credit[t][E]};
    end
    if (X > 0) begin : gen_west
      assign in_valid[t][W]   = out_valid[t-1][E];
      assign in[t][W]         = out[t-1][E];
      assign out_credit[t][W] = in_credit[t-1][E];
    end else begin : gen_wall_west
      assign {in_valid[t][W], in[t][W], out_credit[t][W]} = '0;
      logic unused;
      assign unused = ^{out_valid[t][W], out[t][W], in_credit[t][W]};
    end
  end

  gs_board_uncore #(
    .Links    (Links),
    .Jobs     (Jobs),
    .Multicast(Multicast),
    .Shape    (Shape)
  ) u_uncore (
    .clk_i,
    .rst_ni,
    .board_i,
    .ready_o,
    .cache_req_valid_i(req_valid),
    .cache_req_ready_o(req_ready),
    .cache_req_i      (req),
    .cache_rsp_valid_o(rsp_valid),
    .cache_rsp_ready_i(rsp_ready),
    .cache_rsp_o      (rsp),
    .mem_req_valid_o,
    .mem_req_ready_i,
    .mem_req_o,
    .mem_rsp_valid_i,
    .mem_rsp_ready_o,
    .mem_rsp_i,
    .mesh_in_valid_i  (rim_out_valid),
    .mesh_in_i        (rim_out),
    .mesh_in_credit_o (rim_out_credit),
    .mesh_out_valid_o (rim_in_valid),
    .mesh_out_o       (rim_in),
    .mesh_out_credit_i(rim_in_credit),
    .host_in_valid_i,
    .host_in_ready_o,
    .host_in_i,
    .host_out_valid_o,
    .host_out_ready_i,
    .host_out_o,
    .dbg_in_valid_o   (debug_in_valid),
    .dbg_in_data_o    (debug_in_data),
    .dbg_in_ready_i   (debug_in_ready),
    .dbg_out_valid_i  (debug_out_valid),
    .dbg_out_data_i   (debug_out_data),
    .dbg_out_ready_o  (debug_out_ready),
    .idle_i           (idle),
    .started_i        (started),
    .idle_command_o   (command),
    .job_o            (job),
    .host_o           (host),
    .cluster_o        (cluster),
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
    .empty_o
  );
endmodule
