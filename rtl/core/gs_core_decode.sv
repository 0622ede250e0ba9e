// SPDX-License-Identifier: Apache-2.0

/// Decoder: a table in block RAM gives the control signals two cycles after the instruction; logic beside it makes the
/// immediate and the checks that the table's index is too narrow for.
///
///     C3 instruction --> [ table ] --> C5 control signals, illegal
///                   \--> immediate --> C5
module gs_core_decode
  import gs_core_pkg::*;
(
  input  logic        clk_i,
  input  logic        c3_valid_i,
  input  logic        c4_valid_i,
  input  logic [31:0] c3_instr_i,
  output ctl_t        c5_ctl_o,
  output logic [31:0] c5_imm_o,
  // A check failed; the rounding mode is not among them.
  output logic        c5_illegal_o
);
  // The table is a memory that nobody writes. (Its words are a constant of their own since not every tool can call
  // functions where it fills memories.)
  localparam table_t Words = decode_table();
  (* rom_style = "block" *)
  logic [CtlW-1:0] rom[DecodeWords];
  initial for (int unsigned i = 0; i < DecodeWords; i++) rom[i] = Words[i];

  // Formats, as few bits of the opcode tell them apart; what has no immediate has whatever comes out.
  logic upper, jump, store, branch;
  logic [31:0] c3_imm, c4_imm_q, c5_imm_q;
  logic [4:0] op;

  assign op     = c3_instr_i[6:2];
  assign upper  = !op[4] && op[2] && op[0];    // LUI, AUIPC: 0x101
  assign jump   = op[4] && op[3] && op[1];     // JAL: 11011
  assign store  = op[3] && !op[4];             // STORE: 0100x, and OP, which needs none
  assign branch = op[4] && op[2:0] == 3'b000;  // BRANCH: 11000

  logic [CtlW-1:0] c4_rom_q, c5_rom_q;

  always_ff @(posedge clk_i) begin
    if (c3_valid_i) begin
      c4_rom_q <= rom[decode_index(op, c3_instr_i[31:27], c3_instr_i[14:12], c3_instr_i[25], c3_instr_i[20])];
    end
    if (c4_valid_i) c5_rom_q <= c4_rom_q;
  end

  always_comb begin
    // Bits 31, 30 to 20, 19 to 12, 11, 10 to 5, 4 to 1, 0
    c3_imm = {
      c3_instr_i[31],
      upper ? c3_instr_i[30:20] : {11{c3_instr_i[31]}},
      (upper || jump) ? c3_instr_i[19:12] : {8{c3_instr_i[31]}},
      jump ? c3_instr_i[20] : branch ? c3_instr_i[7] : c3_instr_i[31],
      c3_instr_i[30:25],
      (store || branch) ? c3_instr_i[11:8] : c3_instr_i[24:21],
      (store ? c3_instr_i[7] : c3_instr_i[20]) && !jump && !branch
    };
    if (upper) c3_imm[11:0] = '0;
  end

  logic c4_op7_q, c4_30_q, c4_fmt_q, c4_rs2_q, c4_sys_q, c4_low_q, c4_csr_q;
  logic c5_op7_q, c5_30_q, c5_fmt_q, c5_rs2_q, c5_sys_q, c5_low_q, c5_csr_q;
  logic tile_csr, rs1_some;
  ctl_t ctl;

  // CSRs 1 to 3 are the core's. Of the others only csrrw may write, and not at all where the number says read-only.
  assign tile_csr = c3_instr_i[31:22] != '0 || c3_instr_i[21:20] == '0;
  assign rs1_some = c3_instr_i[19:15] != '0;

  always_ff @(posedge clk_i) begin
    if (c3_valid_i) begin
      c4_imm_q <= c3_imm;
      c4_op7_q <= c3_instr_i[31] || c3_instr_i[29:26] != '0;
      c4_30_q  <= c3_instr_i[30];
      c4_fmt_q <= c3_instr_i[26:25] != '0;
      c4_rs2_q <= c3_instr_i[24:21] != '0;
      c4_sys_q <= c3_instr_i[31:21] != '0 || rs1_some || c3_instr_i[11:7] != '0;
      c4_low_q <= c3_instr_i[1:0] != 2'b11;
      c4_csr_q <= tile_csr && (c3_instr_i[13] ? rs1_some : c3_instr_i[31:30] == 2'b11);
    end
    if (c4_valid_i) begin
      c5_imm_q <= c4_imm_q;
      c5_op7_q <= c4_op7_q;
      c5_30_q  <= c4_30_q;
      c5_fmt_q <= c4_fmt_q;
      c5_rs2_q <= c4_rs2_q;
      c5_sys_q <= c4_sys_q;
      c5_low_q <= c4_low_q;
      c5_csr_q <= c4_csr_q;
    end
  end

  assign ctl          = ctl_t'(c5_rom_q);
  assign c5_ctl_o     = ctl;
  assign c5_imm_o     = c5_imm_q;
  assign c5_illegal_o = ctl.illegal || c5_low_q || (ctl.chk_op7 && c5_op7_q) || (ctl.chk_30 && c5_30_q) ||
      (ctl.chk_fmt && c5_fmt_q) || (ctl.chk_rs2 && c5_rs2_q) || (ctl.chk_sys && c5_sys_q) || (ctl.csr && c5_csr_q);
endmodule
