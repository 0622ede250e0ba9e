// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Two streams of elements become one, element by element, a beat a cycle; or, switched off, the first goes on as it
/// is. `on_i`, type and operation change while nothing is in it.
module gs_stream_join
  import gossamer_pkg::*;
#(
  /// elements of 32 bits in a beat
  parameter int unsigned Lanes = 2
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                on_i,
  input  logic                float_i,
  input  smi_op_e             op_i,
  input  logic                a_valid_i,
  output logic                a_ready_o,
  input  logic [32*Lanes-1:0] a_i,
  input  logic                b_valid_i,
  output logic                b_ready_o,
  input  logic [32*Lanes-1:0] b_i,
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [32*Lanes-1:0] out_o
);
  localparam int unsigned Stages = 5;
  typedef logic [32*Lanes-1:0] beat_t;

  logic [Stages-1:0] valid_q;
  logic advance, takes, joined_ready, joined_valid, skid_valid;
  beat_t joined, skid;

  assign advance = !valid_q[Stages-1] || joined_ready;
  assign takes = on_i && a_valid_i && b_valid_i && advance;
  assign b_ready_o = on_i && a_valid_i && advance;
  assign a_ready_o = on_i ? b_valid_i && advance : out_ready_i;
  assign joined_valid = valid_q[Stages-1];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (advance) valid_q <= {valid_q[Stages-2:0], takes};
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    gs_stream_lane u_lane (
      .clk_i,
      .advance_i(advance),
      .float_i,
      .op_i,
      .a_i      (a_i[32*l+:32]),
      .b_i      (b_i[32*l+:32]),
      .out_o    (joined[32*l+:32])
    );
  end
  // Else whether the first of several joins goes on would depend on all behind it in one cycle.
  gs_skid #(.data_t(beat_t)) u_skid (
    .clk_i,
    .rst_ni,
    .in_valid_i (joined_valid),
    .in_ready_o (joined_ready),
    .in_data_i  (joined),
    .out_valid_o(skid_valid),
    .out_ready_i(out_ready_i && on_i),
    .out_data_o (skid)
  );
  assign out_valid_o = on_i ? skid_valid : a_valid_i;
  assign out_o = on_i ? skid : a_i;

  `GS_ASSERT_NOW(nothing_is_in_a_join_that_is_off, on_i || (valid_q == '0 && !skid_valid))
endmodule
