// SPDX-License-Identifier: Apache-2.0

/// gs_rv32_ram with the file image.hex of the simulator's folder, and what its processor does in each cycle.
module rv32_top #(
  parameter  int unsigned RamBytes  = 131072,
  parameter  int unsigned ResetPc   = 65536,
  localparam int unsigned WordAddrW = $clog2(RamBytes) - 2
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  output logic                 io_valid_o,
  input  logic                 io_ready_i,
  output logic [31:0]          io_addr_o,
  output logic                 io_write_o,
  output logic [3:0]           io_strb_o,
  output logic [31:0]          io_wdata_o,
  input  logic [31:0]          io_rdata_i,
  output logic                 trap_o,
  output logic [31:0]          trap_pc_o,
  input  logic                 ram_en_i,
  input  logic [3:0]           ram_strb_i,
  input  logic [WordAddrW-1:0] ram_addr_i,
  input  logic [31:0]          ram_wdata_i,
  output logic [31:0]          ram_rdata_o,
  // An instruction ends, with its result if it has one.
  output logic                 retire_o,
  output logic [31:0]          retire_pc_o,
  output logic [31:0]          retire_instr_o,
  output logic                 write_o,
  output logic [4:0]           write_reg_o,
  output logic [31:0]          write_data_o,
  // A write of the processor to the RAM.
  output logic [3:0]           store_strb_o,
  output logic [31:0]          store_addr_o,
  output logic [31:0]          store_data_o
);
  gs_rv32_ram #(
    .RamBytes(RamBytes),
    .ResetPc (ResetPc),
    .InitFile("image.hex")
  ) u_dut (
    .clk_i,
    .rst_ni,
    .io_valid_o,
    .io_ready_i,
    .io_addr_o,
    .io_write_o,
    .io_strb_o,
    .io_wdata_o,
    .io_rdata_i,
    .trap_o,
    .trap_pc_o,
    .ram_en_i,
    .ram_strb_i,
    .ram_addr_i,
    .ram_wdata_i,
    .ram_rdata_o
  );

  // What ends first is the start, which is no instruction.
  logic started_q;
  always_ff @(posedge clk_i) begin
    if (u_dut.u_core.retires) started_q <= 1'b1;
    if (!rst_ni) started_q <= 1'b0;
  end
  assign retire_o       = started_q && u_dut.u_core.retires;
  assign retire_pc_o    = trap_pc_o;
  assign retire_instr_o = u_dut.u_core.ir_q;
  assign write_o        = retire_o && u_dut.u_core.reg_write;
  assign write_reg_o    = retire_instr_o[11:7];
  assign write_data_o   = u_dut.u_core.reg_wdata;
  assign store_strb_o   = u_dut.mem_strb;
  assign store_addr_o   = 32'({u_dut.mem_addr, 2'b00});
  assign store_data_o   = u_dut.mem_wdata;
endmodule
