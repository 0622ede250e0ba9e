// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Does the commands of the debug bus, one after the other: each is finished before the next begins.
///
/// Memory is read and written with the number of thread 0 (flush: of any thread), through the tile's router and cache,
/// so that the host sees and leaves what this thread would. The thread must not have a request of its own under way.
/// What cannot be done (a number beyond the tile, a start of a thread that runs, an instruction for a thread that is
/// neither parked nor trapped, an address outside of instruction memory) is refused, with a report.
module gs_command
  import gs_control_pkg::SlotW;
  import gs_core_pkg::*;
  import gs_thread_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      in_valid_i,
  input  logic [7:0]                in_data_i,
  output logic                      in_ready_o,
  /// reports
  output logic                      report_valid_o,
  input  logic                      report_ready_i,
  output debug_report_e             report_code_o,
  output logic [7:0]                report_first_o,
  output logic [63:0]               report_rest_o,
  /// requests to memory, and their answers
  output logic                      request_valid_o,
  input  logic                      request_ready_i,
  output request_t                  request_o,
  output logic                      borrow_o,
  output logic [ThreadW-1:0]        borrow_thread_o,
  input  logic                      answer_valid_i,
  input  answer_t                   answer_i,
  /// memory refused the request
  input  logic                      refused_i,
  /// operations on threads (gs_thread_control)
  output logic                      op_valid_o,
  input  logic                      op_ready_i,
  output thread_op_e                op_o,
  output logic [ThreadW-1:0]        op_thread_o,
  input  logic                      op_allowed_i,
  output logic [31:0]               instr_o,
  /// a start may go on: there is room for what the thread may report
  input  logic                      starts_i,
  /// this thread counts as a user of the tile before it starts
  output logic                      activate_valid_o,
  input  logic                      activate_ready_i,
  output logic [ThreadW-1:0]        activate_thread_o,
  /// a pulse: so many threads are started together
  output logic                      first_o,
  output logic [ThreadW:0]          count_o,
  /// threads that park in this cycle
  input  logic [TileCores-1:0]      park_i,
  input  logic [TileCores-1:0][TidW-1:0] park_tid_i,
  /// a pulse: a byte for a thread
  output logic                      uart_o,
  output logic [ThreadW-1:0]        thread_o,
  output logic [7:0]                byte_o,
  /// writes into instruction memories
  output logic [InstrMems-1:0]      iwr_valid_o,
  input  logic                      iwr_ready_i,
  output logic [Log2InstrWords-1:0] iwr_addr_o,
  output logic [31:0]               iwr_data_o,
  /// words of the counters come by, one after the other; cycles are there at once
  input  logic [SlotW-1:0]          slot_i,
  input  logic                      high_i,
  input  logic [31:0]               word_i,
  input  logic [63:0]               cycles_i,
  // A command is under way
  output logic                      busy_o
);
  typedef enum logic [3:0] {
    Idle, Report, Ask, Wait, Operate, Write, Settle, Look, Refuse, Done
  } state_e;

  // Cycles that the host waits for an injected instruction
  localparam int unsigned PatienceW = 10;

  state_e state_q, state_d;
  logic valid, done;
  logic [7:0] code, group_q, counter;
  logic [39:0] args;
  logic [31:0] address_q;
  logic [ThreadW-1:0] next_q;
  logic [InstrMems-1:0] group;
  logic [63:0] value_q;
  logic [PatienceW-1:0] patience_q;
  logic step, is_flush, is_store, start_many, last_start, borrow_q, low_q, refusing_q, parks, starts, is_slot;
  logic far_thread, far_count, far_address, bad;
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
  assign iwr_addr_o      = address_q[2+:Log2InstrWords];
  assign iwr_data_o      = args[31:0];
  assign iwr_valid_o     = group & {InstrMems{state_q == Write}};
  assign instr_o         = args[39:8];
  assign count_o         = args[ThreadW:0];
  assign counter         = args[7:0];
  assign is_slot         = slot_i == counter[SlotW-1:0];
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
  assign done            = state_q == Done;
  assign busy_o          = in_valid_i || valid || state_q != Idle;

  // What is refused at once
  assign far_thread  = 32'(args[7:0]) >= 32'd1 << ThreadW;
  assign far_count   = 32'(args[7:0]) > 32'd1 << ThreadW;
  assign far_address = address_q[1:0] != 2'd0 || (address_q >> (2 + Log2InstrWords)) != '0;
  always_comb begin
    for (int unsigned i = 0; i < InstrMems; i++) group[i] = group_q == 8'hFF || group_q == 8'(i);
    unique case (code)
      DebugCommandStart, DebugCommandHalt, DebugCommandResume, DebugCommandFlush, DebugCommandUart,
      DebugCommandInject: bad = far_thread;
      DebugCommandStartFirst: bad = far_count;
      DebugCommandWriteInstr: bad = far_address || group == '0;
      default: bad = 1'b0;
    endcase
  end

  // Operations on threads. Threads that are started together may wait for each other's idleness: the last one counts
  // as a user before the first starts.
  assign op_thread_o       = start_many ? next_q : thread_o;
  assign last_start        = !start_many || 8'(next_q) == args[7:0] - 8'd1;
  assign op_valid_o        = state_q == Operate && (op_o != ThreadStart || starts_i);
  assign starts            = code == DebugCommandStart || (start_many && args[7:0] != '0);
  assign activate_valid_o  = valid && state_q == Idle && starts && !bad;
  assign activate_thread_o = start_many ? ThreadW'(args[7:0] - 8'd1) : thread_o;
  assign first_o           = activate_valid_o && start_many;
  always_comb begin
    unique case (code)
      DebugCommandHalt: op_o = ThreadHalt;
      DebugCommandResume: op_o = ThreadResume;
      DebugCommandInject: op_o = ThreadInject;
      default: op_o = ThreadStart;
    endcase
    parks = 1'b0;
    for (int unsigned c = 0; c < TileCores; c++) begin
      if (park_i[c] && 32'(thread_o) == (c << TidW) + 32'(park_tid_i[c])) parks = 1'b1;
    end
  end

  assign report_valid_o = state_q == Report || state_q == Refuse;
  assign report_first_o = (state_q == Refuse) ? code : args[7:0];
  assign report_rest_o  = (state_q == Refuse) ? 64'(start_many && !refusing_q ? 8'(next_q) : args[7:0]) : value_q;
  always_comb begin
    report_code_o = DebugReportData;
    unique case (code)
      DebugCommandPing: report_code_o = DebugReportIdentity;
      DebugCommandFlush: report_code_o = DebugReportFlushed;
      DebugCommandReadCounter: report_code_o = DebugReportCounter;
      default: ;
    endcase
    if (state_q == Refuse) report_code_o = DebugReportRefused;
  end

  always_comb begin
    state_d = state_q;
    uart_o  = 1'b0;
    step    = 1'b0;
    unique case (state_q)
      Idle: if (valid) begin
        unique case (code)
          DebugCommandPing: state_d = Report;
          DebugCommandReadData, DebugCommandWriteData, DebugCommandFlush: state_d = Ask;
          DebugCommandStartFirst, DebugCommandStart: state_d = !starts ? Done : activate_ready_i ? Operate : Idle;
          DebugCommandHalt, DebugCommandResume, DebugCommandInject: state_d = Operate;
          DebugCommandReadCounter: state_d = Look;
          DebugCommandUart: begin
            uart_o  = !bad;
            state_d = Done;
          end
          DebugCommandWriteInstr: state_d = Write;
          // set_address and select_instr are done below; what is not known is skipped.
          default: state_d = Done;
        endcase
        if (bad) state_d = Refuse;
      end
      Look: if (counter == DebugCounterCycles || counter > DebugCounterRefused || (low_q && is_slot && high_i)) begin
        state_d = Report;
      end
      Ask: if (request_ready_i) state_d = Wait;
      Wait: if (answer_valid_i || refused_i) begin
        step    = !is_flush;
        state_d = is_store ? Done : Report;
      end
      Report: if (report_ready_i) state_d = Done;
      Operate: if (op_valid_o && op_ready_i) begin
        if (!op_allowed_i) state_d = Refuse;
        else if (op_o == ThreadInject) state_d = Settle;
        else if (op_o != ThreadStart || last_start) state_d = Done;
      end
      // Of threads that are started together the others go on.
      Refuse: if (report_ready_i) state_d = (start_many && !refusing_q && !last_start) ? Operate : Done;
      Write: if (iwr_ready_i) begin
        step    = 1'b1;
        state_d = Done;
      end
      // The instruction is over when the thread is parked again; one that waits for ever must not stop the host.
      Settle: if (parks || patience_q == '1) state_d = Done;
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
      patience_q <= (state_q == Settle) ? patience_q + PatienceW'(1) : '0;
      if (valid && code == DebugCommandSelectInstr) group_q <= args[7:0];
    end
    if (state_q == Idle) begin
      next_q     <= '0;
      refusing_q <= bad;
    end else if ((state_q == Operate && op_valid_o && op_ready_i && op_allowed_i)
                 || (state_q == Refuse && report_ready_i)) begin
      next_q <= next_q + ThreadW'(1);
    end
    borrow_thread_q <= request_o.thread;
    if (step) address_q <= address_q + 32'd4;
    else if (valid && code == DebugCommandSetAddress) address_q <= args[31:0];
    if (state_q == Wait) value_q[31:0] <= refused_i ? '0 : answer_i.data;
    low_q <= state_q == Look && ((is_slot && !high_i) || low_q);
    if (state_q == Look) begin
      if (is_slot && !high_i) value_q[31:0] <= word_i;
      if (is_slot && high_i) value_q[63:32] <= word_i;
      if (counter == DebugCounterCycles) value_q <= cycles_i;
      else if (counter > DebugCounterRefused) value_q <= '0;
    end
  end

  logic unused;
  assign unused = ^{answer_i.thread, answer_i.flags};

  `GS_ASSERT_NOW(an_answer_comes_only_to_a_request, !answer_valid_i || state_q == Wait)
endmodule
