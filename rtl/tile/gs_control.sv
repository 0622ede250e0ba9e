// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Control unit of a tile: the CSRs that belong neither to a core nor to the mailbox, traps, start and stop of threads,
/// the debug bus, and the counters.
///
/// Requests are answered in order of arrival; a request that must wait blocks the ones after it. No request waits for
/// the host: a report always has a slot in gs_report_queue, and only its thread waits until it has been sent.
///
///     request ->[ request ]->[ request, plan ]-> answer
///                                            +-> report queue -> debug bus -> answer
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
  // Address of the tile, host and job
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
  // Requests of threads, and their responses
  input  logic                               req_valid_i,
  output logic                               req_ready_o,
  input  to_control_t                        req_i,
  output logic                               ans_valid_o,
  input  logic                               ans_ready_i,
  output answer_t                            ans_o,
  // A flush of a thread's partition of its cache, requested until it is done
  output logic                               flush_valid_o,
  output logic [ThreadW-1:0]                 flush_thread_o,
  input  logic                               flush_done_i,
  // Cores: operations on threads (gs_thread_pkg), threads that park, instruction memories
  output logic [TileCores-1:0]               ctl_valid_o,
  input  logic [TileCores-1:0]               ctl_ready_i,
  output thread_ctl_t                        ctl_o,
  input  logic [TileCores-1:0]               ctl_allowed_i,
  input  logic [TileCores-1:0]               ctl_trapped_i,
  input  inspected_t [TileCores-1:0]         inspected_i,
  input  logic [TileCores-1:0]               park_i,
  input  logic [TileCores-1:0][TidW-1:0]     park_tid_i,
  output logic [InstrMems-1:0]               iwr_valid_o,
  output instr_access_t                      iwr_o,
  input  logic [InstrMems-1:0][31:0]         imem_rdata_i,
  // The loader's access to instruction memories: a bit for each memory to write, or for the one to read; words are
  // returned in the order of the reads
  input  logic [InstrMems-1:0]               load_iwr_valid_i,
  output logic                               load_iwr_ready_o,
  input  instr_access_t                      load_iwr_i,
  output logic                               load_iwr_rvalid_o,
  output logic [31:0]                        load_iwr_rdata_o,
  // Instructions that a thread has finished: gs_instret. instret_i is 0 unless the request holds it.
  output instret_ask_t                       instret_ask_o,
  input  logic                               instret_valid_i,
  input  logic [31:0]                        instret_i,
  // Number of threads that are started and have neither stopped nor trapped
  output logic [ThreadW:0]                   started_o,
  input  events_t                            events_i
);
  localparam int unsigned AllThreads = 1 << ThreadW;
  // Participating threads: all of the board, or the number that the host sets; if this tile is the whole board, the
  // number of threads that one command starts together.
  localparam int unsigned BoardW = $clog2(BoardThreads + 1);

  // The logic for requests, commands and reports sleeps without them; the counters never sleep.
  logic clk, cmd_busy, threads_busy, reports_busy, out_busy, first_valid_q, valid_q;
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(cmd_busy || threads_busy || reports_busy || out_busy || req_valid_i || first_valid_q || valid_q
            || ans_valid_o),
    .clk_o (clk)
  );

  // --------------------------------------------------------- debug bus: commands
  logic cmd_report_valid, cmd_report_ready, cmd_op_valid, cmd_op_ready, cmd_starts, cmd_first, cmd_uart, cmd_uart_ready;
  logic op_allowed, activate_valid, activate_ready;
  debug_report_e cmd_report_code;
  logic [7:0] cmd_report_first, cmd_byte;
  logic [63:0] cmd_report_rest;
  logic [31:0] cycles;
  thread_op_e cmd_op;
  logic [ThreadW-1:0] cmd_op_thread, activate_thread, cmd_thread;
  logic [ThreadW:0] cmd_count;
  logic cmd_threads_valid;
  logic [31:0] cmd_threads;
  logic [SlotW-1:0] slot;
  logic slot_high;
  logic [31:0] slot_word;

  // What the core of the thread that the command names reports
  inspected_t inspected;
  always_comb begin
    inspected = inspected_i[0];
    for (int unsigned c = 1; c < TileCores; c++) if ((cmd_thread >> TidW) == ThreadW'(c)) inspected = inspected_i[c];
  end

  gs_debug_command u_command (
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
    .flush_valid_o,
    .flush_done_i,
    .op_valid_o       (cmd_op_valid),
    .op_ready_i       (cmd_op_ready),
    .op_o             (cmd_op),
    .op_thread_o      (cmd_op_thread),
    .op_allowed_i     (op_allowed),
    .op_done_i        ((ctl_valid_o & ctl_ready_i) != '0),
    .inspected_i      (inspected),
    .instr_o          (ctl_o.instr),
    .starts_i         (cmd_starts),
    .activate_valid_o (activate_valid),
    .activate_ready_i (activate_ready),
    .activate_thread_o(activate_thread),
    .first_o          (cmd_first),
    .count_o          (cmd_count),
    .threads_valid_o  (cmd_threads_valid),
    .threads_o        (cmd_threads),
    .park_i,
    .park_tid_i,
    .uart_valid_o     (cmd_uart),
    .uart_ready_i     (cmd_uart_ready),
    .thread_o         (cmd_thread),
    .byte_o           (cmd_byte),
    .slot_i           (slot),
    .high_i           (slot_high),
    .word_i           (slot_word),
    .busy_o           (cmd_busy)
  );
  assign flush_thread_o = cmd_thread;

  // ------------------------------------------------------ requests of threads
  plan_t plan, plan_q;
  to_control_t first_q, req_q;
  logic [11:0] csr;
  logic go, done_q, start_rejected_q, traps, ans_free, ans_valid;
  logic [7:0] core_of_req;

  assign csr         = req_q.addr[11:0];
  assign core_of_req = 8'(req_q.thread >> TidW);
  // The request router delivers at most one request every other cycle.
  assign req_ready_o = !first_valid_q;
  assign traps       = plan_q.traps || start_rejected_q;

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      first_valid_q <= 1'b0;
      valid_q       <= 1'b0;
    end else begin
      first_valid_q <= first_valid_q ? valid_q && !go : req_valid_i;
      if (!valid_q || go) valid_q <= first_valid_q;
    end
    if (!first_valid_q) first_q <= req_i;
    if (!valid_q || go) begin
      req_q  <= first_q;
      plan_q <= plan;
    end
  end

  // Bytes for uart_get, each with a valid bit: cleared after reset, set by the host, cleared by uart_get. A byte is
  // read when the request arrives, and no byte of the host is written in that cycle. A byte that arrives later is for
  // the thread's next uart_get; a byte that was read as valid stays valid, because no other request takes it.
  logic got, got_we, take_got, clearing_q;
  logic [7:0] got_byte;
  logic [ThreadW-1:0] clear_q, got_thread;

  assign take_got       = go && plan_q.report && plan_q.kind == ReportTaken;
  assign cmd_uart_ready = !clearing_q && !take_got && (first_valid_q || !req_valid_i);
  assign got_we         = clearing_q || take_got || cmd_uart;
  assign got_thread     = clearing_q ? clear_q : take_got ? req_q.thread : cmd_thread;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) {clearing_q, clear_q} <= {1'b1, ThreadW'(0)};
    else if (clearing_q) {clearing_q, clear_q} <= {clear_q != '1, clear_q + ThreadW'(1)};
  end

  gs_ram_sdp #(
    .Width(9), .Depth(AllThreads), .Latency(1), .Style("block")
  ) u_got (
    .clk_i,
    .we_i   (got_we),
    .wstrb_i(1'b1),
    .waddr_i(got_thread),
    .wdata_i({!clearing_q && !take_got, cmd_byte}),
    .re_i   (!first_valid_q),
    .raddr_i(req_i.thread),
    .rdata_o({got, got_byte})
  );

  gs_control_decode u_decode (
    .req_i     (first_q),
    .got_i     (got),
    .got_byte_i(got_byte),
    .plan_o    (plan)
  );

  // Each thread's address for writes into instruction memory. The request after one that writes it is always of another
  // thread.
  logic [Log2InstrWords-1:0] instr_word, instr_word_q;
  gs_ram_sdp #(
    .Width(Log2InstrWords), .Depth(AllThreads), .Latency(1), .Style("block")
  ) u_instr_addr (
    .clk_i  (clk),
    .we_i   (go && plan_q.instr_address),
    .wstrb_i(1'b1),
    .waddr_i(req_q.thread),
    .wdata_i(req_q.data[2+:Log2InstrWords]),
    .re_i   (!valid_q || go),
    .raddr_i(first_q.thread),
    .rdata_o(instr_word)
  );

  // Requests of several cycles: an operation on a thread, a write into instruction memory, a read of a counter, and a
  // read of u_instr_addr, which is treated as one. The scan over the counters presents a counter for one cycle; the
  // request finishes after that cycle, or waits for the next pass of the scan.
  logic op_valid, op_ready, iwr_valid, iwr_ready, counted_q;
  logic [31:0] slot_word_q;
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
      CsrCycleHigh: want_slot = DebugCounterCycles[SlotW-1:0];
      CsrPerfCycles, CsrPerfCyclesHigh: want_slot = SlotCycles + SlotW'(core_of_req);
      default: want_slot = SlotIdle + SlotW'(core_of_req);
    endcase
    want_high = csr inside {CsrPerfIdleHigh, CsrPerfCyclesHigh, CsrCycleHigh};
  end
  // The counter's word is not yet valid in a request's first cycle.
  always_ff @(posedge clk) begin
    counted_q    <= valid_q && !go && slot == want_slot && slot_high == want_high;
    slot_word_q  <= slot_word;
    instr_word_q <= instr_word;
  end

  always_ff @(posedge clk) begin
    if (!rst_ni || go) begin
      done_q          <= 1'b0;
      start_rejected_q <= 1'b0;
    end else if (op_ready && plan_q.start && !start_rejected_q && !op_allowed) begin
      // The requesting thread traps instead.
      start_rejected_q <= 1'b1;
    end else if (op_ready || (iwr_valid && iwr_ready) || instret_valid_i) begin
      done_q <= 1'b1;
    end
  end

  // A report's response is sent after the report.
  logic report_ready, report_ans_valid, report_ans_ready;
  logic [ThreadW-1:0] report_ans_thread;
  logic [8:0] report_ans_data;
  logic [31:0] value;
  report_t report;

  assign ans_valid = !plan_q.report && !plan_q.ends;
  always_comb begin
    go = valid_q && (!ans_valid || (ans_free && !report_ans_valid)) && (!plan_q.report || report_ready);
    if (plan_q.start || plan_q.ends || plan_q.iwr || plan_q.instret) go &= done_q;
    if (plan_q.counter) go &= counted_q;
  end

  always_comb begin
    report          = '{kind: traps ? ReportTrap : plan_q.kind, thread: req_q.thread, about: plan_q.cause,
                        pc_known: plan_q.trap_has_pc, pc: req_q.addr[2+:PcWordW], data: req_q.data};
    if (plan_q.trap_is_csr) report.data = {20'd0, csr};
    if (plan_q.start && !start_rejected_q) report.about = 6'({core_of_req[CoreW-1:0], req_q.data[TidW-1:0]});
    if (plan_q.got && csr == CsrUartGet && !traps) report.data = {23'd0, 1'b1, plan_q.got_byte};
  end

  // Released with the response: in the next cycle the count must not coincide with another one.
  assign instret_ask_o = '{
    valid: valid_q && plan_q.instret && !done_q,
    hold: valid_q && plan_q.instret && !go,
    thread: req_q.thread,
    high: csr == CsrInstretHigh
  };

  logic [BoardW-1:0] threads_q;
  always_ff @(posedge clk) begin
    if (!rst_ni) threads_q <= BoardW'(BoardThreads);
    else if (cmd_threads_valid) threads_q <= BoardW'(cmd_threads);
    else if (cmd_first && BoardThreads == ThreadsPerTile) threads_q <= BoardW'(cmd_count);
  end
  logic unused_threads;
  assign unused_threads = (cmd_threads >> BoardW) != '0;

  always_comb begin
    value = '0;
    unique case (csr)
      // Without a request the value is constant, so that a simulator can skip idle tiles.
      CsrCycle: value = valid_q ? cycles : '0;
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
      CsrInstrAddress: value = 32'({instr_word_q, 2'b00});
      CsrCycleHigh, CsrPerfHits, CsrPerfMisses, CsrPerfWritebacks, CsrPerfIdle, CsrPerfIdleHigh, CsrPerfCycles,
      CsrPerfCyclesHigh: value = slot_word_q;
      default: ;
    endcase
  end

  // The router delivers a request every other cycle: one register for the response is enough.
  answer_t answer_q;
  logic answer_valid_q;
  assign ans_free = !answer_valid_q;
  always_ff @(posedge clk) begin
    if (!rst_ni) answer_valid_q <= 1'b0;
    else answer_valid_q <= ans_free ? report_ans_valid || (go && ans_valid) : !ans_ready_i;
    if (ans_free) begin
      answer_q <= '{thread: report_ans_valid ? report_ans_thread : req_q.thread,
                    data: report_ans_valid ? 32'(report_ans_data) : value | instret_i, flags: '0};
    end
  end
  assign ans_valid_o      = answer_valid_q;
  assign ans_o            = answer_q;
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
    .req_thread_i     ((plan_q.start && !start_rejected_q)
                       ? ThreadW'({core_of_req[CoreW-1:0], req_q.data[TidW-1:0]}) : req_q.thread),
    .cmd_valid_i      (cmd_op_valid),
    .cmd_ready_o      (cmd_op_ready),
    .cmd_op_i         (cmd_op),
    .cmd_thread_i     (cmd_op_thread),
    .allowed_o        (op_allowed),
    .hold_i           (flush_valid_o),
    .activate_valid_i (activate_valid),
    .activate_ready_o (activate_ready),
    .activate_thread_i(activate_thread),
    .started_o,
    .parked_valid_o   (parked_valid),
    .parked_ready_i   (parked_ready),
    .parked_thread_o  (parked_thread),
    .ctl_valid_o,
    .ctl_ready_i,
    .ctl_op_o         (ctl_o.op),
    .ctl_tid_o        (ctl_o.tid),
    .ctl_allowed_i,
    .ctl_trapped_i,
    .park_i,
    .busy_o           (threads_busy)
  );

  // --------------------------------------------------- instruction memories
  // It never sleeps: the loader works while the other blocks are idle.
  gs_instr_access u_instr_access (
    .clk_i,
    .rst_ni,
    .thread_valid_i(req_iwr),
    .thread_ready_o(iwr_ready),
    .thread_addr_i (instr_word),
    .thread_data_i (req_q.data),
    .load_valid_i  (load_iwr_valid_i),
    .load_ready_o  (load_iwr_ready_o),
    .load_i        (load_iwr_i),
    .load_rvalid_o (load_iwr_rvalid_o),
    .load_rdata_o  (load_iwr_rdata_o),
    .iwr_valid_o,
    .iwr_o,
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
    .events_i,
    .cycles_o   (cycles),
    .slot_o     (slot),
    .high_o     (slot_high),
    .word_o     (slot_word)
  );

  logic unused;
  assign unused = ^{req_q.op, req_q.funct3, cmd_count};

  `GS_ASSERT_NOW(uart_byte_is_not_written_while_it_is_read,
                 clearing_q || !(got_we && !first_valid_q && req_valid_i && got_thread == req_i.thread))
  `GS_ASSERT_NOW(thread_has_at_most_one_request_in_flight,
                 !(first_valid_q && valid_q && first_q.thread == req_q.thread))
  `GS_ASSERT_NOW(count_only_with_its_request, instret_i == '0 || (valid_q && plan_q.instret))
  `GS_ASSERT_NOW(response_register_never_overflows, !(go && ans_valid) || ans_free)
  `GS_ASSERT_NOW(byte_of_a_request_is_not_read_while_it_is_written, !(u_got.undefined && first_valid_q))
  `GS_ASSERT_NOW(address_of_a_request_is_not_read_while_it_is_written, !(u_instr_addr.undefined && valid_q))
endmodule
