// SPDX-License-Identifier: Apache-2.0

/// Execution: sum, comparison, logic. (Products and shifts: gs_core_mul.)
module gs_core_execute
  import gs_core_pkg::*;
#(
  /// bits of a word's address in the instruction memory
  parameter int unsigned PcW = 11
) (
  input  logic           clk_i,
  // Exec: an instruction, its operands, its pc and its jump's target
  input  logic           exec_valid_i,
  input  exec_t          exec_i,
  input  logic [31:0]    exec_instr_i,
  input  logic [31:0]    exec_a_i,
  input  logic [31:0]    exec_b_i,
  input  logic [31:0]    exec_data2_i,
  input  logic [31:0]    exec_data3_i,
  input  logic [PcW:0]   exec_pc_i,
  input  logic [19:0]    exec_target_i,
  // The instruction suspends or stops its thread.
  output logic           exec_stays_o,
  // Resolve: a request on X or on F, a change of the core's CSRs; the other outputs are valid with an instruction
  output logic           resolve_x_o,
  output logic           resolve_f_o,
  output logic           resolve_fcsr_o,
  output resolve_t       resolve_o,
  // The sum and the logical result are 0 unless they are the result or an address; resolve_instr_o is 0 unless the
  // instruction is illegal.
  output logic [31:0]    resolve_sum_o,
  output logic [31:0]    resolve_logic_o,
  output logic [31:0]    resolve_instr_o,
  output logic [31:0]    resolve_data2_o,
  output logic [31:0]    resolve_data3_o,
  // pc of the instruction, of the next one, of a jump's target
  output logic [PcW:0]   resolve_pc_o,
  output logic [PcW:0]   resolve_next_o,
  output logic [PcW-1:0] resolve_target_o
);
  logic [33:0] sum;
  logic [31:0] logical;
  logic unused_carry, unused_mul;

  assign exec_stays_o = exec_i.x || exec_i.f;
  assign sum          = {exec_i.a_sign, exec_a_i, 1'b1} + {exec_i.b_sign, exec_b_i, exec_i.carry};
  assign unused_carry = sum[0];
  // Fields that only the multiplier reads
  assign unused_mul   = ^exec_i;

  always_comb begin
    case (exec_i.funct3[1:0])
      2'b00:   logical = exec_a_i ^ exec_b_i;
      2'b10:   logical = exec_a_i | exec_b_i;
      default: logical = exec_a_i & exec_b_i;
    endcase
  end

  resolve_t resolve_q;
  logic resolve_x_q, resolve_f_q, resolve_fcsr_q;
  logic [31:0] resolve_sum_q, resolve_logic_q, resolve_instr_q, resolve_data2_q, resolve_data3_q;
  logic [PcW:0] resolve_pc_q, resolve_next_q;
  logic [PcW-1:0] resolve_target_q;

  always_ff @(posedge clk_i) begin
    resolve_x_q    <= exec_i.x && exec_valid_i;
    resolve_f_q    <= exec_i.f && exec_valid_i;
    resolve_fcsr_q <= exec_i.fcsr && exec_valid_i;
    if (exec_valid_i) begin
      resolve_sum_q    <= sum[32:1];
      if (!exec_i.sum_en || exec_i.stop) resolve_sum_q <= '0;
      resolve_logic_q  <= logical;
      if (!exec_i.logical) resolve_logic_q <= '0;
      resolve_instr_q  <= exec_instr_i;
      if (!exec_i.illegal) resolve_instr_q <= '0;
      resolve_data2_q  <= exec_data2_i;
      resolve_data3_q  <= exec_data3_i;
      resolve_target_q <= exec_target_i[PcW-1:0];
      resolve_pc_q     <= exec_pc_i;
      // The next instruction, or this one again.
      resolve_next_q   <= exec_pc_i + {{PcW{1'b0}}, !(exec_i.again || exec_i.inject)};
      resolve_q        <= '{
        less: sum[33],
        // A branch subtracts: its second operand is inverted. A comparison of the sum with 0 would arrive too late.
        equal: (exec_a_i ^ exec_b_i) == '1,
        branch: exec_i.branch && !exec_i.stop,
        slt: exec_i.slt,
        jal: exec_i.jal,
        jalr: exec_i.jalr,
        mem: exec_i.mem,
        store: exec_i.store,
        csr: exec_i.csr,
        stop: exec_i.stop,
        outside: exec_target_i[19:PcW] != '0,
        offset: exec_i.jal ? exec_instr_i[21] : exec_instr_i[8],
        again: exec_i.again,
        counts: !exec_i.again && !exec_i.inject,
        mul_lo: exec_i.mul_lo,
        mul_hi: exec_i.mul_hi,
        write: exec_i.write,
        rd: exec_i.rd,
        cause: exec_i.cause,
        funct3: exec_i.funct3,
        rm: exec_i.rm,
        xfunct3: exec_i.xfunct3,
        fop: exec_i.fop,
        which: exec_instr_i[21:20]
      };
    end
  end

  assign resolve_x_o      = resolve_x_q;
  assign resolve_f_o      = resolve_f_q;
  assign resolve_fcsr_o   = resolve_fcsr_q;
  assign resolve_o        = resolve_q;
  assign resolve_sum_o    = resolve_sum_q;
  assign resolve_logic_o  = resolve_logic_q;
  assign resolve_instr_o  = resolve_instr_q;
  assign resolve_data2_o  = resolve_data2_q;
  assign resolve_data3_o  = resolve_data3_q;
  assign resolve_pc_o     = resolve_pc_q;
  assign resolve_next_o   = resolve_next_q;
  assign resolve_target_o = resolve_target_q;
endmodule
