// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// gs_memory and gs_axi4_port with the types of a configuration: they have no payloads of their own.
module lint_memory
  import gossamer_pkg::*;
#(
  parameter  int unsigned PortCaches = 2,
  localparam int unsigned Srams      = SramCount / DramCount,
  localparam int unsigned ThreadW    = $clog2(ThreadsPerCache),
  localparam int unsigned IdW        = ThreadW + $clog2(PortCaches),
  localparam int unsigned DataW      = 8 * DramPortBytes,
  localparam int unsigned ReqW       = 3 + 32 + DataW,
  localparam int unsigned RspW       = 2 + DataW
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic [PortCaches-1:0]                      req_valid_i,
  output logic [PortCaches-1:0]                      req_ready_o,
  input  logic [PortCaches-1:0][ReqW+ThreadW-1:0]    req_i,
  output logic [PortCaches-1:0]                      rsp_valid_o,
  input  logic [PortCaches-1:0]                      rsp_ready_i,
  output logic [PortCaches-1:0][RspW+ThreadW-1:0]    rsp_o,
  output logic [Srams:0]                             mem_valid_o,
  input  logic [Srams:0]                             mem_ready_i,
  output logic [Srams:0][ReqW+IdW-1:0]               mem_req_o,
  input  logic [Srams:0]                             mem_valid_i,
  output logic [Srams:0]                             mem_ready_o,
  input  logic [Srams:0][RspW+IdW-1:0]               mem_rsp_i,
  input  logic                                       axi_valid_i,
  output logic                                       axi_ready_o,
  input  logic [ReqW+IdW-1:0]                        axi_req_i,
  output logic                                       axi_valid_o,
  input  logic                                       axi_ready_i,
  output logic [RspW+IdW-1:0]                        axi_rsp_o,
  output logic                                       error_o,
  output logic                                       awvalid_o,
  input  logic                                       awready_i,
  output logic [3:0]                                 awid_o,
  output logic [31:0]                                awaddr_o,
  output logic [7:0]                                 awlen_o,
  output logic [2:0]                                 awsize_o,
  output logic [1:0]                                 awburst_o,
  output logic                                       wvalid_o,
  input  logic                                       wready_i,
  output logic [DataW-1:0]                           wdata_o,
  output logic [DramPortBytes-1:0]                   wstrb_o,
  output logic                                       wlast_o,
  input  logic                                       bvalid_i,
  output logic                                       bready_o,
  input  logic [3:0]                                 bid_i,
  input  logic [1:0]                                 bresp_i,
  output logic                                       arvalid_o,
  input  logic                                       arready_i,
  output logic [3:0]                                 arid_o,
  output logic [31:0]                                araddr_o,
  output logic [7:0]                                 arlen_o,
  output logic [2:0]                                 arsize_o,
  output logic [1:0]                                 arburst_o,
  input  logic                                       rvalid_i,
  output logic                                       rready_o,
  input  logic [3:0]                                 rid_i,
  input  logic [DataW-1:0]                           rdata_i,
  input  logic [1:0]                                 rresp_i,
  input  logic                                       rlast_i
);
  `GS_MEM_TYPES(DramPortBytes, IdW, 32)

  // The caches' side has the same with fewer bits of an id.
  typedef struct packed {
    logic               write;
    logic               last;
    logic               space;
    logic [ThreadW-1:0] id;
    logic [31:0]        addr;
    logic [DataW-1:0]   data;
  } cache_req_t;
  typedef struct packed {
    logic               ack;
    logic               last;
    logic [ThreadW-1:0] id;
    logic [DataW-1:0]   data;
  } cache_rsp_t;

  gs_memory #(
    .Caches      (PortCaches),
    .Srams       (Srams),
    .ThreadW     (ThreadW),
    .LineBytes   (CacheLineBytes),
    .PortBytes   (DramPortBytes),
    .Banks       (DramBanks),
    .RowBytes    (DramRowBytes),
    .BankBytes   ((DramRowBytes > 1024) ? 1024 : DramRowBytes),
    .cache_req_t (cache_req_t),
    .cache_rsp_t (cache_rsp_t),
    .memory_req_t(mem_req_t),
    .memory_rsp_t(mem_rsp_t)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_i,
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_o,
    .req_valid_o(mem_valid_o),
    .req_ready_i(mem_ready_i),
    .req_o      (mem_req_o),
    .rsp_valid_i(mem_valid_i),
    .rsp_ready_o(mem_ready_o),
    .rsp_i      (mem_rsp_i)
  );

  gs_axi4_port #(
    .IdW      (IdW),
    .LineBytes(CacheLineBytes),
    .PortBytes(DramPortBytes),
    .mem_req_t(mem_req_t),
    .mem_rsp_t(mem_rsp_t)
  ) u_axi4_port (
    .clk_i,
    .rst_ni,
    .req_valid_i(axi_valid_i),
    .req_ready_o(axi_ready_o),
    .req_i      (axi_req_i),
    .rsp_valid_o(axi_valid_o),
    .rsp_ready_i(axi_ready_i),
    .rsp_o      (axi_rsp_o),
    .*
  );
endmodule
