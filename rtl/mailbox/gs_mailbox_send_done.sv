// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Ends of sends: which threads have a send under way, and what is to do when it is over.
///
/// A release of the slot whose send is under way is noted, and done when the send ends, by a request from inside
/// (ActEnd); the send counts as under way until that request is in A, so no send of the same thread can pass it. A
/// thread that waits for the end of its send is woken (ActWake).
///
/// One memory says whose sends are under way, so ends, looked at or in A, wait for sends that begin. That is a few
/// cycles: a thread begins no other send before its end.
///
///     end ->[ skid ]-> noted? waited for? ->[ request from inside ]-> A
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
  /// A: the thread there, and whether its send is under way
  input  logic [ThreadW-1:0] a_thread_i,
  output logic               a_sending_o,
  /// A goes: it begins a send; releases a slot, of a thread whose send is under way; ends one (ActEnd)
  input  logic               a_send_i,
  input  logic               a_release_i,
  input  logic               a_end_i,
  /// A: the slot named is that of the thread's send; looked at with a_release_i alone
  input  logic               a_same_slot_i,
  /// an ActEnd is in A, going or not
  input  logic               a_is_end_i,
  /// a cycle behind A: the thread that was there; whether it has begun to wait for the end of its send, or waits no
  /// more; after reset it does not
  input  logic [ThreadW-1:0] late_thread_i,
  input  logic               want_we_i,
  input  logic               want_i,
  /// the thread in A must wait in this cycle: its send is about to end, or would be while another one begins
  output logic               a_hold_o,
  /// there are ends to look at, of any thread: a_hold_o may be 1
  output logic               some_o,
  /// D: a send is on its way
  input  logic               commit_i,
  input  logic [ThreadW-1:0] commit_thread_i,
  /// sends that were read wholly; two more are taken after ready is 0
  input  logic               done_valid_i,
  output logic               done_ready_o,
  input  logic [ThreadW-1:0] done_thread_i,
  /// requests from inside
  output logic               inside_valid_o,
  input  logic               inside_ready_i,
  output act_e               inside_act_o,
  output logic [ThreadW-1:0] inside_thread_o,
  output logic               busy_o
);
  logic end_valid, end_go, end_noted, end_wanted, end_late, noted, wanted, done_ready;
  logic note_we, send_q, release_q, same_slot_q;
  logic [ThreadW-1:0] end_thread;
  logic inside_valid_q, inside_end_q;
  logic [ThreadW-1:0] inside_thread_q;

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

  // Decided in one cycle, which depends on nothing that A may keep waiting.
  assign end_go   = end_valid && !inside_valid_q && !a_is_end_i && !commit_i;
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

  // Noted and wanted are written a cycle behind A, whose decisions come late; the end of a send looks at both.
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

  assign inside_valid_o  = inside_valid_q;
  assign inside_act_o    = inside_end_q ? ActEnd : ActWake;
  assign inside_thread_o = inside_thread_q;
  assign busy_o          = end_valid || inside_valid_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_valid_q <= 1'b0;
    else if (end_go) inside_valid_q <= end_noted || end_wanted;
    else if (inside_ready_i) inside_valid_q <= 1'b0;
    if (end_go) begin
      inside_end_q    <= end_noted;
      inside_thread_q <= end_thread;
    end
  end

  `GS_ASSERT_NOW(ends_have_room, !done_valid_i || done_ready)
  `GS_ASSERT_NOW(a_send_ends_once, !a_end_i || a_sending_o)
  `GS_ASSERT_NOW(a_send_begins_after_the_one_before, !a_send_i || !a_sending_o)
  `GS_ASSERT_NOW(one_begins_or_ends, !(commit_i && (a_end_i || end_go)))
endmodule
