// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Bounded proof of a match engine: for every sequence of requests each completion equals that of two plain lists. So
/// no entry is lost or matched twice, and the oldest match is found. Keys are small, so that matches are frequent. The
/// first requests are receives of another rank that fill the CAM, so that the solver's requests use lists.
module prove_match
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// 0: hashed; 1: two-level
  parameter int unsigned Architecture = 0,
  parameter int unsigned CamEntries   = 2,
  parameter int unsigned Lists        = 1,
  parameter int unsigned Entries      = 8,
  parameter int unsigned Bins         = 2,
  /// number of requests, at most 8, including those of strangers
  parameter int unsigned Requests     = 7,
  /// receives, then messages, of another rank that come first
  parameter int unsigned StrangePosts    = 0,
  parameter int unsigned StrangeMessages = 0,
  /// 1: requests are sent and completions accepted without delay
  parameter bit          Steady       = 1'b0,
  /// op + 1 of each request after the strangers, four bits each, the first in the lowest bits; 0: any
  parameter int unsigned Ops          = 0
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       cmd_valid_i,
  input logic [2:0] op_i,
  input logic       any_source_i,
  input logic       any_tag_i,
  input logic       source_i,
  input logic       tag_i,
  input logic [2:0] cancelled_i,
  /// all secret bits of the hash
  input logic       seed_i,
  input logic       done_ready_i
);
  localparam int unsigned SeedW = $bits(match_key_t) + $clog2(Bins) - 1;
  localparam int unsigned CountW = 4;

  localparam int unsigned Strangers = StrangePosts + StrangeMessages;
  localparam bit AnyOps = Ops == 0;
  localparam bit TwoPosts = Ops[11:0] == {4'(MatchOpArrive) + 4'd1, 8'h11};
  localparam bit TwoMessages = Ops[11:0] == {4'(MatchOpPost) + 4'd1, 8'h22};

  logic cmd_valid, cmd_ready, done_valid, done_ready, accept, strange, seed_q;
  logic [2:0] op;
  logic [3:0] given_op;
  match_command_t cmd;
  match_completion_t done;
  logic [31:0] posts, messages;
  logic [CountW-1:0] made_q, answered_q;
  // For each request: the expected answer, and the entry assigned to a post.
  match_status_e must_status_q[Requests];
  match_op_e op_q[Requests];
  logic [CountW-1:0] must_partner_q[Requests];
  logic must_source_q[Requests], must_tag_q[Requests];
  logic [31:0] entry_q[Requests];

  assign given_op = 4'(Ops >> 4 * (made_q - CountW'(Strangers)));
  assign op       = (given_op == '0) ? op_i : 3'(given_op - 4'd1);
  always_comb begin
    cmd            = '0;
    cmd.op         = match_op_e'(op);
    cmd.any_source = any_source_i;
    cmd.any_tag    = any_tag_i;
    cmd.source     = 16'(source_i);
    cmd.tag        = 32'(tag_i);
    cmd.handle     = 32'(made_q);
    if (op == MatchOpCancel) begin
      cmd.handle = 32'(cancelled_i);
      cmd.tag    = entry_q[cancelled_i];
    end
    if (strange) begin
      cmd        = '0;
      cmd.op     = (32'(made_q) < StrangePosts) ? MatchOpPost : MatchOpArrive;
      cmd.rank   = 10'd1;
      cmd.tag    = 32'(made_q);
      cmd.handle = 32'(made_q);
    end
  end
  assign strange    = 32'(made_q) < Strangers;
  // A cancel waits until the receive's completion has arrived.
  assign cmd_valid  = 32'(made_q) < Requests && (Steady || cmd_valid_i)
                    && (given_op != 4'(MatchOpCancel) + 4'd1 || CountW'(cancelled_i) < answered_q);
  assign done_ready = Steady || done_ready_i;
  assign accept     = cmd_valid && cmd_ready;
  always_ff @(posedge clk_i) if (!rst_ni) seed_q <= seed_i;

  if (Architecture == 0) begin : gen_hashed
    gs_match_hashed #(
      .CamEntries(CamEntries),
      .Entries   (Entries),
      .Reserve   (0),
      .StampW    (4),
      .Bins      (Bins)
    ) u_engine (
      .clk_i,
      .rst_ni,
      .seed_i      ({SeedW{seed_q}}),
      .cmd_valid_i (cmd_valid),
      .cmd_ready_o (cmd_ready),
      .cmd_i       (cmd),
      .done_valid_o(done_valid),
      .done_ready_i(done_ready),
      .done_o      (done),
      .posts_o     (posts),
      .messages_o  (messages)
    );
    if (AnyOps) begin : gen_lists
      `GS_COVER_NOW(receive_removed_from_lists, u_engine.take_lists_q && u_engine.searches_posts)
    end
    // The hashed engine's stamps: a message finds receives in lists of two classes.
    if (Requests >= Strangers + 3 && (AnyOps || TwoPosts)) begin : gen_three
      `GS_COVER_NOW(older_of_two_lists_matched, u_engine.best_valid_q && u_engine.take_lists_d)
    end
  end else begin : gen_two_level
    gs_match_two_level #(.CamEntries(CamEntries), .Lists(Lists), .Entries(Entries)) u_engine (
      .clk_i,
      .rst_ni,
      .cmd_valid_i (cmd_valid),
      .cmd_ready_o (cmd_ready),
      .cmd_i       (cmd),
      .done_valid_o(done_valid),
      .done_ready_i(done_ready),
      .done_o      (done),
      .posts_o     (posts),
      .messages_o  (messages)
    );
    `GS_COVER_NOW(receive_found_in_list, u_engine.result[1] && u_engine.found[1] && u_engine.remove[1]
                  && u_engine.gen_queue[1].u_queue.list_remove)
  end

  `GS_ASSUME_NOW(requests_are_known, op <= MatchOpTake && (op != MatchOpArrive || !(any_source_i || any_tag_i)))
  `GS_ASSUME_NOW(who_cancels_has_seen_the_completion, !cmd_valid || op != MatchOpCancel
                 || 4'(cancelled_i) < answered_q
                 && op_q[cancelled_i] == MatchOpPost && must_status_q[cancelled_i] == MatchStatusWaiting)

  // --------------------------------------------------------- model: waiting requests in their order
  logic [Requests-1:0] waits_q;
  match_command_t kept_q[Requests];
  match_command_t other;
  logic hit;
  logic [CountW-1:0] who;
  always_comb begin
    hit   = 1'b0;
    who   = '0;
    other = '0;
    for (int i = Requests - 1; i >= 0; i--) begin
      if (waits_q[i]) begin
        unique case (cmd.op)
          MatchOpArrive: if (kept_q[i].op == MatchOpPost && kept_q[i].rank == cmd.rank
                             && (kept_q[i].any_source || kept_q[i].source == cmd.source)
                             && (kept_q[i].any_tag || kept_q[i].tag == cmd.tag)) begin
            hit   = 1'b1;
            who   = CountW'(i);
            other = kept_q[i];
          end
          MatchOpCancel: if (32'(cmd.handle) == 32'(i) && kept_q[i].op == MatchOpPost) begin
            hit   = 1'b1;
            who   = CountW'(i);
            other = kept_q[i];
          end
          default: if (kept_q[i].op == MatchOpArrive && kept_q[i].rank == cmd.rank
                       && (cmd.any_source || kept_q[i].source == cmd.source)
                       && (cmd.any_tag || kept_q[i].tag == cmd.tag)) begin
            hit   = 1'b1;
            who   = CountW'(i);
            other = kept_q[i];
          end
        endcase
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      made_q     <= '0;
      answered_q <= '0;
      waits_q    <= '0;
    end else begin
      if (accept) begin
        made_q <= made_q + CountW'(1);
        if (hit && cmd.op != MatchOpProbe) waits_q[who[2:0]] <= 1'b0;
        if (!hit && stays(cmd.op)) waits_q[made_q[2:0]] <= 1'b1;
      end
      if (done_valid && done_ready) answered_q <= answered_q + CountW'(1);
    end
    if (accept) begin
      kept_q[made_q[2:0]]         <= cmd;
      op_q[made_q[2:0]]           <= cmd.op;
      must_status_q[made_q[2:0]]  <= hit ? MatchStatusMatched : stays(cmd.op) ? MatchStatusWaiting : MatchStatusNone;
      must_partner_q[made_q[2:0]] <= who;
      must_source_q[made_q[2:0]]  <= (cmd.op == MatchOpArrive) ? cmd.source[0] : other.source[0];
      must_tag_q[made_q[2:0]]     <= (cmd.op == MatchOpArrive) ? cmd.tag[0] : other.tag[0];
    end
    if (done_valid && done_ready) entry_q[answered_q[2:0]] <= done.partner;
  end

  logic given;
  match_status_e must;
  assign given = done_valid && answered_q < made_q;
  assign must  = must_status_q[answered_q[2:0]];
  `GS_ASSERT_NOW(completion_has_a_request, !done_valid || answered_q < made_q)
  `GS_ASSERT_NOW(status_equals_model, !given || done.status == must)
  `GS_ASSERT_NOW(partner_equals_model, !given || must != MatchStatusMatched
                 || op_q[answered_q[2:0]] == MatchOpCancel || done.partner == 32'(must_partner_q[answered_q[2:0]]))
  `GS_ASSERT_NOW(envelope_equals_message, !given || must != MatchStatusMatched
                 || op_q[answered_q[2:0]] == MatchOpCancel
                 || done.source == 16'(must_source_q[answered_q[2:0]]) && done.tag == 32'(must_tag_q[answered_q[2:0]]))

  if (Requests >= Strangers + 3 && (AnyOps || TwoPosts || TwoMessages)) begin : gen_order
    `GS_COVER_NOW(order_matters, given && must == MatchStatusMatched
                  && must_partner_q[answered_q[2:0]] == CountW'(Strangers + 1) && waits_q[Strangers])
  end
  `GS_COVER_NOW(last_request_matched, given && 32'(answered_q) == Requests - 1 && must == MatchStatusMatched)
  if (AnyOps) begin : gen_cancel
    `GS_COVER_NOW(receive_cancelled, given && must == MatchStatusMatched
                  && op_q[answered_q[2:0]] == MatchOpCancel)
  end

  logic unused;
  assign unused = ^{posts, messages, other, done.op, done.handle, done.length, done.rendezvous, done.spare};
endmodule
