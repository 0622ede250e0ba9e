// SPDX-License-Identifier: Apache-2.0

/// A simulated board without its tiles: memories, idle detection, and the host at the rim of the mesh.
///
/// All ports are registered, except the host's: there an incoming flit is valid only if it is accepted, and outgoing
/// flits are always accepted. Caches are numbered tile by tile; consecutive caches share a DRAM.
module gs_sim_board_uncore
  import gs_tile_pkg::*;
  import gs_noc_pkg::Vnets;
  import gossamer_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,
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
  // The host, at each exit
  input  logic          [Vnets-1:0] host_in_valid_i[RouterMeshPorts],
  output logic          [Vnets-1:0] host_in_ready_o[RouterMeshPorts],
  input  flit_t                     host_in_i[RouterMeshPorts],
  output logic          [Vnets-1:0] host_out_valid_o[RouterMeshPorts],
  output flit_t                     host_out_o[RouterMeshPorts],
  // A message of the host waits, or is entering; a message may begin to enter
  input  logic                      host_hold_i,
  output logic                      host_open_o,
  // Idle detection; the host starts threads of these tiles
  input  gs_idle_pkg::idle_status_t idle_i[Tiles],
  input  logic                      started_i[Tiles],
  input  logic                      expected_i[Tiles],
  output gs_idle_pkg::idle_command_t idle_command_o
);
  logic     unused_ready, unused_valid;
  mem_rsp_t unused_rsp;
  gs_board_memories u_memories (
    .clk_i,
    .rst_ni,
    .mem_req_valid_i,
    .mem_req_ready_o,
    .mem_req_i,
    .mem_rsp_valid_o,
    .mem_rsp_ready_i,
    .mem_rsp_o,
    .record_req_valid_i(1'b0),
    .record_req_ready_o(unused_ready),
    .record_req_i      ('0),
    .record_rsp_valid_o(unused_valid),
    .record_rsp_ready_i(1'b0),
    .record_rsp_o      (unused_rsp)
  );

  // ------------------------------------------------------------------ host
  logic  [RouterMeshPorts-1:0][Vnets-1:0] in_valid, in_credit, out_valid, out_credit;
  logic  [RouterMeshPorts-1:0][Vnets-1:0] host_in_valid, host_in_ready, host_out_valid;
  flit_t [RouterMeshPorts-1:0] in, out, host_in, host_out;
  logic  [31:0] host_sent, host_received;
  logic  [1:0]  host_epoch;

  for (genvar e = 0; e < RouterMeshPorts; e++) begin : gen_exit
    assign in_valid[e]          = mesh_in_valid_i[e];
    assign in[e]                = mesh_in_i[e];
    assign mesh_in_credit_o[e]  = in_credit[e];
    assign mesh_out_valid_o[e]  = out_valid[e];
    assign mesh_out_o[e]        = out[e];
    assign out_credit[e]        = mesh_out_credit_i[e];
    assign host_in_valid[e]     = host_in_valid_i[e];
    always_comb begin
      host_in[e]       = host_in_i[e];
      host_in[e].epoch = host_epoch;
      // The board has one job; messages of others would be rejected and not counted as received.
      host_in[e].job   = '0;
    end
    assign host_in_ready_o[e]   = host_in_ready[e];
    assign host_out_valid_o[e]  = host_out_valid[e];
    assign host_out_o[e]        = host_out[e];
  end

  gs_board_host u_host (
    .clk_i,
    .rst_ni,
    .mesh_in_valid_i  (in_valid),
    .mesh_in_i        (in),
    .mesh_in_credit_o (in_credit),
    .mesh_out_valid_o (out_valid),
    .mesh_out_o       (out),
    .mesh_out_credit_i(out_credit),
    .host_in_valid_i  (host_in_valid),
    .host_in_ready_o  (host_in_ready),
    .host_in_i        (host_in),
    .host_out_valid_o (host_out_valid),
    .host_out_o       (host_out),
    .sent_o           (host_sent),
    .received_o       (host_received)
  );

  // ------------------------------------------------------------------ idle
  gs_idle_pkg::idle_status_t [Tiles-1:0] status;
  logic [Tiles-1:0] started, expected;
  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    assign status[t]   = idle_i[t];
    assign started[t]  = started_i[t];
    assign expected[t] = expected_i[t];
  end

  gs_board_idle #(
    .Tiles(Tiles)
  ) u_idle (
    .clk_i,
    .rst_ni,
    .status_i       (status),
    .started_i      (started),
    .expected_i     (expected),
    .host_sent_i    (host_sent),
    .host_received_i(host_received),
    .host_hold_i,
    .host_open_o,
    .host_epoch_o   (host_epoch),
    .command_o      (idle_command_o)
  );
endmodule
