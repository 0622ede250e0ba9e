// SPDX-License-Identifier: Apache-2.0

/// gs_board_debug with ports of plain vectors.
module debug_top
  import gossamer_pkg::*;
(
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      enable_i,
  input  logic [32*Tiles-1:0]       host_i,
  input  logic                      valid_i,
  input  logic [127:0]              packet_i,
  output logic [Tiles-1:0]          space_o,
  output logic [Tiles-1:0]          in_valid_o,
  output logic [7:0]                in_data_o,
  input  logic [Tiles-1:0]          in_ready_i,
  input  logic [Tiles-1:0]          out_valid_i,
  input  logic [8*Tiles-1:0]        out_data_i,
  output logic [Tiles-1:0]          out_ready_o,
  output logic                      report_valid_o,
  input  logic                      report_ready_i,
  output logic [$bits(flit_t)-1:0]  report_o
);
  logic [7:0] out_data[Tiles];
  flit_t report;
  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    assign out_data[t] = out_data_i[8*t+:8];
  end
  assign report_o = report;

  gs_board_debug u_debug (
    .clk_i,
    .rst_ni,
    .board_i    (12'd5),
    .enable_i,
    .host_i,
    .valid_i,
    .packet_i,
    .space_o,
    .in_valid_o,
    .in_data_o,
    .in_ready_i,
    .out_valid_i,
    .out_data_i (out_data),
    .out_ready_o,
    .report_valid_o,
    .report_ready_i,
    .report_o   (report)
  );
endmodule
