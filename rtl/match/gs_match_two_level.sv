// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Two-level match engine, as in the paper: for each queue a CAM followed by linked lists; wildcards are added.
///
///     Idle -> Search -+-> Idle          found; or no entry to insert
///                     +-> Insert -> Idle
module gs_match_two_level
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// entries of each queue's CAM
  parameter int unsigned CamEntries = 16,
  /// lists of each queue, searched in parallel
  parameter int unsigned Lists      = 1,
  /// entries of each queue's lists together, a power of two
  parameter int unsigned Entries    = 256,
  /// ranks that the engine serves
  parameter int unsigned Ranks      = 1024
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              cmd_valid_i,
  output logic              cmd_ready_o,
  input  match_command_t    cmd_i,
  output logic              done_valid_o,
  input  logic              done_ready_i,
  output match_completion_t done_o,
  output logic [31:0]       posts_o,
  output logic [31:0]       messages_o
);
  typedef struct packed {
    logic        rendezvous;
    logic [7:0]  length;
    logic [31:0] handle;
  } data_t;
  typedef enum logic [1:0] {Idle, Search, Insert} state_e;

  state_e state_q, state_d;
  match_command_t cmd_q, cmd;
  logic accept, bad_q, searches_posts, in_posts;
  match_search_t key, own;
  data_t own_data, data;
  match_key_t found_key;
  // Bit 1: receives, bit 0: messages
  logic [1:0] search, remove, insert, move, can_move, can_insert, idle, result, found, full;
  match_key_t q_key[2];
  data_t q_data[2];
  logic [31:0] counts[2];

  assign cmd = (state_q == Idle) ? cmd_i : cmd_q;
  assign key = search_of(cmd);
  assign own = '{posts: cmd_q.op == MatchOpPost, any_source: cmd_q.any_source, any_tag: cmd_q.any_tag,
                      key: key_of(cmd_q)};
  assign own_data = '{rendezvous: cmd_q.rendezvous, length: cmd_q.length, handle: cmd_q.handle};

  for (genvar q = 0; q < 2; q++) begin : gen_queue
    // Only receives can be cancelled.
    gs_match_queue #(
      .CamEntries(CamEntries),
      .Lists     (Lists),
      .Entries   (Entries),
      .data_t    (data_t),
      .Named     (q == 1)
    ) u_queue (
      .clk_i,
      .rst_ni,
      .search_i    (search[q]),
      .key_i       (key),
      .by_name_i   (cmd.op == MatchOpCancel),
      .name_i      (cmd.handle),
      .remove_i    (remove[q]),
      .insert_i    (insert[q]),
      .new_i       (own),
      .new_data_i  (own_data),
      .move_i      (move[q]),
      .can_move_o  (can_move[q]),
      .can_insert_o(can_insert[q]),
      .idle_o      (idle[q]),
      .result_o    (result[q]),
      .found_o     (found[q]),
      .found_key_o (q_key[q]),
      .found_data_o(q_data[q]),
      .full_o      (full[q]),
      .count_o     (counts[q])
    );
  end

  logic [2:0] waiting;
  logic into, rejects;
  assign cmd_ready_o    = state_q == Idle && (&idle) && waiting <= 3'd2;
  assign accept         = cmd_valid_i && cmd_ready_o;
  assign in_posts       = cmd.op inside {MatchOpArrive, MatchOpCancel};
  assign searches_posts = cmd_q.op == MatchOpArrive;
  assign into           = !searches_posts;
  assign rejects        = full[into] || cmd_q.now;
  assign search         = {accept && in_posts, accept && !in_posts};
  // The data mover works while there is no request.
  assign move      = can_move & {2{state_q == Idle && (&idle) && !cmd_valid_i}};
  assign data      = q_data[in_posts];
  assign found_key = q_key[in_posts];

  logic emit, emit_q, emit_found_q, emit_found;
  match_status_e emit_status, emit_status_q;
  data_t data_q;
  match_key_t key_q;
  always_comb begin
    state_d     = state_q;
    emit        = 1'b0;
    emit_status = MatchStatusMatched;
    emit_found  = 1'b0;
    remove      = '0;
    insert      = '0;
    unique case (state_q)
      Idle: if (accept) state_d = Search;
      Search: if (result[in_posts]) begin
        state_d = Idle;
        emit    = 1'b1;
        if (bad_q) begin
          emit_status = MatchStatusBad;
        end else if (found[in_posts]) begin
          emit_found       = cmd_q.op != MatchOpCancel;
          remove[in_posts] = cmd_q.op != MatchOpProbe;
        end else if (stays(cmd_q.op)) begin
          emit    = 1'b0;
          state_d = Insert;
        end else begin
          emit_status = MatchStatusNone;
        end
      end
      Insert: if (idle[into] && (can_insert[into] || rejects)) begin
        emit         = 1'b1;
        emit_status  = rejects ? MatchStatusFull : MatchStatusWaiting;
        insert[into] = !rejects;
        state_d      = Idle;
      end
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      emit_q  <= 1'b0;
    end else begin
      state_q <= state_d;
      emit_q  <= emit;
    end
    if (accept) begin
      cmd_q <= cmd_i;
      bad_q <= is_bad(cmd_i, Ranks);
    end
    emit_status_q <= emit_status;
    emit_found_q  <= emit_found;
    data_q        <= data;
    key_q         <= found_key;
  end

  match_completion_t done_d;
  logic done_ready;
  assign done_d = completion_of(cmd_q, emit_status_q, emit_found_q,
                                '{rendezvous: data_q.rendezvous, length: data_q.length, source: key_q.source,
                                  tag: key_q.tag, handle: data_q.handle});
  gs_match_completion u_done (
    .clk_i,
    .rst_ni,
    .in_valid_i (emit_q),
    .in_ready_o (done_ready),
    .in_i       (done_d),
    .out_valid_o(done_valid_o),
    .out_ready_i(done_ready_i),
    .out_o      (done_o),
    .count_o    (waiting)
  );

  assign posts_o    = counts[1];
  assign messages_o = counts[0];

  logic unused;
  assign unused = ^{key_q.rank, key_q.communicator};

  `GS_ASSERT_NOW(completion_buffer_never_overflows, !emit_q || done_ready)
endmodule
