// SPDX-License-Identifier: Apache-2.0

/// Merges routed requests round robin into one registered stream.
module gs_route_merge
  import gs_tile_pkg::*;
#(
  /// inputs
  parameter int unsigned N = 2
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic    [N-1:0] in_valid_i,
  output logic    [N-1:0] in_ready_o,
  input  routed_t         in_i[N],
  output logic            out_valid_o,
  input  logic            out_ready_i,
  output routed_t         out_o
);
  localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1;
  logic valid, ready;
  routed_t data;
  logic [IdxW-1:0] unused_idx;

  gs_stream_arbiter #(
    .N     (N),
    .data_t(routed_t)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o,
    .in_data_i  (in_i),
    .out_valid_o(valid),
    .out_ready_i(ready),
    .out_data_o (data),
    .out_idx_o  (unused_idx)
  );

  gs_skid #(
    .data_t(routed_t)
  ) u_skid (
    .clk_i,
    .rst_ni,
    .in_valid_i (valid),
    .in_ready_o (ready),
    .in_data_i  (data),
    .out_valid_o,
    .out_ready_i,
    .out_data_o (out_o)
  );
endmodule
