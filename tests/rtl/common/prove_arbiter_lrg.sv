// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_arbiter_lrg: between two grants of a requester, in the cycles in which it requests, each other requester
/// is granted at most once, even if requests are withdrawn. Proof of gs_rr_pick: no requester is between the current
/// and the next one.
module prove_arbiter_lrg #(
  parameter int unsigned N = 5
) (
  input logic         clk_i,
  input logic         rst_ni,
  input logic [N-1:0] req_i
);
  localparam int unsigned IdxW = $clog2(N);

  logic [N-1:0] gnt, next;
  gs_arbiter_lrg #(.N(N)) u_arbiter (.clk_i, .rst_ni, .req_i, .gnt_o(gnt));

  // Any two requesters: registers without an initial value that keep their value.
  logic [IdxW-1:0] who_q, between_q;
  logic [N-1:0] passed_q;
  always_ff @(posedge clk_i) begin
    who_q     <= who_q;
    between_q <= between_q;
    if (!rst_ni || gnt[who_q]) passed_q <= '0;
    else if (req_i[who_q]) passed_q <= passed_q | gnt;
  end
  `GS_ASSUME_NOW(watched_indices_are_legal, 32'(who_q) < N && 32'(between_q) < N)
  `GS_ASSERT_NOW(no_requester_overtakes_twice, !req_i[who_q] || gnt[who_q] || (gnt & passed_q) == '0)
  // Invariants for the induction: a requester that has overtaken has lower priority, and the priority order is acyclic.
  for (genvar i = 0; i < N; i++) begin : gen_one
    `GS_ASSERT_NOW(overtaker_has_lower_priority, !passed_q[i] || 32'(who_q) == i || !u_arbiter.first[who_q][i])
    for (genvar j = 0; j < N; j++) begin : gen_two
      for (genvar k = 0; k < N; k++) begin : gen_three
        `GS_ASSERT_NOW(priority_is_acyclic,
                       !(u_arbiter.first[i][j] && u_arbiter.first[j][k] && u_arbiter.first[k][i]))
      end
    end
  end

  gs_rr_pick #(.N(N)) u_next (.clk_i, .rst_ni, .current_i(N'(1) << who_q), .req_i, .next_o(next));
  function automatic int distance(logic [IdxW-1:0] which);
    return 32'(which) - 32'(who_q) + ((32'(which) < 32'(who_q)) ? N : 0);
  endfunction
  for (genvar i = 0; i < N; i++) begin : gen_next
    `GS_ASSERT_NOW(no_requester_between_current_and_next, !next[i] || !req_i[between_q] || between_q == who_q
                   || distance(between_q) >= distance(IdxW'(i)))
  end

  `GS_COVER_NOW(all_others_overtake, gnt[who_q] && $countones(passed_q) == N - 1)
  `GS_COVER_NOW(farthest_requester_is_next, next != '0 && distance(between_q) == N - 1 && next[between_q])
endmodule
