// SPDX-License-Identifier: Apache-2.0

/// Operands: the values that an instruction adds, compares or sends, and the check for illegal instructions.
///
/// A divide adds 0 to its dividend, and negates a negative dividend; its second pass negates a positive value. (2^31 is
/// its own negative; all ones is the quotient of a division by 0.)
module gs_core_operands
  import gs_core_pkg::*;
  import gs_decode_pkg::*;
#(
  /// bits of a word's address in the instruction memory
  parameter int unsigned PcW = 11
) (
  input  logic         clk_i,
  // Operand: the decoded instruction; its registers; injected by control; a divide's second pass; rounding mode
  input  logic         operand_valid_i,
  input  logic [31:0]  operand_instr_i,
  input  ctl_t         operand_ctl_i,
  input  logic [31:0]  operand_imm_i,
  input  logic         operand_illegal_i,
  input  logic         operand_tile_csr_i,
  input  logic [31:0]  operand_data1_i,
  input  logic [31:0]  operand_data2_i,
  input  logic [31:0]  operand_data3_i,
  input  logic         operand_inject_i,
  input  logic         operand_again_i,
  input  logic [PcW:0] operand_pc_i,
  input  logic [2:0]   operand_frm_i,
  // Exec: target of a jump, in words; a bit above the pc's is set if the target is outside the instruction memory
  output exec_t        exec_o,
  output logic [31:0]  exec_instr_o,
  output logic [31:0]  exec_a_o,
  output logic [31:0]  exec_b_o,
  output logic [31:0]  exec_data2_o,
  output logic [31:0]  exec_data3_o,
  output logic [PcW:0] exec_pc_o,
  output logic [19:0]  exec_target_o
);
  ctl_t ctl;
  logic [2:0] rm;
  logic [3:0] cause;
  logic [31:0] a, b;
  logic unused_ctl;
  logic rd_some, bad_rm, bad, runs_over, stop, is_unsigned, flip, negate, sub, divides, div_signed;

  assign ctl         = operand_ctl_i;
  assign rd_some     = operand_instr_i[11:7] != '0;
  assign rm          = (operand_instr_i[14:12] == 3'd7) ? operand_frm_i : operand_instr_i[14:12];
  // Static modes 5 and 6 are not in the table.
  assign bad_rm      = ctl.rounds && (rm == 3'd7 || rm == 3'd6 || rm == 3'd5);
  assign bad         = operand_illegal_i || bad_rm;
  assign runs_over   = operand_pc_i[PcW];
  // Traps for any operands.
  assign stop        = bad || ctl.chk_sys || runs_over;
  assign is_unsigned = ctl.branch ? operand_instr_i[13] : operand_instr_i[12];
  assign sub         = ctl.sub || (ctl.sub_30 && operand_instr_i[30]);
  assign divides     = ctl.div && !operand_again_i;
  assign div_signed  = ctl.fop[0];
  assign flip        = ctl.div && (operand_again_i ? !operand_data1_i[31] : div_signed && operand_data1_i[31]);
  assign negate      = divides && div_signed && !operand_inject_i &&
      (operand_data1_i[31] ^ (operand_data2_i[31] && !ctl.fop[1]));

  // gs_core_decode has already checked the other fields.
  assign unused_ctl = ^ctl;

  always_comb begin
    a = operand_data1_i ^ {32{flip}};
    if (ctl.a_pc) a = 32'({operand_pc_i, 2'b00});
    if (ctl.a_zero) a = '0;
    b = (ctl.b_imm ? operand_imm_i : operand_data2_i) ^ {32{sub}};
    if (ctl.b_zero) b = '0;
    cause = operand_instr_i[20] ? CauseBreakpoint : CauseCall;
    if (bad) cause = CauseIllegal;
    if (runs_over) cause = CauseFetchFault;
  end

  exec_t exec_q;
  logic [31:0] exec_instr_q, exec_a_q, exec_b_q, exec_data2_q, exec_data3_q;
  logic [PcW:0] exec_pc_q;
  logic [19:0] exec_target_q;

  always_ff @(posedge clk_i) begin
    if (operand_valid_i) begin
      exec_instr_q  <= operand_instr_i;
      exec_a_q      <= a;
      exec_b_q      <= b;
      exec_data2_q  <= operand_data2_i;
      exec_data3_q  <= operand_data3_i;
      exec_pc_q     <= operand_pc_i;
      exec_target_q <= 20'(operand_pc_i) + operand_imm_i[21:2];
      exec_q        <= '{
        a_sign: operand_data1_i[31] && !is_unsigned,
        b_sign: is_unsigned || !(ctl.b_imm ? operand_imm_i[31] : operand_data2_i[31]),
        carry: sub || flip,
        // The core's own CSRs need no number: their value must be the only operand of the OR of results.
        sum_en: (ctl.sum && (!ctl.csr || operand_tile_csr_i)) || ctl.branch,
        logical: ctl.logical,
        mul_lo: ctl.mul_lo,
        mul_hi: ctl.mul_hi,
        mul_a: ctl.mul_a && (!ctl.shift || operand_instr_i[30]),
        mul_b: ctl.mul_b,
        shift: ctl.shift,
        branch: ctl.branch,
        slt: ctl.slt,
        jal: ctl.jal,
        jalr: ctl.jalr,
        mem: ctl.mem,
        store: ctl.store,
        csr: ctl.csr,
        fcsr: !stop && ctl.csr && !operand_tile_csr_i,
        x: stop || ctl.mem || (ctl.csr && operand_tile_csr_i),
        f: !stop && (ctl.fpu || divides),
        stop: stop,
        illegal: bad && !runs_over,
        again: negate,
        inject: operand_inject_i,
        write: ctl.rd_write && (ctl.rd_fp || rd_some),
        rd: {ctl.rd_fp, operand_instr_i[11:7]},
        cause: cause,
        funct3: operand_instr_i[14:12],
        rm: ctl.div ? {ctl.fop[1], div_signed && operand_data2_i[31], 1'b0} : rm,
        xfunct3: ctl.csr ? {1'b0, rd_some, !operand_instr_i[13]} : operand_instr_i[14:12],
        fop: ctl.fop
      };
    end
  end

  assign exec_o        = exec_q;
  assign exec_instr_o  = exec_instr_q;
  assign exec_a_o      = exec_a_q;
  assign exec_b_o      = exec_b_q;
  assign exec_data2_o  = exec_data2_q;
  assign exec_data3_o  = exec_data3_q;
  assign exec_pc_o     = exec_pc_q;
  assign exec_target_o = exec_target_q;
endmodule
