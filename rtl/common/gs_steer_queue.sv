// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Demultiplexer of a stream to one of several receivers: a queue of two slots with one `valid` for each receiver.
///
/// It accepts and delivers one item a cycle. Two slots allow both handshakes to come from flip-flops. It is a queue
/// and not a register slice because receivers arbitrate and so assert `ready` late: a late `ready` moves a pointer
/// instead of loading a wide register.
module gs_steer_queue #(
  /// receivers
  parameter int unsigned N      = 2,
  /// payload
  parameter type         data_t = logic [31:0]
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         in_valid_i,
  output logic         in_ready_o,
  /// the item's receiver, one-hot
  input  logic [N-1:0] in_to_i,
  input  data_t        in_data_i,
  /// one-hot if there is an item, else 0
  output logic [N-1:0] out_valid_o,
  input  logic [N-1:0] out_ready_i,
  output data_t        out_data_o
);
  // The receivers of the first and of the second item; 0 for an empty slot.
  logic [N-1:0] first_q, second_q;
  logic put_q, take_q, full_q, push, pop;

  assign in_ready_o  = !full_q;
  assign out_valid_o = first_q;
  assign push        = in_valid_i && !full_q;
  assign pop         = (out_valid_o & out_ready_i) != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= '0;
      put_q   <= 1'b0;
      take_q  <= 1'b0;
      full_q  <= 1'b0;
    end else begin
      if (push) put_q <= !put_q;
      if (pop) take_q <= !take_q;
      if (pop || first_q == '0) first_q <= full_q ? second_q : in_to_i & {N{in_valid_i}};
      if (pop) full_q <= 1'b0;
      else if (push) full_q <= first_q != '0;
    end
    if (!full_q) second_q <= in_to_i;
  end

  // Flip-flops: two slots in LUT RAM would need half as many LUTs again.
  data_t even_q, odd_q;
  always_ff @(posedge clk_i) begin
    if (push && !put_q) even_q <= in_data_i;
    if (push && put_q) odd_q <= in_data_i;
  end
  assign out_data_o = take_q ? odd_q : even_q;

  `GS_ASSERT_NOW(item_has_one_receiver, !push || $onehot(in_to_i))
  `GS_ASSERT_HOLD(payload_is_stable_while_it_waits, out_valid_o != '0, pop, {out_valid_o, out_data_o})
endmodule
