// SPDX-License-Identifier: Apache-2.0

/// picorv32 in its authors' "regular" form (defaults; memory and look-ahead ports), with our names of clock and reset.
module picorv32_regular (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        trap_o,
  output logic        mem_valid_o,
  output logic        mem_instr_o,
  input  logic        mem_ready_i,
  output logic [31:0] mem_addr_o,
  output logic [31:0] mem_wdata_o,
  output logic [3:0]  mem_wstrb_o,
  input  logic [31:0] mem_rdata_i,
  output logic        mem_la_read_o,
  output logic        mem_la_write_o,
  output logic [31:0] mem_la_addr_o,
  output logic [31:0] mem_la_wdata_o,
  output logic [3:0]  mem_la_wstrb_o
);
  picorv32 u_core (
    .clk         (clk_i),
    .resetn      (rst_ni),
    .trap        (trap_o),
    .mem_valid   (mem_valid_o),
    .mem_instr   (mem_instr_o),
    .mem_ready   (mem_ready_i),
    .mem_addr    (mem_addr_o),
    .mem_wdata   (mem_wdata_o),
    .mem_wstrb   (mem_wstrb_o),
    .mem_rdata   (mem_rdata_i),
    .mem_la_read (mem_la_read_o),
    .mem_la_write(mem_la_write_o),
    .mem_la_addr (mem_la_addr_o),
    .mem_la_wdata(mem_la_wdata_o),
    .mem_la_wstrb(mem_la_wstrb_o),
    .pcpi_valid  (),
    .pcpi_insn   (),
    .pcpi_rs1    (),
    .pcpi_rs2    (),
    .pcpi_wr     (1'b0),
    .pcpi_rd     (32'd0),
    .pcpi_wait   (1'b0),
    .pcpi_ready  (1'b0),
    .irq         (32'd0),
    .eoi         (),
    .trace_valid (),
    .trace_data  ()
  );
endmodule
