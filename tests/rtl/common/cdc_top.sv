// SPDX-License-Identifier: Apache-2.0
/// Both crossings between two clocks, for cocotb.
module cdc_top #(
  parameter int unsigned DepthLog2 = 3
) (
  input  logic        wclk_i,
  input  logic        wrst_ni,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_data_i,
  input  logic        pulse_i,
  output logic        full_o,
  input  logic        rclk_i,
  input  logic        rrst_ni,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [31:0] out_data_o,
  output logic        pulse_o
);
  gs_fifo_async #(.DepthLog2(DepthLog2)) u_fifo (.*);
  gs_pulse_cdc u_pulse (.*);
endmodule
