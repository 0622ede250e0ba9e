// SPDX-License-Identifier: Apache-2.0

/// Finds out whom a request is for, translates its address, and refuses what nobody answers.
///
/// A refused load or store goes on as a trap for the control unit. Two cycles, one request a cycle.
///
///     request ->[ request, guard ]-> decode, translate ->[ two places ]-> units
///
///     address                   goes to      as
///     ScratchpadBase            mailbox      offset in the scratchpad
///     SramBase                  cache        SRAM
///     DramBase                  cache        DRAM, lower 1 GB
///     PartitionBase {p, l, b}   cache        DRAM, upper half, {l, p, b}: line l of every thread p side by side
module gs_route_port
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
#(
  /// 1: requests are those of one core, whose threads can have guards
  parameter bit Guarded = 1'b1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  request_t              in_i,
  /// one of them is 1 if there is a request: the caches', the mailbox', the control unit's
  output logic [TileCaches-1:0] cache_valid_o,
  output logic                  mailbox_valid_o,
  output logic                  control_valid_o,
  input  logic [TileCaches-1:0] cache_ready_i,
  input  logic                  mailbox_ready_i,
  input  logic                  control_ready_i,
  output routed_t               out_o
);
  // The windows' sizes. Partitions: the upper half of the DRAM, at most 2 GB.
  localparam int unsigned DirectW = (DramW > 30) ? 30 : DramW;
  localparam int unsigned HalfW = DramW - 1;
  localparam int unsigned CacheW = (TileCaches > 1) ? $clog2(TileCaches) : 1;

  if (HalfW < PartitionW + Log2LineBytes + 1) begin : gen_illegal_dram
    $fatal(1, "gs_route_port: %0d bytes of DRAM are too few for %0d threads", DramBytes, DramThreads);
  end

  logic in_sram;
  logic to_cache, to_mailbox, to_control;
  logic [CacheW-1:0] cache;
  logic free;
  routed_t out_d;

  // The request, and beside it what its thread's guard is: nobody but the thread changes that, and the thread waits.
  logic valid_q, guard_set;
  request_t req_q;

  // The block that a thread must not touch. Contents are not reset: a bit beside says whether there is one. What a
  // thread writes is there when its next request comes.
  localparam int unsigned GuardW = $clog2(GuardBytes);
  logic [31:GuardW] guard_block_next, guard_block, guard_value;
  logic guard_set_next, is_guard;

  if (Guarded) begin : gen_guard
    logic [ThreadsPerCore-1:0] set_q;
    logic we_q;
    logic [TidW-1:0] tid_q;
    logic [31:GuardW] data_q;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        we_q  <= 1'b0;
        set_q <= '0;
      end else begin
        we_q <= valid_q && free && is_guard && req_q.funct3[0];
        if (we_q) set_q[tid_q] <= data_q != '0;
      end
      tid_q  <= req_q.thread[TidW-1:0];
      data_q <= req_q.data[31:GuardW];
    end

    assign guard_set_next = set_q[in_i.thread[TidW-1:0]];
    gs_ram_sdp #(
      .Width  (32 - GuardW),
      .Depth  (ThreadsPerCore),
      .Latency(0),
      .Style  ("distributed")
    ) u_guard (
      .clk_i,
      .we_i   (we_q),
      .wstrb_i(1'b1),
      .waddr_i(tid_q),
      .wdata_i(data_q),
      .re_i   (1'b1),
      .raddr_i(in_i.thread[TidW-1:0]),
      .rdata_o(guard_block_next)
    );
  end else begin : gen_no_guard
    assign guard_set_next   = 1'b0;
    assign guard_block_next = '0;
  end

  assign in_ready_o = !valid_q || free;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (in_ready_o) valid_q <= in_valid_i;
    if (in_ready_o && in_valid_i) begin
      req_q       <= in_i;
      guard_block <= guard_block_next;
      guard_set   <= guard_set_next;
    end
  end

  if (SramReach != 0) begin : gen_sram
    assign in_sram = req_q.addr[31:28] == SramBase[31:28] && req_q.addr[27:0] < 28'(SramReach);
  end else begin : gen_no_sram
    assign in_sram = 1'b0;
  end

  assign guard_value = guard_block & {(32 - GuardW) {guard_set}};

  // Without a request nothing of it matters: the simulator need not look.
  always_comb begin
    automatic logic in_pad, in_direct, in_partition, is_memory, is_csr, guarded;
    automatic logic [31:0] phys, interleaved;
    out_d      = 'x;
    cache      = 'x;
    to_cache   = 1'b0;
    to_mailbox = 1'b0;
    to_control = 1'b0;
    is_guard   = 1'b0;
    if (valid_q) begin
      is_memory    = req_q.op == XLoad || req_q.op == XStore;
      is_csr       = req_q.op == XCsr;
      in_pad       = req_q.addr[31:20] == ScratchpadBase[31:20] && {12'd0, req_q.addr[19:0]} < 32'(ScratchpadBytes);
      in_direct    = req_q.addr[31:30] == DramBase[31:30] && {2'b00, req_q.addr[29:0]} < 32'd1 << DirectW;
      in_partition = req_q.addr[31] && {1'b0, req_q.addr[30:0]} < 32'd1 << HalfW;
      guarded      = guard_set && req_q.addr[31:GuardW] == guard_block;
      is_guard     = is_csr && req_q.addr[11:0] == CsrGuard;

      interleaved  = 32'd1 << HalfW
                   | 32'(req_q.addr[HalfW-PartitionW-1:Log2LineBytes]) << (Log2LineBytes + PartitionW)
                   | 32'(req_q.addr[HalfW-1-:PartitionW]) << Log2LineBytes
                   | 32'(req_q.addr[Log2LineBytes-1:0]);
      phys         = req_q.addr[31] ? interleaved
                   : req_q.addr[30] ? {2'b00, req_q.addr[29:0]}
                   :                 {4'b0000, req_q.addr[27:0]};

      out_d = '{op: req_q.op, funct3: req_q.funct3, thread: req_q.thread, space: !req_q.addr[31] && !req_q.addr[30],
                flush_all: req_q.data == '1, flush: is_csr, addr: req_q.addr, data: req_q.data};
      to_cache   = is_memory && (in_sram || in_direct || in_partition) && !guarded;
      to_mailbox = is_memory && in_pad && !guarded;
      if (is_csr) begin
        to_cache   = csr_unit(req_q.addr[11:0]) == CsrUnitCache;
        to_mailbox = csr_unit(req_q.addr[11:0]) == CsrUnitMailbox;
      end
      to_control = !to_cache && !to_mailbox;
      if (to_cache) out_d.addr = is_csr ? req_q.data : phys;
      if (is_guard) out_d.data = {guard_value, {GuardW{1'b0}}};
      if (is_memory && to_control) begin
        out_d.op   = XTrap;
        out_d.addr = {guarded ? TrapStackOverflow : (req_q.op == XStore) ? TrapStoreFault : TrapLoadFault, PcUnknown};
        out_d.data = req_q.addr;
      end
      cache = CacheW'(32'(req_q.thread) >> CacheThreadW);
    end
  end

  logic [TileCaches-1:0] to_caches;
  assign to_caches = TileCaches'(to_cache) << cache;

  gs_sort_queue #(
    .N     (TileCaches + 2),
    .data_t(routed_t)
  ) u_sorted (
    .clk_i,
    .rst_ni,
    .in_valid_i (valid_q),
    .in_ready_o (free),
    .in_to_i    ({to_caches, to_mailbox, to_control}),
    .in_data_i  (out_d),
    .out_valid_o({cache_valid_o, mailbox_valid_o, control_valid_o}),
    .out_ready_i({cache_ready_i, mailbox_ready_i, control_ready_i}),
    .out_data_o (out_o)
  );
endmodule
