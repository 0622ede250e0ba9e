// SPDX-License-Identifier: Apache-2.0

/// A port's multicast router alone, for the tests: its structures as plain fields.
module multicast_top
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
  import gs_multicast_pkg::*;
#(
  parameter int unsigned CacheW = 6,
  parameter int unsigned SlotW  = 4
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [11:0]  board_i,
  input  logic [31:0]  wave_i,
  input  logic         flush_i,
  input  logic [7:0]   in_valid_i,
  input  logic [1:0]   in_kind_i,
  input  logic         in_last_i,
  input  logic [1:0]   in_vnet_i,
  input  logic [7:0]   in_tags_i,
  input  logic [31:0]  in_dest_i,
  input  logic [127:0] in_payload_i,
  output logic [7:0]   in_credit_o,
  output logic [7:0]   out_valid_o,
  output logic [1:0]   out_kind_o,
  output logic         out_last_o,
  output logic [1:0]   out_vnet_o,
  output logic [7:0]   out_tags_o,
  output logic [31:0]  out_dest_o,
  output logic [127:0] out_payload_o,
  input  logic [7:0]   out_credit_i,
  output logic         req_valid_o,
  input  logic         req_ready_i,
  output logic [26:0]  req_beat_o,
  output logic [5:0]   req_tag_o,
  input  logic         rsp_valid_i,
  output logic         rsp_ready_o,
  input  logic [5:0]   rsp_tag_i,
  input  logic [255:0] rsp_i,
  output logic [1:0]   entered_o,
  output logic [13:0]  entered_tag_o,
  output logic [1:0]   sent_o,
  output logic [1:0]   received_o,
  output logic [13:0]  sent_tag_o,
  output logic [13:0]  received_tag_o,
  output logic [5:0]   bad_o,
  output logic [1:0]   lookup_o,
  output logic [1:0]   hit_o,
  output logic         empty_o
);
  flit_t in, out;
  assign in = '{kind: flit_kind_e'(in_kind_i), last: in_last_i, vnet: vnet_e'(in_vnet_i), wave: in_tags_i[7],
                job: in_tags_i[6:2], epoch: in_tags_i[1:0], dest: in_dest_i, payload: in_payload_i, default: '0};
  assign out_kind_o = out.kind;
  assign out_last_o = out.last;
  assign out_vnet_o = out.vnet;
  assign out_tags_o = {out.wave, out.job, out.epoch};
  assign out_dest_o = out.dest;
  assign out_payload_o = out.payload;

  gs_multicast #(
    .Vcs   (SwitchVcs),
    .CacheW(CacheW),
    .SlotW (SlotW)
  ) u_multicast (
    .clk_i,
    .rst_ni,
    .board_i,
    .wave_i,
    .flush_i,
    .in_valid_i,
    .in_i        (in),
    .in_credit_o,
    .out_valid_o,
    .out_o       (out),
    .out_credit_i,
    .req_valid_o,
    .req_ready_i,
    .req_beat_o,
    .req_tag_o,
    .rsp_valid_i,
    .rsp_ready_o,
    .rsp_tag_i,
    .rsp_i,
    .entered_o,
    .entered_tag_o,
    .sent_o,
    .received_o,
    .sent_tag_o,
    .received_tag_o,
    .bad_o,
    .lookup_o,
    .hit_o,
    .empty_o
  );
endmodule
