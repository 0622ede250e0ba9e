// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Crossbar between caches and memories: memory 0 is the DRAM, the others are SRAMs interleaved by line.
///
///     cache 0 --+--[ arbiter ]--[ skid ]--> DRAM          one arbiter for each memory for requests,
///     cache 1 --+--[ arbiter ]--[ skid ]--> SRAM 0        one for each cache for responses;
///        ...    +--[ arbiter ]--[ skid ]--> SRAM 1        neither interleaves bursts
///
/// On the memories' side an id is {cache, thread}. Requests of a cache to one memory stay in order.
module gs_mem_crossbar #(
  /// caches, 1 or more
  parameter  int unsigned Caches       = 8,
  /// SRAMs, 0 or a power of two
  parameter  int unsigned Srams        = 2,
  /// bits of an id on the caches' side
  parameter  int unsigned ThreadW      = 6,
  /// bytes of a line
  parameter  int unsigned LineBytes    = 32,
  /// bits of an address
  parameter  int unsigned AddrW        = 32,
  /// payloads at the caches: GS_MEM_TYPES(PortBytes, ThreadW, AddrW); at the memories: with IdW for ThreadW
  parameter  type         cache_req_t  = logic,
  parameter  type         cache_rsp_t  = logic,
  parameter  type         memory_req_t = logic,
  parameter  type         memory_rsp_t = logic,
  /// memories, bits of an id on their side; not to be set
  localparam int unsigned Memories     = 1 + Srams,
  localparam int unsigned IdW          = ThreadW + $clog2(Caches)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // caches
  input  logic        [Caches-1:0]   req_valid_i,
  output logic        [Caches-1:0]   req_ready_o,
  input  cache_req_t  [Caches-1:0]   req_i,
  output logic        [Caches-1:0]   rsp_valid_o,
  input  logic        [Caches-1:0]   rsp_ready_i,
  output cache_rsp_t  [Caches-1:0]   rsp_o,
  // memories
  output logic        [Memories-1:0] req_valid_o,
  input  logic        [Memories-1:0] req_ready_i,
  output memory_req_t [Memories-1:0] req_o,
  input  logic        [Memories-1:0] rsp_valid_i,
  output logic        [Memories-1:0] rsp_ready_o,
  input  memory_rsp_t [Memories-1:0] rsp_i
);
  if (Caches < 1) begin : gen_illegal_caches
    $fatal(1, "gs_mem_crossbar: Caches is 0; it must be 1 or more");
  end
  if (Srams != 0 && 1 << $clog2(Srams) != Srams) begin : gen_illegal_srams
    $fatal(1, "gs_mem_crossbar: Srams is %0d; it must be 0 or a power of two, for interleaving", Srams);
  end

  localparam int unsigned OffW = $clog2(LineBytes);
  localparam int unsigned LogSrams = (Srams > 1) ? $clog2(Srams) : 0;
  localparam int unsigned MemW = (Memories > 1) ? $clog2(Memories) : 1;

  // Requests.
  logic        [Caches-1:0][Memories-1:0] out_valid, out_ready;
  memory_req_t                            out_req[Caches];

  for (genvar c = 0; c < Caches; c++) begin : gen_out
    logic [MemW-1:0] memory;
    always_comb begin
      memory     = '0;
      out_req[c] = '{
        write: req_i[c].write, last: req_i[c].last, space: req_i[c].space,
        id: IdW'(32'(c) << ThreadW) | IdW'(req_i[c].id), addr: req_i[c].addr, data: req_i[c].data
      };
      if (Srams > 0 && req_i[c].space) begin
        memory = MemW'(1) + (MemW'(req_i[c].addr >> OffW) & MemW'(Srams - 1));
        // The remaining bits of the line's number are its line number in that SRAM.
        out_req[c].addr = ((req_i[c].addr >> (OffW + LogSrams)) << OffW) | (req_i[c].addr & AddrW'(LineBytes - 1));
      end
      for (int unsigned m = 0; m < Memories; m++) out_valid[c][m] = req_valid_i[c] && memory == MemW'(m);
      req_ready_o[c] = out_ready[c][memory];
    end
  end

  for (genvar m = 0; m < Memories; m++) begin : gen_memory
    logic        [Caches-1:0] valid, ready, last;
    logic                     joined_valid, joined_ready;
    memory_req_t              joined;

    for (genvar c = 0; c < Caches; c++) begin : gen_in
      assign valid[c]        = out_valid[c][m];
      assign last[c]         = out_req[c].last;
      assign out_ready[c][m] = ready[c];
    end

    gs_mem_arbiter #(
      .N     (Caches),
      .data_t(memory_req_t)
    ) u_arbiter (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid),
      .in_ready_o (ready),
      .in_last_i  (last),
      .in_data_i  (out_req),
      .out_valid_o(joined_valid),
      .out_ready_i(joined_ready),
      .out_data_o (joined)
    );

    gs_skid #(
      .data_t(memory_req_t)
    ) u_skid (
      .clk_i,
      .rst_ni,
      .in_valid_i (joined_valid),
      .in_ready_o (joined_ready),
      .in_data_i  (joined),
      .out_valid_o(req_valid_o[m]),
      .out_ready_i(req_ready_i[m]),
      .out_data_o (req_o[m])
    );
  end

  // Responses.
  logic        [Memories-1:0]             mem_rsp_valid, mem_rsp_ready;
  memory_rsp_t                            mem_rsp[Memories];
  logic        [Memories-1:0][Caches-1:0] mem_rsp_to;
  logic        [Caches-1:0][Memories-1:0] cache_rsp_ready;
  cache_rsp_t                             cache_rsp[Memories];
  logic        [Memories-1:0]             cache_rsp_last;

  for (genvar m = 0; m < Memories; m++) begin : gen_mem_rsp
    gs_skid #(
      .data_t(memory_rsp_t)
    ) u_skid (
      .clk_i,
      .rst_ni,
      .in_valid_i (rsp_valid_i[m]),
      .in_ready_o (rsp_ready_o[m]),
      .in_data_i  (rsp_i[m]),
      .out_valid_o(mem_rsp_valid[m]),
      .out_ready_i(mem_rsp_ready[m]),
      .out_data_o (mem_rsp[m])
    );
    for (genvar c = 0; c < Caches; c++) begin : gen_dest
      assign mem_rsp_to[m][c] = 32'(mem_rsp[m].id) >> ThreadW == 32'(c);
    end
    always_comb begin
      mem_rsp_ready[m] = 1'b0;
      for (int unsigned c = 0; c < Caches; c++) if (mem_rsp_to[m][c]) mem_rsp_ready[m] = cache_rsp_ready[c][m];
    end
    assign cache_rsp[m]      = '{
      ack: mem_rsp[m].ack, last: mem_rsp[m].last, id: ThreadW'(mem_rsp[m].id), data: mem_rsp[m].data
    };
    assign cache_rsp_last[m] = mem_rsp[m].last;
  end

  for (genvar c = 0; c < Caches; c++) begin : gen_cache_rsp
    logic [Memories-1:0] valid;
    for (genvar m = 0; m < Memories; m++) begin : gen_valid
      assign valid[m] = mem_rsp_valid[m] && mem_rsp_to[m][c];
    end

    gs_mem_arbiter #(
      .N     (Memories),
      .data_t(cache_rsp_t)
    ) u_arbiter (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid),
      .in_ready_o (cache_rsp_ready[c]),
      .in_last_i  (cache_rsp_last),
      .in_data_i  (cache_rsp),
      .out_valid_o(rsp_valid_o[c]),
      .out_ready_i(rsp_ready_i[c]),
      .out_data_o (rsp_o[c])
    );
  end

  for (genvar c = 0; c < Caches; c++) begin : gen_check
    `GS_ASSUME_HOLD(request_is_stable_while_it_waits, req_valid_i[c], req_ready_o[c], req_i[c])
    if (Srams == 0) begin : gen_no_sram
      `GS_ASSUME_NOW(no_sram_request_without_sram, !req_valid_i[c] || !req_i[c].space)
    end
  end
endmodule
