// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Idle detection of a job on one board: cuts through all its endpoints, the colour of its messages, its reports.
///
/// All endpoints are sampled in the same cycle. When the board is idle for the first time in a wave, the colour of the
/// messages that it sends changes; its cut is the first idle one after that change. The board reports this cut, and
/// reports again whenever a later idle cut differs. Words that threads contributed are scanned before the report. The
/// verdict comes from gs_idle_verdict.
///
///     Watch --first idle--> Blind --all endpoints have the colour--> Watch --idle, changed--> (Scan) --> report
///     verdict: release --> (Deliver results) --> Blind --all endpoints are released--> Watch
///
/// Messages from outside the job (a host's) may enter while `open_o` is 1: they must not enter after a report.
module gs_idle_board
  import gs_idle_pkg::*;
#(
  /// endpoints of the board, 1 or more: tiles, multicast routers, ports of hosts
  parameter int unsigned Endpoints = 16,
  /// registers between this block and the endpoints, in each direction
  parameter int unsigned Wires     = 0,
  /// ports at which messages enter from other boards
  parameter int unsigned Entries   = 1
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  /// endpoints of this job; its threads are started. They change only while no thread is in idle
  input  logic          [Endpoints-1:0] member_i,
  input  logic                          enable_i,
  /// 1: no other board takes part in this job
  input  logic                          alone_i,
  input  idle_status_t  [Endpoints-1:0] status_i,
  output idle_command_t [Endpoints-1:0] command_o,
  /// messages of this job that enter from other boards, before an endpoint has them
  input  idle_entry_t   [Entries-1:0]   entry_i,
  /// a message waits outside; it may enter, with this epoch and colour. It is counted before hold_i falls
  input  logic                          hold_i,
  output logic                          open_o,
  output logic          [1:0]           epoch_o,
  output logic                          wave_o,
  /// to the node: the present report; it is new
  output logic                          report_valid_o,
  output logic                          report_new_o,
  output idle_total_t                  report_o,
  /// from the node: a report to the parent is outstanding; the verdict
  input  logic                          reported_i,
  input  idle_verdict_t                 verdict_i
);
  localparam int unsigned Levels = (Endpoints > 1) ? ($clog2(Endpoints) + 1) / 2 : 0;
  // Cycles of Blind, minus one. Endpoints see a command Levels + Wires + 1 cycles after it is made; the register of an
  // endpoint and the path to the root follow.
  localparam int unsigned Round = 2 * (Levels + Wires);
  localparam int unsigned RoundW = $clog2(Round + 2);
  localparam int unsigned Chunks = IdleWords * 64 / IdleChunk;
  localparam int unsigned ChunkW = $clog2(64 / IdleChunk);
  localparam int unsigned CountW = $clog2(Chunks);

  typedef enum logic [1:0] {Blind, Watch, Scan, Deliver} state_e;
  state_e state_q, state_d;

  idle_cut_t cut;
  logic [IdleWords-1:0][1:0] op_q;
  gs_idle_cut #(.Endpoints(Endpoints)) u_tree (
    .clk_i,
    .rst_ni,
    .member_i,
    .status_i,
    .op_i (op_q),
    .cut_o(cut)
  );

  // ---- Messages that enter from other boards ----
  logic wave_q, flipped_q, late_q, late_next_q, late_epoch_q, late_d, late_next_d, late_epoch_d;
  logic [1:0] epoch_q;
  always_comb begin
    late_d       = late_q;
    late_next_d  = late_next_q;
    late_epoch_d = late_epoch_q;
    for (int unsigned i = 0; i < Entries; i++) begin
      if (entry_i[i].valid) begin
        if (entry_i[i].epoch != epoch_q) late_epoch_d |= entry_i[i].wave;
        else if (entry_i[i].wave != wave_q) late_d = 1'b1;
        // It may belong to the wave after the next one: the next wave must not trust it.
        else if (flipped_q) late_next_d = 1'b1;
      end
    end
  end

  // ---- Cuts and reports ----
  logic [RoundW-1:0] blind_q;
  logic [CountW-1:0] chunk_q;
  logic reported_q, fresh_q, broken_q, board_idle, changed, capture, report_new_q, held, scan_chunk, first_idle;
  logic release_now, down_q, agreed_q;
  idle_total_t report_q;
  logic [IdleWords-1:0][63:0] words_q, words_d;
  logic [CountW-ChunkW-1:0] word;

  assign held       = hold_i || !enable_i;
  assign board_idle      = cut.idle && !held;
  assign changed       = !reported_q || cut.count != report_q.count || cut.vote != report_q.vote
      || cut.started != report_q.started || late_q != report_q.late || (fresh_q && cut.given.given != '0);
  assign first_idle = state_q == Watch && board_idle && !flipped_q && !alone_i;
  assign scan_chunk = state_q == Scan && cut.chunk_valid;
  // Deliver also passes on a release without words.
  assign release_now = state_q == Deliver && (!down_q || chunk_q == '1);

  always_comb begin
    state_d = state_q;
    capture = 1'b0;
    unique case (state_q)
      Blind: if (blind_q == '0) state_d = Watch;
      Watch: begin
        if (first_idle) state_d = Blind;
        else if (board_idle && changed) begin
          if (cut.given.given != '0) state_d = Scan;
          else capture = 1'b1;
        end
      end
      Scan: if (scan_chunk && chunk_q == '1) begin
        capture = board_idle && !broken_q;
        state_d = capture ? Watch : Blind;
      end
      default: if (release_now) state_d = Blind;
    endcase
    // A cut made before a message from outside is counted is not valid.
    if (held && (state_q == Watch || state_q == Blind)) begin
      state_d = Blind;
      capture = 1'b0;
    end
    if (verdict_i.again && state_q == Watch) state_d = Watch;
    if (verdict_i.release_all) state_d = Deliver;
    if (verdict_i.release_all || verdict_i.again) capture = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= Blind;
      blind_q      <= RoundW'(Round);
      wave_q       <= 1'b0;
      flipped_q    <= 1'b0;
      epoch_q      <= '0;
      late_q       <= 1'b0;
      late_next_q  <= 1'b0;
      late_epoch_q <= 1'b0;
      reported_q   <= 1'b0;
      report_new_q <= 1'b0;
      fresh_q      <= 1'b1;
      chunk_q      <= '0;
    end else begin
      state_q      <= state_d;
      report_new_q <= capture;
      late_q       <= late_d;
      late_next_q  <= late_next_d;
      late_epoch_q <= late_epoch_d;
      if (state_q != Blind || held) blind_q <= RoundW'(Round);
      else blind_q <= blind_q - RoundW'(1);
      if (first_idle) flipped_q <= 1'b1;
      if (!cut.idle) fresh_q <= 1'b1;
      else if (capture) fresh_q <= 1'b0;
      if (capture) reported_q <= 1'b1;
      if (held) reported_q <= 1'b0;
      if (scan_chunk || (state_q == Deliver && down_q)) chunk_q <= chunk_q + CountW'(1);
      if (state_q == Watch || verdict_i.release_all) chunk_q <= '0;
      if (verdict_i.again) begin
        // The colour of messages after the cut is the regular colour of the new wave.
        wave_q      <= !wave_q;
        flipped_q   <= 1'b0;
        reported_q  <= 1'b0;
        late_q      <= late_next_d;
        late_next_q <= 1'b0;
      end
      if (verdict_i.release_all) reported_q <= 1'b0;
      if (release_now) begin
        epoch_q      <= epoch_q + 2'd1;
        wave_q       <= 1'b0;
        flipped_q    <= 1'b0;
        late_q       <= late_epoch_d;
        late_next_q  <= 1'b0;
        late_epoch_q <= 1'b0;
        fresh_q      <= 1'b1;
      end
    end
    if (state_q == Watch) begin
      broken_q <= 1'b0;
      op_q     <= cut.given.op;
    end else if (!board_idle || verdict_i.again) broken_q <= 1'b1;
    words_q <= words_d;
    if (capture) begin
      report_q <= '{
          count: cut.count, vote: cut.vote, started: cut.started, late: late_d, given: cut.given, words: words_d
        };
    end
    if (verdict_i.release_all) begin
      down_q   <= verdict_i.given != '0;
      agreed_q <= verdict_i.agreed;
    end
  end

  // Words are shifted up to the report, or down to the endpoints.
  assign word = chunk_q[CountW-1:ChunkW];
  always_comb begin
    words_d = words_q;
    if (scan_chunk) begin
      if (reduce_from_high(op_q[word])) words_d[word] = {words_q[word][63-IdleChunk:0], cut.chunk};
      else words_d[word] = {cut.chunk, words_q[word][63:IdleChunk]};
    end
    if (state_q == Deliver) words_d = words_q >> IdleChunk;
    if (verdict_i.release_all) words_d = verdict_i.words;
  end

  assign report_valid_o = reported_q;
  assign report_new_o   = report_new_q;
  assign report_o       = report_q;
  assign open_o  = !reported_q && !reported_i && state_q != Deliver && !verdict_i.release_all;
  assign epoch_o = epoch_q;
  assign wave_o  = wave_q ^ flipped_q;

  // ---- To the endpoints ----
  idle_command_t command_d, command_q[Levels+1];
  assign command_d = '{
      release_all: release_now, agreed: agreed_q, wave: release_now ? 1'b0 : wave_q ^ flipped_q,
      scan: state_q == Watch && state_d == Scan, op: cut.given.op,
      chunk_valid: state_q == Deliver && down_q, chunk: words_q[0][IdleChunk-1:0], clear: 1'b0
    };
  always_ff @(posedge clk_i) begin
    command_q[0] <= command_d;
    if (!rst_ni) command_q[0] <= '0;
    for (int unsigned i = 1; i <= Levels; i++) begin
      command_q[i] <= command_q[i-1];
      if (!rst_ni) command_q[i] <= '0;
    end
  end
  always_comb for (int unsigned i = 0; i < Endpoints; i++) command_o[i] = member_i[i] ? command_q[Levels] : '0;

  `GS_ASSERT_NOW(verdict_follows_a_report, !(verdict_i.release_all || verdict_i.again) || state_q != Deliver)
  `GS_ASSERT_NOW(at_most_one_verdict_at_a_time, !(verdict_i.release_all && verdict_i.again))
  `GS_ASSERT_NOW(no_message_enters_after_a_report, !open_o || !reported_q)
  `GS_ASSERT_NOW(report_follows_the_colour_change, !reported_q || flipped_q || alone_i)
endmodule
