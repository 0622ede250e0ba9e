// SPDX-License-Identifier: Apache-2.0

/// A board switch alone, for the tests: its structures as plain fields, with the ports of a board of `quad`.
///
/// Ports: 0, 1 mesh; 2, 3, 4 links; 5 spare; 6 control; 7 host; 8, 9 streams; 10 match engine.
module switch_top
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  parameter int unsigned TableW    = 6,
  parameter int unsigned InRegion  = 64,
  parameter int unsigned OutRegion = 64,
  parameter int unsigned Window    = 8,
  parameter bit          Shared    = 0
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [11:0]       board_i,
  input  logic [7:0]        burst_i,
  output logic              ready_o,
  input  logic              table_we_i,
  input  logic [TableW-1:0] table_index_i,
  input  logic [7:0]        table_entry_i,
  input  logic [7:0]        in_valid_i[11],
  input  logic [1:0]        in_kind_i[11],
  input  logic              in_last_i[11],
  input  logic [1:0]        in_vnet_i[11],
  input  logic [6:0]        in_tags_i[11],
  input  logic [31:0]       in_dest_i[11],
  input  logic [127:0]      in_payload_i[11],
  output logic [7:0]        in_credit_o[11],
  output logic [7:0]        out_valid_o[11],
  output logic [1:0]        out_kind_o[11],
  output logic              out_last_o[11],
  output logic [1:0]        out_vnet_o[11],
  output logic [6:0]        out_tags_o[11],
  output logic [31:0]       out_dest_o[11],
  output logic [127:0]      out_payload_o[11],
  input  logic [7:0]        out_credit_i[11],
  output logic [10:0]       unroutable_o,
  output logic [31:0]       unroutable_dest_o[11],
  output logic              empty_o
);
  localparam int unsigned Ports = 11;
  localparam home_t Home = '{
    mesh:      '{first: 8'd0, count: 8'd2},
    stream:    '{first: 8'd8, count: 8'd2},
    match:     '{first: 8'd10, count: 8'd1},
    link:      '{first: 8'd2, count: 8'd3},
    control:   '{first: 8'd6, count: 8'd1}
  };

  flit_t in[Ports];
  flit_t out[Ports];
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign in[p] = '{kind: flit_kind_e'(in_kind_i[p]), last: in_last_i[p], vnet: vnet_e'(in_vnet_i[p]),
                     job: in_tags_i[p][6:2], epoch: in_tags_i[p][1:0], dest: in_dest_i[p],
                     payload: in_payload_i[p], default: '0};
    assign out_kind_o[p] = out[p].kind;
    assign out_last_o[p] = out[p].last;
    assign out_vnet_o[p] = out[p].vnet;
    assign out_tags_o[p] = {out[p].job, out[p].epoch};
    assign out_dest_o[p] = out[p].dest;
    assign out_payload_o[p] = out[p].payload;
  end

  gs_switch #(
    .Ports    (Ports),
    .Virtual  (11'b000_0001_1100),
    .Home     (Home),
    .TableW   (TableW),
    .InRegion (InRegion),
    .OutRegion(OutRegion),
    .Window   (Window),
    .Shared   (Shared)
  ) u_switch (
    .clk_i,
    .rst_ni,
    .board_i,
    .burst_i,
    .ready_o,
    .table_we_i,
    .table_index_i,
    .table_entry_i,
    .in_valid_i,
    .in_i         (in),
    .in_credit_o,
    .out_valid_o,
    .out_o        (out),
    .out_credit_i,
    .unroutable_o,
    .unroutable_dest_o,
    .unroutable_message_o(),
    .unroutable_job_o(),
    .empty_o
  );
endmodule
