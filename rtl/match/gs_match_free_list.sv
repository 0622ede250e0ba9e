// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Free entry numbers: first those never used, then returned ones, oldest first.
module gs_match_free_list #(
  /// entries, a power of two, 4 or more
  parameter  int unsigned Entries = 64,
  localparam int unsigned IdW     = $clog2(Entries)
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  /// a number is available
  output logic           valid_o,
  output logic [IdW-1:0] id_o,
  input  logic           take_i,
  input  logic           return_i,
  input  logic [IdW-1:0] return_id_i,
  /// a returned number will be available within a few cycles
  output logic           soon_o,
  /// all numbers below this one have been allocated at least once
  output logic [IdW:0]   fresh_o
);
  logic [IdW:0] fresh_q, count;
  logic fresh, returned_valid, returned_ready;
  logic [IdW-1:0] returned_id;

  assign fresh   = !fresh_q[IdW];
  assign valid_o = fresh || returned_valid;
  assign id_o    = fresh ? fresh_q[IdW-1:0] : returned_id;
  assign soon_o  = !valid_o && count != '0;
  assign fresh_o = fresh_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) fresh_q <= '0;
    else if (take_i && fresh) fresh_q <= fresh_q + (IdW + 1)'(1);
  end

  gs_fifo #(
    .data_t(logic [IdW-1:0]),
    .Depth (Entries),
    .Block (Entries > 64)
  ) u_back (
    .clk_i,
    .rst_ni,
    .in_valid_i (return_i),
    .in_ready_o (returned_ready),
    .in_data_i  (return_id_i),
    .out_valid_o(returned_valid),
    .out_ready_i(take_i && !fresh),
    .out_data_o (returned_id),
    .count_o    (count)
  );

  `GS_ASSERT_NOW(returned_numbers_fit, !return_i || returned_ready)
  `GS_ASSERT_NOW(takes_only_if_valid, !take_i || valid_o)
endmodule
