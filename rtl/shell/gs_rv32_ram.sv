// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"
`include "gs_undefined.svh"

/// A gs_rv32 with its RAM, whose second port belongs to hardware that shares buffers with the firmware.
///
/// The data of a read on the second port are valid in the next cycle, and stay until the next access; after a write
/// they are undefined. A read that coincides with a write of the other port to the same word is undefined, and so are
/// the contents after two such writes: hardware and firmware agree on the owner of a word, for example by an I/O
/// register. In simulation, undefined values are random.
module gs_rv32_ram #(
  /// bytes of RAM: a power of two, from 256 to 1,048,576
  parameter  int unsigned RamBytes  = 16384,
  /// address of the first instruction: a multiple of 4 below RamBytes
  parameter  int unsigned ResetPc   = 0,
  /// file with the initial contents for $readmemh, a word in each line; "" for none
  parameter  string       InitFile  = "",
  localparam int unsigned WordAddrW = $clog2(RamBytes) - 2
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // I/O, as of gs_rv32
  output logic                 io_valid_o,
  input  logic                 io_ready_i,
  output logic [31:0]          io_addr_o,
  output logic                 io_write_o,
  output logic [3:0]           io_strb_o,
  output logic [31:0]          io_wdata_o,
  input  logic [31:0]          io_rdata_i,
  output logic                 trap_o,
  output logic [31:0]          trap_pc_o,
  // second port of the RAM
  input  logic                 ram_en_i,
  /// bytes to write; 0 for a read
  input  logic [3:0]           ram_strb_i,
  input  logic [WordAddrW-1:0] ram_addr_i,
  input  logic [31:0]          ram_wdata_i,
  output logic [31:0]          ram_rdata_o
);
  logic [3:0] mem_strb;
  logic [WordAddrW-1:0] mem_addr;
  logic [31:0] mem_wdata, mem_rdata_q, ram_rdata_q;

  gs_rv32 #(
    .RamBytes(RamBytes),
    .ResetPc (ResetPc)
  ) u_core (
    .clk_i,
    .rst_ni,
    .mem_strb_o (mem_strb),
    .mem_addr_o (mem_addr),
    .mem_wdata_o(mem_wdata),
    .mem_rdata_i(mem_rdata_q),
    .io_valid_o,
    .io_ready_i,
    .io_addr_o,
    .io_write_o,
    .io_strb_o,
    .io_wdata_o,
    .io_rdata_i,
    .trap_o,
    .trap_pc_o
  );

  // As gs_ram_tdp, with initial contents.
  (* ram_style = "block", no_rw_check *)
  logic [31:0] mem[RamBytes/4];
  if (InitFile != "") begin : gen_init
    initial $readmemh(InitFile, mem);
  end
`ifdef GS_UNDEFINED_READS
  logic meet;
  assign meet = ram_en_i && mem_addr == ram_addr_i;
`endif

  always @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      if (mem_strb[i]) mem[mem_addr][8*i+:8] <= mem_wdata[8*i+:8];
    end
    mem_rdata_q <= (mem_strb != '0) ? 'x : mem[mem_addr];
`ifdef GS_UNDEFINED_READS
    if (mem_strb != '0) mem_rdata_q <= `GS_COLLISION(32, mem[mem_addr], mem_wdata);
    else if (meet && ram_strb_i != '0) mem_rdata_q <= `GS_COLLISION(32, mem[mem_addr], ram_wdata_i);
`endif
  end

  always @(posedge clk_i) begin
    if (ram_en_i) begin
      for (int unsigned i = 0; i < 4; i++) begin
        if (ram_strb_i[i]) mem[ram_addr_i][8*i+:8] <= ram_wdata_i[8*i+:8];
      end
      ram_rdata_q <= (ram_strb_i != '0) ? 'x : mem[ram_addr_i];
`ifdef GS_UNDEFINED_READS
      if (ram_strb_i != '0) ram_rdata_q <= `GS_COLLISION(32, mem[ram_addr_i], ram_wdata_i);
      else if (meet && mem_strb != '0) ram_rdata_q <= `GS_COLLISION(32, mem[ram_addr_i], mem_wdata);
      if (meet) begin
        for (int unsigned i = 0; i < 4; i++) begin
          if (mem_strb[i] && ram_strb_i[i]) mem[ram_addr_i][8*i+:8] <= `GS_UNDEFINED(8);
        end
      end
`endif
    end
  end
  assign ram_rdata_o = ram_rdata_q;

  `GS_ASSERT(words_are_written_by_one_port, (mem_strb & ram_strb_i) == '0 || !ram_en_i || mem_addr != ram_addr_i)
endmodule
