// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Merges streams of flits packet by packet: who has begun goes on to the last flit of its packet.
module gs_packet_arbiter
  import gossamer_pkg::*;
#(
  /// inputs
  parameter int unsigned N = 2
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic  [N-1:0] in_valid_i,
  output logic  [N-1:0] in_ready_o,
  input  flit_t         in_i[N],
  output logic          out_valid_o,
  input  logic          out_ready_i,
  output flit_t         out_o
);
  localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1;
  logic [N-1:0] valid, owner_q, gnt;
  logic busy_q, ended;
  logic [IdxW-1:0] unused_idx;

  assign valid = busy_q ? in_valid_i & owner_q : in_valid_i;
  assign ended = out_valid_o && out_ready_i && out_o.last;

  gs_arbiter #(.N(N)) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (valid),
    .gnt_o    (gnt),
    .idx_o    (unused_idx),
    .advance_i(ended)
  );

  always_comb begin
    out_valid_o = valid != '0;
    in_ready_o  = gnt & {N{out_ready_i}};
    out_o       = '0;
    for (int unsigned i = 0; i < N; i++) if (gnt[i]) out_o |= in_i[i];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (out_valid_o && out_ready_i) busy_q <= !out_o.last;
    if (!busy_q) owner_q <= gnt;
  end

  `GS_ASSERT_HOLD(payload_is_stable_while_it_waits, out_valid_o, out_ready_i, out_o)
endmodule
