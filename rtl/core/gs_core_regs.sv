// SPDX-License-Identifier: Apache-2.0

/// Integer and floating-point registers of all threads: one copy in block RAM for each of three read ports.
/// The third port, for fused multiply-add, reads only floating-point registers. Data are valid one edge after the
/// address. x0 is a word that is never written; block RAM is 0 when a device is configured.
module gs_core_regs #(
  /// threads, 2 to 32
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input  logic            clk_i,
  input  logic            we_i,
  input  logic [TidW-1:0] wtid_i,
  /// 32 and above: floating-point registers
  input  logic [5:0]      wreg_i,
  input  logic [31:0]     wdata_i,
  input  logic            re_i,
  input  logic [TidW-1:0] tid_i,
  input  logic [5:0]      reg1_i,
  input  logic [5:0]      reg2_i,
  input  logic [4:0]      reg3_i,
  output logic [31:0]     data1_o,
  output logic [31:0]     data2_o,
  output logic [31:0]     data3_o
);
  gs_ram_sdp #(
    .Width  (32),
    .Depth  (64 * ThreadsPerCore),
    .Latency(1),
    .Style  ("block")
  ) u_first (
    .clk_i,
    .we_i,
    .wstrb_i(1'b1),
    .waddr_i({wtid_i, wreg_i}),
    .wdata_i,
    .re_i,
    .raddr_i({tid_i, reg1_i}),
    .rdata_o(data1_o)
  );

  gs_ram_sdp #(
    .Width  (32),
    .Depth  (64 * ThreadsPerCore),
    .Latency(1),
    .Style  ("block")
  ) u_second (
    .clk_i,
    .we_i,
    .wstrb_i(1'b1),
    .waddr_i({wtid_i, wreg_i}),
    .wdata_i,
    .re_i,
    .raddr_i({tid_i, reg2_i}),
    .rdata_o(data2_o)
  );

  gs_ram_sdp #(
    .Width  (32),
    .Depth  (32 * ThreadsPerCore),
    .Latency(1),
    .Style  ("block")
  ) u_third (
    .clk_i,
    .we_i   (we_i && wreg_i[5]),
    .wstrb_i(1'b1),
    .waddr_i({wtid_i, wreg_i[4:0]}),
    .wdata_i,
    .re_i,
    .raddr_i({tid_i, reg3_i}),
    .rdata_o(data3_o)
  );
endmodule
