// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Merges N streams of bursts into one with round-robin arbitration: beats of different bursts are never interleaved.
module gs_mem_arbiter #(
  /// inputs, 1 or more
  parameter int unsigned N      = 2,
  /// payload
  parameter type         data_t = logic [31:0]
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic  [N-1:0] in_valid_i,
  output logic  [N-1:0] in_ready_o,
  /// the item is the last of its burst
  input  logic  [N-1:0] in_last_i,
  input  data_t         in_data_i[N],
  output logic          out_valid_o,
  input  logic          out_ready_i,
  output data_t         out_data_o
);
  localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1;

  // Between the beats of a burst only its input may request.
  logic [N-1:0] open_q, open_d, request, grant;
  logic [IdxW-1:0] unused_idx;
  logic last;

  assign request     = in_valid_i & open_q;
  assign out_valid_o = request != '0;
  assign in_ready_o  = grant & {N{out_ready_i}};
  assign last        = (in_last_i & grant) != '0;

  gs_arbiter #(
    .N(N)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (request),
    .gnt_o    (grant),
    .idx_o    (unused_idx),
    .advance_i(out_ready_i && last)
  );

  always_comb begin
    out_data_o = '0;
    for (int unsigned i = 0; i < N; i++) if (grant[i]) out_data_o |= in_data_i[i];
  end

  always_comb begin
    open_d = open_q;
    if (out_valid_o && out_ready_i) open_d = last ? '1 : grant;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_q <= '1;
    else open_q <= open_d;
  end

  `GS_ASSERT_HOLD(payload_is_stable_while_it_waits, out_valid_o, out_ready_i, out_data_o)
endmodule
