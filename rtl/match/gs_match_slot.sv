// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// A match engine with a store for messages: in a tile's accelerator slot for the tile's threads, or at the board for
/// those of several tiles (gs_board_match). It receives messages from any tile and receives from its threads, and
/// delivers to each receive's thread the message that MPI's order assigns to it, including the payload.
///
/// A packet begins with a `match_packet_head`. A first byte below `found` marks a message; the port of its address is
/// the receiving thread. A message that matches is forwarded to that thread unchanged, except for the handle of the
/// receive in its head; a message that does not match waits in the store. A receive that must wait gets no answer.
///
///     packets -> Fill --whole packet--> Ask --> Wait -> gs_match_response_queue -> packets to threads
///                 ^                     ^ +--cancel: not this entry
///                 +---------------------+-----------+
///
/// Packets are always accepted, within the time of one engine request: nothing here waits for a thread. So the store
/// has space for everything that senders may send: `Eager` messages sent with credit (`announced` in the first byte is
/// 0), from their arrival until they have left; `Announced` waiting messages without credit, and all others that fit;
/// and `Receives` receives. Packets beyond that are rejected, and their thread is notified.
///
/// The engine identifies a waiting receive by its entry, threads by their handle, so a cancel tries all entries in
/// turn. A clear empties engine, store and watches, so a program starts without leftovers of the previous one. Its
/// other fields are the secret of the engine's hash.
module gs_match_slot
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// threads that it serves, 2 to 256
  parameter int unsigned Receivers  = 16,
  /// low bits of an address that name the thread, 6 to 10: those above them are the tile's, or 0 at the board
  parameter int unsigned ThreadBits = 6,
  /// flits of the longest packet
  parameter int unsigned MaxFlits   = 4,
  /// entries of the CAM, 2 or more
  parameter int unsigned CamEntries = 16,
  /// waiting receives and messages together, a power of two, 8 or more; also slots of the store
  parameter int unsigned Entries    = 256,
  /// of these: waiting receives
  parameter int unsigned Receives   = Entries * 3 / 8,
  /// messages whose senders have credit
  parameter int unsigned Eager      = Entries / 2,
  /// waiting messages without credit
  parameter int unsigned Announced  = Entries / 8,
  /// packets that a thread has not acknowledged, at most
  parameter int unsigned Window     = 4,
  /// packets of more than MaxFlits flits: 1: have no effect; 0: lose their tail
  parameter bit          DropLong   = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  /// secret of the hash after reset; 0: a public one
  input  logic [63:0] seed_i,
  input  logic [11:0] board_i,
  input  logic [3:0]  tile_y_i,
  input  logic [3:0]  tile_x_i,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  flit_t       in_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output flit_t       out_o,
  /// a packet is in flight; waiting messages and receives do not count
  output logic        busy_o,
  /// waiting receives and waiting messages
  output logic [31:0] receives_o,
  output logic [31:0] messages_o
);
  if (ThreadBits < 6 || ThreadBits > 10 || Receivers > 1 << ThreadBits) begin : gen_illegal_width
    $fatal(1, "gs_match_slot: ThreadBits is %0d for %0d threads; it must be 6 to 10", ThreadBits, Receivers);
  end
  if (MaxFlits > 255) begin : gen_illegal_size
    $fatal(1, "gs_match_slot: packets of %0d flits; 255 at most", MaxFlits);
  end
  if (Receives + Eager + Announced > Entries) begin : gen_illegal_shares
    $fatal(1, "gs_match_slot: %0d receives, %0d and %0d messages; Entries is %0d", Receives, Eager, Announced, Entries);
  end

  localparam int unsigned IdW = $clog2(Entries);
  localparam int unsigned FlitW = (MaxFlits > 1) ? $clog2(MaxFlits) : 1;
  localparam int unsigned ThreadW = $clog2(Receivers);
  // Slots available to messages without credit, both waiting ones and matched ones. One slot is reserved for the
  // incoming packet, and one may be lost until the next clear.
  localparam int unsigned AnnouncedMost = Entries - Eager - 2;
  typedef logic [IdW-1:0] id_t;
  typedef logic [IdW:0] count_t;
  typedef logic [FlitW-1:0] flit_nr_t;
  typedef enum logic [1:0] {Fill, Ask, Wait} state_e;

  state_e state_q, state_d;
  match_packet_head_t head_q, head_in;
  logic [ThreadBits-1:0] thread_q;
  logic first_q, good_q, takes, ends, begun_q, over_q, too_long;
  flit_nr_t last_q, at_q;
  id_t slot_q, free_id, entry_q;
  logic [109:0] seed_q;

  // --------------------------------------------------------------- engine
  logic cmd_valid, cmd_ready, done_valid, done_ready;
  match_command_t cmd;
  match_completion_t done;
  match_op_e op;
  logic [31:0] posts;
  logic is_message, is_announced, is_cancel, is_watch, is_count, is_clear, is_await, is_taken, known;

  assign is_message   = head_q.kind < MatchPacketFound;
  assign is_announced = is_message && (head_q.kind & MatchPacketAnnounced) != '0;
  assign is_cancel    = head_q.kind == MatchPacketCancel;
  assign is_watch     = head_q.kind == MatchPacketWatch;
  assign is_count     = head_q.kind == MatchPacketCount;
  assign is_clear     = head_q.kind == MatchPacketClear;
  assign is_await     = head_q.kind == MatchPacketAwait;
  assign is_taken     = head_q.kind == MatchPacketTaken;
  assign known        = 32'(thread_q) < Receivers;
  always_comb begin
    unique case (head_q.kind)
      MatchPacketPost:                    op = MatchOpPost;
      MatchPacketCancel:                  op = MatchOpCancel;
      MatchPacketProbe, MatchPacketWatch: op = MatchOpProbe;
      MatchPacketTake:                    op = MatchOpTake;
      MatchPacketCount, MatchPacketAwait: op = MatchOpCount;
      MatchPacketClear:                   op = MatchOpClear;
      default:                            op = is_message ? MatchOpArrive : match_op_e'({$bits(match_op_e){1'b1}});
    endcase
  end

  // Slots: all messages; all messages without credit; waiting ones without credit
  count_t eager_q, announced_q, waiting_q;
  logic rejected, has_to_answer;
  logic [Receivers-1:0] answering;
  logic [ThreadW-1:0] thread;
  assign thread        = thread_q[ThreadW-1:0];
  assign rejected      = is_message && (is_announced ? 32'(announced_q) >= AnnouncedMost : 32'(eager_q) >= Eager);
  assign has_to_answer = head_q.kind inside {MatchPacketCancel, MatchPacketProbe, MatchPacketWatch, MatchPacketTake,
                                             MatchPacketCount, MatchPacketAwait};
  always_comb begin
    cmd = '{op: op, rank: 10'(thread_q), communicator: head_q.communicator, source: head_q.source, tag: head_q.tag,
            length: 8'(last_q), rendezvous: is_announced, default: '0};
    // Handles of waiting receives are unique over all threads.
    cmd.handle = is_message ? 32'(slot_q) : 32'({thread_q, head_q.handle});
    cmd.now    = is_message ? is_announced && 32'(waiting_q) >= Announced : posts >= Receives;
    if (!is_message) begin
      cmd.any_source = head_q.any_source;
      cmd.any_tag    = head_q.any_tag;
    end
    if (is_cancel) begin
      cmd.any_source = 1'b0;
      cmd.any_tag    = 1'b0;
      cmd.tag        = 32'(entry_q);
    end
    if (is_await) cmd.tag = 32'(MatchCounterDelivered);
  end

  gs_match #(
    .Architecture(0),
    .CamEntries  (CamEntries),
    .Entries     (Entries),
    .Reserve     (0),
    .Ranks       (Receivers)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .seed_i      (128'(seed_q)),
    .cmd_valid_i (cmd_valid),
    .cmd_ready_o (cmd_ready),
    .cmd_i       (cmd),
    .done_valid_o(done_valid),
    .done_ready_i(done_ready),
    .done_o      (done),
    .posts_o     (posts),
    .messages_o
  );

  // ---------------------------------------------------------------- store
  // A message is written into the next free slot, which it occupies until it has left.
  logic free_valid, free_soon, free_skip, free_return, free_announced, cleared, reading, keep;
  id_t read_slot;
  flit_nr_t read_flit;
  logic [127:0] stored;
  gs_match_free_list #(.Entries(Entries)) u_free (
    .clk_i,
    .rst_ni     (rst_ni && !cleared),
    .valid_o    (free_valid),
    .id_o       (free_id),
    .take_i     (keep || free_skip),
    .return_i   (free_return),
    .return_id_i(read_slot),
    .soon_o     (free_soon),
    .fresh_o    ()
  );
  // After a clear, the message of a free slot may still be leaving. Such a slot is skipped, and lost until the next
  // clear.
  assign free_skip = state_q == Fill && first_q && free_valid && reading && free_id == read_slot;
  gs_ram_sdp #(.Width(128), .Depth(Entries << FlitW)) u_store (
    .clk_i, .we_i(takes), .wstrb_i(1'b1), .waddr_i({free_id, at_q}), .wdata_i(in_i.payload),
    .re_i(1'b1), .raddr_i({read_slot, read_flit}), .rdata_o(stored)
  );

  // --------------------------------------------------------------- input
  assign receives_o = posts;
  assign head_in = in_i.payload;
  // A returned slot is available again after a few cycles.
  assign in_ready_o = state_q == Fill && !free_soon && !free_skip;
  assign takes      = in_valid_i && in_ready_o;
  // Discards packets that are neither messages nor requests of threads. The tail of a packet that is too long for
  // threads is not stored.
  assign ends = takes && in_i.last && (first_q ? in_i.kind == FlitKindBody : good_q && !too_long);
  assign too_long = DropLong && over_q && !first_q;

  // ------------------------------------------------------- actions
  // A request's count of acknowledged packets is applied first.
  logic answers_ready, asks, notified, delivers, found, waits, matched, news, busy;
  logic send, answer, full, bad, stray, await, took;
  logic [Receivers-1:0] watches_q;
  match_packet_head_t said;
  logic [31:0] ahead;

  assign took      = state_q == Ask && !notified && answers_ready;
  assign notified  = begun_q || is_message || !known;
  assign asks      = !rejected && !is_taken && !(has_to_answer && known && answering[thread]);
  assign cmd_valid = state_q == Ask && asks && (notified || took);
  // Completed without the engine
  assign delivers   = state_q == Ask && !asks && notified && answers_ready;
  assign done_ready = state_q == Wait && answers_ready;
  assign found      = done_ready && done_valid && matched;
  assign matched    = done.status == MatchStatusMatched;
  assign waits      = done_ready && done_valid && is_message && done.status == MatchStatusWaiting;
  assign news       = waits && watches_q[thread];
  assign cleared    = found && is_clear;
  // Counts wrap around, and so do awaited values.
  assign ahead = head_q.tag - done.partner;

  always_comb begin
    state_d = state_q;
    send    = 1'b0;
    answer  = 1'b0;
    full    = 1'b0;
    bad     = 1'b0;
    stray   = 1'b0;
    await   = 1'b0;
    said    = head_q;
    unique case (state_q)
      Fill: if (ends) state_d = Ask;
      Ask: begin
        if (cmd_valid && cmd_ready) state_d = Wait;
        if (delivers) begin
          state_d = Fill;
          full    = rejected && known;
          stray   = rejected && !known;
          bad     = !rejected && !is_taken;
        end
      end
      Wait: if (done_valid && answers_ready) begin
        state_d = Fill;
        unique case (done.status)
          MatchStatusMatched: begin
            send      = op inside {MatchOpPost, MatchOpArrive, MatchOpTake};
            await     = is_await;
            answer    = op == MatchOpProbe || is_count || is_cancel;
            said.kind = is_count || is_await ? MatchPacketCounted : is_cancel ? MatchPacketCancelled : MatchPacketNone;
            if (is_count) said.tag = done.partner;
            if (is_message) said.handle = done.partner[15:0];
          end
          MatchStatusNone: begin
            said.kind = is_cancel ? MatchPacketGone : MatchPacketNone;
            answer    = !is_cancel || entry_q == '1;
            if (!answer) state_d = Ask;
          end
          MatchStatusFull: begin
            full   = is_message;
            answer = !is_message;
            said.kind = MatchPacketFullPosts;
          end
          MatchStatusWaiting: ;
          default: begin
            said.kind = MatchPacketBad;
            answer    = known;
            stray     = !known;
          end
        endcase
      end
      default: state_d = Fill;
    endcase
    if (full) said.kind = MatchPacketFullMessages;
  end
  assign keep = waits || (send && is_message);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= Fill;
      first_q     <= 1'b1;
      watches_q   <= '0;
      at_q        <= '0;
      eager_q     <= '0;
      announced_q <= '0;
      waiting_q   <= '0;
      seed_q      <= 110'({seed_i, seed_i});
    end else begin
      state_q <= state_d;
      if (takes) begin
        first_q <= in_i.last;
        if (in_i.last) at_q <= '0;
        else if (32'(at_q) != MaxFlits - 1) at_q <= at_q + flit_nr_t'(1);
      end
      if (waits) watches_q[thread] <= 1'b0;
      if (done_ready && done_valid && done.status == MatchStatusNone && is_watch) watches_q[thread] <= 1'b1;
      eager_q     <= eager_q + count_t'(keep && !is_announced) - count_t'(free_return && !free_announced);
      announced_q <= announced_q + count_t'(keep && is_announced) - count_t'(free_return && free_announced);
      waiting_q   <= waiting_q + count_t'(waits && is_announced) - count_t'(send && !is_message && done.rendezvous);
      if (cleared) begin
        watches_q   <= '0;
        eager_q     <= '0;
        announced_q <= '0;
        waiting_q   <= '0;
        seed_q      <= {head_q.communicator, head_q.data, head_q.number, head_q.handle, head_q.source, head_q.tag};
      end
    end
    if (takes && first_q) begin
      head_q   <= head_in;
      thread_q <= in_i.dest[ThreadBits-1:0];
      good_q   <= in_i.kind == FlitKindBody;
    end
    if (takes) begin
      last_q <= at_q;
      slot_q <= free_id;
      // The next flit is the first one that has no place in a message.
      over_q <= 32'(at_q) == MaxFlits - 1;
    end
    if (state_q == Fill) begin
      begun_q <= 1'b0;
      entry_q <= '0;
    end
    if (took) begun_q <= 1'b1;
    if (state_q == Wait && done_valid && answers_ready) entry_q <= entry_q + id_t'(1);
  end

  // --------------------------------------------------------------- output
  logic out_last;
  logic [ThreadBits-1:0] out_thread;
  logic [127:0] out_data;
  gs_match_response_queue #(
    .Receivers (Receivers),
    .ThreadBits(ThreadBits),
    .MaxFlits  (MaxFlits),
    .Slots     (Entries),
    .Window    (Window)
  ) u_answers (
    .clk_i,
    .rst_ni,
    .ready_o         (answers_ready),
    .thread_i        (thread_q),
    .head_i          (said),
    .slot_i          (is_message ? slot_q : id_t'(done.partner)),
    .last_i          (is_message ? last_q : flit_nr_t'(done.length)),
    .announced_i     (is_message ? is_announced : done.rendezvous),
    .send_i          (send),
    .answer_i        (answer),
    .found_i         (op inside {MatchOpProbe, MatchOpTake} && matched),
    .full_i          (full),
    .bad_i           (bad),
    .news_i          (news),
    .stray_i         (stray),
    .await_i         (await),
    .await_count_i   (ahead[31] ? '0 : ahead),
    .took_i          (took),
    .took_count_i    (head_q.credit),
    .clear_i         (cleared),
    .answering_o     (answering),
    .read_slot_o     (read_slot),
    .read_flit_o     (read_flit),
    .read_data_i     (stored),
    .reading_o       (reading),
    .free_o          (free_return),
    .free_announced_o(free_announced),
    .out_valid_o,
    .out_ready_i,
    .out_last_o      (out_last),
    .out_thread_o    (out_thread),
    .out_data_o      (out_data),
    .busy_o          (busy)
  );
  assign out_o = '{
    kind: FlitKindBody, last: out_last, vnet: VnetMailbox, job: '0, epoch: '0, wave: '0,
    dest: {EndpointThread, 3'd0, board_i, {tile_y_i, tile_x_i, 6'd0} | 14'(out_thread)}, payload: out_data
  };
  // The engine tolerates a stopped clock, except while it clears its tables.
  assign busy_o = state_q != Fill || !cmd_ready || !first_q || busy;

  logic unused;
  assign unused = ^{in_i.vnet, in_i.job, in_i.epoch, in_i.wave, in_i.dest, done};

  `GS_ASSERT_NOW(full_only_on_request, !done_valid || !is_message || !(done.status == MatchStatusFull) || cmd.now)
  `GS_ASSERT_NOW(incoming_packet_has_slot, !takes || free_valid)
  `GS_ASSERT_NOW(completion_matches_request, !(state_q == Wait && done_valid) || done.op == op)
  // The slot of a message that leaves after a clear is skipped by the messages that arrive.
  `GS_ASSERT_NOW(message_that_leaves_is_not_being_written, !(u_store.undefined && reading && out_valid_o))
endmodule
