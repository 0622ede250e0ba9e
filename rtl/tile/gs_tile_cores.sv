// SPDX-License-Identifier: Apache-2.0

/// The cores of a tile with the units that only they use: instruction memories, FPUs, counts of finished instructions.
module gs_tile_cores
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                                     clk_i,
  input  logic                                     rst_ni,
  // Requests of each core. Responses, which are always accepted
  output logic     [TileCores-1:0]                 req_valid_o,
  input  logic     [TileCores-1:0]                 req_ready_i,
  output request_t                                 req_o[TileCores],
  input  logic     [TileCores-1:0]                 ans_valid_i,
  input  answer_t                                  ans_i[TileCores],
  // Results of the FPUs
  output logic     [TileFpus-1:0]                  fpu_valid_o,
  input  logic     [TileFpus-1:0]                  fpu_ready_i,
  output answer_t                                  fpu_o[TileFpus],
  output logic     [3:0]                           fpu_started_o,
  // Operations on threads (gs_thread_pkg), threads that park
  input  logic     [TileCores-1:0]                 ctl_valid_i,
  output logic     [TileCores-1:0]                 ctl_ready_o,
  input  thread_ctl_t                              ctl_i,
  output logic     [TileCores-1:0]                 ctl_allowed_o,
  output logic     [TileCores-1:0]                 ctl_trapped_o,
  output inspected_t [TileCores-1:0]               inspected_o,
  output logic     [TileCores-1:0]                 park_o,
  output logic     [TileCores-1:0][TidW-1:0]       park_tid_o,
  output logic     [TileCores-1:0]                 issue_o,
  // Instruction memories: gs_instr_access
  input  logic     [InstrMems-1:0]                 iwr_valid_i,
  input  instr_access_t                            iwr_i,
  output logic     [InstrMems-1:0][31:0]           iwr_rdata_o,
  // Instructions that a thread has finished: gs_instret
  input  instret_ask_t                             instret_ask_i,
  output logic                                     instret_valid_o,
  output logic     [31:0]                          instret_o
);
  logic [TileCores-1:0] f_valid, f_ready, core_f_valid, core_f_ready, core_x_valid, core_x_ready;
  f_req_t [TileCores-1:0] f_req, core_f_req;
  request_t [TileCores-1:0] core_x_req;
  logic [TileCores-1:0] imem_en, imem_we;
  logic [TileCores-1:0][Log2InstrWords-1:0] imem_addr;
  logic [TileCores-1:0][31:0] imem_wdata, imem_rdata;
  logic [TileCores-1:0] rom_en;
  logic [TileCores-1:0][gs_decode_pkg::DecodeW-1:0] rom_addr;
  logic [TileCores-1:0][gs_decode_pkg::CtlW-1:0] rom_word;
  logic [TileCores-1:0] retire;
  logic [TileCores-1:0][TidW-1:0] retire_tid;

  for (genvar c = 0; c < TileCores; c++) begin : gen_core
    localparam int unsigned Mem = c / CoresAMemory;
    gs_core_pkg::x_req_t x_req;
    gs_core_pkg::f_req_t own_f_req;
    logic [TidW-1:0] x_tid, f_tid;

    gs_core #(
      .ThreadsPerCore(ThreadsPerCore),
      .InstrWords    (InstrWords)
    ) u_core (
      .clk_i,
      .rst_ni,
      .imem_en_o     (imem_en[c]),
      .imem_we_o     (imem_we[c]),
      .imem_addr_o   (imem_addr[c]),
      .imem_wdata_o  (imem_wdata[c]),
      .imem_rdata_i  (imem_rdata[c]),
      .rom_en_o      (rom_en[c]),
      .rom_addr_o    (rom_addr[c]),
      .rom_word_i    (rom_word[c]),
      // Only the first core of an instruction memory makes the accesses to it.
      .iwr_valid_i   (iwr_valid_i[Mem] && c % CoresAMemory == 0),
      .iwr_write_i   (iwr_i.write),
      .iwr_addr_i    (iwr_i.addr),
      .iwr_data_i    (iwr_i.data),
      .x_valid_o     (core_x_valid[c]),
      .x_ready_i     (core_x_ready[c]),
      .x_tid_o       (x_tid),
      .x_req_o       (x_req),
      .f_valid_o     (core_f_valid[c]),
      .f_ready_i     (core_f_ready[c]),
      .f_tid_o       (f_tid),
      .f_req_o       (own_f_req),
      .rsp_valid_i   (ans_valid_i[c]),
      .rsp_tid_i     (ans_i[c].thread[TidW-1:0]),
      .rsp_i         ('{data: ans_i[c].data, flags: ans_i[c].flags}),
      .ctl_valid_i   (ctl_valid_i[c]),
      .ctl_ready_o   (ctl_ready_o[c]),
      .ctl_op_i      (ctl_i.op),
      .ctl_tid_i     (ctl_i.tid),
      .ctl_instr_i   (ctl_i.instr),
      .ctl_allowed_o (ctl_allowed_o[c]),
      .ctl_trapped_o (ctl_trapped_o[c]),
      .ctl_pc_o      (inspected_o[c].pc),
      .ctl_waits_o   (inspected_o[c].waits),
      .ctl_asked_o   (inspected_o[c].asked),
      .park_o        (park_o[c]),
      .park_tid_o    (park_tid_o[c]),
      .issue_o       (issue_o[c]),
      .retire_o      (retire[c]),
      .retire_tid_o  (retire_tid[c])
    );

    assign core_x_req[c] = '{op: x_req.op, funct3: x_req.funct3, thread: (ThreadW'(c) << TidW) | ThreadW'(x_tid),
                             addr: x_req.addr, data: x_req.data};
    assign core_f_req[c] = '{op: own_f_req.op, rm: own_f_req.rm, tid: f_tid, a: own_f_req.a, b: own_f_req.b,
                             c: own_f_req.c};

    assign req_valid_o[c]  = core_x_valid[c];
    assign core_x_ready[c] = req_ready_i[c];
    assign req_o[c]        = core_x_req[c];

    // A register upstream of the FPU, which is far away. The FPU's grant arrives late: if cores share the FPU, the
    // register is filled only while it is empty, so that one core can use every other cycle, and two cores all cycles.
    assign core_f_ready[c] = !f_valid[c] || (CoresAnFpu == 1 && f_ready[c]);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) f_valid[c] <= 1'b0;
      else if (core_f_ready[c]) f_valid[c] <= core_f_valid[c];
      else if (f_ready[c]) f_valid[c] <= 1'b0;
      if (core_f_ready[c] && core_f_valid[c]) f_req[c] <= core_f_req[c];
    end
  end

  for (genvar m = 0; m < InstrMems; m++) begin : gen_instr_mem
    localparam int unsigned A = m * CoresAMemory;
    assign iwr_rdata_o[m] = imem_rdata[A];
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

  // Two cores share an opcode table, whether they share an instruction memory or not.
  for (genvar r = 0; r < (TileCores + 1) / 2; r++) begin : gen_rom
    localparam int unsigned A = 2 * r;
    if (A + 1 < TileCores) begin : gen_two
      gs_decode_rom u_rom (
        .clk_i,
        .a_en_i  (rom_en[A]),
        .a_addr_i(rom_addr[A]),
        .a_word_o(rom_word[A]),
        .b_en_i  (rom_en[A+1]),
        .b_addr_i(rom_addr[A+1]),
        .b_word_o(rom_word[A+1])
      );
    end else begin : gen_one
      logic [gs_decode_pkg::CtlW-1:0] unused_word;
      gs_decode_rom u_rom (
        .clk_i,
        .a_en_i  (rom_en[A]),
        .a_addr_i(rom_addr[A]),
        .a_word_o(rom_word[A]),
        .b_en_i  (1'b0),
        .b_addr_i('0),
        .b_word_o(unused_word)
      );
    end
  end

  gs_instret #(
    .Cores         (TileCores),
    .ThreadsPerCore(ThreadsPerCore)
  ) u_instret (
    .clk_i,
    .rst_ni,
    .retire_i    (retire),
    .retire_tid_i(retire_tid),
    .ask_i       (instret_ask_i.valid),
    .hold_i      (instret_ask_i.hold),
    .ask_thread_i(instret_ask_i.thread),
    .ask_high_i  (instret_ask_i.high),
    .valid_o     (instret_valid_o),
    .value_o     (instret_o)
  );

  // ----------------------------------------------------------------- FPUs
  always_ff @(posedge clk_i) fpu_started_o <= 4'($countones(f_valid & f_ready));

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
      .rsp_valid_o(fpu_valid_o[u]),
      .rsp_ready_i(fpu_ready_i[u]),
      .rsp_o      (rsp),
      .busy_o     (busy)
    );
    assign fpu_o[u] = '{
      thread: (ThreadW'(u * CoresAnFpu + 32'(rsp.core)) << TidW) | ThreadW'(rsp.tid), data: rsp.data, flags: rsp.flags
    };
  end
endmodule
