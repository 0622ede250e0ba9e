// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Register slice of a stream: both directions are registered, and it passes one item a cycle.
///
/// A second register accepts the item that is in flight when the receiver stalls, so `in_ready_o` comes from a
/// flip-flop and does not depend on `out_ready_i` combinationally.
module gs_skid #(
  /// payload
  parameter type data_t = logic [31:0]
) (
  input  logic  clk_i,
  input  logic  rst_ni,
  input  logic  in_valid_i,
  output logic  in_ready_o,
  input  data_t in_data_i,
  output logic  out_valid_o,
  input  logic  out_ready_i,
  output data_t out_data_o
);
  logic  out_valid_q, out_valid_d, spare_valid_q, spare_valid_d;
  logic  out_free, out_load, spare_load;
  data_t out_data_q, spare_data_q;

  assign in_ready_o  = !spare_valid_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_data_q;

  always_comb begin
    out_free      = !out_valid_q || out_ready_i;
    out_load      = out_free && (spare_valid_q || in_valid_i);
    // Loaded with every incoming item, even if the output register accepts it: out_ready_i arrives late in the cycle.
    spare_load    = in_valid_i && in_ready_o;
    out_valid_d   = out_valid_q;
    spare_valid_d = spare_valid_q;
    if (out_free) begin
      out_valid_d   = spare_valid_q || in_valid_i;
      spare_valid_d = 1'b0;
    end else if (in_valid_i) begin
      spare_valid_d = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_valid_q   <= 1'b0;
      spare_valid_q <= 1'b0;
    end else begin
      out_valid_q   <= out_valid_d;
      spare_valid_q <= spare_valid_d;
    end
    if (out_load) out_data_q <= spare_valid_q ? spare_data_q : in_data_i;
    if (spare_load) spare_data_q <= in_data_i;
  end

  `GS_ASSERT_HOLD(payload_is_stable_while_it_waits, out_valid_o, out_ready_i, out_data_o)
  `GS_ASSERT_NOW(spare_register_is_used_only_while_output_is_full, !spare_valid_q || out_valid_q)
endmodule
