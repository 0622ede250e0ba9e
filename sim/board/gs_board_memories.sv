// SPDX-License-Identifier: Apache-2.0

/// The memories of a simulated board, with registers for the streams to and from the tiles' caches.
///
/// Caches are numbered tile by tile; consecutive caches share a DRAM. With `Records` the first DRAM has one more port,
/// for the records of the multicast routers.
module gs_board_memories
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  parameter bit Records = 1'b0
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  // One stream per cache
  input  logic     mem_req_valid_i[Tiles*TileCaches],
  output logic     mem_req_ready_o[Tiles*TileCaches],
  input  mem_req_t mem_req_i[Tiles*TileCaches],
  output logic     mem_rsp_valid_o[Tiles*TileCaches],
  input  logic     mem_rsp_ready_i[Tiles*TileCaches],
  output mem_rsp_t mem_rsp_o[Tiles*TileCaches],
  // Records
  input  logic     record_req_valid_i,
  output logic     record_req_ready_o,
  input  mem_req_t record_req_i,
  output logic     record_rsp_valid_o,
  input  logic     record_rsp_ready_i,
  output mem_rsp_t record_rsp_o
);
  localparam int unsigned AllCaches = Tiles * TileCaches;
  if (AllCaches != DramCount * CachesPerDram) begin : gen_illegal_caches
    $fatal(1, "gs_board_memories: %0d caches, but %0d DRAMs of %0d", AllCaches, DramCount, CachesPerDram);
  end

  for (genvar p = 0; p < DramCount; p++) begin : gen_port
    localparam int unsigned RecordPorts = (Records && p == 0) ? 1 : 0;
    localparam int unsigned Ports = CachesPerDram + RecordPorts;
    logic     [Ports-1:0] req_valid, req_ready, rsp_valid, rsp_ready;
    mem_req_t [Ports-1:0] req;
    mem_rsp_t [Ports-1:0] rsp;

    gs_sim_memory #(
      .PortCaches (Ports),
      .ThreadW    (MemIdW),
      .cache_req_t(mem_req_t),
      .cache_rsp_t(mem_rsp_t)
    ) u_memory (
      .clk_i,
      .rst_ni,
      .req_valid_i(req_valid),
      .req_ready_o(req_ready),
      .req_i      (req),
      .rsp_valid_o(rsp_valid),
      .rsp_ready_i(rsp_ready),
      .rsp_o      (rsp)
    );

    for (genvar c = 0; c < CachesPerDram; c++) begin : gen_cache
      localparam int unsigned Cache = p * CachesPerDram + c;
      gs_skid #(.data_t(mem_req_t)) u_req (
        .clk_i,
        .rst_ni,
        .in_valid_i (mem_req_valid_i[Cache]),
        .in_ready_o (mem_req_ready_o[Cache]),
        .in_data_i  (mem_req_i[Cache]),
        .out_valid_o(req_valid[c]),
        .out_ready_i(req_ready[c]),
        .out_data_o (req[c])
      );
      gs_skid #(.data_t(mem_rsp_t)) u_rsp (
        .clk_i,
        .rst_ni,
        .in_valid_i (rsp_valid[c]),
        .in_ready_o (rsp_ready[c]),
        .in_data_i  (rsp[c]),
        .out_valid_o(mem_rsp_valid_o[Cache]),
        .out_ready_i(mem_rsp_ready_i[Cache]),
        .out_data_o (mem_rsp_o[Cache])
      );
    end

    if (RecordPorts != 0) begin : gen_records
      assign req_valid[CachesPerDram] = record_req_valid_i;
      assign req[CachesPerDram]       = record_req_i;
      assign record_req_ready_o       = req_ready[CachesPerDram];
      assign record_rsp_valid_o       = rsp_valid[CachesPerDram];
      assign rsp_ready[CachesPerDram] = record_rsp_ready_i;
      assign record_rsp_o             = rsp[CachesPerDram];
    end
  end

  if (!Records) begin : gen_no_records
    assign record_req_ready_o = 1'b0;
    assign record_rsp_valid_o = 1'b0;
    assign record_rsp_o       = '0;
    logic unused;
    assign unused = ^{record_req_valid_i, record_req_i, record_rsp_ready_i};
  end
endmodule
