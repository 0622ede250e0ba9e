// SPDX-License-Identifier: Apache-2.0

/// Simulation top: one tile with memories of its own and nobody beside it.
///
/// Messages that leave the tile are lost; the mailbox, told that it is alone, refuses to send them.
module gs_sim_tile
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// hash of the configuration, for the driver to compare
  parameter logic [31:0] ConfigHash = '0,
  /// 1: the example accelerator stands in the tile's slot
  parameter bit Accelerator = 1'b1
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // Debug bus
  input  logic       dbg_in_valid_i,
  input  logic [7:0] dbg_in_data_i,
  output logic       dbg_in_ready_o,
  output logic       dbg_out_valid_o,
  output logic [7:0] dbg_out_data_o,
  input  logic       dbg_out_ready_i
);
  logic     [TileCaches-1:0] req_valid, req_ready, rsp_valid, rsp_ready;
  mem_req_t [TileCaches-1:0] req;
  mem_rsp_t [TileCaches-1:0] rsp;
  gs_idle_pkg::idle_status_t idle, idle_alone;
  logic started, release_all, agreed, net_out_valid, unused_net_in_ready;
  logic [31:0] lost_q;
  flit_t net_out;

  gs_tile #(
    .ConfigHash  (ConfigHash),
    .BoardThreads(ThreadsPerTile),
    .Accelerator (Accelerator),
    .Alone       (1'b1)
  ) u_tile (
    .clk_i,
    .rst_ni,
    .board_i        ('0),
    .tile_y_i       ('0),
    .tile_x_i       ('0),
    .host_i         ({EndpointHost, 29'd0}),
    .job_i          ('0),
    .dbg_in_valid_i,
    .dbg_in_data_i,
    .dbg_in_ready_o,
    .dbg_out_valid_o,
    .dbg_out_data_o,
    .dbg_out_ready_i,
    .mem_req_valid_o(req_valid),
    .mem_req_ready_i(req_ready),
    .mem_req_o      (req),
    .mem_rsp_valid_i(rsp_valid),
    .mem_rsp_ready_o(rsp_ready),
    .mem_rsp_i      (rsp),
    .net_in_valid_i (1'b0),
    .net_in_ready_o (unused_net_in_ready),
    .net_in_i       ('0),
    .net_out_valid_o(net_out_valid),
    .net_out_ready_i(1'b1),
    .net_out_o      (net_out),
    .cluster_i      ('{boards: 13'd1, hosts: 13'd1}),
    .idle_o         (idle),
    .started_o      (started),
    .idle_release_i (release_all),
    .idle_agreed_i  (agreed)
  );

  // What leaves the tile counts as received: it is lost.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) lost_q <= '0;
    else if (net_out_valid && net_out.last) lost_q <= lost_q + 32'd1;
  end
  always_comb begin
    idle_alone          = idle;
    idle_alone.received = idle.received + lost_q;
  end

  gs_idle_single u_idle (
    .clk_i,
    .rst_ni,
    .idle_i   (idle_alone),
    .hold_i   (!started),
    .release_o(release_all),
    .agreed_o (agreed)
  );

  gs_sim_memory #(
    .PortCaches (TileCaches),
    .ThreadW    (CacheThreadW),
    .cache_req_t(mem_req_t),
    .cache_rsp_t(mem_rsp_t)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .req_valid_i(req_valid),
    .req_ready_o(req_ready),
    .req_i      (req),
    .rsp_valid_o(rsp_valid),
    .rsp_ready_i(rsp_ready),
    .rsp_o      (rsp)
  );

  logic unused_net_out;
  assign unused_net_out = ^net_out;
endmodule
