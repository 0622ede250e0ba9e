// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// What a match engine of any architecture has in front of it: counters by rank, and its clean start.
///
/// A request to count or to clear waits until the engine has answered all that were made before it, and is answered
/// here; all other requests pass. A completion is counted in the cycle behind its handshake.
///
///     Reset -> Wipe -> Run --count, clear--> Hold --count--> Read -> Answer -> Run
///       ^                                     |                        ^
///       +--clear, unless nothing was asked----+--refused, was clear----+
module gs_match_counts
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// ranks that the engine serves
  parameter int unsigned Ranks = 1024
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              cmd_valid_i,
  output logic              cmd_ready_o,
  input  match_command_t    cmd_i,
  output logic              done_valid_o,
  input  logic              done_ready_i,
  output match_completion_t done_o,
  /// the engine; its requests are `cmd_i`
  output logic              engine_rst_no,
  output logic              engine_cmd_valid_o,
  input  logic              engine_cmd_ready_i,
  input  logic              engine_done_valid_i,
  output logic              engine_done_ready_o,
  input  match_completion_t engine_done_i
);
  localparam int unsigned Counters = 1 << $bits(match_counter_e);
  localparam int unsigned Rows = (Ranks > 1) ? Ranks : 2;
  localparam int unsigned RowW = $clog2(Rows);
  typedef logic [RowW-1:0] row_nr_t;
  typedef logic [Counters-1:0][31:0] row_t;
  typedef enum logic [2:0] {Reset, Wipe, Run, Hold, Read, Answer} state_e;

  state_e state_q, state_d;
  match_command_t cmd_q;
  logic own, takes, passes, refused, counted, answers_q, asked_q;
  row_nr_t wiped_q;

  // ------------------------------------------------------- under way
  // Ranks of requests that the engine has not answered, in their order.
  logic ranks_ready, under_way, gives;
  row_nr_t done_rank;
  gs_fifo #(
    .data_t(row_nr_t),
    .Depth (8)
  ) u_ranks (
    .clk_i,
    .rst_ni,
    .in_valid_i (passes),
    .in_ready_o (ranks_ready),
    .in_data_i  (row_nr_t'(cmd_i.rank)),
    .out_valid_o(under_way),
    .out_ready_i(gives),
    .out_data_o (done_rank),
    .count_o    ()
  );

  assign own                 = cmd_i.op == MatchOpCount || cmd_i.op == MatchOpClear;
  assign cmd_ready_o         = state_q == Run && ranks_ready && engine_cmd_ready_i;
  assign engine_cmd_valid_o  = state_q == Run && ranks_ready && cmd_valid_i && !own;
  assign takes               = cmd_valid_i && cmd_ready_o;
  assign passes              = takes && !own;
  assign gives               = engine_done_valid_i && engine_done_ready_o;
  assign engine_done_ready_o = done_ready_i && state_q != Answer;
  assign refused             = 32'(cmd_q.rank) >= Ranks || (cmd_q.op == MatchOpCount && cmd_q.tag >= Counters);

  // --------------------------------------------------------- counters
  match_counter_e counter, counter_q;
  row_nr_t rank_q, written_rank_q, read_row;
  row_t row, old, added, written_q;
  logic add_q, written_valid_q;
  always_comb begin
    counted = 1'b1;
    counter = MatchCounterDelivered;
    unique case (engine_done_i.status)
      MatchStatusMatched: counted = engine_done_i.op inside {MatchOpPost, MatchOpArrive, MatchOpTake};
      MatchStatusWaiting: counter = (engine_done_i.op == MatchOpArrive) ? MatchCounterUnexpected : MatchCounterWaited;
      MatchStatusFull: counter = MatchCounterRefused;
      default: counted = 1'b0;
    endcase
  end
  assign read_row = (state_q == Read) ? row_nr_t'(cmd_q.rank) : done_rank;

  gs_ram_sdp #(.Width($bits(row_t)), .Depth(Rows)) u_rows (
    .clk_i, .we_i(state_q == Wipe || add_q), .wstrb_i(1'b1), .waddr_i((state_q == Wipe) ? wiped_q : rank_q),
    .wdata_i((state_q == Wipe) ? '0 : added), .re_i(gives || state_q == Read), .raddr_i(read_row), .rdata_o(row)
  );
  always_comb begin
    // A row that was written while it was read is the one of the cycle before.
    old   = (written_valid_q && written_rank_q == rank_q) ? written_q : row;
    added = old;
    added[counter_q] = old[counter_q] + 32'd1;
  end

  // ---------------------------------------------------------- control
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Reset: state_d = Wipe;
      Wipe: if (32'(wiped_q) == Rows - 1) state_d = answers_q ? Answer : Run;
      Run: if (takes && own) state_d = Hold;
      Hold: if (!under_way) begin
        state_d = (cmd_q.op == MatchOpCount) ? Read : Reset;
        if (refused || (cmd_q.op == MatchOpClear && !asked_q)) state_d = Answer;
      end
      Read: state_d = Answer;
      Answer: if (done_ready_i) state_d = Run;
      default: state_d = Run;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q         <= Reset;
      add_q           <= 1'b0;
      written_valid_q <= 1'b0;
      answers_q       <= 1'b0;
      engine_rst_no   <= 1'b0;
    end else begin
      state_q         <= state_d;
      add_q           <= gives && counted;
      written_valid_q <= add_q;
      if (state_q == Run) answers_q <= 1'b0;
      else if (state_q == Hold) answers_q <= 1'b1;
      engine_rst_no   <= state_q != Reset;
    end
    if (state_q == Reset) asked_q <= 1'b0;
    else if (passes) asked_q <= 1'b1;
    wiped_q <= (state_q == Wipe) ? wiped_q + row_nr_t'(1) : '0;
    if (takes) cmd_q <= cmd_i;
    counter_q      <= counter;
    rank_q         <= done_rank;
    written_rank_q <= rank_q;
    written_q      <= added;
  end

  // ------------------------------------------------------ completions
  match_completion_t answer;
  always_comb begin
    answer = completion_of(cmd_q, refused ? MatchStatusBad : MatchStatusMatched, 1'b0, '0);
    if (cmd_q.op == MatchOpCount && !refused) answer.partner = row[cmd_q.tag[$bits(match_counter_e)-1:0]];
  end
  assign done_valid_o = state_q == Answer || engine_done_valid_i;
  assign done_o       = (state_q == Answer) ? answer : engine_done_i;

  `GS_ASSERT_NOW(a_completion_has_a_request, !engine_done_valid_i || under_way)
  `GS_ASSERT_NOW(an_answer_is_given_alone, state_q != Answer || !engine_done_valid_i)
  `GS_ASSERT_NOW(a_row_is_wiped_or_counted, state_q != Wipe || !add_q)
endmodule
