// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_board_match_engine, whatever its gs_match_slot does (the proof cuts the outputs of the slot): each flit
/// that enters reaches the slot once, unchanged, in order and in whole packets; each flit that the slot sends leaves
/// once, in whole packets of one job; and nothing passes from a job to the next one that owns the engine.
///
/// The slot keeps a flit that waits, sends packets of at most MailboxMaxFlits flits to threads of the engine, and
/// offers the next flit of a packet in time. The owner changes only with a flush, as prove_board_match shows.
module prove_board_match_engine
  import gs_address_pkg::*;
  import gossamer_pkg::*;
(
  input logic         clk_i,
  input logic         rst_ni,
  input logic         flush_i,
  input logic [4:0]   owner_i,
  input logic         release_i,
  input logic         wave_i,
  input logic         clear_i,
  input logic [63:0]  seed_i,
  input logic         valid_i,
  input flit_t        flit_i,
  input logic         ready_i,
  input logic         watch_i
);
  localparam int unsigned Receivers = MatchRanks;
  localparam int unsigned First = MatchRanks;
  localparam int unsigned RankW = Log2ThreadsPerTile + Log2MeshWidth + Log2MeshHeight;
  localparam int unsigned Depth = 2 * MailboxMaxFlits;
  localparam logic [11:0] Board = 12'd5;
  // Cycles after a flit of a packet in which its next flit leaves, at most.
  localparam int unsigned Gap = 3;
  localparam int unsigned Longest = (MailboxMaxFlits - 1) * Gap;

  // ------------------------------------------------------------ environment
  logic [4:0] owner_q;
  logic [1:0] epoch_q;
  logic flush_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owner_q <= 5'd31;
      epoch_q <= '0;
      flush_q <= 1'b0;
    end else begin
      if (flush_i) owner_q <= owner_i;
      if (release_i) epoch_q <= epoch_q + 2'd1;
      flush_q <= flush_i;
    end
  end

  logic in_valid, in_ready, out_valid, received, sent, busy;
  flit_t out;
  // gs_board_match offers no flit to an engine that is being flushed.
  assign in_valid = valid_i && !flush_q;
  gs_board_match_engine #(
    .Receivers(Receivers),
    .First    (First)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .board_i    (Board),
    .owner_i    (owner_q),
    .epoch_i    (epoch_q),
    .wave_i,
    .flush_i    (flush_q),
    .clear_i,
    .seed_i,
    .in_valid_i (in_valid),
    .in_ready_o (in_ready),
    .in_i       (flit_i),
    .out_valid_o(out_valid),
    .out_ready_i(ready_i),
    .out_o      (out),
    .received_o (received),
    .sent_o     (sent),
    .busy_o     (busy),
    .receives_o (),
    .messages_o ()
  );

  // The slot's ports.
  logic slot_rst_n, slot_takes, slot_sends;
  flit_t slot_in, slot_out;
  assign slot_rst_n = u_engine.slot_rst_n;
  assign slot_takes = u_engine.slot_valid && u_engine.slot_ready;
  assign slot_sends = u_engine.out_valid && u_engine.out_ready;
  assign slot_in    = u_engine.slot_in;
  assign slot_out   = u_engine.slot_out;

  // ------------------------------------------------------------ the input
  // Flits in the queue, a watched one, and how many are ahead of it.
  logic push;
  int held_q, ahead_q;
  logic watching_q;
  flit_t watched_q;
  assign push = in_valid && in_ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_q) begin
      held_q     <= 0;
      watching_q <= 1'b0;
    end else begin
      held_q <= held_q + 32'(push) - 32'(slot_takes);
      if (watching_q) begin
        if (slot_takes) ahead_q <= ahead_q - 1;
        if (slot_takes && ahead_q == 0) watching_q <= 1'b0;
      end else if (watch_i && push) begin
        watching_q <= 1'b1;
        watched_q  <= flit_i;
        ahead_q    <= held_q - 32'(slot_takes);
      end
    end
  end
  `GS_ASSERT_NOW(queue_holds_what_entered_and_did_not_leave,
                 held_q >= 0 && held_q <= Depth && held_q == 32'(u_engine.u_queue.count_o))
  `GS_ASSERT_NOW(pointers_agree, 32'(u_engine.u_queue.wptr_q) == (32'(u_engine.u_queue.rptr_q) + held_q) % Depth)
  `GS_ASSERT_NOW(queue_is_empty_or_shows_a_flit, u_engine.item_valid == (held_q != 0))
  `GS_ASSERT_NOW(only_flits_that_entered_reach_the_slot, !slot_takes || held_q > 0)
  `GS_ASSERT_NOW(queue_with_space_accepts, in_ready == (held_q < Depth))
  `GS_ASSERT_NOW(watched_flit_is_in_the_queue, !watching_q || (ahead_q >= 0 && ahead_q < held_q))
  `GS_ASSERT_NOW(watched_flit_reaches_the_slot_unchanged, !(watching_q && ahead_q == 0 && slot_takes) ||
                 (slot_in.payload == watched_q.payload && slot_in.last == watched_q.last &&
                  (slot_in.kind == FlitKindBody) == (watched_q.kind == FlitKindBody) &&
                  RankW'(slot_in.dest) == RankW'(watched_q.dest[RankW-1:0] - RankW'(First))))
  for (genvar p = 0; p < Depth; p++) begin : gen_place
    logic [127:0] payload;
    logic [9:0] thread;
    logic [1:0] epoch;
    logic body, last;
    assign {body, last, epoch, thread, payload} = u_engine.u_queue.u_ram.mem[p];
    `GS_ASSERT_NOW(watched_flit_is_in_its_place,
                   !watching_q || (32'(u_engine.u_queue.rptr_q) + ahead_q) % Depth != p ||
                   (payload == watched_q.payload && last == watched_q.last && epoch == watched_q.epoch &&
                    body == (watched_q.kind == FlitKindBody) &&
                    thread == 10'(watched_q.dest[RankW-1:0] - RankW'(First))))
  end

  // ----------------------------------------------- jobs, and clears between packets
  // stale_q: the slot was not reset since the last flush, so it knows packets of the former owner.
  logic stale_q, slot_inside_q, out_inside_q, resets;
  logic [7:0] tag, tag_q;  // job, epoch and colour
  assign tag = {out.job, out.epoch, out.wave};
  logic [$clog2(MailboxMaxFlits+1)-1:0] flits_q;
  int gap_q, waited_q;
  logic pending;
  assign resets  = !slot_rst_n;
  assign pending = u_engine.flush_q || (u_engine.clear_q && !slot_inside_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stale_q       <= 1'b0;
      slot_inside_q <= 1'b0;
      out_inside_q  <= 1'b0;
      waited_q      <= 0;
    end else begin
      stale_q <= flush_q || (stale_q && !resets);
      if (resets || flush_q) slot_inside_q <= 1'b0;
      else if (slot_takes) slot_inside_q <= !slot_in.last;
      if (out_valid && ready_i) out_inside_q <= !out.last;
      waited_q <= (pending && !resets) ? waited_q + 1 : 0;
    end
    if (out_valid && ready_i) begin
      if (!out_inside_q) tag_q <= tag;
      flits_q <= out_inside_q ? flits_q + 1'b1 : 1;
      gap_q   <= 1;
    end else begin
      gap_q <= gap_q + 1;
    end
  end
  `GS_ASSERT_NOW(former_owners_packets_never_begin_to_leave,
                 !((flush_q || stale_q) && out_valid && ready_i) || out_inside_q)
  `GS_ASSERT_NOW(new_owners_packets_wait_for_the_reset, !(stale_q && slot_takes))
  `GS_ASSERT_NOW(engine_is_busy_until_it_is_reset, !stale_q || busy)
  `GS_ASSERT_NOW(packets_begin_with_their_owner,
                 !(out_valid && ready_i && !out_inside_q) || tag == {owner_q, epoch_q, wave_i})
  `GS_ASSERT_NOW(packets_belong_to_one_job, !(out_valid && ready_i && out_inside_q) || tag == tag_q)
  `GS_ASSERT_NOW(packets_leave_whole, !out_inside_q || slot_rst_n)
  `GS_ASSERT_NOW(only_a_flush_cuts_an_incoming_packet, !(resets && slot_inside_q))
  `GS_ASSERT_NOW(flits_leave_once,
                 slot_sends == (out_valid && ready_i) && (!slot_sends || (out.payload == slot_out.payload &&
                 out.last == slot_out.last && out.kind == slot_out.kind && out.vnet == slot_out.vnet)))
  `GS_ASSERT_NOW(packets_leave_to_threads_of_the_engine, !out_valid ||
                 (out.dest[31:29] == EndpointThread && gs_program_address(
                      out.dest, Log2ThreadsPerTile, Log2MeshWidth, Log2MeshHeight)
                  == {EndpointThread, 29'({Board, RankW'(First)} + (12 + RankW)'(slot_out.dest[RankW-1:0]))}))
  `GS_ASSERT_NOW(packets_are_counted_once,
                 received == (slot_takes && slot_in.last) && sent == (out_valid && ready_i && out.last))

  // ------------------------------------------------------- bounded waiting
  `GS_ASSERT_NOW(flit_waits_for_slot_reset_or_epoch, !u_engine.item_valid || slot_takes || !u_engine.slot_ready ||
                 pending || (!slot_inside_q && u_engine.item.epoch == epoch_q + 2'd1))
  `GS_ASSERT_NOW(reset_waits_only_for_the_packet_that_leaves, !pending || resets || out_inside_q)
  `GS_ASSERT_NOW(reset_waits_for_one_packet, waited_q >= 0 && waited_q <= Longest)
  `GS_ASSERT_NOW(wait_began_with_the_packet, !out_inside_q ||
                 waited_q < (32'(flits_q) - 1) * Gap + gap_q)

  // ------------------------------------- the slot's side of its ports
  `GS_ASSUME_NOW(slot_sends_to_its_threads, 32'(slot_out.dest[RankW-1:0]) < Receivers)
  `GS_ASSUME_NOW(slot_packets_are_short,
                 !(out_valid && out_inside_q) || 32'(flits_q) < MailboxMaxFlits - 1 || slot_out.last)
  `GS_ASSUME_NOW(packets_leave_in_time, !out_inside_q || gap_q < Gap || (out_valid && ready_i))
  // Invariants for the induction.
  `GS_ASSERT_NOW(counts_agree, stale_q == u_engine.flush_q && out_inside_q == u_engine.leaving_q &&
                 slot_inside_q == u_engine.inside_q && !(stale_q && slot_inside_q) &&
                 (!out_inside_q || tag_q == {u_engine.job_q, u_engine.of_epoch_q, u_engine.of_wave_q}))
  `GS_ASSERT_NOW(packet_that_leaves_is_counted, !out_inside_q ||
                 (gap_q >= 1 && gap_q <= Gap && flits_q >= 1 && 32'(flits_q) < MailboxMaxFlits))

  `GS_COVER_NOW(watched_flit_reaches_the_slot_last, watching_q && slot_takes && ahead_q == 0 && watched_q.last)
  `GS_COVER_NOW(flush_waits_for_a_packet, stale_q && out_inside_q && out_valid && ready_i && waited_q > 2)
  `GS_COVER_NOW(clear_waits_for_an_incoming_packet, u_engine.clear_q && slot_inside_q && slot_takes)
  `GS_COVER_NOW(packet_waits_for_its_epoch, held_q > 2 && u_engine.early && !slot_inside_q)
  `GS_COVER_NOW(next_owner_sends, tag_q[7:3] == 5'd2 && out_valid && out.job == 5'd3 && !out_inside_q)
endmodule
