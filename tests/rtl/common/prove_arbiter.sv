// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_arbiter: any request waits for at most N-1 grants of others; a grant that is not consumed is kept. The
/// arbiter itself asserts that a grant is one-hot and has a request.
module prove_arbiter #(
  parameter int unsigned N = 5
) (
  input logic         clk_i,
  input logic         rst_ni,
  input logic [N-1:0] req_i,
  input logic         advance_i
);
  localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1;

  logic [N-1:0]    gnt;
  logic [IdxW-1:0] idx;

  gs_arbiter #(
    .N(N)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i,
    .gnt_o(gnt),
    .idx_o(idx),
    .advance_i
  );

  // Any one requester: a register without an initial value that keeps its value.
  logic [IdxW-1:0] who_q;
  logic            mine, kept_q;
  int              waited_q, pointer, distance;

  assign mine = gnt[who_q];

  always_comb begin
    pointer = 0;
    for (int i = N - 1; i >= 0; i--) if (u_arbiter.ahead_q[i]) pointer = i;
    distance = 32'(who_q) - pointer + ((32'(who_q) < pointer) ? N : 0);
  end

  always_ff @(posedge clk_i) begin
    who_q  <= who_q;
    kept_q <= rst_ni && mine && !advance_i;
    if (!rst_ni || !req_i[who_q] || mine) waited_q <= 0;
    else if (advance_i) waited_q <= waited_q + 1;
  end

  `GS_ASSUME_NOW(watched_index_is_legal, 32'(who_q) < N)
  `GS_ASSERT_NOW(request_waits_for_at_most_all_others, waited_q >= 0 && waited_q < N)
  `GS_ASSERT_NOW(index_matches_the_grant, gnt == '0 || gnt == N'(1) << idx)
  `GS_ASSERT_NOW(grant_is_kept_until_consumed, !kept_q || !req_i[who_q] || mine)
  // Invariant for the induction: the pointer approaches the requester with each grant.
  `GS_ASSERT_NOW(pointer_approaches_the_requester, !req_i[who_q] || waited_q + distance < N)
  for (genvar i = 1; i < N; i++) begin : gen_ahead
    `GS_ASSERT_NOW(ahead_is_a_suffix_of_the_requesters, !u_arbiter.ahead_q[i-1] || u_arbiter.ahead_q[i])
  end

  `GS_COVER_NOW(request_is_granted_after_all_others, mine && waited_q == N - 1)
  `GS_COVER_NOW(grant_waits, kept_q && mine)
endmodule
