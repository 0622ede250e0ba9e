// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Sends a stream to one of N outputs: `sel_i` belongs to the item at the input. Nothing is registered.
module gs_stream_demux #(
  /// outputs, 1 or more
  parameter  int unsigned N      = 2,
  /// payload
  parameter  type         data_t = logic [31:0],
  /// bits of an index; not to be set
  localparam int unsigned IdxW   = (N > 1) ? $clog2(N) : 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic [IdxW-1:0] sel_i,
  input  logic            in_valid_i,
  output logic            in_ready_o,
  input  data_t           in_data_i,
  output logic  [N-1:0]   out_valid_o,
  input  logic  [N-1:0]   out_ready_i,
  output data_t [N-1:0]   out_data_o
);
  if (N < 1) begin : gen_illegal_n
    $fatal(1, "gs_stream_demux: N is 0; there must be at least one output");
  end

  always_comb begin
    out_valid_o = '0;
    out_data_o  = {N{in_data_i}};
    in_ready_o  = 1'b0;
    for (int unsigned i = 0; i < N; i++) begin
      if (sel_i == IdxW'(i)) begin
        out_valid_o[i] = in_valid_i;
        in_ready_o     = out_ready_i[i];
      end
    end
  end

  `GS_ASSERT_NOW(an_item_goes_to_an_output_that_exists, !in_valid_i || 32'(sel_i) < N)
  `GS_ASSERT_HOLD(the_choice_is_stable_while_an_item_waits, in_valid_i, in_ready_o, sel_i)
endmodule
