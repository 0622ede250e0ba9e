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

  localparam string Sizes = $sformatf(
    "core_khz=%0d line_bytes=%0d port_bytes=%0d ", ClockHz / 1000, LineBytes, DramPortBytes
  );
  localparam string DramSettings = {
    Sizes,
    $sformatf("double_rate=%0d bytes=%0d bus_bytes=%0d burst_length=%0d banks=%0d row_bytes=%0d ",
              DramKind != "sdr", 64'(DramBytes), DramBusBits / 8, DramBurstLength, DramBanks, DramRowBytes),
    $sformatf("cl=%0d cwl=%0d rcd=%0d rp=%0d ras=%0d rrd=%0d faw=%0d wr=%0d wtr=%0d rtp=%0d rfc=%0d refi=%0d ",
              DramCl, DramCwl, DramRcd, DramRp, DramRas, DramRrd, DramFaw, DramWr, DramWtr, DramRtp, DramRfc, DramRefi),
    // Data are transferred at both edges of the command clock, or at one; the bank interleave is that of the scheduler.
    $sformatf("dram_khz=%0d controller_latency=%0d bank_bytes=%0d bank_hash=1",
              DramKind != "sdr" ? DramRateMts * 500 : DramRateMts * 1000, DramControllerLatency, BankBytes)
  };
  localparam string SramSettings = {
    Sizes,
    $sformatf("bytes=%0d data_bytes=%0d sram_khz=%0d read_latency=%0d",
              64'(SramBytes), SramDataBits / 8, SramClockMhz * 1000, SramReadLatency)
  };

  gs_mem_model #(
    .Kind     ("dram"),
    .Settings (DramSettings),
    .LineBytes(LineBytes),
    .PortBytes(DramPortBytes),
    .mem_req_t(mem_req_t),
    .mem_rsp_t(mem_rsp_t)
  ) u_dram (
    .clk_i,
    .rst_ni,
    .req_valid_i(req_valid[0]),
    .req_ready_o(req_ready[0]),
    .req_i      (req[0]),
    .rsp_valid_o(rsp_valid[0]),
    .rsp_ready_i(rsp_ready[0]),
    .rsp_o      (rsp[0])
  );

  for (genvar s = 1; s <= Srams; s++) begin : gen_sram
    gs_mem_model #(
      .Kind     ("sram"),
      .Settings (SramSettings),
      .LineBytes(LineBytes),
      .PortBytes(DramPortBytes),
      .mem_req_t(mem_req_t),
      .mem_rsp_t(mem_rsp_t)
    ) u_sram (
      .clk_i,
      .rst_ni,
      .req_valid_i(req_valid[s]),
      .req_ready_o(req_ready[s]),
      .req_i      (req[s]),
      .rsp_valid_o(rsp_valid[s]),
      .rsp_ready_i(rsp_ready[s]),
      .rsp_o      (rsp[s])
    );
  end
endmodule
