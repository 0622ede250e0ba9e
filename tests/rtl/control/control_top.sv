// SPDX-License-Identifier: Apache-2.0

/// The control unit with the schedulers of its cores and its instruction memories. Every issued instruction suspends
/// its thread: the bench selects its request, and responds.
module control_top
  import gs_core_pkg::*;
  import gs_thread_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 dbg_in_valid_i,
  input  logic [7:0]           dbg_in_data_i,
  output logic                 dbg_in_ready_o,
  output logic                 dbg_out_valid_o,
  output logic [7:0]           dbg_out_data_o,
  input  logic                 dbg_out_ready_i,
  // Requests of threads to the control unit, and responses
  input  logic                 req_valid_i,
  output logic                 req_ready_o,
  input  logic [1:0]           req_op_i,
  input  logic [2:0]           req_funct3_i,
  input  logic [ThreadW-1:0]   req_thread_i,
  input  logic [31:0]          req_addr_i,
  input  logic [31:0]          req_data_i,
  output logic                 ans_valid_o,
  output logic [ThreadW-1:0]   ans_thread_o,
  output logic [31:0]          ans_data_o,
  // A thread of a core has issued; a thread gets its response
  output logic [TileCores-1:0] issued_o,
  output logic [7:0]           issued_tid_o[TileCores],
  output logic [TileCores-1:0] injected_o,
  // The scheduler receives the end of a thread.
  output logic [TileCores-1:0] ended_o,
  output logic [7:0]           ended_tid_o,
  input  logic [TileCores-1:0] rsp_valid_i,
  input  logic [7:0]           rsp_tid_i[TileCores],
  output logic [TileCores-1:0] rsp_taken_o,
  output logic [7:0]           started_o,
  // A flush of a thread's part of its cache
  output logic                 flush_valid_o,
  output logic [7:0]           flush_thread_o,
  input  logic                 flush_done_i,
  // The loader's port
  input  logic [InstrMems-1:0] load_valid_i,
  output logic                 load_ready_o,
  input  logic                 load_write_i,
  input  logic [31:0]          load_addr_i,
  input  logic [31:0]          load_data_i,
  output logic                 load_rvalid_o,
  output logic [31:0]          load_rdata_o
);
  logic [TileCores-1:0] ctl_valid, ctl_ready, ctl_allowed, ctl_trapped, park;
  thread_ctl_t ctl;
  inspected_t [TileCores-1:0] inspected;
  logic [TileCores-1:0][TidW-1:0] park_tid;
  logic [InstrMems-1:0] iwr_valid;
  instr_access_t iwr, load;
  logic [InstrMems-1:0][31:0] imem_rdata;
  answer_t ans;
  to_control_t req;
  instret_ask_t ask;
  logic [ThreadW-1:0] flush_thread;
  logic [ThreadW:0] started;

  assign req = '{op: x_op_e'(req_op_i), funct3: req_funct3_i, thread: req_thread_i,
                 addr: req_addr_i, data: req_data_i};
  assign ans_thread_o = ans.thread;
  assign ans_data_o   = ans.data;
  assign started_o    = 8'(started);
  assign ended_tid_o  = 8'(ctl.tid);
  assign flush_thread_o = 8'(flush_thread);
  assign load = '{write: load_write_i, addr: load_addr_i[Log2InstrWords-1:0], data: load_data_i};

  // Each thread's count of finished instructions is its number.
  logic instret_valid_q;
  always_ff @(posedge clk_i) instret_valid_q <= ask.valid && rst_ni && !instret_valid_q;

  gs_control u_control (
    .clk_i,
    .rst_ni,
    .board_i            (12'd0),
    .tile_y_i           (4'd0),
    .tile_x_i           (4'd0),
    .host_i             (32'h1234_0000),
    .job_i              (7'd5),
    .dbg_in_valid_i,
    .dbg_in_data_i,
    .dbg_in_ready_o,
    .dbg_out_valid_o,
    .dbg_out_data_o,
    .dbg_out_ready_i,
    .req_valid_i,
    .req_ready_o,
    .req_i              (req),
    .ans_valid_o,
    .ans_ready_i        (1'b1),
    .ans_o              (ans),
    .flush_valid_o,
    .flush_thread_o     (flush_thread),
    .flush_done_i,
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
    .imem_rdata_i       (imem_rdata),
    .load_iwr_valid_i   (load_valid_i),
    .load_iwr_ready_o   (load_ready_o),
    .load_iwr_i         (load),
    .load_iwr_rvalid_o  (load_rvalid_o),
    .load_iwr_rdata_o   (load_rdata_o),
    .instret_ask_o      (ask),
    .instret_valid_i    (instret_valid_q),
    .instret_i          ((ask.hold && !ask.high) ? 32'(ask.thread) : '0),
    .started_o          (started),
    .events_i           ('{issue: issued_o, default: '0})
  );

  // The state of an inspected thread, a function of its number, in the cycles in which a core presents it
  for (genvar c = 0; c < TileCores; c++) begin : gen_inspected
    logic [15:0] number;
    assign number             = 16'(c << TidW) + 16'(ctl.tid);
    assign inspected[c].pc    = ctl_ready[c] ? 16'h1200 + number : '1;
    assign inspected[c].waits = ctl_ready[c] ? number[0] : !number[0];
    always_ff @(posedge clk_i) begin
      inspected[c].asked <= ctl_ready[c] ? '{kind: asked_e'({1'b0, number[2:1]}), addr: 32'hC0DE_0000 + 32'(number)}
                                         : '{kind: AskedDivide, addr: '1};
    end
  end

  for (genvar c = 0; c < TileCores; c++) begin : gen_core
    logic [ResolveStage:FetchStage] valid, injected_q;
    logic [ResolveStage:FetchStage][TidW-1:0] tid;
    logic inject, unused_start, unused_div, unused_back;
    logic [TidW-1:0] unused_pick, unused_wtid;

    gs_core_sched #(
      .ThreadsPerCore(ThreadsPerCore)
    ) u_sched (
      .clk_i,
      .rst_ni,
      .block_i       (iwr_valid[c/CoresAMemory] && c % CoresAMemory == 0),
      .ctl_valid_i   (ctl_valid[c]),
      .ctl_ready_o   (ctl_ready[c]),
      .ctl_op_i      (ctl.op),
      .ctl_tid_i     (ctl.tid),
      .ctl_allowed_o (ctl_allowed[c]),
      .ctl_trapped_o (ctl_trapped[c]),
      .park_o        (park[c]),
      .pick_tid_o    (unused_pick),
      .pick_start_o  (unused_start),
      .pick_inject_o (inject),
      .fetch_again_i (1'b0),
      .valid_o       (valid),
      .tid_o         (tid),
      .exec_stays_i  (1'b1),
      .resolve_trap_i(1'b0),
      .rsp_valid_i   (rsp_valid_i[c]),
      .rsp_tid_i     (rsp_tid_i[c][TidW-1:0]),
      .rsp_take_o    (rsp_taken_o[c]),
      .div_valid_i   (1'b0),
      .div_tid_i     ('0),
      .div_take_o    (unused_div),
      .resolve_back_o(unused_back),
      .resolve_wtid_o(unused_wtid)
    );
    always_ff @(posedge clk_i) injected_q <= {injected_q[ExecStage:FetchStage], inject};
    assign park_tid[c]     = tid[FetchStage];
    assign issued_o[c]     = valid[ResolveStage];
    assign issued_tid_o[c] = 8'(tid[ResolveStage]);
    assign injected_o[c]   = injected_q[ResolveStage];
    assign ended_o[c]      = ctl_ready[c] && (ctl.op == ThreadEnd || ctl.op == ThreadTrap);
    logic unused;
    assign unused = ^{valid[6:1], tid[6:2], rsp_tid_i[c][7:TidW]};
  end

  // The memory samples the address in Fetch, and returns the word in Word.
  for (genvar m = 0; m < InstrMems; m++) begin : gen_memory
    logic [31:0] mem[InstrWords];
    logic [31:0] word_q;
    logic c1_write_q;
    logic [Log2InstrWords-1:0] c1_addr_q;
    logic [31:0] c1_data_q;
    always_ff @(posedge clk_i) begin
      c1_write_q <= iwr_valid[m] && iwr.write;
      c1_addr_q  <= iwr.addr;
      c1_data_q  <= iwr.data;
      if (c1_write_q) mem[c1_addr_q] <= c1_data_q;
      word_q <= mem[c1_addr_q];
    end
    assign imem_rdata[m] = word_q;
  end

  logic unused;
  assign unused = ^{load_addr_i[31:Log2InstrWords], ans.flags, ctl.instr};
endmodule
