// SPDX-License-Identifier: Apache-2.0

/// A place for a job on a board: its idle detection, with the packets for it.
///
/// Endpoints are all tiles, all multicast routers and the host's port. The state of each comes one register late, and
/// what it is told meets one register there.
module gs_board_job
  import gs_board_pkg::*;
  import gs_idle_pkg::*;
  import gossamer_pkg::*;
#(
  /// multicast routers, and links
  parameter int unsigned Routers = 5,
  parameter int unsigned Links   = 2
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic          [11:0]        board_i,
  input  place_t                      place_i,
  // Endpoints
  input  idle_status_t  [Tiles-1:0]   status_i,
  input  logic          [Tiles-1:0]   begun_i,
  output idle_command_t [Tiles-1:0]   command_o,
  input  idle_status_t  [Routers-1:0] routers_i,
  /// colour of the copies that routers make
  output logic                        wave_o,
  input  idle_entry_t   [Links-1:0]   entry_i,
  // The host's port
  input  idle_status_t                host_i,
  input  logic                        hold_i,
  output logic                        open_o,
  output logic          [1:0]         host_epoch_o,
  output logic                        host_wave_o,
  // A packet of idle detection for this job
  input  logic                        packet_valid_i,
  input  control_packet_t             packet_i,
  output logic                        room_o,
  output logic                        refused_o,
  output logic                        out_valid_o,
  input  logic                        out_ready_i,
  output flit_t                       out_o
);
  localparam int unsigned Endpoints = Tiles + Routers + 1;
  logic [Endpoints-1:0] member;
  idle_status_t [Endpoints-1:0] status;
  idle_command_t [Endpoints-1:0] command;
  idle_status_t [Routers-1:0] routers_q;
  idle_status_t host_q;
  logic held_q, wave_q, in_valid, in_ready;
  flit_t in;

  assign member    = place_i.valid ? {{(Routers + 1) {1'b1}}, place_i.tiles} : '0;
  assign status    = {host_q, routers_q, status_i};
  assign command_o = command[Tiles-1:0];
  assign wave_o    = wave_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      routers_q <= '0;
      host_q    <= '0;
      wave_q    <= 1'b0;
      held_q    <= 1'b1;
    end else begin
      routers_q <= routers_i;
      host_q    <= host_i;
      wave_q    <= command[Tiles].wave;
      // No report before each of its tiles in which the host starts threads has had them.
      held_q    <= !place_i.valid || (place_i.tiles & ~begun_i) != '0;
    end
  end

  gs_idle_inbox #(.Children(Children)) u_inbox (
    .clk_i,
    .rst_ni,
    .valid_i    (packet_valid_i),
    .two_i      (packet_i.flits == 2'd2),
    .head_i     (packet_i.head),
    .words_i    (packet_i.words),
    .room_o,
    .refused_o,
    .out_valid_o(in_valid),
    .out_ready_i(in_ready),
    .out_o      (in)
  );

  gs_idle #(
    .Endpoints(Endpoints),
    .Wires    (1),
    .Entries  (Links),
    .Children (Children)
  ) u_idle (
    .clk_i,
    .rst_ni,
    .board_i,
    .job_i      (place_i.job),
    .member_i   (member),
    .status_i   (status),
    .command_o  (command),
    .entry_i,
    .hold_i     (hold_i || held_q),
    .open_o,
    .epoch_o    (host_epoch_o),
    .wave_o     (host_wave_o),
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_i       (in),
    .out_valid_o,
    .out_ready_i,
    .out_o
  );

  logic unused;
  assign unused = ^{place_i.host, packet_i.kind, packet_i.job, command[Endpoints-1:Tiles]};
endmodule
