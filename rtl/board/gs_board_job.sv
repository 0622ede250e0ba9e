// SPDX-License-Identifier: Apache-2.0

/// A slot for a job on a board: its idle detection, with the packets for it.
///
/// Endpoints are all tiles, all multicast routers, the match engines and the host's port. The state of each arrives one
/// register late, and commands to it pass one register there. One more endpoint counts messages of the job that tiles
/// of other jobs or the switch have dropped: no other endpoint counts their receipt, and the job would wait for them
/// forever.
module gs_board_job
  import gs_board_pkg::*;
  import gs_idle_pkg::*;
  import gossamer_pkg::*;
#(
  /// multicast routers, and the match engines at the board as one more endpoint; links
  parameter int unsigned Routers = 5,
  parameter int unsigned Links   = 2,
  /// ports of the switch, and other blocks that drop messages
  parameter int unsigned Ports   = 4
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic          [11:0]        board_i,
  input  job_slot_t                      slot_i,
  /// one cycle: the slot is assigned a job, and restarts
  input  logic                        clear_i,
  // Endpoints
  input  idle_status_t  [Tiles-1:0]   status_i,
  input  logic          [Tiles-1:0]   begun_i,
  output idle_command_t [Tiles-1:0]   command_o,
  input  idle_status_t  [Routers-1:0] routers_i,
  /// colour of the copies that the multicast routers make
  output logic                        wave_o,
  input  idle_entry_t   [Links-1:0]   entry_i,
  // Messages that the switch (unroutable ones, by port) and other blocks drop, and their jobs
  input  logic          [Ports-1:0]   lost_i,
  input  logic          [Ports-1:0][4:0] lost_job_i,
  // The host's port
  input  idle_status_t                host_i,
  input  logic                        hold_i,
  output logic                        open_o,
  output logic          [1:0]         host_epoch_o,
  output logic                        host_wave_o,
  // An idle-detection packet for this job
  input  logic                        packet_valid_i,
  input  control_packet_t             packet_i,
  output logic                        tree_ready_o,
  output logic                        dropped_o,
  output logic                        out_valid_o,
  input  logic                        out_ready_i,
  output flit_t                       out_o
);
  localparam int unsigned Endpoints = Tiles + Routers + 2;
  logic [Endpoints-1:0] member;
  idle_status_t [Endpoints-1:0] status;
  idle_command_t [Endpoints-1:0] command;
  idle_status_t [Routers-1:0] routers_q;
  idle_status_t host_q, strays;
  logic held_q, wave_q, in_valid, in_ready, job_rst_n;
  flit_t in;

  assign member    = slot_i.valid ? {{(Routers + 2) {1'b1}}, slot_i.tiles} : '0;
  assign status    = {strays, host_q, routers_q, status_i};
  assign job_rst_n = rst_ni && !clear_i;
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
      // No report before each tile of the job in which the host starts threads has had a started thread.
      held_q    <= !slot_i.valid || (slot_i.tiles & ~begun_i) != '0;
    end
  end

  // Dropped messages are counted one cycle after the drop.
  logic [2*Tiles+Ports-1:0] stray_d, stray_q;
  logic [31:0] strays_q;
  always_comb begin
    for (int unsigned t = 0; t < Tiles; t++) begin
      for (int unsigned k = 0; k < 2; k++) begin
        stray_d[2*t+k] = status_i[t].drops[k].valid && status_i[t].drops[k].why == RejectionJob
            && status_i[t].drops[k].job == slot_i.job && slot_i.valid;
      end
    end
    for (int unsigned p = 0; p < Ports; p++) begin
      stray_d[2*Tiles+p] = lost_i[p] && lost_job_i[p] == slot_i.job && slot_i.valid;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!job_rst_n) begin
      stray_q  <= '0;
      strays_q <= '0;
    end else begin
      stray_q  <= stray_d;
      strays_q <= strays_q + 32'($countones(stray_q));
    end
  end
  assign strays = '{idle: 1'b1, vote: 1'b1, received: strays_q, default: '0};

  gs_idle_inbox #(.Children(Children)) u_inbox (
    .clk_i,
    .rst_ni     (job_rst_n),
    .valid_i    (packet_valid_i),
    .two_i      (packet_i.flits == 2'd2),
    .head_i     (packet_i.head),
    .words_i    (packet_i.words),
    .tree_ready_o,
    .dropped_o,
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
    .rst_ni     (job_rst_n),
    .board_i,
    .job_i      (slot_i.job),
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
  assign unused = ^{slot_i.host, slot_i.streams, packet_i.kind, packet_i.job, command[Endpoints-1:Tiles]};
endmodule
