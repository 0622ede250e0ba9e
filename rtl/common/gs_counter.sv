// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Counter of events: counts up while enabled, wraps around, clears on demand (clearing wins).
module gs_counter #(
  /// bits of the count, 1 or more
  parameter int unsigned Width = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,
  input  logic             en_i,
  output logic [Width-1:0] count_o
);
  if (Width < 1) begin : gen_illegal_width
    $fatal(1, "gs_counter: Width is 0; it must be 1 or more bits");
  end

  logic [Width-1:0] count_q;

  assign count_o = count_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) count_q <= '0;
    else if (en_i) count_q <= count_q + Width'(1);
  end

  `GS_ASSERT(count_rests_when_not_enabled, !en_i && !clear_i |=> $stable(count_o))
endmodule
