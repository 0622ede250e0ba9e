// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Node in a job's tree of boards: joins the reports of its own board and its children, and forwards the answers of the
/// root.
///
/// The node reports to the parent when its board and all children have reported in this wave, and again whenever one of
/// them reports. The root releases when as many messages were received as sent and none was late; if one was late, the
/// next wave begins. If a host's message invalidates a report, the report is withdrawn, and the message waits until the
/// parent has acknowledged; a parent that has reported withdraws first. Reports of an old wave or epoch are dropped.
///
///     Rest --packet--> Take --words--> Rest          Rest --all reported, changed--> Join -> Decide -> Up, or verdict
///       +--report is void--> Up (withdraw)             +--verdict, acknowledgement--> Down, child by child
module gs_idle_verdict
  import gs_idle_pkg::*;
  import gossamer_pkg::*;
#(
  /// children, at most, 2 to 8
  parameter int unsigned Children = 8
) (
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic [11:0]   board_i,
  input  logic [4:0]    job_i,
  /// packets of the control network for idle detection of this job
  input  logic          in_valid_i,
  output logic          in_ready_o,
  input  flit_t         in_i,
  output logic          out_valid_o,
  input  logic          out_ready_i,
  output flit_t         out_o,
  /// to and from gs_idle_board: its report; it is new; a report to the parent is outstanding; the verdict
  input  logic          own_valid_i,
  input  logic          own_new_i,
  input  idle_total_t  own_i,
  output logic          reported_o,
  output idle_verdict_t verdict_o,
  /// settings: the job's threads are started; no other board takes part in it
  output logic          enable_o,
  output logic          alone_o
);
  localparam int unsigned IndexW = $clog2(Children + 1);
  localparam int unsigned ChildW = $clog2(Children);
  if (Children < 2 || Children > 8) begin : gen_illegal_children
    $fatal(1, "gs_idle_verdict: Children is %0d; it must be 2 to 8", Children);
  end

  typedef enum logic [2:0] {Rest, Take, Join, Decide, Up, UpWords, Down, DownWords} state_e;
  typedef enum logic [1:0] {Open, Reported, Withdrawing} up_e;
  /// A child's report, without the words.
  typedef struct packed {
    logic [31:0] count;
    logic        vote;
    logic        started;
    logic        late;
    idle_given_t given;
  } child_t;

  // ---- Position in the tree ----
  logic root_q, enable_q;
  logic [11:0] parent_q;
  logic [Children-1:0] child_q, has_q, ack_due_q, from;
  logic [11:0] child_board_q[Children];
  assign enable_o = enable_q;
  assign alone_o  = root_q && child_q == '0;

  // ---- A packet's first flit ----
  idle_total_t joined_q;
  idle_report_t report;
  idle_answer_t answer;
  idle_tree_t tree;
  logic [ChildW-1:0] from_index, taking_q;
  logic [1:0] epoch_q;
  logic wave_q, is_report, is_answer, is_tree, take_head, changed_q, changed, all, first_q;
  state_e state_q;
  up_e up_q;

  assign report    = in_i.payload;
  assign answer    = in_i.payload;
  assign tree      = in_i.payload;
  assign is_report = in_i.payload[3:0] == ControlOpIdleReport;
  assign is_answer = in_i.payload[3:0] == ControlOpIdleAnswer;
  assign is_tree   = in_i.payload[3:0] == ControlOpIdleTree;
  always_comb begin
    from       = '0;
    from_index = '0;
    for (int unsigned i = 0; i < Children; i++) begin
      if (child_q[i] && child_board_q[i] == report.board) begin
        from[i]    = 1'b1;
        from_index = ChildW'(i);
      end
    end
    if (report.epoch != epoch_q || report.wave != wave_q || !is_report) from = '0;
  end

  assign in_ready_o = state_q == Rest || state_q == Take;
  assign take_head  = state_q == Rest && in_valid_i;
  assign all        = own_valid_i && (has_q & child_q) == child_q;
  assign changed    = changed_q || own_new_i;

  // ---- Reports of the children ----
  logic [IndexW-1:0] index_q;
  logic word_q;
  child_t child_in, child;
  logic [IdleWords-1:0][63:0] child_words;
  assign child_in = '{
      count: report.count, vote: report.vote, started: report.started, late: report.late,
      given: '{given: report.given, op: report.op}
    };
  gs_ram_sdp #(
    .Width  ($bits(child_t)),
    .Depth  (8),
    .Latency(0),
    .Style  ("distributed")
  ) u_children (
    .clk_i,
    .we_i   (take_head && from != '0 && !report.withdraw),
    .wstrb_i(1'b1),
    .waddr_i(3'(from_index)),
    .wdata_i(child_in),
    .re_i   (1'b1),
    .raddr_i(3'(index_q)),
    .rdata_o(child)
  );
  gs_ram_sdp #(
    .Width  (128),
    .Depth  (8),
    .Latency(0),
    .Style  ("distributed")
  ) u_words (
    .clk_i,
    .we_i   (state_q == Take && in_valid_i && first_q),
    .wstrb_i(1'b1),
    .waddr_i(3'(taking_q)),
    .wdata_i(in_i.payload),
    .re_i   (1'b1),
    .raddr_i(3'(index_q)),
    .rdata_o(child_words)
  );

  // ---- Joining, one child and one word at a time ----
  logic use_child, both, last_of_child, last_child;
  logic [1:0] op;
  logic [63:0] reduced;
  assign use_child     = child_q[index_q[ChildW-1:0]];
  assign both          = child.given.given[word_q] && joined_q.given.given[word_q];
  assign op            = joined_q.given.op[word_q];
  assign reduced       = both ? reduce(op, joined_q.words[word_q], child_words[word_q]) : child_words[word_q];
  // No child follows in the tree's order. A child without words takes one cycle.
  assign last_child    = (child_q >> index_q) <= Children'(1);
  assign last_of_child = !use_child || word_q || child.given.given == '0;

  // ---- Answers ----
  logic [Children-1:0] notify_q;
  idle_verdict_e notify_answer_q;
  logic release_d, again_d;
  logic answer_ack, answer_again, answer_release, take_words, verdict_words_q;
  assign answer_ack     = take_head && is_answer && answer.answer == IdleVerdictAck;
  assign answer_again   = take_head && is_answer && answer.answer == IdleVerdictAgain;
  assign answer_release = take_head && is_answer && answer.answer == IdleVerdictRelease;
  assign take_words     = state_q == Take && in_valid_i && first_q && verdict_words_q;

  logic decides, closes;
  assign decides   = state_q == Decide && all && !changed && root_q;
  assign again_d   = answer_again || (decides && joined_q.late);
  assign release_d = (answer_release && in_i.last) || take_words
      || (decides && !joined_q.late && joined_q.count == '0 && joined_q.started);
  assign closes    = again_d || release_d;

  idle_verdict_t verdict_q;
  assign verdict_o  = verdict_q;
  assign reported_o = up_q != Open;

  logic [ChildW-1:0] notify_index;
  always_comb begin
    notify_index = '0;
    for (int unsigned i = 0; i < Children; i++) if (notify_q[i]) notify_index = ChildW'(i);
  end
  logic sent;
  logic [Children-1:0] notify_rest;
  assign sent        = out_valid_o && out_ready_i;
  assign notify_rest = notify_q & ~(Children'(1) << notify_index);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q         <= Rest;
      up_q            <= Open;
      root_q          <= 1'b0;
      enable_q        <= 1'b0;
      child_q         <= '0;
      has_q           <= '0;
      ack_due_q       <= '0;
      notify_q        <= '0;
      changed_q       <= 1'b0;
      epoch_q         <= '0;
      wave_q          <= 1'b0;
      verdict_q       <= '0;
      verdict_words_q <= 1'b0;
    end else begin
      verdict_q.release_all <= release_d;
      verdict_q.again       <= again_d;
      changed_q             <= changed;
      unique case (state_q)
        Rest: begin
          index_q <= '0;
          word_q  <= 1'b0;
          if (in_valid_i) begin
            if (!in_i.last) state_q <= Take;
            verdict_words_q <= is_answer && answer.answer == IdleVerdictRelease;
            if (is_tree) begin
              enable_q <= tree.enable;
              root_q   <= tree.root;
              for (int unsigned i = 0; i < Children; i++) child_q[i] <= tree.children[13*i+12];
            end
            if (from != '0) begin
              changed_q <= 1'b1;
              if (report.withdraw) begin
                has_q     <= has_q & ~from;
                ack_due_q <= ack_due_q | from;
              end else has_q <= has_q | from;
            end
            if (answer_ack) up_q <= Open;
          end else if ((up_q == Open || root_q) && ack_due_q != '0) begin
            state_q         <= Down;
            notify_q        <= ack_due_q;
            notify_answer_q <= IdleVerdictAck;
            ack_due_q       <= '0;
          end else if (up_q == Reported && !all) begin
            state_q <= Up;
            up_q    <= Withdrawing;
          end else if (changed && all && up_q != Withdrawing) begin
            state_q   <= (child_q == '0) ? Decide : Join;
            changed_q <= 1'b0;
          end
        end
        Take: if (in_valid_i && in_i.last) state_q <= Rest;
        Join: begin
          if (last_of_child) begin
            word_q  <= 1'b0;
            index_q <= index_q + IndexW'(1);
            if (last_child) state_q <= Decide;
          end else word_q <= 1'b1;
        end
        Decide: begin
          state_q <= Rest;
          if (all && !changed && !root_q) begin
            state_q <= Up;
            up_q    <= Reported;
          end else if (!all) changed_q <= 1'b1;
        end
        Up: if (sent) state_q <= out_o.last ? Rest : UpWords;
        UpWords: if (sent) state_q <= Rest;
        Down: if (notify_q == '0) state_q <= Rest;
        else if (sent) begin
          if (out_o.last) notify_q <= notify_rest;
          else state_q <= DownWords;
        end
        default: if (sent) begin
          notify_q <= notify_rest;
          state_q  <= Down;
        end
      endcase
      if (closes) begin
        state_q         <= Down;
        up_q            <= Open;
        has_q           <= '0;
        ack_due_q       <= '0;
        changed_q       <= 1'b0;
        notify_q        <= child_q;
        notify_answer_q <= release_d ? IdleVerdictRelease : IdleVerdictAgain;
        wave_q          <= release_d ? 1'b0 : !wave_q;
        if (release_d) epoch_q <= epoch_q + 2'd1;
      end
    end

    // Data
    first_q <= state_q == Rest;
    if (take_head) taking_q <= from_index;
    if (take_head && is_tree) begin
      parent_q <= tree.parent;
      for (int unsigned i = 0; i < Children; i++) child_board_q[i] <= tree.children[13*i+:12];
    end
    if (state_q == Rest) joined_q <= own_i;
    else if (state_q == Join && use_child) begin
      if (!word_q) begin
        joined_q.count   <= joined_q.count + child.count;
        joined_q.vote    <= joined_q.vote && child.vote;
        joined_q.started <= joined_q.started || child.started;
        joined_q.late    <= joined_q.late || child.late;
      end
      if (child.given.given[word_q]) begin
        joined_q.words[word_q]       <= reduced;
        joined_q.given.given[word_q] <= 1'b1;
        joined_q.given.op[word_q]    <= joined_q.given.op[word_q] | child.given.op[word_q];
      end
    end
    if (answer_release) begin
      verdict_q.agreed <= answer.agreed;
      verdict_q.given  <= answer.given;
    end
    if (take_words) verdict_q.words <= in_i.payload;
    if (decides) begin
      verdict_q.agreed <= joined_q.vote;
      verdict_q.given  <= joined_q.given.given;
      verdict_q.words  <= joined_q.words;
    end
  end

  // ---- Outgoing packets ----
  idle_report_t up;
  idle_answer_t down;
  always_comb begin
    up = '{
        count: joined_q.count, board: board_i, op: joined_q.given.op, given: joined_q.given.given,
        withdraw: up_q == Withdrawing, late: joined_q.late, vote: joined_q.vote, started: joined_q.started,
        wave: wave_q, epoch: epoch_q, op_code: ControlOpIdleReport, default: '0
      };
    if (up_q == Withdrawing) up.given = '0;
    down = '{
        given: verdict_q.given, agreed: verdict_q.agreed, answer: notify_answer_q, op_code: ControlOpIdleAnswer,
        default: '0
      };
    if (notify_answer_q != IdleVerdictRelease) down.given = '0;
    out_o = '{kind: FlitKindBody, vnet: VnetControl, job: job_i, default: '0};
    out_o.dest = {EndpointControl, 3'd0, (state_q inside {Up, UpWords}) ? parent_q : child_board_q[notify_index],
                  14'd0};
    unique case (state_q)
      Up:      {out_o.last, out_o.payload} = {up.given == '0, up};
      UpWords: {out_o.last, out_o.payload} = {1'b1, joined_q.words};
      Down:    {out_o.last, out_o.payload} = {down.given == '0, down};
      default: {out_o.last, out_o.payload} = {1'b1, verdict_q.words};
    endcase
  end
  assign out_valid_o = state_q inside {Up, UpWords, DownWords} || (state_q == Down && notify_q != '0);

  logic unused;
  assign unused = ^{in_i.kind, in_i.vnet, in_i.job, in_i.epoch, in_i.wave, in_i.dest, report.spare, report.spare_low,
                    report.op_code, answer.spare, answer.op_code, tree.spare, tree.op_code};

  `GS_ASSERT_NOW(acknowledgement_follows_a_withdrawal, !answer_ack || up_q == Withdrawing)
  `GS_ASSERT_NOW(root_receives_no_answers, !(root_q && take_head && is_answer))
  `GS_ASSERT_NOW(verdict_follows_a_report, !(answer_again || answer_release) || up_q != Open)
  `GS_ASSERT_HOLD(stalled_flits_are_stable, out_valid_o, out_ready_i, out_o)
endmodule
