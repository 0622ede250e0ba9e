// SPDX-License-Identifier: Apache-2.0

/// The path from a board's caches to its memories: a gs_memory per DRAM, with registers for the streams to and from the
/// tiles' caches.
///
/// Caches are numbered tile by tile; consecutive caches share a DRAM and its SRAMs. With `Records` the first DRAM has
/// one more requester, for the records of the multicast routers.
module gs_board_memory
  import gs_board_memory_pkg::*;
  import gossamer_pkg::*;
#(
  /// 1: the first DRAM also stores records of multicast routers
  parameter bit Records = 1'b0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // One stream per cache
  input  logic                  cache_req_valid_i[Caches],
  output logic                  cache_req_ready_o[Caches],
  input  gs_tile_pkg::mem_req_t cache_req_i[Caches],
  output logic                  cache_rsp_valid_o[Caches],
  input  logic                  cache_rsp_ready_i[Caches],
  output gs_tile_pkg::mem_rsp_t cache_rsp_o[Caches],
  // Records
  input  logic                  record_req_valid_i,
  output logic                  record_req_ready_o,
  input  gs_tile_pkg::mem_req_t record_req_i,
  output logic                  record_rsp_valid_o,
  input  logic                  record_rsp_ready_i,
  output gs_tile_pkg::mem_rsp_t record_rsp_o,
  // Memories
  output logic                  mem_req_valid_o[Memories],
  input  logic                  mem_req_ready_i[Memories],
  output mem_req_t              mem_req_o[Memories],
  input  logic                  mem_rsp_valid_i[Memories],
  output logic                  mem_rsp_ready_o[Memories],
  input  mem_rsp_t              mem_rsp_i[Memories]
);
  if (Caches != DramCount * CachesPerDram) begin : gen_illegal_caches
    $fatal(1, "gs_board_memory: %0d caches, but %0d DRAMs of %0d", Caches, DramCount, CachesPerDram);
  end

  for (genvar p = 0; p < DramCount; p++) begin : gen_port
    localparam int unsigned RecordPorts = (Records && p == 0) ? 1 : 0;
    localparam int unsigned Requesters = CachesPerDram + RecordPorts;
    localparam int unsigned IdW = gs_tile_pkg::MemIdW + $clog2(Requesters);
    /// Payloads with identifiers as wide as this port needs
    typedef struct packed {
      logic                       write;
      logic                       last;
      logic                       space;
      logic [IdW-1:0]             id;
      logic [31:0]                addr;
      logic [8*DramPortBytes-1:0] data;
    } port_req_t;
    typedef struct packed {
      logic                       ack;
      logic                       last;
      logic [IdW-1:0]             id;
      logic [8*DramPortBytes-1:0] data;
    } port_rsp_t;

    logic [Requesters-1:0] req_valid, req_ready, rsp_valid, rsp_ready;
    gs_tile_pkg::mem_req_t [Requesters-1:0] req;
    gs_tile_pkg::mem_rsp_t [Requesters-1:0] rsp;
    logic [PortMemories-1:0] mem_req_valid, mem_req_ready, mem_rsp_valid, mem_rsp_ready;
    port_req_t [PortMemories-1:0] mem_req;
    port_rsp_t [PortMemories-1:0] mem_rsp;

    gs_memory #(
      .Caches      (Requesters),
      .Srams       (PortSrams),
      .ThreadW     (gs_tile_pkg::MemIdW),
      .LineBytes   (CacheLineBytes),
      .PortBytes   (DramPortBytes),
      .AddrW       (32),
      .Banks       (DramBanks),
      .RowBytes    (DramRowBytes),
      .BankBytes   (BankBytes),
      .cache_req_t (gs_tile_pkg::mem_req_t),
      .cache_rsp_t (gs_tile_pkg::mem_rsp_t),
      .memory_req_t(port_req_t),
      .memory_rsp_t(port_rsp_t)
    ) u_memory (
      .clk_i,
      .rst_ni,
      .req_valid_i(req_valid),
      .req_ready_o(req_ready),
      .req_i      (req),
      .rsp_valid_o(rsp_valid),
      .rsp_ready_i(rsp_ready),
      .rsp_o      (rsp),
      .req_valid_o(mem_req_valid),
      .req_ready_i(mem_req_ready),
      .req_o      (mem_req),
      .rsp_valid_i(mem_rsp_valid),
      .rsp_ready_o(mem_rsp_ready),
      .rsp_i      (mem_rsp)
    );

    for (genvar m = 0; m < PortMemories; m++) begin : gen_memory
      localparam int unsigned Memory = p * PortMemories + m;
      assign mem_req_valid_o[Memory] = mem_req_valid[m];
      assign mem_req_ready[m]        = mem_req_ready_i[Memory];
      assign mem_req_o[Memory]       = '{
          write: mem_req[m].write, last: mem_req[m].last, space: mem_req[m].space, id: PortIdW'(mem_req[m].id),
          addr: mem_req[m].addr, data: mem_req[m].data
        };
      assign mem_rsp_valid[m]        = mem_rsp_valid_i[Memory];
      assign mem_rsp_ready_o[Memory] = mem_rsp_ready[m];
      assign mem_rsp[m]              = '{
          ack: mem_rsp_i[Memory].ack, last: mem_rsp_i[Memory].last, id: IdW'(mem_rsp_i[Memory].id),
          data: mem_rsp_i[Memory].data
        };
      if (IdW < PortIdW) begin : gen_narrow
        logic unused;
        assign unused = ^mem_rsp_i[Memory].id[PortIdW-1:IdW];
      end
    end

    for (genvar c = 0; c < CachesPerDram; c++) begin : gen_cache
      localparam int unsigned Cache = p * CachesPerDram + c;
      gs_skid #(.data_t(gs_tile_pkg::mem_req_t)) u_req (
        .clk_i,
        .rst_ni,
        .in_valid_i (cache_req_valid_i[Cache]),
        .in_ready_o (cache_req_ready_o[Cache]),
        .in_data_i  (cache_req_i[Cache]),
        .out_valid_o(req_valid[c]),
        .out_ready_i(req_ready[c]),
        .out_data_o (req[c])
      );
      gs_skid #(.data_t(gs_tile_pkg::mem_rsp_t)) u_rsp (
        .clk_i,
        .rst_ni,
        .in_valid_i (rsp_valid[c]),
        .in_ready_o (rsp_ready[c]),
        .in_data_i  (rsp[c]),
        .out_valid_o(cache_rsp_valid_o[Cache]),
        .out_ready_i(cache_rsp_ready_i[Cache]),
        .out_data_o (cache_rsp_o[Cache])
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
