// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Turns of equal length for requesters with packets of different lengths, in front of a round-robin arbiter: the
/// requester that was granted last keeps its turn until its packets in this turn have `Limit` flits, or until it has no
/// request. So long packets get no larger share than short ones. A turn has at most Limit - 1 flits and one packet, and
/// a request waits for at most one turn of every other requester.
module gs_turn #(
  /// requesters, 2 or more
  parameter  int unsigned N      = 4,
  /// flits of a turn: those of the longest packet
  parameter  int unsigned Limit  = 32,
  /// bits of a packet's length
  parameter  int unsigned CountW = 6,
  /// bits of an index; not to be set
  localparam int unsigned IdxW   = $clog2(N)
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [N-1:0]      req_i,
  /// the requests among which the arbiter may choose
  output logic [N-1:0]      req_o,
  /// a packet of this requester is granted
  input  logic              grant_i,
  input  logic [IdxW-1:0]   idx_i,
  /// one cycle after a grant: flits of its packet
  input  logic [CountW-1:0] flits_i
);
  logic [IdxW-1:0] owner_q;
  // Flits of the present turn, without those of a packet granted in the last cycle.
  logic [CountW-1:0] spent_q, spent;
  logic granted_q, kept;

  // It saturates at Limit, where the turn is over.
  always_comb begin
    spent = spent_q;
    if (granted_q) begin
      spent = (CountW+1)'(spent_q) + (CountW+1)'(flits_i) >= (CountW+1)'(Limit) ? CountW'(Limit) : spent_q + flits_i;
    end
  end
  assign kept  = req_i[owner_q] && spent < CountW'(Limit);
  assign req_o = kept ? N'(1) << owner_q : req_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owner_q   <= '0;
      spent_q   <= CountW'(Limit);
      granted_q <= 1'b0;
    end else begin
      spent_q   <= grant_i && !kept ? '0 : spent;
      granted_q <= grant_i;
      if (grant_i) owner_q <= idx_i;
    end
  end

  `GS_ASSERT_NOW(grant_has_a_request, !grant_i || req_o[idx_i])
  `GS_ASSERT_NOW(requests_remain, (req_o != '0) == (req_i != '0))
endmodule
