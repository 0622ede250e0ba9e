// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// Crossbar and scheduler with four caches' streams, an AXI4 port for the DRAM and two plain streams for SRAMs, for a
/// harness that emulates caches, AXI memory and SRAMs.
module memory_top #(
  parameter int unsigned LineBytes = 64,
  parameter int unsigned PortBytes = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // caches
  input  logic                   req_valid_i[4],
  output logic                   req_ready_o[4],
  input  logic                   req_write_i[4],
  input  logic                   req_last_i[4],
  input  logic                   req_space_i[4],
  input  logic [3:0]             req_id_i[4],
  input  logic [31:0]            req_addr_i[4],
  input  logic [8*PortBytes-1:0] req_data_i[4],
  output logic                   rsp_valid_o[4],
  input  logic                   rsp_ready_i[4],
  output logic                   rsp_ack_o[4],
  output logic                   rsp_last_o[4],
  output logic [3:0]             rsp_id_o[4],
  output logic [8*PortBytes-1:0] rsp_data_o[4],
  // SRAMs
  output logic                   sreq_valid_o[2],
  input  logic                   sreq_ready_i[2],
  output logic                   sreq_write_o[2],
  output logic                   sreq_last_o[2],
  output logic [5:0]             sreq_id_o[2],
  output logic [31:0]            sreq_addr_o[2],
  output logic [8*PortBytes-1:0] sreq_data_o[2],
  input  logic                   srsp_valid_i[2],
  output logic                   srsp_ready_o[2],
  input  logic                   srsp_ack_i[2],
  input  logic                   srsp_last_i[2],
  input  logic [5:0]             srsp_id_i[2],
  input  logic [8*PortBytes-1:0] srsp_data_i[2],
  // AXI
  output logic                   awvalid_o,
  input  logic                   awready_i,
  output logic [3:0]             awid_o,
  output logic [31:0]            awaddr_o,
  output logic [7:0]             awlen_o,
  output logic [2:0]             awsize_o,
  output logic [1:0]             awburst_o,
  output logic                   wvalid_o,
  input  logic                   wready_i,
  output logic [8*PortBytes-1:0] wdata_o,
  output logic [PortBytes-1:0]   wstrb_o,
  output logic                   wlast_o,
  input  logic                   bvalid_i,
  output logic                   bready_o,
  input  logic [3:0]             bid_i,
  input  logic [1:0]             bresp_i,
  output logic                   arvalid_o,
  input  logic                   arready_i,
  output logic [3:0]             arid_o,
  output logic [31:0]            araddr_o,
  output logic [7:0]             arlen_o,
  output logic [2:0]             arsize_o,
  output logic [1:0]             arburst_o,
  input  logic                   rvalid_i,
  output logic                   rready_o,
  input  logic [3:0]             rid_i,
  input  logic [8*PortBytes-1:0] rdata_i,
  input  logic [1:0]             rresp_i,
  input  logic                   rlast_i,
  output logic                   error_o
);
  typedef struct packed {
    logic                   write, last, space;
    logic [3:0]             id;
    logic [31:0]            addr;
    logic [8*PortBytes-1:0] data;
  } creq_t;
  typedef struct packed {
    logic                   ack, last;
    logic [3:0]             id;
    logic [8*PortBytes-1:0] data;
  } crsp_t;
  `GS_MEM_TYPES(PortBytes, 6, 32)

  logic     [3:0] creq_valid, creq_ready, crsp_valid, crsp_ready;
  creq_t    [3:0] creq;
  crsp_t    [3:0] crsp;
  logic     [2:0] mreq_valid, mreq_ready, mrsp_valid, mrsp_ready;
  mem_req_t [2:0] mreq;
  mem_rsp_t [2:0] mrsp;

  for (genvar c = 0; c < 4; c++) begin : gen_cache
    assign creq_valid[c]  = req_valid_i[c];
    assign req_ready_o[c] = creq_ready[c];
    assign creq[c] = '{write: req_write_i[c], last: req_last_i[c], space: req_space_i[c], id: req_id_i[c],
                       addr: req_addr_i[c], data: req_data_i[c]};
    assign rsp_valid_o[c] = crsp_valid[c];
    assign crsp_ready[c]  = rsp_ready_i[c];
    assign rsp_ack_o[c]   = crsp[c].ack;
    assign rsp_last_o[c]  = crsp[c].last;
    assign rsp_id_o[c]    = crsp[c].id;
    assign rsp_data_o[c]  = crsp[c].data;
  end

  for (genvar s = 0; s < 2; s++) begin : gen_sram
    assign sreq_valid_o[s]  = mreq_valid[s+1];
    assign mreq_ready[s+1]  = sreq_ready_i[s];
    assign sreq_write_o[s]  = mreq[s+1].write;
    assign sreq_last_o[s]   = mreq[s+1].last;
    assign sreq_id_o[s]     = mreq[s+1].id;
    assign sreq_addr_o[s]   = mreq[s+1].addr;
    assign sreq_data_o[s]   = mreq[s+1].data;
    assign mrsp_valid[s+1]  = srsp_valid_i[s];
    assign srsp_ready_o[s]  = mrsp_ready[s+1];
    assign mrsp[s+1]        = '{ack: srsp_ack_i[s], last: srsp_last_i[s], id: srsp_id_i[s], data: srsp_data_i[s]};
  end

  gs_memory #(
    .Caches      (4),
    .Srams       (2),
    .ThreadW     (4),
    .LineBytes   (LineBytes),
    .PortBytes   (PortBytes),
    .Banks       (8),
    .RowBytes    (1024),
    .BankBytes   (256),
    .RowGroups   (4),
    .QueueDepth  (8),
    .WriteSlots  (16),
    .Run         (6),
    .Batch       (16),
    .cache_req_t (creq_t),
    .cache_rsp_t (crsp_t),
    .memory_req_t(mem_req_t),
    .memory_rsp_t(mem_rsp_t)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .req_valid_i(creq_valid),
    .req_ready_o(creq_ready),
    .req_i      (creq),
    .rsp_valid_o(crsp_valid),
    .rsp_ready_i(crsp_ready),
    .rsp_o      (crsp),
    .req_valid_o(mreq_valid),
    .req_ready_i(mreq_ready),
    .req_o      (mreq),
    .rsp_valid_i(mrsp_valid),
    .rsp_ready_o(mrsp_ready),
    .rsp_i      (mrsp)
  );

  gs_axi4_port #(
    .IdW        (6),
    .LineBytes  (LineBytes),
    .PortBytes  (PortBytes),
    .Outstanding(8),
    .AxiId      (4'd5),
    .Base       (32'h1000_0000),
    .mem_req_t  (mem_req_t),
    .mem_rsp_t  (mem_rsp_t)
  ) u_axi (
    .clk_i,
    .rst_ni,
    .req_valid_i(mreq_valid[0]),
    .req_ready_o(mreq_ready[0]),
    .req_i      (mreq[0]),
    .rsp_valid_o(mrsp_valid[0]),
    .rsp_ready_i(mrsp_ready[0]),
    .rsp_o      (mrsp[0]),
    .error_o,
    .awvalid_o, .awready_i, .awid_o, .awaddr_o, .awlen_o, .awsize_o, .awburst_o,
    .wvalid_o, .wready_i, .wdata_o, .wstrb_o, .wlast_o,
    .bvalid_i, .bready_o, .bid_i, .bresp_i,
    .arvalid_o, .arready_i, .arid_o, .araddr_o, .arlen_o, .arsize_o, .arburst_o,
    .rvalid_i, .rready_o, .rid_i, .rdata_i, .rresp_i, .rlast_i
  );

  // The space field is unused downstream of the crossbar.
  logic unused;
  assign unused = ^{mreq[1].space, mreq[2].space};
endmodule
