// SPDX-License-Identifier: Apache-2.0

/// Simulation top: a tile of the mesh on its own board. Its ports are arrays, which a program can read in place.
///
/// All ports are registered. One model of it serves every tile of a board (board.h).
module gs_sim_mesh_tile
  import gs_tile_pkg::*;
  import gs_noc_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic     [11:0]          board_i,
  input  logic     [3:0]           tile_y_i,
  input  logic     [3:0]           tile_x_i,
  // Host of its reports, job, size of the cluster
  input  logic     [31:0]          host_i,
  input  logic     [4:0]           job_i,
  input  gs_address_pkg::cluster_t cluster_i,
  // Debug bus
  input  logic                     dbg_in_valid_i,
  input  logic     [7:0]           dbg_in_data_i,
  output logic                     dbg_in_ready_o,
  output logic                     dbg_out_valid_o,
  output logic     [7:0]           dbg_out_data_o,
  input  logic                     dbg_out_ready_i,
  // Memory, one stream per cache
  output logic                     mem_req_valid_o[TileCaches],
  input  logic                     mem_req_ready_i[TileCaches],
  output mem_req_t                 mem_req_o[TileCaches],
  input  logic                     mem_rsp_valid_i[TileCaches],
  output logic                     mem_rsp_ready_o[TileCaches],
  input  mem_rsp_t                 mem_rsp_i[TileCaches],
  // Mesh, dir_e as index
  input  logic     [Vnets-1:0]     mesh_in_valid_i[Local],
  input  flit_t                    mesh_in_i[Local],
  output logic     [Vnets-1:0]     mesh_in_credit_o[Local],
  output logic     [Vnets-1:0]     mesh_out_valid_o[Local],
  output flit_t                    mesh_out_o[Local],
  input  logic     [Vnets-1:0]     mesh_out_credit_i[Local],
  // Idle detection
  output gs_idle_pkg::idle_status_t idle_o,
  output logic                     started_o,
  input  gs_idle_pkg::idle_command_t idle_command_i
);
  logic     [TileCaches-1:0] req_valid, req_ready, rsp_valid, rsp_ready;
  mem_req_t [TileCaches-1:0] req;
  mem_rsp_t [TileCaches-1:0] rsp;
  logic     [Local-1:0][Vnets-1:0] in_valid, in_credit, out_valid, out_credit;
  flit_t    [Local-1:0] in, out;

  for (genvar c = 0; c < TileCaches; c++) begin : gen_memory
    assign mem_req_valid_o[c] = req_valid[c];
    assign mem_req_o[c]       = req[c];
    assign req_ready[c]       = mem_req_ready_i[c];
    assign rsp_valid[c]       = mem_rsp_valid_i[c];
    assign rsp[c]             = mem_rsp_i[c];
    assign mem_rsp_ready_o[c] = rsp_ready[c];
  end
  for (genvar d = 0; d < Local; d++) begin : gen_mesh
    assign in_valid[d]          = mesh_in_valid_i[d];
    assign in[d]                = mesh_in_i[d];
    assign mesh_in_credit_o[d]  = in_credit[d];
    assign mesh_out_valid_o[d]  = out_valid[d];
    assign mesh_out_o[d]        = out[d];
    assign out_credit[d]        = mesh_out_credit_i[d];
  end

  gs_mesh_tile #(
    .Accelerator(1'b1)
  ) u_tile (
    .clk_i,
    .rst_ni,
    .board_i,
    .tile_y_i,
    .tile_x_i,
    .host_i,
    .job_i            ({job_i, 2'd0}),
    .cluster_i,
    .dbg_in_valid_i,
    .dbg_in_data_i,
    .dbg_in_ready_o,
    .dbg_out_valid_o,
    .dbg_out_data_o,
    .dbg_out_ready_i,
    .mem_req_valid_o  (req_valid),
    .mem_req_ready_i  (req_ready),
    .mem_req_o        (req),
    .mem_rsp_valid_i  (rsp_valid),
    .mem_rsp_ready_o  (rsp_ready),
    .mem_rsp_i        (rsp),
    .mesh_in_valid_i  (in_valid),
    .mesh_in_i        (in),
    .mesh_in_credit_o (in_credit),
    .mesh_out_valid_o (out_valid),
    .mesh_out_o       (out),
    .mesh_out_credit_i(out_credit),
    .idle_o,
    .started_o,
    .idle_command_i
  );
endmodule
