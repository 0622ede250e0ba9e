// SPDX-License-Identifier: Apache-2.0

/// gs_board_records with its structs as plain ports. The memory's responses depend on the addresses, as the harness
/// expects: each word is its number times a constant.
module records_top
  import gs_multicast_pkg::*;
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  output logic [31:0]  line_bytes_o,
  output logic [31:0]  port_bytes_o,
  input  logic         req_valid_i,
  output logic         req_ready_o,
  input  logic [26:0]  req_beat_i,
  input  logic [7:0]   req_tag_i,
  output logic         rsp_valid_o,
  input  logic         rsp_ready_i,
  output logic [7:0]   rsp_tag_o,
  output logic [255:0] rsp_o,
  output logic         mem_valid_o,
  input  logic         mem_ready_i,
  output logic [31:0]  mem_addr_o,
  output logic [15:0]  mem_id_o,
  input  logic         mem_valid_i,
  output logic         mem_ready_o,
  input  logic         mem_last_i,
  input  logic [31:0]  mem_addr_i,
  input  logic [15:0]  mem_id_i
);
  mem_req_t request;
  mem_rsp_t answer;
  assign line_bytes_o = CacheLineBytes;
  assign port_bytes_o = DramPortBytes;
  assign mem_addr_o   = request.addr;
  assign mem_id_o     = 16'(request.id);

  always_comb begin
    answer      = '0;
    answer.last = mem_last_i;
    answer.id   = mem_id_i[MemIdW-1:0];
    for (int unsigned i = 0; i < DramPortBytes / 4; i++) begin
      answer.data[32*i+:32] = (mem_addr_i / 4 + i) * 32'h9E37_79B9;
    end
  end

  gs_board_records #(.TagW(8)) u_records (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_beat_i (BeatAddrW'(req_beat_i)),
    .req_tag_i,
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_tag_o,
    .rsp_o,
    .mem_valid_o,
    .mem_ready_i,
    .mem_req_o  (request),
    .mem_valid_i,
    .mem_ready_o,
    .mem_rsp_i  (answer)
  );

  logic unused;
  assign unused = ^{request.write, request.last, request.space, request.data, mem_id_i};
endmodule
