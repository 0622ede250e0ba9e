// SPDX-License-Identifier: Apache-2.0

/// Idle detection of one job on one board: cuts of the board, and its node in the tree of boards.
module gs_idle
  import gs_idle_pkg::*;
  import gossamer_pkg::flit_t;
#(
  /// endpoints of the board, 1 or more: tiles, multicast routers, ports of hosts
  parameter int unsigned Endpoints = 16,
  /// registers between this block and the endpoints, in each direction
  parameter int unsigned Wires     = 0,
  /// ports at which messages enter from other boards
  parameter int unsigned Entries   = 1,
  /// child boards, at most, 2 to 8
  parameter int unsigned Children  = 8
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic          [11:0]          board_i,
  input  logic          [4:0]           job_i,
  /// endpoints of the job
  input  logic          [Endpoints-1:0] member_i,
  input  idle_status_t  [Endpoints-1:0] status_i,
  output idle_command_t [Endpoints-1:0] command_o,
  /// messages of the job that enter from other boards
  input  idle_entry_t   [Entries-1:0]   entry_i,
  /// a host's message waits outside; it may enter, with this epoch and colour. It is counted before hold_i falls
  input  logic                          hold_i,
  output logic                          open_o,
  output logic          [1:0]           epoch_o,
  output logic                          wave_o,
  /// the job's idle-detection packets in the control network
  input  logic                          in_valid_i,
  output logic                          in_ready_o,
  input  flit_t                         in_i,
  output logic                          out_valid_o,
  input  logic                          out_ready_i,
  output flit_t                         out_o
);
  logic enable, alone, report_valid, report_new, reported;
  idle_total_t report;
  idle_verdict_t verdict;

  gs_idle_board #(
    .Endpoints(Endpoints),
    .Wires    (Wires),
    .Entries  (Entries)
  ) u_board (
    .clk_i,
    .rst_ni,
    .member_i,
    .enable_i      (enable),
    .alone_i       (alone),
    .status_i,
    .command_o,
    .entry_i,
    .hold_i,
    .open_o,
    .epoch_o,
    .wave_o,
    .report_valid_o(report_valid),
    .report_new_o  (report_new),
    .report_o      (report),
    .reported_i    (reported),
    .verdict_i     (verdict)
  );

  gs_idle_verdict #(.Children(Children)) u_node (
    .clk_i,
    .rst_ni,
    .board_i,
    .job_i,
    .in_valid_i,
    .in_ready_o,
    .in_i,
    .out_valid_o,
    .out_ready_i,
    .out_o,
    .own_valid_i(report_valid),
    .own_new_i  (report_new),
    .own_i      (report),
    .reported_o (reported),
    .verdict_o  (verdict),
    .enable_o   (enable),
    .alone_o    (alone)
  );
endmodule
