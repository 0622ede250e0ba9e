// SPDX-License-Identifier: Apache-2.0

/// Merges the requests of all cores for one unit into a register, with round-robin arbitration.
module gs_tile_req_arbiter #(
  /// inputs
  parameter int unsigned N      = 2,
  /// payload
  parameter type         data_t = logic [31:0],
  /// 1: the register accepts a request only while it is empty, every other cycle, because the unit's ready arrives late
  parameter bit          Slow   = 1'b0
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic  [N-1:0] in_valid_i,
  output logic  [N-1:0] in_ready_o,
  input  data_t         in_i[N],
  output logic          out_valid_o,
  input  logic          out_ready_i,
  output data_t         out_o
);
  localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1;
  logic valid, ready, valid_q;
  data_t data, data_q;
  logic [IdxW-1:0] unused_idx;

  gs_rr_arbiter #(
    .N     (N),
    .data_t(data_t)
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

  assign ready       = !valid_q || (!Slow && out_ready_i);
  assign out_valid_o = valid_q;
  assign out_o       = data_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (ready) valid_q <= valid;
    else if (out_ready_i) valid_q <= 1'b0;
    if (ready && valid) data_q <= data;
  end
endmodule
