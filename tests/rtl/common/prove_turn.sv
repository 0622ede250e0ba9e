// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Check of gs_turn in front of gs_arbiter, for all inputs in the cycles after reset: a request waits for at most one
/// turn of every other requester, and a turn has at most Limit - 1 flits and one packet.
module prove_turn #(
  parameter int unsigned N      = 3,
  parameter int unsigned Limit  = 5,
  parameter int unsigned CountW = 3
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic [N-1:0]      req_i,
  input logic              advance_i,
  input logic [CountW-1:0] flits_i
);
  localparam int unsigned IdxW = $clog2(N);

  logic [N-1:0]    candidates, gnt;
  logic [IdxW-1:0] idx;
  logic            grant;

  assign grant = advance_i && candidates != '0;

  gs_turn #(
    .N     (N),
    .Limit (Limit),
    .CountW(CountW)
  ) u_turn (
    .clk_i,
    .rst_ni,
    .req_i,
    .req_o  (candidates),
    .grant_i(grant),
    .idx_i  (idx),
    .flits_i
  );

  gs_arbiter #(
    .N(N)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (candidates),
    .gnt_o    (gnt),
    .idx_o    (idx),
    .advance_i(grant)
  );

  // Any one requester: a register without an initial value that keeps its value.
  logic [IdxW-1:0] who_q;
  logic            mine, granted_q;
  int              turns_q, spent_q, flits;

  assign mine = grant && gnt[who_q];

  assign flits = spent_q + (granted_q ? 32'(flits_i) : 0);

  always_ff @(posedge clk_i) begin
    who_q     <= who_q;
    granted_q <= rst_ni && grant;
    spent_q   <= !rst_ni || (grant && !u_turn.kept) ? 0 : flits;
    if (!rst_ni || !req_i[who_q] || mine) turns_q <= 0;
    else if (grant && !u_turn.kept) turns_q <= turns_q + 1;
  end

  `GS_ASSUME_NOW(watched_index_is_legal, 32'(who_q) < N)
  `GS_ASSUME_NOW(packets_have_flits, flits_i != '0 && 32'(flits_i) <= Limit)
  `GS_ASSERT_NOW(request_waits_for_at_most_one_turn_of_each_other, turns_q >= 0 && turns_q < N)
  // A packet is granted in a turn only while the turn has less than Limit flits.
  `GS_ASSERT_NOW(turn_is_bounded, !(grant && u_turn.kept) || flits < Limit)
  `GS_COVER_NOW(request_is_granted_after_a_turn_of_each_other, mine && turns_q == N - 1)
  `GS_COVER_NOW(turn_has_several_packets, grant && u_turn.kept && spent_q == 3)
endmodule
