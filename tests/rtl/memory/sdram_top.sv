// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// gs_sdram with plain ports, for a harness that emulates requesters and an SDRAM.
module sdram_top #(
  parameter int unsigned LineBytes = 32,
  parameter int unsigned Burst     = 8,
  parameter int unsigned Cl        = 2,
  parameter int unsigned BankBytes = 1024,
  parameter int unsigned Flight    = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        req_valid_i,
  output logic        req_ready_o,
  input  logic        req_write_i,
  input  logic        req_last_i,
  input  logic [7:0]  req_id_i,
  input  logic [31:0] req_addr_i,
  input  logic [31:0] req_data_i,
  input  logic [3:0]  req_strb_i,
  output logic        rsp_valid_o,
  input  logic        rsp_ready_i,
  output logic        rsp_ack_o,
  output logic        rsp_last_o,
  output logic [7:0]  rsp_id_o,
  output logic [31:0] rsp_data_o,
  output logic        ras_no,
  output logic        cas_no,
  output logic        we_no,
  output logic [1:0]  ba_o,
  output logic [10:0] a_o,
  output logic [3:0]  dqm_o,
  output logic [31:0] dq_o,
  output logic        dq_oe_o,
  input  logic [31:0] dq_i
);
  `GS_MEM_TYPES(4, 8, 32)
  mem_req_t req;
  mem_rsp_t rsp;
  assign req = '{write: req_write_i, last: req_last_i, space: 1'b0, id: req_id_i, addr: req_addr_i, data: req_data_i};
  assign {rsp_ack_o, rsp_last_o, rsp_id_o, rsp_data_o} = {rsp.ack, rsp.last, rsp.id, rsp.data};

  gs_sdram #(
    .LineBytes(LineBytes),
    .PortBytes(4),
    .Bytes    (32'h80_0000),
    .Banks    (4),
    .RowBytes (1024),
    .BankBytes(BankBytes),
    .Burst    (Burst),
    .Cl       (Cl),
    .Rcd      (3),
    .Rp       (3),
    .Ras      (6),
    .Rrd      (2),
    .Faw      (8),
    .Wr       (2),
    .Wtr      (1),
    .Rfc      (9),
    .Refi     (450),
    .PowerUp  (600),
    .Flight   (Flight),
    .mem_req_t(mem_req_t),
    .mem_rsp_t(mem_rsp_t)
  ) u_sdram (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_i      (req),
    .req_strb_i,
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_o      (rsp),
    .ras_no,
    .cas_no,
    .we_no,
    .ba_o,
    .a_o,
    .dqm_o,
    .dq_o,
    .dq_oe_o,
    .dq_i
  );
endmodule
