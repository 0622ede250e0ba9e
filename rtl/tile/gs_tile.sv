// SPDX-License-Identifier: Apache-2.0

/// A tile: barrel cores, FPUs, caches, mailbox, control unit, and a slot for an accelerator.
///
///     debug bus <=> control ----+----------------+
///                     ^         | start, halt,   |
///                     |         v inject         v instructions
///     +------------ route <== cores ==> FPUs   instruction memories
///     |     |         ^        ^  ^      |
///     v     v         |        |  +------+ respond
///  caches  mailbox ==================== answers
///     |      ^
///  memory    +== switch <=> accelerator
///                  |
///               network
///
/// Requests of a core go out through one stream, by address to whom they concern; the answer wakes the thread.
module gs_tile
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// hash of the configuration, for the host to compare
  parameter logic [31:0] ConfigHash = '0,
  /// threads of the board
  parameter int unsigned BoardThreads = Threads,
  /// 1: the example accelerator stands in the slot
  parameter bit Accelerator = 1'b0,
  /// 1: there is no network: a thread that sends beyond the tile is stopped
  parameter bit Alone = 1'b0,
  /// 0: the mailbox has no local multicast (to compare areas)
  parameter bit Multicast = 1'b1,
  /// thread whose number, and part of the cache, the accelerator uses; it must not ask for memory at the same time
  parameter int unsigned AcceleratorThread = ThreadsPerTile - 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // Who and where: board, row and column of the tile, address of the host, job and epoch
  input  logic     [11:0]           board_i,
  input  logic     [3:0]            tile_y_i,
  input  logic     [3:0]            tile_x_i,
  input  logic     [31:0]           host_i,
  input  logic     [6:0]            job_i,
  // Debug bus, a byte each way
  input  logic                      dbg_in_valid_i,
  input  logic     [7:0]            dbg_in_data_i,
  output logic                      dbg_in_ready_o,
  output logic                      dbg_out_valid_o,
  output logic     [7:0]            dbg_out_data_o,
  input  logic                      dbg_out_ready_i,
  // Memory, a stream for each cache
  output logic     [TileCaches-1:0] mem_req_valid_o,
  input  logic     [TileCaches-1:0] mem_req_ready_i,
  output mem_req_t [TileCaches-1:0] mem_req_o,
  input  logic     [TileCaches-1:0] mem_rsp_valid_i,
  output logic     [TileCaches-1:0] mem_rsp_ready_o,
  input  mem_rsp_t [TileCaches-1:0] mem_rsp_i,
  // Network
  input  logic                      net_in_valid_i,
  output logic                      net_in_ready_o,
  input  flit_t                     net_in_i,
  output logic                      net_out_valid_o,
  input  logic                      net_out_ready_i,
  output flit_t                     net_out_o,
  // Idle detection: all started threads wait for idleness and nothing is under way in the mailbox; all of them voted
  // yes; one bit each for mailbox and accelerator: it sent a message, it got one, it got one for nobody; the
  // release, and whether everybody agreed
  output logic                      idle_all_o,
  output logic                      idle_votes_o,
  output logic                      idle_busy_o,
  output logic     [1:0]            idle_sent_o,
  output logic     [1:0]            idle_received_o,
  output logic     [1:0]            idle_dropped_o,
  input  logic                      idle_release_i,
  input  logic                      idle_agreed_i
);
  // Who asks: cores, debug bus, accelerator. Who answers: caches, mailbox, control unit, FPUs.
  localparam int unsigned Sources = TileCores + 2;
  localparam int unsigned FromDebug = TileCores;
  localparam int unsigned FromAccelerator = TileCores + 1;
  localparam int unsigned UnitMailbox = TileCaches;
  localparam int unsigned UnitControl = TileCaches + 1;
  localparam int unsigned UnitFpu = TileCaches + 2;
  localparam int unsigned Units = UnitFpu + TileFpus;
  localparam int unsigned AllThreads = 1 << ThreadW;

  if (AllThreads != TileCores * ThreadsPerCore || TileCores * ThreadsPerCore > 64) begin : gen_illegal_threads
    $fatal(1, "gs_tile: a tile has %0d cores of %0d threads; their product must be a power of two up to 64",
           TileCores, ThreadsPerCore);
  end

  logic     [Sources-1:0] req_valid, req_ready;
  request_t req[Sources];
  logic     [Units-1:0]   unit_valid, unit_ready;
  answer_t  unit_answer[Units];
  logic     [Sources-1:0] ans_valid;
  answer_t  ans[Sources];

  logic [TileCores-1:0] ctl_valid, ctl_ready, ctl_allowed, ctl_trapped, park, issue;
  gs_thread_pkg::thread_op_e ctl_op;
  logic [TidW-1:0] ctl_tid;
  logic [TileCores-1:0][TidW-1:0] park_tid;
  logic [31:0] ctl_instr, iwr_data;
  logic [AllThreads-1:0] active;
  logic [InstrMems-1:0] iwr_valid;
  logic iwr_write;
  logic [InstrMems-1:0][31:0] iwr_rdata;
  logic [Log2InstrWords-1:0] iwr_addr;

  // ---------------------------------------------------------------- cores
  // Registers between each core and what it asks: its queues, of block RAM, are not to wait for far decisions.
  logic [TileCores-1:0] f_valid, f_ready, core_f_valid, core_f_ready, core_x_valid, core_x_ready;
  f_req_t [TileCores-1:0] f_req, core_f_req;
  request_t [TileCores-1:0] core_x_req;
  logic [TileCores-1:0] imem_en, imem_we;
  logic [TileCores-1:0][Log2InstrWords-1:0] imem_addr;
  logic [TileCores-1:0][31:0] imem_wdata, imem_rdata;
  logic [TileCores-1:0] retire;
  logic [TileCores-1:0][TidW-1:0] retire_tid;

  for (genvar c = 0; c < TileCores; c++) begin : gen_core
    localparam int unsigned Mem = c / CoresAMemory;
    core_req_t x_req;

    gs_core #(
      .ThreadsPerCore(ThreadsPerCore),
      .InstrWords    (InstrWords),
      .x_req_t       (core_req_t),
      .f_req_t       (f_req_t),
      .rsp_t         (core_rsp_t)
    ) u_core (
      .clk_i,
      .rst_ni,
      .imem_en_o     (imem_en[c]),
      .imem_we_o     (imem_we[c]),
      .imem_addr_o   (imem_addr[c]),
      .imem_wdata_o  (imem_wdata[c]),
      .imem_rdata_i  (imem_rdata[c]),
      // The first core of a memory writes for all of them.
      .iwr_valid_i   (iwr_valid[Mem] && c % CoresAMemory == 0),
      .iwr_write_i   (iwr_write),
      .iwr_addr_i    (iwr_addr),
      .iwr_data_i    (iwr_data),
      .x_valid_o     (core_x_valid[c]),
      .x_ready_i     (core_x_ready[c]),
      .x_req_o       (x_req),
      .f_valid_o     (core_f_valid[c]),
      .f_ready_i     (core_f_ready[c]),
      .f_req_o       (core_f_req[c]),
      .rsp_valid_i   (ans_valid[c]),
      .rsp_i         ({ans[c].thread[TidW-1:0], ans[c].data, ans[c].flags}),
      .ctl_valid_i   (ctl_valid[c]),
      .ctl_ready_o   (ctl_ready[c]),
      .ctl_op_i      (ctl_op),
      .ctl_tid_i     (ctl_tid),
      .ctl_instr_i   (ctl_instr),
      .ctl_allowed_o (ctl_allowed[c]),
      .ctl_trapped_o (ctl_trapped[c]),
      .park_o        (park[c]),
      .park_tid_o    (park_tid[c]),
      .issue_o       (issue[c]),
      .retire_o      (retire[c]),
      .retire_tid_o  (retire_tid[c])
    );

    assign core_x_req[c] = '{op: x_op_e'(x_req.op), funct3: x_req.funct3,
                             thread: (ThreadW'(c) << TidW) | ThreadW'(x_req.tid), addr: x_req.addr, data: x_req.data};

    gs_skid #(.data_t(request_t)) u_x (
      .clk_i,
      .rst_ni,
      .in_valid_i (core_x_valid[c]),
      .in_ready_o (core_x_ready[c]),
      .in_data_i  (core_x_req[c]),
      .out_valid_o(req_valid[c]),
      .out_ready_i(req_ready[c]),
      .out_data_o (req[c])
    );

    gs_skid #(.data_t(f_req_t)) u_f (
      .clk_i,
      .rst_ni,
      .in_valid_i (core_f_valid[c]),
      .in_ready_o (core_f_ready[c]),
      .in_data_i  (core_f_req[c]),
      .out_valid_o(f_valid[c]),
      .out_ready_i(f_ready[c]),
      .out_data_o (f_req[c])
    );
  end

  for (genvar m = 0; m < InstrMems; m++) begin : gen_instr_mem
    localparam int unsigned A = m * CoresAMemory;
    assign iwr_rdata[m] = imem_rdata[A];
    if (CoresAMemory == 2) begin : gen_two
      gs_instr_mem #(.InstrWords(InstrWords)) u_instr_mem (
        .clk_i,
        .a_en_i   (imem_en[A]),
        .a_we_i   (imem_we[A]),
        .a_addr_i (imem_addr[A]),
        .a_wdata_i(imem_wdata[A]),
        .a_rdata_o(imem_rdata[A]),
        .b_en_i   (imem_en[A+1]),
        .b_we_i   (imem_we[A+1]),
        .b_addr_i (imem_addr[A+1]),
        .b_wdata_i(imem_wdata[A+1]),
        .b_rdata_o(imem_rdata[A+1])
      );
    end else begin : gen_one
      logic [31:0] unused_rdata;
      gs_instr_mem #(.InstrWords(InstrWords)) u_instr_mem (
        .clk_i,
        .a_en_i   (imem_en[A]),
        .a_we_i   (imem_we[A]),
        .a_addr_i (imem_addr[A]),
        .a_wdata_i(imem_wdata[A]),
        .a_rdata_o(imem_rdata[A]),
        .b_en_i   (1'b0),
        .b_we_i   (1'b0),
        .b_addr_i ('0),
        .b_wdata_i('0),
        .b_rdata_o(unused_rdata)
      );
    end
  end

  logic instret_ask, instret_hold, instret_high, instret_valid;
  logic [ThreadW-1:0] instret_thread;
  logic [31:0] instret;

  gs_instret #(
    .Cores         (TileCores),
    .ThreadsPerCore(ThreadsPerCore)
  ) u_instret (
    .clk_i,
    .rst_ni,
    .retire_i    (retire),
    .retire_tid_i(retire_tid),
    .ask_i       (instret_ask),
    .hold_i      (instret_hold),
    .ask_thread_i(instret_thread),
    .ask_high_i  (instret_high),
    .valid_o     (instret_valid),
    .value_o     (instret)
  );

  // ----------------------------------------------------------------- FPUs
  logic [3:0] fpu_started_q;
  always_ff @(posedge clk_i) fpu_started_q <= 4'($countones(f_valid & f_ready));

  for (genvar u = 0; u < TileFpus; u++) begin : gen_fpu
    f_rsp_t rsp;
    logic clk, busy;
    gs_clock_gate u_gate (.clk_i, .rst_ni, .busy_i(busy), .clk_o(clk));

    gs_fpu #(
      .NCores        (CoresAnFpu),
      .ThreadsPerCore(ThreadsPerCore),
      .f_req_t       (f_req_t),
      .f_rsp_t       (f_rsp_t)
    ) u_fpu (
      .clk_i      (clk),
      .rst_ni,
      .f_valid_i  (f_valid[u*CoresAnFpu+:CoresAnFpu]),
      .f_ready_o  (f_ready[u*CoresAnFpu+:CoresAnFpu]),
      .f_req_i    (f_req[u*CoresAnFpu+:CoresAnFpu]),
      .rsp_valid_o(unit_valid[UnitFpu+u]),
      .rsp_ready_i(unit_ready[UnitFpu+u]),
      .rsp_o      (rsp),
      .busy_o     (busy)
    );
    assign unit_answer[UnitFpu+u] = '{
      thread: (ThreadW'(u * CoresAnFpu + 32'(rsp.core)) << TidW) | ThreadW'(rsp.tid), data: rsp.data, flags: rsp.flags
    };
  end

  // ------------------------------------------------- requests and answers
  logic    [TileCaches-1:0] cache_valid, cache_ready;
  routed_t cache_req[TileCaches];
  logic mailbox_valid, mailbox_ready, control_valid, control_ready, late_valid, late_ready;
  routed_t mailbox_req, control_req;
  late_trap_t late;
  logic dbg_borrow, acc_borrow;
  logic [ThreadW-1:0] dbg_borrow_thread;

  gs_route #(.Sources(Sources)) u_route (
    .clk_i,
    .rst_ni,
    .in_valid_i     (req_valid),
    .in_ready_o     (req_ready),
    .in_i           (req),
    .cache_valid_o  (cache_valid),
    .cache_ready_i  (cache_ready),
    .cache_o        (cache_req),
    .mailbox_valid_o(mailbox_valid),
    .mailbox_ready_i(mailbox_ready),
    .mailbox_o      (mailbox_req),
    .control_valid_o(control_valid),
    .control_ready_i(control_ready),
    .control_o      (control_req),
    .late_valid_i   (late_valid),
    .late_ready_o   (late_ready),
    .late_i         (late)
  );

  gs_respond #(
    .Units    (Units),
    .Borrowers(2)
  ) u_respond (
    .clk_i,
    .rst_ni,
    .in_valid_i       (unit_valid),
    .in_ready_o       (unit_ready),
    .in_i             (unit_answer),
    .borrowed_i       ({acc_borrow, dbg_borrow}),
    .borrowed_thread_i({ThreadW'(AcceleratorThread), dbg_borrow_thread}),
    .out_valid_o      (ans_valid),
    .out_o            (ans)
  );

  // --------------------------------------------------------------- caches
  logic [TileCaches-1:0] hit, miss, writeback;

  for (genvar c = 0; c < TileCaches; c++) begin : gen_cache
    cache_req_t creq;
    cache_rsp_t crsp;
    logic [CacheThreadW-1:0] unused_event_thread, unused_writeback_thread;

    assign creq = '{
      op: cache_req[c].flush
        ? (cache_req[c].flush_all ? gs_cache_pkg::CacheFlushAll : gs_cache_pkg::CacheFlushLine)
        : (cache_req[c].op == XStore) ? gs_cache_pkg::CacheStore : gs_cache_pkg::CacheLoad,
      // A line to flush is named by its place.
      funct3: cache_req[c].flush ? 3'b001 : cache_req[c].funct3,
      thread: cache_req[c].thread[CacheThreadW-1:0], space: cache_req[c].space,
      addr: cache_req[c].addr, data: cache_req[c].data
    };

    gs_cache #(
      .Threads      (CacheThreads),
      .Ways         (CacheWays),
      .SetsPerThread(SetsPerThread),
      .LineBytes    (CacheLineBytes),
      .PortBytes    (DramPortBytes),
      .Inflight     (CacheInflight),
      .AddrW        (32),
      .cache_req_t  (cache_req_t),
      .cache_rsp_t  (cache_rsp_t),
      .mem_req_t    (mem_req_t),
      .mem_rsp_t    (mem_rsp_t)
    ) u_cache (
      .clk_i,
      .rst_ni,
      .req_valid_i       (cache_valid[c]),
      .req_ready_o       (cache_ready[c]),
      .req_i             (creq),
      .rsp_valid_o       (unit_valid[c]),
      .rsp_ready_i       (unit_ready[c]),
      .rsp_o             (crsp),
      .mem_req_valid_o   (mem_req_valid_o[c]),
      .mem_req_ready_i   (mem_req_ready_i[c]),
      .mem_req_o         (mem_req_o[c]),
      .mem_rsp_valid_i   (mem_rsp_valid_i[c]),
      .mem_rsp_ready_o   (mem_rsp_ready_o[c]),
      .mem_rsp_i         (mem_rsp_i[c]),
      .event_hit_o       (hit[c]),
      .event_miss_o      (miss[c]),
      .event_thread_o    (unused_event_thread),
      .event_writeback_o (writeback[c]),
      .writeback_thread_o(unused_writeback_thread)
    );
    assign unit_answer[c] = '{
      thread: ThreadW'(c * CacheThreads) | ThreadW'(crsp.thread), data: crsp.data, flags: '0
    };
  end

  // -------------------------------------------------------------- mailbox
  // Ports of the switch: 0 network, 1 mailbox, 2 accelerator.
  logic  [2:0] sw_in_valid, sw_in_ready, sw_out_valid, sw_out_ready;
  flit_t sw_in[3], sw_out[3];
  gs_mailbox_pkg::mailbox_req_t mreq;
  gs_mailbox_pkg::mailbox_rsp_t mrsp;
  gs_mailbox_pkg::mailbox_trap_t mtrap;
  address_tile_t here;
  logic unused_mailbox_awake, sent, received, dropped;

  assign here = '{kind: EndpointTile, board: board_i, tile_y: tile_y_i, tile_x: tile_x_i, default: '0};
  assign mreq = '{op: gs_mailbox_pkg::mailbox_op_e'(mailbox_req.op), funct3: mailbox_req.funct3,
                  thread: 6'(mailbox_req.thread), addr: mailbox_req.addr, data: mailbox_req.data};

  // It hears of threads that end, too: they count for idleness no more.
  logic mailbox_clk, mailbox_busy;
  logic [AllThreads-1:0] active_q;
  always_ff @(posedge clk_i) active_q <= active;
  gs_clock_gate u_mailbox_gate (
    .clk_i,
    .rst_ni,
    .busy_i(mailbox_busy || mailbox_valid || sw_out_valid[1] || idle_release_i || active != active_q),
    .clk_o (mailbox_clk)
  );

  gs_mailbox #(
    .Threads       (AllThreads),
    .SlotsPerThread(SlotsPerThread),
    .SlotBytes     (MailboxSlotBytes),
    .MaxFlits      (MailboxMaxFlits),
    .QueueDepth    (MailboxQueueDepth),
    .Base          (ScratchpadBase),
    .Multicast     (Multicast),
    .Alone         (Alone),
    .ThreadBits    (Log2ThreadsPerTile),
    .XBits         (Log2MeshWidth),
    .YBits         (Log2MeshHeight)
  ) u_mailbox (
    .clk_i         (mailbox_clk),
    .rst_ni,
    .tile_i        (here),
    .job_i         (job_i),
    .ready_o       (unused_mailbox_awake),
    .req_valid_i   (mailbox_valid),
    .req_ready_o   (mailbox_ready),
    .req_i         (mreq),
    .rsp_valid_o   (unit_valid[UnitMailbox]),
    .rsp_ready_i   (unit_ready[UnitMailbox]),
    .rsp_o         (mrsp),
    .trap_valid_o  (late_valid),
    .trap_ready_i  (late_ready),
    .trap_o        (mtrap),
    .net_valid_o   (sw_in_valid[1]),
    .net_ready_i   (sw_in_ready[1]),
    .net_o         (sw_in[1]),
    .net_valid_i   (sw_out_valid[1]),
    .net_ready_o   (sw_out_ready[1]),
    .net_i         (sw_out[1]),
    .active_i      (active),
    .idle_all_o,
    .idle_votes_o,
    .idle_release_i,
    .idle_agreed_i,
    .sent_o        (sent),
    .received_o    (received),
    .dropped_o     (dropped),
    .busy_o        (mailbox_busy)
  );
  logic unused_mailbox_req;
  assign unused_mailbox_req = ^{mailbox_req.space, mailbox_req.flush, mailbox_req.flush_all};
  assign unit_answer[UnitMailbox] = '{thread: mrsp.thread[ThreadW-1:0], data: mrsp.data, flags: '0};
  assign late = '{thread: mtrap.thread[ThreadW-1:0], cause: mtrap.cause, addr: mtrap.addr};

  // -------------------------------------------- network and accelerator
  assign sw_in_valid[0]  = net_in_valid_i;
  assign sw_in[0]        = net_in_i;
  assign net_in_ready_o  = sw_in_ready[0];
  assign net_out_valid_o = sw_out_valid[0];
  assign net_out_o       = sw_out[0];
  assign sw_out_ready[0] = net_out_ready_i;

  if (Accelerator) begin : gen_accelerator
    logic clk;
    gs_clock_gate u_gate (
      .clk_i,
      .rst_ni,
      .busy_i(sw_in_valid != '0 || sw_out_valid != '0 || req_valid[FromAccelerator] || !sw_out_ready[2]),
      .clk_o (clk)
    );

    gs_tile_switch u_switch (
      .clk_i      (clk),
      .rst_ni,
      .board_i,
      .tile_y_i,
      .tile_x_i,
      .in_valid_i (sw_in_valid),
      .in_ready_o (sw_in_ready),
      .in_i       (sw_in),
      .out_valid_o(sw_out_valid),
      .out_ready_i(sw_out_ready),
      .out_o      (sw_out)
    );

    request_t acc_req;
    gs_acc_sum u_accelerator (
      .clk_i          (clk),
      .rst_ni,
      .in_valid_i     (sw_out_valid[2]),
      .in_ready_o     (sw_out_ready[2]),
      .in_i           (sw_out[2]),
      .out_valid_o    (sw_in_valid[2]),
      .out_ready_i    (sw_in_ready[2]),
      .out_o          (sw_in[2]),
      .request_valid_o(req_valid[FromAccelerator]),
      .request_ready_i(req_ready[FromAccelerator]),
      .request_o      (acc_req),
      .answer_valid_i (ans_valid[FromAccelerator]),
      .answer_i       (ans[FromAccelerator])
    );
    assign req[FromAccelerator] = '{op: acc_req.op, funct3: acc_req.funct3, thread: ThreadW'(AcceleratorThread),
                                    addr: acc_req.addr, data: acc_req.data};
    logic unused_thread;
    assign unused_thread = ^acc_req.thread;

    // From its request until the answer, the thread's number is the accelerator's.
    logic asked_q;
    assign acc_borrow = asked_q || req_valid[FromAccelerator];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) asked_q <= 1'b0;
      else if (req_valid[FromAccelerator]) asked_q <= 1'b1;
      else if (ans_valid[FromAccelerator]) asked_q <= 1'b0;
    end

    // A message is received when its last flit is, and sent when its last flit is. What is in its hands counts
    // as busy: its answer is still to come.
    assign idle_sent_o     = {sw_in_valid[2] && sw_in_ready[2] && sw_in[2].last, sent};
    assign idle_received_o = {sw_out_valid[2] && sw_out_ready[2] && sw_out[2].last, received};
    assign idle_busy_o     = !sw_out_ready[2];
  end else begin : gen_no_accelerator
    assign sw_out_valid[0]            = sw_in_valid[1];
    assign sw_out[0]                  = sw_in[1];
    assign sw_in_ready[1]             = sw_out_ready[0];
    assign sw_out_valid[1]            = sw_in_valid[0];
    assign sw_out[1]                  = sw_in[0];
    assign sw_in_ready[0]             = sw_out_ready[1];
    assign {sw_out_valid[2], sw_in_valid[2]} = '0;
    assign {sw_out_ready[2], sw_in_ready[2]} = '0;
    assign sw_in[2]                   = '0;
    assign sw_out[2]                  = '0;
    assign req_valid[FromAccelerator] = 1'b0;
    assign req[FromAccelerator]       = '0;
    assign acc_borrow                 = 1'b0;
    assign idle_sent_o                = {1'b0, sent};
    assign idle_received_o            = {1'b0, received};
    assign idle_busy_o                = 1'b0;
    logic unused_accelerator;
    assign unused_accelerator = ^{req_ready[FromAccelerator], ans_valid[FromAccelerator], ans[FromAccelerator],
                                  sw_out_valid[2], sw_in_valid[2], sw_out_ready[2], sw_in_ready[2], sw_in[2],
                                  sw_out[2]};
  end
  assign idle_dropped_o = {1'b0, dropped};

  // --------------------------------------------------------- control unit
  logic unused_load_ready, unused_load_rvalid;
  logic [31:0] unused_load_rdata;
  gs_control #(
    .ConfigHash  (ConfigHash),
    .BoardThreads(BoardThreads)
  ) u_control (
    .clk_i,
    .rst_ni,
    .board_i,
    .tile_y_i,
    .tile_x_i,
    .host_i,
    .job_i,
    .dbg_in_valid_i,
    .dbg_in_data_i,
    .dbg_in_ready_o,
    .dbg_out_valid_o,
    .dbg_out_data_o,
    .dbg_out_ready_i,
    .req_valid_i        (control_valid),
    .req_ready_o        (control_ready),
    .req_i              (control_req),
    .ans_valid_o        (unit_valid[UnitControl]),
    .ans_ready_i        (unit_ready[UnitControl]),
    .ans_o              (unit_answer[UnitControl]),
    .dbg_req_valid_o    (req_valid[FromDebug]),
    .dbg_req_ready_i    (req_ready[FromDebug]),
    .dbg_req_o          (req[FromDebug]),
    .dbg_borrow_o       (dbg_borrow),
    .dbg_borrow_thread_o(dbg_borrow_thread),
    .dbg_ans_valid_i    (ans_valid[FromDebug]),
    .dbg_ans_i          (ans[FromDebug]),
    .ctl_valid_o        (ctl_valid),
    .ctl_ready_i        (ctl_ready),
    .ctl_op_o           (ctl_op),
    .ctl_tid_o          (ctl_tid),
    .ctl_instr_o        (ctl_instr),
    .ctl_allowed_i      (ctl_allowed),
    .ctl_trapped_i      (ctl_trapped),
    .park_i             (park),
    .park_tid_i         (park_tid),
    .iwr_valid_o        (iwr_valid),
    .iwr_write_o        (iwr_write),
    .iwr_addr_o         (iwr_addr),
    .iwr_data_o         (iwr_data),
    .imem_rdata_i       (iwr_rdata),
    .load_iwr_valid_i   ('0),
    .load_iwr_ready_o   (unused_load_ready),
    .load_iwr_write_i   (1'b0),
    .load_iwr_addr_i    ('0),
    .load_iwr_data_i    ('0),
    .load_iwr_rvalid_o  (unused_load_rvalid),
    .load_iwr_rdata_o   (unused_load_rdata),
    .instret_ask_o      (instret_ask),
    .instret_hold_o     (instret_hold),
    .instret_thread_o   (instret_thread),
    .instret_high_o     (instret_high),
    .instret_valid_i    (instret_valid),
    .instret_i          (instret),
    .active_o           (active),
    .issue_i            (issue),
    .hits_i             (4'($countones(hit))),
    .misses_i           (4'($countones(miss))),
    .writebacks_i       (4'($countones(writeback))),
    .sent_i             (4'(sent)),
    .received_i         (4'(received)),
    .flit_out_i         (net_out_valid_o && net_out_ready_i),
    .flit_in_i          (net_in_valid_i && net_in_ready_o),
    .fpu_i              (fpu_started_q)
  );
endmodule
