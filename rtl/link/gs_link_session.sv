// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Opens sessions, and detects that the other end is silent or has restarted.
///
/// Each end identifies its session by a number that changes with every reset. It sends hello frames with its own number
/// and the number that it received, until it receives its own number: then both ends know each other, and its session
/// is open.
///
///     A  hello(a, -) --->           B
///        <--- hello(b, a)              has received a
///     open: has received b and its own a
///        hello(b: yours, up) --->      open
///
/// A hello of an unknown session, or one that does not name this session, is from an end that has restarted: the
/// session is closed and a new one is opened. A cut cable closes no session: once it is repaired, traffic continues.
module gs_link_session
  import gossamer_pkg::*;
  import gs_link_pkg::*;
#(
  /// parameters that both ends must agree on
  parameter int unsigned Window      = 64,
  parameter int unsigned BodyWords   = 185,
  /// cycles between hello frames
  parameter int unsigned HelloCycles = 256,
  /// cycles without a sent frame before a frame that requests an acknowledgement, and before a keep-alive frame
  parameter int unsigned ProbeCycles = 64,
  parameter int unsigned KeepCycles  = 512,
  /// cycles without a good frame before the other end is reported silent
  parameter int unsigned DeadCycles  = 6000
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // A good frame.
  input  logic        good_i,
  input  link_frame_kind_e kind_i,
  input  logic [7:0]  tag_i,
  input  word_t       second_i,
  /// the frame belongs to the open session
  output logic        ours_o,
  // Frames to send.
  input  logic        sent_i,
  input  logic        sent_hello_i,
  output logic        hello_o,
  output link_hello_t hello_word_o,
  output logic [7:0]  tag_o,
  /// a frame should be sent, although no packet waits
  output logic        plain_o,
  /// some frame is not acknowledged, or some packet waits for credits
  input  logic        waiting_i,
  /// a good data frame was received; a limit has grown much
  input  logic        answer_i,
  input  logic        urgent_i,
  // The session.
  /// no packet is in flight in this end: a session may begin
  input  logic        quiescent_i,
  output logic        open_o,
  /// a session begins: all counts restart at zero
  output logic        clear_o,
  output logic        alive_o,
  output events_t     events_o
);
  localparam int unsigned TimeW = $clog2(KeepCycles + 1);
  localparam int unsigned HelloW = $clog2(HelloCycles + 1);
  localparam int unsigned DeadW = $clog2(DeadCycles + 1);

  // Not reset, so that each reset yields another session number.
  logic [15:0] age_q;
  initial age_q = '0;
  always_ff @(posedge clk_i) age_q <= age_q + 1'b1;

  logic [15:0] mine_q, heard_q, said, fresh;
  logic known_q, open_q, alive_q, named_q, hello_q, answer_q, plain_q;
  logic [TimeW-1:0] silent_q;
  logic [HelloW-1:0] hello_time_q;
  logic [DeadW-1:0] dead_q;
  logic hello, agree, knows, restarted, opens, mismatch;
  link_hello_t hello_in;
  events_t events_q;

  assign hello_in  = second_i;
  assign hello     = good_i && kind_i == LinkFrameKindHello;
  assign said      = {hello_in.tag_high, tag_i};
  assign agree     = hello_in.version == Version && hello_in.window == 4'($clog2(Window))
                     && hello_in.words == 11'(BodyWords) && hello_in.channels == 4'(Channels - 1);
  assign mismatch  = hello && !agree;
  // The other end has received the number of this session.
  assign knows     = hello_in.known && hello_in.yours == mine_q;
  assign restarted = open_q && hello && agree && (said != heard_q || !knows);
  assign opens     = named_q && !open_q && hello && agree && knows && quiescent_i;
  assign ours_o    = open_q && good_i && !hello && tag_i == heard_q[7:0];
  assign fresh     = (age_q == mine_q) ? ~age_q : age_q;

  always_ff @(posedge clk_i) begin
    events_q <= '0;
    if (!rst_ni) begin
      named_q      <= 1'b0;
      known_q      <= 1'b0;
      open_q       <= 1'b0;
      alive_q      <= 1'b0;
      hello_q      <= 1'b0;
      answer_q     <= 1'b0;
      hello_time_q <= '0;
      silent_q     <= '0;
      dead_q       <= '0;
    end else begin
      named_q <= 1'b1;
      if (!named_q) begin
        mine_q  <= age_q;
        hello_q <= 1'b1;
      end

      // Hello frames are repeated until the session is open, and answer an end whose session is not open.
      hello_time_q <= hello_time_q + 1'b1;
      if (sent_i && sent_hello_i) begin
        hello_q      <= 1'b0;
        hello_time_q <= '0;
      end else if (!open_q && hello_time_q >= HelloW'(HelloCycles - 1)) begin
        hello_q <= 1'b1;
      end
      if (named_q && hello && agree) begin
        if (!open_q) begin
          heard_q <= said;
          known_q <= 1'b1;
          if (opens) open_q <= 1'b1;
        end
        if (restarted) begin
          open_q  <= 1'b0;
          mine_q  <= fresh;
          heard_q <= said;
        end
        if (!hello_in.up || restarted) hello_q <= 1'b1;
      end

      // Plain frames.
      if (sent_i) begin
        silent_q <= '0;
        answer_q <= answer_i;
      end else begin
        if (silent_q != TimeW'(KeepCycles)) silent_q <= silent_q + 1'b1;
        if (answer_i) answer_q <= 1'b1;
      end

      // The other end.
      if (ours_o || (hello && agree)) begin
        dead_q  <= '0;
        alive_q <= 1'b1;
      end else if (dead_q == DeadW'(DeadCycles)) begin
        alive_q <= 1'b0;
      end else begin
        dead_q <= dead_q + 1'b1;
      end
      events_q.silent    <= alive_q && dead_q == DeadW'(DeadCycles);
      events_q.up        <= (opens && !restarted) || (open_q && !alive_q && (ours_o || (hello && agree && !restarted)));
      events_q.restarted <= restarted;
      events_q.mismatch  <= mismatch;
    end
    plain_q <= rst_ni && !sent_i && (answer_q || answer_i || urgent_i || silent_q >= TimeW'(KeepCycles - 1)
                                     || (waiting_i && silent_q >= TimeW'(ProbeCycles - 1)));
  end

  assign hello_o      = hello_q;
  assign tag_o        = mine_q[7:0];
  assign plain_o      = plain_q;
  assign open_o       = open_q;
  assign clear_o      = opens;
  assign alive_o      = alive_q && open_q;
  assign events_o     = events_q;
  assign hello_word_o = '{version: Version, window: 4'($clog2(Window)), words: 11'(BodyWords),
                          channels: 4'(Channels - 1), known: known_q, up: open_q, spare: '0,
                          tag_high: mine_q[15:8], yours: heard_q};

  logic unused;
  assign unused = ^hello_in.spare;

  `GS_ASSERT_NOW(session_begins_only_while_quiescent, !clear_o || quiescent_i)
endmodule
