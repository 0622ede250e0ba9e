// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Ends of sends: which threads have a send in flight, and what to do when it ends.
///
/// A release of the slot whose send is in flight is noted, and executed when the send ends, by an internal request
/// (ActEnd); the send counts as in flight until that request is in A, so no send of the same thread can overtake it. A
/// thread that waits for the end of its send is woken (ActWake).
///
/// One memory records whose sends are in flight, so ends, processed here or in A, wait for sends that begin. That takes
/// a few cycles: a thread begins no other send before the end of its last one.
///
///     end ->[ skid ]-> noted? waited for? ->[ internal request ]-> A
module gs_mailbox_send_done
  import gs_mailbox_pkg::*;
#(
  /// threads of the tile, 2 to 64, a power of two
  parameter  int unsigned Threads = 64,
  localparam int unsigned ThreadW = $clog2(Threads)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  /// after reset: no thread sends
  input  logic               clear_i,
  input  logic [ThreadW-1:0] clear_thread_i,
  /// A: the thread there, and whether its send is in flight
  input  logic [ThreadW-1:0] a_thread_i,
  output logic               a_sending_o,
  /// A goes: it begins a send; releases a slot, of a thread whose send is in flight; ends a send (ActEnd)
  input  logic               a_send_i,
  input  logic               a_release_i,
  input  logic               a_end_i,
  /// A: the named slot is that of the thread's send; valid with a_release_i only
  input  logic               a_same_slot_i,
  /// an ActEnd is in A, going or not
  input  logic               a_is_end_i,
  /// one cycle after A: the thread that was there; whether it has begun to wait for the end of its send, or no longer
  /// waits; after reset it does not
  input  logic [ThreadW-1:0] late_thread_i,
  input  logic               want_we_i,
  input  logic               want_i,
  /// the thread in A must stall in this cycle: its send is about to end, or would end while another one begins
  output logic               a_hold_o,
  /// ends of any thread are pending: a_hold_o may be 1
  output logic               some_o,
  /// D: a send is issued
  input  logic               commit_i,
  input  logic [ThreadW-1:0] commit_thread_i,
  /// sends whose flits have all been read; two more are accepted after ready is 0
  input  logic               done_valid_i,
  output logic               done_ready_o,
  input  logic [ThreadW-1:0] done_thread_i,
  /// internal requests
  output logic               internal_valid_o,
  input  logic               internal_ready_i,
  output act_e               internal_act_o,
  output logic [ThreadW-1:0] internal_thread_o,
  output logic               busy_o
);
  logic end_valid, end_go, end_noted, end_wanted, end_late, noted, wanted, done_ready;
  logic note_we, send_q, release_q, same_slot_q;
  logic [ThreadW-1:0] end_thread;
  logic internal_valid_q, internal_end_q;
  logic [ThreadW-1:0] internal_thread_q;

  gs_skid #(
    .data_t(logic [ThreadW-1:0])
  ) u_done (
    .clk_i,
    .rst_ni,
    .in_valid_i (done_valid_i),
    .in_ready_o (done_ready),
    .in_data_i  (done_thread_i),
    .out_valid_o(end_valid),
    .out_ready_i(end_go),
    .out_data_o (end_thread)
  );
  assign done_ready_o = done_ready;

  // Decided in one cycle, which depends on no stall of A.
  assign end_go   = end_valid && !internal_valid_q && !a_is_end_i && !commit_i;
  assign a_hold_o = (end_go && end_thread == a_thread_i) || (a_is_end_i && commit_i);
  assign some_o   = end_valid;

  gs_ram_sdp #(
    .Width  (1),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_sending (
    .clk_i,
    .we_i   (commit_i || a_end_i || (end_go && !end_noted) || clear_i),
    .wstrb_i(1'b1),
    .waddr_i(clear_i ? clear_thread_i : commit_i ? commit_thread_i : a_is_end_i ? a_thread_i : end_thread),
    .wdata_i(commit_i && !clear_i),
    .re_i   (1'b1),
    .raddr_i(a_thread_i),
    .rdata_o(a_sending_o)
  );

  // Noted and wanted are written one cycle after A, whose decisions are late; the end of a send reads both.
  always_ff @(posedge clk_i) begin
    send_q      <= a_send_i;
    release_q   <= a_release_i;
    same_slot_q <= a_same_slot_i;
  end
  assign note_we  = send_q || (release_q && same_slot_q);
  assign end_late = late_thread_i == end_thread;

  gs_ram_sdp #(
    .Width  (1),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_noted (
    .clk_i,
    .we_i   (note_we),
    .wstrb_i(1'b1),
    .waddr_i(late_thread_i),
    .wdata_i(!send_q),
    .re_i   (1'b1),
    .raddr_i(end_thread),
    .rdata_o(noted)
  );
  assign end_noted = (note_we && end_late) ? !send_q : noted;

  gs_ram_sdp #(
    .Width  (1),
    .Depth  (Threads),
    .Latency(0),
    .Style  ("distributed")
  ) u_wanted (
    .clk_i,
    .we_i   (want_we_i),
    .wstrb_i(1'b1),
    .waddr_i(late_thread_i),
    .wdata_i(want_i),
    .re_i   (1'b1),
    .raddr_i(end_thread),
    .rdata_o(wanted)
  );
  assign end_wanted = (want_we_i && end_late) ? want_i : wanted;

  assign internal_valid_o  = internal_valid_q;
  assign internal_act_o    = internal_end_q ? ActEnd : ActWake;
  assign internal_thread_o = internal_thread_q;
  assign busy_o            = end_valid || internal_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) internal_valid_q <= 1'b0;
    else if (end_go) internal_valid_q <= end_noted || end_wanted;
    else if (internal_ready_i) internal_valid_q <= 1'b0;
    if (end_go) begin
      internal_end_q    <= end_noted;
      internal_thread_q <= end_thread;
    end
  end

  `GS_ASSERT_NOW(ends_are_accepted, !done_valid_i || done_ready)
  `GS_ASSERT_NOW(only_sends_in_flight_end, !a_end_i || a_sending_o)
  `GS_ASSERT_NOW(sends_of_a_thread_do_not_overlap, !a_send_i || !a_sending_o)
  `GS_ASSERT_NOW(no_send_begins_while_one_ends, !(commit_i && (a_end_i || end_go)))
endmodule
