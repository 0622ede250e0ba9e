// SPDX-License-Identifier: Apache-2.0

/// Routes the requests of a tile's cores to caches, mailbox and control unit.
///
/// Every core has its own gs_tile_req_decode; every unit receives one request a cycle, round-robin over the cores.
/// Each merge transfers only the fields that its unit needs, and memory addresses are translated once, after the merge.
/// The mailbox reports requests that it cannot execute; these reports are arbitrated with the requests of the control
/// unit.
///
///     core 0 ==[ port ]==+==[ merge ]==> cache       addresses translated
///     core 1 ==[ port ]==+==[ merge ]==> mailbox
///        ...             +==[ merge ]==> control     rejected accesses as traps
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
    $fatal(1, "gs_tile_req_demux: DramBytes (%0d) is too small for DramThreads (%0d)", DramBytes, DramThreads);
  end

  logic        [TileCores-1:0][TileCaches-1:0] cache_valid, cache_ready;
  logic        [TileCores-1:0]                 mailbox_valid, mailbox_ready;
  logic        [TileCores-1:0]                 control_valid, control_ready;
  routed_t     routed[TileCores];
  to_mailbox_t mailbox_in[TileCores];

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
    assign mailbox_in[c] = '{
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
    // A flush selects a line by its index in the partition.
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
    .in_i       (mailbox_in),
    .out_valid_o(mailbox_valid_o),
    .out_ready_i(mailbox_ready_i),
    .out_o      (mailbox_o)
  );

  // Requests for the control unit, and the mailbox's reports
  logic    [TileCores:0] control_in_valid, control_in_ready;
  routed_t control_in[TileCores+1];
  routed_t merged;

  assign control_in_valid = {late_valid_i, control_valid};
  assign control_ready    = control_in_ready[TileCores-1:0];
  assign late_ready_o     = control_in_ready[TileCores];
  for (genvar c = 0; c < TileCores; c++) begin : gen_control_in
    assign control_in[c] = routed[c];
  end
  assign control_in[TileCores] = '{op: XTrap, thread: late_i.thread, addr: {late_i.cause, PcUnknown}, data: late_i.addr,
                             default: '0};

  gs_tile_req_arbiter #(
    .N     (TileCores + 1),
    .data_t(routed_t),
    .Slow  (1'b1)
  ) u_control (
    .clk_i,
    .rst_ni,
    .in_valid_i (control_in_valid),
    .in_ready_o (control_in_ready),
    .in_i       (control_in),
    .out_valid_o(control_valid_o),
    .out_ready_i(control_ready_i),
    .out_o      (merged)
  );

  // A load or store reaches the control unit only if its address belongs to no other unit.
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
