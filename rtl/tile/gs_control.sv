// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Control unit of a tile: the CSRs that neither core nor mailbox has, traps, start and stop of threads, the debug bus,
/// and the counters.
///
/// A request is answered in the order in which it came; one that must wait for something holds up those behind it.
///
///     request ->[ request, what it needs ]-> answer, report
/// A thread that stops or traps gets no answer: it stays suspended.
module gs_control
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
  input  routed_t                            req_i,
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
  // Cores
  output logic [TileCores-1:0]               start_valid_o,
  output logic [TidW-1:0]                    start_tid_o,
  input  logic [TileCores-1:0]               start_ready_i,
  output logic [(1<<ThreadW)-1:0]            halt_o,
  input  logic [(1<<ThreadW)-1:0]            parked_i,
  output logic [TileCores-1:0]               inject_valid_o,
  output logic [TidW-1:0]                    inject_tid_o,
  output logic [31:0]                        inject_instr_o,
  input  logic [TileCores-1:0]               inject_ready_i,
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
  input  logic [3:0]                         fpu_i
);
  localparam int unsigned AllThreads = 1 << ThreadW;
  localparam int unsigned Slots = 32;
  // Places of the counters: those of the debug bus first, then what threads read and clear.
  localparam int unsigned SlotHits = 16;
  localparam int unsigned SlotMisses = 17;
  localparam int unsigned SlotWritebacks = 18;
  localparam int unsigned SlotIdle = 24;
  // Those that the debug bus reads come first (but for cycles, which is none of them), those of the cores last.
  localparam logic [Slots-1:0] Counted = Slots'((64'd2 << DebugCounterFpu) - 64'd2)
      | Slots'(1 << SlotHits | 1 << SlotMisses | 1 << SlotWritebacks) | Slots'(((1 << TileCores) - 1) << SlotIdle);

  if (TileCores > 8) begin : gen_illegal_cores
    $fatal(1, "gs_control: a tile has %0d cores; it can have 8", TileCores);
  end

  logic [63:0] cycles_q;
  // Threads that take part: all of the board, or, where this tile is the board, as many as the host started.
  localparam int unsigned BoardW = $clog2(BoardThreads + 1);
  logic [BoardW-1:0] threads_q;
  logic [AllThreads-1:0] active_q, active_d, halt_q, trapped_q, told_q, activate;
  logic [AllThreads-1:0] got_q;
  logic [7:0] got_byte;

  // What has to do with requests, commands and reports sleeps without them; what counts does not.
  logic clk, cmd_busy, report_busy, valid_q, report_valid_q;
  gs_clock_gate u_gate (
    .clk_i,
    .rst_ni,
    .busy_i(cmd_busy || report_busy || report_valid_q || req_valid_i || valid_q || ans_valid_o || dbg_ans_valid_i
            || halt_q != '0),
    .clk_o (clk)
  );

  // ------------------------------------------------------------- reports
  // Three who report: requests, commands, and parked threads.
  typedef struct packed {
    debug_report_e code;
    logic [7:0]    first;
    logic [63:0]   rest;
  } report_t;
  logic [2:0] report_valid, report_ready;
  report_t report[3];
  report_t report_chosen;
  logic report_some, report_take, nearly_full, nearly_full_q;
  logic [1:0] unused_report_idx;

  gs_stream_arbiter #(
    .N     (3),
    .data_t(report_t)
  ) u_reports (
    .clk_i(clk),
    .rst_ni,
    .in_valid_i (report_valid),
    .in_ready_o (report_ready),
    .in_data_i  (report),
    .out_valid_o(report_some),
    .out_ready_i(report_take),
    .out_data_o (report_chosen),
    .out_idx_o  (unused_report_idx)
  );

  gs_debug_out #(
    .Hash  (ConfigHash),
    .Counts({8'(InstrMems), 8'(ThreadsPerCore), 8'(ThreadsPerTile)})
  ) u_out (
    .clk_i(clk),
    .rst_ni,
    .in_valid_i   (report_some),
    .in_ready_o   (report_take),
    .in_code_i    (report_chosen.code),
    .in_first_i   (report_chosen.first),
    .in_rest_i    (report_chosen.rest),
    .nearly_full_o(nearly_full),
    .out_valid_o  (dbg_out_valid_o),
    .out_data_o   (dbg_out_data_o),
    .out_ready_i  (dbg_out_ready_i),
    .busy_o       (report_busy)
  );

  // ------------------------------------------------------------ commands
  logic cmd_start_valid, cmd_start_ready, cmd_halt, cmd_resume, cmd_uart, cmd_inject_valid, cmd_inject_ready;
  logic cmd_looking, cmd_first;
  logic [7:0] cmd_count;
  logic [ThreadW-1:0] cmd_start_thread, cmd_thread;
  logic [7:0] cmd_byte, cmd_counter;
  logic [InstrMems-1:0] cmd_iwr_valid;
  logic cmd_iwr_ready;
  logic [Log2InstrWords-1:0] cmd_iwr_addr;
  logic [31:0] cmd_iwr_data;
  logic [63:0] counter, cmd_counter_value;
  logic refused;

  gs_command u_command (
    .clk_i(clk),
    .rst_ni,
    .in_valid_i     (dbg_in_valid_i),
    .in_data_i      (dbg_in_data_i),
    .in_ready_o     (dbg_in_ready_o),
    .report_valid_o (report_valid[1]),
    .report_ready_i (report_ready[1]),
    .report_code_o  (report[1].code),
    .report_first_o (report[1].first),
    .report_rest_o  (report[1].rest),
    .request_valid_o(dbg_req_valid_o),
    .request_ready_i(dbg_req_ready_i),
    .request_o      (dbg_req_o),
    .borrow_o       (dbg_borrow_o),
    .borrow_thread_o(dbg_borrow_thread_o),
    .answer_valid_i (dbg_ans_valid_i),
    .answer_i       (dbg_ans_i),
    .refused_i      (refused),
    .activate_o     (activate),
    .first_o        (cmd_first),
    .count_o        (cmd_count),
    .start_valid_o  (cmd_start_valid),
    .start_ready_i  (cmd_start_ready),
    .start_thread_o (cmd_start_thread),
    .halt_o         (cmd_halt),
    .resume_o       (cmd_resume),
    .uart_o         (cmd_uart),
    .thread_o       (cmd_thread),
    .byte_o         (cmd_byte),
    .iwr_valid_o    (cmd_iwr_valid),
    .iwr_ready_i    (cmd_iwr_ready),
    .iwr_addr_o     (cmd_iwr_addr),
    .iwr_data_o     (cmd_iwr_data),
    .inject_valid_o (cmd_inject_valid),
    .inject_ready_i (cmd_inject_ready),
    .inject_instr_o (inject_instr_o),
    .parked_i       (parked_i),
    .looking_o      (cmd_looking),
    .counter_o      (cmd_counter),
    .counter_i      (cmd_counter_value),
    .busy_o         (cmd_busy)
  );

  assign inject_tid_o = cmd_thread[TidW-1:0];
  // The command stands there a cycle before it injects.
  logic [TileCores-1:0] cmd_core_q;
  for (genvar c = 0; c < TileCores; c++) begin : gen_inject
    always_ff @(posedge clk) cmd_core_q[c] <= (cmd_thread >> TidW) == ThreadW'(c);
    assign inject_valid_o[c] = cmd_inject_valid && cmd_core_q[c];
  end
  assign cmd_inject_ready = (inject_valid_o & inject_ready_i) != '0;

  // ------------------------------------------------------ requests of threads
  // What a request needs is found out before it stands in its register; the answer is made behind that.
  typedef struct packed {
    logic          is_trap;
    logic          known;
    logic          writes;
    logic          late_for_debug;
    logic          silent;
    logic          ends;
    logic          report;
    debug_report_e code;
    logic          start;
    logic          iwr;
    logic          counter;
    logic          instret;
    logic [4:0]    counter_idx;
    logic          perf_write;
    // uart_put: there is room; uart_get: there is a byte
    logic          room;
    logic          got;
    logic [7:0]    got_byte;
  } plan_t;
  plan_t plan, plan_q;
  routed_t req;
  report_t req_report, report_q;
  logic [11:0] csr, csr_in;
  logic [31:0] value;
  logic go, slow_done;
  logic [31:0] instr_addr;
  logic [7:0] core_of_req;
  logic ans_free;
  logic slow_q;
  logic [2:0] counter_wait_q;

  assign req_ready_o = !valid_q || go;
  assign csr         = req.addr[11:0];
  assign core_of_req = 8'(req.thread >> TidW);
  assign refused     = valid_q && plan_q.late_for_debug;

  always_ff @(posedge clk) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (req_ready_o) valid_q <= req_valid_i;
    if (req_ready_o) begin
      req    <= req_i;
      plan_q <= plan;
    end
  end

  // Each thread's address for writes into instruction memory.
  gs_ram_sdp #(
    .Width(Log2InstrWords), .Depth(AllThreads), .Latency(0), .Style("distributed")
  ) u_instr_addr (
    .clk_i(clk),
    .we_i   (go && plan_q.writes && csr == CsrInstrAddress),
    .wstrb_i(1'b1),
    .waddr_i(req.thread),
    .wdata_i(req.data[2+:Log2InstrWords]),
    .re_i   (1'b1),
    .raddr_i(req.thread),
    .rdata_o(instr_addr[2+:Log2InstrWords])
  );
  assign instr_addr[1:0] = '0;
  assign instr_addr[31:2+Log2InstrWords] = '0;

  // Bytes for uart_get.
  gs_ram_sdp #(
    .Width(8), .Depth(AllThreads), .Latency(0), .Style("distributed")
  ) u_got (
    .clk_i(clk),
    .we_i   (cmd_uart),
    .wstrb_i(1'b1),
    .waddr_i(cmd_thread),
    .wdata_i(cmd_byte),
    .re_i   (1'b1),
    .raddr_i(req_i.thread),
    .rdata_o(got_byte)
  );

  assign csr_in = req_i.addr[11:0];
  always_comb begin
    plan             = '{code: DebugReportTrap, default: '0};
    plan.known       = 1'b1;
    plan.is_trap     = req_i.op == XTrap;
    plan.writes      = req_i.op == XCsr && req_i.funct3[0];
    plan.room        = !nearly_full_q;
    plan.got         = got_q[req_i.thread];
    plan.got_byte    = got_byte;
    plan.counter_idx = 5'(SlotHits);
    // A request of the debug bus that memory refused comes as a trap of the thread whose number it borrowed.
    plan.late_for_debug = plan.is_trap && req_i.addr[25:0] == PcUnknown && dbg_borrow_o
                        && req_i.thread == dbg_borrow_thread_o;
    unique case (csr_in)
      CsrCycle, CsrCycleHigh, CsrThreadId, CsrHostId, CsrThreads, CsrJob, CsrGuard, CsrInstrAddress: ;
      CsrInstret, CsrInstretHigh: plan.instret = 1'b1;
      CsrInstrWrite: plan.iwr = plan.writes;
      CsrThreadStart: begin
        plan.start  = plan.writes;
        plan.report = plan.writes;
        plan.code   = DebugReportStarted;
      end
      CsrThreadStop: begin
        plan.report = plan.writes;
        plan.silent = plan.writes;
        plan.ends   = plan.writes;
        plan.code   = DebugReportStopped;
      end
      CsrEmit: begin
        plan.report = plan.writes;
        plan.code   = DebugReportEmit;
      end
      CsrDebugValue: begin
        plan.report = plan.writes;
        plan.code   = DebugReportDebugValue;
      end
      CsrUartPut: begin
        plan.report = plan.writes && plan.room;
        plan.code   = DebugReportUart;
      end
      CsrUartGet: begin
        plan.report = plan.got;
        plan.code   = DebugReportTaken;
      end
      CsrPerfControl: plan.perf_write = plan.writes;
      CsrPerfHits: plan.counter = 1'b1;
      CsrPerfMisses: begin
        plan.counter     = 1'b1;
        plan.counter_idx = 5'(SlotMisses);
      end
      CsrPerfWritebacks: begin
        plan.counter     = 1'b1;
        plan.counter_idx = 5'(SlotWritebacks);
      end
      CsrPerfIdle, CsrPerfIdleHigh: begin
        plan.counter     = 1'b1;
        plan.counter_idx = 5'(SlotIdle) + 5'(req_i.thread >> TidW);
      end
      // The board's router counts these; a tile alone has none.
      CsrPerfRouted, CsrPerfRoutedOff: ;
      default: plan.known = 1'b0;
    endcase
    if (plan.is_trap || !plan.known) begin
      plan.report     = !plan.late_for_debug;
      plan.start      = 1'b0;
      plan.iwr        = 1'b0;
      plan.counter    = 1'b0;
      plan.instret    = 1'b0;
      plan.perf_write = 1'b0;
      plan.silent     = 1'b1;
      plan.ends       = !plan.late_for_debug;
      plan.code       = DebugReportTrap;
    end
  end

  always_comb begin
    value = '0;
    unique case (csr)
      CsrCycle: value = cycles_q[31:0];
      CsrCycleHigh: value = cycles_q[63:32];
      CsrThreadId: begin
        value = gs_address_pkg::gs_program_address(
            '{kind: EndpointThread, spare: '0, board: board_i, tile_y: tile_y_i, tile_x: tile_x_i,
              thread: 6'(req.thread)},
            Log2ThreadsPerTile, Log2MeshWidth, Log2MeshHeight
        );
      end
      CsrHostId: value = host_i;
      CsrThreads: value = 32'(threads_q);
      CsrJob: value = 32'(job_i);
      CsrGuard: value = req.data;
      CsrInstrAddress: value = instr_addr;
      CsrUartPut: value = {31'd0, plan_q.room};
      CsrUartGet: value = plan_q.got ? {23'd0, 1'b1, plan_q.got_byte} : '0;
      CsrPerfHits, CsrPerfMisses, CsrPerfWritebacks, CsrPerfIdle: value = counter[31:0];
      CsrPerfIdleHigh: value = counter[63:32];
      default: ;
    endcase
    req_report = '{code: plan_q.code, first: 8'(req.thread), rest: {32'd0, req.data}};
    if (plan_q.start) req_report.first = 8'({core_of_req[CoreW-1:0], req.data[TidW-1:0]});
    if (plan_q.is_trap) req_report.rest = {req.data, req.addr[25:0], req.addr[31:26]};
    else if (!plan_q.known) req_report.rest = {20'd0, csr, PcUnknown, TrapIllegalInstruction};
  end

  // Everything that the request needs is there in the cycle in which it goes; the slow ones have been done before.
  // Its report waits in a register of its own.
  logic start_free, iwr_req_done;
  assign slow_done = !(plan_q.start || plan_q.iwr || plan_q.counter || plan_q.instret) || slow_q;
  assign go        = valid_q && (plan_q.silent || ans_free) && slow_done && (!plan_q.report || !report_valid_q);
  assign report_valid[0] = report_valid_q;
  assign report[0]       = report_q;

  always_ff @(posedge clk) begin
    nearly_full_q <= nearly_full;
    if (!rst_ni) report_valid_q <= 1'b0;
    else if (!report_valid_q) report_valid_q <= go && plan_q.report;
    else if (report_ready[0]) report_valid_q <= 1'b0;
    if (!report_valid_q) report_q <= req_report;
  end

  // Given up with the answer: in the next cycle it must not stand beside another.
  assign instret_hold_o   = valid_q && plan_q.instret && !go;
  assign instret_ask_o    = valid_q && plan_q.instret && !slow_q;
  assign instret_thread_o = req.thread;
  assign instret_high_o   = csr == CsrInstretHigh;

  // The RAM of the counters has one port for reading: the host goes first.
  // Start by a thread, writes into instruction memory, and reads of counters take several cycles.
  logic slow_start, slow_iwr;
  logic [InstrMems-1:0] req_iwr;
  assign slow_start = valid_q && plan_q.start && !slow_q;
  assign slow_iwr   = valid_q && plan_q.iwr && !slow_q;
  for (genvar i = 0; i < InstrMems; i++) begin : gen_req_iwr
    assign req_iwr[i] = slow_iwr && (core_of_req / 8'(CoresAMemory)) == 8'(i);
  end

  logic iwr_req_ready;
  assign iwr_req_done = req_iwr != '0 && iwr_req_ready;

  // It does not sleep: the loader works while nothing else does.
  gs_instr_access u_instr_access (
    .clk_i,
    .rst_ni,
    .dbg_valid_i   (cmd_iwr_valid),
    .dbg_ready_o   (cmd_iwr_ready),
    .dbg_addr_i    (cmd_iwr_addr),
    .dbg_data_i    (cmd_iwr_data),
    .thread_valid_i(req_iwr),
    .thread_ready_o(iwr_req_ready),
    .thread_addr_i (instr_addr[2+:Log2InstrWords]),
    .thread_data_i (req.data),
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

  // The same with starts; who starts stands in a register until the core has taken it.
  logic [ThreadW-1:0] start_thread_q;
  logic start_valid_q, start_cmd_q, start_ready;
  always_ff @(posedge clk) begin
    if (!rst_ni) start_valid_q <= 1'b0;
    else start_valid_q <= start_valid_q ? !start_ready : cmd_start_valid || slow_start;
    if (!start_valid_q) begin
      start_cmd_q    <= cmd_start_valid;
      start_thread_q <= cmd_start_valid ? cmd_start_thread : {core_of_req, req.data[TidW-1:0]}[ThreadW-1:0];
    end
  end
  assign start_tid_o = start_thread_q[TidW-1:0];
  for (genvar c = 0; c < TileCores; c++) begin : gen_start
    assign start_valid_o[c] = start_valid_q && (start_thread_q >> TidW) == ThreadW'(c);
  end
  assign start_ready     = (start_valid_o & start_ready_i) != '0;
  assign cmd_start_ready = start_ready && start_cmd_q;
  assign start_free      = start_ready && !start_cmd_q;

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      slow_q         <= 1'b0;
      counter_wait_q <= '0;
    end else begin
      if (go) slow_q <= 1'b0;
      else if (start_free || iwr_req_done || counter_wait_q[2] || instret_valid_i) slow_q <= 1'b1;
      counter_wait_q <= (valid_q && plan_q.counter && !go && !cmd_looking) ? {counter_wait_q[1:0], 1'b1} : '0;
    end
  end

  gs_skid #(
    .data_t(answer_t)
  ) u_answer (
    .clk_i(clk),
    .rst_ni,
    .in_valid_i (go && !plan_q.silent),
    .in_ready_o (ans_free),
    .in_data_i  ({req.thread, value | instret_i, 5'd0}),
    .out_valid_o(ans_valid_o),
    .out_ready_i(ans_ready_i),
    .out_data_o (ans_o)
  );

  // -------------------------------------------------------- states of threads
  logic [ThreadW-1:0] look_q;
  logic [AllThreads-1:0] req_one, cmd_one, start_one;

  // What befalls a thread shows a cycle later.
  logic ends_q, traps_q, started_q, own_start_q;
  logic [ThreadW-1:0] end_thread_q, started_thread_q;
  logic [AllThreads-1:0] activate_q, end_one;
  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      {ends_q, traps_q, started_q, own_start_q} <= '0;
      activate_q <= '0;
    end else begin
      ends_q      <= go && plan_q.ends;
      traps_q     <= go && plan_q.ends && (plan_q.is_trap || !plan_q.known);
      started_q   <= start_ready;
      own_start_q <= start_free;
      activate_q  <= activate;
    end
    end_thread_q     <= req.thread;
    started_thread_q <= start_thread_q;
  end

  assign req_one   = AllThreads'(1) << req.thread;
  assign end_one   = AllThreads'(1) << end_thread_q;
  assign cmd_one   = AllThreads'(1) << cmd_thread;
  assign start_one = AllThreads'(1) << started_thread_q;
  assign active_o  = active_q;
  assign halt_o    = halt_q | trapped_q;

  always_comb begin
    active_d = active_q | activate_q;
    if (own_start_q) active_d |= start_one;
    if (ends_q) active_d &= ~end_one;
  end

  // One thread a cycle is looked at: is it parked, and has the host not heard of it?
  logic seen_q, told_valid_q, tell;
  logic [ThreadW-1:0] seen_thread_q, told_thread_q;
  assign tell            = seen_q && !told_valid_q;
  assign report_valid[2] = told_valid_q;
  assign report[2]       = '{code: DebugReportParked, first: 8'(told_thread_q), rest: '0};

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      active_q  <= '0;
      halt_q    <= '0;
      trapped_q <= '0;
      told_q    <= '0;
      got_q     <= '0;
      look_q    <= '0;
      seen_q       <= 1'b0;
      told_valid_q <= 1'b0;
      threads_q <= BoardW'(BoardThreads);
    end else begin
      active_q  <= active_d;
      if (cmd_first && BoardThreads == ThreadsPerTile) threads_q <= BoardW'(cmd_count);
      halt_q    <= (halt_q | (cmd_halt ? cmd_one : '0)) & ~(cmd_resume ? cmd_one : '0);
      trapped_q <= (trapped_q | (traps_q ? end_one : '0))
                 & ~(started_q ? start_one : '0);
      told_q    <= (told_q | (tell ? AllThreads'(1) << seen_thread_q : '0))
                 & ~((cmd_halt || cmd_resume) ? cmd_one : '0);
      got_q     <= (got_q & ~((go && plan_q.code == DebugReportTaken && plan_q.report) ? req_one : '0))
                 | (cmd_uart ? cmd_one : '0);
      // Not while one is being told about: that it is shows a cycle later.
      if (halt_q != '0 && !seen_q) look_q <= look_q + ThreadW'(1);
      seen_q <= seen_q ? told_valid_q
              : halt_q[look_q] && parked_i[look_q] && !told_q[look_q] && !trapped_q[look_q];
      if (!told_valid_q) told_valid_q <= seen_q;
      else if (report_ready[2]) told_valid_q <= 1'b0;
    end
    if (!seen_q) seen_thread_q <= look_q;
    if (!told_valid_q) told_thread_q <= seen_thread_q;
  end

  // ------------------------------------------------------------- counters
  logic [3:0] inc[Slots];
  logic [Slots-1:0] clear, clear_q;
  logic [7:0] counting_q;
  logic [7:0] idle_q;
  logic [3:0] issued_q;

  always_ff @(posedge clk) begin
    if (!rst_ni) counting_q <= '0;
    else if (go && plan_q.perf_write) begin
      if (req.data[1:0] == PerfCommandStart) counting_q[core_of_req[2:0]] <= 1'b1;
      if (req.data[1:0] == PerfCommandStop) counting_q[core_of_req[2:0]] <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) cycles_q <= '0;
    else cycles_q <= cycles_q + 64'd1;
    idle_q   <= 8'(~issue_i);
    issued_q <= 4'($countones(issue_i));
  end

  // The cache's are shared: any core that counts lets them count.
  logic cache_counts;
  assign cache_counts = counting_q[TileCores-1:0] != '0;

  for (genvar i = 0; i < int'(Slots); i++) begin : gen_inc
    if (!Counted[i]) begin : gen_none
      assign inc[i] = '0;
    end else if (i >= int'(SlotIdle)) begin : gen_idle
      assign inc[i] = 4'(idle_q[i-int'(SlotIdle)] && counting_q[i-int'(SlotIdle)]);
    end
  end
  assign inc[DebugCounterInstructions[4:0]] = issued_q;
  assign inc[DebugCounterIdle[4:0]]         = 4'(TileCores) - issued_q;
  assign inc[DebugCounterHits[4:0]]         = hits_i;
  assign inc[DebugCounterMisses[4:0]]       = misses_i;
  assign inc[DebugCounterWritebacks[4:0]]   = writebacks_i;
  assign inc[DebugCounterSent[4:0]]         = sent_i;
  assign inc[DebugCounterReceived[4:0]]     = received_i;
  assign inc[DebugCounterFlitsOut[4:0]]     = 4'(flit_out_i);
  assign inc[DebugCounterFlitsIn[4:0]]      = 4'(flit_in_i);
  assign inc[DebugCounterFpu[4:0]]          = fpu_i;
  assign inc[SlotHits]                      = cache_counts ? hits_i : '0;
  assign inc[SlotMisses]                    = cache_counts ? misses_i : '0;
  assign inc[SlotWritebacks]                = cache_counts ? writebacks_i : '0;

  always_comb begin
    clear = '0;
    if (go && plan_q.perf_write && req.data[1:0] == PerfCommandClear) begin
      clear[SlotHits]       = 1'b1;
      clear[SlotMisses]     = 1'b1;
      clear[SlotWritebacks] = 1'b1;
      clear[5'(SlotIdle)+5'(core_of_req)] = 1'b1;
    end
  end

  always_ff @(posedge clk_i) clear_q <= rst_ni ? clear : '0;

  gs_counters #(
    .Slots(Slots),
    .IncW (4),
    .Used (Counted)
  ) u_counters (
    .clk_i,
    .rst_ni,
    .inc_i  (inc),
    .clear_i(clear_q),
    .idx_i  (cmd_looking ? cmd_counter[4:0] : plan_q.counter_idx),
    .value_o(counter)
  );

  always_comb begin
    cmd_counter_value = counter;
    if (cmd_counter == DebugCounterCycles) cmd_counter_value = cycles_q;
    else if (cmd_counter > DebugCounterFpu) cmd_counter_value = '0;
  end

  logic unused;
  assign unused = ^{req.op, req.funct3, req.space, req.flush_all, req.flush, cmd_count};

  `GS_ASSERT_NOW(a_count_is_for_who_asked, instret_i == '0 || (valid_q && plan_q.instret))
  `GS_ASSERT_NOW(an_answer_finds_room, !(go && !plan_q.silent) || ans_free)
endmodule
