// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// The memory of a board with one SDRAM, as it is beside the board and the shell: the controller, and the bridge
/// through which the shell uses the upper half.
module ecp5_memory
  import gossamer_pkg::*;
#(
  localparam int unsigned IdW = gs_board_memory_pkg::PortIdW + 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        shell_clk_i,
  input  logic        shell_rst_ni,
  // Board, as at gs_board
  input  logic        req_valid_i,
  output logic        req_ready_o,
  input  gs_board_memory_pkg::mem_req_t req_i,
  output logic        rsp_valid_o,
  input  logic        rsp_ready_i,
  output gs_board_memory_pkg::mem_rsp_t rsp_o,
  // Shell, as at gs_shell
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
  // SDRAM, as at gs_sdram
  output logic        ras_no,
  output logic        cas_no,
  output logic        we_no,
  output logic [$clog2(DramBanks)-1:0] ba_o,
  output logic [10:0] a_o,
  output logic [DramPortBytes-1:0] dqm_o,
  output logic [8*DramPortBytes-1:0] dq_o,
  output logic        dq_oe_o,
  input  logic [8*DramPortBytes-1:0] dq_i
);
  `GS_MEM_TYPES(DramPortBytes, IdW, 32)
  typedef struct packed {
    logic [DramPortBytes-1:0] strb;
    mem_req_t                 req;
  } masked_t;

  logic [1:0] req_valid, req_ready, req_last;
  masked_t req[2];
  masked_t merged;
  logic merged_valid, merged_ready, rsp_valid, rsp_ready, shell_rsp_ready;
  mem_req_t shell_req;
  mem_rsp_t rsp;

  // The highest bit of an identifier is the shell's.
  assign req_valid[0] = req_valid_i;
  assign req_ready_o  = req_ready[0];
  always_comb begin
    req[0]       = '{strb: '1, req: '0};
    req[0].req   = '{write: req_i.write, last: req_i.last, space: req_i.space, id: IdW'(req_i.id), addr: req_i.addr,
                     data: req_i.data};
    req[1].req   = shell_req;
    req[1].req.id = IdW'(1) << (IdW - 1);
  end
  assign req_last = {req[1].req.last, req[0].req.last};
  gs_axi4_lines #(
    .LineBytes(CacheLineBytes),
    .PortBytes(DramPortBytes),
    .AddrW    ($clog2(DramBytes)),
    .Base     (32'(DramBytes)),
    .mem_req_t(mem_req_t),
    .mem_rsp_t(mem_rsp_t)
  ) u_lines (
    .clk_i      (shell_clk_i),
    .rst_ni     (shell_rst_ni),
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
    .mem_clk_i  (clk_i),
    .mem_rst_ni (rst_ni),
    .req_valid_o(req_valid[1]),
    .req_ready_i(req_ready[1]),
    .req_o      (shell_req),
    .req_strb_o (req[1].strb),
    .rsp_valid_i(rsp_valid && rsp.id[IdW-1]),
    .rsp_ready_o(shell_rsp_ready),
    .rsp_i      (rsp)
  );
  gs_mem_arbiter #(
    .N     (2),
    .data_t(masked_t)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .in_valid_i (req_valid),
    .in_ready_o (req_ready),
    .in_last_i  (req_last),
    .in_data_i  (req),
    .out_valid_o(merged_valid),
    .out_ready_i(merged_ready),
    .out_data_o (merged)
  );
  gs_sdram #(
    .LineBytes(CacheLineBytes),
    .Bytes    (2 * DramBytes),
    .BankBytes(gs_board_memory_pkg::BankBytes),
    .mem_req_t(mem_req_t),
    .mem_rsp_t(mem_rsp_t)
  ) u_sdram (
    .clk_i,
    .rst_ni,
    .req_valid_i(merged_valid),
    .req_ready_o(merged_ready),
    .req_i      (merged.req),
    .req_strb_i (merged.strb),
    .rsp_valid_o(rsp_valid),
    .rsp_ready_i(rsp_ready),
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
  assign rsp_valid_o = rsp_valid && !rsp.id[IdW-1];
  assign rsp_ready   = rsp.id[IdW-1] ? shell_rsp_ready : rsp_ready_i;
  assign rsp_o = '{ack: rsp.ack, last: rsp.last, id: rsp.id[IdW-2:0], data: rsp.data};
endmodule
