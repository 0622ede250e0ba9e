// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Executes the commands of the debug bus, one at a time.
///
/// A command that cannot be executed (a number beyond the tile, a start or a flush of a running thread, an instruction
/// for a thread that is neither parked nor trapped) is rejected with a report.
module gs_debug_command
  import gs_control_pkg::SlotW;
  import gs_thread_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      in_valid_i,
  input  logic [7:0]                in_data_i,
  output logic                      in_ready_o,
  /// reports: code, first argument, and the other arguments
  output logic                      report_valid_o,
  input  logic                      report_ready_i,
  output debug_report_e             report_code_o,
  output logic [7:0]                report_first_o,
  output logic [63:0]               report_rest_o,
  /// a flush of a thread's partition of its cache, requested until it is done (gs_tile_memory); no thread may start
  /// meanwhile
  output logic                      flush_valid_o,
  input  logic                      flush_done_i,
  /// operations on threads (gs_thread_control)
  output logic                      op_valid_o,
  input  logic                      op_ready_i,
  output thread_op_e                op_o,
  output logic [ThreadW-1:0]        op_thread_o,
  input  logic                      op_allowed_i,
  /// a core executes an operation, of this or of another requester; the state of the thread that the command names
  input  logic                      op_done_i,
  input  inspected_t                inspected_i,
  output logic [31:0]               instr_o,
  /// a start may proceed: the report queue has free slots for the thread's reports
  input  logic                      starts_i,
  /// this thread counts as a user of the tile before it starts
  output logic                      activate_valid_o,
  input  logic                      activate_ready_i,
  output logic [ThreadW-1:0]        activate_thread_o,
  /// pulse: count_o threads are started together
  output logic                      first_o,
  output logic [ThreadW:0]          count_o,
  /// pulse: threads_o threads of the board participate
  output logic                      threads_valid_o,
  output logic [31:0]               threads_o,
  /// threads that park in this cycle
  input  logic [TileCores-1:0]      park_i,
  input  logic [TileCores-1:0][TidW-1:0] park_tid_i,
  /// the thread that the command names; a byte for it
  output logic [ThreadW-1:0]        thread_o,
  output logic                      uart_valid_o,
  input  logic                      uart_ready_i,
  output logic [7:0]                byte_o,
  /// the scan over the counters: counter, high word, value
  input  logic [SlotW-1:0]          slot_i,
  input  logic                      high_i,
  input  logic [31:0]               word_i,
  // A command is in progress
  output logic                      busy_o
);
  typedef enum logic [2:0] {Idle, Report, Flush, Operate, Settle, ReadCounter, Reject, Done} state_e;

  // Bits of the timeout for an injected instruction, in cycles
  localparam int unsigned SettleW = 10;

  state_e state_q, state_d;
  logic valid, done;
  logic [7:0] code, number;
  logic [39:0] args;
  logic [ThreadW-1:0] next_q;
  logic [63:0] value_q;
  logic [SettleW-1:0] settle_q;
  logic last_start, low_q, rejecting_q, parks, is_slot, bad_thread, bad_count;
  // The command, decoded one cycle before its execution
  logic known_q, bad_d, bad_q, starts_d, starts_q, start_many_q, uart_q, inspects_q;
  thread_op_e op_d;

  gs_debug_in u_in (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_data_i,
    .in_ready_o,
    .valid_o(valid),
    .code_o (code),
    .args_o (args),
    .done_i (done)
  );

  // The first argument: a thread, a count of threads, or a counter
  assign number        = args[7:0];
  assign thread_o      = number[ThreadW-1:0];
  assign count_o       = number[ThreadW:0];
  assign byte_o        = args[15:8];
  assign instr_o       = args[39:8];
  assign is_slot       = slot_i == number[SlotW-1:0];
  assign flush_valid_o = state_q == Flush;
  assign done          = state_q == Done;
  assign uart_valid_o  = known_q && state_q == Idle && uart_q && !bad_q && uart_ready_i;
  assign busy_o        = in_valid_i || valid || state_q != Idle;

  // Commands that are rejected at once
  assign bad_thread = 32'(number) >= 32'd1 << ThreadW;
  assign bad_count  = 32'(number) > 32'd1 << ThreadW;
  always_comb begin
    unique case (code)
      DebugCommandStart, DebugCommandHalt, DebugCommandResume, DebugCommandFlush, DebugCommandUart,
      DebugCommandInject, DebugCommandInspect: bad_d = bad_thread;
      DebugCommandStartFirst: bad_d = bad_count;
      DebugCommandReadCounter: bad_d = number > DebugCounterRefused;
      default: bad_d = 1'b0;
    endcase
  end

  // Operations on threads. Threads that are started together may wait for each other in idle detection: the last one
  // counts as a user before the first one starts.
  assign op_thread_o       = start_many_q ? next_q : thread_o;
  assign last_start        = !start_many_q || 8'(next_q) == number - 8'd1;
  assign op_valid_o        = state_q == Operate && (op_o != ThreadStart || starts_i);
  assign starts_d          = code == DebugCommandStart || (code == DebugCommandStartFirst && number != '0);
  assign activate_valid_o  = known_q && state_q == Idle && starts_q && !bad_q;
  assign activate_thread_o = start_many_q ? ThreadW'(number - 8'd1) : thread_o;
  assign first_o           = activate_valid_o && start_many_q;
  assign threads_valid_o   = known_q && state_q == Idle && code == DebugCommandSetThreads;
  assign threads_o         = args[31:0];
  always_comb begin
    unique case (code)
      DebugCommandHalt: op_d = ThreadHalt;
      DebugCommandResume: op_d = ThreadResume;
      DebugCommandInject: op_d = ThreadInject;
      DebugCommandFlush, DebugCommandInspect: op_d = ThreadCheckIdle;
      default: op_d = ThreadStart;
    endcase
    parks = 1'b0;
    for (int unsigned c = 0; c < TileCores; c++) begin
      if (park_i[c] && 32'(thread_o) == (c << TidW) + 32'(park_tid_i[c])) parks = 1'b1;
    end
  end

  assign report_valid_o = state_q == Report || state_q == Reject;
  assign report_first_o = (state_q == Reject) ? code : number;
  always_comb begin
    report_rest_o = value_q;
    if (state_q == Reject) report_rest_o[7:0] = (start_many_q && !rejecting_q) ? 8'(next_q) : number;
    unique case (code)
      DebugCommandPing: report_code_o = DebugReportIdentity;
      DebugCommandFlush: report_code_o = DebugReportFlushed;
      DebugCommandInspect: report_code_o = DebugReportState;
      default: report_code_o = DebugReportCounter;
    endcase
    if (state_q == Reject) report_code_o = DebugReportRejected;
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (known_q) begin
        unique case (code)
          DebugCommandPing: state_d = Report;
          DebugCommandStartFirst, DebugCommandStart: state_d = !starts_q ? Done : activate_ready_i ? Operate : Idle;
          DebugCommandHalt, DebugCommandResume, DebugCommandInject, DebugCommandFlush, DebugCommandInspect:
            state_d = Operate;
          DebugCommandReadCounter: state_d = ReadCounter;
          DebugCommandUart: state_d = uart_ready_i ? Done : Idle;
          // An unknown command is skipped.
          default: state_d = Done;
        endcase
        if (bad_q) state_d = Reject;
      end
      ReadCounter: if (low_q && is_slot && high_i) state_d = Report;
      Flush: if (flush_done_i) state_d = Report;
      Report: if (report_ready_i) state_d = Done;
      Operate: if (op_valid_o && op_ready_i) begin
        if (inspects_q) state_d = Report;
        else if (!op_allowed_i) state_d = Reject;
        else if (op_o == ThreadInject) state_d = Settle;
        else if (op_o == ThreadCheckIdle) state_d = Flush;
        else if (op_o != ThreadStart || last_start) state_d = Done;
      end
      // If threads are started together, the remaining ones still start.
      Reject: if (report_ready_i) state_d = (start_many_q && !rejecting_q && !last_start) ? Operate : Done;
      // The instruction is finished when the thread is parked again. The timeout prevents an instruction that waits
      // forever from blocking the host.
      Settle: if (parks || settle_q == '1) state_d = Done;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      known_q  <= 1'b0;
      settle_q <= '0;
    end else begin
      state_q  <= state_d;
      known_q  <= valid && !done;
      settle_q <= (state_q == Settle) ? settle_q + SettleW'(1) : '0;
    end
    bad_q        <= bad_d;
    starts_q     <= starts_d;
    start_many_q <= code == DebugCommandStartFirst;
    uart_q       <= code == DebugCommandUart;
    inspects_q   <= code == DebugCommandInspect;
    op_o         <= op_d;
    if (state_q == Idle) begin
      next_q      <= '0;
      rejecting_q <= bad_q;
    end else if ((state_q == Operate && op_valid_o && op_ready_i && op_allowed_i)
                 || (state_q == Reject && report_ready_i)) begin
      next_q <= next_q + ThreadW'(1);
    end
    low_q <= state_q == ReadCounter && ((is_slot && !high_i) || low_q);
    if (state_q == ReadCounter && is_slot) begin
      if (high_i) value_q[63:32] <= word_i;
      else value_q[31:0] <= word_i;
    end
    // Inspection: the last operation that a core executes before ready is that of the command.
    if (state_q == Operate) begin
      if (op_done_i) {value_q[51], value_q[47:32]} <= {inspected_i.waits, inspected_i.pc};
      {value_q[63:52], value_q[50:48], value_q[31:0]} <= {11'd0, !op_allowed_i, inspected_i.asked};
    end
  end

  `GS_ASSERT_NOW(flush_done_only_during_a_flush, !flush_done_i || state_q == Flush)
endmodule
