// SPDX-License-Identifier: Apache-2.0

/// Selects the unit of a core's request by address or register, and detects requests of no unit.
///
/// The control unit receives the latter and traps them. Two cycles of latency, one request a cycle.
///
///     request ->[ request, guard ]-> decode ->[ queue of two ]-> units
module gs_tile_req_decode
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  request_t              in_i,
  /// one-hot over caches, mailbox and control unit if there is a request, else 0
  output logic [TileCaches-1:0] cache_valid_o,
  output logic                  mailbox_valid_o,
  output logic                  control_valid_o,
  input  logic [TileCaches-1:0] cache_ready_i,
  input  logic                  mailbox_ready_i,
  input  logic                  control_ready_i,
  output routed_t               out_o
);
  localparam int unsigned CacheW = (TileCaches > 1) ? $clog2(TileCaches) : 1;

  logic to_cache, to_mailbox, to_control;
  logic [CacheW-1:0] cache;
  logic free;
  routed_t out_d;

  // The request, and the guard of its thread: no other thread changes the guard, and this one waits.
  logic valid_q, guard_set_q;
  request_t req_q;

  // The block that a thread must not access. The RAM is not reset: a bit for each thread is 1 if its guard is set. A
  // thread's write takes effect before its next request.
  localparam int unsigned GuardW = $clog2(GuardBytes);
  logic [31:GuardW] guard_block_q, guard_block;
  logic is_guard, we_q;
  logic [ThreadsPerCore-1:0] set_q;
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
    .rdata_o(guard_block)
  );

  assign in_ready_o = !valid_q || free;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (in_ready_o) valid_q <= in_valid_i;
    if (in_ready_o && in_valid_i) begin
      req_q         <= in_i;
      guard_block_q <= guard_block;
      guard_set_q   <= set_q[in_i.thread[TidW-1:0]];
    end
  end

  // Without a request the outputs are unused: the simulator need not evaluate them.
  always_comb begin
    automatic logic is_memory, in_pad, guarded;
    out_d      = 'x;
    cache      = 'x;
    to_cache   = 1'b0;
    to_mailbox = 1'b0;
    to_control = 1'b0;
    is_guard   = 1'b0;
    if (valid_q) begin
      is_memory = req_q.op == XLoad || req_q.op == XStore;
      in_pad    = req_q.addr[31:20] == ScratchpadBase[31:20] && {12'd0, req_q.addr[19:0]} < 32'(ScratchpadBytes);
      guarded   = guard_set_q && req_q.addr[31:GuardW] == guard_block_q;
      is_guard  = req_q.op == XCsr && req_q.addr[11:0] == CsrGuard;
      out_d     = '{op: req_q.op, funct3: req_q.funct3, guarded: guarded, thread: req_q.thread, addr: req_q.addr,
                    data: req_q.data};
      if (is_guard) out_d.data = {guard_block_q & {(32 - GuardW) {guard_set_q}}, {GuardW{1'b0}}};
      if (is_memory) begin
        to_cache   = is_mapped(req_q.addr) && !guarded;
        to_mailbox = in_pad && !guarded;
      end else if (req_q.op == XCsr) begin
        // The mailbox and the control unit check the access to their registers themselves.
        to_cache   = csr_unit(req_q.addr[11:0]) == CsrUnitCache
            && (req_q.funct3[0] ? csr_writable(req_q.addr[11:0]) : csr_readable(req_q.addr[11:0]));
        to_mailbox = csr_unit(req_q.addr[11:0]) == CsrUnitMailbox;
      end
      to_control = !to_cache && !to_mailbox;
      cache      = CacheW'(32'(req_q.thread) >> CacheThreadW);
    end
  end

  logic [TileCaches-1:0] to_caches;
  assign to_caches = TileCaches'(to_cache) << cache;

  gs_steer_queue #(
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
