// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Accounting of message slots: who holds each of them, and which become free.
///
/// A slot is in exactly one of three states: free (in the free-slot queue outside of this module), being filled
/// with a message that arrives, or held by threads. With multicast the record of a slot has one bit
/// a thread; the bits that are set are the reference count, and they tell whose references they are, so that a
/// release by a thread that does not hold the slot does nothing. When the last bit goes, the slot becomes free.
///
///     cycle   A: request, read   B: wait   C: judge, write   D: result, slot becomes free
///
/// One request a cycle, and none waits for another slot's or its own: what stands in C or D and is about the same slot
/// is passed on to who comes behind. Threads go first, so that their pipeline never waits for this one; when others had
/// to wait for them, they let a cycle pass (`thread_wait_o`).
/// After reset it walks over all slots: the first of each thread are held by it, the rest become free.
module gs_mailbox_refs
  import gs_mailbox_pkg::*;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads        = 64,
  /// slots of a thread, a power of two
  parameter  int unsigned SlotsPerThread = 16,
  /// slots that a thread holds from the start, to send from
  parameter  int unsigned SendSlots      = 2,
  /// 1: several threads can hold a slot
  parameter  bit          Multicast      = 1'b1,
  localparam int unsigned ThreadW        = $clog2(Threads),
  localparam int unsigned Slots          = Threads * SlotsPerThread,
  localparam int unsigned SlotW          = $clog2(Slots)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// requests of threads, RefCheck and RefRelease: always taken, but not while threads are to wait
  input  logic               thread_valid_i,
  output logic               thread_wait_o,
  input  ref_op_e            thread_op_i,
  input  logic [SlotW-1:0]   thread_slot_i,
  input  logic [ThreadW-1:0] thread_i,
  /// in cycle D of a request of a thread: it held the slot
  output logic               held_o,
  /// releases that waited for the end of a send
  input  logic               late_valid_i,
  output logic               late_ready_o,
  input  logic [SlotW-1:0]   late_slot_i,
  input  logic [ThreadW-1:0] late_thread_i,
  /// a message is in a slot; without multicast the mask has one bit
  input  logic               hold_valid_i,
  output logic               hold_ready_o,
  input  logic [SlotW-1:0]   hold_slot_i,
  input  logic [Threads-1:0] hold_mask_i,
  /// slots that become free; the queue behind it has room for all
  output logic               free_valid_o,
  output logic [SlotW-1:0]   free_slot_o,
  /// the walk after reset is over
  output logic               ready_o
);
  if (Slots != 1 << SlotW || SendSlots > SlotsPerThread) begin : gen_illegal_slots
    $fatal(1, "gs_mailbox_refs: %0d threads with %0d slots, %0d to send from; powers of two, and no more to send from",
           Threads, SlotsPerThread, SendSlots);
  end

  localparam int unsigned RecordW = Multicast ? Threads : ThreadW + 1;

  // The walk over all slots.
  logic [SlotW:0] walk_q;
  logic walking;
  logic [SlotW-1:0] walk_slot;
  logic walk_held;
  assign walking   = !walk_q[SlotW];
  assign walk_slot = walk_q[SlotW-1:0];
  assign walk_held = (32'(walk_slot) % SlotsPerThread) < SendSlots;
  assign ready_o   = !walking;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) walk_q <= '0;
    else if (walking) walk_q <= walk_q + 1'b1;
  end

  // Cycle A. Threads, then late releases, then messages that arrive.
  logic a_valid, a_late, a_hold;
  ref_op_e a_op;
  logic [SlotW-1:0] a_slot;
  logic [ThreadW-1:0] a_thread;
  logic b_valid_q, c_valid_q, c_change, d_change_q, wait_q;
  ref_op_e b_op_q, c_op_q;
  logic [SlotW-1:0] b_slot_q, c_slot_q, d_slot_q;

  assign late_ready_o  = !walking && !thread_valid_i;
  assign hold_ready_o  = !walking && !thread_valid_i && !late_valid_i;
  assign a_late        = late_valid_i && late_ready_o;
  assign a_hold        = hold_valid_i && hold_ready_o;
  assign thread_wait_o = wait_q;

  always_comb begin
    a_valid  = thread_valid_i || late_valid_i || hold_valid_i || walking;
    a_op     = thread_op_i;
    a_slot   = thread_slot_i;
    a_thread = thread_i;
    if (a_late) begin
      a_op     = RefRelease;
      a_slot   = late_slot_i;
      a_thread = late_thread_i;
    end
    if (a_hold) begin
      a_op   = RefHold;
      a_slot = hold_slot_i;
    end
    if (walking) begin
      a_op     = walk_held ? RefHold : RefFree;
      a_slot   = walk_slot;
      a_thread = ThreadW'(32'(walk_slot) / SlotsPerThread);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b_valid_q  <= 1'b0;
      c_valid_q  <= 1'b0;
      d_change_q <= 1'b0;
      wait_q     <= 1'b0;
    end else begin
      b_valid_q  <= a_valid;
      c_valid_q  <= b_valid_q;
      d_change_q <= c_change;
      wait_q     <= thread_valid_i && (late_valid_i || hold_valid_i);
    end
    b_op_q   <= a_op;
    c_op_q   <= b_op_q;
    b_slot_q <= a_slot;
    c_slot_q <= b_slot_q;
    d_slot_q <= c_slot_q;
  end

  // Cycle C. The RAM does not know yet what the two requests before this one have made of the same slot.
  logic [RecordW-1:0] stored, record, record_next, d_record_q, passed_q;
  logic c_held, c_rest, c_passed_q, b_after_c;

  assign c_change  = c_valid_q && c_op_q != RefCheck;
  assign b_after_c = c_change && c_slot_q == b_slot_q;
  assign record    = c_passed_q ? passed_q : stored;

  always_ff @(posedge clk_i) begin
    c_passed_q <= b_after_c || (d_change_q && d_slot_q == b_slot_q);
    passed_q   <= b_after_c ? record_next : d_record_q;
    d_record_q <= record_next;
  end

  gs_ram_sdp #(
    .Width  (RecordW),
    .Depth  (Slots),
    .Latency(2),
    .Style  ("block")
  ) u_records (
    .clk_i,
    .we_i   (c_change),
    .wstrb_i(1'b1),
    .waddr_i(c_slot_q),
    .wdata_i(record_next),
    .re_i   (1'b1),
    .raddr_i(thread_valid_i ? thread_slot_i : late_slot_i),
    .rdata_o(stored)
  );

  if (Multicast) begin : gen_mask
    // The bits that a request sets or clears. One that reads has one bit, decoded between A and B.
    logic [ThreadW-1:0] b_thread_q;
    logic [Threads-1:0] b_mask_q, b_bit, c_bits_q;
    logic b_whole_q;

    always_comb begin
      b_bit             = '0;
      b_bit[b_thread_q] = 1'b1;
    end

    always_ff @(posedge clk_i) begin
      b_thread_q <= a_thread;
      b_mask_q   <= hold_mask_i;
      b_whole_q  <= a_hold;
      c_bits_q   <= b_whole_q ? b_mask_q : b_bit;
    end

    assign c_held = (record & c_bits_q) != '0;
    assign c_rest = (record & ~c_bits_q) != '0;

    always_comb begin
      record_next = '0;
      unique case (c_op_q)
        RefHold: record_next = c_bits_q;
        RefFree: record_next = '0;
        default: record_next = record & ~c_bits_q;
      endcase
    end
  end else begin : gen_one
    logic [ThreadW-1:0] hold_thread, b_thread_q, c_thread_q;

    always_comb begin
      hold_thread = '0;
      for (int unsigned i = 0; i < Threads; i++) if (hold_mask_i[i]) hold_thread |= ThreadW'(i);
    end

    always_ff @(posedge clk_i) begin
      b_thread_q <= a_hold ? hold_thread : a_thread;
      c_thread_q <= b_thread_q;
    end

    assign c_held = record == {1'b1, c_thread_q};
    assign c_rest = 1'b0;

    always_comb begin
      record_next = record;
      unique case (c_op_q)
        RefHold: record_next = {1'b1, c_thread_q};
        RefFree: record_next = '0;
        default: if (c_held) record_next = '0;
      endcase
    end
  end

  // Cycle D.
  logic d_free_q, d_held_q;
  assign free_valid_o = d_free_q;
  assign free_slot_o  = d_slot_q;
  assign held_o       = d_held_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) d_free_q <= 1'b0;
    else d_free_q <= c_valid_q && (c_op_q == RefFree || (c_op_q == RefRelease && c_held && !c_rest));
    d_held_q <= c_held;
  end

  `GS_ASSERT_NOW(threads_wait_when_they_should, !(thread_valid_i && (wait_q || walking)))
  `GS_ASSERT_NOW(a_message_is_for_somebody, !hold_valid_i || hold_mask_i != '0)
endmodule
