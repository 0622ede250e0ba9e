// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Does the commands of the debug bus, one after the other: each is finished before the next begins.
///
/// Memory is read and written with the number of thread 0 (flush: of any thread), through the tile's router and cache,
/// so that the host sees and leaves what this thread would. The thread must not have a request of its own under way.
module gs_command
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            in_valid_i,
  input  logic [7:0]                      in_data_i,
  output logic                            in_ready_o,
  /// reports
  output logic                            report_valid_o,
  input  logic                            report_ready_i,
  output debug_report_e                   report_code_o,
  output logic [7:0]                      report_first_o,
  output logic [63:0]                     report_rest_o,
  /// requests to memory, and their answers
  output logic                            request_valid_o,
  input  logic                            request_ready_i,
  output request_t                        request_o,
  output logic                            borrow_o,
  output logic [ThreadW-1:0]              borrow_thread_o,
  input  logic                            answer_valid_i,
  input  answer_t                         answer_i,
  /// memory refused the request
  input  logic                            refused_i,
  /// threads start; they count as users of the tile from `activate_o` on
  output logic [(1<<ThreadW)-1:0]         activate_o,
  /// a pulse: so many threads are started together
  output logic                            first_o,
  output logic [7:0]                      count_o,
  output logic                            start_valid_o,
  input  logic                            start_ready_i,
  output logic [ThreadW-1:0]              start_thread_o,
  /// pulses
  output logic                            halt_o,
  output logic                            resume_o,
  output logic                            uart_o,
  output logic [ThreadW-1:0]              thread_o,
  output logic [7:0]                      byte_o,
  /// writes into instruction memories
  output logic [InstrMems-1:0]            iwr_valid_o,
  input  logic                            iwr_ready_i,
  output logic [Log2InstrWords-1:0]       iwr_addr_o,
  output logic [31:0]                     iwr_data_o,
  /// one instruction into a thread that stands still
  output logic                            inject_valid_o,
  input  logic                            inject_ready_i,
  output logic [31:0]                     inject_instr_o,
  input  logic [(1<<ThreadW)-1:0]         parked_i,
  /// counters: the value comes two cycles after the index, and stands until it is reported
  output logic                            looking_o,
  output logic [7:0]                      counter_o,
  input  logic [63:0]                     counter_i,
  // A command is under way
  output logic                            busy_o
);
  localparam int unsigned AllThreads = 1 << ThreadW;

  typedef enum logic [3:0] {
    Idle, Report, Ask, Wait, Start, Write, Inject, Settle, Look, Done
  } state_e;

  state_e state_q, state_d;
  logic valid, done;
  logic [7:0] code, group_q;
  logic [39:0] args;
  logic [31:0] address_q, word_q;
  logic [ThreadW-1:0] next_q, next_d;
  logic [InstrMems-1:0] write_q, write_d;
  logic [63:0] count_q, count_d;
  logic [9:0] patience_q;
  logic step, is_flush, is_store, start_many, selected, parked_q, borrow_q;
  logic [ThreadW-1:0] borrow_thread_q;

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

  assign thread_o        = args[ThreadW-1:0];
  assign byte_o          = args[15:8];
  assign start_thread_o  = start_many ? next_q : thread_o;
  assign iwr_addr_o      = address_q[2+:Log2InstrWords];
  assign iwr_data_o      = args[31:0];
  assign iwr_valid_o     = write_q & {InstrMems{state_q == Write}};
  assign inject_instr_o  = args[39:8];
  assign inject_valid_o  = state_q == Inject;
  assign start_valid_o   = state_q == Start;
  assign first_o         = valid && state_q == Idle && start_many;
  assign count_o         = args[7:0];
  assign looking_o       = state_q == Look;
  assign counter_o       = args[7:0];
  assign is_flush        = code == DebugCommandFlush;
  assign is_store        = code == DebugCommandWriteData;
  assign start_many      = code == DebugCommandStartFirst;
  assign request_valid_o = state_q == Ask;
  assign request_o       = '{op: is_flush ? XCsr : is_store ? XStore : XLoad, funct3: is_flush ? 3'b001 : 3'b010,
                             thread: is_flush ? thread_o : '0,
                             addr: is_flush ? {20'd0, CsrCacheFlush} : address_q,
                             data: is_flush ? '1 : args[31:0]};
  assign borrow_o        = borrow_q;
  assign borrow_thread_o = borrow_thread_q;
  assign report_valid_o  = state_q == Report;
  assign done            = state_q == Done;
  assign busy_o          = in_valid_i || valid || state_q != Idle;
  // All threads of start_first are users before the first starts: they may wait for each other's idleness.
  always_comb begin
    activate_o = '0;
    if (valid && state_q == Idle) begin
      if (code == DebugCommandStart && args[7:0] < 8'(AllThreads)) activate_o[thread_o] = 1'b1;
      if (start_many) activate_o = (args[7:0] < 8'(AllThreads)) ? ~('1 << args[7:0]) : '1;
    end
  end

  always_comb begin
    report_code_o  = DebugReportData;
    report_first_o = args[7:0];
    report_rest_o  = {32'd0, word_q};
    unique case (code)
      DebugCommandPing: report_code_o = DebugReportIdentity;
      DebugCommandFlush: report_code_o = DebugReportFlushed;
      DebugCommandReadCounter: begin
        report_code_o = DebugReportCounter;
        report_rest_o = count_q;
      end
      default: ;
    endcase
  end

  always_comb begin
    state_d  = state_q;
    next_d   = next_q;
    write_d  = write_q;
    count_d  = count_q;
    halt_o   = 1'b0;
    resume_o = 1'b0;
    uart_o   = 1'b0;
    step     = 1'b0;
    selected = group_q == 8'hFF;
    unique case (state_q)
      Idle: if (valid) begin
        next_d = '0;
        unique case (code)
          DebugCommandPing: state_d = Report;
          DebugCommandReadData, DebugCommandWriteData, DebugCommandFlush: state_d = Ask;
          DebugCommandStartFirst: state_d = (args[7:0] == '0) ? Done : Start;
          DebugCommandStart: state_d = Start;
          DebugCommandHalt: begin
            halt_o  = 1'b1;
            state_d = Done;
          end
          DebugCommandResume: begin
            resume_o = 1'b1;
            state_d  = Done;
          end
          DebugCommandReadCounter: state_d = Look;
          DebugCommandUart: begin
            uart_o  = 1'b1;
            state_d = Done;
          end
          DebugCommandWriteInstr: begin
            for (int unsigned i = 0; i < InstrMems; i++) write_d[i] = selected || group_q == 8'(i);
            state_d = Write;
          end
          DebugCommandInject: state_d = Inject;
          // set_address and select_instr are done below; what is not known is skipped.
          default: state_d = Done;
        endcase
      end
      Look: if (patience_q[1]) begin
        count_d = counter_i;
        state_d = Report;
      end
      Ask: if (request_ready_i) state_d = Wait;
      Wait: if (answer_valid_i || refused_i) begin
        step    = !is_flush;
        state_d = is_store ? Done : Report;
      end
      Report: if (report_ready_i) state_d = Done;
      Start: if (start_ready_i) begin
        next_d = next_q + ThreadW'(1);
        if (!start_many || 8'(next_q) == args[7:0] - 8'd1) state_d = Done;
      end
      Write: if (iwr_ready_i) begin
        step    = 1'b1;
        state_d = Done;
      end
      Inject: if (inject_ready_i) state_d = Settle;
      // The instruction is over when the thread is parked again; one that waits for ever must not stop the host.
      Settle: if ((patience_q > 10'd8 && parked_q) || patience_q == '1) state_d = Done;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      group_q    <= 8'hFF;
      patience_q <= '0;
      borrow_q   <= 1'b0;
    end else begin
      // No answer comes as soon as the request goes.
      borrow_q   <= state_q == Ask || state_q == Wait;
      state_q    <= state_d;
      patience_q <= (state_q == Look || state_q == Settle) ? patience_q + 10'd1 : '0;
      if (valid && code == DebugCommandSelectInstr) group_q <= args[7:0];
    end
    next_q   <= next_d;
    parked_q <= parked_i[thread_o];
    borrow_thread_q <= request_o.thread;
    write_q  <= write_d;
    count_q  <= count_d;
    if (step) address_q <= address_q + 32'd4;
    else if (valid && code == DebugCommandSetAddress) address_q <= args[31:0];
    if (state_q == Wait) word_q <= refused_i ? '0 : answer_i.data;
  end

  logic unused;
  assign unused = ^{answer_i.thread, answer_i.flags};

  `GS_ASSERT_NOW(an_answer_comes_only_to_a_request, !answer_valid_i || state_q == Wait)
endmodule
