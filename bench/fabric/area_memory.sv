// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// What stands between a board's caches and one DRAM with its SRAMs, crossbar and scheduler, for its area.
module area_memory
  import gossamer_pkg::*;
  import gs_tile_pkg::*;
#(
  /// caches, and with multicast routers their records' port
  parameter  int unsigned Ports = CachesPerDram,
  localparam int unsigned Srams = SramCount / DramCount,
  localparam int unsigned IdW   = MemIdW + $clog2(Ports),
  // A response's bits at a memory: ack, last, id, data; a request's: write, last, space, id, address, data.
  localparam int unsigned RspW  = 2 + IdW + 8 * DramPortBytes,
  localparam int unsigned ReqW  = 3 + IdW + 32 + 8 * DramPortBytes
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic     [Ports-1:0] req_valid_i,
  output logic     [Ports-1:0] req_ready_o,
  input  mem_req_t [Ports-1:0] req_i,
  output logic     [Ports-1:0] rsp_valid_o,
  input  logic     [Ports-1:0] rsp_ready_i,
  output mem_rsp_t [Ports-1:0] rsp_o,
  output logic     [Srams:0]   req_valid_o,
  input  logic     [Srams:0]   req_ready_i,
  output logic     [Srams:0][ReqW-1:0] req_o,
  input  logic     [Srams:0]   rsp_valid_i,
  output logic     [Srams:0]   rsp_ready_o,
  input  logic     [Srams:0][RspW-1:0] rsp_i
);
  typedef mem_req_t cache_req_t;
  typedef mem_rsp_t cache_rsp_t;
  if (1) begin : gen_memory
    `GS_MEM_TYPES(DramPortBytes, IdW, 32)
    mem_req_t [Srams:0] req;
    mem_rsp_t [Srams:0] rsp;
    assign req_o = req;
    assign rsp = rsp_i;
    gs_memory #(
      .Caches      (Ports),
      .Srams       (Srams),
      .ThreadW     (MemIdW),
      .LineBytes   (CacheLineBytes),
      .PortBytes   (DramPortBytes),
      .AddrW       (32),
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
      .req_valid_o,
      .req_ready_i,
      .req_o (req),
      .rsp_valid_i,
      .rsp_ready_o,
      .rsp_i (rsp)
    );
  end
endmodule
