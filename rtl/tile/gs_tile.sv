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
  parameter bit Multicast = 1'b1
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
  // Network: a flit a cycle each way, shared data, a handshake for each virtual network. At most one valid bit is 1;
  // readiness does not depend on it. What leaves is valid only where it is taken.
  input  logic     [3:0]            net_in_valid_i,
  output logic     [3:0]            net_in_ready_o,
  input  flit_t                     net_in_i,
  output logic     [3:0]            net_out_valid_o,
  input  logic     [3:0]            net_out_ready_i,
  output flit_t                     net_out_o,
  // Size of the cluster, for destinations
  input  gs_address_pkg::cluster_t  cluster_i,
  // Idle detection: the state of mailbox and accelerator in one cycle; a thread is started; the release, and whether
  // everybody agreed
  output gs_idle_pkg::idle_status_t idle_o,
  output logic                      started_o,
  input  logic                      idle_release_i,
  input  logic                      idle_agreed_i
);
  // Units that answer: caches and control unit over one bus, FPUs and mailbox over the other.
  localparam int unsigned UnitControl = TileCaches;
  localparam int unsigned UnitFpu = TileCaches + 1;
  localparam int unsigned UnitMailbox = UnitFpu + TileFpus;
  localparam int unsigned Units = UnitMailbox + 1;
  localparam int unsigned AllThreads = 1 << ThreadW;

  if (AllThreads != TileCores * ThreadsPerCore || TileCores * ThreadsPerCore > 64) begin : gen_illegal_threads
    $fatal(1, "gs_tile: a tile has %0d cores of %0d threads; their product must be a power of two up to 64",
           TileCores, ThreadsPerCore);
  end

  logic     [TileCores-1:0] req_valid, req_ready;
  request_t req[TileCores];
  logic     [Units-1:0]     unit_valid, unit_ready;
  answer_t  unit_answer[Units];
  logic     [TileCores-1:0] ans_valid;
  answer_t  ans[TileCores];

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

  logic [InstrMems-1:0] load_iwr_valid;
  logic load_iwr_ready, load_iwr_write, load_iwr_rvalid;
  logic [Log2InstrWords-1:0] load_iwr_addr;
  logic [31:0] load_iwr_data, load_iwr_rdata;

  // ---------------------------------------------------------------- cores
  logic [TileCores-1:0] f_valid, f_ready, core_f_valid, core_f_ready, core_x_valid, core_x_ready;
  f_req_t [TileCores-1:0] f_req, core_f_req;
  request_t [TileCores-1:0] core_x_req;
  logic [TileCores-1:0] imem_en, imem_we;
  logic [TileCores-1:0][Log2InstrWords-1:0] imem_addr;
  logic [TileCores-1:0][31:0] imem_wdata, imem_rdata;
  logic dbg_req_valid, dbg_borrow;
  request_t dbg_req;
  logic [ThreadW-1:0] dbg_borrow_thread;
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

    // The debug bus enters through the first core's port.
    if (c == 0) begin : gen_debug
      assign req_valid[c]    = dbg_req_valid || core_x_valid[c];
      assign core_x_ready[c] = req_ready[c] && !dbg_req_valid;
      assign req[c]          = dbg_req_valid ? dbg_req : core_x_req[c];
    end else begin : gen_core_alone
      assign req_valid[c]    = core_x_valid[c];
      assign core_x_ready[c] = req_ready[c];
      assign req[c]          = core_x_req[c];
    end

    // A register before the FPU, which is far.
    assign core_f_ready[c] = !f_valid[c] || f_ready[c];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) f_valid[c] <= 1'b0;
      else if (core_f_ready[c]) f_valid[c] <= core_f_valid[c];
      if (core_f_ready[c] && core_f_valid[c]) f_req[c] <= core_f_req[c];
    end
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
  logic        [TileCaches-1:0] cache_valid, cache_ready;
  to_cache_t   cache_req[TileCaches];
  logic mailbox_valid, mailbox_ready, control_valid, control_ready, late_valid, late_ready;
  to_mailbox_t mailbox_req;
  to_control_t control_req;
  late_trap_t late;

  gs_route u_route (
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
    .UnitsA(TileCaches + 1),
    .UnitsB(TileFpus + 1)
  ) u_respond (
    .clk_i,
    .rst_ni,
    .in_valid_i (unit_valid),
    .in_ready_o (unit_ready),
    .in_i       (unit_answer),
    .out_valid_o(ans_valid),
    .out_o      (ans)
  );

  // --------------------------------------------------------------- caches
  logic [TileCaches-1:0] hit, miss, writeback, dbg_answers;
  answer_t dbg_answer[TileCaches];

  // Memory accesses past the caches, over the first cache's stream: 0 loader, 1 accelerator
  logic     [1:0] direct_valid, direct_ready, direct_rsp_valid;
  mem_req_t direct[2];

  for (genvar c = 0; c < TileCaches; c++) begin : gen_cache
    cache_req_t creq;
    cache_rsp_t crsp;
    logic [CacheThreadW-1:0] unused_event_thread, unused_writeback_thread;

    gs_tile_cache_pkg::mem_req_t cache_mreq;
    gs_tile_cache_pkg::mem_rsp_t cache_mrsp;
    logic cache_mreq_valid, cache_mreq_ready, cache_mrsp_valid, cache_mrsp_ready, rsp_valid, rsp_ready;
    mem_req_t own;

    assign creq = '{
      op: cache_req[c].flush
        ? (cache_req[c].flush_all ? gs_cache_pkg::CacheFlushAll : gs_cache_pkg::CacheFlushLine)
        : cache_req[c].store ? gs_cache_pkg::CacheStore : gs_cache_pkg::CacheLoad,
      // A line to flush is named by its place.
      funct3: cache_req[c].flush ? 3'b001 : cache_req[c].funct3,
      thread: cache_req[c].thread, space: cache_req[c].space, addr: cache_req[c].addr, data: cache_req[c].data
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
      .mem_req_t    (gs_tile_cache_pkg::mem_req_t),
      .mem_rsp_t    (gs_tile_cache_pkg::mem_rsp_t)
    ) u_cache (
      .clk_i,
      .rst_ni,
      .req_valid_i       (cache_valid[c]),
      .req_ready_o       (cache_ready[c]),
      .req_i             (creq),
      .rsp_valid_o       (rsp_valid),
      .rsp_ready_i       (rsp_ready),
      .rsp_o             (crsp),
      .mem_req_valid_o   (cache_mreq_valid),
      .mem_req_ready_i   (cache_mreq_ready),
      .mem_req_o         (cache_mreq),
      .mem_rsp_valid_i   (cache_mrsp_valid),
      .mem_rsp_ready_o   (cache_mrsp_ready),
      .mem_rsp_i         (cache_mrsp),
      .event_hit_o       (hit[c]),
      .event_miss_o      (miss[c]),
      .event_thread_o    (unused_event_thread),
      .event_writeback_o (writeback[c]),
      .writeback_thread_o(unused_writeback_thread)
    );
    assign unit_answer[c] = '{
      thread: ThreadW'(c * CacheThreads) | ThreadW'(crsp.thread), data: crsp.data, flags: '0
    };
    // While the debug bus waits for a cache, the answer to its thread is for it: that thread has none under way here.
    assign dbg_answers[c] = rsp_valid && dbg_borrow && unit_answer[c].thread == dbg_borrow_thread;
    assign unit_valid[c]  = rsp_valid && !dbg_answers[c];
    assign rsp_ready      = unit_ready[c] || dbg_answers[c];
    assign dbg_answer[c]  = unit_answer[c];

    // Its memory stream; the first cache shares its own with the accesses past the caches.
    assign own = '{write: cache_mreq.write, last: cache_mreq.last, space: cache_mreq.space, id: MemIdW'(cache_mreq.id),
                   addr: cache_mreq.addr, data: cache_mreq.data};
    assign cache_mrsp = '{ack: mem_rsp_i[c].ack, last: mem_rsp_i[c].last, id: mem_rsp_i[c].id[CacheThreadW-1:0],
                          data: mem_rsp_i[c].data};
    if (c == 0) begin : gen_shared
      localparam int unsigned N = Accelerator ? 3 : 2;
      logic [N-1:0] valid, ready, last;
      mem_req_t all[N];
      logic direct_rsp;
      assign direct_rsp          = mem_rsp_i[c].id[MemIdW-1];
      assign cache_mrsp_valid    = mem_rsp_valid_i[c] && !direct_rsp;
      assign mem_rsp_ready_o[c]  = direct_rsp || cache_mrsp_ready;
      assign direct_rsp_valid[0] = mem_rsp_valid_i[c] && direct_rsp && !mem_rsp_i[c].id[4];
      assign direct_rsp_valid[1] = mem_rsp_valid_i[c] && direct_rsp && mem_rsp_i[c].id[4];
      assign cache_mreq_ready    = ready[0];
      assign all[0]              = own;
      assign all[1]              = direct[0];
      if (Accelerator) begin : gen_three
        assign all[2]       = direct[1];
        assign valid        = {direct_valid, cache_mreq_valid};
        assign direct_ready = ready[2:1];
      end else begin : gen_two
        assign valid        = {direct_valid[0], cache_mreq_valid};
        assign direct_ready = {1'b0, ready[1]};
      end
      for (genvar i = 0; i < N; i++) begin : gen_last
        assign last[i] = all[i].last;
      end
      gs_mem_arbiter #(
        .N     (N),
        .data_t(mem_req_t)
      ) u_memory (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid),
        .in_ready_o (ready),
        .in_last_i  (last),
        .in_data_i  (all),
        .out_valid_o(mem_req_valid_o[c]),
        .out_ready_i(mem_req_ready_i[c]),
        .out_data_o (mem_req_o[c])
      );
    end else begin : gen_own
      assign mem_req_valid_o[c] = cache_mreq_valid;
      assign cache_mreq_ready   = mem_req_ready_i[c];
      assign mem_req_o[c]       = own;
      assign cache_mrsp_valid   = mem_rsp_valid_i[c];
      assign mem_rsp_ready_o[c] = cache_mrsp_ready;
    end
  end

  // -------------------------------------------------------------- mailbox
  logic box_in_valid, box_in_ready, box_out_valid, box_out_ready, far_out_valid, far_out_ready;
  flit_t box_in, box_out, far_out;
  gs_mailbox_pkg::mailbox_req_t mreq;
  gs_mailbox_pkg::mailbox_rsp_t mrsp;
  gs_mailbox_pkg::mailbox_trap_t mtrap;
  address_tile_t here;
  logic unused_mailbox_awake, sent, received, box_refused;
  refusal_e unused_refusal;
  gs_idle_pkg::idle_status_t mailbox_idle;
  logic [ThreadW:0] started_q;

  assign here = '{kind: EndpointTile, board: board_i, tile_y: tile_y_i, tile_x: tile_x_i, default: '0};
  assign mreq = '{op: gs_mailbox_pkg::mailbox_op_e'(mailbox_req.op), funct3: mailbox_req.funct3,
                  thread: 6'(mailbox_req.thread), addr: 32'(mailbox_req.addr), data: mailbox_req.data};

  // It hears of threads that end, too: they count for idleness no more.
  logic mailbox_clk, mailbox_busy;
  logic [AllThreads-1:0] active_q;
  always_ff @(posedge clk_i) begin
    active_q  <= active;
    started_q <= rst_ni ? (ThreadW + 1)'($countones(active)) : '0;
  end
  assign started_o = started_q != '0;
  gs_clock_gate u_mailbox_gate (
    .clk_i,
    .rst_ni,
    .busy_i(mailbox_busy || mailbox_valid || box_in_valid || idle_release_i || active != active_q),
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
    .job_i         (job_i[6:2]),
    .cluster_i,
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
    .net_out_valid_o(box_out_valid),
    .net_out_ready_i(box_out_ready),
    .net_out_o     (box_out),
    .far_out_valid_o(far_out_valid),
    .far_out_ready_i(far_out_ready),
    .far_out_o     (far_out),
    .net_in_valid_i(box_in_valid),
    .net_in_ready_o(box_in_ready),
    .net_in_i      (box_in),
    .started_i     (started_q),
    .idle_o        (mailbox_idle),
    .idle_release_i,
    .idle_agreed_i,
    .sent_o        (sent),
    .received_o    (received),
    .refused_valid_o(box_refused),
    .refused_o     (unused_refusal),
    .busy_o        (mailbox_busy)
  );
  assign unit_answer[UnitMailbox] = '{thread: mrsp.thread[ThreadW-1:0], data: mrsp.data, flags: '0};
  assign late = '{thread: mtrap.thread[ThreadW-1:0], cause: mtrap.cause, addr: mtrap.addr};

  // -------------------------------------------------------------- loader
  logic load_in_valid, load_in_ready, load_out_valid, load_out_ready, load_refused, load_busy, load_clk;
  flit_t load_in, load_out;
  gs_clock_gate u_load_gate (
    .clk_i,
    .rst_ni,
    .busy_i(load_busy || load_in_valid || direct_rsp_valid[0]),
    .clk_o (load_clk)
  );

  gs_tile_load u_load (
    .clk_i          (load_clk),
    .rst_ni,
    .job_i          (job_i[6:2]),
    .in_valid_i     (load_in_valid),
    .in_ready_o     (load_in_ready),
    .in_i           (load_in),
    .out_valid_o    (load_out_valid),
    .out_ready_i    (load_out_ready),
    .out_o          (load_out),
    .mem_req_valid_o(direct_valid[0]),
    .mem_req_ready_i(direct_ready[0]),
    .mem_req_o      (direct[0]),
    .mem_rsp_valid_i(direct_rsp_valid[0]),
    .mem_rsp_i      (mem_rsp_i[0]),
    .instr_valid_o  (load_iwr_valid),
    .instr_write_o  (load_iwr_write),
    .instr_addr_o   (load_iwr_addr),
    .instr_wdata_o  (load_iwr_data),
    .instr_ready_i  (load_iwr_ready),
    .instr_rvalid_i (load_iwr_rvalid),
    .instr_rdata_i  (load_iwr_rdata),
    .refused_o      (load_refused),
    .busy_o         (load_busy)
  );

  // --------------------------------------------------------- accelerator
  logic acc_in_valid, acc_in_ready, acc_out_valid, acc_out_ready, fault_valid, fault_ready, acc_dropped, switch_refused;
  logic acc_busy, switch_clk, beside_sent, beside_came, switch_refused_own;
  flit_t acc_in, acc_out, fault;

  if (Accelerator) begin : gen_accelerator
    logic request_valid, request_ready, answer_valid;
    request_t request;
    answer_t answer;
    address_accelerator_t acc_here;
    assign acc_here = '{kind: EndpointAccelerator, board: board_i, tile_y: tile_y_i, tile_x: tile_x_i, default: '0};

    gs_clock_gate u_gate (
      .clk_i,
      .rst_ni,
      .busy_i(net_in_valid_i != '0 || box_in_valid || box_out_valid || far_out_valid || load_out_valid || acc_in_valid
              || acc_busy),
      .clk_o (switch_clk)
    );

    gs_acc_sum u_accelerator (
      .clk_i          (switch_clk),
      .rst_ni,
      .in_valid_i     (acc_in_valid),
      .in_ready_o     (acc_in_ready),
      .in_i           (acc_in),
      .out_valid_o    (acc_out_valid),
      .out_ready_i    (acc_out_ready),
      .out_o          (acc_out),
      .request_valid_o(request_valid),
      .request_ready_i(request_ready),
      .request_o      (request),
      .answer_valid_i (answer_valid),
      .answer_i       (answer),
      .busy_o         (acc_busy)
    );

    gs_acc_memory u_memory (
      .clk_i          (switch_clk),
      .rst_ni,
      .here_i         (acc_here),
      .host_i,
      .job_i          (job_i[6:2]),
      .request_valid_i(request_valid),
      .request_ready_o(request_ready),
      .request_i      (request),
      .answer_valid_o (answer_valid),
      .answer_o       (answer),
      .mem_req_valid_o(direct_valid[1]),
      .mem_req_ready_i(direct_ready[1]),
      .mem_req_o      (direct[1]),
      .mem_rsp_valid_i(direct_rsp_valid[1]),
      .mem_rsp_i      (mem_rsp_i[0]),
      .fault_valid_o  (fault_valid),
      .fault_ready_i  (fault_ready),
      .fault_o        (fault)
    );
    // A message is received, or sent, when its last flit is. Until the answer has left the accelerator is busy.
    assign beside_sent = acc_out_valid && acc_out_ready && acc_out.last && !acc_dropped;
    assign beside_came = acc_in_valid && acc_in_ready && acc_in.last;
  end else begin : gen_no_accelerator
    assign switch_clk      = clk_i;
    assign direct_valid[1] = 1'b0;
    assign direct[1]       = '0;
    assign {acc_in_ready, acc_out_valid, fault_valid, acc_busy} = '0;
    assign {acc_out, fault} = '0;
    assign {beside_sent, beside_came} = '0;
    logic unused_accelerator;
    assign unused_accelerator = ^{acc_in_valid, acc_in, acc_out_ready, fault_ready, acc_busy, direct_ready[1], direct_valid[1],
                                  direct_rsp_valid[1], acc_dropped};
  end

  // Messages beside the mailbox: the accelerator's, and those that the switch refused.
  logic [31:0] beside_sent_q, beside_received_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beside_sent_q     <= '0;
      beside_received_q <= '0;
    end else begin
      if (beside_sent) beside_sent_q <= beside_sent_q + 32'd1;
      if (beside_came || switch_refused_own) beside_received_q <= beside_received_q + 32'd1;
    end
  end
  assign idle_o = '{
    idle: mailbox_idle.idle && !acc_busy && !load_busy, vote: mailbox_idle.vote, epoch: mailbox_idle.epoch,
    sent: mailbox_idle.sent + beside_sent_q, received: mailbox_idle.received + beside_received_q
  };

  // ------------------------------------------------------------- network
  gs_tile_switch #(
    .Accelerator(Accelerator),
    .Alone      (Alone)
  ) u_switch (
    .clk_i          (switch_clk),
    .rst_ni,
    .board_i,
    .tile_y_i,
    .tile_x_i,
    .job_i          (job_i[6:2]),
    .epoch_i        (mailbox_idle.epoch),
    .cluster_i,
    .net_in_valid_i,
    .net_in_ready_o,
    .net_in_i,
    .net_out_valid_o,
    .net_out_ready_i,
    .net_out_o,
    .box_in_valid_o (box_in_valid),
    .box_in_ready_i (box_in_ready),
    .box_in_o       (box_in),
    .box_out_valid_i(box_out_valid),
    .box_out_ready_o(box_out_ready),
    .box_out_i      (box_out),
    .far_out_valid_i(far_out_valid),
    .far_out_ready_o(far_out_ready),
    .far_out_i      (far_out),
    .load_in_valid_o(load_in_valid),
    .load_in_ready_i(load_in_ready),
    .load_in_o      (load_in),
    .load_out_valid_i(load_out_valid),
    .load_out_ready_o(load_out_ready),
    .load_out_i     (load_out),
    .acc_in_valid_o (acc_in_valid),
    .acc_in_ready_i (acc_in_ready),
    .acc_in_o       (acc_in),
    .acc_out_valid_i(acc_out_valid),
    .acc_out_ready_o(acc_out_ready),
    .acc_out_i      (acc_out),
    .fault_valid_i  (fault_valid),
    .fault_ready_o  (fault_ready),
    .fault_i        (fault),
    .acc_dropped_o  (acc_dropped),
    .refused_o      (switch_refused),
    .refused_own_o  (switch_refused_own)
  );
  logic unused_epoch;
  assign unused_epoch = ^job_i[1:0];

  // --------------------------------------------------------- control unit
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
    .dbg_req_valid_o    (dbg_req_valid),
    .dbg_req_ready_i    (req_ready[0]),
    .dbg_req_o          (dbg_req),
    .dbg_borrow_o       (dbg_borrow),
    .dbg_borrow_thread_o(dbg_borrow_thread),
    .dbg_ans_valid_i    (dbg_answers != '0),
    .dbg_ans_i          (dbg_answer[0]),
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
    .load_iwr_valid_i   (load_iwr_valid),
    .load_iwr_ready_o   (load_iwr_ready),
    .load_iwr_write_i   (load_iwr_write),
    .load_iwr_addr_i    (load_iwr_addr),
    .load_iwr_data_i    (load_iwr_data),
    .load_iwr_rvalid_o  (load_iwr_rvalid),
    .load_iwr_rdata_o   (load_iwr_rdata),
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
    .flit_out_i         (net_out_valid_o != '0),
    .flit_in_i          ((net_in_valid_i & net_in_ready_o) != '0),
    .fpu_i              (fpu_started_q),
    .refused_i          (4'(load_refused) + 4'(switch_refused) + 4'(box_refused))
  );
endmodule
