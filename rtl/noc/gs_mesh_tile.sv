// SPDX-License-Identifier: Apache-2.0

/// A tile of the mesh: gs_tile, its router, and registers at all ports.
///
/// All outputs are registered and all inputs enter registers. So a simulator evaluates a tile once a cycle, and a wire
/// across the chip costs no time in the tile's own logic.
module gs_mesh_tile
  import gs_tile_pkg::*;
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
#(
  /// hash of the configuration, which the host compares with its own
  parameter logic [31:0] ConfigHash = '0,
  /// threads of the board
  parameter int unsigned BoardThreads = MeshWidth * MeshHeight * ThreadsPerTile,
  /// 1: the accelerator slot contains the example accelerator
  parameter bit Accelerator = 1'b0
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  // Board, row and column of the tile, address of the host, job and epoch, size of the cluster; constant
  input  logic     [11:0]                    board_i,
  input  logic     [3:0]                     tile_y_i,
  input  logic     [3:0]                     tile_x_i,
  input  logic     [31:0]                    host_i,
  input  logic     [6:0]                     job_i,
  input  gs_address_pkg::cluster_t           cluster_i,
  // Debug bus, one byte in each direction
  input  logic                               dbg_in_valid_i,
  input  logic     [7:0]                     dbg_in_data_i,
  output logic                               dbg_in_ready_o,
  output logic                               dbg_out_valid_o,
  output logic     [7:0]                     dbg_out_data_o,
  input  logic                               dbg_out_ready_i,
  // Memory, one stream per cache
  output logic     [TileCaches-1:0]          mem_req_valid_o,
  input  logic     [TileCaches-1:0]          mem_req_ready_i,
  output mem_req_t [TileCaches-1:0]          mem_req_o,
  input  logic     [TileCaches-1:0]          mem_rsp_valid_i,
  output logic     [TileCaches-1:0]          mem_rsp_ready_o,
  input  mem_rsp_t [TileCaches-1:0]          mem_rsp_i,
  // Mesh: North, South, East, West (dir_e as index); a flit with its network one-hot, credits in return
  input  logic     [Local-1:0][Vnets-1:0]    mesh_in_valid_i,
  input  flit_t    [Local-1:0]               mesh_in_i,
  output logic     [Local-1:0][Vnets-1:0]    mesh_in_credit_o,
  output logic     [Local-1:0][Vnets-1:0]    mesh_out_valid_o,
  output flit_t    [Local-1:0]               mesh_out_o,
  input  logic     [Local-1:0][Vnets-1:0]    mesh_out_credit_i,
  // Idle detection: the tile's state, one cycle late; whether the program has begun; the board's release and verdict
  output gs_idle_pkg::idle_status_t          idle_o,
  output logic                               started_o,
  input  gs_idle_pkg::idle_command_t         idle_command_i
);
  // ----------------------------------------------------------------- tile
  logic dbg_in_valid, dbg_in_ready, dbg_out_valid, dbg_out_ready;
  logic [7:0] dbg_in, dbg_out;
  logic [TileCaches-1:0] req_valid, req_ready, rsp_valid, rsp_ready;
  mem_req_t [TileCaches-1:0] req;
  mem_rsp_t [TileCaches-1:0] rsp;
  logic [Vnets-1:0] net_in_valid, net_in_ready, net_out_valid, net_out_ready;
  flit_t net_in, net_out;
  gs_idle_pkg::idle_status_t idle, idle_q;
  gs_idle_pkg::idle_command_t command_q;
  logic started, started_q;

  gs_tile #(
    .ConfigHash  (ConfigHash),
    .BoardThreads(BoardThreads),
    .Accelerator (Accelerator),
    .Alone       (1'b0)
  ) u_tile (
    .clk_i,
    .rst_ni,
    .board_i,
    .tile_y_i,
    .tile_x_i,
    .host_i,
    .job_i,
    .dbg_in_valid_i (dbg_in_valid),
    .dbg_in_data_i  (dbg_in),
    .dbg_in_ready_o (dbg_in_ready),
    .dbg_out_valid_o(dbg_out_valid),
    .dbg_out_data_o (dbg_out),
    .dbg_out_ready_i(dbg_out_ready),
    .mem_req_valid_o(req_valid),
    .mem_req_ready_i(req_ready),
    .mem_req_o      (req),
    .mem_rsp_valid_i(rsp_valid),
    .mem_rsp_ready_o(rsp_ready),
    .mem_rsp_i      (rsp),
    .net_in_valid_i (net_in_valid),
    .net_in_ready_o (net_in_ready),
    .net_in_i       (net_in),
    .net_out_valid_o(net_out_valid),
    .net_out_ready_i(net_out_ready),
    .net_out_o      (net_out),
    .cluster_i,
    .idle_o         (idle),
    .started_o      (started),
    .idle_command_i (command_q)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      started_q <= 1'b0;
      command_q <= '0;
      idle_q    <= '0;
    end else begin
      started_q <= started;
      command_q <= idle_command_i;
      idle_q    <= idle;
    end
  end
  assign idle_o    = idle_q;
  assign started_o = started_q;

  // ------------------------------------------------------- debug and memory
  gs_skid #(.data_t(logic [7:0])) u_dbg_in (
    .clk_i,
    .rst_ni,
    .in_valid_i (dbg_in_valid_i),
    .in_ready_o (dbg_in_ready_o),
    .in_data_i  (dbg_in_data_i),
    .out_valid_o(dbg_in_valid),
    .out_ready_i(dbg_in_ready),
    .out_data_o (dbg_in)
  );
  gs_skid #(.data_t(logic [7:0])) u_dbg_out (
    .clk_i,
    .rst_ni,
    .in_valid_i (dbg_out_valid),
    .in_ready_o (dbg_out_ready),
    .in_data_i  (dbg_out),
    .out_valid_o(dbg_out_valid_o),
    .out_ready_i(dbg_out_ready_i),
    .out_data_o (dbg_out_data_o)
  );
  for (genvar c = 0; c < TileCaches; c++) begin : gen_memory
    gs_skid #(.data_t(mem_req_t)) u_req (
      .clk_i,
      .rst_ni,
      .in_valid_i (req_valid[c]),
      .in_ready_o (req_ready[c]),
      .in_data_i  (req[c]),
      .out_valid_o(mem_req_valid_o[c]),
      .out_ready_i(mem_req_ready_i[c]),
      .out_data_o (mem_req_o[c])
    );
    gs_skid #(.data_t(mem_rsp_t)) u_rsp (
      .clk_i,
      .rst_ni,
      .in_valid_i (mem_rsp_valid_i[c]),
      .in_ready_o (mem_rsp_ready_o[c]),
      .in_data_i  (mem_rsp_i[c]),
      .out_valid_o(rsp_valid[c]),
      .out_ready_i(rsp_ready[c]),
      .out_data_o (rsp[c])
    );
  end

  // ---------------------------------------------------------------- router
  logic [Vnets-1:0] to_router_valid, to_router_credit, to_tile_valid, to_tile_credit;
  flit_t to_router, to_tile;

  gs_mesh_local u_local (
    .clk_i,
    .rst_ni,
    .tile_valid_i(net_out_valid),
    .tile_ready_o(net_out_ready),
    .tile_i      (net_out),
    .tile_valid_o(net_in_valid),
    .tile_ready_i(net_in_ready),
    .tile_o      (net_in),
    .out_valid_o (to_router_valid),
    .out_o       (to_router),
    .out_credit_i(to_router_credit),
    .in_valid_i  (to_tile_valid),
    .in_i        (to_tile),
    .in_credit_o (to_tile_credit)
  );

  gs_mesh_router u_router (
    .clk_i,
    .rst_ni,
    .board_i,
    .tile_y_i,
    .tile_x_i,
    .in_valid_i  ({to_router_valid, mesh_in_valid_i}),
    .in_i        ({to_router, mesh_in_i}),
    .in_credit_o ({to_router_credit, mesh_in_credit_o}),
    .out_valid_o ({to_tile_valid, mesh_out_valid_o}),
    .out_o       ({to_tile, mesh_out_o}),
    .out_credit_i({to_tile_credit, mesh_out_credit_i})
  );
endmodule
