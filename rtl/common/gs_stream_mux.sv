// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Joins N streams to one: `sel_i` says which of them goes through. Nothing is registered.
/// `sel_i` must not change while an item waits.
module gs_stream_mux #(
  /// inputs, 1 or more
  parameter  int unsigned N      = 2,
  /// payload
  parameter  type         data_t = logic [31:0],
  /// bits of an index; not to be set
  localparam int unsigned IdxW   = (N > 1) ? $clog2(N) : 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic [IdxW-1:0] sel_i,
  input  logic  [N-1:0]   in_valid_i,
  output logic  [N-1:0]   in_ready_o,
  input  data_t [N-1:0]   in_data_i,
  output logic            out_valid_o,
  input  logic            out_ready_i,
  output data_t           out_data_o
);
  if (N < 1) begin : gen_illegal_n
    $fatal(1, "gs_stream_mux: N is 0; there must be at least one input");
  end

  always_comb begin
    out_valid_o = 1'b0;
    out_data_o  = in_data_i[0];
    in_ready_o  = '0;
    for (int unsigned i = 0; i < N; i++) begin
      if (sel_i == IdxW'(i)) begin
        out_valid_o   = in_valid_i[i];
        out_data_o    = in_data_i[i];
        in_ready_o[i] = out_ready_i;
      end
    end
  end

  `GS_ASSERT_NOW(an_input_that_exists_is_chosen, 32'(sel_i) < N)
  `GS_ASSERT_HOLD(the_choice_is_stable_while_an_item_waits, out_valid_o, out_ready_i, sel_i)
endmodule
