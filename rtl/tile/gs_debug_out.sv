// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sends reports over the debug bus, byte by byte. Reports of commands have the highest priority, then threads that
/// have parked, then the reports of threads. A thread that waits for its report gets its response when the report has
/// been sent.
module gs_debug_out
  import gs_control_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// first arguments of identity: hash of the configuration
  parameter logic [31:0] Hash   = '0,
  /// the tile's numbers of instruction memories, threads of a core, and threads
  parameter logic [23:0] Counts = '0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// a report of a command: its code, first argument, and the other arguments
  input  logic               cmd_valid_i,
  output logic               cmd_ready_o,
  input  debug_report_e      cmd_code_i,
  input  logic [7:0]         cmd_first_i,
  input  logic [63:0]        cmd_rest_i,
  /// a thread has parked
  input  logic               parked_valid_i,
  output logic               parked_ready_o,
  input  logic [ThreadW-1:0] parked_thread_i,
  /// reports of threads, from gs_report_queue: two words each
  input  logic               thread_valid_i,
  output logic               thread_ready_o,
  input  report_word_t       thread_i,
  /// response to a thread that waited for its report: the low bits of its data, the upper ones are 0
  output logic               ans_valid_o,
  input  logic               ans_ready_i,
  output logic [ThreadW-1:0] ans_thread_o,
  output logic [8:0]         ans_data_o,
  output logic               out_valid_o,
  output logic [7:0]         out_data_o,
  input  logic               out_ready_i,
  /// a report is being sent
  output logic               busy_o
);
  typedef enum logic [2:0] {Pick, Command, Parked, Head, Data} state_e;

  state_e state_q, state_d;
  // Bytes of the current section that have been sent
  // The number of its last byte; in Data, that number plus one
  logic [3:0] sent_q, last_q, last_d;
  logic byte_valid, ends, free;
  logic [7:0] code, data, data_q;
  logic valid_q;

  // The first word of a thread's report; the fields that are needed with the second
  report_t head;
  report_kind_e kind_q;
  logic [ThreadW-1:0] thread_q;
  logic answers_q;
  logic [7:0] about;
  logic [3:0][7:0] pc;

  assign head  = {thread_i[HeadW-1:0], 32'd0};
  assign about = 8'(head.about);
  assign pc    = head.pc_known ? 32'({head.pc, 2'b00}) : '1;

  // Bytes after the code of identity, and of a counter's report, indexed by the byte's number
  logic [15:0][7:0] identity;
  logic [7:0][7:0] rest;
  assign identity = {24'd0, Counts, 8'(DebugVersion), Hash, 32'(DebugMagic), 8'd0};
  assign rest     = {cmd_rest_i[47:0], cmd_rest_i[63:48]};

  assign free = !valid_q || out_ready_i;

  assign ends = sent_q == last_q;

  // The byte to send
  always_comb begin
    code = cmd_code_i;
    unique case (state_q)
      Command: begin
        data = (sent_q == 4'd1) ? cmd_first_i : rest[sent_q[2:0]];
        if (cmd_code_i == DebugReportIdentity) data = identity[sent_q];
      end
      Parked: begin
        code = DebugReportParked;
        data = 8'(parked_thread_i);
      end
      Head: begin
        code = code_of(head.kind);
        unique case (sent_q[2:0])
          3'd1: data = (head.kind == ReportStarted) ? about : 8'(head.thread);
          3'd2: data = about;
          3'd3: data = pc[0];
          3'd4: data = pc[1];
          3'd5: data = pc[2];
          default: data = pc[3];
        endcase
      end
      default: data = thread_i[8*sent_q[1:0]+:8];
    endcase
    if (state_q != Data && sent_q == 4'd0) data = code;
  end

  // Length of the next section
  always_comb begin
    unique case (state_d)
      Command: last_d = cmd_code_i[7:4];
      Parked:  last_d = 4'd1;
      Head:    last_d = (head.kind == ReportTrap) ? 4'd6 : 4'd1;
      default: begin
        // One more than the number of data bytes: the report ends at that count.
        last_d = 4'd4;
        if (head.kind == ReportUart) last_d = 4'd1;
        if (head.kind == ReportTaken || head.kind == ReportStarted) last_d = 4'd0;
      end
    endcase
  end

  always_comb begin
    state_d        = state_q;
    byte_valid     = 1'b0;
    cmd_ready_o    = 1'b0;
    parked_ready_o = 1'b0;
    thread_ready_o = 1'b0;
    unique case (state_q)
      Command, Parked, Head: begin
        byte_valid = 1'b1;
        if (free && ends) begin
          cmd_ready_o    = state_q == Command;
          parked_ready_o = state_q == Parked;
          thread_ready_o = state_q == Head;
          state_d        = (state_q == Head) ? Data : Pick;
        end
      end
      Data: if (thread_valid_i) begin
        byte_valid = !ends;
        if (ends) begin
          thread_ready_o = !answers_q || !ans_valid_o;
          if (thread_ready_o) state_d = Pick;
        end
      end
      default: begin
        if (cmd_valid_i) state_d = Command;
        else if (parked_valid_i) state_d = Parked;
        else if (thread_valid_i) state_d = Head;
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= Pick;
      valid_q     <= 1'b0;
      sent_q      <= '0;
      ans_valid_o <= 1'b0;
    end else begin
      state_q <= state_d;
      if (free) valid_q <= byte_valid;
      if (state_d != state_q) sent_q <= '0;
      else if (free && byte_valid) sent_q <= sent_q + 4'd1;
      if (!ans_valid_o || ans_ready_i) ans_valid_o <= state_q == Data && thread_ready_o && answers_q;
    end
    if (free) data_q <= data;
    if (state_d != state_q) last_q <= last_d;
    if (state_q == Head) begin
      kind_q    <= head.kind;
      thread_q  <= head.thread;
      answers_q <= report_answers(head.kind);
    end
    // uart_put: accepted; uart_get: the byte
    if (!ans_valid_o) begin
      ans_thread_o <= thread_q;
      ans_data_o   <= (kind_q == ReportUart) ? 9'd1 : (kind_q == ReportTaken) ? thread_i[8:0] : '0;
    end
  end

  assign out_valid_o = valid_q;
  assign out_data_o  = data_q;
  assign busy_o      = state_q != Pick || valid_q || ans_valid_o || cmd_valid_i || parked_valid_i || thread_valid_i;

  logic unused;
  assign unused = ^head.data;
endmodule
