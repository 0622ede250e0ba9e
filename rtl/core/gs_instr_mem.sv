// SPDX-License-Identifier: Apache-2.0

/// Instruction memory of two cores, with one port for each that fetches and writes. A word is valid one edge after its
/// address; the core registers it.
module gs_instr_mem #(
  /// words, a power of two
  parameter  int unsigned InstrWords = 2048,
  localparam int unsigned AddrW      = $clog2(InstrWords)
) (
  input  logic             clk_i,
  input  logic             a_en_i,
  input  logic             a_we_i,
  input  logic [AddrW-1:0] a_addr_i,
  input  logic [31:0]      a_wdata_i,
  output logic [31:0]      a_rdata_o,
  input  logic             b_en_i,
  input  logic             b_we_i,
  input  logic [AddrW-1:0] b_addr_i,
  input  logic [31:0]      b_wdata_i,
  output logic [31:0]      b_rdata_o
);
  gs_ram_tdp #(
    .Width  (32),
    .Depth  (InstrWords),
    .Latency(1)
  ) u_ram (
    .clk_i,
    .a_en_i,
    .a_we_i,
    .a_strb_i(1'b1),
    .a_addr_i,
    .a_wdata_i,
    .a_rdata_o,
    .b_en_i,
    .b_we_i,
    .b_strb_i(1'b1),
    .b_addr_i,
    .b_wdata_i,
    .b_rdata_o
  );
endmodule
