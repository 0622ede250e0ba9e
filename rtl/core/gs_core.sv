// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Barrel-scheduled RV32IMF core with Zicsr. At most one instruction of a thread is in the pipeline. An instruction
/// with latency (memory, CSR of the tile, FPU, divide) suspends its thread until the response arrives.
///
///     stage     work                                   module
///     Pick      the thread that issues; its pc         gs_core_sched, gs_core_fetch
///     Fetch     address to the instruction memory      gs_core_fetch
///     Word      instruction                            gs_core_fetch
///     Decode    addresses of registers and table       gs_core_decode, gs_core_read
///     Read      registers, control signals             gs_core_decode, gs_core_read
///     Operand   operands; check for illegal ones       gs_core_operands
///     Exec      add, compare, logic; multiplier        gs_core_execute, gs_core_mul
///     Resolve   jump, trap, next pc; to the run queue  gs_core_resolve
///     Send      requests enter their queues            gs_core_requests
///     Join      results are merged                     gs_core_results
///     Write     register write                         gs_core_results
///
/// So a thread issues at most one instruction every 8 cycles. The two request queues, X and F, have a slot for each
/// thread: the pipeline never stalls. A negative quotient or remainder needs a second pass: the divider writes the
/// magnitude to rd, and the instruction issues again to negate it.
module gs_core
  import gs_core_pkg::*;
  import gs_decode_pkg::*;
  import gs_thread_pkg::*;
#(
  /// hardware threads, 2 to 32, a power of two
  parameter  int unsigned ThreadsPerCore = 16,
  /// words of the instruction memory, 64 to 32768, a power of two
  parameter  int unsigned InstrWords     = 2048,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore),
  localparam int unsigned PcW            = $clog2(InstrWords)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // A port of gs_instr_mem
  output logic                      imem_en_o,
  output logic                      imem_we_o,
  output logic [PcW-1:0]            imem_addr_o,
  output logic [31:0]               imem_wdata_o,
  input  logic [31:0]               imem_rdata_i,
  // A port of gs_decode_rom
  output logic                      rom_en_o,
  output logic [DecodeW-1:0]        rom_addr_o,
  input  logic [CtlW-1:0]           rom_word_i,
  // Access to the instruction memory, which uses a fetch slot. A word that is read is in imem_rdata_i two cycles later.
  input  logic                      iwr_valid_i,
  input  logic                      iwr_write_i,
  input  logic [PcW-1:0]            iwr_addr_i,
  input  logic [31:0]               iwr_data_i,
  // Requests and responses, with their threads
  output logic                      x_valid_o,
  input  logic                      x_ready_i,
  output logic [TidW-1:0]           x_tid_o,
  output x_req_t                    x_req_o,
  output logic                      f_valid_o,
  input  logic                      f_ready_i,
  output logic [TidW-1:0]           f_tid_o,
  output f_req_t                    f_req_o,
  input  logic                      rsp_valid_i,
  input  logic [TidW-1:0]           rsp_tid_i,
  input  rsp_t                      rsp_i,
  // Control of threads (gs_thread_pkg). In the cycle of `ready`, ctl_allowed_o reports whether the operation was
  // allowed, and ctl_trapped_o whether the thread has trapped since its last start. An injected instruction executes as
  // if it were at the thread's pc, which does not change unless the instruction jumps.
  input  logic                      ctl_valid_i,
  output logic                      ctl_ready_o,
  input  thread_op_e                ctl_op_i,
  input  logic [TidW-1:0]           ctl_tid_i,
  input  logic [31:0]               ctl_instr_i,
  output logic                      ctl_allowed_o,
  output logic                      ctl_trapped_o,
  // Inspection by an operation that changes nothing. In the cycle of `ready`: the thread's next pc in words, and
  // whether its last instruction sent a request, whose response may have arrived. In the next cycle: that request.
  output logic [15:0]               ctl_pc_o,
  output logic                      ctl_waits_o,
  output asked_t                    ctl_asked_o,
  // A thread parks
  output logic                      park_o,
  output logic [TidW-1:0]           park_tid_o,
  // An instruction was issued; this thread finished an instruction (a suspended one finishes with its response)
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

  // Threads of the stages that the scheduler tracks
  logic [ResolveStage:FetchStage] valid;
  tid_t [ResolveStage:FetchStage] tid;
  logic unused_stages;
  assign unused_stages = ^{valid, tid};

  // Pick to Read
  logic pick_start, pick_inject, fetch_again, fetch_asks, decode_again, inspect_sends;
  logic [PcW:0] fetch_pc;
  tid_t pick_tid;
  logic [31:0] decode_instr;
  logic [PcW:0] decode_pc;

  // Operand
  ctl_t operand_ctl;
  logic [31:0] operand_instr, operand_imm, operand_data1, operand_data2, operand_data3;
  logic operand_illegal, operand_tile_csr, operand_inject, operand_again;
  logic [PcW:0] operand_pc;
  logic [2:0] operand_frm;

  // Exec
  exec_t exec;
  logic exec_stays;
  logic [31:0] exec_instr, exec_a, exec_b, exec_data2, exec_data3;
  logic [PcW:0] exec_pc;
  logic [19:0] exec_target;

  // Resolve
  resolve_t resolve;
  logic resolve_x, resolve_f, resolve_fcsr, resolve_taken, resolve_trap, resolve_back;
  logic [3:0] resolve_cause;
  logic [31:0] resolve_sum, resolve_logic, resolve_instr, resolve_data2, resolve_data3;
  logic [PcW:0] resolve_pc, resolve_next, resolve_next_pc;
  logic [PcW-1:0] resolve_target;
  tid_t resolve_wtid;

  // Send to Write
  logic send_x, send_f, send_divides, join_low, join_high, write_en;
  x_req_t send_x_req;
  tid_t send_x_tid, send_f_tid, write_tid;
  logic [31:0] send_div_data, write_low, write_high, write_data;
  logic [5:0] write_reg;

  // Waiting responses
  logic rsp_waits, rsp_take, div_waits, div_take;
  tid_t rsp_tid, div_tid;

  gs_core_sched #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_sched (
    .clk_i,
    .rst_ni,
    .block_i       (iwr_valid_i),
    .ctl_valid_i,
    .ctl_ready_o,
    .ctl_op_i,
    .ctl_tid_i,
    .ctl_allowed_o,
    .ctl_trapped_o,
    .park_o,
    .pick_tid_o    (pick_tid),
    .pick_start_o  (pick_start),
    .pick_inject_o (pick_inject),
    .fetch_again_i (fetch_again),
    .valid_o       (valid),
    .tid_o         (tid),
    .exec_stays_i  (exec_stays),
    .resolve_trap_i(resolve_trap),
    .rsp_valid_i   (rsp_waits),
    .rsp_tid_i     (rsp_tid),
    .rsp_take_o    (rsp_take),
    .div_valid_i   (div_waits),
    .div_tid_i     (div_tid),
    .div_take_o    (div_take),
    .resolve_back_o(resolve_back),
    .resolve_wtid_o(resolve_wtid)
  );

  assign issue_o    = valid[WordStage];
  assign park_tid_o = tid[FetchStage];

  gs_core_fetch #(
    .ThreadsPerCore(ThreadsPerCore),
    .InstrWords    (InstrWords)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .imem_en_o,
    .imem_we_o,
    .imem_addr_o,
    .imem_wdata_o,
    .imem_rdata_i,
    .iwr_valid_i,
    .iwr_write_i,
    .iwr_addr_i,
    .iwr_data_i,
    .pick_tid_i      (pick_tid),
    .pick_start_i    (pick_start),
    .pick_inject_i   (pick_inject),
    .ctl_instr_i,
    .fetch_valid_i   (valid[FetchStage]),
    .word_valid_i    (valid[WordStage]),
    .decode_valid_i  (valid[DecodeStage]),
    .read_valid_i    (valid[ReadStage]),
    .fetch_again_o   (fetch_again),
    .fetch_pc_o      (fetch_pc),
    .fetch_asks_o    (fetch_asks),
    .decode_instr_o  (decode_instr),
    .decode_again_o  (decode_again),
    .decode_pc_o     (decode_pc),
    .operand_inject_o(operand_inject),
    .operand_again_o (operand_again),
    .operand_pc_o    (operand_pc),
    .resolve_valid_i (valid[ResolveStage]),
    .resolve_tid_i   (tid[ResolveStage]),
    .resolve_again_i (resolve.again),
    .resolve_asks_i  (resolve_x || resolve_f || resolve_trap),
    .resolve_pc_i    (resolve_next_pc)
  );

  gs_core_decode u_decode (
    .clk_i,
    .decode_valid_i   (valid[DecodeStage]),
    .read_valid_i     (valid[ReadStage]),
    .decode_instr_i   (decode_instr),
    .rom_en_o,
    .rom_addr_o,
    .rom_word_i,
    .operand_ctl_o    (operand_ctl),
    .operand_imm_o    (operand_imm),
    .operand_illegal_o(operand_illegal)
  );

  gs_core_read #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_read (
    .clk_i,
    .decode_valid_i    (valid[DecodeStage]),
    .decode_tid_i      (tid[DecodeStage]),
    .decode_instr_i    (decode_instr),
    .decode_again_i    (decode_again),
    .read_valid_i      (valid[ReadStage]),
    .operand_instr_o   (operand_instr),
    .operand_tile_csr_o(operand_tile_csr),
    .operand_data1_o   (operand_data1),
    .operand_data2_o   (operand_data2),
    .operand_data3_o   (operand_data3),
    .write_en_i        (write_en),
    .write_tid_i       (write_tid),
    .write_reg_i       (write_reg),
    .write_data_i      (write_data)
  );

  gs_core_operands #(
    .PcW(PcW)
  ) u_operands (
    .clk_i,
    .operand_valid_i   (valid[OperandStage]),
    .operand_instr_i   (operand_instr),
    .operand_ctl_i     (operand_ctl),
    .operand_imm_i     (operand_imm),
    .operand_illegal_i (operand_illegal),
    .operand_tile_csr_i(operand_tile_csr),
    .operand_data1_i   (operand_data1),
    .operand_data2_i   (operand_data2),
    .operand_data3_i   (operand_data3),
    .operand_inject_i  (operand_inject),
    .operand_again_i   (operand_again),
    .operand_pc_i      (operand_pc),
    .operand_frm_i     (operand_frm),
    .exec_o            (exec),
    .exec_instr_o      (exec_instr),
    .exec_a_o          (exec_a),
    .exec_b_o          (exec_b),
    .exec_data2_o      (exec_data2),
    .exec_data3_o      (exec_data3),
    .exec_pc_o         (exec_pc),
    .exec_target_o     (exec_target)
  );

  gs_core_execute #(
    .PcW(PcW)
  ) u_execute (
    .clk_i,
    .exec_valid_i    (valid[ExecStage]),
    .exec_i          (exec),
    .exec_instr_i    (exec_instr),
    .exec_a_i        (exec_a),
    .exec_b_i        (exec_b),
    .exec_data2_i    (exec_data2),
    .exec_data3_i    (exec_data3),
    .exec_pc_i       (exec_pc),
    .exec_target_i   (exec_target),
    .exec_stays_o    (exec_stays),
    .resolve_x_o     (resolve_x),
    .resolve_f_o     (resolve_f),
    .resolve_fcsr_o  (resolve_fcsr),
    .resolve_o       (resolve),
    .resolve_sum_o   (resolve_sum),
    .resolve_logic_o (resolve_logic),
    .resolve_instr_o (resolve_instr),
    .resolve_data2_o (resolve_data2),
    .resolve_data3_o (resolve_data3),
    .resolve_pc_o    (resolve_pc),
    .resolve_next_o  (resolve_next),
    .resolve_target_o(resolve_target)
  );

  gs_core_mul u_mul (
    .clk_i,
    .operand_shift_i   (operand_ctl.shift),
    .operand_distance_i(operand_ctl.b_imm ? operand_imm[4:0] : operand_data2[4:0]),
    .operand_right_i   (operand_instr[14]),
    .exec_uses_i       (exec.mul_lo || exec.mul_hi),
    .exec_a_i          (exec_a),
    .exec_a_signed_i   (exec.mul_a),
    .exec_b_i          (exec_b),
    .exec_b_signed_i   (exec.mul_b),
    .exec_shift_i      (exec.shift),
    .join_low_i        (join_low),
    .join_high_i       (join_high),
    .write_low_o       (write_low),
    .write_high_o      (write_high)
  );

  gs_core_resolve #(
    .PcW(PcW)
  ) u_resolve (
    .resolve_i       (resolve),
    .resolve_sum_i   (resolve_sum),
    .resolve_next_i  (resolve_next),
    .resolve_target_i(resolve_target),
    .resolve_taken_o (resolve_taken),
    .resolve_trap_o  (resolve_trap),
    .resolve_cause_o (resolve_cause),
    .resolve_pc_o    (resolve_next_pc)
  );

  gs_core_requests #(
    .ThreadsPerCore(ThreadsPerCore),
    .PcW           (PcW)
  ) u_requests (
    .clk_i,
    .rst_ni,
    .resolve_valid_i(valid[ResolveStage]),
    .resolve_tid_i  (tid[ResolveStage]),
    .resolve_x_i    (resolve_x),
    .resolve_f_i    (resolve_f),
    .resolve_i      (resolve),
    .resolve_sum_i  (resolve_sum),
    .resolve_instr_i(resolve_instr),
    .resolve_data2_i(resolve_data2),
    .resolve_data3_i(resolve_data3),
    .resolve_pc_i   (resolve_pc),
    .resolve_taken_i(resolve_taken),
    .resolve_trap_i (resolve_trap),
    .resolve_cause_i(resolve_cause),
    .send_x_o       (send_x),
    .send_x_req_o   (send_x_req),
    .send_x_tid_o   (send_x_tid),
    .send_f_o       (send_f),
    .send_divides_o (send_divides),
    .send_f_tid_o   (send_f_tid),
    .inspect_i      (ctl_ready_o),
    .inspect_tid_i  (tid[FetchStage]),
    .inspect_sends_o(inspect_sends),
    .inspect_asked_o(ctl_asked_o),
    .x_valid_o,
    .x_ready_i,
    .x_tid_o,
    .x_req_o,
    .f_valid_o,
    .f_ready_i,
    .f_tid_o,
    .f_req_o,
    .div_valid_o    (div_waits),
    .div_tid_o      (div_tid),
    .div_take_i     (div_take),
    .send_div_data_o(send_div_data)
  );

  gs_core_results #(
    .ThreadsPerCore(ThreadsPerCore),
    .PcW           (PcW)
  ) u_results (
    .clk_i,
    .rst_ni,
    .operand_tid_i      (tid[OperandStage]),
    .operand_frm_o      (operand_frm),
    .resolve_valid_i    (valid[ResolveStage]),
    .resolve_tid_i      (tid[ResolveStage]),
    .resolve_x_i        (resolve_x),
    .resolve_f_i        (resolve_f),
    .resolve_fcsr_i     (resolve_fcsr),
    .resolve_i          (resolve),
    .resolve_trap_i     (resolve_trap),
    .resolve_sum_i      (resolve_sum),
    .resolve_logic_i    (resolve_logic),
    .resolve_fcsr_data_i(resolve_data2[7:0]),
    .resolve_next_i     (resolve_next),
    .resolve_back_i     (resolve_back),
    .resolve_wtid_i     (resolve_wtid),
    .rsp_valid_i,
    .rsp_tid_i,
    .rsp_i,
    .rsp_valid_o        (rsp_waits),
    .rsp_tid_o          (rsp_tid),
    .rsp_take_i         (rsp_take),
    .send_div_data_i    (send_div_data),
    .join_low_o         (join_low),
    .join_high_o        (join_high),
    .write_low_i        (write_low),
    .write_high_i       (write_high),
    .write_en_o         (write_en),
    .write_tid_o        (write_tid),
    .write_reg_o        (write_reg),
    .write_data_o       (write_data),
    .retire_o
  );

  assign retire_tid_o = write_tid;
  assign ctl_pc_o     = 16'(fetch_pc);
  assign ctl_waits_o  = fetch_asks && !inspect_sends;

  // A thread has one instruction in the pipeline.
  `GS_ASSERT_NOW(first_register_is_not_read_while_it_is_written, !u_read.u_regs.u_first.collides)
  `GS_ASSERT_NOW(second_register_is_not_read_while_it_is_written, !u_read.u_regs.u_second.collides)
  `GS_ASSERT_NOW(third_register_is_not_read_while_it_is_written, !u_read.u_regs.u_third.collides)

`ifndef SYNTHESIS
  logic send_again_q;
  always_ff @(posedge clk_i) send_again_q <= resolve.again && resolve.write;

  gs_core_trace #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_trace (
    .clk_i,
    .rst_ni,
    .issue_i     (valid[DecodeStage]),
    .tid_i       (tid[DecodeStage]),
    .pc_i        (32'({decode_pc, 2'b00})),
    .instr_i     (decode_instr),
    .park_i      (park_o),
    .park_tid_i  (tid[FetchStage]),
    .retire_i    (valid[ResolveStage] && !resolve_trap && !resolve.again),
    .done_tid_i  (tid[ResolveStage]),
    .back_i      (resolve_back),
    .back_tid_i  (resolve_wtid),
    .x_i         (send_x),
    .x_tid_i     (send_x_tid),
    .x_req_i     (send_x_req),
    .f_i         (send_f),
    .div_i       (send_divides),
    .again_i     (send_again_q),
    .f_tid_i     (send_f_tid),
    .write_i     (write_en),
    .write_tid_i (write_tid),
    .write_reg_i (write_reg),
    .write_data_i(write_data)
  );
`endif
endmodule
