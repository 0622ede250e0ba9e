// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_counter: its count is the number of events since it was cleared, modulo its range.
module prove_counter #(
  parameter int unsigned Width = 3
) (
  input logic clk_i,
  input logic rst_ni,
  input logic clear_i,
  input logic en_i
);
  logic [Width-1:0] count;

  gs_counter #(
    .Width(Width)
  ) u_counter (
    .clk_i,
    .rst_ni,
    .clear_i,
    .en_i,
    .count_o(count)
  );

  int unsigned events_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) events_q <= 0;
    else events_q <= events_q + 32'(en_i);
  end

  `GS_ASSERT_NOW(every_event_is_counted_once, 32'(count) == events_q % (1 << Width))

  `GS_COVER_NOW(it_wraps, events_q == 1 << Width)
endmodule
