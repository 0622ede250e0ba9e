// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Least-recently-granted arbiter: grants the requester whose last grant is the longest ago, in the same cycle.
///
/// Unlike the round-robin gs_arbiter it suits requests that may be withdrawn: each other requester overtakes a
/// requester at most once, in whichever cycles its requests are asserted.
module gs_arbiter_lrg #(
  /// requesters, 2 or more
  parameter int unsigned N = 4
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [N-1:0] req_i,
  output logic [N-1:0] gnt_o
);
  if (N < 2) begin : gen_illegal_n
    $fatal(1, "gs_arbiter_lrg: N is %0d; there must be at least two requesters", N);
  end

  // before_q[i][j], j < i: j has priority over i.
  logic [N-1:0][N-1:0] before_q, before_d, first;

  always_comb begin
    for (int unsigned i = 0; i < N; i++) begin
      for (int unsigned j = 0; j < N; j++) begin
        first[i][j] = 1'b0;
        if (j < i) first[i][j] = before_q[i][j];
        if (j > i) first[i][j] = !before_q[j][i];
      end
      gnt_o[i] = req_i[i] && (req_i & first[i]) == '0;
    end
  end

  always_comb begin
    before_d = '0;
    for (int unsigned i = 0; i < N; i++) begin
      for (int unsigned j = 0; j < i; j++) before_d[i][j] = (before_q[i][j] || gnt_o[i]) && !gnt_o[j];
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < N; i++) begin
      for (int unsigned j = 0; j < N; j++) begin
        if (!rst_ni || j >= i) before_q[i][j] <= j < i;
        else before_q[i][j] <= before_d[i][j];
      end
    end
  end

  `GS_ASSERT_NOW(at_most_one_grant, $onehot0(gnt_o))
  `GS_ASSERT_NOW(every_grant_has_a_request, (gnt_o & ~req_i) == '0)
  `GS_ASSERT_NOW(any_request_produces_a_grant, (req_i != '0) == (gnt_o != '0))
endmodule
