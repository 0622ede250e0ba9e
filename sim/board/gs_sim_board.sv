// SPDX-License-Identifier: Apache-2.0

/// Simulation top: a whole board in one model: one gs_sim_mesh_tile per position of the mesh, and gs_sim_board_uncore.
/// It is the reference of the split simulator (board.h), whose models are those two: both must agree in every cycle.
module gs_sim_board
  import gs_tile_pkg::*;
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  // Debug bus of each tile
  input  logic             dbg_in_valid_i[Tiles],
  input  logic [7:0]       dbg_in_data_i[Tiles],
  output logic             dbg_in_ready_o[Tiles],
  output logic             dbg_out_valid_o[Tiles],
  output logic [7:0]       dbg_out_data_o[Tiles],
  // The host, at each exit
  input  logic [Vnets-1:0] host_in_valid_i[RouterMeshPorts],
  output logic [Vnets-1:0] host_in_ready_o[RouterMeshPorts],
  input  flit_t            host_in_i[RouterMeshPorts],
  output logic [Vnets-1:0] host_out_valid_o[RouterMeshPorts],
  output flit_t            host_out_o[RouterMeshPorts],
  // A message of the host waits, or is entering; a message may begin to enter
  input  logic             host_hold_i,
  output logic             host_open_o,
  // The host starts threads of these tiles
  input  logic             expected_i[Tiles]
);
  // Directions as indices
  localparam int unsigned N = 32'(North), S = 32'(South), E = 32'(East), W = 32'(West);

  logic     req_valid[Tiles*TileCaches], req_ready[Tiles*TileCaches];
  logic     rsp_valid[Tiles*TileCaches], rsp_ready[Tiles*TileCaches];
  mem_req_t req[Tiles*TileCaches];
  mem_rsp_t rsp[Tiles*TileCaches];
  gs_idle_pkg::idle_status_t idle[Tiles];
  logic     started[Tiles];
  gs_idle_pkg::idle_command_t command;
  // Links by tile and direction, as outputs; credits by the tile whose input returns them
  logic [Vnets-1:0] out_valid[Tiles][Local], in_valid[Tiles][Local];
  flit_t            out[Tiles][Local], in[Tiles][Local];
  logic [Vnets-1:0] in_credit[Tiles][Local], out_credit[Tiles][Local];
  logic [Vnets-1:0] rim_in_valid[RouterMeshPorts], rim_in_credit[RouterMeshPorts];
  logic [Vnets-1:0] rim_out_valid[RouterMeshPorts], rim_out_credit[RouterMeshPorts];
  flit_t            rim_in[RouterMeshPorts], rim_out[RouterMeshPorts];

  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    localparam int unsigned X = t % MeshWidth;
    localparam int unsigned Y = t / MeshWidth;

    gs_sim_mesh_tile u_tile (
      .clk_i,
      .rst_ni,
      .board_i          ('0),
      .tile_y_i         (4'(Y)),
      .tile_x_i         (4'(X)),
      .host_i           ({EndpointHost, 29'd0}),
      .job_i            ('0),
      .cluster_i        ('{routers: 1'b0, boards: 13'd1, hosts: 13'd1}),
      .dbg_in_valid_i   (dbg_in_valid_i[t]),
      .dbg_in_data_i    (dbg_in_data_i[t]),
      .dbg_in_ready_o   (dbg_in_ready_o[t]),
      .dbg_out_valid_o  (dbg_out_valid_o[t]),
      .dbg_out_data_o   (dbg_out_data_o[t]),
      .mem_req_valid_o  (req_valid[t*TileCaches:t*TileCaches+TileCaches-1]),
      .mem_req_ready_i  (req_ready[t*TileCaches:t*TileCaches+TileCaches-1]),
      .mem_req_o        (req[t*TileCaches:t*TileCaches+TileCaches-1]),
      .mem_rsp_valid_i  (rsp_valid[t*TileCaches:t*TileCaches+TileCaches-1]),
      .mem_rsp_ready_o  (rsp_ready[t*TileCaches:t*TileCaches+TileCaches-1]),
      .mem_rsp_i        (rsp[t*TileCaches:t*TileCaches+TileCaches-1]),
      .mesh_in_valid_i  (in_valid[t]),
      .mesh_in_i        (in[t]),
      .mesh_in_credit_o (in_credit[t]),
      .mesh_out_valid_o (out_valid[t]),
      .mesh_out_o       (out[t]),
      .mesh_out_credit_i(out_credit[t]),
      .idle_o           (idle[t]),
      .started_o        (started[t]),
      .idle_command_i   (command)
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

  // The exit in a column, RouterMeshPorts if the column has none.
  function automatic int unsigned exit_at(int unsigned column);
    for (int unsigned e = 0; e < RouterMeshPorts; e++) if (exit_column(e) == column) return e;
    return RouterMeshPorts;
  endfunction

  gs_sim_board_uncore u_uncore (
    .clk_i,
    .rst_ni,
    .mem_req_valid_i  (req_valid),
    .mem_req_ready_o  (req_ready),
    .mem_req_i        (req),
    .mem_rsp_valid_o  (rsp_valid),
    .mem_rsp_ready_i  (rsp_ready),
    .mem_rsp_o        (rsp),
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
    .host_out_o,
    .host_hold_i,
    .host_open_o,
    .idle_i           (idle),
    .started_i        (started),
    .expected_i,
    .idle_command_o   (command)
  );
endmodule
