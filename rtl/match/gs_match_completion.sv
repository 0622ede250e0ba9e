// SPDX-License-Identifier: Apache-2.0

/// Output buffer for completions of a match engine. A completion passes through in the cycle in which it arrives and is
/// stored if it is not accepted, so reading its record takes no additional cycle.
module gs_match_completion
  import gossamer_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              in_valid_i,
  output logic              in_ready_o,
  input  match_completion_t in_i,
  output logic              out_valid_o,
  input  logic              out_ready_i,
  output match_completion_t out_o,
  /// stored completions
  output logic [2:0]        count_o
);
  logic stored, bypass;
  match_completion_t waiting;
  assign bypass = !stored && out_ready_i;
  gs_fifo #(
    .data_t(match_completion_t),
    .Depth (4)
  ) u_waiting (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid_i && !bypass),
    .in_ready_o,
    .in_data_i  (in_i),
    .out_valid_o(stored),
    .out_ready_i,
    .out_data_o (waiting),
    .count_o
  );
  assign out_valid_o = stored || in_valid_i;
  assign out_o       = stored ? waiting : in_i;
endmodule
