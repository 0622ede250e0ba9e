// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Match engine whose match time does not grow with the depth of its queues: a CAM followed by hashed lists.
///
/// The CAM holds the oldest entries of both queues. Entries that do not fit wait in lists; each class of wildcards has
/// its own set of lists (gs_match_wildcard_lists). A receive is in one list, that of its own class. A message is in one
/// list of each class, since any receive may match it. So a message looks up the first entry of one list of each class,
/// and matches the oldest; a receive looks up one list only. No list is ever searched.
///
///     Idle -> Select -> Act -> Idle, or Select again       found in the CAM, inserted into it, or rejected
///                        +-> Look -> Match -> Idle           a probe; nothing found; put into the CAM
///                                      +-> Put, Second      inserted into lists
///                                      +-> Take, Second     a receive is removed from its list
///                                      +-> Load, Fetch, Hash, Take, Second    a message is removed from its four
///                               +-> Pick -> Match           several candidates: the oldest
///                        +-> Read -> Check -> Cancel         nothing to cancel; a receive is removed from the CAM
///                                      +-> Load, Fetch, Hash, Take, Second    from its list
///
/// The CAM is searched when a request is accepted, its match selected in Select, and its entries changed in Act, in
/// which the next request may be accepted. For a cancel the CAM is searched by entry number, and changed when the
/// entry's record has been read. The result of a request is known one cycle after Act or Match, when the record of the
/// match is read. The actions of Act, Match and Cancel are decided in the cycle before: their enables reach all of the
/// CAM and the memories, and so come from registers.
///
/// New entries of a queue go to the CAM only while that queue has none in lists, so all its entries in the CAM are
/// older than those in lists.
module gs_match_hashed
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// entries of the CAM
  parameter  int unsigned CamEntries = 16,
  /// entries of both queues together, a power of two, 8 or more
  parameter  int unsigned Entries    = 256,
  /// entries that one queue must leave to the other
  parameter  int unsigned Reserve    = Entries / 8,
  /// ranks that the engine serves
  parameter  int unsigned Ranks      = 1024,
  /// bits of the stamps that order receives by age: 2^48 receives in total
  parameter  int unsigned StampW     = 48,
  /// bins of each class's hash, a power of two
  parameter  int unsigned Bins       = 2 * Entries,
  localparam int unsigned SeedW      = $bits(match_key_t) + $clog2(Bins) - 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// secret bits of the hash; sampled while all lists are empty
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
  // Data of an entry, without its links
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
  logic accept, bad_q, ready_q, putting_q;

  // ----------------------------------------------------------------- CAM
  logic cam_will_find, cam_found, cam_full;
  // Actions on CAM and lists, and the decisions for the next cycle
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
  logic free_valid, inserts, free_soon, returned_q;
  id_t gone_id, gone_id_q;
  count_t fresh;
  gs_match_free_list #(.Entries(Entries)) u_free (
    .clk_i,
    .rst_ni,
    .valid_o    (free_valid),
    .id_o       (free_id),
    .take_i     (inserts),
    .return_i   (returned_q),
    .return_id_i(gone_id_q),
    .soon_o     (free_soon),
    .fresh_o    (fresh)
  );

  // ------------------------------------------------------------- classes
  logic [Classes-1:0] ready, done, found, found_posts, active_q, candidate;
  logic look_go;
  id_t found_id[Classes];
  // The entry that is inserted or removed, and the classes concerned
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
  // Written one cycle after the insertion or removal: by then it has been read, and the next request has not reached
  // this stage.
  gs_ram_sdp #(.Width($bits(record_t)), .Depth(Entries)) u_records (
    .clk_i, .we_i(entered_q || returned_q), .wstrb_i(1'b1), .waddr_i(returned_q ? gone_id_q : new_id_q),
    .wdata_i(record_wdata),
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
  logic searches_posts, in_lists, cam_accepts, has_space, stay, uses_lists, waits_for_number;
  logic cam_accepts_q, stays_q, any_q, cancel_ok, cancel_ok_q;
  logic [1:0] chosen, chosen_q, pick_q;
  id_t chosen_id_q;

  assign search_in = search_of(cmd_i);
  assign search    = search_of(cmd_q);
  // A new entry belongs to the request's own queue.
  assign own = '{posts: cmd_q.op == MatchOpPost, any_source: cmd_q.any_source, any_tag: cmd_q.any_tag,
                         key: key_of(cmd_q)};
  assign searches_posts = cmd_q.op == MatchOpArrive;
  assign stay           = stays(cmd_q.op);
  // The changes of the previous request took effect in the cycle before Select.
  assign in_lists    = (searches_posts ? list_posts_q : list_messages_q) != '0;
  assign cam_accepts = (searches_posts ? list_messages_q : list_posts_q) == '0 && !cam_full;
  assign has_space   = free_valid && !cmd_q.now && 32'(searches_posts ? messages_q : posts_q) < Most;
  // Lists are used because the other queue has entries there, or because the CAM cannot hold the new entry.
  assign uses_lists = in_lists || (stay && has_space && !cam_accepts);
  assign candidate  = found & active_q & (found_posts ~^ {Classes{searches_posts}});
  assign cancel_ok  = record_q.valid && record_q.posts && record_q.handle == cmd_q.handle && cmd_q.tag < 32'(fresh);
  // A returned number is available again a few cycles later.
  assign waits_for_number = free_soon || (returned_q && !free_valid);

  // Computed before Match, since the path of the number to the records is long.
  always_comb begin
    chosen = '0;
    for (int unsigned k = 0; k < Classes; k++) if (candidate[k]) chosen = 2'(k);
    if (state_q == Pick) chosen = pick_q;
  end

  // Finds the oldest of several candidates by reading their stamps one after the other.
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
  logic emit, emit_q, emit_record, emit_record_q, finishes_d, finishes_q, free_q;
  match_status_e emit_status, emit_status_q, no_match_status;
  logic drop, drop_post, drop_message, add_post, add_message;
  logic [2:0] waiting;

  // Status of a request without a match
  assign no_match_status = !stay ? MatchStatusNone : stays_q ? MatchStatusWaiting : MatchStatusFull;
  assign cmd_ready_o     = ready_q && free_q;
  assign accept          = cmd_valid_i && cmd_ready_o;

  always_comb begin
    state_d      = state_q;
    finishes_d   = 1'b0;
    cam_remove_d = 1'b0;
    cam_insert_d = 1'b0;
    put_lists_d  = 1'b0;
    take_lists_d = 1'b0;
    emit         = 1'b0;
    emit_status  = MatchStatusMatched;
    emit_record  = 1'b0;
    look_go      = 1'b0;
    touched      = searches_posts ? '1 : active_q;
    target       = free_id;
    gone_id      = cam_id;
    record_raddr = cam_id;
    unique case (state_q)
      Idle: if (accept) state_d = Select;
      Select: if (!waits_for_number) begin
        state_d = Act;
        // The CAM alone determines the outcome.
        finishes_d = bad_q || (cmd_q.op != MatchOpCancel && (cam_will_find || !uses_lists));
        if (!bad_q && cmd_q.op != MatchOpCancel) begin
          cam_remove_d = cam_will_find && cmd_q.op != MatchOpProbe;
          cam_insert_d = !cam_will_find && !uses_lists && stay && has_space;
        end
      end
      Act: begin
        if (finishes_q) state_d = accept ? Select : Idle;
        else if (cmd_q.op == MatchOpCancel) state_d = Read;
        else state_d = Look;
        emit        = finishes_q;
        emit_record = cam_found && !bad_q;
        if (bad_q) emit_status = MatchStatusBad;
        else if (!cam_found) emit_status = no_match_status;
        look_go = !finishes_q && cmd_q.op != MatchOpCancel;
        if (cmd_q.op == MatchOpCancel) record_raddr = id_t'(cmd_q.tag);
      end
      Look: if (&done) begin
        if ((candidate & (candidate - Classes'(1))) != '0) begin
          state_d = Pick;
        end else begin
          state_d      = Match;
          cam_insert_d = candidate == '0 && stays_q && cam_accepts_q;
          put_lists_d  = candidate == '0 && stays_q && !cam_accepts_q;
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
        emit_status  = any_q ? MatchStatusMatched : no_match_status;
        record_raddr = chosen_id_q;
        gone_id      = chosen_id_q;
        if (any_q) begin
          target  = chosen_id_q;
          touched = searches_posts ? Classes'(1) << chosen_q : '1;
        end
        state_d = put_lists_q ? Put : !take_lists_q ? Idle : searches_posts ? Take : Load;
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

  assign inserts      = cam_insert_q || put_lists_q;
  assign drop         = cam_remove_q || take_lists_q;
  assign drop_post    = drop && cmd_q.op inside {MatchOpArrive, MatchOpCancel};
  assign drop_message = drop && !drop_post;
  assign add_post     = inserts && !searches_posts;
  assign add_message  = inserts && searches_posts;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q         <= Idle;
      posts_q         <= '0;
      messages_q      <= '0;
      list_posts_q    <= '0;
      list_messages_q <= '0;
      stamp_q         <= '0;
      emit_q          <= 1'b0;
      returned_q      <= 1'b0;
      entered_q       <= 1'b0;
      finishes_q      <= 1'b0;
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
      list_posts_q    <= list_posts_q + count_t'(put_lists_q && !searches_posts) - count_t'(take_lists_q && drop_post);
      list_messages_q <= list_messages_q + count_t'(put_lists_q && searches_posts)
                       - count_t'(take_lists_q && drop_message);
      if (stamp_we) stamp_q <= stamp_q + stamp_t'(1);
      emit_q       <= emit;
      returned_q   <= drop;
      entered_q    <= inserts;
      finishes_q   <= finishes_d;
      free_q       <= finishes_d || state_d == Idle;
      cam_remove_q <= cam_remove_d;
      cam_insert_q <= cam_insert_d;
      put_lists_q  <= put_lists_d;
      take_lists_q <= take_lists_d;
      // Space for completions: one waiting, one being issued, two in flight.
      ready_q <= (&ready) && waiting <= 3'd1;
    end
    if (accept) begin
      cmd_q <= cmd_i;
      bad_q <= is_bad(cmd_i, Ranks);
    end
    if (state_q == Select) begin
      active_q      <= searches_posts ? '1 : Classes'(1) << class_of(search);
      cam_accepts_q <= cam_accepts;
      stays_q       <= stay && has_space;
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
    valid: !returned_q, listed: listed_q, posts: done_cmd_q.op == MatchOpPost,
    class_nr: class_of(search_of(done_cmd_q)), rendezvous: done_cmd_q.rendezvous, length: done_cmd_q.length,
    source: done_cmd_q.source, tag: done_cmd_q.tag, handle: done_cmd_q.handle
  };
  assign stamp_we = entered_q && listed_q && done_cmd_q.op == MatchOpPost;

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

  `GS_ASSERT_NOW(completion_buffer_never_overflows, !emit_q || done_ready)
  `GS_ASSERT_NOW(one_record_write_per_cycle, !(entered_q && returned_q))
  `GS_ASSERT_NOW(inserted_request_is_completed, !inserts || emit)
  `GS_ASSERT_NOW(inserts_only_with_free_number, !inserts || free_valid)
  `GS_ASSERT_NOW(cancelled_entry_is_found, state_q != Cancel || !cam_remove_q || (cam_found && cam_id == gone_id))
  `GS_ASSERT_NOW(entry_counts_within_capacity, posts_q <= count_t'(Entries) && messages_q <= count_t'(Entries))
  `GS_ASSERT_NOW(list_counts_within_queue_counts, list_posts_q <= posts_q && list_messages_q <= messages_q)
  // A record that is read while it is written belongs to no completion, and to no request that is cancelled.
  `GS_ASSERT_NOW(completed_record_is_defined, !(u_records.undefined && emit_q && emit_record_q))
  `GS_ASSERT_NOW(cancelled_record_is_defined, !(u_records.undefined && state_q == Read))
  `GS_ASSERT_NOW(compared_stamp_is_defined, !(u_stamps.undefined && reading_valid_q))
endmodule
