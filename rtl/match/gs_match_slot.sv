// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// The match engine of a tile, in its accelerator slot: messages of any tile and receives of this tile's threads come
/// in, and each receive's thread gets the message that MPI's order gives it, payload and all.
///
/// A packet begins with a `match_packet_head`; what is below `found` in its first byte is a message, and the port of
/// its address is the thread that is to receive. A message that matches goes on to that thread as it came, with the
/// handle of the receive in its head; one that does not waits in the store. A receive that must wait is not answered.
///
///     Fill --whole packet--> Ask --> Wait --message for a receive--> Read -> Send -> Fill
///       ^                     ^        +--answer of one flit-------> Note -> Fill
///       |                     |        +--message or receive waits-> Fill
///       +---------------------+        +--cancel, not this entry---> Ask
///
/// The engine knows a receive that waits by its entry, threads by their handle: a cancel asks for all entries in turn.
/// A clear empties engine, store and watches, so a program begins with none of what the one before has left.
module gs_match_slot
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// threads of the tile
  parameter int unsigned Receivers  = 16,
  /// flits of a packet at most
  parameter int unsigned MaxFlits   = 4,
  /// entries of the CAM, 2 or more
  parameter int unsigned CamEntries = 16,
  /// receives and messages that wait, together, a power of two, 8 or more
  parameter int unsigned Entries    = 256
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [11:0] board_i,
  input  logic [3:0]  tile_y_i,
  input  logic [3:0]  tile_x_i,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  flit_t       in_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output flit_t       out_o,
  /// something is under way; messages and receives that wait are not
  output logic        busy_o
);
  if (Receivers > 64 || MaxFlits > 255) begin : gen_illegal_size
    $fatal(1, "gs_match_slot: %0d threads (64 at most), packets of %0d flits (255 at most)", Receivers, MaxFlits);
  end

  localparam int unsigned IdW = $clog2(Entries);
  localparam int unsigned FlitW = (MaxFlits > 1) ? $clog2(MaxFlits) : 1;
  localparam int unsigned ThreadW = (Receivers > 1) ? $clog2(Receivers) : 1;
  typedef logic [IdW-1:0] id_t;
  typedef logic [FlitW-1:0] count_t;
  typedef enum logic [2:0] {Fill, Ask, Wait, Read, Send, Note} state_e;

  state_e state_q, state_d;
  match_packet_head_t head_q, head_in, head_out;
  address_accelerator_t dest_in;
  logic [5:0] thread_q;
  logic first_q, good_q, takes, ends;
  count_t last_q, at_q;
  id_t slot_q, free_id, entry_q;
  logic probed_q, frees_q;
  logic [15:0] handle_q;
  match_packet_e note_d, note_q;

  // --------------------------------------------------------------- engine
  logic cmd_valid, cmd_ready, done_valid;
  match_command_t cmd;
  match_completion_t done;
  match_op_e op;
  logic is_message, is_cancel, is_watch, is_count, is_clear;

  assign is_message = head_q.kind < MatchPacketFound;
  assign is_cancel  = head_q.kind == MatchPacketCancel;
  assign is_watch   = head_q.kind == MatchPacketWatch;
  assign is_count   = head_q.kind == MatchPacketCount;
  assign is_clear   = head_q.kind == MatchPacketClear;
  always_comb begin
    unique case (head_q.kind)
      MatchPacketPost:                    op = MatchOpPost;
      MatchPacketCancel:                  op = MatchOpCancel;
      MatchPacketProbe, MatchPacketWatch: op = MatchOpProbe;
      MatchPacketCount:                   op = MatchOpCount;
      MatchPacketClear:                   op = MatchOpClear;
      default:                            op = is_message ? MatchOpArrive : match_op_e'('1);
    endcase
  end
  assign cmd_valid = state_q == Ask;
  always_comb begin
    cmd = '{op: op, rank: 10'(thread_q), communicator: head_q.communicator, source: head_q.source, tag: head_q.tag,
            length: 8'(last_q), default: '0};
    // Handles of receives that wait differ for all threads together.
    cmd.handle = is_message ? 32'(slot_q) : {10'd0, thread_q, head_q.handle};
    if (!is_message) begin
      cmd.any_source = head_q.any_source;
      cmd.any_tag    = head_q.any_tag;
    end
    if (is_cancel) begin
      cmd.any_source = 1'b0;
      cmd.any_tag    = 1'b0;
      cmd.tag        = 32'(entry_q);
    end
  end

  gs_match #(
    .Architecture(0),
    .CamEntries  (CamEntries),
    .Entries     (Entries),
    .Ranks       (Receivers)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .seed_i      ('0),
    .cmd_valid_i (cmd_valid),
    .cmd_ready_o (cmd_ready),
    .cmd_i       (cmd),
    .done_valid_o(done_valid),
    .done_ready_i(state_q == Wait),
    .done_o      (done),
    .posts_o     (),
    .messages_o  ()
  );

  // ---------------------------------------------------------------- store
  // A packet is written into the next free slot, which it takes if it has to wait. One queue of the engine leaves the
  // other some entries, so there are more slots than messages that wait.
  logic free_valid, free_take, free_give, cleared;
  gs_match_free #(.Entries(Entries)) u_free (
    .clk_i,
    .rst_ni   (rst_ni && !cleared),
    .valid_o  (free_valid),
    .id_o     (free_id),
    .take_i   (free_take),
    .give_i   (free_give),
    .give_id_i(slot_q),
    .soon_o   (),
    .fresh_o  ()
  );

  logic [127:0] stored;
  logic out_moves;
  count_t read_at;
  assign read_at = (out_moves) ? at_q + count_t'(1) : at_q;
  gs_ram_sdp #(.Width(128), .Depth(Entries << FlitW)) u_store (
    .clk_i, .we_i(in_valid_i && in_ready_o), .wstrb_i(1'b1), .waddr_i({free_id, at_q}), .wdata_i(in_i.payload),
    .re_i(1'b1), .raddr_i({slot_q, read_at}), .rdata_o(stored)
  );

  // -------------------------------------------------------------- control
  logic [Receivers-1:0] watches_q;
  logic [ThreadW-1:0] thread;
  logic matched, waits, news;
  assign thread     = thread_q[ThreadW-1:0];
  assign head_in    = in_i.payload;
  assign dest_in    = in_i.dest;
  assign in_ready_o = state_q == Fill && free_valid;
  assign takes      = in_valid_i && in_ready_o;
  // Packets that are no message of threads are swallowed. Of one that is too long for threads the end is not kept.
  assign ends       = takes && in_i.last && (first_q ? in_i.kind == FlitKindBody : good_q);
  assign out_moves  = state_q == Send && out_ready_i;
  assign matched    = done.status == MatchStatusMatched;
  assign waits      = state_q == Wait && done_valid && is_message && done.status == MatchStatusWaiting;
  assign news       = watches_q[thread];
  assign cleared    = state_q == Wait && done_valid && is_clear && matched;
  assign free_take  = waits;
  assign free_give  = out_moves && at_q == last_q && frees_q;

  always_comb begin
    state_d = state_q;
    note_d  = note_q;
    unique case (state_q)
      Fill: if (ends) state_d = Ask;
      Ask: if (cmd_ready) state_d = Wait;
      Wait: if (done_valid) begin
        state_d = Note;
        unique case (done.status)
          MatchStatusMatched: begin
            note_d = is_clear ? MatchPacketCleared : is_count ? MatchPacketCounted : MatchPacketCancelled;
            if (!is_cancel && !is_clear && !is_count) state_d = Read;
          end
          MatchStatusWaiting: begin
            note_d = MatchPacketNews;
            if (!is_message || !news) state_d = Fill;
          end
          MatchStatusNone: begin
            note_d = is_cancel ? MatchPacketGone : MatchPacketNone;
            if (is_cancel && entry_q != '1) state_d = Ask;
          end
          MatchStatusFull: note_d = is_message ? MatchPacketFullMessages : MatchPacketFullPosts;
          default: note_d = MatchPacketBad;
        endcase
      end
      Read: state_d = Send;
      Send: if (out_moves && at_q == last_q) state_d = Fill;
      Note: if (out_ready_i) state_d = Fill;
      default: state_d = Fill;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Fill;
      first_q   <= 1'b1;
      watches_q <= '0;
      at_q      <= '0;
    end else begin
      state_q <= state_d;
      if (takes) begin
        first_q <= in_i.last;
        if (in_i.last) at_q <= '0;
        else if (32'(at_q) != MaxFlits - 1) at_q <= at_q + count_t'(1);
      end
      if (out_moves) at_q <= (at_q == last_q) ? '0 : at_q + count_t'(1);
      if (waits) watches_q[thread] <= 1'b0;
      if (state_q == Wait && done_valid && done.status == MatchStatusNone && is_watch) watches_q[thread] <= 1'b1;
      if (cleared) watches_q <= '0;
    end
    if (takes && first_q) begin
      head_q   <= head_in;
      thread_q <= dest_in.port;
      good_q   <= in_i.kind == FlitKindBody;
    end
    if (takes) begin
      last_q <= at_q;
      slot_q <= free_id;
    end
    if (state_q == Fill) entry_q <= '0;
    if (state_q == Wait && done_valid) begin
      note_q   <= note_d;
      entry_q  <= entry_q + id_t'(1);
      probed_q <= done.op == MatchOpProbe;
      frees_q  <= done.op == MatchOpPost;
      handle_q <= is_message ? done.partner[15:0] : head_q.handle;
      if (is_count && matched) head_q.tag <= done.partner;
      if (!is_message && matched) begin
        slot_q <= id_t'(done.partner);
        last_q <= count_t'(done.length);
      end
    end
  end

  // ------------------------------------------------------------------ out
  always_comb begin
    head_out        = stored;
    head_out.handle = handle_q;
    if (probed_q) head_out.kind = head_out.kind | MatchPacketFound;
    out_o = '{
      kind: FlitKindBody, last: at_q == last_q, vnet: VnetMailbox, job: '0, epoch: '0, wave: '0,
      dest: {EndpointThread, 3'd0, board_i, tile_y_i, tile_x_i, thread_q},
      payload: (at_q == '0) ? head_out : stored
    };
    if (state_q == Note) begin
      out_o.last    = 1'b1;
      head_out      = head_q;
      head_out.kind = note_q;
      out_o.payload = head_out;
    end
  end
  assign out_valid_o = state_q == Send || state_q == Note;
  // A clock that stands still does not hurt the engine, but it may be clearing its tables.
  assign busy_o      = state_q != Fill || !cmd_ready || !first_q;

  logic unused;
  assign unused = ^{in_i.vnet, in_i.job, in_i.epoch, in_i.wave, dest_in, done};

  `GS_ASSERT_NOW(a_message_that_waits_has_a_slot, !waits || free_valid)
  `GS_ASSERT_NOW(a_completion_is_that_of_the_request, !(state_q == Wait && done_valid) || done.op == op)
  `GS_ASSERT_NOW(what_is_sent_has_a_thread, !out_valid_o || 32'(thread_q) < Receivers || note_q == MatchPacketBad)
endmodule
