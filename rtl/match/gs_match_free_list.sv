// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Numbers of entries that are free: first those that were never used, then those that came back, the oldest first.
module gs_match_free_list #(
  /// entries, a power of two, 4 or more
  parameter  int unsigned Entries = 64,
  localparam int unsigned IdW     = $clog2(Entries)
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  /// there is one
  output logic           valid_o,
  output logic [IdW-1:0] id_o,
  input  logic           take_i,
  input  logic           give_i,
  input  logic [IdW-1:0] give_id_i,
  /// one that came back will be there in some cycles
  output logic           soon_o,
  /// numbers below this were given out at some time
  output logic [IdW:0]   fresh_o
);
  logic [IdW:0] fresh_q, count;
  logic fresh, back_valid, back_ready;
  logic [IdW-1:0] back;

  assign fresh   = !fresh_q[IdW];
  assign valid_o = fresh || back_valid;
  assign id_o    = fresh ? fresh_q[IdW-1:0] : back;
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
    .in_valid_i (give_i),
    .in_ready_o (back_ready),
    .in_data_i  (give_id_i),
    .out_valid_o(back_valid),
    .out_ready_i(take_i && !fresh),
    .out_data_o (back),
    .count_o    (count)
  );

  `GS_ASSERT_NOW(there_is_room_for_all_that_come_back, !give_i || back_ready)
  `GS_ASSERT_NOW(what_is_taken_is_free, !take_i || valid_o)
endmodule
