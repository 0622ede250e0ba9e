// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// The memories of one memory port of a configuration, for simulation: gs_memory connected to models.
module gs_sim_memory
  import gossamer_pkg::*;
#(
  /// caches at this port, bits of a thread's number in its cache
  parameter int unsigned PortCaches  = 1,
  parameter int unsigned ThreadW     = $clog2(ThreadsPerCache),
  /// SRAMs of this port
  parameter int unsigned Srams       = SramCount / DramCount,
  /// line [bytes], bits of an address
  parameter int unsigned LineBytes   = CacheLineBytes,
  parameter int unsigned AddrW       = 32,
  /// 0: the DRAM receives requests in order of arrival
  parameter bit          Scheduler   = 1'b1,
  /// payloads: GS_MEM_TYPES(DramPortBytes, ThreadW, AddrW)
  parameter type         cache_req_t = logic,
  parameter type         cache_rsp_t = logic
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic       [PortCaches-1:0] req_valid_i,
  output logic       [PortCaches-1:0] req_ready_o,
  input  cache_req_t [PortCaches-1:0] req_i,
  output logic       [PortCaches-1:0] rsp_valid_o,
  input  logic       [PortCaches-1:0] rsp_ready_i,
  output cache_rsp_t [PortCaches-1:0] rsp_o
);
  localparam int unsigned IdW = ThreadW + $clog2(PortCaches);
  // A line of DRAM holds at least one burst, and consecutive lines change banks before the row ends.
  localparam int unsigned BankBytes = (DramRowBytes > 1024) ? 1024 : DramRowBytes;

  `GS_MEM_TYPES(DramPortBytes, IdW, AddrW)

  logic     [Srams:0] req_valid, req_ready, rsp_valid, rsp_ready;
  mem_req_t [Srams:0] req;
  mem_rsp_t [Srams:0] rsp;

  gs_memory #(
    .Caches      (PortCaches),
    .Srams       (Srams),
    .ThreadW     (ThreadW),
    .LineBytes   (LineBytes),
    .PortBytes   (DramPortBytes),
    .AddrW       (AddrW),
    .Banks       (DramBanks),
    .RowBytes    (DramRowBytes),
    .BankBytes   (BankBytes),
    .Scheduler   (Scheduler),
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
    .req_valid_o(req_valid),
    .req_ready_i(req_ready),
    .req_o      (req),
    .rsp_valid_i(rsp_valid),
    .rsp_ready_o(rsp_ready),
    .rsp_i      (rsp)
  );

  // Structs in unpacked arrays, which a simulator reads in place.
  logic     model_req_valid[1+Srams], model_req_ready[1+Srams], model_rsp_valid[1+Srams], model_rsp_ready[1+Srams];
  mem_req_t model_req[1+Srams];
  mem_rsp_t model_rsp[1+Srams];
  for (genvar m = 0; m <= Srams; m++) begin : gen_model
    assign model_req_valid[m] = req_valid[m];
    assign model_req[m]       = req[m];
    assign req_ready[m]       = model_req_ready[m];
    assign rsp_valid[m]       = model_rsp_valid[m];
    assign rsp[m]             = model_rsp[m];
    assign model_rsp_ready[m] = rsp_ready[m];
  end

  gs_sim_memory_models #(
    .Srams    (Srams),
    .LineBytes(LineBytes),
    .mem_req_t(mem_req_t),
    .mem_rsp_t(mem_rsp_t)
  ) u_models (
    .clk_i,
    .rst_ni,
    .req_valid_i(model_req_valid),
    .req_ready_o(model_req_ready),
    .req_i      (model_req),
    .rsp_valid_o(model_rsp_valid),
    .rsp_ready_i(model_rsp_ready),
    .rsp_o      (model_rsp)
  );
endmodule
