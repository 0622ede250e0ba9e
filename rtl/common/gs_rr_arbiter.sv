// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Merges N streams into one with round-robin arbitration. All paths are combinational; a waiting output item is
/// stable, and an input waits for at most N-1 items of the other inputs.
module gs_rr_arbiter #(
  /// inputs, 1 or more
  parameter  int unsigned N      = 2,
  /// payload
  parameter  type         data_t = logic [31:0],
  /// bits of an index; not to be set
  localparam int unsigned IdxW   = (N > 1) ? $clog2(N) : 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic  [N-1:0]   in_valid_i,
  output logic  [N-1:0]   in_ready_o,
  input  data_t           in_data_i[N],
  output logic            out_valid_o,
  input  logic            out_ready_i,
  output data_t           out_data_o,
  /// the input of the item at the output
  output logic [IdxW-1:0] out_idx_o
);
  logic [N-1:0] gnt;

  gs_arbiter #(
    .N(N)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (in_valid_i),
    .gnt_o    (gnt),
    .idx_o    (out_idx_o),
    .advance_i(out_ready_i)
  );

  always_comb begin
    out_valid_o = in_valid_i != '0;
    in_ready_o  = gnt & {N{out_ready_i}};
    // The grant is one-hot: AND and OR are smaller than a chain of choices.
    out_data_o  = '0;
    for (int unsigned i = 0; i < N; i++) if (gnt[i]) out_data_o |= in_data_i[i];
  end

  `GS_ASSERT_HOLD(payload_is_stable_while_it_waits, out_valid_o, out_ready_i, {out_idx_o, out_data_o})
  for (genvar i = 0; i < N; i++) begin : gen_input
    `GS_ASSERT_HOLD(input_is_stable_while_it_waits, in_valid_i[i], in_ready_o[i], in_data_i[i])
  end
endmodule
