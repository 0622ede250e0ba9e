// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sends reports over the debug bus, byte by byte: answers to commands first, then threads that have parked, then the
/// reports of threads. A thread that waits for its report is answered when that has left.
module gs_debug_out
  import gs_control_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// first arguments of identity: hash of the configuration
  parameter logic [31:0] Hash   = '0,
  /// and what the tile has: instruction memories, threads of a core, threads
  parameter logic [23:0] Counts = '0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// a report of a command: its code, first argument, and the others
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
  /// the answer of a thread that waited for its report
  output logic               ans_valid_o,
  input  logic               ans_ready_i,
  output logic [ThreadW-1:0] ans_thread_o,
  output logic [31:0]        ans_data_o,
  output logic               out_valid_o,
  output logic [7:0]         out_data_o,
  input  logic               out_ready_i,
  /// reports are under way
  output logic               busy_o
);
  typedef enum logic [2:0] {Pick, Command, Parked, Head, Data} state_e;

  state_e state_q, state_d;
  // Bytes of this part that have been sent
  logic [3:0] sent_q;
  logic byte_valid, last, free;
  logic [7:0] data, data_q;
  logic valid_q;

  // The first word of a thread's report; what is still needed with the second
  report_t head;
  debug_report_e code_q;
  logic [ThreadW-1:0] thread_q;
  logic [3:0] data_bytes;
  logic [31:0] pc;

  assign head = {thread_i[HeadW-1:0], 32'd0};
  assign pc   = head.pc_known ? 32'({head.pc, 2'b00}) : '1;

  logic [95:0] identity;
  assign identity = {Counts, 8'(DebugVersion), Hash, 32'(DebugMagic)};

  always_comb begin
    unique case (code_q)
      DebugReportUart: data_bytes = 4'd1;
      DebugReportTaken, DebugReportStarted: data_bytes = 4'd0;
      default: data_bytes = 4'd4;
    endcase
  end

  assign free = !valid_q || out_ready_i;

  always_comb begin
    state_d        = state_q;
    byte_valid     = 1'b0;
    last           = 1'b0;
    data           = '0;
    cmd_ready_o    = 1'b0;
    parked_ready_o = 1'b0;
    thread_ready_o = 1'b0;
    ans_valid_o    = 1'b0;
    unique case (state_q)
      Pick: begin
        if (cmd_valid_i) state_d = Command;
        else if (parked_valid_i) state_d = Parked;
        else if (thread_valid_i) state_d = Head;
      end
      Command: begin
        byte_valid = 1'b1;
        last       = sent_q == cmd_code_i[7:4];
        if (sent_q == 4'd0) data = cmd_code_i;
        else if (cmd_code_i == DebugReportIdentity) data = identity[8*(sent_q-4'd1)+:8];
        else if (cmd_code_i == DebugReportData) data = cmd_rest_i[8*2'(sent_q-4'd1)+:8];
        else if (sent_q == 4'd1) data = cmd_first_i;
        else data = cmd_rest_i[8*3'(sent_q-4'd2)+:8];
        if (free && last) begin
          cmd_ready_o = 1'b1;
          state_d     = Pick;
        end
      end
      Parked: begin
        byte_valid = 1'b1;
        last       = sent_q == 4'd1;
        data       = (sent_q == 4'd0) ? DebugReportParked : 8'(parked_thread_i);
        if (free && last) begin
          parked_ready_o = 1'b1;
          state_d        = Pick;
        end
      end
      Head: begin
        byte_valid = 1'b1;
        last       = sent_q == ((head.code == DebugReportTrap) ? 4'd6 : 4'd1);
        unique case (sent_q)
          4'd0: data = head.code;
          4'd1: data = (head.code == DebugReportStarted) ? 8'(head.about) : 8'(head.thread);
          4'd2: data = 8'(head.about);
          default: data = pc[8*2'(sent_q-4'd3)+:8];
        endcase
        if (free && last) begin
          thread_ready_o = 1'b1;
          state_d        = Data;
        end
      end
      Data: if (thread_valid_i) begin
        data       = thread_i[8*2'(sent_q)+:8];
        byte_valid = sent_q != data_bytes;
        if (sent_q == data_bytes) begin
          ans_valid_o    = report_answers(code_q);
          thread_ready_o = ans_ready_i || !ans_valid_o;
          if (thread_ready_o) state_d = Pick;
        end
      end
      default: state_d = Pick;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Pick;
      valid_q <= 1'b0;
      sent_q  <= '0;
    end else begin
      state_q <= state_d;
      if (free) valid_q <= byte_valid;
      if (state_d != state_q) sent_q <= '0;
      else if (free && byte_valid) sent_q <= sent_q + 4'd1;
    end
    if (free) data_q <= data;
    if (state_q == Head) begin
      code_q   <= head.code;
      thread_q <= head.thread;
    end
  end

  assign out_valid_o  = valid_q;
  assign out_data_o   = data_q;
  assign ans_thread_o = thread_q;
  // uart_put: taken; uart_get: the byte
  assign ans_data_o   = (code_q == DebugReportUart) ? 32'd1 : (code_q == DebugReportTaken) ? thread_i[31:0] : '0;
  assign busy_o       = state_q != Pick || valid_q || cmd_valid_i || parked_valid_i || thread_valid_i;

  logic unused;
  assign unused = ^head.data;
endmodule
