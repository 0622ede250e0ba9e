// SPDX-License-Identifier: Apache-2.0

/// Brings the requests of a tile's cores to caches, mailbox and control unit.
///
/// Every core has a gs_tile_req_decode of its own; every unit takes one request a cycle, round robin over the cores. Each
/// merge carries what its unit needs, and addresses of memory are translated once, behind it. The mailbox also
/// reports what it cannot do; those reports take turns with the requests of the control unit.
///
///     core 0 ==[ port ]==+==[ merge ]==> cache       addresses translated
///     core 1 ==[ port ]==+==[ merge ]==> mailbox
///        ...             +==[ merge ]==> control     refused accesses as traps
module gs_tile_req_demux
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic           [TileCores-1:0]  in_valid_i,
  output logic           [TileCores-1:0]  in_ready_o,
  input  request_t                        in_i[TileCores],
  output logic           [TileCaches-1:0] cache_valid_o,
  input  logic           [TileCaches-1:0] cache_ready_i,
  output to_cache_t                       cache_o[TileCaches],
  output logic                            mailbox_valid_o,
  input  logic                            mailbox_ready_i,
  output to_mailbox_t                     mailbox_o,
  output logic                            control_valid_o,
  input  logic                            control_ready_i,
  output to_control_t                     control_o,
  /// reports of the mailbox
  input  logic                            late_valid_i,
  output logic                            late_ready_o,
  input  late_trap_t                      late_i
);
  if (HalfW < PartitionW + Log2LineBytes + 1) begin : gen_illegal_dram
    $fatal(1, "gs_tile_req_demux: %0d bytes of DRAM are too few for %0d threads", DramBytes, DramThreads);
  end

  logic        [TileCores-1:0][TileCaches-1:0] cache_valid, cache_ready;
  logic        [TileCores-1:0]                 mailbox_valid, mailbox_ready;
  logic        [TileCores-1:0]                 control_valid, control_ready;
  routed_t     routed[TileCores];
  to_mailbox_t for_mailbox[TileCores];

  for (genvar c = 0; c < TileCores; c++) begin : gen_port
    gs_tile_req_decode u_port (
      .clk_i,
      .rst_ni,
      .in_valid_i     (in_valid_i[c]),
      .in_ready_o     (in_ready_o[c]),
      .in_i           (in_i[c]),
      .cache_valid_o  (cache_valid[c]),
      .mailbox_valid_o(mailbox_valid[c]),
      .control_valid_o(control_valid[c]),
      .cache_ready_i  (cache_ready[c]),
      .mailbox_ready_i(mailbox_ready[c]),
      .control_ready_i(control_ready[c]),
      .out_o          (routed[c])
    );
    assign for_mailbox[c] = '{
      op: routed[c].op, funct3: routed[c].funct3, thread: routed[c].thread, addr: routed[c].addr[PadW-1:0],
      data: routed[c].data
    };
  end

  for (genvar u = 0; u < TileCaches; u++) begin : gen_cache
    logic [TileCores-1:0] valid, ready;
    routed_t merged;
    for (genvar c = 0; c < TileCores; c++) begin : gen_core
      assign valid[c]          = cache_valid[c][u];
      assign cache_ready[c][u] = ready[c];
    end
    gs_tile_req_arbiter #(
      .N     (TileCores),
      .data_t(routed_t)
    ) u_merge (
      .clk_i,
      .rst_ni,
      .in_valid_i (valid),
      .in_ready_o (ready),
      .in_i       (routed),
      .out_valid_o(cache_valid_o[u]),
      .out_ready_i(cache_ready_i[u]),
      .out_o      (merged)
    );
    // A line to flush is named by its place.
    assign cache_o[u] = '{
      flush: merged.op == XCsr, flush_all: merged.data == '1, store: merged.op == XStore,
      funct3: merged.funct3, thread: merged.thread[CacheThreadW-1:0], space: is_sram(merged.addr[31:30]),
      addr: (merged.op == XCsr) ? merged.data : physical(merged.addr), data: merged.data
    };
    logic unused_merged;
    assign unused_merged = ^{merged.guarded, merged.thread};
  end

  gs_tile_req_arbiter #(
    .N     (TileCores),
    .data_t(to_mailbox_t)
  ) u_mailbox (
    .clk_i,
    .rst_ni,
    .in_valid_i (mailbox_valid),
    .in_ready_o (mailbox_ready),
    .in_i       (for_mailbox),
    .out_valid_o(mailbox_valid_o),
    .out_ready_i(mailbox_ready_i),
    .out_o      (mailbox_o)
  );

  // Requests for the control unit, and the mailbox's reports
  logic    [TileCores:0] told_valid, told_ready;
  routed_t told[TileCores+1];
  routed_t merged;

  assign told_valid    = {late_valid_i, control_valid};
  assign control_ready = told_ready[TileCores-1:0];
  assign late_ready_o  = told_ready[TileCores];
  for (genvar c = 0; c < TileCores; c++) begin : gen_told
    assign told[c] = routed[c];
  end
  assign told[TileCores] = '{op: XTrap, thread: late_i.thread, addr: {late_i.cause, PcUnknown}, data: late_i.addr,
                             default: '0};

  gs_tile_req_arbiter #(
    .N     (TileCores + 1),
    .data_t(routed_t),
    .Slow  (1'b1)
  ) u_control (
    .clk_i,
    .rst_ni,
    .in_valid_i (told_valid),
    .in_ready_o (told_ready),
    .in_i       (told),
    .out_valid_o(control_valid_o),
    .out_ready_i(control_ready_i),
    .out_o      (merged)
  );

  // A load or store comes here if no unit answers it.
  always_comb begin
    control_o = '{op: merged.op, funct3: merged.funct3, thread: merged.thread, addr: merged.addr, data: merged.data};
    if (merged.op == XLoad || merged.op == XStore) begin
      control_o.op   = XTrap;
      control_o.addr = {merged.guarded ? TrapStackOverflow : (merged.op == XStore) ? TrapStoreFault : TrapLoadFault,
                        PcUnknown};
      control_o.data = merged.addr;
    end
  end
endmodule
