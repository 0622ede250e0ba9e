// SPDX-License-Identifier: Apache-2.0

/// gs_multicast_records with ports of plain vectors, and the lookup of a cycle.
module records_top
  import gs_multicast_pkg::*;
  import gossamer_pkg::*;
#(
  parameter  int unsigned CacheW = 9,
  parameter  int unsigned SlotW  = 4
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     flush_i,
  input  logic [1:0]               key_valid_i,
  output logic [1:0]               key_ready_o,
  input  logic [BeatAddrW-1:0]     key_beat_i,
  input  logic [4:0]               key_beats_i,
  output logic [1:0]               beat_valid_o,
  input  logic [1:0]               beat_ready_i,
  output logic [2*BeatBits-1:0]    beat_o,
  output logic                     req_valid_o,
  input  logic                     req_ready_i,
  output logic [BeatAddrW-1:0]     req_beat_o,
  output logic [SlotW:0]           req_tag_o,
  input  logic                     rsp_valid_i,
  output logic                     rsp_ready_o,
  input  logic [SlotW:0]           rsp_tag_i,
  input  logic [BeatBits-1:0]      rsp_i,
  output logic                     lookup_o,
  output logic                     hit_o,
  output logic                     busy_o,
  /// a beat is looked up in this cycle; it is read while its line is written
  output logic                     reads_o,
  output logic [BeatAddrW-1:0]     reads_beat_o,
  output logic                     clash_o
);
  route_key_t key[2];
  beat_t beat[2];
  always_comb begin
    for (int unsigned l = 0; l < 2; l++) begin
      key[l]       = '0;
      key[l].beat  = key_beat_i;
      key[l].beats = key_beats_i;
    end
  end
  assign beat_o = {beat[1], beat[0]};

  gs_multicast_records #(
    .CacheW(CacheW),
    .SlotW (SlotW)
  ) u_records (
    .clk_i,
    .rst_ni,
    .flush_i,
    .key_valid_i,
    .key_ready_o,
    .key_i       (key),
    .beat_valid_o,
    .beat_ready_i,
    .beat_o      (beat),
    .req_valid_o,
    .req_ready_i,
    .req_beat_o,
    .req_tag_o,
    .rsp_valid_i,
    .rsp_ready_o,
    .rsp_tag_i,
    .rsp_i,
    .lookup_o,
    .hit_o,
    .busy_o
  );
  assign reads_o      = u_records.lookup;
  assign reads_beat_o = u_records.lookup_beat;
  assign clash_o      = u_records.u_data.collides;
endmodule
