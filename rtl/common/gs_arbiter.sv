// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Round-robin arbiter: grants the first request at or after its pointer, in the same cycle.
///
/// `advance_i` consumes the grant: the pointer moves to the requester after the grantee. A grant that is not consumed
/// keeps the highest priority while its request is asserted, so a stream downstream of the arbiter is stable while it
/// waits. A request waits for at most N-1 other grants.
module gs_arbiter #(
  /// requesters, 1 or more
  parameter  int unsigned N    = 4,
  /// bits of an index; not to be set
  localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic [N-1:0]    req_i,
  output logic [N-1:0]    gnt_o,
  output logic [IdxW-1:0] idx_o,
  input  logic            advance_i
);
  if (N < 1) begin : gen_illegal_n
    $fatal(1, "gs_arbiter: N is 0; there must be at least one requester");
  end

  // Bit i is 1 if requester i is at or after the pointer.
  logic [N-1:0] ahead_q, ahead_d;
  logic [N-1:0] pick, below;

  always_comb begin
    pick  = ((req_i & ahead_q) != '0) ? (req_i & ahead_q) : req_i;
    // below[i]: a candidate request has a lower index than i.
    below = '0;
    for (int unsigned i = 1; i < N; i++) below[i] = below[i-1] || pick[i-1];
    gnt_o = pick & ~below;
    idx_o = '0;
    for (int unsigned i = 0; i < N; i++) if (gnt_o[i]) idx_o |= IdxW'(i);
  end

  // A separate block, because advance_i may depend on the grant.
  always_comb begin
    ahead_d = ahead_q;
    if (req_i != '0) ahead_d = advance_i ? below : (below | gnt_o);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ahead_q <= '0;
    else ahead_q <= ahead_d;
  end

  `GS_ASSERT_NOW(at_most_one_grant, (gnt_o & (gnt_o - N'(1))) == '0)
  `GS_ASSERT_NOW(every_grant_has_a_request, (gnt_o & ~req_i) == '0)
  `GS_ASSERT_NOW(any_request_produces_a_grant, (req_i != '0) == (gnt_o != '0))
endmodule
