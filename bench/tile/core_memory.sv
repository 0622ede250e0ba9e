// SPDX-License-Identifier: Apache-2.0

/// A core with its instruction memory and its decoder's table, as a tile has them: what is measured as "the core". The
/// other ports of both belong to the other core.
module core_memory
  import gs_core_pkg::*;
  import gs_decode_pkg::*;
#(
  /// threads of the core
  parameter  int unsigned ThreadsPerCore = 16,
  /// words of instruction memory
  parameter  int unsigned InstrWords     = 2048,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore),
  localparam int unsigned PcW            = $clog2(InstrWords)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      other_en_i,
  input  logic                      other_we_i,
  input  logic [PcW-1:0]            other_addr_i,
  input  logic [31:0]               other_wdata_i,
  output logic [31:0]               other_rdata_o,
  input  logic                      other_rom_en_i,
  input  logic [DecodeW-1:0]        other_rom_addr_i,
  output logic [CtlW-1:0]           other_rom_word_o,
  input  logic                      iwr_valid_i,
  input  logic                      iwr_write_i,
  input  logic [PcW-1:0]            iwr_addr_i,
  input  logic [31:0]               iwr_data_i,
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
  input  logic                      ctl_valid_i,
  output logic                      ctl_ready_o,
  input  gs_thread_pkg::thread_op_e ctl_op_i,
  input  logic [TidW-1:0]           ctl_tid_i,
  input  logic [31:0]               ctl_instr_i,
  output logic                      ctl_allowed_o,
  output logic                      ctl_trapped_o,
  output logic [15:0]               ctl_pc_o,
  output logic                      ctl_waits_o,
  output asked_t                    ctl_asked_o,
  output logic                      park_o,
  output logic [TidW-1:0]           park_tid_o,
  output logic                      issue_o,
  output logic                      retire_o,
  output logic [TidW-1:0]           retire_tid_o
);
  logic en, we;
  logic [PcW-1:0] addr;
  logic [31:0] wdata, rdata;
  logic rom_en;
  logic [DecodeW-1:0] rom_addr;
  logic [CtlW-1:0] rom_word;

  gs_core #(
    .ThreadsPerCore(ThreadsPerCore),
    .InstrWords    (InstrWords)
  ) u_core (
    .clk_i,
    .rst_ni,
    .imem_en_o   (en),
    .imem_we_o   (we),
    .imem_addr_o (addr),
    .imem_wdata_o(wdata),
    .imem_rdata_i(rdata),
    .rom_en_o    (rom_en),
    .rom_addr_o  (rom_addr),
    .rom_word_i  (rom_word),
    .iwr_valid_i,
    .iwr_write_i,
    .iwr_addr_i,
    .iwr_data_i,
    .x_valid_o,
    .x_ready_i,
    .x_tid_o,
    .x_req_o,
    .f_valid_o,
    .f_ready_i,
    .f_tid_o,
    .f_req_o,
    .rsp_valid_i,
    .rsp_tid_i,
    .rsp_i,
    .ctl_valid_i,
    .ctl_ready_o,
    .ctl_op_i,
    .ctl_tid_i,
    .ctl_instr_i,
    .ctl_allowed_o,
    .ctl_trapped_o,
    .ctl_pc_o,
    .ctl_waits_o,
    .ctl_asked_o,
    .park_o,
    .park_tid_o,
    .issue_o,
    .retire_o,
    .retire_tid_o
  );

  gs_decode_rom u_rom (
    .clk_i,
    .a_en_i  (rom_en),
    .a_addr_i(rom_addr),
    .a_word_o(rom_word),
    .b_en_i  (other_rom_en_i),
    .b_addr_i(other_rom_addr_i),
    .b_word_o(other_rom_word_o)
  );

  gs_instr_mem #(
    .InstrWords(InstrWords)
  ) u_memory (
    .clk_i,
    .a_en_i   (en),
    .a_we_i   (we),
    .a_addr_i (addr),
    .a_wdata_i(wdata),
    .a_rdata_o(rdata),
    .b_en_i   (other_en_i),
    .b_we_i   (other_we_i),
    .b_addr_i (other_addr_i),
    .b_wdata_i(other_wdata_i),
    .b_rdata_o(other_rdata_o)
  );
endmodule
