// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Control unit of a tile: the CSRs that neither core nor mailbox has, traps, start and stop of threads, the debug bus,
/// and the counters.
///
/// A request is answered in the order in which it came; one that must wait for something holds up those behind it.
/// Nothing waits for the host: a report has its place (gs_report_queue), and its thread alone waits until it has left.
///
///     request ->[ request, plan ]-> answer
///                               +-> report queue -> debug bus -> answer
/// A thread that stops or traps gets no answer: it stays suspended.
module gs_control
  import gs_control_pkg::*;
  import gs_core_pkg::*;
  import gs_thread_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// hash of the configuration, for the host to compare
  parameter logic [31:0] ConfigHash = '0,
  /// threads of the board
  parameter int unsigned BoardThreads = Threads
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  // Who and where
  input  logic [11:0]                        board_i,
  input  logic [3:0]                         tile_y_i,
  input  logic [3:0]                         tile_x_i,
  input  logic [31:0]                        host_i,
  input  logic [6:0]                         job_i,
  // Debug bus
  input  logic                               dbg_in_valid_i,
  input  logic [7:0]                         dbg_in_data_i,
  output logic                               dbg_in_ready_o,
  output logic                               dbg_out_valid_o,
  output logic [7:0]                         dbg_out_data_o,
  input  logic                               dbg_out_ready_i,
  // Requests of threads, and answers
  input  logic                               req_valid_i,
  output logic                               req_ready_o,
  input  to_control_t                        req_i,
  output logic                               ans_valid_o,
  input  logic                               ans_ready_i,
  output answer_t                            ans_o,
  // Requests of the debug bus
  output logic                               dbg_req_valid_o,
  input  logic                               dbg_req_ready_i,
  output request_t                           dbg_req_o,
  output logic                               dbg_borrow_o,
  output logic [ThreadW-1:0]                 dbg_borrow_thread_o,
  input  logic                               dbg_ans_valid_i,
  input  answer_t                            dbg_ans_i,
  // Cores: operations on threads (gs_thread_pkg), threads that park, instruction memories
  output logic [TileCores-1:0]               ctl_valid_o,
  input  logic [TileCores-1:0]               ctl_ready_i,
  output thread_op_e                         ctl_op_o,
  output logic [TidW-1:0]                    ctl_tid_o,
  output logic [31:0]                        ctl_instr_o,
  input  logic [TileCores-1:0]               ctl_allowed_i,
  input  logic [TileCores-1:0]               ctl_trapped_i,
  input  logic [TileCores-1:0]               park_i,
  input  logic [TileCores-1:0][TidW-1:0]     park_tid_i,
  output logic [InstrMems-1:0]               iwr_valid_o,
  output logic                               iwr_write_o,
  output logic [Log2InstrWords-1:0]          iwr_addr_o,
  output logic [31:0]                        iwr_data_o,
  input  logic [InstrMems-1:0][31:0]         imem_rdata_i,
  // Instruction memories for the loader: a bit for each memory to write, or the one to read; words in order of reads
  input  logic [InstrMems-1:0]               load_iwr_valid_i,
  output logic                               load_iwr_ready_o,
  input  logic                               load_iwr_write_i,
  input  logic [Log2InstrWords-1:0]          load_iwr_addr_i,
  input  logic [31:0]                        load_iwr_data_i,
  output logic                               load_iwr_rvalid_o,
  output logic [31:0]                        load_iwr_rdata_o,
  // Instructions that a thread has finished: gs_instret. Its answer is 0 unless it is held.
  output logic                               instret_ask_o,
  output logic                               instret_hold_o,
  output logic [ThreadW-1:0]                 instret_thread_o,
  output logic                               instret_high_o,
  input  logic                               instret_valid_i,
  input  logic [31:0]                        instret_i,
  // Threads that are started and have neither stopped nor trapped
  output logic [(1<<ThreadW)-1:0]            active_o,
  // Events of this cycle, for the counters
  input  logic [TileCores-1:0]               issue_i,
  input  logic [3:0]                         hits_i,
  input  logic [3:0]                         misses_i,
  input  logic [3:0]                         writebacks_i,
  input  logic [3:0]                         sent_i,
  input  logic [3:0]                         received_i,
  input  logic                               flit_out_i,
  input  logic                               flit_in_i,
  input  logic [3:0]                         fpu_i,
  input  logic [3:0]                         refused_i
);
  localparam int unsigned AllThreads = 1 << ThreadW;
  // Threads that take part: all of the board, or, where this tile is the board, as many as the host started.
  localparam int unsigned BoardW = $clog2(BoardThreads + 1);

  // What has to do with requests, commands and reports sleeps without them; what counts does not.
  logic clk, cmd_busy, threads_busy, reports_busy, out_busy, valid_q;
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(cmd_busy || threads_busy || reports_busy || out_busy || req_valid_i || valid_q || ans_valid_o
            || dbg_ans_valid_i),
    .clk_o (clk)
  );

  // --------------------------------------------------------- debug bus: commands
  logic cmd_report_valid, cmd_report_ready, cmd_op_valid, cmd_op_ready, cmd_starts, cmd_first, cmd_uart;
  logic cmd_iwr_ready, op_allowed, activate_valid, activate_ready, refused;
  debug_report_e cmd_report_code;
  logic [7:0] cmd_report_first, cmd_byte;
  logic [63:0] cmd_report_rest, cycles;
  thread_op_e cmd_op;
  logic [ThreadW-1:0] cmd_op_thread, activate_thread, cmd_thread;
  logic [ThreadW:0] cmd_count;
  logic [InstrMems-1:0] cmd_iwr_valid;
  logic [Log2InstrWords-1:0] cmd_iwr_addr;
  logic [31:0] cmd_iwr_data;
  logic [SlotW-1:0] slot;
  logic slot_high;
  logic [31:0] slot_word;

  gs_command u_command (
    .clk_i            (clk),
    .rst_ni,
    .in_valid_i       (dbg_in_valid_i),
    .in_data_i        (dbg_in_data_i),
    .in_ready_o       (dbg_in_ready_o),
    .report_valid_o   (cmd_report_valid),
    .report_ready_i   (cmd_report_ready),
    .report_code_o    (cmd_report_code),
    .report_first_o   (cmd_report_first),
    .report_rest_o    (cmd_report_rest),
    .request_valid_o  (dbg_req_valid_o),
    .request_ready_i  (dbg_req_ready_i),
    .request_o        (dbg_req_o),
    .borrow_o         (dbg_borrow_o),
    .borrow_thread_o  (dbg_borrow_thread_o),
    .answer_valid_i   (dbg_ans_valid_i),
    .answer_i         (dbg_ans_i),
    .refused_i        (refused),
    .op_valid_o       (cmd_op_valid),
    .op_ready_i       (cmd_op_ready),
    .op_o             (cmd_op),
    .op_thread_o      (cmd_op_thread),
    .op_allowed_i     (op_allowed),
    .instr_o          (ctl_instr_o),
    .starts_i         (cmd_starts),
    .activate_valid_o (activate_valid),
    .activate_ready_i (activate_ready),
    .activate_thread_o(activate_thread),
    .first_o          (cmd_first),
    .count_o          (cmd_count),
    .park_i,
    .park_tid_i,
    .uart_o           (cmd_uart),
    .thread_o         (cmd_thread),
    .byte_o           (cmd_byte),
    .iwr_valid_o      (cmd_iwr_valid),
    .iwr_ready_i      (cmd_iwr_ready),
    .iwr_addr_o       (cmd_iwr_addr),
    .iwr_data_o       (cmd_iwr_data),
    .slot_i           (slot),
    .high_i           (slot_high),
    .word_i           (slot_word),
    .cycles_i         (cycles),
    .busy_o           (cmd_busy)
  );

  // ------------------------------------------------------ requests of threads
  plan_t plan, plan_q;
  to_control_t req_q;
  logic [11:0] csr;
  logic go, done_q, start_refused_q, traps, ans_free, ans_valid;
  logic [7:0] core_of_req;

  assign csr         = req_q.addr[11:0];
  assign core_of_req = 8'(req_q.thread >> TidW);
  assign req_ready_o = !valid_q || go;
  assign refused     = valid_q && plan_q.for_debug;
  assign traps       = plan_q.traps || start_refused_q;

  always_ff @(posedge clk) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (req_ready_o) valid_q <= req_valid_i;
    if (req_ready_o) begin
      req_q  <= req_i;
      plan_q <= plan;
    end
  end

  // Bytes for uart_get.
  logic [AllThreads-1:0] got_q;
  logic [7:0] got_byte;

  gs_ram_sdp #(
    .Width(8), .Depth(AllThreads), .Latency(0), .Style("distributed")
  ) u_got (
    .clk_i  (clk),
    .we_i   (cmd_uart),
    .wstrb_i(1'b1),
    .waddr_i(cmd_thread),
    .wdata_i(cmd_byte),
    .re_i   (1'b1),
    .raddr_i(req_i.thread),
    .rdata_o(got_byte)
  );

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      got_q <= '0;
    end else begin
      if (go && !traps && plan_q.report && plan_q.code == DebugReportTaken) got_q[req_q.thread] <= 1'b0;
      if (cmd_uart) got_q[cmd_thread] <= 1'b1;
    end
  end

  gs_control_decode u_decode (
    .req_i,
    .borrow_i       (dbg_borrow_o),
    .borrow_thread_i(dbg_borrow_thread_o),
    .got_i          (got_q[req_i.thread]),
    .got_byte_i     (got_byte),
    .plan_o         (plan)
  );

  // Each thread's address for writes into instruction memory.
  logic [Log2InstrWords-1:0] instr_word;
  gs_ram_sdp #(
    .Width(Log2InstrWords), .Depth(AllThreads), .Latency(0), .Style("distributed")
  ) u_instr_addr (
    .clk_i  (clk),
    .we_i   (go && plan_q.instr_address),
    .wstrb_i(1'b1),
    .waddr_i(req_q.thread),
    .wdata_i(req_q.data[2+:Log2InstrWords]),
    .re_i   (1'b1),
    .raddr_i(req_q.thread),
    .rdata_o(instr_word)
  );

  // What takes several cycles: an operation on a thread, a write into instruction memory, a count. A count comes by in
  // one cycle, in which the request goes, or later again.
  logic op_valid, op_ready, iwr_valid, iwr_ready, counted;
  logic [InstrMems-1:0] req_iwr;
  logic [SlotW-1:0] want_slot;
  logic want_high;

  assign op_valid  = valid_q && (plan_q.start || plan_q.ends) && !done_q;
  assign iwr_valid = valid_q && plan_q.iwr && !done_q;
  for (genvar i = 0; i < InstrMems; i++) begin : gen_req_iwr
    assign req_iwr[i] = iwr_valid && (core_of_req / 8'(CoresAMemory)) == 8'(i);
  end

  always_comb begin
    unique case (csr)
      CsrPerfHits: want_slot = SlotHits;
      CsrPerfMisses: want_slot = SlotMisses;
      CsrPerfWritebacks: want_slot = SlotWritebacks;
      default: want_slot = SlotIdle + SlotW'(core_of_req);
    endcase
    want_high = csr == CsrPerfIdleHigh;
  end
  assign counted = slot == want_slot && slot_high == want_high;

  always_ff @(posedge clk) begin
    if (!rst_ni || go) begin
      done_q          <= 1'b0;
      start_refused_q <= 1'b0;
    end else if (op_ready && plan_q.start && !start_refused_q && !op_allowed) begin
      // The thread that wanted to start another one traps instead.
      start_refused_q <= 1'b1;
    end else if (op_ready || (iwr_valid && iwr_ready) || instret_valid_i) begin
      done_q <= 1'b1;
    end
  end

  // A report's answer comes behind it.
  logic report_ready, report_ans_valid, report_ans_ready;
  logic [ThreadW-1:0] report_ans_thread;
  logic [31:0] report_ans_data, value;
  report_t report;

  assign ans_valid = !plan_q.report && !plan_q.ends && !plan_q.for_debug;
  always_comb begin
    go = valid_q && (!ans_valid || (ans_free && !report_ans_valid)) && (!plan_q.report || report_ready);
    if (plan_q.start || plan_q.ends || plan_q.iwr || plan_q.instret) go &= done_q;
    if (plan_q.counter) go &= counted;
  end

  always_comb begin
    report          = '{code: traps ? DebugReportTrap : plan_q.code, thread: req_q.thread, about: plan_q.cause,
                        pc_known: plan_q.trap_has_pc, pc: req_q.addr[2+:PcWordW], data: req_q.data};
    if (plan_q.trap_is_csr) report.data = {20'd0, csr};
    if (plan_q.start && !start_refused_q) report.about = 6'({core_of_req[CoreW-1:0], req_q.data[TidW-1:0]});
    if (plan_q.got && csr == CsrUartGet && !traps) report.data = {23'd0, 1'b1, plan_q.got_byte};
  end

  // Given up with the answer: in the next cycle it must not be there together with another.
  assign instret_hold_o   = valid_q && plan_q.instret && !go;
  assign instret_ask_o    = valid_q && plan_q.instret && !done_q;
  assign instret_thread_o = req_q.thread;
  assign instret_high_o   = csr == CsrInstretHigh;

  logic [BoardW-1:0] threads_q;
  always_ff @(posedge clk) begin
    if (!rst_ni) threads_q <= BoardW'(BoardThreads);
    else if (cmd_first && BoardThreads == ThreadsPerTile) threads_q <= BoardW'(cmd_count);
  end

  always_comb begin
    value = '0;
    unique case (csr)
      CsrCycle: value = cycles[31:0];
      CsrCycleHigh: value = cycles[63:32];
      CsrThreadId: begin
        value = gs_address_pkg::gs_program_address(
            '{kind: EndpointThread, spare: '0, board: board_i, tile_y: tile_y_i, tile_x: tile_x_i,
              thread: 6'(req_q.thread)},
            Log2ThreadsPerTile, Log2MeshWidth, Log2MeshHeight
        );
      end
      CsrHostId: value = host_i;
      CsrThreads: value = 32'(threads_q);
      CsrJob: value = 32'(job_i);
      CsrGuard: value = req_q.data;
      CsrInstrAddress: value = 32'({instr_word, 2'b00});
      CsrPerfHits, CsrPerfMisses, CsrPerfWritebacks, CsrPerfIdle, CsrPerfIdleHigh: value = slot_word;
      default: ;
    endcase
  end

  gs_skid #(
    .data_t(answer_t)
  ) u_answer (
    .clk_i      (clk),
    .rst_ni,
    .in_valid_i (report_ans_valid || (go && ans_valid)),
    .in_ready_o (ans_free),
    .in_data_i  (report_ans_valid ? {report_ans_thread, report_ans_data, 5'd0}
                                  : {req_q.thread, value | instret_i, 5'd0}),
    .out_valid_o(ans_valid_o),
    .out_ready_i(ans_ready_i),
    .out_data_o (ans_o)
  );
  assign report_ans_ready = ans_free;

  // ------------------------------------------------------------- threads
  logic parked_valid, parked_ready;
  logic [ThreadW-1:0] parked_thread;

  gs_thread_control u_threads (
    .clk_i            (clk),
    .rst_ni,
    .req_valid_i      (op_valid),
    .req_ready_o      (op_ready),
    .req_op_i         (traps ? ThreadTrap : plan_q.start ? ThreadStart : ThreadEnd),
    .req_thread_i     ((plan_q.start && !start_refused_q)
                       ? ThreadW'({core_of_req[CoreW-1:0], req_q.data[TidW-1:0]}) : req_q.thread),
    .cmd_valid_i      (cmd_op_valid),
    .cmd_ready_o      (cmd_op_ready),
    .cmd_op_i         (cmd_op),
    .cmd_thread_i     (cmd_op_thread),
    .allowed_o        (op_allowed),
    .activate_valid_i (activate_valid),
    .activate_ready_o (activate_ready),
    .activate_thread_i(activate_thread),
    .active_o,
    .parked_valid_o   (parked_valid),
    .parked_ready_i   (parked_ready),
    .parked_thread_o  (parked_thread),
    .ctl_valid_o,
    .ctl_ready_i,
    .ctl_op_o,
    .ctl_tid_o,
    .ctl_allowed_i,
    .ctl_trapped_i,
    .park_i,
    .busy_o           (threads_busy)
  );

  // --------------------------------------------------- instruction memories
  // It does not sleep: the loader works while nothing else does.
  gs_instr_access u_instr_access (
    .clk_i,
    .rst_ni,
    .dbg_valid_i   (cmd_iwr_valid),
    .dbg_ready_o   (cmd_iwr_ready),
    .dbg_addr_i    (cmd_iwr_addr),
    .dbg_data_i    (cmd_iwr_data),
    .thread_valid_i(req_iwr),
    .thread_ready_o(iwr_ready),
    .thread_addr_i (instr_word),
    .thread_data_i (req_q.data),
    .load_valid_i  (load_iwr_valid_i),
    .load_ready_o  (load_iwr_ready_o),
    .load_write_i  (load_iwr_write_i),
    .load_addr_i   (load_iwr_addr_i),
    .load_data_i   (load_iwr_data_i),
    .load_rvalid_o (load_iwr_rvalid_o),
    .load_rdata_o  (load_iwr_rdata_o),
    .iwr_valid_o,
    .iwr_write_o,
    .iwr_addr_o,
    .iwr_data_o,
    .imem_rdata_i
  );

  // ------------------------------------------------------------- reports
  logic queued_valid, queued_ready;
  report_word_t queued;

  gs_report_queue u_reports (
    .clk_i      (clk),
    .rst_ni,
    .in_valid_i (go && plan_q.report),
    .in_ready_o (report_ready),
    .in_i       (report),
    .out_valid_o(queued_valid),
    .out_ready_i(queued_ready),
    .out_o      (queued),
    .starts_o   (cmd_starts),
    .busy_o     (reports_busy)
  );

  gs_debug_out #(
    .Hash  (ConfigHash),
    .Counts({8'(InstrMems), 8'(ThreadsPerCore), 8'(ThreadsPerTile)})
  ) u_out (
    .clk_i          (clk),
    .rst_ni,
    .cmd_valid_i    (cmd_report_valid),
    .cmd_ready_o    (cmd_report_ready),
    .cmd_code_i     (cmd_report_code),
    .cmd_first_i    (cmd_report_first),
    .cmd_rest_i     (cmd_report_rest),
    .parked_valid_i (parked_valid),
    .parked_ready_o (parked_ready),
    .parked_thread_i(parked_thread),
    .thread_valid_i (queued_valid),
    .thread_ready_o (queued_ready),
    .thread_i       (queued),
    .ans_valid_o    (report_ans_valid),
    .ans_ready_i    (report_ans_ready),
    .ans_thread_o   (report_ans_thread),
    .ans_data_o     (report_ans_data),
    .out_valid_o    (dbg_out_valid_o),
    .out_data_o     (dbg_out_data_o),
    .out_ready_i    (dbg_out_ready_i),
    .busy_o         (out_busy)
  );

  // ------------------------------------------------------------- counters
  gs_tile_counters u_counters (
    .clk_i,
    .rst_ni,
    .control_i  (go && plan_q.perf_control),
    .command_i  (perf_command_e'(req_q.data[1:0])),
    .core_i     (core_of_req[CoreW-1:0]),
    .issue_i,
    .hits_i,
    .misses_i,
    .writebacks_i,
    .sent_i,
    .received_i,
    .refused_i,
    .flit_out_i,
    .flit_in_i,
    .fpu_i,
    .cycles_o   (cycles),
    .slot_o     (slot),
    .high_o     (slot_high),
    .word_o     (slot_word)
  );

  logic unused;
  assign unused = ^{req_q.op, req_q.funct3, cmd_count};

  `GS_ASSERT_NOW(a_count_is_for_its_request, instret_i == '0 || (valid_q && plan_q.instret))
  `GS_ASSERT_NOW(an_answer_finds_room, !(go && ans_valid) || ans_free)
endmodule
