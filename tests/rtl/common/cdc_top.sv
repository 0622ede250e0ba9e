// SPDX-License-Identifier: Apache-2.0
/// The crossings between two clocks, for cocotb, with the reset of both sides from one of them.
module cdc_top #(
  parameter int unsigned DepthLog2 = 3,
  parameter bit          Block = 1'b0,
  /// the reset is one of the reader
  parameter bit          ResetByReader = 1'b0
) (
  input  logic        rst_ni,
  input  logic        wclk_i,
  output logic        wrst_no,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_data_i,
  input  logic        pulse_i,
  output logic        full_o,
  input  logic        rclk_i,
  output logic        rrst_no,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [31:0] out_data_o,
  output logic        pulse_o
);
  logic rst_n, crossing_rst_n, other_rst_n, wrst_n, rrst_n, ready, valid, pulse;
  gs_reset_cdc u_reset (
    .clk_i          (ResetByReader ? rclk_i : wclk_i),
    .rst_ni,
    .rst_no         (rst_n),
    .crossing_rst_no(crossing_rst_n),
    .other_clk_i    (ResetByReader ? wclk_i : rclk_i),
    .other_rst_no   (other_rst_n)
  );
  assign {wrst_no, rrst_no} = ResetByReader ? {other_rst_n, rst_n} : {rst_n, other_rst_n};
  assign {wrst_n, rrst_n}   = ResetByReader ? {other_rst_n, crossing_rst_n} : {crossing_rst_n, other_rst_n};
  // A side in reset offers nothing and takes nothing.
  assign in_ready_o  = ready && wrst_no;
  assign out_valid_o = valid && rrst_no;
  assign pulse_o     = pulse && rrst_no;
  gs_fifo_async #(
    .DepthLog2(DepthLog2),
    .Block    (Block)
  ) u_fifo (
    .wclk_i,
    .wrst_ni    (wrst_n),
    .in_valid_i (in_valid_i && wrst_no),
    .in_ready_o (ready),
    .in_data_i,
    .rclk_i,
    .rrst_ni    (rrst_n),
    .out_valid_o(valid),
    .out_ready_i,
    .out_data_o
  );
  gs_pulse_cdc u_pulse (
    .wclk_i,
    .wrst_ni(wrst_n),
    .pulse_i(pulse_i && wrst_no),
    .full_o,
    .rclk_i,
    .rrst_ni(rrst_n),
    .pulse_o(pulse)
  );
endmodule
