// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_board_match with two engines of two tiles each: which packets enter which engine, and which leave.
///
/// Tiles, job slots and registers change in any cycle, packets have any contents, and the slots of the engines (cut in
/// the proof) answer anything at any time. The flits are those that gs_mesh_local delivers: prove_local shows that it
/// delivers those of the switch once, in order and in bounded time; prove_board_match_engine continues from the inputs
/// of an engine.
module prove_board_match
  import gs_board_pkg::*;
  import gs_idle_pkg::*;
  import gs_noc_pkg::Vnets;
  import gs_switch_pkg::*;
  import gossamer_pkg::*;
(
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic [Tiles-1:0][4:0]  job_i,
  input logic [Tiles-1:0]       clear_tiles_i,
  input job_slot_t [1:0]        slot_i,
  input logic [1:0][1:0]        epoch_i,
  input logic [1:0]             wave_i,
  input channels_t              sw_valid_i,
  input flit_t                  sw_i,
  input channels_t              sw_credit_i,
  input register_request_t      register_i,
  input logic                   event_reported_i
);
  localparam int unsigned Engines = 2;
  localparam int unsigned EngineTiles = Tiles / Engines;
  localparam logic [11:0] Board = 12'd5;
  if (MatchOnBoard != Engines || MeshWidth != 2 || Tiles != 4) begin : gen_illegal_board
    $fatal(1, "prove_board_match: %0d engines, %0d tiles; must be 2 and 4", MatchOnBoard, Tiles);
  end

  idle_status_t [1:0] unused_status;
  channels_t unused_credit, sw_valid;
  flit_t sw_out;
  register_response_t unused_register;
  logic [31:0] drops;
  logic event_due, lost;
  logic [63:0] event_value;
  logic [4:0] lost_job;
  gs_board_match #(
    .Jobs  (2),
    .Window(2)
  ) u_match (
    .clk_i,
    .rst_ni,
    .board_i      (Board),
    .job_i,
    .clear_tiles_i,
    .slot_i,
    .epoch_i,
    .wave_i,
    .status_o     (unused_status),
    .sw_valid_i,
    .sw_i,
    .sw_credit_o  (unused_credit),
    .sw_valid_o   (sw_valid),
    .sw_o         (sw_out),
    .sw_credit_i,
    .register_i,
    .register_o   (unused_register),
    .drops_o      (drops),
    .event_o      (event_due),
    .event_value_o(event_value),
    .event_reported_i,
    .lost_o       (lost),
    .lost_job_o   (lost_job)
  );

  // ---------------------------------------------------------------- owners
  logic [Engines-1:0][4:0] owner, owner_q;
  logic [Engines-1:0] flush, held_q, reset_q;
  logic [Engines-1:0][EngineTiles-1:0] of_owner, cleared;
  logic [Tiles-1:0] clear_tiles_q;
  assign owner = u_match.owner_q;
  assign flush = u_match.flush_q;
  for (genvar e = 0; e < Engines; e++) begin : gen_owner
    for (genvar t = 0; t < EngineTiles; t++) begin : gen_tile
      assign of_owner[e][t] = owner[e] != NoJob && job_i[EngineTiles*e+t] == owner[e];
      assign cleared[e][t]  = of_owner[e][t] && clear_tiles_q[EngineTiles*e+t];
    end
    always_ff @(posedge clk_i) begin
      owner_q[e] <= owner[e];
      held_q[e]  <= of_owner[e] != '0;
      reset_q[e] <= rst_ni && cleared[e] != '0;
    end
    `GS_ASSERT_NOW(owner_changes_only_with_a_flush, !started_q || owner[e] == owner_q[e] || flush[e])
    `GS_ASSERT_NOW(owner_keeps_its_engine_while_it_holds_a_tile, !started_q || !held_q[e] || owner[e] == owner_q[e])
    `GS_ASSERT_NOW(job_that_begins_again_finds_a_cleared_engine, !started_q || !reset_q[e] || flush[e])
    `GS_ASSERT_NOW(only_its_job_clears_an_engine,
                   !u_match.clears[e] || (register_i.valid && register_i.write && owner[e] != NoJob &&
                   register_i.job == owner[e] && register_i.address.block == RegisterBlockMatch &&
                   32'(register_i.address.unit) == e && register_i.address.number == MatchRegisterClear))
  end
  logic started_q;
  always_ff @(posedge clk_i) begin
    started_q     <= rst_ni;
    clear_tiles_q <= rst_ni ? clear_tiles_i : '0;
  end
  `GS_ASSERT_NOW(assigned_tiles_agree, clear_tiles_q == u_match.clear_tiles_q)

  // ------------------------------------------------------------ the input
  // What the rank of a first flit names: its tile and its engine.
  logic of_request, last, first, good, body, known;
  flit_t flit;
  address_match_t dest;
  logic [1:0] tile;
  logic engine;
  logic [1:0] of_epoch;
  assign flit       = u_match.flit;
  assign of_request = u_match.offered[VnetRequest];
  assign last       = flit.last;
  assign dest       = flit.dest;
  assign body       = flit.kind == FlitKindBody;
  assign known      = 32'(dest.rank) < Tiles << Log2ThreadsPerTile;
  assign tile       = 2'(dest.rank >> Log2ThreadsPerTile);
  assign engine     = tile >= 2'(EngineTiles);
  always_comb begin
    of_epoch = '0;
    for (int unsigned j = 0; j < 2; j++) if (slot_i[j].valid && slot_i[j].job == owner[engine]) of_epoch = epoch_i[j];
  end
  assign good = body && known && owner[engine] != NoJob && flit.job == owner[engine] && flit.job == job_i[tile] &&
                (flit.epoch == of_epoch || flit.epoch == of_epoch + 2'd1);

  // The packet that arrives, and its newest flit, if that waits to enter its engine.
  logic inside_q, passes_q, waits_q, first_q, engine_q;
  logic [4:0] packet_job_q;
  flit_t newest_q;
  logic passes;
  logic [Engines-1:0] enters, offers;
  assign first  = !inside_q;
  assign passes = first ? good : passes_q && !flush[engine_q];
  for (genvar e = 0; e < Engines; e++) begin : gen_enters
    assign offers[e] = u_match.gen_engine[e].u_engine.in_valid_i;
    assign enters[e] = offers[e] && u_match.gen_engine[e].u_engine.in_ready_o;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      passes_q <= 1'b0;
      waits_q  <= 1'b0;
    end else begin
      if (of_request) inside_q <= !last;
      if (of_request) passes_q <= passes;
      else if (flush[engine_q]) passes_q <= 1'b0;
      if (of_request) waits_q <= passes;
      else if (enters != '0 || flush[engine_q]) waits_q <= 1'b0;
    end
    if (of_request) begin
      newest_q <= flit;
      first_q  <= first;
      if (first) begin
        engine_q     <= engine;
        packet_job_q <= flit.job;
      end
    end
  end
  // A first flit is judged by the owner of its cycle, so it is discarded if the engine is flushed in the next one.
  logic offered;
  assign offered = waits_q && !flush[engine_q];
  `GS_ASSERT_NOW(accepted_flit_is_offered_to_its_engine, offers == (offered ? 2'd1 << engine_q : 2'd0))
  `GS_ASSERT_NOW(flits_enter_unchanged, !offered || u_match.flit_q == newest_q)
  `GS_ASSERT_NOW(engine_accepts_only_packets_of_its_owner, !offered || packet_job_q == owner[engine_q])
  `GS_ASSERT_NOW(new_flit_arrives_only_if_none_waits, !of_request || !offered || enters != '0)
  `GS_ASSERT_NOW(request_waits_only_for_its_queue, u_match.accept[VnetRequest] || (u_match.valid_q &&
                 (flush[engine_q] || !u_match.in_ready[engine_q])))
  `GS_ASSERT_NOW(other_networks_never_wait, (u_match.accept | 4'(1 << VnetRequest)) == '1)

  // At the engines: whole packets, one after the other, unless the engine is flushed.
  logic [Engines-1:0] open_q;
  for (genvar e = 0; e < Engines; e++) begin : gen_whole
    always_ff @(posedge clk_i) begin
      if (!rst_ni || flush[e]) open_q[e] <= 1'b0;
      else if (enters[e]) open_q[e] <= !newest_q.last;
    end
    `GS_ASSERT_NOW(packets_enter_whole, !enters[e] || first_q == !open_q[e])
    `GS_ASSERT_NOW(packets_are_not_interleaved, !enters[e] || !open_q[Engines-1-e])
    `GS_ASSERT_NOW(open_packet_is_the_one_that_arrives, !open_q[e] || (32'(engine_q) == e &&
                   (inside_q || waits_q) && (passes_q || flush[e])))
    `GS_ASSERT_NOW(continued_packet_is_open, !(offered && !first_q && 32'(engine_q) == e) || open_q[e])
  end
  `GS_ASSERT_NOW(arrived_part_is_open_or_waits,
                 !(inside_q && passes_q && !waits_q && !flush[engine_q]) || open_q[engine_q])
  `GS_ASSERT_NOW(only_continued_packets_are_open, !(waits_q && first_q) || open_q == '0)
  `GS_ASSERT_NOW(whole_packets_are_closed, !(!inside_q && !waits_q) || open_q == '0)

  // A dropped packet is counted once, two cycles after its first flit: whatever its network.
  logic [Vnets-1:0] of_inside_q;
  logic [1:0] dropped_q;
  logic [31:0] count_q;
  logic drops_now, lost_q, overlong;
  logic [4:0] lost_job_q;
  logic [$clog2(MailboxMaxFlits+2)-1:0] flits_q;
  assign overlong  = of_request && inside_q && passes && 32'(flits_q) == MailboxMaxFlits;
  assign drops_now = ((u_match.offered & ~of_inside_q) != '0 && !(of_request && good)) || overlong;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      of_inside_q <= '0;
      dropped_q   <= '0;
      count_q     <= '0;
      lost_q      <= 1'b0;
    end else begin
      of_inside_q <= (of_inside_q | u_match.offered) & ~(flit.last ? u_match.offered : '0);
      dropped_q   <= {dropped_q[0], drops_now};
      count_q     <= count_q + 32'(dropped_q[0]);
      lost_q      <= (u_match.offered & ~of_inside_q) != '0 && !(of_request && good) &&
                     flit.kind != FlitKindHeader && !u_match.offered[VnetControl];
    end
    lost_job_q <= flit.job;
    if (of_request) flits_q <= first ? 1 : (32'(flits_q) <= MailboxMaxFlits) ? flits_q + 1'b1 : flits_q;
  end
  `GS_ASSERT_NOW(dropped_packets_are_counted_once, drops == count_q)
  `GS_ASSERT_NOW(lost_messages_are_reported_for_their_job, lost == lost_q && (!lost || lost_job == lost_job_q))

  // ------------------------------------------------------------ the output
  logic [Engines-1:0] sends, ends, out_open_q;
  flit_t out[Engines];
  logic [Engines-1:0][4:0] out_job_q;
  logic space;
  int others_q[Engines];
  assign space = u_match.space[VnetMailbox];
  for (genvar e = 0; e < Engines; e++) begin : gen_out
    assign out[e]   = u_match.out[e];
    assign sends[e] = u_match.out_valid[e] && u_match.out_ready[e];
    assign ends[e]  = sends[e] && out[e].last;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) out_open_q[e] <= 1'b0;
      else if (sends[e]) out_open_q[e] <= !out[e].last;
      if (sends[e] && !out_open_q[e]) out_job_q[e] <= out[e].job;
      // Packets of the other engine that began although this one had a flit that could be sent.
      if (!rst_ni || sends[e] || !u_match.out_valid[e]) others_q[e] <= 0;
      else if (sends[Engines-1-e] && !out_open_q[Engines-1-e]) others_q[e] <= others_q[e] + 1;
    end
    `GS_ASSERT_NOW(answers_have_the_job_of_their_engine,
                   !sends[e] || out[e].job == (out_open_q[e] ? out_job_q[e] : owner[e]))
    `GS_ASSERT_NOW(former_owners_answers_do_not_begin, !(sends[e] && flush[e]) || out_open_q[e])
    `GS_ASSERT_NOW(answers_leave_unchanged,
                   !sends[e] || (u_match.sent == out[e] && u_match.send == 4'd1 << VnetMailbox))
    `GS_ASSERT_NOW(answers_leave_whole, !sends[e] || !out_open_q[Engines-1-e])
    `GS_ASSERT_NOW(answer_waits_for_at_most_one_other, others_q[e] >= 0 && others_q[e] <= 1)
    `GS_ASSERT_NOW(answer_waits_only_for_another_or_for_space,
                   !u_match.out_valid[e] || sends[e] || !space || sends[Engines-1-e] || out_open_q[Engines-1-e])
    // Invariants for the induction.
    `GS_ASSERT_NOW(packet_in_the_arbiter_is_open,
                   u_match.u_out.open_q[VnetMailbox][e] == !out_open_q[Engines-1-e])
    `GS_ASSERT_NOW(next_of_waiting_engine_is_its_own, others_q[e] == 0 || out_open_q[Engines-1-e] ||
                   u_match.u_out.u_arbiter.ahead_q == (e == 0 ? 2'b00 : 2'b10))
    `GS_ASSERT_NOW(answer_that_leaves_is_known, out_open_q[e] == u_match.gen_engine[e].u_engine.leaving_q &&
                   (!out_open_q[e] || out_job_q[e] == u_match.gen_engine[e].u_engine.job_q))
  end
  `GS_ASSERT_NOW(nothing_else_leaves, (u_match.send != '0) == (sends != '0) && sends != '1)

  // Invariants of the filter for the induction.
  `GS_ASSERT_NOW(packet_that_passes_is_its_owners, !((inside_q && passes_q) || waits_q) || flush[engine_q] ||
                 packet_job_q == owner[engine_q])
  `GS_ASSERT_NOW(waiting_flit_belongs_to_a_packet_that_passes, !waits_q || passes_q)
  `GS_ASSERT_NOW(newest_flit_ends_its_packet_or_not, !(inside_q || waits_q) || inside_q == !newest_q.last)
  `GS_ASSERT_NOW(filter_agrees, u_match.inside_q == of_inside_q && of_inside_q[VnetRequest] == inside_q &&
                 u_match.fate_q.dropped == dropped_q[0] &&
                 (!inside_q || (u_match.dropping_q == !passes_q && u_match.at_q == engine_q &&
                                u_match.length_q == flits_q)))
  `GS_ASSERT_NOW(one_network_is_offered, $onehot(u_match.u_port.offered_q))
  `GS_ASSERT_NOW(waiting_flit_is_valid, u_match.valid_q == waits_q && (!waits_q || u_match.at_q == engine_q))

  `GS_COVER_NOW(packet_enters_the_second_engine, enters[1] && newest_q.last && !first_q)
  `GS_COVER_NOW(packet_is_discarded_with_its_job, waits_q && flush[engine_q] && !first_q)
  `GS_COVER_NOW(answer_waits_for_another, u_match.out_valid[0] && out_open_q[1] && ends[1])
  `GS_COVER_NOW(tile_of_another_job_is_rejected, of_request && first && body && flit.job == owner[engine] &&
                flit.job != NoJob && job_i[tile] != flit.job && known)

  logic unused;
  assign unused = ^{event_due, event_value, sw_valid, sw_out, dropped_q[1]};
endmodule
