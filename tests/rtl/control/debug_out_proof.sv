// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_debug_out: every report is sent once and complete, byte by byte, and reports never interleave; reports
/// of commands have priority over parked threads, and these over the reports of threads; a thread that waits for its
/// report gets exactly one response, after the report has been sent, with the requested data.
///
/// The model is the report that is being sent, in the format of docs/hardware/registers.md, and its number of sent
/// bytes.
module debug_out_proof
  import gs_control_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input logic               clk_i,
  input logic               rst_ni,
  input logic               cmd_valid_i,
  input logic [1:0]         cmd_kind_i,
  input logic [7:0]         cmd_first_i,
  input logic [63:0]        cmd_rest_i,
  input logic               parked_valid_i,
  input logic [ThreadW-1:0] parked_thread_i,
  input logic               thread_valid_i,
  input report_word_t       thread_word_i,
  input logic               ans_ready_i,
  input logic               out_ready_i
);
  localparam logic [31:0] Hash = 32'h89AB_CDEF;
  localparam logic [23:0] Counts = 24'h0A_0B0C;

  // ---- Reports to send ----
  logic cmd_ready, parked_ready, thread_ready, ans_valid, out_valid, unused_busy;
  logic [ThreadW-1:0] ans_thread;
  logic [8:0] ans_data;
  logic [7:0] out;
  debug_report_e cmd_code;

  always_comb begin
    unique case (cmd_kind_i)
      2'd0: cmd_code = DebugReportIdentity;
      2'd1: cmd_code = DebugReportFlushed;
      2'd2: cmd_code = DebugReportCounter;
      default: cmd_code = DebugReportRejected;
    endcase
  end
  `GS_ASSUME_HOLD(command_is_stable_while_it_waits, cmd_valid_i, cmd_ready, {cmd_kind_i, cmd_first_i, cmd_rest_i})
  `GS_ASSUME_HOLD(parked_report_is_stable_while_it_waits, parked_valid_i, parked_ready, parked_thread_i)
  `GS_ASSUME_HOLD(thread_report_is_stable_while_it_waits, thread_valid_i, thread_ready, thread_word_i)
  // gs_debug_command leaves at least one cycle between two reports.
  logic told_q;
  always_ff @(posedge clk_i) told_q <= rst_ni && cmd_ready;
  `GS_ASSUME_NOW(commands_are_separated_by_a_cycle, !(told_q && cmd_valid_i))

  gs_debug_out #(
    .Hash  (Hash),
    .Counts(Counts)
  ) u_out (
    .clk_i,
    .rst_ni,
    .cmd_valid_i,
    .cmd_ready_o    (cmd_ready),
    .cmd_code_i     (cmd_code),
    .cmd_first_i,
    .cmd_rest_i,
    .parked_valid_i,
    .parked_ready_o (parked_ready),
    .parked_thread_i,
    .thread_valid_i,
    .thread_ready_o (thread_ready),
    .thread_i       (thread_word_i),
    .ans_valid_o    (ans_valid),
    .ans_ready_i,
    .ans_thread_o   (ans_thread),
    .ans_data_o     (ans_data),
    .out_valid_o    (out_valid),
    .out_data_o     (out),
    .out_ready_i,
    .busy_o         (unused_busy)
  );

  // ---- The report that is being sent: its source, and its number of sent bytes ----
  // States of gs_debug_out, by number
  localparam logic [2:0] InPick = 3'd0, InCommand = 3'd1, InParked = 3'd2, InHead = 3'd3, InData = 3'd4;
  typedef enum logic [1:0] {Nobody, Command, Parked, Thread} who_e;
  who_e who_q;
  logic [3:0] gone_q;
  logic [12:0][7:0] bytes;
  report_t first, now;
  report_t first_q;
  logic [31:0] pc;
  logic [7:0] code;
  logic enters, second, leaves;

  // A byte enters a register; bytes leave in order.
  assign enters = u_out.free && u_out.byte_valid;
  assign second = u_out.state_q == InData;
  assign first  = {thread_word_i[HeadW-1:0], 32'd0};
  assign now    = second ? first_q : first;
  assign pc     = now.pc_known ? 32'(now.pc) << 2 : '1;
  assign leaves = cmd_ready || parked_ready || (thread_ready && second);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      who_q  <= Nobody;
      gone_q <= '0;
    end else if (who_q == Nobody) begin
      who_q <= cmd_valid_i ? Command : parked_valid_i ? Parked : thread_valid_i ? Thread : Nobody;
    end else begin
      gone_q <= leaves ? '0 : gone_q + 4'(enters);
      if (leaves) who_q <= Nobody;
    end
    if (thread_ready && !second) first_q <= first;
  end

  // Its bytes, as the host reads them; bytes beyond the report are x.
  function automatic debug_report_e code_of_kind(report_kind_e kind);
    unique case (kind)
      ReportUart: return DebugReportUart;
      ReportTaken: return DebugReportTaken;
      ReportStarted: return DebugReportStarted;
      ReportEmit: return DebugReportEmit;
      ReportDebugValue: return DebugReportDebugValue;
      ReportStopped: return DebugReportStopped;
      default: return DebugReportTrap;
    endcase
  endfunction
  always_comb begin
    unique case (who_q)
      Command: begin
        code  = cmd_code;
        bytes = {cmd_rest_i, cmd_first_i, code};
        if (cmd_code == DebugReportIdentity) bytes = {Counts, 8'(DebugVersion), Hash, 32'(DebugMagic), code};
      end
      Parked: begin
        code  = DebugReportParked;
        bytes = {8'(parked_thread_i), code};
      end
      default: begin
        code  = code_of_kind(now.kind);
        bytes = {thread_word_i[31:0], 8'(now.thread), code};
        if (now.kind == ReportStarted) bytes = {8'(now.about), code};
        if (now.kind == ReportTrap) bytes = {thread_word_i[31:0], pc, 8'(now.about), 8'(now.thread), code};
      end
    endcase
  end

  `GS_ASSERT_NOW(byte_is_the_next_of_its_report, !enters || (who_q != Nobody && u_out.data == bytes[gone_q]))
  `GS_ASSERT_NOW(report_is_complete_when_it_is_sent, !leaves || gone_q + 4'(enters) == 4'd1 + code[7:4])
  `GS_ASSERT_NOW(report_has_no_excess_bytes, who_q == Nobody || gone_q <= 4'd1 + code[7:4])
  `GS_ASSERT_NOW(report_is_popped_from_its_source,
                 {cmd_ready, parked_ready, thread_ready} == ({who_q == Command, who_q == Parked, who_q == Thread}
                 & {cmd_ready, parked_ready, thread_ready}))
  `GS_ASSERT_HOLD(byte_is_stable_while_it_waits, out_valid, out_ready_i, out)

  // Each byte leaves once, in order.
  logic [7:0] in_q;
  logic full_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) full_q <= 1'b0;
    else full_q <= enters || (full_q && !out_ready_i);
    if (enters) in_q <= u_out.data;
  end
  `GS_ASSERT_NOW(bytes_leave_unchanged_and_in_order, out_valid == full_q && (!full_q || out == in_q))
  `GS_ASSERT_NOW(output_register_never_overflows, !enters || !full_q || out_ready_i)

  // ---- Responses ----
  logic answers, owes_q;
  logic [ThreadW-1:0] owed_thread_q;
  logic [8:0] owed_data_q;
  assign answers = second && thread_ready && !(now.kind inside {ReportStopped, ReportTrap}) && now.kind <= ReportTrap;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) owes_q <= 1'b0;
    else owes_q <= answers || (owes_q && !ans_ready_i);
    if (answers) begin
      owed_thread_q <= now.thread;
      owed_data_q   <= (now.kind == ReportUart) ? 9'd1 : (now.kind == ReportTaken) ? thread_word_i[8:0] : '0;
    end
  end
  `GS_ASSUME_NOW(report_kinds_are_legal, !(thread_valid_i && !second && who_q == Thread) || first.kind <= ReportTrap)
  `GS_ASSERT_NOW(thread_gets_exactly_one_response, ans_valid == owes_q)
  `GS_ASSERT_NOW(response_has_the_requested_data, !ans_valid || {ans_thread, ans_data} == {owed_thread_q, owed_data_q})
  `GS_ASSERT_NOW(no_response_is_overwritten, !answers || !owes_q)

  // ---- Fairness: a waiting report is sent after the report of a command ----
  logic [1:0] passed_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || who_q inside {Parked, Thread} || !(parked_valid_i || thread_valid_i)) passed_q <= '0;
    else if (cmd_ready) passed_q <= passed_q + 2'd1;
  end
  `GS_ASSERT_NOW(waiting_report_is_overtaken_by_at_most_two_commands, passed_q <= 2'd1)
  `GS_ASSERT_NOW(waiting_report_is_sent_after_the_command,
                 passed_q == '0 || who_q inside {Parked, Thread}
                 || (who_q == Nobody && told_q && (parked_valid_i || thread_valid_i)))

  // ---- Invariants for the induction ----
  `GS_ASSERT_NOW(state_matches_the_source,
                 (u_out.state_q == InPick) == (who_q == Nobody) && (u_out.state_q == InCommand) == (who_q == Command)
                 && (u_out.state_q == InParked) == (who_q == Parked)
                 && (u_out.state_q inside {InHead, InData}) == (who_q == Thread))
  `GS_ASSERT_NOW(no_byte_is_sent_without_a_report, who_q != Nobody || gone_q == '0)
  `GS_ASSERT_NOW(report_stays_valid_until_sent,
                 (who_q != Command || cmd_valid_i) && (who_q != Parked || parked_valid_i)
                 && (u_out.state_q != InHead || thread_valid_i))
  `GS_ASSERT_NOW(byte_counter_is_correct,
                 who_q == Nobody
                 || gone_q == u_out.sent_q + (!second ? 4'd0 : (first_q.kind == ReportTrap) ? 4'd7 : 4'd2))
  `GS_ASSERT_NOW(last_byte_is_correct,
                 who_q == Nobody || u_out.last_q == (second ? ((first_q.kind == ReportUart) ? 4'd1
                     : (first_q.kind inside {ReportTaken, ReportStarted}) ? 4'd0 : 4'd4)
                     : (who_q == Thread) ? ((first.kind == ReportTrap) ? 4'd6 : 4'd1) : code[7:4]))
  `GS_ASSERT_NOW(sent_never_exceeds_last, who_q == Nobody || u_out.sent_q <= u_out.last_q)
  `GS_ASSERT_NOW(first_word_fields_are_stored,
                 !second || ({u_out.kind_q, u_out.thread_q} == {first_q.kind, first_q.thread}
                 && first_q.kind <= ReportTrap
                 && u_out.answers_q == !(first_q.kind inside {ReportStopped, ReportTrap})))

  logic unused;
  assign unused = ^{first_q.about, first_q.pc, first_q.pc_known, first_q.data};

  `GS_COVER_NOW(trap_report_is_sent, leaves && who_q == Thread && now.kind == ReportTrap)
  `GS_COVER_NOW(response_with_a_byte, ans_valid && ans_data[8])
  `GS_COVER_NOW(counter_report_is_sent, cmd_ready && cmd_code == DebugReportCounter)
  `GS_COVER_NOW(report_waited_for_a_command, passed_q == 2'd1 && who_q == Nobody)
  `GS_COVER_NOW(second_word_arrives_late, second && !thread_valid_i)
  `GS_COVER_NOW(response_waits_while_the_next_report_is_sent, second && u_out.ends && thread_valid_i && owes_q)
endmodule
