// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// gs_sim_memory with the types of a configuration: it has no payloads of its own.
module lint_sim_memory
  import gossamer_pkg::*;
#(
  parameter  int unsigned PortCaches = 2,
  localparam int unsigned ThreadW    = $clog2(ThreadsPerCache),
  localparam int unsigned ReqW       = 3 + 32 + 8 * DramPortBytes + ThreadW,
  localparam int unsigned RspW       = 2 + 8 * DramPortBytes + ThreadW
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic [PortCaches-1:0]           req_valid_i,
  output logic [PortCaches-1:0]           req_ready_o,
  input  logic [PortCaches-1:0][ReqW-1:0] req_i,
  output logic [PortCaches-1:0]           rsp_valid_o,
  input  logic [PortCaches-1:0]           rsp_ready_i,
  output logic [PortCaches-1:0][RspW-1:0] rsp_o
);
  `GS_MEM_TYPES(DramPortBytes, ThreadW, 32)

  gs_sim_memory #(
    .PortCaches (PortCaches),
    .cache_req_t(mem_req_t),
    .cache_rsp_t(mem_rsp_t)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_i,
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_o
  );
endmodule
