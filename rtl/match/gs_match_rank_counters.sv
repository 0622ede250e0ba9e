// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Front end of a match engine of any architecture: counters by rank, and the reset of the engine.
///
/// A request to count or to clear waits until the engine has answered all earlier requests, and is answered here; all
/// other requests pass through. A completion is counted in the three cycles after its handshake: its counter is read,
/// incremented and written.
///
///     Reset -> Wipe -> Run --count, clear--> Hold --count--> Read -> Fetch -> Answer -> Run
///       ^                                     |                                 ^
///       +--clear, unless no request since-----+--rejected, was clear------------+
module gs_match_rank_counters
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
  typedef enum logic [2:0] {Reset, Wipe, Run, Hold, Read, Fetch, Answer} state_e;

  state_e state_q, state_d;
  match_command_t cmd_q;
  logic own, accepts, forwards, rejected, answers_q, asked_q, runs_q;
  row_nr_t wiped_q;

  // ------------------------------------------------------- in flight
  // Ranks of requests that the engine has not answered, in their order.
  logic ranks_ready, in_flight, returns;
  row_nr_t done_rank;
  gs_fifo #(
    .data_t(row_nr_t),
    .Depth (8)
  ) u_ranks (
    .clk_i,
    .rst_ni,
    .in_valid_i (forwards),
    .in_ready_o (ranks_ready),
    .in_data_i  (row_nr_t'(cmd_i.rank)),
    .out_valid_o(in_flight),
    .out_ready_i(returns),
    .out_data_o (done_rank),
    .count_o    ()
  );

  assign own                 = cmd_i.op == MatchOpCount || cmd_i.op == MatchOpClear;
  assign cmd_ready_o         = runs_q && ranks_ready && engine_cmd_ready_i;
  assign engine_cmd_valid_o  = runs_q && ranks_ready && cmd_valid_i && !own;
  assign accepts             = cmd_valid_i && cmd_ready_o;
  assign forwards            = accepts && !own;
  assign returns             = engine_done_valid_i && engine_done_ready_o;
  assign engine_done_ready_o = done_ready_i && state_q != Answer;
  assign rejected            = 32'(cmd_q.rank) >= Ranks || (cmd_q.op == MatchOpCount && cmd_q.tag >= Counters);

  // --------------------------------------------------------- counters
  // The counter in each of its stages: read, increment, write.
  typedef struct packed {
    logic           valid;
    row_nr_t        rank;
    match_counter_e counter;
  } counter_index_t;
  counter_index_t reported, read_q, add_q, write_q;
  row_t row;
  logic [31:0] count_q, old, added, write_count_q, written_count_q;
  logic counted, same_write_q, same_written_q;
  match_counter_e counter;
  always_comb begin
    counted = 1'b1;
    counter = MatchCounterDelivered;
    unique case (engine_done_i.status)
      MatchStatusMatched: counted = engine_done_i.op inside {MatchOpPost, MatchOpArrive, MatchOpTake};
      MatchStatusWaiting: counter = (engine_done_i.op == MatchOpArrive) ? MatchCounterUnexpected : MatchCounterWaited;
      MatchStatusFull: counter = MatchCounterRejected;
      default: counted = 1'b0;
    endcase
  end
  assign reported = '{valid: returns && counted, rank: done_rank, counter: counter};

  // A memory for each counter: a completion of the same rank that counts another event may be written while the row is
  // read.
  for (genvar c = 0; c < int'(Counters); c++) begin : gen_counter
    gs_ram_sdp #(.Width(32), .Depth(Rows)) u_rows (
      .clk_i, .we_i(state_q == Wipe || (add_q.valid && 32'(add_q.counter) == c)), .wstrb_i(1'b1),
      .waddr_i((state_q == Wipe) ? wiped_q : add_q.rank), .wdata_i((state_q == Wipe) ? '0 : added),
      .re_i   (1'b1), .raddr_i((state_q == Read) ? row_nr_t'(cmd_q.rank) : done_rank), .rdata_o(row[c])
    );
    `GS_ASSERT_NOW(count_that_is_read_while_it_is_written_is_forwarded,
                   !(u_rows.undefined && read_q.valid && 32'(read_q.counter) == c) || write_q == read_q)
    `GS_ASSERT_NOW(reported_count_is_not_being_written, !(u_rows.undefined && state_q == Fetch))
  end
  // The read value does not include writes since the read, and is undefined if it was read in the cycle of the write.
  // The comparison of counters is made one cycle before the addition.
  always_comb begin
    old = count_q;
    if (same_written_q) old = written_count_q;
    if (same_write_q) old = write_count_q;
    added = old + 32'd1;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q  <= '0;
      add_q   <= '0;
      write_q <= '0;
    end else begin
      read_q  <= reported;
      add_q   <= read_q;
      write_q <= add_q;
    end
    same_write_q   <= add_q == read_q;
    same_written_q <= write_q == read_q;
    if (state_q != Answer) count_q <= row[(state_q == Fetch) ? cmd_q.tag[$bits(match_counter_e)-1:0] : read_q.counter];
    write_count_q   <= added;
    written_count_q <= write_count_q;
  end

  // ---------------------------------------------------------- control
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Reset: state_d = Wipe;
      Wipe: if (32'(wiped_q) == Rows - 1) state_d = answers_q ? Answer : Run;
      Run: if (accepts && own) state_d = Hold;
      Hold: if (!in_flight && !read_q.valid && !add_q.valid) begin
        state_d = (cmd_q.op == MatchOpCount) ? Read : Reset;
        if (rejected || (cmd_q.op == MatchOpClear && !asked_q)) state_d = Answer;
      end
      Read: state_d = Fetch;
      Fetch: state_d = Answer;
      Answer: if (done_ready_i) state_d = Run;
      default: state_d = Run;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q       <= Reset;
      runs_q        <= 1'b0;
      answers_q     <= 1'b0;
      engine_rst_no <= 1'b0;
    end else begin
      state_q <= state_d;
      runs_q  <= state_d == Run;
      if (state_q == Run) answers_q <= 1'b0;
      else if (state_q == Hold) answers_q <= 1'b1;
      engine_rst_no <= state_q != Reset;
    end
    if (state_q == Reset) asked_q <= 1'b0;
    else if (forwards) asked_q <= 1'b1;
    wiped_q <= (state_q == Wipe) ? wiped_q + row_nr_t'(1) : '0;
    if (accepts) cmd_q <= cmd_i;
  end

  // ------------------------------------------------------ completions
  match_completion_t answer;
  always_comb begin
    answer = completion_of(cmd_q, rejected ? MatchStatusBad : MatchStatusMatched, 1'b0, '0);
    if (cmd_q.op == MatchOpCount && !rejected) answer.partner = count_q;
  end
  assign done_valid_o = state_q == Answer || engine_done_valid_i;
  assign done_o       = (state_q == Answer) ? answer : engine_done_i;

  `GS_ASSERT_NOW(completion_has_a_request, !engine_done_valid_i || in_flight)
  `GS_ASSERT_NOW(no_engine_completion_during_own_answer, state_q != Answer || !engine_done_valid_i)
  `GS_ASSERT_NOW(no_count_during_wipe, state_q != Wipe || !add_q.valid)
endmodule
