// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Accounting of message slots: which threads hold which slots, and which slots become free.
///
/// A thread holds a slot from the moment in which it pops the message's pointer off its queue until it releases the
/// slot. This is one bit for each slot and thread in block RAM: receiving sets it, releasing clears it, and a release
/// that reads 0 has no effect. So no release can free a slot whose message a thread has still to receive.
/// With multicast a slot has several receivers: their number is stored when the message arrives, the effective releases
/// are counted, and the slot becomes free with the last one.
///
///     cycle   A: read   B: wait   C: decide, write   D: slot becomes free
///
/// One request a cycle. No thread has two requests within these cycles, so its bit never changes after it is read; the
/// releases of a slot by several threads may be consecutive, and their count is forwarded.
/// After reset all bits are initialized one by one: each thread holds its first slots, the others become free.
module gs_mailbox_slot_refcount #(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads        = 64,
  /// slots of a thread, a power of two
  parameter  int unsigned SlotsPerThread = 16,
  /// slots that a thread holds after reset, to send from
  parameter  int unsigned SendSlots      = 2,
  /// 1: several threads may hold a slot
  parameter  bit          Multicast      = 1'b1,
  /// memories over which the bits are distributed by thread, a power of two: initialization takes
  /// Threads * Slots / Banks cycles
  parameter  int unsigned Banks          = (Threads * Threads * SlotsPerThread >= 65536) ? 4 : 1,
  localparam int unsigned ThreadW        = $clog2(Threads),
  localparam int unsigned Slots          = Threads * SlotsPerThread,
  localparam int unsigned SlotW          = $clog2(Slots)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// cycle A: the slot and thread whose bit is read
  input  logic [SlotW-1:0]   a_slot_i,
  input  logic [ThreadW-1:0] a_thread_i,
  /// cycle C, two later: the thread held the slot
  output logic               c_held_o,
  /// cycle C: it releases that slot, or has received this one
  input  logic               c_release_i,
  input  logic               c_receive_i,
  input  logic [SlotW-1:0]   c_receive_slot_i,
  /// a message is in a slot; its number of receivers, modulo Threads: 0 is all of them
  input  logic               hold_i,
  input  logic [SlotW-1:0]   hold_slot_i,
  input  logic [ThreadW-1:0] hold_count_i,
  /// slots that become free; the queue after it has space for all
  output logic               free_valid_o,
  output logic [SlotW-1:0]   free_slot_o,
  /// initialization is finished; until then: a count over all threads, repeatedly
  output logic               ready_o,
  output logic [ThreadW-1:0] walk_thread_o
);
  localparam int unsigned BankW = (Banks > 1) ? $clog2(Banks) : 1;
  localparam int unsigned BitW = SlotW + ThreadW - ((Banks > 1) ? BankW : 0);

  if (Slots != 1 << SlotW || SendSlots > SlotsPerThread) begin : gen_illegal_slots
    $fatal(1, "gs_mailbox_slot_refcount: %0d threads of %0d slots must be powers of two, and SendSlots (%0d) no larger",
           Threads, SlotsPerThread, SendSlots);
  end
  if (Banks > Threads || Banks != 1 << $clog2(Banks)) begin : gen_illegal_banks
    $fatal(1, "gs_mailbox_slot_refcount: Banks is %0d; it must be a power of two, at most Threads (%0d)", Banks,
           Threads);
  end

  function automatic logic [BitW-1:0] bit_address(logic [SlotW-1:0] slot, logic [ThreadW-1:0] thread);
    return BitW'(32'({slot, thread}) / Banks);
  endfunction

  // Initialization: all bits of a slot, then the slot becomes free unless a thread holds it.
  logic [BitW:0] walk_q;
  logic walking, walk_held, walk_ends;
  logic [SlotW-1:0] walk_slot;
  assign walking   = !walk_q[BitW];
  assign walk_slot = SlotW'(32'(walk_q[BitW-1:0]) * Banks / Threads);
  assign walk_held = (32'(walk_slot) % SlotsPerThread) < SendSlots;
  assign walk_ends = (32'(walk_q[BitW-1:0]) + 1) * Banks % Threads == 0;
  assign ready_o   = !walking;
  assign walk_thread_o = walk_q[ThreadW-1:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) walk_q <= '0;
    else if (walking) walk_q <= walk_q + 1'b1;
  end

  // Cycles B and C.
  logic [SlotW-1:0] b_slot_q, c_slot_q;
  logic [ThreadW-1:0] b_thread_q, c_thread_q;
  always_ff @(posedge clk_i) begin
    b_slot_q   <= a_slot_i;
    b_thread_q <= a_thread_i;
    c_slot_q   <= b_slot_q;
    c_thread_q <= b_thread_q;
  end

  // The bits.
  logic [Banks-1:0] stored;
  logic [BankW-1:0] c_bank;
  assign c_bank   = (Banks > 1) ? c_thread_q[BankW-1:0] : '0;
  assign c_held_o = stored[c_bank];

`ifdef GS_ASSERTIONS
  // c_held_o is from a bit that was read while it was written.
  logic [Banks-1:0] undefined;
`endif

  for (genvar b = 0; b < int'(Banks); b++) begin : gen_bank
    logic walk_bit;
    // 1 if this bit is that of the slot's owner, who holds the slot.
    assign walk_bit = walk_held && 32'(walk_q[BitW-1:0]) * Banks % Threads + b == 32'(walk_slot) / SlotsPerThread;
    gs_ram_sdp #(
      .Width  (1),
      .Depth  (1 << BitW),
      .Latency(2),
      .Style  ("block")
    ) u_bits (
      .clk_i,
      .we_i   (walking || ((c_release_i || c_receive_i) && c_bank == BankW'(b))),
      .wstrb_i(1'b1),
      .waddr_i(walking ? walk_q[BitW-1:0] : bit_address(c_receive_i ? c_receive_slot_i : c_slot_q, c_thread_q)),
      .wdata_i(walking ? walk_bit : c_receive_i),
      .re_i   (1'b1),
      .raddr_i(bit_address(a_slot_i, a_thread_i)),
      .rdata_o(stored[b])
    );
`ifdef GS_ASSERTIONS
    assign undefined[b] = u_bits.undefined && c_bank == BankW'(b);
`endif
  end

  // Receivers and effective releases. The arrival of a message writes the first number, releases write the second.
  logic c_released, c_last;
  assign c_released = c_release_i && c_held_o;

  if (Multicast) begin : gen_count
    logic [ThreadW-1:0] counted, stored_released, released, released_one_more, released_next, d_released_q, forwarded_q;
    logic d_change_q, c_forwarded_q, b_after_c, b_after_d;
    logic [SlotW-1:0] d_slot_q;

    gs_ram_sdp #(
      .Width  (ThreadW),
      .Depth  (Slots),
      .Latency(2),
      .Style  ("block")
    ) u_counts (
      .clk_i,
      .we_i   (walking || hold_i),
      .wstrb_i(1'b1),
      .waddr_i(walking ? walk_slot : hold_slot_i),
      .wdata_i(walking ? ThreadW'(1) : hold_count_i),
      .re_i   (1'b1),
      .raddr_i(a_slot_i),
      .rdata_o(counted)
    );

    gs_ram_sdp #(
      .Width  (ThreadW),
      .Depth  (Slots),
      .Latency(2),
      .Style  ("block")
    ) u_released (
      .clk_i,
      .we_i   (walking || c_released),
      .wstrb_i(1'b1),
      .waddr_i(walking ? walk_slot : c_slot_q),
      .wdata_i(walking ? '0 : released_next),
      .re_i   (1'b1),
      .raddr_i(a_slot_i),
      .rdata_o(stored_released)
    );

    // Forwarding from the two previous requests, whose writes the RAM does not show yet.
    assign b_after_c = c_released && c_slot_q == b_slot_q;
    assign b_after_d = d_change_q && d_slot_q == b_slot_q;
    assign released      = c_forwarded_q ? forwarded_q : stored_released;
    assign c_last    = released_one_more == counted;
    assign released_next = c_last ? '0 : released_one_more;
    assign released_one_more = released + ThreadW'(1);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) d_change_q <= 1'b0;
      else d_change_q <= c_released;
      c_forwarded_q <= b_after_c || b_after_d;
      forwarded_q   <= b_after_c ? released_next : d_released_q;
      d_released_q  <= released_next;
      d_slot_q      <= c_slot_q;
    end
    `GS_ASSERT_NOW(receivers_are_not_read_while_they_are_written, !(u_counts.undefined && c_released))
    `GS_ASSERT_NOW(releases_that_were_written_during_the_read_are_forwarded,
                   !(u_released.undefined && c_released) || c_forwarded_q)
  end else begin : gen_one
    assign c_last = 1'b1;
    logic unused_hold;
    assign unused_hold = ^{hold_i, hold_slot_i, hold_count_i};
  end

  // Cycle D.
  logic d_free_q;
  logic [SlotW-1:0] d_free_slot_q;
  assign free_valid_o = d_free_q;
  assign free_slot_o  = d_free_slot_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) d_free_q <= 1'b0;
    else d_free_q <= walking ? walk_ends && !walk_held : c_released && c_last;
    d_free_slot_q <= walking ? walk_slot : c_slot_q;
  end

  `GS_ASSERT_NOW(requests_release_or_receive, !(c_release_i && c_receive_i))
  `GS_ASSERT_NOW(requests_wait_for_initialization, !walking || !(c_release_i || c_receive_i || hold_i))
  `GS_ASSERT_NOW(released_bit_is_not_read_while_it_is_written, !(undefined != '0 && c_release_i))
endmodule
