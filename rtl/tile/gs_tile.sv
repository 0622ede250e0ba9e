// SPDX-License-Identifier: Apache-2.0

/// A tile: barrel cores, FPUs, caches, mailbox, control unit, loader, and a slot for an accelerator.
///
/// A core sends its requests over one stream to the unit that address or register select; the response resumes the
/// thread. docs/hardware/tile.md shows the block diagram.
module gs_tile
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// hash of the configuration, for the host to compare
  parameter logic [31:0] ConfigHash = '0,
  /// threads of the board
  parameter int unsigned BoardThreads = Threads,
  /// 1: the slot holds an accelerator: the match engine, or the example if the configuration has no match engine in
  /// tiles
  parameter bit Accelerator = 1'b0,
  /// 1: there is no network: a thread that sends beyond the tile traps
  parameter bit Alone = 1'b0,
  /// 0: the mailbox has no local multicast (to compare areas)
  parameter bit Multicast = 1'b1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // Identity: board, row and column of the tile, address of the host, job and epoch
  input  logic     [11:0]           board_i,
  input  logic     [3:0]            tile_y_i,
  input  logic     [3:0]            tile_x_i,
  input  logic     [31:0]           host_i,
  input  logic     [6:0]            job_i,
  // Debug bus, one byte in each direction
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
  // Network: one flit a cycle in each direction, shared data, a handshake for each virtual network. At most one valid
  // bit is 1; ready does not depend on it. An output's valid is 1 only if its ready is.
  input  logic     [3:0]            net_in_valid_i,
  output logic     [3:0]            net_in_ready_o,
  input  flit_t                     net_in_i,
  output logic     [3:0]            net_out_valid_o,
  input  logic     [3:0]            net_out_ready_i,
  output flit_t                     net_out_o,
  // Size of the cluster, for destinations
  input  gs_address_pkg::cluster_t  cluster_i,
  // Idle detection: the state of mailbox and accelerator in one cycle; a thread is started; the board's command
  output gs_idle_pkg::idle_status_t idle_o,
  output logic                      started_o,
  input  gs_idle_pkg::idle_command_t idle_command_i
);
  // Units that respond: caches and control unit over one bus, FPUs and mailbox over the other.
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
  thread_ctl_t ctl;
  inspected_t [TileCores-1:0] inspected;
  logic [TileCores-1:0][TidW-1:0] park_tid;
  logic [ThreadW:0] started;
  logic [InstrMems-1:0] iwr_valid;
  instr_access_t iwr, load_iwr;
  logic [InstrMems-1:0][31:0] iwr_rdata;

  logic [InstrMems-1:0] load_iwr_valid;
  logic load_iwr_ready, load_iwr_rvalid;
  logic [31:0] load_iwr_rdata;

  // ---------------------------------------------------------------- cores
  instret_ask_t instret_ask;
  logic instret_valid;
  logic [31:0] instret;
  logic [3:0] fpu_started;
  answer_t fpu_answer[TileFpus];

  gs_tile_cores u_cores (
    .clk_i,
    .rst_ni,
    .req_valid_o     (req_valid),
    .req_ready_i     (req_ready),
    .req_o           (req),
    .ans_valid_i     (ans_valid),
    .ans_i           (ans),
    .fpu_valid_o     (unit_valid[UnitFpu+:TileFpus]),
    .fpu_ready_i     (unit_ready[UnitFpu+:TileFpus]),
    .fpu_o           (fpu_answer),
    .fpu_started_o   (fpu_started),
    .ctl_valid_i     (ctl_valid),
    .ctl_ready_o     (ctl_ready),
    .ctl_i           (ctl),
    .ctl_allowed_o   (ctl_allowed),
    .ctl_trapped_o   (ctl_trapped),
    .inspected_o     (inspected),
    .park_o          (park),
    .park_tid_o      (park_tid),
    .issue_o         (issue),
    .iwr_valid_i     (iwr_valid),
    .iwr_i           (iwr),
    .iwr_rdata_o     (iwr_rdata),
    .instret_ask_i   (instret_ask),
    .instret_valid_o (instret_valid),
    .instret_o       (instret)
  );
  for (genvar u = 0; u < TileFpus; u++) begin : gen_fpu
    assign unit_answer[UnitFpu+u] = fpu_answer[u];
  end

  // ----------------------------------------------- requests and responses
  logic        [TileCaches-1:0] cache_valid, cache_ready;
  to_cache_t   cache_req[TileCaches];
  logic mailbox_valid, mailbox_ready, control_valid, control_ready, late_valid, late_ready;
  to_mailbox_t mailbox_req;
  to_control_t control_req;
  late_trap_t late;

  gs_tile_req_demux u_route (
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

  gs_tile_rsp_mux #(
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

  // --------------------------------------------------------------- memory
  logic [TileCaches-1:0] hit, miss, writeback;
  logic flush_valid, flush_done;
  logic [ThreadW-1:0] flush_thread;
  answer_t cache_answer[TileCaches];
  logic     [1:0] direct_valid, direct_ready, direct_rsp_valid;
  mem_req_t direct[2];

  gs_tile_memory #(.Accelerator(Accelerator)) u_memory (
    .clk_i,
    .rst_ni,
    .req_valid_i        (cache_valid),
    .req_ready_o        (cache_ready),
    .req_i              (cache_req),
    .ans_valid_o        (unit_valid[TileCaches-1:0]),
    .ans_ready_i        (unit_ready[TileCaches-1:0]),
    .ans_o              (cache_answer),
    .flush_valid_i      (flush_valid),
    .flush_thread_i     (flush_thread),
    .flush_done_o       (flush_done),
    .direct_valid_i     (direct_valid),
    .direct_ready_o     (direct_ready),
    .direct_i           (direct),
    .direct_rsp_valid_o (direct_rsp_valid),
    .mem_req_valid_o,
    .mem_req_ready_i,
    .mem_req_o,
    .mem_rsp_valid_i,
    .mem_rsp_ready_o,
    .mem_rsp_i,
    .hit_o              (hit),
    .miss_o             (miss),
    .writeback_o        (writeback)
  );
  for (genvar c = 0; c < TileCaches; c++) begin : gen_cache
    assign unit_answer[c] = cache_answer[c];
  end

  // -------------------------------------------------------------- mailbox
  logic box_in_valid, box_in_ready, box_out_valid, box_out_ready, far_out_valid, far_out_ready;
  flit_t box_in, box_out, far_out;
  gs_mailbox_pkg::mailbox_req_t mreq;
  gs_mailbox_pkg::mailbox_rsp_t mrsp;
  gs_mailbox_pkg::mailbox_trap_t mtrap;
  address_tile_t here;
  logic unused_mailbox_awake, sent, received, box_dropped;
  rejection_e unused_drop_reason;
  gs_idle_pkg::idle_drop_t switch_drop;
  gs_idle_pkg::idle_status_t mailbox_idle;
  logic [ThreadW:0] started_q;

  assign here = '{kind: EndpointTile, board: board_i, tile_y: tile_y_i, tile_x: tile_x_i, default: '0};
  assign mreq = '{op: gs_mailbox_pkg::mailbox_op_e'(mailbox_req.op), funct3: mailbox_req.funct3,
                  thread: 6'(mailbox_req.thread), addr: 32'(mailbox_req.addr), data: mailbox_req.data};

  // The mailbox also wakes when a thread ends, because that thread no longer counts for idle detection.
  logic mailbox_clk, mailbox_busy;
  always_ff @(posedge clk_i) started_q <= rst_ni ? started : '0;
  assign started_o = started != '0;
  gs_clock_gate u_mailbox_gate (
    .clk_i,
    .rst_ni,
    .busy_i(mailbox_busy || mailbox_valid || box_in_valid || started != started_q || idle_command_i.release_all ||
            idle_command_i.scan || idle_command_i.chunk_valid || idle_command_i.clear),
    .clk_o (mailbox_clk)
  );

  gs_mailbox #(
    .Multicast(Multicast),
    .Alone    (Alone)
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
    .started_i     (started),
    .idle_o        (mailbox_idle),
    .idle_command_i,
    .sent_o        (sent),
    .received_o    (received),
    .drop_valid_o  (box_dropped),
    .drop_reason_o (unused_drop_reason),
    .busy_o        (mailbox_busy)
  );
  assign unit_answer[UnitMailbox] = '{thread: mrsp.thread[ThreadW-1:0], data: mrsp.data, flags: '0};
  assign late = '{thread: mtrap.thread[ThreadW-1:0], cause: mtrap.cause, addr: mtrap.addr};

  // -------------------------------------------------------------- loader
  logic load_in_valid, load_in_ready, load_out_valid, load_out_ready, load_rejected, load_busy, load_clk;
  flit_t load_in, load_out;
  gs_clock_gate u_load_gate (
    .clk_i,
    .rst_ni,
    .busy_i(load_busy || load_in_valid || direct_rsp_valid[0]),
    .clk_o (load_clk)
  );

  gs_tile_rma u_load (
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
    .instr_o        (load_iwr),
    .instr_ready_i  (load_iwr_ready),
    .instr_rvalid_i (load_iwr_rvalid),
    .instr_rdata_i  (load_iwr_rdata),
    .rejected_o     (load_rejected),
    .busy_o         (load_busy)
  );

  // --------------------------------------------------------- accelerator
  logic acc_in_valid, acc_in_ready, acc_out_valid, acc_out_ready, fault_valid, fault_ready, acc_dropped;
  logic [1:0] switch_dropped;
  logic acc_busy, switch_clk, other_sent, other_received, switch_dropped_own, switch_busy;
  flit_t acc_in, acc_out, fault;
  logic dma_valid, dma_ready, dma_reply_valid;
  flit_t dma_flit, dma_reply;

  if (Accelerator) begin : gen_accelerator
    gs_clock_gate u_gate (
      .clk_i,
      .rst_ni,
      .busy_i(net_in_valid_i != '0 || box_in_valid || box_out_valid || far_out_valid || load_out_valid || acc_in_valid
              || acc_busy || switch_busy),
      .clk_o (switch_clk)
    );

    if (MatchInTiles) begin : gen_match
      gs_match_unit #(
        .Dma(MatchDma),
        .Alone(Alone)
      ) u_match (
        .clk_i             (switch_clk),
        .rst_ni,
        .board_i,
        .tile_y_i,
        .tile_x_i,
        .job_i             (job_i[6:2]),
        .cluster_i,
        .in_valid_i        (acc_in_valid),
        .in_ready_o        (acc_in_ready),
        .in_i              (acc_in),
        .out_valid_o       (acc_out_valid),
        .out_ready_i       (acc_out_ready),
        .out_o             (acc_out),
        .move_valid_o      (dma_valid),
        .move_ready_i      (dma_ready),
        .move_o            (dma_flit),
        .move_reply_valid_i(dma_reply_valid),
        .move_reply_i      (dma_reply),
        .mem_req_valid_o   (direct_valid[1]),
        .mem_req_ready_i   (direct_ready[1]),
        .mem_req_o         (direct[1]),
        .mem_rsp_valid_i   (direct_rsp_valid[1]),
        .mem_rsp_i         (mem_rsp_i[0]),
        .busy_o            (acc_busy)
      );
      assign fault_valid = 1'b0;
      assign fault       = '0;
      logic unused_fault;
      assign unused_fault = fault_ready;
    end else begin : gen_sum
      assign {dma_valid, dma_flit} = '0;
      logic unused_dma;
      assign unused_dma = ^{dma_ready, dma_reply_valid, dma_reply};
      logic request_valid, request_ready, answer_valid;
      request_t request;
      answer_t answer;
      address_accelerator_t acc_here;
      assign acc_here = '{kind: EndpointAccelerator, board: board_i, tile_y: tile_y_i, tile_x: tile_x_i, default: '0};

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
    end
    // A message counts as received or sent with its last flit. The accelerator is busy until its answer has been sent.
    assign other_sent     = acc_out_valid && acc_out_ready && acc_out.last && !acc_dropped;
    assign other_received = acc_in_valid && acc_in_ready && acc_in.last;
  end else begin : gen_no_accelerator
    assign switch_clk      = clk_i;
    assign direct_valid[1] = 1'b0;
    assign direct[1]       = '0;
    assign {acc_in_ready, acc_out_valid, fault_valid, acc_busy} = '0;
    assign {acc_out, fault} = '0;
    assign {other_sent, other_received} = '0;
    assign {dma_valid, dma_flit} = '0;
    logic unused_accelerator;
    assign unused_accelerator = ^{acc_in_valid, acc_in, acc_out_ready, fault_ready, acc_busy, direct_ready[1],
                                  direct_valid[1], direct_rsp_valid[1], acc_dropped, switch_busy, dma_ready,
                                  dma_reply_valid, dma_reply};
  end

  // Messages other than the mailbox's: those of the accelerator, and those that the switch rejected.
  logic [31:0] other_sent_q, other_received_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || idle_command_i.clear) begin
      other_sent_q     <= '0;
      other_received_q <= '0;
    end else begin
      if (other_sent) other_sent_q <= other_sent_q + 32'd1;
      // Both may happen in one cycle.
      other_received_q <= other_received_q + 32'(other_received) + 32'(switch_dropped_own);
    end
  end
  always_comb begin
    idle_o          = mailbox_idle;
    idle_o.idle     = mailbox_idle.idle && !acc_busy && !load_busy;
    idle_o.sent     = mailbox_idle.sent + other_sent_q;
    idle_o.received = mailbox_idle.received + other_received_q;
    idle_o.drops[1] = switch_drop;
  end

  // ------------------------------------------------------------- network
  gs_tile_switch #(
    .Accelerator(Accelerator),
    .Alone      (Alone),
    .Dma      (Accelerator && MatchInTiles && MatchDma)
  ) u_switch (
    .clk_i             (switch_clk),
    .rst_ni,
    .board_i,
    .tile_y_i,
    .tile_x_i,
    .job_i  (job_i[6:2]),
    .epoch_i(mailbox_idle.epoch),
    .wave_i (idle_command_i.wave),
    .cluster_i,
    .net_in_valid_i,
    .net_in_ready_o,
    .net_in_i,
    .net_out_valid_o,
    .net_out_ready_i,
    .net_out_o,
    .box_in_valid_o   (box_in_valid),
    .box_in_ready_i   (box_in_ready),
    .box_in_o         (box_in),
    .box_out_valid_i  (box_out_valid),
    .box_out_ready_o  (box_out_ready),
    .box_out_i        (box_out),
    .far_out_valid_i  (far_out_valid),
    .far_out_ready_o  (far_out_ready),
    .far_out_i        (far_out),
    .load_in_valid_o  (load_in_valid),
    .load_in_ready_i  (load_in_ready),
    .load_in_o        (load_in),
    .load_out_valid_i (load_out_valid),
    .load_out_ready_o (load_out_ready),
    .load_out_i       (load_out),
    .acc_in_valid_o   (acc_in_valid),
    .acc_in_ready_i   (acc_in_ready),
    .acc_in_o         (acc_in),
    .acc_out_valid_i  (acc_out_valid),
    .acc_out_ready_o  (acc_out_ready),
    .acc_out_i        (acc_out),
    .fault_valid_i    (fault_valid),
    .fault_ready_o    (fault_ready),
    .fault_i          (fault),
    .dma_valid_i      (dma_valid),
    .dma_ready_o      (dma_ready),
    .dma_i            (dma_flit),
    .dma_reply_valid_o(dma_reply_valid),
    .dma_reply_o      (dma_reply),
    .busy_o           (switch_busy),
    .acc_dropped_o    (acc_dropped),
    .dropped_o        (switch_dropped),
    .dropped_own_o    (switch_dropped_own),
    .drop_o           (switch_drop)
  );
  logic unused_epoch;
  assign unused_epoch = ^job_i[1:0];

  // Events are registered: they are counted one cycle later.
  logic flit_out_q, flit_in_q;
  logic [3:0] rejected_q;
  always_ff @(posedge clk_i) begin
    flit_out_q <= net_out_valid_o != '0;
    flit_in_q  <= (net_in_valid_i & net_in_ready_o) != '0;
    rejected_q <= 4'(load_rejected) + 4'(switch_dropped) + 4'(box_dropped);
  end

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
    .flush_valid_o      (flush_valid),
    .flush_thread_o     (flush_thread),
    .flush_done_i       (flush_done),
    .ctl_valid_o        (ctl_valid),
    .ctl_ready_i        (ctl_ready),
    .ctl_o              (ctl),
    .ctl_allowed_i      (ctl_allowed),
    .ctl_trapped_i      (ctl_trapped),
    .inspected_i        (inspected),
    .park_i             (park),
    .park_tid_i         (park_tid),
    .iwr_valid_o        (iwr_valid),
    .iwr_o              (iwr),
    .imem_rdata_i       (iwr_rdata),
    .load_iwr_valid_i   (load_iwr_valid),
    .load_iwr_ready_o   (load_iwr_ready),
    .load_iwr_i         (load_iwr),
    .load_iwr_rvalid_o  (load_iwr_rvalid),
    .load_iwr_rdata_o   (load_iwr_rdata),
    .instret_ask_o      (instret_ask),
    .instret_valid_i    (instret_valid),
    .instret_i          (instret),
    .started_o          (started),
    .events_i           ('{
        issue: issue,
        hits: 4'($countones(hit)),
        misses: 4'($countones(miss)),
        writebacks: 4'($countones(writeback)),
        fpu: fpu_started,
        rejected: rejected_q,
        sent: sent,
        received: received,
        flit_out: flit_out_q,
        flit_in: flit_in_q
    })
  );
endmodule
