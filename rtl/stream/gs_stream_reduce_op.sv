// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Combines two streams element by element, one beat per cycle; if disabled, it passes the first stream through.
/// `on_i`, type and operation change only while it is empty. For each element size in `Types` it has as many lanes as a
/// beat has such elements.
module gs_stream_reduce_op
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
#(
  /// bytes of a beat
  parameter int unsigned Bytes = 8,
  /// supported types of elements
  parameter types_t      Types = types_of_size(2),
  /// as in gs_stream_push: one lane for each size
  parameter bit          ElementBeats = 0
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                enable_i,
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
  logic advance, accepts, joined_ready, joined_valid, skid_valid;
  beat_t joined, skid;

  assign advance = !valid_q[Stages-1] || joined_ready;
  assign accepts = enable_i && a_valid_i && b_valid_i && advance;
  assign b_ready_o = enable_i && a_valid_i && advance;
  assign a_ready_o = enable_i ? b_valid_i && advance : out_ready_i;
  assign joined_valid = valid_q[Stages-1];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else if (advance) valid_q <= {valid_q[Stages-2:0], accepts};
  end

  // By log2 of the element's bytes
  beat_t [3:0] by_size;
  for (genvar s = 0; s < 4; s++) begin : gen_size
    localparam int unsigned Bits = 8 << s;
    localparam types_t SizeTypes = Types & types_of_size(s);
    if (SizeTypes != '0) begin : gen_lanes
      if (ElementBeats && Bits < 8 * Bytes) begin : gen_one
        logic unused;
        assign unused = ^{a_i[8*Bytes-1:Bits], b_i[8*Bytes-1:Bits]};
        assign by_size[s][8*Bytes-1:Bits] = '0;
      end
      for (genvar l = 0; l < (ElementBeats ? 1 : 8 * Bytes / Bits); l++) begin : gen_lane
        gs_stream_lane #(
          .Bits  (Bits),
          .Ints  ((SizeTypes & Integers) != '0),
          .Floats((SizeTypes & Floats) != '0)
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
  // Without it, the ready path of a chain of joins would be combinational through all of them.
  gs_skid #(.data_t(beat_t)) u_skid (
    .clk_i,
    .rst_ni,
    .in_valid_i (joined_valid),
    .in_ready_o (joined_ready),
    .in_data_i  (joined),
    .out_valid_o(skid_valid),
    .out_ready_i(out_ready_i && enable_i),
    .out_data_o (skid)
  );
  assign out_valid_o = enable_i ? skid_valid : a_valid_i;
  assign out_o = enable_i ? skid : a_i;

  `GS_ASSERT_NOW(disabled_join_is_empty, enable_i || (valid_q == '0 && !skid_valid))
endmodule
