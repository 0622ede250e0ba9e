// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// gs_axi4_lines with plain ports.
module axi4_lines_top (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        aw_valid_i,
  output logic        aw_ready_o,
  input  logic [31:0] aw_addr_i,
  input  logic        w_valid_i,
  output logic        w_ready_o,
  input  logic [63:0] w_data_i,
  input  logic [7:0]  w_strb_i,
  output logic        b_valid_o,
  input  logic        ar_valid_i,
  output logic        ar_ready_o,
  input  logic [31:0] ar_addr_i,
  input  logic [7:0]  ar_len_i,
  output logic        r_valid_o,
  input  logic        r_ready_i,
  output logic [63:0] r_data_o,
  input  logic        mem_clk_i,
  input  logic        mem_rst_ni,
  output logic        req_valid_o,
  input  logic        req_ready_i,
  output logic        req_write_o,
  output logic        req_last_o,
  output logic [31:0] req_addr_o,
  output logic [31:0] req_data_o,
  output logic [3:0]  req_strb_o,
  input  logic        rsp_valid_i,
  output logic        rsp_ready_o,
  input  logic        rsp_ack_i,
  input  logic        rsp_last_i,
  input  logic [31:0] rsp_data_i
);
  `GS_MEM_TYPES(4, 2, 32)
  mem_req_t req;
  mem_rsp_t rsp;
  logic unused;
  assign {req_write_o, req_last_o, req_addr_o, req_data_o} = {req.write, req.last, req.addr, req.data};
  assign rsp    = '{ack: rsp_ack_i, last: rsp_last_i, id: 2'd0, data: rsp_data_i};
  assign unused = ^{req.space, req.id};

  gs_axi4_lines #(
    .AddrW    (16),
    .Base     (32'h0040_0000),
    .mem_req_t(mem_req_t),
    .mem_rsp_t(mem_rsp_t)
  ) u_lines (
    .clk_i,
    .rst_ni,
    .aw_valid_i,
    .aw_ready_o,
    .aw_addr_i,
    .w_valid_i,
    .w_ready_o,
    .w_data_i,
    .w_strb_i,
    .b_valid_o,
    .ar_valid_i,
    .ar_ready_o,
    .ar_addr_i,
    .ar_len_i,
    .r_valid_o,
    .r_ready_i,
    .r_data_o,
    .mem_clk_i,
    .mem_rst_ni,
    .req_valid_o,
    .req_ready_i,
    .req_o      (req),
    .req_strb_o,
    .rsp_valid_i,
    .rsp_ready_o,
    .rsp_i      (rsp)
  );
endmodule
