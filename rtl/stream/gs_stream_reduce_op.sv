// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Two streams of elements become one, element by element, a beat a cycle; or, switched off, the first goes on as it
/// is. `on_i`, type and operation change while nothing is in it. Of each size of element that `Types` have, there are
/// as many lanes as a beat has such elements.
module gs_stream_reduce_op
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// bytes of a beat
  parameter int unsigned Bytes = 8,
  /// types that elements may have
  parameter types_t      Types = types_of_size(2)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                on_i,
  input  smi_type_e           element_i,
  input  smi_op_e             op_i,
  input  logic                a_valid_i,
  output logic                a_ready_o,
  input  logic [8*Bytes-1:0]  a_i,
  input  logic                b_valid_i,
  output logic                b_ready_o,
  input  logic [8*Bytes-1:0]  b_i,
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [8*Bytes-1:0]  out_o
);
  localparam int unsigned Stages = 5;
  typedef logic [8*Bytes-1:0] beat_t;

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

  // By the logarithm of an element's bytes
  beat_t [3:0] by_size;
  for (genvar s = 0; s < 4; s++) begin : gen_size
    localparam int unsigned Bits = 8 << s;
    localparam types_t Some = Types & types_of_size(s);
    if (Some != '0) begin : gen_lanes
      for (genvar l = 0; l < 8 * Bytes / Bits; l++) begin : gen_lane
        gs_stream_lane #(
          .Bits  (Bits),
          .Ints  ((Some & Integers) != '0),
          .Floats((Some & Floats) != '0)
        ) u_lane (
          .clk_i,
          .advance_i(advance),
          .float_i  (Floats[element_i]),
          .op_i,
          .a_i      (a_i[Bits*l+:Bits]),
          .b_i      (b_i[Bits*l+:Bits]),
          .out_o    (by_size[s][Bits*l+:Bits])
        );
      end
    end else begin : gen_no_lanes
      assign by_size[s] = '0;
    end
  end
  assign joined = by_size[log_bytes(element_i)];
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
