// SPDX-License-Identifier: Apache-2.0

/// Decoder: a table in block RAM returns the control signals two cycles after the instruction. Logic computes the
/// immediate and checks the bits that the table's index does not contain. The table (gs_decode_pkg) is outside the core
/// because two cores share it.
///
///     Decode: instruction --> [ table ] --> Operand: control signals, illegal
///                        \--> immediate --> Operand
module gs_core_decode
  import gs_decode_pkg::*;
(
  input  logic               clk_i,
  input  logic               decode_valid_i,
  input  logic               read_valid_i,
  input  logic [31:0]        decode_instr_i,
  // A port of gs_decode_rom
  output logic               rom_en_o,
  output logic [DecodeW-1:0] rom_addr_o,
  input  logic [CtlW-1:0]    rom_word_i,
  output ctl_t               operand_ctl_o,
  output logic [31:0]        operand_imm_o,
  // A check failed, other than that of the rounding mode
  output logic               operand_illegal_o
);
  // Formats, distinguished by as few bits of the opcode as possible; an instruction without an immediate gets an
  // arbitrary one.
  logic upper, jump, store, branch;
  logic [31:0] decode_imm, read_imm_q, operand_imm_q;
  logic [4:0] op;

  assign op     = decode_instr_i[6:2];
  assign upper  = !op[4] && op[2] && op[0];    // LUI, AUIPC: 0x101
  assign jump   = op[4] && op[3] && op[1];     // JAL: 11011
  assign store  = op[3] && !op[4];             // STORE: 0100x, and OP, which has no immediate
  assign branch = op[4] && op[2:0] == 3'b000;  // BRANCH: 11000

  logic [CtlW-1:0] operand_rom_q;

  assign rom_en_o   = decode_valid_i;
  assign rom_addr_o = decode_index(op, decode_instr_i[31:27], decode_instr_i[14:12], decode_instr_i[25],
                                   decode_instr_i[20]);
  always_ff @(posedge clk_i) if (read_valid_i) operand_rom_q <= rom_word_i;

  always_comb begin
    // Bits 31, 30 to 20, 19 to 12, 11, 10 to 5, 4 to 1, 0
    decode_imm = {
      decode_instr_i[31],
      upper ? decode_instr_i[30:20] : {11{decode_instr_i[31]}},
      (upper || jump) ? decode_instr_i[19:12] : {8{decode_instr_i[31]}},
      jump ? decode_instr_i[20] : branch ? decode_instr_i[7] : decode_instr_i[31],
      decode_instr_i[30:25],
      (store || branch) ? decode_instr_i[11:8] : decode_instr_i[24:21],
      (store ? decode_instr_i[7] : decode_instr_i[20]) && !jump && !branch
    };
    if (upper) decode_imm[11:0] = '0;
  end

  logic read_op7_q, read_30_q, read_fmt_q, read_rs2_q, read_sys_q, read_low_q, read_csr_q;
  logic operand_op7_q, operand_30_q, operand_fmt_q, operand_rs2_q, operand_sys_q, operand_low_q, operand_csr_q;
  logic tile_csr, rs1_some;
  ctl_t ctl;

  // CSRs 1 to 3 belong to the core. Only csrrw may write the other CSRs, unless the number declares them read-only.
  assign tile_csr = decode_instr_i[31:22] != '0 || decode_instr_i[21:20] == '0;
  assign rs1_some = decode_instr_i[19:15] != '0;

  always_ff @(posedge clk_i) begin
    if (decode_valid_i) begin
      read_imm_q <= decode_imm;
      read_op7_q <= decode_instr_i[31] || decode_instr_i[29:26] != '0;
      read_30_q  <= decode_instr_i[30];
      read_fmt_q <= decode_instr_i[26:25] != '0;
      read_rs2_q <= decode_instr_i[24:21] != '0;
      read_sys_q <= decode_instr_i[31:21] != '0 || rs1_some || decode_instr_i[11:7] != '0;
      read_low_q <= decode_instr_i[1:0] != 2'b11;
      read_csr_q <= tile_csr && (decode_instr_i[13] ? rs1_some : decode_instr_i[31:30] == 2'b11);
    end
    if (read_valid_i) begin
      operand_imm_q <= read_imm_q;
      operand_op7_q <= read_op7_q;
      operand_30_q  <= read_30_q;
      operand_fmt_q <= read_fmt_q;
      operand_rs2_q <= read_rs2_q;
      operand_sys_q <= read_sys_q;
      operand_low_q <= read_low_q;
      operand_csr_q <= read_csr_q;
    end
  end

  assign ctl               = ctl_t'(operand_rom_q);
  assign operand_ctl_o     = ctl;
  assign operand_imm_o     = operand_imm_q;
  assign operand_illegal_o = ctl.illegal || operand_low_q || (ctl.chk_op7 && operand_op7_q) ||
      (ctl.chk_30 && operand_30_q) || (ctl.chk_fmt && operand_fmt_q) || (ctl.chk_rs2 && operand_rs2_q) ||
      (ctl.chk_sys && operand_sys_q) || (ctl.csr && operand_csr_q);
endmodule
