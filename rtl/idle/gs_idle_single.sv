// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Idle detection of a simulated tile without a board: its cut decides alone.
///
/// All fields of a cut are from the same cycle, so one cut suffices: waiting threads send nothing, and when as many
/// messages are received as sent, none is left that could wake a thread.
module gs_idle_single
  import gs_idle_pkg::*;
#(
  /// endpoints of the board, 1 or more
  parameter int unsigned Endpoints = 1,
  /// registers between this block and the endpoints, in each direction
  parameter int unsigned Wires     = 0
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  idle_status_t  [Endpoints-1:0] status_i,
  output idle_command_t [Endpoints-1:0] command_o,
  /// 1: no release
  input  logic                          hold_i,
  /// while hold_i is 1: a message from outside may enter, with this epoch; it is counted before hold_i falls
  output logic                          open_o,
  output logic [1:0]                    epoch_o
);
  idle_total_t report;
  idle_verdict_t verdict;
  logic report_valid, report_new, due_q, due;

  gs_idle_board #(
    .Endpoints(Endpoints),
    .Wires    (Wires),
    .Entries  (1)
  ) u_board (
    .clk_i,
    .rst_ni,
    .member_i      ('1),
    .enable_i      (1'b1),
    .alone_i       (1'b1),
    .status_i,
    .command_o,
    .entry_i       ('0),
    .hold_i,
    .open_o,
    .epoch_o,
    .wave_o        (),
    .report_valid_o(report_valid),
    .report_new_o  (report_new),
    .report_o      (report),
    .reported_i    (1'b0),
    .verdict_i     (verdict)
  );

  assign due     = report_new && report_valid && report.count == '0 && report.started;
  assign verdict = '{
      release_all: due, again: 1'b0, agreed: report.vote, given: report.given.given, words: report.words
    };

  always_ff @(posedge clk_i) due_q <= due;
  `GS_ASSERT_NOW(release_lasts_one_cycle, !(due && due_q))

  logic unused_report;
  assign unused_report = ^{report.late, report.given.op};
endmodule
