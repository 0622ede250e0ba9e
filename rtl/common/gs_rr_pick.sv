// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Next requester in round-robin order: the first after the current one, cyclically, the current one excluded.
module gs_rr_pick #(
  /// requesters, 2 or more
  parameter int unsigned N = 4
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  /// the current requester, one-hot
  input  logic [N-1:0] current_i,
  input  logic [N-1:0] req_i,
  /// the next requester, one-hot; 0 if no other requester has a request
  output logic [N-1:0] next_o
);
  if (N < 2) begin : gen_illegal_n
    $fatal(1, "gs_rr_pick: N is %0d; there must be at least two requesters", N);
  end

`ifdef VERILATOR
  // The same function in few operations, for the simulator: the lowest request above the current index, in two
  // concatenated copies of the requests.
  logic [2*N-1:0] above, lowest;
  always_comb begin
    above  = {req_i, req_i} & ~((2 * N)'({current_i, 1'b0}) - (2 * N)'(1));
    lowest = above & (~above + (2 * N)'(1));
    next_o = (lowest[N-1:0] | lowest[2*N-1:N]) & ~current_i;
  end
`else
  // For each current index: the first request after it.
  always_comb begin
    next_o = '0;
    for (int unsigned c = 0; c < N; c++) begin
      automatic logic open;
      open = current_i[c];
      for (int unsigned k = 1; k < N; k++) begin
        if (open && req_i[(c+k)%N]) next_o[(c+k)%N] = 1'b1;
        open = open && !req_i[(c+k)%N];
      end
    end
  end
`endif

  `GS_ASSERT_NOW(current_is_one_hot, $onehot(current_i))
  `GS_ASSERT_NOW(next_is_another_requester, (next_o & ~req_i) == '0 && (next_o & current_i) == '0)
  `GS_ASSERT_NOW(another_request_produces_a_next_one, $onehot0(next_o)
                 && (next_o == '0) == ((req_i & ~current_i) == '0))
endmodule
