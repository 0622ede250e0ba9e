// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Barrel-scheduled RV32IMF core with Zicsr. At most one instruction of a thread is in the pipeline; one that has to
/// wait (memory, CSR of the tile, FPU, divide) suspends its thread until the answer comes.
///
///     C0 schedule, pc     C3 register and table addresses   C6 add, logic, jump target
///     C1 fetch            C4 registers, table               C7 jump, trap, next pc, back to the run queue
///     C2 instruction      C5 operands                       C8 requests leave; C8 to C10 result, write-back
///
/// So a thread issues every 8 cycles at most. Two request queues, X and F, have room for all threads: the pipeline
/// never stalls. A negative quotient or remainder takes a second pass: the divider's magnitude goes to rd, and the
/// instruction issues again to negate it.
module gs_core
  import gs_core_pkg::*;
  import gs_thread_pkg::*;
#(
  /// hardware threads, 2 to 32, a power of two
  parameter  int unsigned ThreadsPerCore = 16,
  /// words of the instruction memory, 64 to 32768, a power of two
  parameter  int unsigned InstrWords     = 2048,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore),
  localparam int unsigned PcW            = $clog2(InstrWords),
  /// memory, CSRs of the tile, traps; not to be set
  parameter  type         x_req_t        = struct packed {
    logic [1:0]      op;      // x_op_e
    logic [2:0]      funct3;  // of a load or store; XCsr: bit 0 = write, bit 1 = rd is wanted
    logic [TidW-1:0] tid;
    logic [31:0]     addr;    // address; number of a CSR in [11:0]; XTrap: {cause, pc[25:0]}
    logic [31:0]     data;    // what to store or write; XTrap: trap value
  },
  /// operations of the FPU; not to be set
  parameter  type         f_req_t        = struct packed {
    logic [4:0]      op;
    logic [2:0]      rm;  // never 7
    logic [TidW-1:0] tid;
    logic [31:0]     a;
    logic [31:0]     b;
    logic [31:0]     c;
  },
  /// answers; not to be set
  parameter  type         rsp_t          = struct packed {
    logic [TidW-1:0] tid;
    logic [31:0]     data;
    logic [4:0]      flags;  // exceptions to accrue
  }
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // A port of gs_instr_mem
  output logic                      imem_en_o,
  output logic                      imem_we_o,
  output logic [PcW-1:0]            imem_addr_o,
  output logic [31:0]               imem_wdata_o,
  input  logic [31:0]               imem_rdata_i,
  // Access to the instruction memory: takes a fetch slot. A word that is read is in imem_rdata_i two cycles later.
  input  logic                      iwr_valid_i,
  input  logic                      iwr_write_i,
  input  logic [PcW-1:0]            iwr_addr_i,
  input  logic [31:0]               iwr_data_i,
  // Requests and answers
  output logic                      x_valid_o,
  input  logic                      x_ready_i,
  output x_req_t                    x_req_o,
  output logic                      f_valid_o,
  input  logic                      f_ready_i,
  output f_req_t                    f_req_o,
  input  logic                      rsp_valid_i,
  input  rsp_t                      rsp_i,
  // Control of threads (gs_thread_pkg); in the cycle of `ready`, whether the operation was allowed, and whether the
  // thread has trapped since its last start. An injected instruction executes as if it stood at the thread's pc,
  // which stays unless it jumps.
  input  logic                      ctl_valid_i,
  output logic                      ctl_ready_o,
  input  thread_op_e                ctl_op_i,
  input  logic [TidW-1:0]           ctl_tid_i,
  input  logic [31:0]               ctl_instr_i,
  output logic                      ctl_allowed_o,
  output logic                      ctl_trapped_o,
  // A thread parks
  output logic                      park_o,
  output logic [TidW-1:0]           park_tid_o,
  // An instruction was issued; one was finished, by this thread (answers count when they come)
  output logic                      issue_o,
  output logic                      retire_o,
  output logic [TidW-1:0]           retire_tid_o
);
  if (ThreadsPerCore < 2 || ThreadsPerCore > 32 || (1 << TidW) != ThreadsPerCore) begin : gen_illegal_threads
    $fatal(1, "gs_core: ThreadsPerCore is %0d; it must be 2, 4, 8, 16 or 32", ThreadsPerCore);
  end
  if (InstrWords < 64 || InstrWords > 32768 || (1 << PcW) != InstrWords) begin : gen_illegal_words
    $fatal(1, "gs_core: InstrWords is %0d; it must be a power of two from 64 to 32768", InstrWords);
  end

  typedef logic [TidW-1:0] tid_t;

  // Scheduler
  logic c0_start, c0_inject, c6_stays, c7_trap, rsp_take, div_done, div_take;
  logic c7_back, rsp_valid;

  // Where a thread is. Bit PcW of pc is set if it ran over the end; `again` asks for a divide's second pass.
  typedef struct packed {
    logic         again;
    logic [PcW:0] pc;
  } where_t;

  where_t c0_where, c1_where_q, c7_where;
  logic [7:1] valid;
  tid_t [7:1] tid;
  tid_t c0_tid, c7_wtid, div_tid;
  rsp_t rsp;

  gs_core_sched #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_sched (
    .clk_i,
    .rst_ni,
    .block_i    (iwr_valid_i),
    .ctl_valid_i,
    .ctl_ready_o,
    .ctl_op_i,
    .ctl_tid_i,
    .ctl_allowed_o,
    .ctl_trapped_o,
    .park_o,
    .c0_tid_o   (c0_tid),
    .c0_start_o (c0_start),
    .c0_inject_o(c0_inject),
    .c1_again_i (c1_where_q.again),
    .valid_o    (valid),
    .tid_o      (tid),
    .c6_stays_i (c6_stays),
    .c7_trap_i  (c7_trap),
    .rsp_valid_i(rsp_valid),
    .rsp_tid_i  (rsp.tid),
    .rsp_take_o (rsp_take),
    .div_valid_i(div_done),
    .div_tid_i  (div_tid),
    .div_take_o (div_take),
    .c7_back_o  (c7_back),
    .c7_wtid_o  (c7_wtid)
  );

  assign issue_o    = valid[2];
  assign park_tid_o = tid[1];

  // Not every stage asks.
  logic unused_stages;
  assign unused_stages = ^{valid, tid};

  // C0: pc of the thread
  gs_ram_sdp #(
    .Width  ($bits(where_t)),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_where (
    .clk_i,
    .we_i   (valid[7]),
    .wstrb_i(1'b1),
    .waddr_i(tid[7]),
    .wdata_i(c7_where),
    .re_i   (1'b1),
    .raddr_i(c0_tid),
    .rdata_o(c0_where)
  );

  // C1, C2: fetch
  logic c1_we_q, c1_inject_q, c2_inject_q, c3_inject_q, c4_inject_q, c5_inject_q, c6_inject_q;
  where_t c2_where_q, c3_where_q, c4_where_q, c5_where_q;
  logic [31:0] c1_write_q, c1_given_q, c2_given_q, c3_instr_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) c1_we_q <= 1'b0;
    else c1_we_q <= iwr_valid_i && iwr_write_i;
    c1_inject_q <= c0_inject;
    c1_where_q  <= c0_where;
    if (iwr_valid_i) c1_where_q.pc[PcW-1:0] <= iwr_addr_i;
    else if (c0_start) c1_where_q <= '0;
    c1_write_q  <= iwr_data_i;
    if (c0_inject) c1_given_q <= ctl_instr_i;
    if (c1_inject_q) c2_given_q <= c1_given_q;
  end

  assign imem_en_o    = 1'b1;
  assign imem_we_o    = c1_we_q;
  assign imem_addr_o  = c1_where_q.pc[PcW-1:0];
  assign imem_wdata_o = c1_write_q;

  // Stages without an instruction keep what they have: nobody looks at it.
  always_ff @(posedge clk_i) begin
    {c2_inject_q, c3_inject_q, c4_inject_q, c5_inject_q, c6_inject_q} <=
        {c1_inject_q, c2_inject_q, c3_inject_q, c4_inject_q, c5_inject_q};
    if (valid[1]) c2_where_q <= c1_where_q;
    if (valid[2]) begin
      c3_where_q <= c2_where_q;
      c3_instr_q <= c2_inject_q ? c2_given_q : imem_rdata_i;
    end
    if (valid[3]) c4_where_q <= c3_where_q;
    if (valid[4]) c5_where_q <= c4_where_q;
  end

  // C3, C4: registers, table
  ctl_t c5_ctl;
  logic [31:0] c5_imm, c4_data1, c4_data2, c4_data3;
  logic c5_illegal, c3_fp1, c3_fp2, c3_system;
  logic [5:0] c3_reg1, c3_reg2;
  logic wb_we;
  tid_t wb_tid;
  logic [5:0] wb_reg;
  logic [31:0] wb_data;

  assign c3_system = c3_instr_q[6:4] == 3'b111;
  // FMADD and its like 100xx, OP-FP 10100 but what converts or moves from integers.
  assign c3_fp1    = c3_instr_q[6:5] == 2'b10 &&
      !(c3_instr_q[4] && c3_instr_q[31] && c3_instr_q[30] && c3_instr_q[28]);
  // These, and STORE-FP 01001.
  assign c3_fp2    = c3_instr_q[6:5] == 2'b10 || (c3_instr_q[6:5] == 2'b01 && c3_instr_q[2] && !c3_instr_q[4]);
  // The second pass of a divide reads rd; a CSR instruction reads its operand where a store reads its data.
  assign c3_reg1   = c3_where_q.again ? {1'b0, c3_instr_q[11:7]} : {c3_fp1, c3_instr_q[19:15]};
  assign c3_reg2   = {c3_fp2, c3_system ? c3_instr_q[19:15] : c3_instr_q[24:20]};

  gs_core_decode u_decode (
    .clk_i,
    .c3_valid_i  (valid[3]),
    .c4_valid_i  (valid[4]),
    .c3_instr_i  (c3_instr_q),
    .c5_ctl_o    (c5_ctl),
    .c5_imm_o    (c5_imm),
    .c5_illegal_o(c5_illegal)
  );

  gs_core_regs #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_regs (
    .clk_i,
    .we_i   (wb_we),
    .wtid_i (wb_tid),
    .wreg_i (wb_reg),
    .wdata_i(wb_data),
    .re_i   (valid[3]),
    .tid_i  (tid[3]),
    .reg1_i (c3_reg1),
    .reg2_i (c3_reg2),
    .reg3_i (c3_instr_q[31:27]),
    .data1_o(c4_data1),
    .data2_o(c4_data2),
    .data3_o(c4_data3)
  );

  logic [31:0] c4_instr_q, c5_instr_q, c6_instr_q;
  logic [31:0] c5_data1_q, c5_data2_q, c5_data3_q;
  logic c4_zimm_q, c4_tile_csr_q, c5_tile_csr_q;

  always_ff @(posedge clk_i) begin
    if (valid[3]) begin
      c4_instr_q    <= c3_instr_q;
      c4_zimm_q     <= c3_system && c3_instr_q[14];
      c4_tile_csr_q <= c3_instr_q[31:22] != '0 || c3_instr_q[21:20] == '0;
    end
    if (valid[4]) begin
      c5_instr_q    <= c4_instr_q;
      c5_tile_csr_q <= c4_tile_csr_q;
      c5_data1_q    <= c4_data1;
      c5_data2_q    <= c4_zimm_q ? {27'd0, c4_instr_q[19:15]} : c4_data2;
      c5_data3_q    <= c4_data3;
    end
    if (valid[5]) c6_instr_q <= c5_instr_q;
  end

  // C5: operands
  logic [2:0] c5_frm, c5_rm;
  logic [5:0] c5_rd;
  logic c5_bad_rm, c5_stop, c5_unsigned, c5_flip, c5_negate, c5_sub, c5_divides, c5_div_signed;

  assign c5_rm         = (c5_instr_q[14:12] == 3'd7) ? c5_frm : c5_instr_q[14:12];
  // Static modes 5 and 6 are not in the table.
  assign c5_bad_rm     = c5_ctl.rounds && (c5_rm == 3'd7 || c5_rm == 3'd6 || c5_rm == 3'd5);
  assign c5_rd         = {c5_ctl.rd_fp, c5_instr_q[11:7]};
  assign c5_unsigned   = c5_ctl.branch ? c5_instr_q[13] : c5_instr_q[12];
  assign c5_sub        = c5_ctl.sub || (c5_ctl.sub_30 && c5_instr_q[30]);
  assign c5_divides    = c5_ctl.div && !c5_where_q.again;
  assign c5_div_signed = c5_ctl.fop[0];
  // A divide adds 0 to its dividend, changing the sign if it is negative; its second pass changes the sign if the
  // value is positive. (2^31 is its own negative; all ones is the quotient of a division by 0.)
  assign c5_flip       = c5_ctl.div && (c5_where_q.again ? !c5_data1_q[31] : c5_div_signed && c5_data1_q[31]);
  assign c5_negate     = c5_divides && c5_div_signed && !c5_inject_q &&
      (c5_data1_q[31] ^ (c5_data2_q[31] && !c5_ctl.fop[1]));
  // What stops a thread whatever its operands are.
  assign c5_stop       = c5_illegal || c5_bad_rm || c5_ctl.chk_sys || c5_where_q.pc[PcW];

  logic c6_a_sign_q, c6_b_sign_q, c6_carry_q, c6_sum_en_q, c6_logical_q, c6_mul_a_q, c6_again_q;
  logic c6_stop_q, c6_illegal_q, c6_x_q, c6_f_q, c6_csr_q, c6_fcsr_q, c6_write_q;
  logic [3:0] c6_cause_q;
  logic [31:0] c6_a_q, c6_b_q, c6_data2_q, c6_data3_q;
  logic [2:0] c6_funct3_q, c6_rm_q, c6_xfunct3_q;
  logic [5:0] c6_rd_q;
  logic [PcW:0] c6_pc_q;
  // Target of a jump, in words; bits above the pc's tell that it is outside.
  logic [19:0] c6_target_q;
  ctl_t c6_ctl_q;
  logic unused_ctl;

  always_ff @(posedge clk_i) begin
    if (valid[5]) begin
      c6_ctl_q     <= c5_ctl;
      c6_funct3_q  <= c5_instr_q[14:12];
      c6_pc_q      <= c5_where_q.pc;
      c6_rd_q      <= c5_rd;
      c6_data2_q   <= c5_data2_q;
      c6_data3_q   <= c5_data3_q;
      c6_rm_q      <= c5_ctl.div ? {c5_ctl.fop[1], c5_div_signed && c5_data2_q[31], 1'b0} : c5_rm;
      c6_a_q       <= c5_data1_q ^ {32{c5_flip}};
      if (c5_ctl.a_pc) c6_a_q <= 32'({c5_where_q.pc, 2'b00});
      if (c5_ctl.a_zero) c6_a_q <= '0;
      c6_b_q       <= (c5_ctl.b_imm ? c5_imm : c5_data2_q) ^ {32{c5_sub}};
      if (c5_ctl.b_zero) c6_b_q <= '0;
      c6_carry_q   <= c5_sub || c5_flip;
      c6_a_sign_q  <= c5_data1_q[31] && !c5_unsigned;
      c6_b_sign_q  <= c5_unsigned || !(c5_ctl.b_imm ? c5_imm[31] : c5_data2_q[31]);
      c6_target_q  <= 20'(c5_where_q.pc) + c5_imm[21:2];
      c6_mul_a_q   <= c5_ctl.mul_a && (!c5_ctl.shift || c5_instr_q[30]);
      c6_again_q   <= c5_negate;
      c6_stop_q    <= c5_stop;
      c6_illegal_q <= (c5_illegal || c5_bad_rm) && !c5_where_q.pc[PcW];
      // The core's own CSRs need no number: what they answer must stand alone.
      c6_sum_en_q  <= (c5_ctl.sum && (!c5_ctl.csr || c5_tile_csr_q)) || c5_ctl.branch;
      c6_logical_q <= c5_ctl.logical;
      c6_x_q       <= c5_stop || c5_ctl.mem || (c5_ctl.csr && c5_tile_csr_q);
      c6_f_q       <= !c5_stop && (c5_ctl.fpu || c5_divides);
      c6_csr_q     <= c5_ctl.csr;
      c6_fcsr_q    <= !c5_stop && c5_ctl.csr && !c5_tile_csr_q;
      c6_write_q   <= c5_ctl.rd_write && (c5_ctl.rd_fp || c5_instr_q[11:7] != '0);
      c6_xfunct3_q <= c5_instr_q[14:12];
      if (c5_ctl.csr) c6_xfunct3_q <= {1'b0, c5_instr_q[11:7] != '0, !c5_instr_q[13]};
      if (c5_where_q.pc[PcW]) c6_cause_q <= CauseFetchFault;
      else if (c5_illegal || c5_bad_rm) c6_cause_q <= CauseIllegal;
      else c6_cause_q <= c5_instr_q[20] ? CauseBreakpoint : CauseCall;
    end
  end

  // Its checks and operands are behind us.
  assign unused_ctl = ^c6_ctl_q;

  // C6: add and compare, logic
  logic [33:0] c6_sum;
  logic unused_carry;
  logic [31:0] c6_logic;

  assign c6_stays = c6_x_q || c6_f_q;
  assign c6_sum   = {c6_a_sign_q, c6_a_q, 1'b1} + {c6_b_sign_q, c6_b_q, c6_carry_q};

  assign unused_carry = c6_sum[0];

  always_comb begin
    case (c6_funct3_q[1:0])
      2'b00:   c6_logic = c6_a_q ^ c6_b_q;
      2'b10:   c6_logic = c6_a_q | c6_b_q;
      default: c6_logic = c6_a_q & c6_b_q;
    endcase
  end

  logic c7_less_q, c7_equal_q, c7_branch_q, c7_jal_q, c7_jalr_q, c7_slt_q, c7_mem_q, c7_stop_q, c7_x_q, c7_f_q;
  logic c7_outside_q;
  logic c7_low_q, c7_high_q, c7_fcsr_q, c7_write_q, c7_again_q, c7_store_q, c7_csr_q, c7_offset_q;
  logic [3:0] c7_cause_q;
  logic [2:0] c7_funct3_q, c7_rm_q, c7_xfunct3_q;
  logic [4:0] c7_fop_q;
  logic [1:0] c7_which_q;
  logic [5:0] c7_rd_q;
  logic [PcW:0] c7_pc_q, c7_next_q;
  logic [PcW-1:0] c7_target_q;
  logic [31:0] c7_sum_q, c7_logic_q, c7_instr_q, c7_data2_q, c7_data3_q;

  always_ff @(posedge clk_i) begin
    c7_x_q       <= c6_x_q && valid[6];
    c7_f_q       <= c6_f_q && valid[6];
    c7_fcsr_q    <= c6_fcsr_q && valid[6];
    if (valid[6]) begin
      c7_sum_q     <= c6_sum[32:1];
      if (!c6_sum_en_q || c6_stop_q) c7_sum_q <= '0;
      c7_logic_q   <= c6_logic;
      if (!c6_logical_q) c7_logic_q <= '0;
      c7_instr_q   <= c6_instr_q;
      if (!c6_illegal_q) c7_instr_q <= '0;
      c7_less_q    <= c6_sum[33];
      // A branch subtracts: its second operand is inverted. That the sum is 0 would come too late.
      c7_equal_q   <= (c6_a_q ^ c6_b_q) == '1;
      c7_branch_q  <= c6_ctl_q.branch && !c6_stop_q;
      c7_jal_q     <= c6_ctl_q.jal;
      c7_jalr_q    <= c6_ctl_q.jalr;
      c7_slt_q     <= c6_ctl_q.slt;
      c7_mem_q     <= c6_ctl_q.mem;
      c7_store_q   <= c6_ctl_q.store;
      c7_csr_q     <= c6_csr_q;
      c7_stop_q    <= c6_stop_q;
      c7_cause_q   <= c6_cause_q;
      c7_outside_q <= c6_target_q[19:PcW] != '0;
      c7_offset_q  <= c6_ctl_q.jal ? c6_instr_q[21] : c6_instr_q[8];
      c7_target_q  <= c6_target_q[PcW-1:0];
      c7_pc_q      <= c6_pc_q;
      // The next instruction, or this one again.
      c7_next_q    <= c6_pc_q + {{PcW{1'b0}}, !(c6_again_q || c6_inject_q)};
      c7_again_q   <= c6_again_q;
      c7_low_q     <= c6_ctl_q.mul_lo;
      c7_high_q    <= c6_ctl_q.mul_hi;
      c7_write_q   <= c6_write_q;
      c7_rd_q      <= c6_rd_q;
      c7_funct3_q  <= c6_funct3_q;
      c7_rm_q      <= c6_rm_q;
      c7_xfunct3_q <= c6_xfunct3_q;
      c7_fop_q     <= c6_ctl_q.fop;
      c7_which_q   <= c6_instr_q[21:20];
      c7_data2_q   <= c6_data2_q;
      c7_data3_q   <= c6_data3_q;
    end
  end

  // C7: jumps, traps, next pc
  logic c7_taken, c7_bad_mem, c7_bad_jump, c7_odd_jump, c7_jumps;
  logic [3:0] c7_cause;

  always_comb begin
    c7_taken    = c7_branch_q && ((c7_funct3_q[2] ? c7_less_q : c7_equal_q) ^ c7_funct3_q[0]);
    c7_jumps    = c7_taken || c7_jal_q;
    c7_bad_mem  = c7_mem_q && ((c7_funct3_q[1] && c7_sum_q[1:0] != '0) || (c7_funct3_q[0] && c7_sum_q[0]));
    c7_odd_jump = c7_jalr_q ? c7_sum_q[1] : c7_offset_q;
    c7_bad_jump = (c7_jumps && (c7_outside_q || c7_offset_q)) ||
        (c7_jalr_q && (c7_sum_q[31:PcW+2] != '0 || c7_sum_q[1]));
    c7_trap     = c7_stop_q || c7_bad_mem || c7_bad_jump;
    c7_cause    = c7_odd_jump ? CauseFetchMisaligned : CauseFetchFault;
    if (c7_mem_q) c7_cause = {2'b01, c7_store_q, 1'b0};
    if (c7_stop_q) c7_cause = c7_cause_q;
    c7_where.again = c7_again_q;
    c7_where.pc    = c7_next_q;
    if (c7_jumps) c7_where.pc = {1'b0, c7_target_q};
    if (c7_jalr_q) c7_where.pc = {1'b0, c7_sum_q[PcW+1:2]};
  end

  // Neither a divide's first pass nor what was injected counts as an instruction.
  logic c7_counts_q;
  always_ff @(posedge clk_i) c7_counts_q <= !c6_again_q && !c6_inject_q;

  // C8: requests leave; the result goes on
  logic [4:0] c7_rsp_flags_q;
  logic c8_x_q, c8_f_q, c8_write_q, c8_low_q, c8_high_q, c9_write_q, c9_low_q, c9_high_q, c10_write_q;
  x_req_t c8_x_req_q;
  f_req_t c8_f_req_q;
  logic [31:0] c8_sum_q, c8_logic_q, c7_rsp_q, c8_rsp_q, c9_alu_q, c10_alu_q, div_data, c10_low, c10_high;
  logic [7:0] c9_fcsr, c10_fcsr_q;
  tid_t c8_wtid_q, c9_wtid_q, c10_wtid_q;
  logic [5:0] c9_rd, c10_rd_q;
  logic c9_rd_write, c9_counts, c10_retire_q, c7_keep;

  // Only an instruction that is not suspended or stopped has a result here.
  assign c7_keep = valid[7] && !c7_x_q && !c7_f_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      c8_x_q <= 1'b0;
      c8_f_q <= 1'b0;
    end else begin
      c8_x_q <= c7_x_q || (valid[7] && c7_trap);
      c8_f_q <= c7_f_q;
    end
    // Only what asks or may trap.
    if (c7_x_q || c7_stop_q || c7_branch_q || c7_jal_q || c7_jalr_q) begin
      c8_x_req_q.op     <= c7_trap ? XTrap : (c7_csr_q ? XCsr : (c7_store_q ? XStore : XLoad));
      c8_x_req_q.funct3 <= c7_xfunct3_q;
      c8_x_req_q.tid    <= tid[7];
      c8_x_req_q.addr   <= c7_trap ? {2'b00, c7_cause, 26'({c7_pc_q, 2'b00})} : c7_sum_q;
      // What stops has no sum, and what is not illegal no instruction.
      c8_x_req_q.data   <= c7_trap ? (c7_sum_q | c7_instr_q) : c7_data2_q;
      // Of a branch's target not enough is known here; that it is taken is what makes it trap.
      if (c7_branch_q && c7_taken) c8_x_req_q.data <= '0;
    end
    if (c7_f_q) begin
      c8_f_req_q.op  <= c7_fop_q;
      c8_f_req_q.rm  <= c7_rm_q;
      c8_f_req_q.tid <= tid[7];
      c8_f_req_q.a   <= c7_sum_q;
      c8_f_req_q.b   <= c7_data2_q;
      c8_f_req_q.c   <= c7_data3_q;
    end
    c8_sum_q          <= c7_sum_q;
    c8_logic_q        <= c7_logic_q;
    if (c7_jal_q || c7_jalr_q) begin
      c8_sum_q   <= '0;
      c8_logic_q <= 32'({c7_next_q, 2'b00});
    end
    if (c7_slt_q) c8_logic_q[0] <= c7_less_q;
    if (!c7_keep) begin
      c8_sum_q   <= '0;
      c8_logic_q <= '0;
    end
    c7_rsp_q          <= rsp_take ? rsp.data : '0;
    c7_rsp_flags_q    <= rsp_take ? rsp.flags : '0;
    c8_rsp_q          <= c7_rsp_q;
    c8_low_q          <= c7_low_q && c7_keep;
    c8_high_q         <= c7_high_q && c7_keep;
    c8_write_q        <= c7_back || (c7_keep && !c7_trap);
    c8_wtid_q         <= c7_wtid;
    c9_alu_q          <= c8_sum_q | c8_logic_q | c8_rsp_q | div_data;
    c9_low_q          <= c8_low_q;
    c9_high_q         <= c8_high_q;
    c9_write_q        <= c8_write_q;
    c9_wtid_q         <= c8_wtid_q;
    c10_alu_q         <= c9_alu_q;
    c10_fcsr_q        <= c9_fcsr;
    c10_write_q       <= c9_write_q && c9_rd_write;
    c10_retire_q      <= c9_write_q && c9_counts;
    c10_rd_q          <= c9_rd;
    c10_wtid_q        <= c9_wtid_q;
  end

  // Where the result of each thread's instruction goes, also when it comes as an answer, and whether it counts.
  gs_ram_sdp #(
    .Width  (8),
    .Depth  (ThreadsPerCore),
    .Latency(0),
    .Style  ("distributed")
  ) u_rd (
    .clk_i,
    .we_i   (valid[7]),
    .wstrb_i(1'b1),
    .waddr_i(tid[7]),
    .wdata_i({c7_counts_q, c7_write_q, c7_rd_q}),
    .re_i   (1'b1),
    .raddr_i(c9_wtid_q),
    .rdata_o({c9_counts, c9_rd_write, c9_rd})
  );

  // Whatever ends comes by here once: by itself, or with its answer.
  assign retire_o     = c10_retire_q;
  assign retire_tid_o = c10_wtid_q;

  // C10: write-back
  assign wb_we   = c10_write_q;
  assign wb_tid  = c10_wtid_q;
  assign wb_reg  = c10_rd_q;
  assign wb_data = c10_alu_q | c10_low | c10_high | 32'(c10_fcsr_q);

  gs_core_mul u_mul (
    .clk_i,
    .c5_shift_i   (c5_ctl.shift),
    .c5_distance_i(c5_ctl.b_imm ? c5_imm[4:0] : c5_data2_q[4:0]),
    .c5_right_i   (c5_instr_q[14]),
    .c6_uses_i    (c6_ctl_q.mul_lo || c6_ctl_q.mul_hi),
    .c6_a_i       (c6_a_q),
    .c6_a_signed_i(c6_mul_a_q),
    .c6_b_i       (c6_b_q),
    .c6_b_signed_i(c6_ctl_q.mul_b),
    .c6_shift_i   (c6_ctl_q.shift),
    .c9_low_i     (c9_low_q),
    .c9_high_i    (c9_high_q),
    .c10_low_o    (c10_low),
    .c10_high_o   (c10_high)
  );

  // Floating-point status: an answer's flags take the place that the answer takes.
  logic c7_flags;

  assign c7_flags = c7_back && c7_rsp_flags_q != '0;

  gs_core_fcsr #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_fcsr (
    .clk_i,
    .c5_tid_i  (tid[5]),
    .c5_frm_o  (c5_frm),
    .c7_en_i   (c7_fcsr_q || c7_flags),
    .c7_how_i  (c7_fcsr_q ? c7_funct3_q[1:0] : 2'd0),
    .c7_which_i(c7_fcsr_q ? c7_which_q : 2'd1),
    .c7_data_i (c7_fcsr_q ? c7_data2_q[7:0] : {3'd0, c7_rsp_flags_q}),
    .c7_tid_i  (c7_wtid),
    .c9_old_o  (c9_fcsr)
  );

  // Queues
  logic f_out_valid, f_out_ready, div_ready, f_out_div;
  logic unused_x_ready, unused_f_ready, unused_rsp_ready;
  logic [$clog2(ThreadsPerCore+1)-1:0] unused_x_count, unused_f_count, unused_rsp_count;

  gs_fifo #(
    .data_t(x_req_t),
    .Depth (ThreadsPerCore),
    .Block (1'b1)
  ) u_x_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (c8_x_q),
    .in_ready_o (unused_x_ready),
    .in_data_i  (c8_x_req_q),
    .out_valid_o(x_valid_o),
    .out_ready_i(x_ready_i),
    .out_data_o (x_req_o),
    .count_o    (unused_x_count)
  );

  gs_fifo #(
    .data_t(f_req_t),
    .Depth (ThreadsPerCore),
    .Block (1'b1)
  ) u_f_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (c8_f_q),
    .in_ready_o (unused_f_ready),
    .in_data_i  (c8_f_req_q),
    .out_valid_o(f_out_valid),
    .out_ready_i(f_out_ready),
    .out_data_o (f_req_o),
    .count_o    (unused_f_count)
  );

  assign f_out_div   = f_req_o.op[4:3] == OpDivide[4:3];
  assign f_valid_o   = f_out_valid && !f_out_div;
  assign f_out_ready = f_out_div ? div_ready : f_ready_i;

  gs_core_div #(
    .TidW(TidW)
  ) u_div (
    .clk_i,
    .rst_ni,
    .valid_i    (f_out_valid && f_out_div),
    .ready_o    (div_ready),
    .tid_i      (f_req_o.tid),
    .dividend_i (f_req_o.a),
    .divisor_i  (f_req_o.b),
    .negative_i (f_req_o.rm[1]),
    .remainder_i(f_req_o.rm[2]),
    .done_o     (div_done),
    .tid_o      (div_tid),
    .take_i     (div_take),
    .data_o     (div_data)
  );

  gs_fifo #(
    .data_t(rsp_t),
    .Depth (ThreadsPerCore)
  ) u_rsp_queue (
    .clk_i,
    .rst_ni,
    .in_valid_i (rsp_valid_i),
    .in_ready_o (unused_rsp_ready),
    .in_data_i  (rsp_i),
    .out_valid_o(rsp_valid),
    .out_ready_i(rsp_take),
    .out_data_o (rsp),
    .count_o    (unused_rsp_count)
  );

`ifndef SYNTHESIS
  logic c8_again_q;
  always_ff @(posedge clk_i) c8_again_q <= c7_again_q && c7_write_q;

  gs_core_trace #(
    .ThreadsPerCore(ThreadsPerCore),
    .x_req_t       (x_req_t)
  ) u_trace (
    .clk_i,
    .rst_ni,
    .issue_i   (valid[3]),
    .tid_i     (tid[3]),
    .pc_i      (32'({c3_where_q.pc, 2'b00})),
    .instr_i   (c3_instr_q),
    .park_i    (park_o),
    .park_tid_i(tid[1]),
    .retire_i  (valid[7] && !c7_trap && !c7_again_q),
    .done_tid_i(tid[7]),
    .back_i    (c7_back),
    .back_tid_i(c7_wtid),
    .x_i       (c8_x_q),
    .x_req_i   (c8_x_req_q),
    .f_i       (c8_f_q),
    .div_i     (c8_f_req_q.op[4:3] == OpDivide[4:3]),
    .again_i   (c8_again_q),
    .f_tid_i   (c8_f_req_q.tid),
    .write_i   (wb_we),
    .write_tid_i(wb_tid),
    .write_reg_i(wb_reg),
    .write_data_i(wb_data)
  );
`endif

  `GS_ASSERT_NOW(queues_have_room, (unused_x_ready || !c8_x_q) && (unused_f_ready || !c8_f_q))
  `GS_ASSERT_NOW(answers_have_room, unused_rsp_ready || !rsp_valid_i)
endmodule
