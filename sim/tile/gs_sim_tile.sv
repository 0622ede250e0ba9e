// SPDX-License-Identifier: Apache-2.0

/// Simulation top: one tile with its memories; the only other endpoint of its network is a host.
///
/// The driver is the host: its packets enter the request network, and it always accepts the tile's packets.
module gs_sim_tile
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// hash of the configuration, for the driver to compare
  parameter logic [31:0] ConfigHash = '0,
  /// 1: the tile's slot holds the example accelerator
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
  input  logic       dbg_out_ready_i,
  // Network, the host's end: a handshake for each virtual network into the tile; outputs are always accepted
  input  logic [3:0] net_in_valid_i,
  output logic [3:0] net_in_ready_o,
  input  flit_t      net_in_i,
  output logic [3:0] net_out_valid_o,
  output flit_t      net_out_o
);
  logic     [TileCaches-1:0] req_valid, req_ready, rsp_valid, rsp_ready;
  mem_req_t [TileCaches-1:0] req;
  mem_rsp_t [TileCaches-1:0] rsp;
  gs_idle_pkg::idle_status_t [0:0] idle_all;
  gs_idle_pkg::idle_status_t idle;
  gs_idle_pkg::idle_command_t [0:0] command;
  logic unused_started;

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
    .net_in_valid_i,
    .net_in_ready_o,
    .net_in_i,
    .net_out_valid_o,
    .net_out_ready_i('1),
    .net_out_o,
    .cluster_i      ('{routers: 1'b0, boards: 13'd1, hosts: 13'd1}),
    .idle_o         (idle),
    .started_o      (unused_started),
    .idle_command_i (command[0])
  );

  // The host receives every message that leaves the tile. Replies and reports of faults are not messages.
  logic first_q, header_q, is_header;
  logic [31:0] received_q;
  assign is_header = first_q ? net_out_o.kind == FlitKindHeader : header_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q    <= 1'b1;
      received_q <= '0;
    end else if (net_out_valid_o[VnetReply]) begin
      first_q <= net_out_o.last;
      if (net_out_o.last && !is_header) received_q <= received_q + 32'd1;
    end
    if (net_out_valid_o[VnetReply]) header_q <= is_header;
  end
  // The host sends messages to the accelerator; those of the next epoch belong to the count of that epoch.
  logic [31:0] sent_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) sent_q <= '0;
    else if (net_in_valid_i[VnetRequest] && net_in_ready_o[VnetRequest] && net_in_i.last
             && net_in_i.dest[31:29] == EndpointAccelerator && net_in_i.kind != FlitKindHeader && net_in_i.job == '0
             && net_in_i.epoch != idle.epoch + 2'd1) sent_q <= sent_q + 32'd1;
  end
  always_comb begin
    idle_all[0]          = idle;
    idle_all[0].sent     = idle.sent + sent_q;
    idle_all[0].received = idle.received + received_q;
  end

  gs_idle_single u_idle (
    .clk_i,
    .rst_ni,
    .status_i (idle_all),
    .command_o(command),
    .hold_i   (1'b0),
    .open_o   (),
    .epoch_o  ()
  );

  gs_sim_memory #(
    .PortCaches (TileCaches),
    .ThreadW    (MemIdW),
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
endmodule
