// SPDX-License-Identifier: Apache-2.0

/// The models of the memories at one memory port of a configuration: a DRAM, and its SRAMs.
module gs_sim_memory_models
  import gossamer_pkg::*;
#(
  /// SRAMs of this port
  parameter int unsigned Srams     = SramCount / DramCount,
  /// line [bytes]
  parameter int unsigned LineBytes = CacheLineBytes,
  /// payloads: GS_MEM_TYPES
  parameter type         mem_req_t = logic,
  parameter type         mem_rsp_t = logic
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  // The DRAM, then the SRAMs
  input  logic     req_valid_i[1+Srams],
  output logic     req_ready_o[1+Srams],
  input  mem_req_t req_i[1+Srams],
  output logic     rsp_valid_o[1+Srams],
  input  logic     rsp_ready_i[1+Srams],
  output mem_rsp_t rsp_o[1+Srams]
);
  // A line of DRAM holds at least one burst, and consecutive lines change banks before the row ends.
  localparam int unsigned BankBytes = (DramRowBytes > 1024) ? 1024 : DramRowBytes;
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
    .req_valid_i(req_valid_i[0]),
    .req_ready_o(req_ready_o[0]),
    .req_i      (req_i[0]),
    .rsp_valid_o(rsp_valid_o[0]),
    .rsp_ready_i(rsp_ready_i[0]),
    .rsp_o      (rsp_o[0])
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
      .req_valid_i(req_valid_i[s]),
      .req_ready_o(req_ready_o[s]),
      .req_i      (req_i[s]),
      .rsp_valid_o(rsp_valid_o[s]),
      .rsp_ready_i(rsp_ready_i[s]),
      .rsp_o      (rsp_o[s])
    );
  end
endmodule
