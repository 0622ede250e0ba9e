// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Bounded proof of a node that is the root of two children: it releases if and only if the last reports of all, of
/// this wave and epoch, add up to zero and none of them is late; no report is withdrawn, and none arrives in that
/// cycle.
///
/// The reference keeps the reports in plain registers. Packets are well formed, of any wave and epoch.
module verdict_proof
  import gs_idle_pkg::*;
  import gossamer_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        valid_i,
  input logic        child_i,
  input logic        withdraw_i,
  input logic        late_i,
  input logic        wave_i,
  input logic [1:0]  epoch_i,
  input logic [1:0]  count_i,
  input logic        out_ready_i,
  input logic        own_report_i,
  input logic        own_drop_i,
  input logic        own_late_i,
  input logic [1:0]  own_count_i
);
  // The first packet is the tree: root, enabled, two children, boards 4 and 5.
  logic configured_q, in_ready, in_valid, out_valid, own_valid_q, own_new_q, reported, enable, alone;
  logic [31:0] own_count_q;
  logic own_late_q;
  flit_t in, out;
  idle_report_t report;
  idle_tree_t tree;
  idle_total_t own;
  idle_verdict_t verdict;
  assign tree = '{
      children: 104'({1'b1, 12'd5, 1'b1, 12'd4}), root: 1'b1, enable: 1'b1, op_code: ControlOpIdleTree, default: '0
    };
  // A count of 3 is -1.
  assign report = '{
      count: 32'($signed(count_i)), board: child_i ? 12'd5 : 12'd4, withdraw: withdraw_i, late: late_i, vote: 1'b1,
      started: 1'b1, wave: wave_i, epoch: epoch_i, op_code: ControlOpIdleReport, default: '0
    };
  assign in = '{kind: FlitKindBody, last: 1'b1, vnet: VnetControl, payload: configured_q ? report : tree, default: '0};
  assign in_valid = !configured_q || valid_i;

  // Children report for this wave, or for an old one.
  logic [1:0] epoch_q;
  logic wave_q, taken, current;
  assign taken   = configured_q && in_valid && in_ready;
  assign current = wave_i == wave_q && epoch_i == epoch_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) configured_q <= 1'b0;
    else if (in_ready) configured_q <= 1'b1;
  end

  assign own = '{
      count: own_count_q, vote: 1'b1, started: 1'b1, late: own_late_q, default: '0
    };

  gs_idle_verdict #(.Children(2)) u_node (
    .clk_i,
    .rst_ni,
    .board_i    (12'd3),
    .job_i      ('0),
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_i       (in),
    .out_valid_o(out_valid),
    .out_ready_i,
    .out_o      (out),
    .own_valid_i(own_valid_q),
    .own_new_i  (own_new_q),
    .own_i      (own),
    .reported_o (reported),
    .verdict_o  (verdict),
    .enable_o   (enable),
    .alone_o    (alone)
  );

  // The reference. The `before` registers are those of the cycle in which the root decides, one before its verdict.
  logic [1:0] has_q, has_d, has_before_q;
  logic [1:0][31:0] count_q, count_d;
  logic [1:0] late_q, late_d, late_before_q;
  logic [31:0] sum_before_q;
  logic own_before_q, own_late_before_q;
  always_comb begin
    has_d   = has_q;
    count_d = count_q;
    late_d  = late_q;
    if (taken && current) begin
      has_d[child_i]   = !withdraw_i;
      count_d[child_i] = report.count;
      late_d[child_i]  = late_i;
    end
  end
  logic closes;
  assign closes = verdict.release_all || verdict.again;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      has_q       <= '0;
      epoch_q     <= '0;
      wave_q      <= 1'b0;
      own_valid_q <= 1'b0;
      own_new_q   <= 1'b0;
    end else begin
      has_q <= closes ? '0 : has_d;
      if (verdict.release_all) epoch_q <= epoch_q + 2'd1;
      if (verdict.release_all) wave_q <= 1'b0;
      else if (verdict.again) wave_q <= !wave_q;
      own_new_q <= own_report_i && !closes;
      if (closes || (own_drop_i && !own_report_i)) own_valid_q <= 1'b0;
      else if (own_report_i) own_valid_q <= 1'b1;
    end
    count_q <= count_d;
    late_q  <= late_d;
    if (own_report_i && !closes) begin
      own_count_q <= 32'($signed(own_count_i));
      own_late_q  <= own_late_i;
    end
    has_before_q      <= has_q;
    late_before_q     <= late_q;
    sum_before_q      <= count_q[0] + count_q[1] + own_count_q;
    own_before_q      <= own_valid_q;
    own_late_before_q <= own_late_q;
  end

  logic verdict_q, withdrawn_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) withdrawn_q <= 1'b0;
    else if (taken && withdraw_i && current) withdrawn_q <= 1'b1;
  end
  always_ff @(posedge clk_i) verdict_q <= rst_ni && closes;

  logic unused;
  assign unused = ^{out, reported, enable, alone, verdict};

  `GS_ASSERT_NOW(release_has_all_reports, !verdict.release_all || (has_before_q == '1 && own_before_q))
  `GS_ASSERT_NOW(release_has_no_message_in_flight, !verdict.release_all || sum_before_q == '0)
  `GS_ASSERT_NOW(release_has_no_late_message, !verdict.release_all || (late_before_q == '0 && !own_late_before_q))
  `GS_ASSERT_NOW(next_wave_has_all_reports, !verdict.again || (has_before_q == '1 && own_before_q))
  `GS_ASSERT_NOW(next_wave_has_a_late_message, !verdict.again || late_before_q != '0 || own_late_before_q)
  `GS_ASSERT_NOW(at_most_one_verdict_at_a_time, !(closes && verdict_q))
  `GS_COVER_NOW(release_after_a_withdrawal, verdict.release_all && withdrawn_q)
  `GS_COVER_NOW(next_wave, verdict.again)
  `GS_COVER_NOW(release_with_nonzero_counts, verdict.release_all && count_q[0] != '0)
endmodule
