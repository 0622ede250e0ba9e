// SPDX-License-Identifier: Apache-2.0

/// Register read: selects the registers of an instruction and reads them.
///
///     Decode: addresses --> [ registers ] --> Read: words --> Operand
module gs_core_read #(
  /// hardware threads, 2 to 32, a power of two
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input  logic            clk_i,
  // Decode: the instruction; whether it is a divide's second pass
  input  logic            decode_valid_i,
  input  logic [TidW-1:0] decode_tid_i,
  input  logic [31:0]     decode_instr_i,
  input  logic            decode_again_i,
  input  logic            read_valid_i,
  // Operand: the instruction, its registers; its CSR, if it has one, belongs to the tile
  output logic [31:0]     operand_instr_o,
  output logic            operand_tile_csr_o,
  output logic [31:0]     operand_data1_o,
  output logic [31:0]     operand_data2_o,
  output logic [31:0]     operand_data3_o,
  // Register write
  input  logic            write_en_i,
  input  logic [TidW-1:0] write_tid_i,
  input  logic [5:0]      write_reg_i,
  input  logic [31:0]     write_data_i
);
  logic system, fp1, fp2;
  logic [5:0] reg1, reg2;
  logic [31:0] read_data1, read_data2, read_data3;

  assign system = decode_instr_i[6:4] == 3'b111;
  // FMADD, FMSUB, FNMSUB, FNMADD: 100xx; OP-FP: 10100, except conversions and moves from integers.
  assign fp1    = decode_instr_i[6:5] == 2'b10 &&
      !(decode_instr_i[4] && decode_instr_i[31] && decode_instr_i[30] && decode_instr_i[28]);
  // The same, and STORE-FP: 01001.
  assign fp2    = decode_instr_i[6:5] == 2'b10 ||
      (decode_instr_i[6:5] == 2'b01 && decode_instr_i[2] && !decode_instr_i[4]);
  // The second pass of a divide reads rd; a CSR instruction reads its operand where a store reads its data.
  assign reg1   = decode_again_i ? {1'b0, decode_instr_i[11:7]} : {fp1, decode_instr_i[19:15]};
  assign reg2   = {fp2, system ? decode_instr_i[19:15] : decode_instr_i[24:20]};

  gs_core_regs #(
    .ThreadsPerCore(ThreadsPerCore)
  ) u_regs (
    .clk_i,
    .we_i   (write_en_i),
    .wtid_i (write_tid_i),
    .wreg_i (write_reg_i),
    .wdata_i(write_data_i),
    .re_i   (decode_valid_i),
    .tid_i  (decode_tid_i),
    .reg1_i (reg1),
    .reg2_i (reg2),
    .reg3_i (decode_instr_i[31:27]),
    .data1_o(read_data1),
    .data2_o(read_data2),
    .data3_o(read_data3)
  );

  logic [31:0] read_instr_q, operand_instr_q, operand_data1_q, operand_data2_q, operand_data3_q;
  // The operand of a CSR instruction is its immediate.
  logic read_zimm_q;
  logic read_tile_csr_q, operand_tile_csr_q;

  always_ff @(posedge clk_i) begin
    if (decode_valid_i) begin
      read_instr_q    <= decode_instr_i;
      read_zimm_q     <= system && decode_instr_i[14];
      read_tile_csr_q <= decode_instr_i[31:22] != '0 || decode_instr_i[21:20] == '0;
    end
    if (read_valid_i) begin
      operand_instr_q    <= read_instr_q;
      operand_tile_csr_q <= read_tile_csr_q;
      operand_data1_q    <= read_data1;
      operand_data2_q    <= read_zimm_q ? {27'd0, read_instr_q[19:15]} : read_data2;
      operand_data3_q    <= read_data3;
    end
  end

  assign operand_instr_o    = operand_instr_q;
  assign operand_tile_csr_o = operand_tile_csr_q;
  assign operand_data1_o    = operand_data1_q;
  assign operand_data2_o    = operand_data2_q;
  assign operand_data3_o    = operand_data3_q;
endmodule
