// SPDX-License-Identifier: Apache-2.0

/// gs_idle_board with one endpoint and two ports from other boards, all ports plain.
module late_messages_top
  import gs_idle_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       idle_i,
  input  logic [7:0] sent_i,
  input  logic [7:0] received_i,
  input  logic       vote_i,
  input  logic       started_i,
  input  logic [1:0] entry_valid_i,
  input  logic [1:0] entry_epoch_0_i,
  input  logic [1:0] entry_epoch_1_i,
  input  logic [1:0] entry_wave_i,
  input  logic       again_i,
  input  logic       release_i,
  output logic [1:0] epoch_o,
  output logic       wave_o,
  output logic       report_valid_o,
  output logic       report_new_o,
  output logic       late_o,
  output logic [7:0] count_o,
  output logic       reported_vote_o,
  output logic       reported_started_o
);
  idle_status_t [0:0] status;
  idle_command_t [0:0] unused_command;
  idle_entry_t [1:0] entry;
  idle_total_t report;
  idle_verdict_t verdict;
  logic unused_open;
  assign status  = '{0: '{idle: idle_i, vote: vote_i, started: started_i, sent: 32'(sent_i),
                         received: 32'(received_i), default: '0}};
  assign entry   = {
    idle_entry_t'{valid: entry_valid_i[1], epoch: entry_epoch_1_i, wave: entry_wave_i[1]},
    idle_entry_t'{valid: entry_valid_i[0], epoch: entry_epoch_0_i, wave: entry_wave_i[0]}
  };
  assign verdict = '{release_all: release_i, again: again_i, default: '0};
  assign late_o  = report.late;
  assign count_o = report.count[7:0];
  assign reported_vote_o    = report.vote;
  assign reported_started_o = report.started;

  gs_idle_board #(
    .Endpoints(1),
    .Entries  (2)
  ) u_board (
    .clk_i,
    .rst_ni,
    .member_i      (1'b1),
    .enable_i      (1'b1),
    .alone_i       (1'b0),
    .status_i      (status),
    .command_o     (unused_command),
    .entry_i       (entry),
    .hold_i        (1'b0),
    .open_o        (unused_open),
    .epoch_o,
    .wave_o,
    .report_valid_o,
    .report_new_o,
    .report_o      (report),
    .reported_i    (1'b0),
    .verdict_i     (verdict)
  );

  logic unused;
  assign unused = ^{unused_command, unused_open, report};
endmodule
