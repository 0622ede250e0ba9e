// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Match engine whose cost does not grow with the depth of its queues: a CAM in front of hashed lists.
///
/// The CAM has the oldest entries, of both queues; what does not fit waits in lists, one set of them for each class of
/// wildcards (gs_match_wildcard_lists). A receive stands in one list, that of its own class; a message in one of each class,
/// since any receive may ask for it. So a message looks at the first entry of one list of each class, and takes the
/// oldest; a receive looks at one list alone. No list is ever searched.
///
///     Idle -> Select -> Act -> Idle, or Select again       found in the CAM, put into it, or refused
///                        +-> Look -> Match -> Idle           a probe; nothing found; put into the CAM
///                                      +-> Put, Second      put into lists
///                                      +-> Take, Second     a receive is taken out of its list
///                                      +-> Load, Fetch, Hash, Take, Second    a message is taken out of its four
///                               +-> Pick -> Match           several candidates: the oldest
///                        +-> Read -> Check -> Cancel         nothing to cancel; a receive is taken out of the CAM
///                                      +-> Load, Fetch, Hash, Take, Second    out of its list
///
/// The CAM is searched when a request is taken, selected from in Select, and changed in Act, in which the next request
/// may be taken. For a cancel it is searched by the entry's number, and changed when the entry's record has been read.
/// What a request comes to is known a cycle behind Act or Match, when the record of what it found is read. What Act,
/// Match and Cancel do is decided in the cycle before each: their enables reach all of the CAM and of the memories, and
/// come from registers.
///
/// Entries of a queue go to the CAM while none of that queue is in lists, so all in the CAM are older than those.
module gs_match_hashed
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// entries of the CAM
  parameter  int unsigned CamEntries = 16,
  /// entries of both queues together, a power of two, 8 or more
  parameter  int unsigned Entries    = 256,
  /// entries that one queue cannot take from the other
  parameter  int unsigned Reserve    = Entries / 8,
  /// ranks that it serves
  parameter  int unsigned Ranks      = 1024,
  /// bits of the stamps that tell which of two receives is older: 2^48 receives a lifetime
  parameter  int unsigned StampW     = 48,
  /// bins of each class's hash, a power of two
  parameter  int unsigned Bins       = 2 * Entries,
  localparam int unsigned SeedW      = $bits(match_key_t) + $clog2(Bins) - 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// secret bits of the hash; taken while all lists are empty
  input  logic [SeedW-1:0]  seed_i,
  input  logic              cmd_valid_i,
  output logic              cmd_ready_o,
  input  match_command_t    cmd_i,
  output logic              done_valid_o,
  input  logic              done_ready_i,
  output match_completion_t done_o,
  /// entries of each queue
  output logic [31:0]       posts_o,
  output logic [31:0]       messages_o
);
  if (Entries < 8 || (Entries & (Entries - 1)) != 0) begin : gen_illegal_entries
    $fatal(1, "gs_match_hashed: Entries is %0d; it must be a power of two, 8 or more", Entries);
  end

  localparam int unsigned IdW = $clog2(Entries);
  localparam int unsigned Most = Entries - Reserve;
  typedef logic [IdW-1:0] id_t;
  typedef logic [IdW:0] count_t;
  typedef logic [StampW-1:0] stamp_t;
  // What is known of an entry besides its links.
  typedef struct packed {
    logic        valid;
    logic        listed;
    logic        posts;
    logic [1:0]  class_nr;
    logic        rendezvous;
    logic [7:0]  length;
    logic [15:0] source;
    logic [31:0] tag;
    logic [31:0] handle;
  } record_t;
  typedef enum logic [3:0] {Idle, Select, Act, Look, Match, Pick, Put, Load, Fetch, Hash, Take, Second, Read,
                            Check, Cancel} state_e;

  state_e state_q, state_d;
  match_command_t cmd_q, done_cmd_q;
  match_search_t search_in, search, own;
  count_t posts_q, messages_q, list_posts_q, list_messages_q;
  logic [SeedW-1:0] seed_q;
  logic accept, bad_q, ready_q;

  // ----------------------------------------------------------------- CAM
  logic cam_will_find, cam_found, cam_full;
  // What is done to CAM and lists, and what is decided for the next cycle.
  logic cam_remove_q, cam_insert_q, put_lists_q, take_lists_q, cam_remove_d, cam_insert_d, put_lists_d, take_lists_d;
  id_t cam_id, free_id;
  gs_match_cam #(
    .Entries(CamEntries),
    .data_t (id_t),
    .NameW  (IdW)
  ) u_cam (
    .clk_i,
    .rst_ni,
    .search_i    (state_q inside {Idle, Act}),
    .key_i       (search_in),
    .by_name_i   (cmd_i.op == MatchOpCancel),
    .name_i      (id_t'(cmd_i.tag)),
    .select_i    (state_q == Select),
    .will_find_o (cam_will_find),
    .found_o     (cam_found),
    .found_key_o (),
    .found_data_o(cam_id),
    .remove_i    (cam_remove_q),
    .insert_i    (cam_insert_q),
    .new_i       (own),
    .new_data_i  (free_id),
    .full_o      (cam_full)
  );

  // ------------------------------------------------------- free numbers
  logic free_valid, enters, free_soon, gone_q;
  id_t gone_id, gone_id_q;
  count_t fresh;
  gs_match_free_list #(.Entries(Entries)) u_free (
    .clk_i,
    .rst_ni,
    .valid_o  (free_valid),
    .id_o     (free_id),
    .take_i   (enters),
    .give_i   (gone_q),
    .give_id_i(gone_id_q),
    .soon_o   (free_soon),
    .fresh_o  (fresh)
  );

  // ------------------------------------------------------------- classes
  logic [Classes-1:0] ready, done, found, found_posts, active_q, candidate;
  logic look_go;
  id_t found_id[Classes];
  // What is put in or taken out, and of which classes.
  id_t target, target_q;
  logic [Classes-1:0] touched, touched_q;
  for (genvar k = 0; k < Classes; k++) begin : gen_class
    gs_match_wildcard_lists #(
      .Class  (k),
      .Entries(Entries),
      .Bins   (Bins)
    ) u_class (
      .clk_i,
      .rst_ni,
      .ready_o      (ready[k]),
      .seed_i       (seed_q),
      .search_i     (search),
      .hash_i       (state_q == Select),
      .lookup_i     (look_go && active_q[k]),
      .done_o       (done[k]),
      .found_o      (found[k]),
      .found_posts_o(found_posts[k]),
      .found_id_o   (found_id[k]),
      .load_i       (state_q == Load && touched_q[k]),
      .put_i        ((state_q == Put || (state_q == Second && putting_q)) && touched_q[k]),
      .take_i       ((state_q == Take || (state_q == Second && !putting_q)) && touched_q[k]),
      .second_i     (state_q == Second),
      .entry_i      (target_q),
      .entry_posts_i(cmd_q.op == MatchOpPost)
    );
  end

  // --------------------------------------------------- records and stamps
  id_t record_raddr, new_id_q;
  record_t record_wdata, record, record_q;
  logic entered_q, listed_q;
  // Written a cycle after the entry was put in or taken out: then it has been read, and the next request has not come
  // so far.
  gs_ram_sdp #(.Width($bits(record_t)), .Depth(Entries)) u_records (
    .clk_i, .we_i(entered_q || gone_q), .wstrb_i(1'b1), .waddr_i(gone_q ? gone_id_q : new_id_q), .wdata_i(record_wdata),
    .re_i(1'b1), .raddr_i(record_raddr), .rdata_o(record)
  );
  logic stamp_we;
  id_t stamp_raddr;
  stamp_t stamp_q, stamp, stamp_read_q, best_q;
  gs_ram_sdp #(.Width(StampW), .Depth(Entries)) u_stamps (
    .clk_i, .we_i(stamp_we), .wstrb_i(1'b1), .waddr_i(new_id_q), .wdata_i(stamp_q),
    .re_i(1'b1), .raddr_i(stamp_raddr), .rdata_o(stamp)
  );

  // ------------------------------------------------------------ decisions
  logic wants_posts, in_lists, cam_takes, room, stay, looks, waits_for_room;
  logic cam_takes_q, stays_q, any_q, cancel_ok, cancel_ok_q, putting_q;
  logic [1:0] chosen, chosen_q, pick_q;
  id_t chosen_id_q;

  assign search_in   = search_of(cmd_i);
  assign search      = search_of(cmd_q);
  // An entry that is put in is one of the queue that the request belongs to.
  assign own         = '{posts: cmd_q.op == MatchOpPost, any_source: cmd_q.any_source, any_tag: cmd_q.any_tag,
                         key: key_of(cmd_q)};
  assign wants_posts = cmd_q.op == MatchOpArrive;
  assign stay        = stays(cmd_q.op);
  // Those of the request before have changed in the cycle before Select.
  assign in_lists    = (wants_posts ? list_posts_q : list_messages_q) != '0;
  assign cam_takes   = (wants_posts ? list_messages_q : list_posts_q) == '0 && !cam_full;
  assign room        = free_valid && !cmd_q.now && 32'(wants_posts ? messages_q : posts_q) < Most;
  // Behind the CAM: because of what waits there, or because there is no place in front of it.
  assign looks       = in_lists || (stay && room && !cam_takes);
  assign candidate   = found & active_q & (found_posts ~^ {Classes{wants_posts}});
  assign cancel_ok   = record_q.valid && record_q.posts && record_q.handle == cmd_q.handle && cmd_q.tag < 32'(fresh);
  // A number that was given back is free a few cycles later.
  assign waits_for_room = free_soon || (gone_q && !free_valid);

  // Known before Match: the number's way to the records is a long one.
  always_comb begin
    chosen = '0;
    for (int unsigned k = 0; k < Classes; k++) if (candidate[k]) chosen = 2'(k);
    if (state_q == Pick) chosen = pick_q;
  end

  // Which of several is the oldest: their stamps are read one after the other.
  logic [Classes-1:0] left_q, next_left;
  logic [1:0] reading, reading_q, read_q;
  logic reading_valid_q, read_valid_q, best_valid_q;
  assign next_left = left_q & (left_q - Classes'(1));
  always_comb begin
    reading = '0;
    for (int k = Classes - 1; k >= 0; k--) if (left_q[k]) reading = 2'(k);
  end
  assign stamp_raddr = found_id[reading];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q          <= '0;
      reading_valid_q <= 1'b0;
      read_valid_q    <= 1'b0;
    end else begin
      left_q          <= (state_q == Pick) ? next_left : candidate;
      reading_valid_q <= state_q == Pick && left_q != '0;
      read_valid_q    <= reading_valid_q;
    end
    reading_q    <= reading;
    read_q       <= reading_q;
    stamp_read_q <= stamp;
    if (state_q != Pick) best_valid_q <= 1'b0;
    else if (read_valid_q) begin
      best_valid_q <= 1'b1;
      if (!best_valid_q || stamp_read_q < best_q) begin
        best_q <= stamp_read_q;
        pick_q <= read_q;
      end
    end
  end

  // -------------------------------------------------------------- control
  logic emit, emit_q, emit_record, emit_record_q, ends_d, ends_q, free_q;
  match_status_e emit_status, emit_status_q, refusal;
  logic drop, drop_post, drop_message, add_post, add_message;
  logic [2:0] waiting;

  // What a request comes to that finds nothing.
  assign refusal     = !stay ? MatchStatusNone : stays_q ? MatchStatusWaiting : MatchStatusFull;
  assign cmd_ready_o = ready_q && free_q;
  assign accept      = cmd_valid_i && cmd_ready_o;

  always_comb begin
    state_d      = state_q;
    ends_d       = 1'b0;
    cam_remove_d = 1'b0;
    cam_insert_d = 1'b0;
    put_lists_d  = 1'b0;
    take_lists_d = 1'b0;
    emit         = 1'b0;
    emit_status  = MatchStatusMatched;
    emit_record  = 1'b0;
    look_go      = 1'b0;
    touched      = wants_posts ? '1 : active_q;
    target       = free_id;
    gone_id      = cam_id;
    record_raddr = cam_id;
    unique case (state_q)
      Idle: if (accept) state_d = Select;
      Select: if (!waits_for_room) begin
        state_d = Act;
        // The CAM knows what comes of it.
        ends_d  = bad_q || (cmd_q.op != MatchOpCancel && (cam_will_find || !looks));
        if (!bad_q && cmd_q.op != MatchOpCancel) begin
          cam_remove_d = cam_will_find && cmd_q.op != MatchOpProbe;
          cam_insert_d = !cam_will_find && !looks && stay && room;
        end
      end
      Act: begin
        if (ends_q) state_d = accept ? Select : Idle;
        else if (cmd_q.op == MatchOpCancel) state_d = Read;
        else state_d = Look;
        emit        = ends_q;
        emit_record = cam_found && !bad_q;
        if (bad_q) emit_status = MatchStatusBad;
        else if (!cam_found) emit_status = refusal;
        look_go = !ends_q && cmd_q.op != MatchOpCancel;
        if (cmd_q.op == MatchOpCancel) record_raddr = id_t'(cmd_q.tag);
      end
      Look: if (&done) begin
        if ((candidate & (candidate - Classes'(1))) != '0) begin
          state_d = Pick;
        end else begin
          state_d      = Match;
          cam_insert_d = candidate == '0 && stays_q && cam_takes_q;
          put_lists_d  = candidate == '0 && stays_q && !cam_takes_q;
          take_lists_d = candidate != '0 && cmd_q.op != MatchOpProbe;
        end
      end
      Pick: if (left_q == '0 && !reading_valid_q && !read_valid_q) begin
        state_d      = Match;
        take_lists_d = cmd_q.op != MatchOpProbe;
      end
      Match: begin
        emit         = 1'b1;
        emit_record  = any_q;
        emit_status  = any_q ? MatchStatusMatched : refusal;
        record_raddr = chosen_id_q;
        gone_id      = chosen_id_q;
        if (any_q) begin
          target  = chosen_id_q;
          touched = wants_posts ? Classes'(1) << chosen_q : '1;
        end
        state_d = put_lists_q ? Put : !take_lists_q ? Idle : wants_posts ? Take : Load;
      end
      Put: state_d = Second;
      Load: state_d = Fetch;
      Fetch: state_d = Hash;
      Hash: state_d = Take;
      Take: state_d = Second;
      Second: state_d = Idle;
      Read: state_d = Check;
      Check: begin
        state_d      = Cancel;
        cam_remove_d = cancel_ok && !record_q.listed;
        take_lists_d = cancel_ok && record_q.listed;
      end
      Cancel: begin
        gone_id     = id_t'(cmd_q.tag);
        target      = id_t'(cmd_q.tag);
        touched     = Classes'(1) << record_q.class_nr;
        emit        = 1'b1;
        emit_status = cancel_ok_q ? MatchStatusMatched : MatchStatusNone;
        state_d     = take_lists_q ? Load : Idle;
      end
      default: state_d = Idle;
    endcase
  end

  assign enters       = cam_insert_q || put_lists_q;
  assign drop         = cam_remove_q || take_lists_q;
  assign drop_post    = drop && cmd_q.op inside {MatchOpArrive, MatchOpCancel};
  assign drop_message = drop && !drop_post;
  assign add_post     = enters && !wants_posts;
  assign add_message  = enters && wants_posts;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q         <= Idle;
      posts_q         <= '0;
      messages_q      <= '0;
      list_posts_q    <= '0;
      list_messages_q <= '0;
      stamp_q         <= '0;
      emit_q          <= 1'b0;
      gone_q          <= 1'b0;
      entered_q       <= 1'b0;
      ends_q          <= 1'b0;
      free_q          <= 1'b1;
      cam_remove_q    <= 1'b0;
      cam_insert_q    <= 1'b0;
      put_lists_q     <= 1'b0;
      take_lists_q    <= 1'b0;
      ready_q         <= 1'b0;
    end else begin
      state_q         <= state_d;
      posts_q         <= posts_q + count_t'(add_post) - count_t'(drop_post);
      messages_q      <= messages_q + count_t'(add_message) - count_t'(drop_message);
      list_posts_q    <= list_posts_q + count_t'(put_lists_q && !wants_posts) - count_t'(take_lists_q && drop_post);
      list_messages_q <= list_messages_q + count_t'(put_lists_q && wants_posts)
                       - count_t'(take_lists_q && drop_message);
      if (stamp_we) stamp_q <= stamp_q + stamp_t'(1);
      emit_q          <= emit;
      gone_q          <= drop;
      entered_q       <= enters;
      ends_q          <= ends_d;
      free_q          <= ends_d || state_d == Idle;
      cam_remove_q    <= cam_remove_d;
      cam_insert_q    <= cam_insert_d;
      put_lists_q     <= put_lists_d;
      take_lists_q    <= take_lists_d;
      // Completions have room: one that waits, one that is told, two that are under way.
      ready_q         <= (&ready) && waiting <= 3'd1;
    end
    if (accept) begin
      cmd_q <= cmd_i;
      bad_q <= is_bad(cmd_i, Ranks);
    end
    if (state_q == Select) begin
      active_q    <= wants_posts ? '1 : Classes'(1) << class_of(search);
      cam_takes_q <= cam_takes;
      stays_q     <= stay && room;
    end
    if (state_q inside {Look, Pick}) begin
      chosen_q    <= chosen;
      chosen_id_q <= found_id[chosen];
    end
    if (state_q == Look) any_q <= candidate != '0;
    if (state_q inside {Match, Cancel}) begin
      touched_q <= touched;
      target_q  <= target;
      putting_q <= put_lists_q;
    end
    if (state_q == Read) record_q <= record;
    cancel_ok_q   <= cancel_ok;
    emit_status_q <= emit_status;
    emit_record_q <= emit_record;
    gone_id_q     <= gone_id;
    new_id_q      <= free_id;
    listed_q      <= put_lists_q;
    if (emit) done_cmd_q <= cmd_q;
    if (state_q == Idle && list_posts_q == '0 && list_messages_q == '0) seed_q <= seed_i;
  end

  assign record_wdata = '{
    valid: !gone_q, listed: listed_q, posts: done_cmd_q.op == MatchOpPost, class_nr: class_of(search_of(done_cmd_q)),
    rendezvous: done_cmd_q.rendezvous, length: done_cmd_q.length, source: done_cmd_q.source, tag: done_cmd_q.tag,
    handle: done_cmd_q.handle
  };
  assign stamp_we     = entered_q && listed_q && done_cmd_q.op == MatchOpPost;

  // ---------------------------------------------------------- completions
  match_completion_t done_now;
  logic done_ready;
  always_comb begin
    done_now = completion_of(done_cmd_q, emit_status_q, emit_record_q,
                             '{rendezvous: record.rendezvous, length: record.length, source: record.source,
                               tag: record.tag, handle: record.handle});
    if (emit_status_q == MatchStatusWaiting && done_cmd_q.op == MatchOpPost) done_now.partner = 32'(new_id_q);
  end
  gs_match_completion u_done (
    .clk_i,
    .rst_ni,
    .in_valid_i (emit_q),
    .in_ready_o (done_ready),
    .in_i       (done_now),
    .out_valid_o(done_valid_o),
    .out_ready_i(done_ready_i),
    .out_o      (done_o),
    .count_o    (waiting)
  );

  assign posts_o    = 32'(posts_q);
  assign messages_o = 32'(messages_q);

  logic unused_record;
  assign unused_record = ^{record_q.rendezvous, record_q.length, record_q.source, record_q.tag};

  `GS_ASSERT_NOW(a_completion_has_room, !emit_q || done_ready)
  `GS_ASSERT_NOW(a_record_is_written_once, !(entered_q && gone_q))
  `GS_ASSERT_NOW(what_enters_is_told, !enters || emit)
  `GS_ASSERT_NOW(a_number_is_there, !enters || free_valid)
  `GS_ASSERT_NOW(what_is_cancelled_is_found, state_q != Cancel || !cam_remove_q || (cam_found && cam_id == gone_id))
  `GS_ASSERT_NOW(all_entries_are_counted, posts_q <= count_t'(Entries) && messages_q <= count_t'(Entries))
  `GS_ASSERT_NOW(lists_have_no_more_than_there_is, list_posts_q <= posts_q && list_messages_q <= messages_q)
endmodule
