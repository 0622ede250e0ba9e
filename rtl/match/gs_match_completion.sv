// SPDX-License-Identifier: Apache-2.0

/// Completions of a match engine on their way out: one passes in the cycle in which it comes, and waits if it is not
/// taken; so a completion whose record has just been read costs no cycle more.
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
  /// completions that wait
  output logic [2:0]        count_o
);
  logic waits, passes;
  match_completion_t waiting;
  assign passes = !waits && out_ready_i;
  gs_fifo #(
    .data_t(match_completion_t),
    .Depth (4)
  ) u_waiting (
    .clk_i,
    .rst_ni,
    .in_valid_i (in_valid_i && !passes),
    .in_ready_o,
    .in_data_i  (in_i),
    .out_valid_o(waits),
    .out_ready_i,
    .out_data_o (waiting),
    .count_o
  );
  assign out_valid_o = waits || in_valid_i;
  assign out_o       = waits ? waiting : in_i;
endmodule
