// SPDX-License-Identifier: Apache-2.0

/// One cache of each kind: every number of ways, line lengths, beats of a line, outstanding fills.
module cache_top (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic [1023:0] in_i[7],
  output logic [1023:0] out_o[7]
);
  // In reset until the test has asserted reset, for any initial inputs.
  /* verilator lint_off PROCASSINIT */
  logic begun_q = 1'b0;
  logic rst_n;
  always_ff @(posedge clk_i) if (!rst_ni) begun_q <= 1'b1;
  assign rst_n = rst_ni && begun_q;

  cache_port #(.Ways(1), .SetsPerThread(4), .LineBytes(16), .PortBytes(4), .Inflight(3))
    u_0 (.clk_i, .rst_ni(rst_n), .in_i(in_i[0]), .out_o(out_o[0]));
  cache_port #(.Ways(2), .SetsPerThread(2), .LineBytes(32), .PortBytes(32), .Inflight(4))
    u_1 (.clk_i, .rst_ni(rst_n), .in_i(in_i[1]), .out_o(out_o[1]));
  cache_port #(.Ways(4), .SetsPerThread(2), .LineBytes(32), .PortBytes(4), .Inflight(8))
    u_2 (.clk_i, .rst_ni(rst_n), .in_i(in_i[2]), .out_o(out_o[2]));
  cache_port #(.Ways(8), .SetsPerThread(1), .LineBytes(64), .PortBytes(32), .Inflight(6))
    u_3 (.clk_i, .rst_ni(rst_n), .in_i(in_i[3]), .out_o(out_o[3]));
  cache_port #(.Ways(16), .SetsPerThread(1), .LineBytes(64), .PortBytes(64), .Inflight(5))
    u_4 (.clk_i, .rst_ni(rst_n), .in_i(in_i[4]), .out_o(out_o[4]));
  cache_port #(.Ways(4), .SetsPerThread(4), .LineBytes(16), .PortBytes(8), .Inflight(1))
    u_5 (.clk_i, .rst_ni(rst_n), .in_i(in_i[5]), .out_o(out_o[5]));
  cache_port #(.Threads(64), .Ways(2), .SetsPerThread(2), .LineBytes(16), .PortBytes(16), .Inflight(4))
    u_6 (.clk_i, .rst_ni(rst_n), .in_i(in_i[6]), .out_o(out_o[6]));
endmodule
