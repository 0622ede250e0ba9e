// SPDX-License-Identifier: Apache-2.0

/// The path between caches and the memories of one port: the crossbar, and a scheduler upstream of the DRAM.
///
/// The memory side connects to controllers: gs_axi4_port, or the models in sim/memory. Memory 0 is the DRAM, the others
/// are the SRAMs.
module gs_memory #(
  /// caches, SRAMs of this port (0 or a power of two), bits of a thread's number in its cache
  parameter  int unsigned Caches     = 8,
  parameter  int unsigned Srams      = 2,
  parameter  int unsigned ThreadW    = 6,
  /// bytes of a line and of a beat, bits of an address
  parameter  int unsigned LineBytes  = 32,
  parameter  int unsigned PortBytes  = 32,
  parameter  int unsigned AddrW      = 32,
  /// the DRAM: banks, bytes of a row, bytes after which the next bank follows, row folded into the bank's number
  parameter  int unsigned Banks      = 8,
  parameter  int unsigned RowBytes   = 8192,
  parameter  int unsigned BankBytes  = 1024,
  parameter  bit          BankHash   = 1'b1,
  /// Scheduler = 0 omits the scheduler; its other parameters are documented in gs_mem_scheduler
  parameter  bit          Scheduler  = 1'b1,
  parameter  int unsigned RowGroups  = 4,
  parameter  int unsigned QueueDepth = 16,
  parameter  int unsigned WriteSlots = 64,
  parameter  int unsigned Run        = 16,
  parameter  int unsigned Batch      = 32,
  /// payloads, as in gs_mem_crossbar
  parameter  type         cache_req_t  = logic,
  parameter  type         cache_rsp_t  = logic,
  parameter  type         memory_req_t = logic,
  parameter  type         memory_rsp_t = logic,
  /// not to be set
  localparam int unsigned Memories   = 1 + Srams,
  localparam int unsigned IdW        = ThreadW + $clog2(Caches)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic        [Caches-1:0]   req_valid_i,
  output logic        [Caches-1:0]   req_ready_o,
  input  cache_req_t  [Caches-1:0]   req_i,
  output logic        [Caches-1:0]   rsp_valid_o,
  input  logic        [Caches-1:0]   rsp_ready_i,
  output cache_rsp_t  [Caches-1:0]   rsp_o,
  output logic        [Memories-1:0] req_valid_o,
  input  logic        [Memories-1:0] req_ready_i,
  output memory_req_t [Memories-1:0] req_o,
  input  logic        [Memories-1:0] rsp_valid_i,
  output logic        [Memories-1:0] rsp_ready_o,
  input  memory_rsp_t [Memories-1:0] rsp_i
);
  logic        [Memories-1:0] valid, ready;
  memory_req_t [Memories-1:0] req;

  gs_mem_crossbar #(
    .Caches      (Caches),
    .Srams       (Srams),
    .ThreadW     (ThreadW),
    .LineBytes   (LineBytes),
    .AddrW       (AddrW),
    .cache_req_t (cache_req_t),
    .cache_rsp_t (cache_rsp_t),
    .memory_req_t(memory_req_t),
    .memory_rsp_t(memory_rsp_t)
  ) u_crossbar (
    .clk_i,
    .rst_ni,
    .req_valid_i,
    .req_ready_o,
    .req_i,
    .rsp_valid_o,
    .rsp_ready_i,
    .rsp_o,
    .req_valid_o(valid),
    .req_ready_i(ready),
    .req_o      (req),
    .rsp_valid_i,
    .rsp_ready_o,
    .rsp_i
  );

  for (genvar m = 0; m < Memories; m++) begin : gen_memory
    if (m == 0 && Scheduler) begin : gen_scheduler
      gs_mem_scheduler #(
        .IdW       (IdW),
        .LineBytes (LineBytes),
        .PortBytes (PortBytes),
        .AddrW     (AddrW),
        .Banks     (Banks),
        .RowBytes  (RowBytes),
        .BankBytes (BankBytes),
        .BankHash  (BankHash),
        .RowGroups (RowGroups),
        .QueueDepth(QueueDepth),
        .WriteSlots(WriteSlots),
        .Run       (Run),
        .Batch     (Batch),
        .mem_req_t (memory_req_t)
      ) u_scheduler (
        .clk_i,
        .rst_ni,
        .in_valid_i (valid[m]),
        .in_ready_o (ready[m]),
        .in_i       (req[m]),
        .out_valid_o(req_valid_o[m]),
        .out_ready_i(req_ready_i[m]),
        .out_o      (req_o[m])
      );
    end else begin : gen_straight
      assign req_valid_o[m] = valid[m];
      assign ready[m]       = req_ready_i[m];
      assign req_o[m]       = req[m];
    end
  end
endmodule
