// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Packets that endpoints of a board have dropped: counts them, and selects those that are reported to the host.
///
/// Reported are the first packet of each job, and those with which the count reaches a power of two. So every offender
/// is named, and a flood causes few reports.
module gs_board_packet_drops #(
  /// bits of a packet's description
  parameter int unsigned Width = 12
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// a packet of this job was dropped, and its description
  input  logic             drop_i,
  input  logic [4:0]       job_i,
  input  logic [Width-1:0] what_i,
  /// a report is due; it is made
  output logic             due_o,
  input  logic             reported_i,
  output logic [4:0]       job_o,
  output logic [Width-1:0] what_o,
  /// number of dropped packets
  output logic [31:0]      count_o
);
  localparam int unsigned Job = 32;
  logic [31:0] count_q, count_d;
  logic [Job-1:0] known_q, due_q, next;
  logic due;
  logic [Width-1:0] what_q[Job];
  assign count_d = count_q + 32'(drop_i);
  assign due     = drop_i && (!known_q[job_i] || (count_q ^ count_d) > count_q);
  assign next    = due_q & (~due_q + Job'(1));
  always_comb begin
    job_o = '0;
    for (int unsigned j = 0; j < Job; j++) if (next[j]) job_o |= 5'(j);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      known_q <= '0;
      due_q   <= '0;
    end else begin
      count_q <= count_d;
      known_q <= known_q | (Job'(drop_i) << job_i);
      due_q   <= (due_q & ~(reported_i ? next : '0)) | (Job'(due) << job_i);
    end
    if (due) what_q[job_i] <= what_i;
  end
  assign due_o   = due_q != '0;
  assign what_o  = what_q[job_o];
  assign count_o = count_q;

  `GS_ASSERT_NOW(only_due_reports_are_made, !reported_i || due_o)
endmodule
